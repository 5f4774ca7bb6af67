"""The bridge: a remote write from the host's bus through both FPGAs and the ring, and on to the host's bus at its end.

Phases A to J of the paper's section IV, with write buffers, free-buffer list, protection tables, `dmove` and `nwrite`,
responses and their time-out, packets refused for want of a buffer and sent again, and packets that software builds.
In loop-back, as its paper measured it, a bridge's packets come back to itself and one host bus carries both ends, so
sustained bandwidth is less than between two nodes; `meet` lets two bridges stand at the ends of one ring.

Source: M. Trams, W. Rehm, "SCI Transaction Management in our FPGA-based PCI-SCI Bridge", sections II to IV.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from typing import Protocol

from freezeframe.decoders.sci import layout
from freezeframe.emulator.sci.faults import SciFault
from freezeframe.emulator.sci.parts import (
    BLOCK_B,
    NODE,
    PAGE_B,
    WRITE_BUFFER,
    Books,
    Sizes,
    Tables,
    Write,
)
from freezeframe.emulator.sci.timing import Cycles, Unit

_STATE = {name: number for number, name in enumerate(WRITE_BUFFER)}
_TAG_BITS = 6


class Seen(Protocol):
    """What watches the bridge: words at its taps, events and states."""

    def packet(self, tap: str, begin: int, data: bytes) -> None: ...

    def event(self, name: str, cycle: int, value: int) -> None: ...

    def state(self, name: str, cycle: int, was: int, now: int) -> None: ...

    def cause(self, name: str, cycle: int) -> None: ...


class Bridge:
    """One bridge; its packets come back to itself until it meets another one.

    Attributes:
        far: whose packets these are at the other end of the ring, and where its own go.
        when_written: called when a write from the ring is in the host's memory.
    """

    def __init__(
        self,
        sizes: Sizes,
        tables: Tables,
        fault: SciFault,
        seen: Seen,
        cycles: Cycles | None = None,
        node: int = NODE,
    ) -> None:
        self.sizes, self.tables, self.fault, self.seen = sizes, tables, fault, seen
        self.cycles = cycles or Cycles()
        self.node = node
        self.far: Bridge = self
        self.when_written: Callable[[], None] = lambda: None
        self.books = Books()
        self.free: deque[int] = deque(range(sizes.ids_enabled))
        self.out: set[int] = set()
        self.open: dict[
            int, int
        ] = {}  # transaction ID -> number of the write that waits for its response
        self.incoming_free = sizes.incoming_buffers
        self.memory: dict[int, int] = {}
        self.manual_queue: list[bytes] = []
        self._buffers = [0] * sizes.write_buffers
        self._writes: deque[Write] = deque()
        self._host_bus, self._epu = Unit(self.cycles), Unit(self.cycles)
        self._control, self._packets = Unit(self.cycles), Unit(self.cycles)
        self._blink, self._master = Unit(self.cycles), Unit(self.cycles)
        self._held = 0  # packets that the link controller has and the other end has not taken
        self._kept: deque[tuple[bytes, Callable[[], None] | None]] = deque()
        self._waiting_since: int | None = None
        self._in_free_at = 0  # cycle from which on the receiving side of BLINK is free
        self._count = 0
        self._serial = 0  # of requests that are answered or not, to tell two of one ID apart
        self._at_target = False

    def meet(self, other: Bridge) -> None:
        """Let another bridge stand at the other end of the ring, on the same cycles."""
        self.far, other.far = other, self

    # -- A: the host's bus

    def write(self, address: int, words: Sequence[int]) -> None:
        """Let the host write to remote memory; a write that crosses a block of 64 bytes is disconnected there."""
        at = 0
        while at < len(words):
            place = address + 4 * at
            room = (BLOCK_B - place % BLOCK_B) // 4
            self._writes.append(Write(place, tuple(words[at : at + room])))
            at += room
        self._offer()

    @property
    def idle(self) -> bool:
        """Whether no write waits for the host's bus."""
        return not self._writes and not self._at_target

    def _offer(self) -> None:
        """Begin the host's next write where the target can take it: a write buffer and an ID are free."""
        if not self._writes or self._at_target:
            return
        slot = next((n for n, state in enumerate(self._buffers) if state == 0), None)
        if slot is None or not self.free:
            if self._waiting_since is None:
                self._waiting_since = self.cycles.now
            return
        if self._waiting_since is not None:
            self.books.counts["target_retries"] += self.cycles.now - self._waiting_since
            self._waiting_since = None
        self._at_target = True
        write = self._writes.popleft()
        beats = -(-len(write.words) // 2)
        self._host_bus.use(
            4 + beats,
            lambda: None,
            lambda: self._begin(write, slot, beats),
        )

    def _begin(self, write: Write, slot: int, beats: int) -> None:
        self._count += 1
        write.number, write.id = self._count, self.free[0]  # one is prefetched
        self._log("host_write", write.key)
        self.cycles.after(5, lambda: self._entered(write, slot, beats))

    # -- B: target, translation, hand-over

    def _entered(self, write: Write, slot: int, beats: int) -> None:
        self._log("bridge_entered", write.key)
        self._take_id(write.id)
        self._to(slot, "translate_request_issued")
        self._at_target = False
        arrived = self.cycles.now + beats - 1  # its last word is in the packet memory
        self._run_epu(2, lambda: self._translated(write, slot, arrived))
        self._offer()

    def _translated(self, write: Write, slot: int, arrived: int) -> None:
        page = self.tables.down.get(write.page)
        if page is None or not page.writable:
            self._to(slot, "idle")
            self._log("down_refused", write.key)
            self.books.counts["writes_refused_down"] += 1
            self.seen.cause("refused", self.cycles.now)
            self._give_back(write.id)
            self._offer()
            return
        self._to(slot, "translated")

        def ready() -> None:  # nothing is combined: the paper's combining is not synthesized
            self._to(slot, "ready_to_send")
            self._to(slot, "flush_request_issued")
            self._run_epu(2, lambda: self._handed_over(write, slot, page.answered))

        self.cycles.after(max(0, arrived - self.cycles.now), ready)

    def _handed_over(self, write: Write, slot: int, answered: bool) -> None:
        self._log("handed_over", write.key)
        self._to(slot, "idle")
        command = layout.COMMANDS["nwrite64" if answered else "dmove64"]
        start = write.address % BLOCK_B // 4
        body = bytearray(BLOCK_B)
        for n, word in enumerate(write.words, start):
            body[4 * n : 4 * n + 4] = word.to_bytes(4, "little")
        header = layout.Header(
            layout.QUEUES["request"], write.id, self.far.node, command, self.node, write.number & 0x3FF, write.id,
            start, start + len(write.words), write.address - write.address % BLOCK_B,
        )  # fmt: skip
        data = layout.encode(header, bytes(body))
        self._control.use(self.sizes.control_cycles, lambda: self._sent(write.key, data, answered))
        self._offer()

    # -- C, D: transaction control, BLINK

    def _sent(self, key: int, data: bytes, answered: bool) -> None:
        identity = key & (layout.IDS - 1)
        self._serial += 1
        number = self._serial
        self._log("packet_sent", key)
        self.books.counts["requests_sent" if answered else "posted_sent"] += 1
        if answered:
            self.open[identity] = number
            self.cycles.after(self.sizes.timeout_cycles, lambda: self._timed_out(key, number))
            self._drive(data)
        else:  # the link controller has it: nothing more is waited for
            self._drive(data, lambda: self._give_back(identity))

    def _timed_out(self, key: int, number: int) -> None:
        identity = key & (layout.IDS - 1)
        if self.open.get(identity) != number:
            return
        del self.open[identity]
        self._log("response_timeout", key)
        self.books.counts["responses_timed_out"] += 1
        self.seen.cause("timed_out", self.cycles.now)
        self._give_back(identity)
        self._offer()

    def _drive(self, data: bytes, gone: Callable[[], None] | None = None) -> None:
        """Drive a packet: three cycles before it, which overlap with the one before; then a word a cycle.

        The link controller holds a request until the other end has taken it, and takes no more than it has room for.
        """
        if not _is_response(data):
            if self._held == self.sizes.send_buffers:
                self._kept.append((data, gone))
                return
            self._held += 1
        words = len(data) // layout.WORD_B

        def begun() -> None:
            at = self.cycles.now
            self.books.counts["packets_driven"] += 1
            self.books.under_way += 1
            self.seen.packet("blink_out", at, data)
            changed = self.fault.on_ring(data)
            if (
                changed is not None
            ):  # one that is lost stays under way: no counter of the bridge can know
                self.cycles.after(self.sizes.transit_cycles, lambda: self.far._arrives(changed))

        def over() -> None:
            if gone is not None:
                gone()
                self._offer()

        self.cycles.after(
            self.sizes.blink_start_cycles, lambda: self._blink.use(words, over, begun)
        )

    def _arrives(self, data: bytes) -> None:
        at = max(self.cycles.now, self._in_free_at)
        words = len(data) // layout.WORD_B
        self._in_free_at = at + words
        self.cycles.after(at - self.cycles.now, lambda: self._at_blink(data))

    def _at_blink(self, data: bytes) -> None:
        key = layout.value_of(data, "tag") << _TAG_BITS | layout.value_of(data, "transaction")
        queue = layout.value_of(data, "queue")
        response = _is_response(data)
        if not response and not self.incoming_free:
            self._log("packet_refused", key)
            self.books.counts["packets_refused"] += 1
            self.far.books.under_way -= 1
            self.cycles.after(self.sizes.resend_cycles, lambda: self._again(data))
            return
        self.books.counts["packets_accepted"] += 1
        self.far.books.under_way -= 1
        self.seen.packet("blink_in", self.cycles.now, data)
        if response:
            self.cycles.after(3, lambda: self._answered(data, key))
            return
        self.far._taken_there()
        self.incoming_free -= 1
        if queue == layout.QUEUES["manual"]:
            self.cycles.after(3, lambda: self._manual(data, key))
            return
        self._log("packet_arrived", key)
        self.cycles.after(3, lambda: self._notified(data, key))

    def _taken_there(self) -> None:
        """The other end has taken a request: there is room for the next."""
        self._held -= 1
        if self._kept:
            self._drive(*self._kept.popleft())

    def _again(self, data: bytes) -> None:
        """The sender's link controller offers a packet again; BLINK out carried it once, so no tap sees this way."""
        self.far.books.counts["packets_driven"] += 1
        self.far.books.under_way += 1
        self._arrives(data)

    # -- E, F, G: notification, EPU

    def _notified(self, data: bytes, key: int) -> None:
        self._log("notified", key)
        self.books.counts["writes_come"] += 1
        self.books.inside += 1

        def dispatched() -> None:
            self._log("dispatched", key)
            self._epu.use(3 * self.sizes.epu_cycles, lambda: self._executed(data, key))

        self.cycles.after(self.sizes.dispatch_cycles, dispatched)

    def _executed(self, data: bytes, key: int) -> None:
        address = layout.value_of(data, "address")
        page = self.tables.up.get(address // PAGE_B)
        if page is None or not page.writable:
            self._log("up_refused", key)
            self.books.counts["writes_refused_up"] += 1
            self.books.inside -= 1
            self.seen.cause("refused", self.cycles.now)
            self.incoming_free += 1
            self._respond(data, "refused")
            return
        self._log("executed", key)
        start, end = layout.value_of(data, "start"), layout.value_of(data, "end")
        beats = -(-(end - start) // 2)
        self._master.use(
            self.sizes.master_cycles + 1 + beats,
            lambda: None,
            lambda: self.cycles.after(
                self.sizes.master_cycles, lambda: self._granted(data, key, beats)
            ),
        )

    # -- H, I, J: PCI master, bridge, host

    def _granted(self, data: bytes, key: int, beats: int) -> None:
        self._log("bus_granted", key)
        self.cycles.after(
            8,
            lambda: self._host_bus.use(
                3 + beats, lambda: self._written(data, key), lambda: self._log("bridge_left", key)
            ),
        )

    def _written(self, data: bytes, key: int) -> None:
        self._log("host_written", key)
        self.books.counts["writes_done"] += 1
        self.books.inside -= 1
        base = layout.value_of(data, "address")
        for n in range(layout.value_of(data, "start"), layout.value_of(data, "end")):
            at = layout.BODY_AT + 4 * n
            self.memory[base + 4 * n] = int.from_bytes(data[at : at + 4], "little")
        self.incoming_free += self.fault.buffers_freed()
        self._respond(data, "done")
        self.when_written()

    # -- responses

    def _respond(self, request: bytes, status: str) -> None:
        command = layout.value_of(request, "command")
        if command != layout.COMMANDS["nwrite64"]:
            return
        header = layout.Header(
            layout.QUEUES["response"], layout.value_of(request, "buffer"), layout.value_of(request, "source_node"),
            layout.COMMANDS["response00"], self.node, layout.value_of(request, "tag"),
            layout.value_of(request, "transaction"), 0, 0, layout.STATUS[status],
        )  # fmt: skip
        data = layout.encode(header)
        self.books.counts["responses_sent"] += 1
        self._packets.use(self.sizes.control_cycles // 2, lambda: self._drive(data))

    def _answered(self, data: bytes, key: int) -> None:
        """Transaction control takes a response: its ID goes back to the free-buffer list."""
        identity = self.fault.response_id(key & (layout.IDS - 1), self.open)
        if identity not in self.open:
            self._log("response_unexpected", key)
            self.books.counts["responses_unexpected"] += 1
            return
        del self.open[identity]
        self._log("response", key)
        self.books.counts["responses_taken"] += 1
        self._give_back(identity)
        self._offer()

    # -- manual packets

    def send_manual(self, data: bytes) -> None:
        """Send a packet that software has built whole; it takes no ID of the pool."""
        key = layout.value_of(data, "tag") << _TAG_BITS | layout.value_of(data, "transaction")
        self._log("manual_sent", key)
        self.books.counts["manual_out"] += 1
        self._packets.use(self.sizes.control_cycles // 2, lambda: self._drive(data))

    def _manual(self, data: bytes, key: int) -> None:
        self._log("manual_received", key)
        self.books.counts["manual_in"] += 1
        self.manual_queue.append(data)
        self.incoming_free += 1  # software takes it out at once

    # -- the free-buffer list, the EPU, the log

    def _take_id(self, identity: int) -> None:
        self.free.popleft()
        self.out.add(identity)
        self.books.counts["ids_taken"] += 1
        self._log("id_taken", identity)

    def _give_back(self, identity: int) -> None:
        self.out.discard(identity)
        self.free.append(identity)
        self.books.counts["ids_returned"] += 1
        self._log("id_returned", identity)

    def _run_epu(self, instructions: int, done: Callable[[], None]) -> None:
        self.cycles.after(
            self.sizes.dispatch_cycles,
            lambda: self._epu.use(instructions * self.sizes.epu_cycles, done),
        )

    def _to(self, slot: int, state: str) -> None:
        was, self._buffers[slot] = self._buffers[slot], _STATE[state]
        self.seen.state(f"write_buffer_{slot}", self.cycles.now, was, _STATE[state])

    def _log(self, name: str, value: int) -> None:
        self.seen.event(name, self.cycles.now, value)


def _is_response(data: bytes) -> bool:
    return layout.value_of(data, "queue") == layout.QUEUES["response"]
