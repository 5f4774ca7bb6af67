"""The monitor of the emulated switch: the C hooks, compiled here, count what it forwards and print it on a console.

Source: FORTH paper, section 3.7; firmware-hooks/c/ff_switch.h, ff_console.h: their functions are called as they stand.
"""

from __future__ import annotations

import ctypes
import hashlib
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from dataclasses import astuple
from pathlib import Path

from freezeframe.capture.device_side import hooks_folder
from freezeframe.capture.errors import InputError
from freezeframe.emulator.board import cache_folder
from freezeframe.emulator.crossbar import Crossbar
from freezeframe.emulator.hooks import Way
from freezeframe.emulator.parts import Process

CYCLE_PS = 20_000
"""Of the processor that monitors, 50 MHz: the clock of firmware-hooks/cards/switch-c.toml."""

REPORT_PS = 250_000_000
"""From report to report (ours): half a second at the speed at which a pair is served."""

_SOURCES = ("ff_ring.c", "ff_switch.c", "ff_console.c")
_INCLUDE = ("c", "registers/generated")
_PORTS, _FLOWS = 8, 128
_MONITOR_B = 1 << 14  # more than an ff_switch of so many ports and flows has
_PUT = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_char)


class _Console(ctypes.Structure):
    _fields_ = (("put", _PUT), ("context", ctypes.c_void_p))


class _Port(ctypes.Structure):
    """``ff_switch_port`` of ff_switch.h; in the order of `freezeframe.emulator.crossbar.Counts`."""

    _fields_ = (
        ("words_in", ctypes.c_uint64), ("words_out", ctypes.c_uint64), ("told", ctypes.c_uint64),
        ("packets_in", ctypes.c_uint32), ("packets_out", ctypes.c_uint32), ("bad_in", ctypes.c_uint32),
        ("bad_out", ctypes.c_uint32),
    )  # fmt: skip


class SwitchMonitor:
    """A processor beside the switch: it is told of each packet, reads the ports' counters, and prints now and then."""

    def __init__(self, crossbar: Crossbar, write: Callable[[bytes], None]) -> None:
        """Begin to watch.

        Args:
            write: takes the text of a report; it must not wait.
        Raises:
            InputError: no C compiler, or the hooks do not compile.
        """
        if crossbar.switch.ports > _PORTS:
            raise InputError(
                f"{crossbar.switch.described.file.path}: {crossbar.switch.ports} ports; the monitor counts {_PORTS}"
            )
        self._library = ctypes.CDLL(str(_built()))
        self._monitor = ctypes.create_string_buffer(_MONITOR_B)
        self._library.ff_switch_clear(self._monitor)
        self._text = bytearray()
        self._put = _PUT(
            lambda _, character: self._text.extend(character)
        )  # kept as long as C may call it
        self._console = _Console(self._put, None)
        self._write = write
        self._bar = crossbar
        crossbar.watch = self
        crossbar.env.process(self._reports())

    def forwarded(self, flow: int, words: int, took_ps: int) -> None:
        """A packet is through."""
        cycles = min(took_ps // CYCLE_PS, 0xFFFFFFFF)
        self._library.ff_switch_forwarded(self._monitor, flow, words, cycles)

    def occupied(self, way: Way, words: int) -> None:
        """So many words hold a place of a crosspoint."""
        self._library.ff_switch_occupied(self._monitor, way[0], way[1], words)

    def report(self) -> None:
        """Print all counts as they stand now."""
        bar = self._bar
        for number, counts in enumerate(bar.counts):
            port = _Port(*astuple(counts))
            self._library.ff_switch_counted(self._monitor, number, ctypes.byref(port))
        for way in bar.ways:
            self.occupied(way, bar.standing(way))
        cycle = ctypes.c_uint64(int(bar.env.now) // CYCLE_PS)
        self._library.ff_console_switch(ctypes.byref(self._console), self._monitor, cycle)
        self._write(bytes(self._text))
        self._text.clear()

    def _reports(self) -> Process:
        while True:
            yield self._bar.env.timeout(REPORT_PS)
            self.report()


def _built() -> Path:
    """Return the C hooks as a library, compiled now where their sources are new (a second).

    Raises:
        InputError: there is no C compiler, or it refuses them.
    """
    hooks = hooks_folder()
    compiler = shutil.which("gcc") or shutil.which("cc")
    if compiler is None:
        raise InputError(
            "the switch's monitor is written in C and needs a compiler: apt-get install gcc"
        )
    sources = [hooks / "c" / name for name in _SOURCES]
    headers = [path for part in _INCLUDE for path in sorted((hooks / part).glob("*.h"))]
    digest = hashlib.sha256()
    for path in (*sources, *headers):
        digest.update(path.name.encode() + b"\0" + path.read_bytes() + b"\0")
    folder = cache_folder().with_name("switch-monitor")
    library = folder / f"{digest.hexdigest()[:16]}.so"
    if library.is_file():
        return library
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder) as work:
            made = Path(work) / library.name
            command = [
                compiler, "-std=c99", "-O2", "-shared", "-fPIC", f"-DFF_SWITCH_PORTS={_PORTS}",
                f"-DFF_SWITCH_FLOWS={_FLOWS}", *(f"-I{hooks / part}" for part in _INCLUDE), "-o", str(made),
                *map(str, sources),
            ]  # fmt: skip
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            if done.returncode:
                reason = (done.stderr.splitlines() or ["no reason given"])[0]
                raise InputError(f"the switch's monitor could not be compiled: {reason}")
            made.replace(library)
    except OSError as error:
        raise InputError(
            f"{folder}: {error.strerror}; set XDG_CACHE_HOME to a place that can be written"
        ) from None
    return library
