"""DDP: messages into segments and out of them again; all that touches payload is in the kernels.

Source: RFC 5041, 4 and 5.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from freezeframe.emulator.iwarp import ddp_kernels as kernels
from freezeframe.emulator.iwarp.ddp_kernels import (
    DEPTH,
    ENDED,
    MULPDU,
    READ_HEAD,
    READ_TAIL,
    RECEIVE_HEAD,
    RECEIVE_TAIL,
    TAGGED,
    VERSION_OUT,
)
from freezeframe.emulator.iwarp.layout import TAGGED_B, UNTAGGED_B, Cause
from freezeframe.emulator.iwarp.mpa import MpaStream
from freezeframe.emulator.iwarp.mpa_receive import CONTROL, HEAD, LENGTH
from freezeframe.emulator.iwarp.mpa_send import DONE, Words


class DdpStream:
    """One connection's messages, in both directions.

    One thread at a time sends, one receives; the two know nothing of each other.

    Attributes:
        receive: receives until something is to be told (`ddp_kernels.receive`).
        events: rows of what it tells, so many as ``state[EVENTS]`` says.
    """

    def __init__(self, mpa: MpaStream, regions: Words, domain: int, version: int) -> None:
        self.mpa = mpa
        self._out = mpa.out_upper
        self._out[MULPDU] = self._mulpdu_B = mpa.mulpdu_B
        self._out[VERSION_OUT], self._out[ENDED] = version, 1
        self._msn = [1, 1, 1, 1]
        self._ddp = mpa.in_upper
        self._ddp[kernels.MSN : kernels.MSN + 4] = 1
        self._ddp[kernels.OPEN : kernels.OPEN + 4] = -1
        self._ddp[kernels.VERSION], self._ddp[kernels.DOMAIN] = version, domain
        rows = np.zeros((2 * DEPTH, kernels.ROW_COLUMNS), np.int64)
        self._receive_rows, self._read_rows = rows[:DEPTH].data, rows[DEPTH:].data
        self._events = np.zeros((kernels.MOST_EVENTS, kernels.EVENT_COLUMNS), np.int64)
        # numpy's own indexing of one word takes three times as long.
        self.state = self._ddp.data
        self.events = self._events.data
        self._out_words = self._out.data
        self._send_message = partial(kernels.send_message, mpa.out_words, mpa.heads)
        self._send_some: Callable[[int], int] = partial(kernels.send_some, mpa.out_words, mpa.heads)
        self._send_list = partial(kernels.send_list, mpa.out_words, mpa.heads)
        self._list: tuple[int, int, Words] | None = None
        self.receive: Callable[[], int] = partial(
            kernels.receive, mpa.in_words, mpa.memory, regions, rows, self._events
        )

    # Sending.

    def send(
        self, opcode: int, queue: int, stag: int, to: int, address: int, length: int, flags: int
    ) -> int:
        """Send ``length`` octets at ``address`` as a message, as far as the socket takes them; `go_on` sends the rest.

        Args:
            queue: `TAGGED`, to ``to`` of ``stag``; or an untagged message to its next buffer, invalidating ``stag``.
            flags: of sendmsg.
        """
        if queue != TAGGED:
            to = self._msn[queue]
            self._msn[queue] = (to + 1) & 0xFFFFFFFF
        elif to >> 63:
            to -= 1 << 64  # the same 64 bits, with a sign
        if length > self._mulpdu_B and self.mpa.looks:
            self._mulpdu_B = self._out_words[MULPDU] = self.mpa.look()
        return self._send_message(flags, opcode, queue, stag, to, address, length)  # type: ignore[no-any-return]

    def send_list(self, opcode: int, stag: int, parts: Words, flags: int) -> int:
        """Send tagged messages, one after the other, by one call; `go_on` sends the rest.

        Args:
            parts: int64[messages, 3], of each address, octets and tagged offset (`ddp_kernels`).
        """
        if self.mpa.looks and int(parts[:, kernels.PART_LENGTH].max()) > self._mulpdu_B:
            self._mulpdu_B = self._out_words[MULPDU] = self.mpa.look()
        self._list = opcode, stag, parts
        self._out_words[kernels.NEXT] = 0
        return self.go_on(flags)

    def go_on(self, flags: int) -> int:
        """Send on with what was begun; ``flags`` of sendmsg."""
        if self._list is None:
            return self._send_some(flags)
        status: int = self._send_list(flags, *self._list)
        if status == DONE:
            self._list = None
        return status

    def abandon(self) -> None:
        """Cut no further segments of the message that is being sent, and begin none."""
        self._out_words[ENDED] = 1
        self._list = None

    # Receiving.

    def control(self) -> tuple[int, int, bytes]:
        """Return opcode, queue and payload of the message of queue 1, 2 or 3 that has arrived."""
        memory, length = self.mpa.memory, self.state[kernels.CONTROL_LENGTH]
        header = memory[HEAD + 2 : HEAD + 20].tobytes()
        return header[1] & 15, header[9], memory[CONTROL : CONTROL + length].tobytes()

    def header(self) -> tuple[bytes, int]:
        """Return the DDP header of the segment that came last, and the octets of that segment."""
        memory = self.mpa.memory
        size = TAGGED_B if memory[HEAD + 2] & 0x80 else UNTAGGED_B
        return memory[HEAD + 2 : HEAD + 2 + size].tobytes(), int(self.mpa.rx[LENGTH])

    def breach(self) -> Cause:
        """Return what the peer did wrong."""
        pending = self.state[kernels.PENDING]
        return Cause(pending >> 12 & 15, pending >> 8 & 15, pending & 0xFF)

    def expect_first(self, rtr: int) -> None:
        """Tell of the first FPDU; ``rtr``: what it must be (peer-to-peer), 0: anything."""
        self.state[kernels.FIRST_TELL], self.state[kernels.RTR] = 1, rtr

    def first_came(self) -> None:
        self.state[kernels.FIRST_TELL] = self.state[kernels.RTR] = 0

    def tolerate(self, layer: int, etype: int, code: int) -> None:
        """Pass over segments with this error in silence (`quirks`)."""
        self.state[kernels.TOLERATED] = int(kernels.cause(layer, etype, code))

    def tell_writes(self) -> None:
        """Tell of RDMA Writes too."""
        self.state[kernels.WRITES_TELL] = 1

    @property
    def receives_posted(self) -> int:
        return self.state[RECEIVE_TAIL] - self.state[RECEIVE_HEAD]

    def post_receive(self, address: int, length: int) -> int:
        """Give memory to the next untagged message; return its row, counted from 0."""
        tail = self.state[RECEIVE_TAIL]
        row = tail % DEPTH
        self._receive_rows[row, 0], self._receive_rows[row, 1] = address, length
        self.state[RECEIVE_TAIL] = tail + 1  # last: from now on the kernel looks at it
        return tail

    @property
    def reads_open(self) -> int:
        return self.state[READ_TAIL] - self.state[READ_HEAD]

    def expect_response(self, stag: int, to: int, address: int, length: int) -> int:
        """Expect a Read Response, after those expected before; return its row, counted from 0."""
        tail = self.state[READ_TAIL]
        rows, row = self._read_rows, tail % DEPTH
        rows[row, 0], rows[row, 1], rows[row, 2] = address, length, stag
        rows[row, 3] = to - (to >> 63 << 64)  # the same 64 bits, with a sign
        self.state[READ_TAIL] = tail + 1
        return tail
