"""The completion queue: the one structure that the layers below and the user share. They put in, the user takes out."""

from __future__ import annotations

import asyncio
import os
import queue
import time
from typing import Any, NamedTuple

from freezeframe.emulator.iwarp.errors import IwarpError, PeerSilentError


class Completion(NamedTuple):
    """Something that has ended.

    Attributes:
        kind: ``send``, ``write``, ``read``, ``atomic``, ``receive``: posted work; ``written``: the peer wrote
            (`QueuePair.tell_writes`); ``closed``: the connection has ended, nothing more comes from it.
        id: as given with the work.
        length: octets.
        error: why it did not succeed; None where it did.
        opcode: of the message of a ``receive``.
        stag: that the message has invalidated (``receive``), or that was written to (``written``).
        source: the queue pair.
    """

    kind: str
    id: Any
    length: int
    error: IwarpError | None
    opcode: int
    stag: int
    source: Any


class CompletionQueue:
    """Completions of any number of queue pairs, in the order in which they happened."""

    def __init__(self) -> None:
        self._queue: queue.SimpleQueue[Completion] = queue.SimpleQueue()
        self._pipe: tuple[int, int] | None = None

    def put(self, completion: Completion) -> None:
        """Put in a completion; of any thread."""
        self._queue.put(completion)
        if self._pipe is not None:
            try:
                os.write(self._pipe[1], b"\0")
            except BlockingIOError:
                return  # it is full: it can be read

    def poll(self) -> Completion | None:
        """Return the next completion, None where there is none now."""
        try:
            return self._queue.get_nowait()
        except queue.Empty:
            return None

    def wait(self, limit_s: float | None = 10.0) -> Completion:
        """Return the next completion; without a limit where that is None.

        Raises:
            PeerSilentError: there is none within the limit.
            IwarpError: the one of the completion, where that has one.
        """
        try:
            return _good(self._queue.get(timeout=limit_s))
        except queue.Empty:
            raise PeerSilentError(f"nothing ended within {limit_s:g} s") from None

    async def arrives(self, limit_s: float = 10.0) -> Completion:
        """As `wait`, in asyncio."""
        end = time.monotonic() + limit_s
        while (completion := self.poll()) is None:
            left = end - time.monotonic()
            if left <= 0:
                raise PeerSilentError(f"nothing ended within {limit_s:g} s")
            await self._readable(left)
        return _good(completion)

    async def _readable(self, limit_s: float) -> None:
        loop, came = asyncio.get_running_loop(), asyncio.Event()
        loop.add_reader(self.fileno(), came.set)
        try:
            if self._queue.empty():
                await asyncio.wait_for(came.wait(), limit_s)
        except TimeoutError:
            return  # `arrives` says so
        finally:
            loop.remove_reader(self.fileno())
            self._taken()

    def fileno(self) -> int:
        """Return a descriptor that can be read whenever something was put in; for loops of any kind."""
        if self._pipe is None:
            self._pipe = os.pipe()
            for end in self._pipe:
                os.set_blocking(end, False)
        return self._pipe[0]

    def close(self) -> None:
        """Give the descriptor back, where there is one; what is in the queue stays."""
        if self._pipe is not None:
            pipe, self._pipe = self._pipe, None
            for end in pipe:
                os.close(end)

    def _taken(self) -> None:
        if self._pipe is None:
            return
        try:
            os.read(self._pipe[0], 1 << 16)
        except BlockingIOError:
            return  # nothing had been told


def _good(completion: Completion) -> Completion:
    if completion.error is not None:
        raise completion.error
    return completion
