"""Samples of sigrok-cli as they come: its binary output, read while it is written.

Binary output has no header. What a sample is, is found out before: the names and their order by
``--show``, the bytes of a sample by a short capture with the same settings.

Source: sigrok-cli(1), 0.7.2; libsigrok 0.5.2, output module ``binary`` (logic packets as they are).
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from freezeframe.capture.errors import InputError, TargetError
from freezeframe.capture.files.samples import Samples
from freezeframe.capture.files.units import UnitReader
from freezeframe.capture.instruments.sigrok import SigrokRequest, capture_sigrok, sigrok_program

FORM = "binary"
_PIECE_B = 1 << 22
_PROBE_SAMPLES = 1024
_SHOW_S = 30
_CHANNELS = re.compile(r" with (\d+) channels?: (.+)$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class StreamLayout:
    """What a sample is: ``channels[i]`` is bit i of ``unit_B`` bytes, the least significant first."""

    channels: tuple[str, ...]
    unit_B: int
    samplerate_hz: int

    def format(self) -> str:
        """Return the layout as ``--format`` of a file takes it."""
        names = ";".join(self.channels)
        return (
            f"binary:channels={len(self.channels)},unit={self.unit_B},rate={self.samplerate_hz},"
            f"names={names}"
        )


def stream_layout(
    request: SigrokRequest, samplerate_hz: int, folder: Path, wait_s: float
) -> StreamLayout:
    """Ask the device what its samples are; it captures 1,024 of them for that, without a trigger.

    Args:
        request: with at least one channel.
        folder: where that capture may stand.
    Raises:
        InputError: a channel is not the device's, or no logic channel.
        TargetError: it fails, or its answer makes no sense.
    """
    show = [sigrok_program(), "--driver", request.driver, "--show"]
    done = subprocess.run(show, capture_output=True, text=True, timeout=_SHOW_S, check=False)
    found = _CHANNELS.search(done.stdout)
    who = f"sigrok-cli, driver {request.driver}"
    if found is None:
        why = " ".join((done.stderr or done.stdout).split()) or "it says nothing"
        raise TargetError(f"{who}: {why}")
    names = found[2].split()
    if len(names) != int(found[1]):
        raise TargetError(f"{who}: {found[1]} channels, but {len(names)} names: {found[2]}")
    missing = [name for name in request.channels if name not in names]
    if missing:
        raise InputError(f"--channels: the device has no {missing[0]}; there is {found[2]}")
    probe = folder / "probe.bin"
    short = replace(request, triggers=(), samples=_PROBE_SAMPLES, time_ms=None)
    capture_sigrok(short, probe, wait_s=wait_s, form=FORM)
    size_B = probe.stat().st_size
    if not size_B or size_B % _PROBE_SAMPLES or size_B // _PROBE_SAMPLES > 8:
        raise TargetError(
            f"{who}: {size_B} B for {_PROBE_SAMPLES} samples, not 1 to 8 bytes each; name logic "
            "channels alone, or capture without -d and decode afterwards"
        )
    unit_B = size_B // _PROBE_SAMPLES
    last = max(names.index(name) for name in request.channels)
    if last >= 8 * unit_B:
        raise InputError(
            f"--channels: {names[last]} is not among the {8 * unit_B} bits of a sample; "
            "-d takes logic channels"
        )
    return StreamLayout(tuple(names[: last + 1]), unit_B, samplerate_hz)


def follow(path: Path, layout: StreamLayout, wait: Callable[[], bool]) -> Iterator[Samples]:
    """Yield the samples of a file that grows, and an empty last piece.

    Args:
        wait: called where no byte is left; returns whether more may come after those that are there.
    Raises:
        TargetError: the file ends inside a sample.
    """
    units = UnitReader(layout.unit_B)
    bits = tuple(range(len(layout.channels)))
    more = True
    while more and not path.exists():
        more = wait()
    piece = Samples(units.units(b""), layout.channels, bits, layout.samplerate_hz, 0)
    with path.open("rb") as file:
        while True:
            data = file.read(_PIECE_B)
            got = units.units(data)
            if len(got):
                piece = Samples(got, layout.channels, bits, layout.samplerate_hz, piece.end_sample)
                yield piece
            if not data:
                if not more:
                    break
                more = wait()
    if units.rest_B:
        raise TargetError(f"{path.name}: it ends {units.rest_B} B inside a sample")
    yield piece.after()
