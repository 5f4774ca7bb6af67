"""A UARTBone server on a serial line or pseudo-terminal, for anything that is a target.

It answers as LiteX's gateware does: an unknown command takes six bytes and does nothing, an
unfinished command is forgotten after 0.1 s, an error answer is 0xFFFFFFFF.

Source: docs/formats.md, sections 1 and 9; LiteX 2024.12, ``Stream2Wishbone``.
"""

from __future__ import annotations

import os
import select
import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from freezeframe.capture.errors import BusError, TargetError
from freezeframe.capture.targets.base import Target
from freezeframe.capture.targets.server import read_or_ones
from freezeframe.capture.targets.uartbone_codec import Command, encode_words, next_command

_FORGET_S = 0.1
_SEND_S = 1.0  # a peer that takes no bytes for that long has gone


@dataclass(slots=True)
class UartServerStats:
    """What a server has seen since it began."""

    commands: int = 0
    words_read: int = 0
    words_written: int = 0
    error_words: int = 0
    unknown: int = 0  # commands of no known code, or of no words
    forgotten_B: int = 0  # bytes of commands that were never finished
    unsent_B: int = 0  # bytes of answers that nobody took


class UartBoneServer:
    """Serves a target on an open file descriptor: a pty master, or a configured serial device."""

    def __init__(self, target: Target, fd: int) -> None:
        """Take a descriptor that reads and writes raw bytes; it stays the caller's to close."""
        self.target = target
        self.stats = UartServerStats()
        self._fd = fd
        self._stream = bytearray()
        self._heard_s = 0.0
        os.set_blocking(fd, False)

    def poll(self, timeout_s: float = 0.0) -> int:
        """Answer what is waiting, or comes within ``timeout_s``; return the commands handled."""
        readable, _, _ = select.select([self._fd], [], [], timeout_s)
        now_s = time.monotonic()
        if self._stream and now_s - self._heard_s > _FORGET_S:
            self.stats.forgotten_B += len(self._stream)
            self._stream.clear()
        if not readable:
            return 0
        try:
            data = os.read(self._fd, 1 << 16)
        except BlockingIOError:
            return 0
        except OSError:
            # A pty whose other end is closed says so at once, and would make a loop spin.
            time.sleep(timeout_s)
            return 0
        self._stream += data
        self._heard_s = now_s
        handled = 0
        while True:
            command, took_B = next_command(self._stream)
            if command is None:
                return handled
            del self._stream[:took_B]
            handled += 1
            self._carry_out(command)

    def serve_forever(
        self,
        stop: Callable[[], bool],
        between: Callable[[], None] | None = None,
        poll_s: float = 0.05,
    ) -> None:
        """Answer until ``stop()`` is true; as ``EtherboneServer.serve_forever``."""
        while not stop():
            self.poll(poll_s)
            if between is not None:
                between()

    def _carry_out(self, command: Command) -> None:
        self.stats.commands += 1
        if not command.known:
            self.stats.unknown += 1
        elif command.is_write:
            self._write(command)
        else:
            addresses = command.address + command.step_B * np.arange(command.words, dtype=np.int64)
            try:
                words, errors = read_or_ones(
                    self.target, (addresses & 0xFFFFFFFF).astype(np.uint32)
                )
            except TargetError:
                return  # silence is the only answer a gone target can give
            self.stats.words_read += len(words)
            self.stats.error_words += errors
            self._send(encode_words(words))

    def _write(self, command: Command) -> None:
        try:
            if command.step_B:
                self.target.write(command.address, command.data)
            else:
                for word in command.data.tolist():
                    self.target.write(command.address, [word])
            self.stats.words_written += command.words
        except (BusError, ValueError):
            self.stats.error_words += command.words
        except TargetError:
            pass  # a write has no answer; the counters show that nothing was written

    def _send(self, data: bytes) -> None:
        while data:
            _, writable, _ = select.select([], [self._fd], [], _SEND_S)
            try:
                sent_B = os.write(self._fd, data) if writable else 0
            except OSError:
                sent_B = 0
            if not sent_B:
                self.stats.unsent_B += len(data)
                return
            data = data[sent_B:]
