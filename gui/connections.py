"""How long a client of a server may stay: slow, silent and broken ones leave, so that they keep nobody out.

A connection has a time limit from its first byte to the last of its answer, however its bytes are spread over it: a
limit of each wait lets a client that sends a byte now and then stay for ever. Where more come than there is room for,
the one that has been here longest goes; who asks and takes the answer at once is gone long before.
"""

from __future__ import annotations

import asyncio


class Connections:
    """The connections of one server, on one event loop.

    Attributes:
        most: how many there may be; no further one is kept out, the oldest goes for it.
        limit_s: how long one may take, unless it is `busy`.
    """

    def __init__(self, most: int, limit_s: float) -> None:
        self.most, self.limit_s = most, limit_s
        self._ends: dict[
            asyncio.WriteTransport, asyncio.TimerHandle
        ] = {}  # in order of their begin

    def __len__(self) -> int:
        return len(self._ends)

    def enter(self, transport: asyncio.WriteTransport) -> None:
        """Count a new connection, or one whose work is done: its time begins."""
        self.leave(transport)
        loop = asyncio.get_running_loop()
        self._ends[transport] = loop.call_later(self.limit_s, transport.abort)
        if len(self._ends) > self.most:
            oldest = next(iter(self._ends))
            self.leave(oldest)
            oldest.abort()

    def busy(self, transport: asyncio.WriteTransport) -> None:
        """Let a connection stay as long as the server works for it."""
        self.leave(transport)

    def leave(self, transport: asyncio.WriteTransport) -> None:
        """Forget a connection that has ended."""
        if end := self._ends.pop(transport, None):
            end.cancel()

    def end(self) -> None:
        """Close every connection that is not busy."""
        for transport in list(self._ends):
            self.leave(transport)
            transport.abort()
