"""``uart:/dev/ttyX[@baud]``: registers over a serial line, as LiteX's UARTBone speaks it.

A line has neither ids nor checks, so it is kept in step by silence: one command at a time, and
after an answer of the wrong length the line must be quiet for longer than the gateware's timeout.

Source: docs/formats.md, section 9; LiteX 2024.12, ``Stream2Wishbone`` (100 ms for a whole command).
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import serial

from freezeframe.capture.count_text import plural
from freezeframe.capture.errors import InputError, TargetError, TargetTimeout
from freezeframe.capture.targets._checks import (
    checked_addresses,
    checked_write,
    closed_error,
    runs,
)
from freezeframe.capture.targets._url import Option, parse_url
from freezeframe.capture.targets.base import Words
from freezeframe.capture.targets.uartbone_codec import (
    MAX_WORDS,
    decode_words,
    encode_read,
    encode_write,
)

DEFAULT_BAUD = 115200

OPTIONS = {
    "burst": Option(None, 1, MAX_WORDS, "words a command; default what 80 ms carry"),
    "timeout": Option(3.0, 0.01, 3600, "longest silence, seconds", whole=False),
    "base": Option(0, 0, 0xFFFFFFFC, "bus address of device 0"),
}

_QUIET_S = 0.15  # the gateware drops an unfinished command after 0.1 s
_COMMAND_S = 0.08  # and also a finished one whose answer takes that long
_FIRST_ANSWER_S = 0.25  # a USB adapter holds bytes back for up to 16 ms, JTAG bridges longer


@dataclass(slots=True)
class UartStats:
    """What a client has seen since it was opened."""

    commands: int = 0
    retries: int = 0  # commands sent again after a short answer
    stray_B: int = 0  # bytes thrown away to get back into step


def open_uart(url: str) -> UartTarget:
    """Open ``uart:/dev/ttyX[@baud]``; the options are those of OPTIONS.

    Raises:
        InputError: the URL is wrong.
        TargetError: the device is missing, in use, or not ours to open.
    """
    parsed = parse_url(url, OPTIONS)
    path, at, baud_text = parsed.rest.rpartition("@")
    if not at:
        path, baud_text = parsed.rest, str(DEFAULT_BAUD)
    if not path or not (baud_text.isascii() and baud_text.isdigit() and int(baud_text)):
        raise InputError(
            f"{url}: write uart:/dev/ttyX[@baud], for instance uart:/dev/ttyUSB0@115200"
        )
    return UartTarget(
        path,
        int(baud_text),
        burst=parsed.whole("burst"),
        timeout_s=parsed.seconds("timeout"),
        base=parsed.count("base"),
        url=url,
    )


class UartTarget:
    """A client of UARTBone gateware or of a ``UartBoneServer``; for one thread at a time."""

    def __init__(
        self,
        path: str,
        baud: int = DEFAULT_BAUD,
        *,
        burst: int | None = None,
        timeout_s: float = 3.0,
        base: int = 0,
        url: str | None = None,
    ) -> None:
        """Open the line. The arguments are those of OPTIONS; raises as ``open_uart``."""
        self.url = url or f"uart:{path}@{baud}"
        self.stats = UartStats()
        self._byte_s = 10 / baud  # start bit, eight data bits, stop bit
        self._burst = burst or max(1, min(MAX_WORDS, int(_COMMAND_S / self._byte_s) // 4))
        self._timeout_s = timeout_s
        self._base = base
        self._port: serial.Serial | None = _open(self.url, path, baud)

    def read(self, addresses: Words | Sequence[int]) -> Words:
        """Read any addresses, neighbours in one command; see ``Target.read``."""
        asked = checked_addresses(addresses, self._base)
        port = self._opened()
        # Sorted, because six bytes go out for each run of neighbours and a line is slow.
        unique, places = np.unique(asked, return_inverse=True)
        words = np.empty(len(unique), np.uint32)
        try:
            for start, end in runs(unique, self._burst):
                words[start:end] = self._read_run(port, int(unique[start]), end - start)
        except (OSError, serial.SerialException) as error:
            raise self._failed(error) from error
        found: Words = words[places]
        return found

    def write(self, address: int, words: Sequence[int] | Words) -> None:
        """Send writes, once and unconfirmed; see ``Target.write``."""
        first, data = checked_write(address, words, self._base)
        port = self._opened()
        try:
            for at in range(0, len(data), self._burst):
                self.stats.commands += 1
                port.write(encode_write(first + 4 * at, data[at : at + self._burst]))
            port.flush()
        except (OSError, serial.SerialException) as error:
            raise self._failed(error) from error

    def close(self) -> None:
        """Free the line; see ``Target.close``."""
        if self._port is not None:
            self._port.close()
            self._port = None

    def _opened(self) -> serial.Serial:
        if self._port is None:
            raise closed_error(self.url)
        return self._port

    def _read_run(self, port: serial.Serial, address: int, count: int) -> Words:
        command = encode_read(address, count)
        begun_s = time.monotonic()
        silence_s = _FIRST_ANSWER_S
        got_B = 0
        self.stats.commands += 1
        while True:
            if port.in_waiting:
                self._find_silence(port, begun_s)
            port.write(command)
            answer = self._receive(port, 4 * count, silence_s)
            if len(answer) == 4 * count:
                return decode_words(answer)
            got_B = max(got_B, len(answer))
            self.stats.stray_B += len(answer)
            if time.monotonic() - begun_s + _QUIET_S > self._timeout_s:
                raise TargetTimeout(
                    f"{self.url}: {plural(count, 'word')} at {address:#010x}: {got_B} of {4 * count} B came "
                    f"in {self._timeout_s:g} s; is the baud rate right, does UARTBone listen there?"
                )
            self._find_silence(port, begun_s)
            silence_s *= 2
            self.stats.retries += 1

    def _receive(self, port: serial.Serial, need_B: int, silence_s: float) -> bytes:
        """Return up to ``need_B`` bytes; fewer after ``silence_s`` without any."""
        if port.timeout != silence_s:
            port.timeout = silence_s  # pyserial asks the driver each time
        answer = b""
        while len(answer) < need_B:
            some: bytes = port.read(min(need_B - len(answer), max(1, port.in_waiting)))
            if not some:
                break
            answer += some
        return answer

    def _find_silence(self, port: serial.Serial, begun_s: float) -> None:
        """Throw away what comes until nothing has come for 0.15 s, so that both ends start again."""
        port.timeout = _QUIET_S
        while stray := port.read(max(1, port.in_waiting)):
            self.stats.stray_B += len(stray)
            if time.monotonic() - begun_s > self._timeout_s:
                raise TargetTimeout(
                    f"{self.url}: the line does not fall silent ({self.stats.stray_B} B of no "
                    "answer so far); is something else talking on it, a console for instance?"
                )

    def _failed(self, error: Exception) -> TargetError:
        return TargetError(f"{self.url}: the serial device failed: {error}; was it unplugged?")


def _open(url: str, path: str, baud: int) -> serial.Serial:
    try:
        # Exclusive, because two programs on one line would take each other's answers.
        port = serial.Serial(path, baud, timeout=0, exclusive=True)
    except ValueError as error:
        raise InputError(f"{url}: {error}; baud rates are for instance 115200, 921600") from error
    except (OSError, serial.SerialException) as error:
        if not Path(path).exists():
            what = "no such device; is the cable plugged in? ls /dev/tty* shows those there are"
        elif isinstance(error, PermissionError) or "Permission denied" in str(error):
            what = "not yours to open: sudo usermod -aG dialout $USER, then log in again"
        elif "exclusively lock" in str(error):
            what = "another program has it open; close that first"
        else:
            what = str(error)
        raise TargetError(f"{url}: {what}") from error
    port.reset_input_buffer()
    return port
