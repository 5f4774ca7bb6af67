"""A serial console as a stream of bytes: a port, a file that a console is written to, or standard input.

Source: pyserial's documentation, section "API".
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol

import serial

from freezeframe.capture.errors import InputError, TargetError

_BAUD = 115200
_AT_ONCE_B = 4096
_PAUSE_S = 0.2


class Console(Protocol):
    """What comes from a console."""

    def now(self) -> bytes:
        """Return what has come, without waiting; empty where nothing has."""

    def discard(self) -> None:
        """Pass over what has come so far."""

    def __iter__(self) -> Iterator[bytes]:
        """Yield what comes: of a port for ever, of a file or standard input up to its end."""


class _File:
    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor

    def now(self) -> bytes:
        return os.read(self._descriptor, _AT_ONCE_B)

    def discard(self) -> None:
        os.lseek(self._descriptor, 0, os.SEEK_END)

    def __iter__(self) -> Iterator[bytes]:
        while data := self.now():
            yield data


class _Port:
    def __init__(self, name: str, device: serial.Serial) -> None:
        self._name = name
        self._device = device

    def now(self) -> bytes:
        return self._read(min(self._waiting(), _AT_ONCE_B))

    def discard(self) -> None:
        try:
            self._device.reset_input_buffer()
        except (serial.SerialException, OSError) as error:
            raise self._gone(error) from None

    def __iter__(self) -> Iterator[bytes]:
        while True:
            if data := self._read(max(1, min(self._waiting(), _AT_ONCE_B))):
                yield data

    def _waiting(self) -> int:
        try:
            return int(self._device.in_waiting)
        except (serial.SerialException, OSError) as error:
            raise self._gone(error) from None

    def _read(self, size: int) -> bytes:
        try:
            return bytes(self._device.read(size)) if size else b""
        except (serial.SerialException, OSError) as error:
            raise self._gone(error) from None

    def _gone(self, error: Exception) -> TargetError:
        return TargetError(f"{self._name}: the port went away: {error}")


@contextmanager
def open_console(port: str) -> Iterator[Console]:
    """Open ``PORT[@BAUD]``, a file, or ``-``, and close it behind the block.

    Raises:
        InputError: the rate is none.
        TargetError: the port cannot be opened; or, from the block, it went away.
    """
    if port == "-":
        yield _File(0)
        return
    if Path(port).is_file():
        try:
            file = Path(port).open("rb", buffering=0)  # noqa: SIM115  # what the block raises is not of the opening
        except OSError as error:
            raise _closed(port, error) from None
        with file:
            yield _File(file.fileno())
        return
    name, at, baud = port.rpartition("@")
    if not at:
        name, baud = port, str(_BAUD)
    if not (baud.isascii() and baud.isdigit() and int(baud)):
        raise InputError(f"{port}: {baud!r} is not a baud rate; write /dev/ttyUSB0@115200")
    try:
        device = serial.Serial(name, int(baud), timeout=_PAUSE_S)
    except (serial.SerialException, ValueError, OSError) as error:
        raise _closed(name, error) from None
    with device:
        yield _Port(name, device)


def _closed(name: str, error: Exception) -> TargetError:
    number = error.errno if isinstance(error, OSError) else None
    return TargetError(f"{name}: cannot be opened: {os.strerror(number) if number else error}")
