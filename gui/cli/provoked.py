"""What the verbs that provoke a card share: which device, and what they print."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from freezeframe.capture.errors import InputError

if TYPE_CHECKING:
    from freezeframe.capture.registers.access import Device

__all__ = ["DeviceOption", "chosen", "doing"]

DeviceOption = Annotated[
    str, typer.Option("--device", metavar="NAME", help="Device of the target.")
]


def chosen(devices: Sequence[Device], name: str) -> Device:
    """Return the device of that name.

    Raises:
        InputError: the target has none; the message lists those it has.
    """
    for device in devices:
        if device.name == name:
            return device
    known = ", ".join(device.name for device in devices)
    raise InputError(f"{devices[0].target.url}: no device {name!r}; it has {known}")


def doing(device: Device, what: str) -> None:
    """Print what a device does from now on."""
    print(f"{device.name}: {what}")
