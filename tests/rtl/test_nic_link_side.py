"""ff_nic_link_side with its lanes led back to itself: what joining transmitter, receiver and books adds, and what the
recorder is told of it (docs/formats.md sections 3 and 4; docs/faults.md).
"""

from __future__ import annotations

from typing import Any, Self

import cocotb
from cocotb.triggers import Timer

from freezeframe.capture.registers.layouts import (
    Cause,
    CreditCode,
    Kind,
    LinkCode,
    PressureCode,
)
from freezeframe.capture.registers.map_table import COUNTERS
from tests.rtl.link_packets import packet
from tests.rtl.simulation import in_icarus

SENT, CREDITED, LIMIT, RECEIVED, FREED, SENT_32, RECEIVED_32, REPORTED = range(8)
SOURCES = (
    7  # transmitter's state, pressure, credit sent; receiver's state, credit taken, lane 0, lane 1
)
PRESSURE, CREDIT_SENT, CREDIT_TAKEN, LANE_0 = 1, 2, 4, 5
HALT, FLOW, UNIT, SHARE = 0xFE, 5, 4, 40
UP = 420  # cycles until the lanes are trained and the books cleared
INPUTS = (
    "lane_in", "lane_in_k", "cfg_active", "cfg_share", "cfg_stall_limit", "arm_link", "arm_rx", "fault_select",
    "fault_outgoing", "fault_count", "fault_min_length", "fault_word", "fault_lane", "fault_bytes", "fault_mask",
    "fault_bit", "fault_flow", "fault_limit", "fault_room", "s_valid", "s_last", "s_data", "s_words", "m_accept",
    "read_valid", "read_first", "read_last", "read_flow", "freed_valid", "freed_flow", "flow_req", "flow_number",
    "flow_field",
)  # fmt: skip


test_the_link_side_of_a_card = in_icarus("ff_nic_link_side", __name__, {"CREDIT_UNIT": UNIT})


class Side:
    """The block between an outgoing FIFO that is full of packets and an incoming one that is read at once, or not."""

    def __init__(self, dut: Any) -> None:
        self.dut = dut
        self.queue: list[list[int]] = []
        self.place = 0
        self.reading = True  # words leave the incoming FIFO
        self.accepting = True
        self.held = False
        self.words: list[int] = []  # received
        self.stored: list[
            tuple[int, bool, bool]
        ] = []  # flow, first, last of words in the incoming FIFO
        self.events: list[tuple[int, int, int, int, int]] = []  # source, kind, code, flow, value
        self.causes: dict[int, int] = {}  # cause bit: cycle in which it was told first
        self.counts = dict.fromkeys(COUNTERS, 0)
        self.waits = 0
        self.overflowed: list[int] = []  # cycles in which a word was refused
        self.now = 0
        self.lanes = (0, 0)
        self._flow = 0
        self._freed: tuple[int, bool, bool] | None = None

    async def start(self, **given: int) -> Self:
        dut = self.dut
        given = {"cfg_active": (1 << 128) - 1, "cfg_share": SHARE, "fault_room": 1, **given}
        for name in INPUTS:
            getattr(dut, name).value = given.get(name, 0)
        for name in ("clk_bus", "bus", "clk_link", "link", "rx"):
            getattr(dut, name).value = 0
        dut.rst.value = dut.rst_link.value = dut.rst_rx.value = dut.en_link.value = 1
        for _ in range(16):
            await self._tick()
        dut.rst.value = dut.rst_link.value = dut.rst_rx.value = 0
        await self.run(UP)
        return self

    async def run(self, cycles: int) -> None:
        for _ in range(cycles):
            await self._cycle()

    async def _tick(self) -> None:
        """One cycle of every clock that runs; the tests need no second frequency, test_example_nic.py has one."""
        dut = self.dut
        await Timer(5, "ns")
        for level in (1, 0):
            for name in ("clk_bus", "clk_link"):
                getattr(dut, name).value = level
            if not self.held:
                for name in ("bus", "link", "rx"):
                    getattr(dut, name).value = level
            if level:
                await Timer(5, "ns")
        await Timer(1, "ps")

    async def _cycle(self) -> None:
        dut = self.dut
        dut.lane_in.value, dut.lane_in_k.value = self.lanes
        self._offer()
        self._read()
        dut.m_accept.value = 0
        dut.en_link.value = int(not self.held)
        await Timer(1, "ns")
        accepted = int(dut.m_valid.value) and self.accepting
        dut.m_accept.value = int(accepted)
        await Timer(1, "ns")
        if not self.held:
            self._look(bool(accepted))
        taken = int(dut.s_take.value) and self.queue and not self.held
        await self._tick()
        self.now += 1
        if taken:
            self.place += 1
            if self.place == len(self.queue[0]):
                self.queue.pop(0)
                self.place = 0
        self.lanes = int(dut.lane_out.value), int(dut.lane_out_k.value)

    def _offer(self) -> None:
        dut = self.dut
        dut.s_valid.value = int(bool(self.queue))
        if self.queue:
            words = self.queue[0]
            dut.s_data.value = words[self.place]
            dut.s_last.value = int(self.place == len(words) - 1)
            dut.s_words.value = len(words)

    def _read(self) -> None:
        dut = self.dut
        if self.held:
            return
        dut.freed_valid.value = int(self._freed is not None)
        if self._freed is not None:
            dut.freed_flow.value = self._freed[0]
        self._freed = self.stored.pop(0) if self.stored and self.reading else None
        dut.read_valid.value = int(self._freed is not None)
        if self._freed is not None:
            flow, first, last = self._freed
            dut.read_first.value, dut.read_last.value = int(first), int(last)
            dut.read_flow.value = flow if first else 127

    def _look(self, accepted: bool) -> None:
        dut = self.dut
        if int(dut.m_valid.value):
            first, last, data = int(dut.m_first.value), int(dut.m_last.value), int(dut.m_data.value)
            self.words.append(data)
            if first:
                self._flow = data >> 8 & 0x7F
            if accepted:
                self.stored.append((self._flow, bool(first), bool(last)))
            else:
                self.overflowed.append(self.now)
        valid = int(dut.ev_valid.value)
        if valid:
            for i in range(SOURCES):
                if valid >> i & 1:
                    event = (
                        i, _field(dut.ev_kind, i, 4), _field(dut.ev_code, i, 8), _field(dut.ev_flow, i, 7),
                        _field(dut.ev_value, i, 40),
                    )  # fmt: skip
                    self.events.append(event)
        causes, count = int(dut.causes.value), int(dut.count.value)
        for bit in range(16):
            if causes >> bit & 1:
                self.causes.setdefault(bit, self.now)
        for bit, name in enumerate(COUNTERS):
            self.counts[name] += count >> bit & 1
        self.waits += int(dut.fault_waits.value)

    def told(self, source: int) -> list[tuple[int, int, int, int]]:
        """Return kind, code, flow and value of the events of a source."""
        return [event[1:] for event in self.events if event[0] == source]

    async def field(self, flow: int, field: int) -> int:
        dut = self.dut
        dut.flow_req.value, dut.flow_number.value, dut.flow_field.value = 1, flow, field
        for _ in range(40):
            await self._cycle()
            if int(dut.flow_ack.value):
                word = int(dut.flow_data.value)
                dut.flow_req.value = 0
                await self.run(8)
                return word
        raise AssertionError(f"field {field} of flow {flow} was not answered")

    def truth(self) -> tuple[int, int, int, int]:
        """Return struck, sequence number, flow and word."""
        truth = int(self.dut.fault_truth.value)
        return truth >> 33, truth >> 17 & 0xFFFF, truth >> 10 & 0x7F, truth & 0x3FF


def _field(signal: Any, source: int, width: int) -> int:
    """Return the bits of a source as a number; those of sources that tell nothing may be x."""
    end = len(signal) - source * width
    return int(str(signal.value)[end - width : end], 2)


def messages(count: int, payload: int = 6, flow: int = FLOW) -> list[list[int]]:
    return [
        packet([n << 32 | i for i in range(payload)], flow=flow, seq=n, dest=64 * n)
        for n in range(count)
    ]


@cocotb.test()
async def every_word_comes_back_is_freed_and_credited_and_the_books_of_both_ends_agree(
    dut: Any,
) -> None:
    side = await Side(dut).start()
    assert side.told(LANE_0) == [(Kind.LINK, LinkCode.TRAINED, 0, 0)]
    assert side.told(LANE_0 + 1) == [(Kind.LINK, LinkCode.TRAINED, 0, 1)]
    sent = messages(12)  # 108 words, more than the share
    side.queue = [list(words) for words in sent]
    await side.run(700)
    count = sum(len(words) for words in sent)
    assert side.words == [word for words in sent for word in words]
    assert side.causes == {}
    books = [await side.field(FLOW, field) for field in range(8)]
    assert books == [count, count, SHARE, count, count, count, count, count]
    assert [await side.field(FLOW + 1, field) for field in (SENT_32, RECEIVED_32, FREED)] == [0] * 3
    told, taken = side.told(CREDIT_SENT), side.told(CREDIT_TAKEN)
    assert {event[:3] for event in told} == {(Kind.CREDIT, CreditCode.SENT, FLOW)}
    assert {event[:3] for event in taken} == {(Kind.CREDIT, CreditCode.TAKEN, FLOW)}
    assert [event[3] for event in told] == [event[3] for event in taken]
    assert told[-1][3] >> 16 == count
    assert side.counts["credits_sent"] == side.counts["credits_taken"] == len(told)
    assert side.counts["credits_refused"] == side.counts["rx_fifo_overflows"] == 0


@cocotb.test()
async def without_credit_a_packet_waits_is_told_as_waiting_and_goes_on_once_words_are_freed(
    dut: Any,
) -> None:
    side = await Side(dut).start(cfg_stall_limit=150, fault_flow=FLOW)
    side.reading = False
    side.queue = messages(5)  # 9 words each, 40 of credit: four leave
    await side.run(160)
    assert len(side.words) == 36
    assert side.told(PRESSURE) == [(Kind.PRESSURE, PressureCode.BEGIN, FLOW, 4)]
    assert side.waits == 1
    assert side.causes == {}
    await side.run(160)
    assert list(side.causes) == [Cause.CREDIT_STALL]
    assert int(dut.stat_stalled.value) == 1 << FLOW
    side.reading = True
    await side.run(200)
    assert len(side.words) == 45
    assert int(dut.stat_stalled.value) == 0
    assert [event[1] for event in side.told(PRESSURE)] == [PressureCode.BEGIN, PressureCode.END]
    assert 300 < side.counts["pressure_cycles"] < 420


@cocotb.test()
async def while_it_is_held_the_lanes_carry_halt_symbols_and_the_port_answers_what_stands_still(
    dut: Any,
) -> None:
    side = await Side(dut).start()
    sent = messages(3)
    side.queue = [list(words) for words in sent]
    await side.run(24)  # a packet is on its way
    before = len(side.words)
    assert 0 < before < 27
    side.held = True
    await side.run(3)
    books = await side.field(FLOW, RECEIVED_32)
    assert books == before
    assert await side.field(FLOW, RECEIVED_32) == books
    assert side.lanes == (int.from_bytes(bytes([HALT] * 8), "little"), 0xFF)
    assert int(dut.ev_valid.value) == int(dut.causes.value) == int(dut.count.value) == 0
    assert len(side.words) == before


@cocotb.test()
async def a_word_that_the_fifo_refuses_is_an_overflow_in_the_cycle_after_and_is_not_received(
    dut: Any,
) -> None:
    side = await Side(dut).start()
    side.queue = messages(1)
    side.accepting = False
    await side.run(100)
    assert len(side.overflowed) == 9
    assert side.causes == {Cause.RX_OVF: side.overflowed[0] + 1}
    assert side.counts["rx_fifo_overflows"] == 9
    assert [await side.field(FLOW, field) for field in (SENT, RECEIVED, FREED)] == [9, 0, 0]


@cocotb.test()
async def words_behind_a_refused_header_are_received_in_the_flow_that_it_names(dut: Any) -> None:
    side = await Side(dut).start()
    side.queue = messages(1, flow=3)  # no other test's: the block keeps the flow of the last packet
    side.accepting = False
    while not side.words:
        await side.run(1)
    side.accepting = True
    await side.run(60)
    assert len(side.overflowed) == 1
    assert [await side.field(flow, RECEIVED_32) for flow in (3, FLOW)] == [8, 0]


@cocotb.test()
@cocotb.parametrize(
    fault=[
        (5, {"fault_mask": 1 << 7, "fault_word": 4}, (1, 2, FLOW, 4), {Cause.PAY_CRC}),
        (6, {"fault_mask": 1 << 18, "fault_word": 0}, (1, 2, FLOW, 0), {Cause.HDR_CRC}),
        (3, {"fault_word": 3, "fault_lane": 1, "fault_min_length": 15}, (1, 2, FLOW, None), {Cause.SYNC_UNF}),
        (4, {"fault_word": 3, "fault_bytes": 1}, (1, 2, FLOW, 4), set()),
        (7, {"fault_bit": 20}, (1, 0, FLOW, 0), {Cause.CREDIT_PARITY}),
        (8, {"fault_flow": FLOW}, (1, 0, FLOW, 0), set()),
        (10, {"fault_flow": FLOW, "fault_limit": 100}, (1, None, FLOW, 0), set()),
        (13, {"fault_flow": FLOW, "fault_limit": 60}, (1, None, FLOW, 0), set()),
        (18, {"fault_flow": FLOW, "fault_mask": 1}, (1, 0, FLOW, 0), set()),
    ]
)  # fmt: skip
async def a_fault_tells_where_it_struck_and_nothing_before_it_is_armed(
    dut: Any, fault: tuple[int, dict[str, int], tuple[int | None, ...], set[Cause]]
) -> None:
    select, given, want, causes = fault
    side = await Side(dut).start(fault_select=select, fault_count=2, **given)
    assert side.truth()[0] == 0
    dut.arm_rx.value = int(
        select in (4, 5, 6)
    )  # as each domain sees it; the other's is of no account
    dut.arm_link.value = int(select not in (4, 5, 6))
    side.reading = select not in (10, 13)  # these two show where nothing comes back
    side.queue = messages(9, payload=16)
    await side.run(400)
    truth = side.truth()
    seen = tuple(None if w is None else told for told, w in zip(truth, want, strict=True))
    assert seen == want, truth
    assert causes <= set(side.causes), side.causes
    if select != 4:  # a lane that has lost a byte brings credits whose CRC is wrong, too
        assert side.counts["credits_refused"] == int(select == 7)
    empty = [LinkCode.UNDERFLOW in [e[1] for e in side.told(LANE_0 + lane)] for lane in (0, 1)]
    assert empty == [False, select == 3]


@cocotb.test()
async def credits_kept_back_are_the_fault_only_while_the_fifo_has_room(dut: Any) -> None:
    side = await Side(dut).start(fault_select=12, fault_flow=FLOW, fault_limit=30)
    side.queue = messages(2)
    await side.run(150)
    assert side.truth() == (1, 0, FLOW, 0)
    dut.fault_room.value = 0
    await side.run(1)
    assert side.truth() == (0, 0, FLOW, 0)
    dut.fault_room.value = 1
    side.queue = messages(2)  # 36 words: one credit of 30, and 6 that are not yet a unit
    await side.run(150)
    assert await side.field(FLOW, CREDITED) == 30


@cocotb.test()
async def a_switch_that_is_not_of_the_link_tells_no_truth(dut: Any) -> None:
    side = await Side(dut).start(
        fault_select=14, fault_mask=(1 << 64) - 1, fault_flow=FLOW, fault_limit=7
    )
    dut.arm_link.value = dut.arm_rx.value = 1
    side.queue = messages(2)
    await side.run(100)
    assert side.truth() == (0, 0, 0, 0)
    assert side.causes == {}
