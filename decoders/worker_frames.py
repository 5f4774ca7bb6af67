"""Messages between the host and a worker: one line of JSON, then as many bytes as it promises.

The worker loads this file by its path, so it imports nothing but the standard library.
"""

from __future__ import annotations

import json
import os
import time
from typing import Any

_ORPHAN_CHECK_S = 1.0
MAX_HEADER_B = 1 << 26  # the description of one decoder is some kB; this only stops nonsense
MAX_PAYLOAD_B = 1 << 33  # more than a worker may have


def frame(message: dict[str, Any], payload: bytes = b"") -> bytes:
    """Return the bytes of a message and what goes with it."""
    return json.dumps({**message, "payload_B": len(payload)}).encode() + b"\n" + payload


def write_frame(fd: int, message: dict[str, Any], payload: bytes = b"") -> None:
    """Write a message."""
    write_all(fd, frame(message, payload))


def write_all(fd: int, data: bytes) -> None:
    """Write bytes whole, for a pipe may take a part of them."""
    view = memoryview(data)
    while view:
        view = view[os.write(fd, view) :]


def end_with(parent: int) -> None:
    """End this process when its host has gone, even while a decoder is in a loop of its own; runs in a thread."""
    while os.getppid() == parent:
        time.sleep(_ORPHAN_CHECK_S)
    os._exit(1)


class FrameReader:
    """Puts messages together from bytes as they come."""

    def __init__(self) -> None:
        self._held = bytearray()
        self._header: dict[str, Any] | None = None

    def feed(self, data: bytes) -> None:
        """Take more bytes."""
        self._held += data

    def next(self) -> tuple[dict[str, Any], bytes] | None:
        """Return the next whole message with its payload; None when more bytes are needed.

        Raises:
            ValueError: the bytes are not such a message.
        """
        if self._header is None:
            end = self._held.find(b"\n")
            if end < 0:
                if len(self._held) > MAX_HEADER_B:
                    raise ValueError(f"no end of line in {len(self._held)} B")
                return None
            header = json.loads(self._held[:end])
            if not isinstance(header, dict) or not isinstance(header.get("payload_B"), int):
                raise ValueError(f"not a message: {bytes(self._held[:60])!r}")
            if not 0 <= header["payload_B"] <= MAX_PAYLOAD_B:
                raise ValueError(f"a message of {header['payload_B']} B")
            self._header = header
            del self._held[: end + 1]
        size_B = self._header["payload_B"]
        if len(self._held) < size_B:
            return None
        header, self._header = self._header, None
        with memoryview(self._held) as held:  # a slice of it would be one copy more
            payload = bytes(held[:size_B])
        del self._held[:size_B]
        return header, payload
