"""Writing of a capture folder, whole or not at all."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from freezeframe.capture.card.map_1 import MAP
from freezeframe.capture.durable import check_place, write_folder
from freezeframe.capture.folder.content import DeviceCapture
from freezeframe.capture.folder.history import Act, unknown_history
from freezeframe.capture.folder.manifest import (
    FORMAT_NAME,
    FORMAT_VERSION,
    MANIFEST,
    MANIFEST_COPY,
    device_entry,
    manifest_digest,
    manifest_text,
    memory_file,
    registers_file,
    samples_file,
    what_was_lost,
)
from freezeframe.capture.folder.raw_files import cards_of_capture, stated_files
from freezeframe.capture.tool import tool_version


class CaptureWriter:
    """Collects the devices of a target, then writes the folder in one step.

    The same devices and history give the same bytes.
    """

    def __init__(self, path: Path | str, *, source: str, overwrite: bool = False) -> None:
        """Check the place; nothing is written before ``commit``.

        Args:
            path: where the folder will stand, ``NAME.ff``.
            source: URL of the target. What follows a ``?`` says how it was opened (for an emulated
                card even which fault it was given), not what it is, and stays out of the capture.
            overwrite: replace a capture folder that stands there.
        Raises:
            InputError: something stands there already, or there is no such directory.
        """
        self.path = Path(path)
        self._source = source.partition("?")[0]
        self._overwrite = overwrite
        self._devices: dict[int, DeviceCapture] = {}
        self._lost: list[str] = []
        self._more: dict[str, Any] = {}
        self._files: dict[str, bytes] = {}
        self._history: list[Act] | None = None
        check_place(self.path, overwrite, MANIFEST)

    def add_device(self, device: DeviceCapture) -> None:
        """Add one device of the target.

        Raises:
            ValueError: a device with this index was added before.
        """
        if device.index in self._devices:
            raise ValueError(f"device {device.name} (index {device.index}) was added twice")
        self._devices[device.index] = device

    def add_lost(self, line: str) -> None:
        """State something that is missing and that no gap of a device says."""
        self._lost.append(line)

    def add_statement(self, key: str, value: Any, files: Mapping[str, bytes] | None = None) -> None:
        """State something beside the devices: ``targets``, ``time_pairs``, ``host``, with its raw files.

        Raises:
            ValueError: it was stated before.
        """
        if key in self._more:
            raise ValueError(f"{key} was stated twice")
        self._more[key] = value
        self._files |= files or {}

    def tell(self, history: list[Act]) -> None:
        """State what is known of arming, freezing and pulling, as `history_of` gives it."""
        self._history = history

    def commit(self) -> Path:
        """Write the folder and return its path.

        Raises:
            InputError: the disk is full or the system refuses; nothing is left behind.
            ValueError: no device was added.
        """
        if not self._devices:
            raise ValueError(f"{self.path}: a capture without a device")
        devices = [device for _, device in sorted(self._devices.items())]
        cards, texts = cards_of_capture([device.found for device in devices])
        files = {**self._files, **texts}
        entries, lost = [], list(self._lost)
        for device in devices:
            entries.append(device_entry(device))
            lost += what_was_lost(device)
            for name, memory in device.memories.items():
                files[memory_file(device.name, name)] = memory.records.tobytes()
            if device.samples is not None:
                files[samples_file(device.name)] = device.samples.astype("<u4").tobytes()
            files[registers_file(device.name)] = device.registers.to_bytes()
        generations = {device.name: device.registers.value("ctl.generation") for device in devices}
        manifest = {
            "format": [FORMAT_NAME, *FORMAT_VERSION],
            "map": MAP,
            "source": self._source,
            "tool": tool_version(),
            "target": {"devices": len(entries), "of": _devices_of_target(self._devices)},
            "cards": cards,
            "devices": entries,
            "history": self._history or unknown_history(generations),
            "custody": [],
            "lost": lost,
            **self._more,
            "raw": stated_files(files),
        }
        manifest["digest"] = manifest_digest(manifest)
        files[MANIFEST_COPY] = files[MANIFEST] = manifest_text(manifest)
        write_folder(self.path, files, overwrite=self._overwrite, mark=MANIFEST)
        return self.path


def _devices_of_target(devices: dict[int, DeviceCapture]) -> int:
    """Return how many devices the targets have together, captured or not."""
    of_target = {device.target: device.identity.devices_count for device in devices.values()}
    return sum(of_target.values())
