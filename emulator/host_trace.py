"""What the kernel of an emulated card's computer would trace: register writes and interrupt handlers.

Written as ``trace-cmd report`` prints it, by a clock of the computer's own, so that the host tools have to find
out how it relates to the card's. Nothing of it reaches the card.

Source: Linux, Documentation/trace/ftrace.rst; trace events ``rwmmio_write``, ``irq_handler_entry`` and ``_exit``.
"""

from __future__ import annotations

import random
from pathlib import Path
from typing import TextIO

from freezeframe.capture.errors import InputError
from freezeframe.decoders.trace.encode import descriptor_words
from freezeframe.emulator.descriptor import Descriptor

_DOORBELL = 0xFFFF_C900_0040_0000  # where the driver has mapped the card
_MASK = 0xFFFF_C900_0040_0010
_STORE_PS = 2_000  # between two stores of a processor
_IRQ = 45
_DRIFT_PPM = 40
_NS = 1000
_S = 10**9  # nanoseconds


class HostLog:
    """What a host does, event by event. Nothing is written here."""

    def posts(self, now_ps: int, descriptor: Descriptor) -> None:
        """The driver stores the four words of a descriptor."""

    def enters(self, now_ps: int) -> None:
        """The interrupt handler is entered."""

    def masks(self, now_ps: int, masked: bool) -> None:
        """The driver masks the interrupt line, or enables it."""

    def leaves(self, now_ps: int) -> None:
        """The handler returns."""


class HostTraceFile(HostLog):
    """Writes the trace of one computer, a line for each event, as it happens."""

    def __init__(self, path: Path, name: str, seed: int) -> None:
        """Begin a file; the seed decides how the computer's clock relates to the simulation's.

        Raises:
            InputError: the file cannot be written.
        """
        draw = random.Random(f"{seed}/{name}/host clock")
        self._offset_ps = draw.randrange(10**15, 10**17)
        self._drift_ppb = draw.randint(-_DRIFT_PPM * 1000, _DRIFT_PPM * 1000)
        self._name = name
        try:
            self._file: TextIO = path.open("w", encoding="ascii")
        except OSError as error:
            raise InputError(f"host trace {path}: cannot be written: {error.strerror}") from None
        self._file.write("cpus=2\n")

    def own_ps(self, now_ps: int) -> int:
        """Return what the computer's clock shows at a simulated time."""
        return now_ps + now_ps * self._drift_ppb // 10**9 + self._offset_ps

    def posts(self, now_ps: int, descriptor: Descriptor) -> None:
        words = descriptor_words(
            descriptor.source,
            descriptor.dest,
            len(descriptor.words),
            descriptor.flags,
            descriptor.flow,
        )
        for number, word in enumerate(words):
            at_ps = now_ps + number * _STORE_PS
            self._store(at_ps, _DOORBELL + 4 * number, word, "ff_post")

    def enters(self, now_ps: int) -> None:
        self._line(
            now_ps, "irq_handler_entry", f"irq={_IRQ} name=ff{self._name}", "<idle>-0", "d.h1."
        )

    def masks(self, now_ps: int, masked: bool) -> None:
        self._store(now_ps, _MASK, int(masked), "ff_irq")

    def leaves(self, now_ps: int) -> None:
        self._line(now_ps, "irq_handler_exit", f"irq={_IRQ} ret=handled", "<idle>-0", "d.h1.")

    def _store(self, now_ps: int, address: int, value: int, caller: str) -> None:
        text = f"{caller}+0x40/0x90 width=32 val={value:#x} addr={address:#x}"
        self._line(now_ps, "rwmmio_write", text, "app-1742", ".....")

    def _line(self, now_ps: int, event: str, text: str, task: str, flags: str) -> None:
        seconds, ns = divmod(self.own_ps(now_ps) // _NS, _S)
        self._file.write(
            f"{task:>24s} [001] {flags} {seconds}.{ns:09d}: {event + ':':21s} {text}\n"
        )
        self._file.flush()
