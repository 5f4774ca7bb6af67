"""What identifies the recordings of devices that were pulled."""

from __future__ import annotations

from collections.abc import Sequence

from freezeframe.capture.custody.ledger import RecordingKey
from freezeframe.capture.folder import DeviceCapture
from freezeframe.capture.folder.card_content import CardCapture


def generations_of(
    devices: Sequence[DeviceCapture] | Sequence[CardCapture],
) -> dict[str, int | None]:
    """Return the generation of the recording of each device; None where it was not read."""
    return {
        device.name: device.registers.value(
            "id.generation" if isinstance(device, CardCapture) else "ctl.generation"
        )
        for device in devices
    }


def recordings_in(devices: Sequence[DeviceCapture] | Sequence[CardCapture]) -> list[RecordingKey]:
    """Return what identifies the recording of each device; one whose registers were not read has generation -1."""
    found = []
    each: list[DeviceCapture | CardCapture] = [*devices]
    for device, generation in zip(each, generations_of(devices).values(), strict=True):
        cycle = (
            device.recording().cause_cycle
            if isinstance(device, CardCapture)
            else _cause_cycle(device)
        )
        number = -1 if generation is None else generation
        found.append(RecordingKey(device.identity.boot_nonce, number, cycle))
    return found


def _cause_cycle(device: DeviceCapture) -> int | None:
    low, high = (device.registers.value(f"ctl.cause_cycle_{half}") for half in ("lo", "hi"))
    if not device.registers.value("ctl.causes") or low is None or high is None:
        return None
    return high << 32 | low
