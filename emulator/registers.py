"""The register file of one emulated device: which address is what, and what an access to it answers.

No read has a side effect. An access the map does not allow changes nothing but the count of such accesses.

Source: firmware-hooks/registers/freezeframe.rdl through the generated table; docs/formats.md section 1.
"""

from __future__ import annotations

from functools import cache
from itertools import product
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from freezeframe.capture.registers.layout import RegisterInfo, WindowInfo
from freezeframe.capture.registers.layouts import MEMORY_NAMES, State
from freezeframe.capture.registers.map_forms import Form, registers_for
from freezeframe.capture.registers.map_table import WINDOWS
from freezeframe.emulator.bank import Bank
from freezeframe.emulator.nic import Nic
from freezeframe.emulator.register_values import chunks_done, defaults, readers, register, writers

ERROR_WORD = 0xFFFFFFFF
"""What an error answer looks like where the transport knows no other."""

_WORD = 0xFFFFFFFF
_RECORD_WORDS = 4
_ENTRIES_PER_MEMORY = 64  # of the CRC table

U32 = npt.NDArray[np.uint32]


class _Place(NamedTuple):
    register: RegisterInfo
    indices: tuple[int, ...]
    bits: int  # that belong to a field


class RegisterFile:
    """Registers and windows of one device, addressed by bytes from the device's start."""

    def __init__(self, nic: Nic) -> None:
        self.nic = nic
        self.bus_errors = 0
        self.bus_error_addr = 0
        self._places = _places(nic.profile.form)
        self._kept = {
            offset: sum(field.reset << field.lsb for field in place.register.fields)
            for offset, place in self._places.items()
            if place.register.access == "rw"
        }
        self._kept |= {register(name).address: value for name, value in defaults(nic).items()}
        self._readers = readers(nic)
        self._readers["id.bus_errors"] = lambda: self.bus_errors
        self._readers["id.bus_error_addr"] = lambda: self.bus_error_addr
        self._writers = writers(nic)
        self._latched: dict[str, U32] = {}
        self._latched_from: Bank | None = None

    def read(self, offset: int) -> int | None:
        """Return the word at ``offset``, None for an error answer."""
        place = self._places.get(offset)
        if place is None:
            window = self.window(offset)
            if window is None:
                return None
            start, words = window
            index = (offset - start) // 4
            return int(words[index]) if index < len(words) else None
        if "r" not in place.register.access:
            return None
        reader = self._readers.get(place.register.name)
        if reader is None:
            return self._kept[offset]
        value = reader(*place.indices)
        return None if value is None else value & _WORD

    def write(self, offset: int, value: int) -> bool:
        """Write a word; False for an error answer."""
        place = self._places.get(offset)
        if place is None:
            return self._write_window(offset, value)
        if "w" not in place.register.access:
            return False
        value &= place.bits
        if not place.register.pulse:
            self._kept[offset] = value
        action = self._writers.get(place.register.name)
        if action is not None:
            action(*place.indices, value)
        return True

    def refuse(self, address: int) -> None:
        """Count an access that was answered with an error; ``address`` from the start of the target."""
        self.bus_errors = self.bus_errors + 1 & _WORD
        self.bus_error_addr = address & _WORD

    def window(self, offset: int) -> tuple[int, U32] | None:
        """Return the start of the window at ``offset`` and its present words.

        None where there is no window, or it may be read only when frozen and is not. There may be fewer words than
        the map has room for: the others do not exist.
        """
        info = _window_at(offset)
        if info is None:
            return None
        if info.name == "inject_buffer":
            return info.address, self.nic.config.inject_buffer
        bank = self.nic.bank
        if self.nic.freeze.state != State.FROZEN or bank is None:
            return None
        if self._latched_from is not bank:
            self._latched = _windows_of(bank)
            self._latched_from = bank
        if info.name == "crc_table":
            return info.address, self._crc_table(bank, offset)
        words = self._latched.get(info.name)
        return None if words is None else (info.address, words)

    def _crc_table(self, bank: Bank, offset: int) -> U32:
        """Return the table up to the last entry of the memory that ``offset`` asks for: what follows does
        not exist.
        """
        memory = (offset - _window("crc_table").address) // 4 // _ENTRIES_PER_MEMORY
        image = bank.images[memory] if memory < len(bank.images) else None
        entries = 0 if image is None else len(image) // self.nic.profile.trace_chunk_records
        table = np.zeros(memory * _ENTRIES_PER_MEMORY + entries, dtype=np.uint32)
        done = chunks_done(self.nic, memory) if entries else 0
        for chunk in range(min(done, entries)):
            table[memory * _ENTRIES_PER_MEMORY + chunk] = bank.crc[memory, chunk]
        return table

    def _write_window(self, offset: int, value: int) -> bool:
        info = _window_at(offset)
        if info is None or "w" not in info.access:
            return False
        self.nic.config.inject_buffer[(offset - info.address) // 4] = value & _WORD
        return True


@cache
def _places(form: Form) -> dict[int, _Place]:
    """Return every register address of the map of a card of that form."""
    places = {}
    for info in registers_for(form):
        bits = 0
        for field in info.fields:
            bits |= field.mask
        for indices in product(*(range(count) for count, _ in info.dims)):
            steps = sum(i * stride for i, (_, stride) in zip(indices, info.dims, strict=True))
            places[info.address + steps] = _Place(info, indices, bits)
    return places


@cache
def _window(name: str) -> WindowInfo:
    return next(info for info in WINDOWS if info.name == name)


def _window_at(offset: int) -> WindowInfo | None:
    for info in WINDOWS:
        if info.address <= offset < info.address + 4 * info.words:
            return info
    return None


def _windows_of(bank: Bank) -> dict[str, U32]:
    windows = {"samples": np.ascontiguousarray(bank.samples, dtype=np.uint32).reshape(-1)}
    for name, image in zip(MEMORY_NAMES, bank.images, strict=True):
        if image is not None:
            words = np.zeros((len(image), 4 * _RECORD_WORDS), dtype=np.uint8)
            words[:, : image.shape[1]] = image
            windows[f"trace_{name}"] = words.view("<u4").astype(np.uint32).reshape(-1)
    return windows
