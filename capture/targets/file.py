"""``file:NAME.ff``: a capture folder as a target, which answers what was recorded and no more.

Source: docs/formats.md, sections 2 (records in a window) and 7 (capture folder).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

from freezeframe.capture.card.image import rom_image, trace_images
from freezeframe.capture.card.map_1 import register_map_of
from freezeframe.capture.card.recording import Feature
from freezeframe.capture.card.registers import card_map, memories_of_card
from freezeframe.capture.errors import BusError, InputError, TargetError
from freezeframe.capture.folder import CaptureFolder, DeviceCapture
from freezeframe.capture.folder.card_content import CardCapture
from freezeframe.capture.folder.card_folder import CardFolder
from freezeframe.capture.folder.content import Gap
from freezeframe.capture.folder.of_cards import is_card_folder
from freezeframe.capture.targets._checks import checked_addresses, checked_write, closed_error
from freezeframe.capture.targets.base import Words

_Words64 = npt.NDArray[np.int64]


def open_file(url: str) -> FileTarget:
    """Open ``file:NAME.ff``.

    Raises:
        InputError: no path.
        CaptureFormatError: not a capture folder, or not as it was written.
    """
    path = url.partition(":")[2]
    if not path:
        raise InputError(f"{url}: write file:NAME.ff, the folder that a pull wrote")
    if is_card_folder(Path(path)):
        return FileTarget(CardFolder.open(path), url=url)
    return FileTarget(CaptureFolder.open(path), url=url)


class FileTarget:
    """The devices of a capture, frozen for ever."""

    def __init__(self, folder: CaptureFolder | CardFolder, *, url: str | None = None) -> None:
        self.url = url or f"file:{folder.path}"
        parts = [part for device in folder.devices for part in _recorded(device)]
        addresses = np.concatenate([part[0] for part in parts])
        order = np.argsort(addresses, kind="stable")
        self._addresses: _Words64 | None = addresses[order]
        self._words = np.concatenate([part[1] for part in parts])[order]
        first = folder.devices[0]
        self._stride_B = first.identity.stride_B
        self._map = (
            card_map(first.card)
            if isinstance(first, CardCapture)
            else register_map_of(first.found.card)
        )

    def read(self, addresses: Words | Sequence[int]) -> Words:
        """Return recorded words; see ``Target.read``.

        Raises:
            BusError: an address was not recorded: outside the map, or in a gap of the capture.
        """
        asked = checked_addresses(addresses)
        there = self._opened()
        places = np.minimum(np.searchsorted(there, asked), len(there) - 1)
        missing = np.flatnonzero(there[places] != asked)
        if len(missing):
            first = int(asked[missing[0]])
            raise BusError(
                f"{self.url}: {first:#010x} ({self._map.describe(first % self._stride_B)}) is not in "
                f"the recording, and {len(missing) - 1} more of the {len(asked)} words asked for"
            )
        found: Words = self._words[places]
        return found

    def write(self, address: int, words: Sequence[int] | Words) -> None:
        """Refuse.

        Raises:
            TargetError: always; it is a recording.
        """
        first, _ = checked_write(address, words)
        self._opened()
        raise TargetError(
            f"{self.url}: cannot write {first:#010x}: this is a recording, not a device; "
            "open the device that it was pulled from"
        )

    def close(self) -> None:
        """Forget the recording; see ``Target.close``."""
        self._addresses = None
        self._words = np.empty(0, np.uint32)

    def _opened(self) -> _Words64:
        if self._addresses is None:
            raise closed_error(self.url)
        return self._addresses


def _recorded(device: DeviceCapture | CardCapture) -> Iterator[tuple[_Words64, Words]]:
    """Give ``(addresses, words)`` of everything that was read from one device."""
    if isinstance(device, CardCapture):
        yield from _recorded_card(device)
        return
    pairs = np.array(list(device.registers), np.int64).reshape(-1, 2)
    yield device.base + pairs[:, 0], pairs[:, 1].astype(np.uint32)
    for name, memory in device.memories.items():
        words = np.zeros((len(memory.records), 4), np.uint32)
        words[:, :2] = np.ascontiguousarray(memory.records[:, :8]).view("<u4")
        words[:, 2] = memory.records[:, 8]  # kind and dt, as in the window
        yield _window(device, f"trace_{name}", words, memory.gaps)
    if device.samples is not None:
        yield _window(device, "samples", device.samples, device.sample_gaps)


def _recorded_card(device: CardCapture) -> Iterator[tuple[_Words64, Words]]:
    """Give the words of a card: its text stands where the ROM does, and each whole chunk has its CRC."""
    pairs = np.array(list(device.registers), np.int64).reshape(-1, 2)
    yield device.base + pairs[:, 0], pairs[:, 1].astype(np.uint32)
    # A replay has no memory of error answers, and none but the frozen counters.
    live = [
        device.registers.known(f"id.{name}") is None for name in ("bus_errors", "bus_error_addr")
    ]
    at = [address for address, missing in zip((0x40, 0x44), live, strict=True) if missing]
    yield device.base + np.array(at, np.int64), np.zeros(len(at), np.uint32)
    windows = list(
        trace_images(
            memories_of_card(device.card),
            {name: memory.records for name, memory in device.memories.items()},
            {name: ~memory.read_mask() for name, memory in device.memories.items()},
            device.identity.chunk,
            with_crc=Feature.CRC_TABLE in device.identity.built,
        )
    )
    if Feature.ROM in device.identity.built:
        windows.append(rom_image(device.found.text))
    for window in windows:
        yield device.base + window.addresses, window.words


def _window(
    device: DeviceCapture, name: str, slots: npt.NDArray[np.uint32], gaps: list[Gap]
) -> tuple[_Words64, Words]:
    read = np.ones(len(slots), bool)
    for gap in gaps:
        read[gap.first_slot : gap.first_slot + gap.slots] = False
    first = device.base + register_map_of(device.found.card).window(name).address
    addresses = first + 4 * np.arange(slots.size, dtype=np.int64).reshape(slots.shape)
    return addresses[read].reshape(-1), slots[read].reshape(-1)
