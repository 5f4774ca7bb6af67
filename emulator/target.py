"""The target ``emu:``: the emulated pair in this process, by the same protocol as hardware.

Each call lets a fixed time pass in the simulation before it is answered, so that a poll sees time go
by, and the same calls always see the same bits.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from urllib.parse import parse_qsl, urlencode

import numpy as np
import numpy.typing as npt

from freezeframe.capture.code import code
from freezeframe.capture.errors import InputError, TargetError
from freezeframe.capture.registers.map_table import MAP_SIZE
from freezeframe.capture.targets.base import Target, Words
from freezeframe.emulator.host_trace import HostLog, HostTraceFile
from freezeframe.emulator.machine import Pair
from freezeframe.emulator.profile import load_profile
from freezeframe.emulator.registers import ERROR_WORD, RegisterFile
from freezeframe.emulator.running_card import RunningCard, Wanted, model_of
from freezeframe.emulator.serial_line import SerialLine

_switch_monitor = code("freezeframe.emulator.switch_monitor:SwitchMonitor")

ACCESS_PS = 20_000_000
"""Simulated time of one call: 20 us, about what a register access over a local network costs."""

_TOP = 1 << 32
_FORM = "emu:?profile=forth&fault=NAME&load=NAME&workload=NAME&seed=N&truth=FILE&through=NAME&monitor=FILE"
_OPTIONS = ("profile", "fault", "load", "workload", "seed", "truth", "through", "monitor")


class EmulatorTarget:
    """Both cards: A at 0, B at 0x0100_0000. An access that hardware would answer with an error gives 0xFFFFFFFF."""

    def __init__(
        self,
        profile: str = "forth",
        fault: str = "none",
        seed: int = 0,
        truth_path: Path | str | None = None,
        *,
        access_ps: int = ACCESS_PS,
        nonce: int | None = None,
        apart: bool = False,
        load: str | None = None,
        workload: str | None = None,
        host_traces: Mapping[str, Path | str] | None = None,
        through: str | None = None,
        monitor: str | None = None,
    ) -> None:
        """Power the pair up.

        Args:
            profile: name of a profile, or path of a ``.toml`` file.
            fault: as `freezeframe.emulator.faults.registry.make_fault` takes it: a name, or two joined by ``+``, each
                perhaps with its begin: ``lane-misaligned:after=1h``.
            seed: decides everything random.
            truth_path: file for what was injected; None for none.
            access_ps: simulated time that passes with each call.
            nonce: boot nonce; None draws a new one, as a power-up does. All else follows from the seed.
            load: "light", "medium", "saturating" or a mean gap, as "100ms", for both hosts; None: by the seed.
            workload: a name of `freezeframe.emulator.workloads.WORKLOADS`, in place of load and fault.
            apart: as `Pair`; `freezeframe.emulator.apart` offers each card as a target of its own.
            host_traces: files for what the computers of ``A``, ``B`` trace, as trace-cmd prints it.
            through: as `Pair`.
            monitor: where the switch's monitor has its serial console, as `SerialLine`.
        Raises:
            InputError: unknown profile, fault, load, workload or switch, a negative seed, a file that cannot be
                written, a monitor without a switch, or one that cannot be built.
        """
        if seed < 0:
            raise InputError(f"seed {seed}: a seed is a whole number from 0 on")
        path = None if truth_path is None else Path(truth_path)
        wanted = {
            name: HostTraceFile(Path(file), name, seed)
            for name, file in (host_traces or {}).items()
        }
        self.pair = Pair(
            load_profile(profile), fault, seed, path, nonce,
            apart=apart, load=load, workload=workload,
            host_logs=[wanted.get(name) or HostLog() for name in ("A", "B")],
            through=through,
        )  # fmt: skip
        self._line: SerialLine | None = None
        if monitor is not None:
            if self.pair.crossbar is None:
                raise InputError(
                    "a monitor is of a switch between the cards: name one, as switch-pair"
                )
            self._line = SerialLine(monitor)
            _switch_monitor(self.pair.crossbar, self._line.write)
        self._access_ps = access_ps
        self._files = [RegisterFile(nic) for nic in self.pair.nics]
        self._closed = False
        options: dict[str, str | int] = {"profile": profile, "fault": fault, "seed": seed}
        if truth_path is not None:
            options["truth"] = str(truth_path)
        if load is not None:
            options["load"] = load
        if workload is not None:
            options["workload"] = workload
        if through is not None:
            options["through"] = through
        self._url = "emu:?" + urlencode(options, safe="/")

    @property
    def url(self) -> str:
        """The URL that opens a pair like this one again, from power-up."""
        return self._url

    @property
    def console(self) -> str:
        """What is opened to hear the switch's monitor; empty where there is none."""
        return "" if self._line is None else self._line.name

    @property
    def now_ps(self) -> int:
        """Simulated time since power-up."""
        return self.pair.now_ps

    @property
    def frozen(self) -> bool:
        """Both recorders are frozen."""
        return self.pair.frozen

    def advance(self, ps: int) -> None:
        """Let simulated time pass."""
        self.pair.advance(ps)

    def advance_some(self, ps: int, events: int) -> None:
        """Let simulated time pass, or less of it, as `Pair` says."""
        self.pair.advance_some(ps, events)

    def run_until_frozen(self, limit_ps: int) -> bool:
        """Run until both recorders are frozen, at most ``limit_ps``; return whether they are."""
        return self.pair.run_until_frozen(limit_ps)

    def run_until_evident(self, limit_ps: int) -> bool:
        """Run until both recorders are frozen, or a fault that freezes nothing had time to show; as `Pair` says."""
        return self.pair.run_until_evident(limit_ps)

    def read(self, addresses: Words | Sequence[int]) -> Words:
        """Return the word at each address: ``(n,)`` uint32; 0xFFFFFFFF is an error answer, counted by the device.

        Raises:
            TargetError: the target has been closed.
            ValueError: an address is negative, not a multiple of 4, or above 32 bits.
        """
        self._check_open()
        asked = _checked(addresses)
        self.pair.advance(self._access_ps)
        words = np.empty(len(asked), dtype=np.uint32)
        done = 0
        while done < len(asked):
            got = self._beginning(asked[done:])
            words[done : done + len(got)] = got
            done += len(got)
        return words

    def write(self, address: int, words: Sequence[int] | Words) -> None:
        """Write words to consecutive addresses; those the device refuses are counted by it.

        Raises:
            TargetError: the target has been closed.
            ValueError: an address is negative, not a multiple of 4, or above 32 bits, or a word does not fit 32 bits.
        """
        self._check_open()
        values = [int(word) for word in words]
        places = _checked([address + 4 * number for number in range(max(1, len(values)))])
        for value in values:
            if not 0 <= value < _TOP:
                raise ValueError(f"word {value} does not fit 32 bits (0..{_TOP - 1})")
        self.pair.advance(self._access_ps)
        for place, value in zip(places.tolist(), values, strict=False):
            device, offset = divmod(place, MAP_SIZE)
            if device >= len(self._files) or not self._files[device].write(offset, value):
                self._refuse(place)

    def close(self) -> None:
        """End the simulation; closing twice is harmless."""
        if self._line is not None and not self._closed:
            self._line.close()
        self._closed = True

    def _check_open(self) -> None:
        if self._closed:
            raise TargetError(f"{self._url}: the target has been closed; open it again")

    def _read(self, address: int) -> int:
        device, offset = divmod(address, MAP_SIZE)
        value = self._files[device].read(offset) if device < len(self._files) else None
        if value is None:
            self._refuse(address)
            return ERROR_WORD
        return value

    def _refuse(self, address: int) -> None:
        device = address // MAP_SIZE
        self._files[device if device < len(self._files) else 0].refuse(address)

    def _beginning(self, asked: npt.NDArray[np.int64]) -> Words | list[int]:
        """Return the words at the first addresses, as many as one window holds: trace memories are read so, thousands
        of words at a time; else the word at the first alone.
        """
        first = int(asked[0])
        device, offset = divmod(first, MAP_SIZE)
        window = self._files[device].window(offset) if device < len(self._files) else None
        if window is not None:
            start, words = window
            places = (asked - device * MAP_SIZE - start) // 4
            outside = (asked < first) | (places >= len(words))
            count = int(outside.argmax()) if outside.any() else len(asked)
            if count:
                return words[places[:count]]
        return [self._read(first)]


def open_emulator(url: str) -> Target:
    """Open ``emu:`` with the options of `_OPTIONS`.

    A profile that names a model is that one card; any other is a pair.

    Raises:
        InputError: an unknown or repeated option, or a value that is none; the message says which there are.
    """
    scheme, _, rest = url.partition(":")
    path, _, query = rest.partition("?")
    if scheme != "emu" or path:
        raise InputError(f"{url!r}: an emulated pair is written {_FORM}")
    options: dict[str, str] = {}
    for name, value in parse_qsl(query, keep_blank_values=True):
        if name not in _OPTIONS:
            raise InputError(
                f"{url!r}: unknown option {name!r}; an emulated pair is written {_FORM}"
            )
        if name in options:
            raise InputError(f"{url!r}: option {name!r} is given twice")
        options[name] = value
    seed = options.get("seed", "0")
    if not (seed.isascii() and seed.isdigit()):
        raise InputError(f"{url!r}: seed {seed!r}; a seed is a whole number from 0 on")
    profile = options.get("profile", "forth")
    if model_of(profile):
        if options.get("load"):
            raise InputError(f"{url!r}: profile {profile} has workloads and no load")
        if options.get("through") or options.get("monitor"):
            raise InputError(f"{url!r}: profile {profile} has no switch between two cards")
        truth = options.get("truth")
        wanted = Wanted(
            profile, options.get("fault", "none"), int(seed), options.get("workload", "")
        )
        return RunningCard(wanted, Path(truth) if truth else None)
    return EmulatorTarget(
        profile,
        # An unescaped plus of a query stands for a blank, and no fault has one in its name.
        options.get("fault", "none").replace(" ", "+"),
        int(seed),
        options.get("truth") or None,
        load=options.get("load") or None,
        workload=options.get("workload") or None,
        through=options.get("through") or None,
        monitor=options.get("monitor") or None,
    )


def _checked(addresses: Words | Sequence[int]) -> npt.NDArray[np.int64]:
    asked = np.asarray(addresses)
    if not asked.size:
        return np.empty(0, dtype=np.int64)
    wide = asked.astype(np.int64)
    wrong = (wide < 0) | (wide % 4 != 0) | (wide >= _TOP)
    if wrong.any():
        first = int(wide[wrong][0])
        raise ValueError(
            f"address {first:#x} is not a multiple of 4 within 32 bits (0..{_TOP - 4:#x})"
        )
    return wide
