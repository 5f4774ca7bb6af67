"""ff_nic_credits: the books of a card's flow control, as its counters keep them and the read port tells them
(docs/formats.md section 3; docs/faults.md, header-miscounted and credit-too-coarse).
"""

from __future__ import annotations

import random
from typing import Any, NamedTuple, Self

import cocotb
from cocotb.triggers import ClockCycles, FallingEdge, RisingEdge

from tests.rtl.clocks import Clock
from tests.rtl.simulation import in_icarus

SENT, CREDITED, LIMIT, RECEIVED, FREED, SENT_32, RECEIVED_32, REPORTED = range(8)
HEADER, ADDRESS, CRC = 1, 2, 4
CLEARING = 140  # cycles after reset in which the counts are cleared
BUS_PS, LINK_PS = 10_000, 12_800
INPUTS = (
    "cfg_active", "cfg_share", "fault_coarse", "fault_start", "fault_wrap", "fault_add", "fault_miscount",
    "fault_outgoing", "fault_flow", "fault_count", "fault_words", "fault_limit", "tx_flow", "tx_words", "sent_valid",
    "sent_first", "sent_last", "m_take", "taken_valid", "taken_flow", "taken_freed", "received_valid",
    "received_accept", "received_first", "received_last", "received_flow", "read_valid", "read_first", "read_last",
    "read_flow", "freed_valid", "freed_flow", "flow_req", "flow_number", "flow_field",
)  # fmt: skip


test_the_books_of_flow_control = in_icarus(
    "ff_nic_credits",
    __name__,
    {"FLOWS": 1, "CREDIT_W": 10, "CREDIT_UNIT": 1},
    {"FLOWS": 128, "CREDIT_W": 24, "CREDIT_UNIT": 5},
)


class Word(NamedTuple):
    flow: int
    first: bool
    second: bool
    last: bool


def packets(draw: random.Random, flows: list[int], count: int) -> list[Word]:
    """Return the words of some packets: header, address, payload, CRC."""
    words: list[Word] = []
    for _ in range(count):
        flow, length = draw.choice(flows), draw.randrange(3, 9)
        words += [Word(flow, i == 0, i == 1, i == length - 1) for i in range(length)]
    return words


def counted(words: list[Word], flows: int, mine: int | None, every: int, skipped: int) -> list[int]:
    """Return the words of each flow that a counter counts, if of one packet in ``every`` it leaves some out.

    Args:
        mine: the flow whose packets it looks at; None: every flow's.
        skipped: which words it leaves out, HEADER, ADDRESS, CRC; 0: none.
    """
    books, passed = [0] * 128, 0
    for word in words:
        looks = mine is None or word.flow == mine
        passed += looks and word.first
        missing = (HEADER & -word.first) | (ADDRESS & -word.second) | (CRC & -word.last)
        hit = looks and passed % every == 0 and bool(skipped & missing)
        books[word.flow] += word.flow < flows and not hit
    return books


class Books:
    """The block, what is done to it on three sides at once, and the credits that it hands over."""

    def __init__(self, dut: Any, seed: int) -> None:
        self.dut, self.draw = dut, random.Random(seed)
        self.flows, self.unit = int(dut.FLOWS.value), int(dut.CREDIT_UNIT.value)
        self.modulus = 1 << int(dut.CREDIT_W.value)
        self.ready = 0.5  # how often a credit that waits may leave
        self.told: dict[int, int] = {}  # of each flow, the last credit that left
        self.clocks: dict[str, Any] = {}

    async def start(self, **given: int) -> Self:
        dut = self.dut
        for name in INPUTS:
            getattr(dut, name).value = given.get(name, 0)
        for name, period in (
            ("clk_bus", BUS_PS),
            ("bus", BUS_PS),
            ("clk_link", LINK_PS),
            ("link", LINK_PS),
        ):
            self.clocks[name] = Clock(getattr(dut, name), period, "ps").start()  # fmt: skip
        dut.rst.value = dut.rst_link.value = 1
        await ClockCycles(dut.clk_link, 12)
        await FallingEdge(dut.clk_link)
        dut.rst.value = dut.rst_link.value = 0
        await ClockCycles(dut.clk_link, CLEARING)
        cocotb.start_soon(self._take())
        return self

    def hold(self) -> None:
        """Stop the card's clocks for good; those of the registers and the lanes go on."""
        for name in ("bus", "link"):
            self.clocks.pop(name).cancel()

    async def _take(self) -> None:
        while True:
            await FallingEdge(self.dut.link)
            ready = int(self.dut.m_valid.value) and self.draw.random() < self.ready
            self.dut.m_take.value = int(ready)
            if ready:
                self.told[int(self.dut.m_flow.value)] = int(self.dut.m_freed.value)

    async def send(self, words: list[Word]) -> None:
        dut, draw = self.dut, random.Random(len(words))
        for word in words:
            await FallingEdge(dut.link)
            while draw.random() < 0.2:  # a packet may stand still
                dut.sent_valid.value = 0
                await FallingEdge(dut.link)
            dut.tx_flow.value, dut.sent_valid.value = word.flow, 1
            dut.sent_first.value, dut.sent_last.value = word.first, word.last
        await FallingEdge(dut.link)
        dut.sent_valid.value = 0

    async def receive(self, words: list[Word], refused: frozenset[int] = frozenset()) -> None:
        """Offer words to the incoming FIFO, which refuses those of the places named."""
        dut, draw = self.dut, random.Random(len(words) + 1)
        for place, word in enumerate(words):
            await FallingEdge(dut.link)
            while draw.random() < 0.2:
                dut.received_valid.value = dut.received_accept.value = 0
                await FallingEdge(dut.link)
            dut.received_valid.value, dut.received_accept.value = 1, place not in refused
            dut.received_first.value, dut.received_last.value = word.first, word.last
            # behind the header there are other bits where the flow stood
            dut.received_flow.value = word.flow if word.first else draw.randrange(128)
        await FallingEdge(dut.link)
        dut.received_valid.value = dut.received_accept.value = 0

    async def free(self, words: list[Word]) -> None:
        """Read words out of the incoming FIFO; each is told as freed in the cycle after."""
        dut, draw = self.dut, random.Random(len(words) + 2)
        left, before = list(words), None
        while left or before is not None:
            await FallingEdge(dut.bus)
            dut.freed_valid.value = before is not None
            dut.freed_flow.value = before.flow if before is not None else draw.randrange(128)
            before = left.pop(0) if left and draw.random() < 0.8 else None
            dut.read_valid.value = before is not None
            if before is not None:
                dut.read_first.value, dut.read_last.value = before.first, before.last
                dut.read_flow.value = before.flow if before.first else draw.randrange(128)
        await FallingEdge(dut.bus)
        dut.freed_valid.value = 0

    async def credit(self, flow: int, freed: int) -> None:
        dut = self.dut
        await FallingEdge(dut.link)
        dut.taken_valid.value, dut.taken_flow.value, dut.taken_freed.value = 1, flow, freed
        await FallingEdge(dut.link)
        dut.taken_valid.value = 0

    async def field(self, flow: int, field: int) -> tuple[int, int]:
        """Ask the read port; return the word, and the cycles until it was there."""
        dut = self.dut
        await RisingEdge(dut.clk_bus)
        dut.flow_req.value, dut.flow_number.value, dut.flow_field.value = 1, flow, field
        for cycles in range(1, 64):
            await RisingEdge(dut.clk_bus)
            await FallingEdge(dut.clk_bus)
            if int(dut.flow_ack.value):
                word = int(dut.flow_data.value)
                await RisingEdge(dut.clk_bus)
                dut.flow_req.value = 0
                for _ in range(8):  # one answer for one question
                    await FallingEdge(dut.clk_bus)
                    assert int(dut.flow_ack.value) == 0
                return word, cycles
        raise AssertionError(f"field {field} of flow {flow} was not answered")

    async def told_by_the_port(self, flow: int, *fields: int) -> list[int]:
        return [(await self.field(flow, field))[0] for field in fields]

    async def settle(self) -> None:
        await ClockCycles(self.dut.clk_link, 40 * min(self.flows, 8))


@cocotb.test()
async def every_field_of_a_flow_is_told_while_the_card_works_and_while_it_is_held(dut: Any) -> None:
    books = Books(dut, 1)
    flow = books.flows - 1
    await books.start(cfg_active=(1 << 128) - 1, cfg_share=700)
    flows = [flow, 0, 127]  # 127: one that the small build does not have
    sent, received = packets(books.draw, flows, 9), packets(books.draw, flows, 13)
    read = received[: len(received) - 4]
    tasks = [
        cocotb.start_soon(books.send(sent)),
        cocotb.start_soon(books.receive(received)),
        cocotb.start_soon(books.free(read)),
    ]
    for task in tasks:
        await task
    await books.credit(flow, 321)
    await books.settle()
    right = [
        counted(words, books.flows, None, 1, 0)[flow]
        for words in (sent, received, read)
    ]  # fmt: skip
    assert all(right)
    # what is due is told with the count of the moment, at least all words up to the last unit
    assert right[2] - books.unit < books.told[flow] <= right[2]
    want = [
        right[0], 321, 700, right[1], right[2], right[0], right[1], books.told[flow]
    ]  # fmt: skip
    for held in (False, True):
        if held:
            books.hold()
        assert await books.told_by_the_port(flow, *range(8)) == want
        if books.flows < 128:
            assert await books.told_by_the_port(127, *range(8)) == [0] * 8


@cocotb.test()
async def freed_words_are_answered_in_the_next_cycle_and_all_else_after_its_way_across(
    dut: Any,
) -> None:
    books = await Books(dut, 2).start()
    assert (await books.field(0, FREED))[1] == 1
    for field in (SENT, CREDITED, LIMIT, RECEIVED, SENT_32, RECEIVED_32, REPORTED):
        assert 4 < (await books.field(0, field))[1] < 16


@cocotb.test()
async def a_word_that_the_fifo_refuses_is_not_received_and_a_refused_header_still_names_the_flow(
    dut: Any,
) -> None:
    books = await Books(dut, 3).start()
    flow, other = books.flows - 1, 0
    words = [
        Word(other, True, False, False), Word(other, False, True, False), Word(other, False, False, True),
    ]  # fmt: skip
    words += [
        Word(flow, True, False, False), Word(flow, False, True, False), Word(flow, False, False, False),
        Word(flow, False, False, True),
    ]  # fmt: skip
    await books.receive(words, refused=frozenset({1, 3}))
    await books.settle()
    want = {other: 2, flow: 3} if flow != other else {0: 5}
    for number, count in want.items():
        assert await books.told_by_the_port(number, RECEIVED, RECEIVED_32) == [count, count]


@cocotb.test()
@cocotb.parametrize(
    outgoing=[0, 1], every=[1, 3], skipped=[HEADER, HEADER | ADDRESS | CRC]
)  # fmt: skip
async def a_counter_that_leaves_words_out_is_wrong_at_one_end_only_and_the_others_stay_right(
    dut: Any, outgoing: int, every: int, skipped: int
) -> None:
    """docs/faults.md: the words sent of every flow, or those received and freed of one, by the same rule of packets."""
    books = Books(dut, 4 + outgoing)
    flow = books.flows - 1
    await books.start(
        fault_miscount=1,
        fault_outgoing=outgoing,
        fault_flow=flow,
        fault_count=every,
        fault_words=skipped,
    )
    flows = sorted({flow, 0})
    words = packets(books.draw, flows, 14)
    assert int(dut.fault_miscounted.value) == 0
    tasks = [cocotb.start_soon(side(words)) for side in (books.send, books.receive, books.free)]
    for task in tasks:
        await task
    await books.settle()
    assert int(dut.fault_miscounted.value) == 1
    right = counted(words, books.flows, None, 1, 0)
    sent = counted(words, books.flows, None, every, skipped) if outgoing else right
    received = right if outgoing else counted(words, books.flows, flow, every, skipped)
    assert sent != right or received != right
    for number in flows:
        told = await books.told_by_the_port(number, SENT_32, RECEIVED_32, FREED)
        assert told == [sent[number], received[number], received[number]], number


@cocotb.test()
async def a_credit_that_is_due_late_is_told_as_withheld_and_only_in_its_flow(dut: Any) -> None:
    """docs/faults.md, credit-too-coarse: fault_limit words between two credits."""
    books, unit = Books(dut, 6), 37
    flow = books.flows - 1
    await books.start(fault_coarse=1, fault_flow=flow, fault_limit=unit)
    body = [Word(flow, False, False, False)]
    await books.free([Word(flow, True, False, False), *body * (unit - 2)])
    await books.settle()
    assert int(dut.fault_withheld.value) == 1
    assert books.told.get(flow) is None
    await books.free(body)
    await books.settle()
    assert int(dut.fault_withheld.value) == 0
    assert books.told[flow] == unit
    assert await books.told_by_the_port(flow, FREED, REPORTED) == [unit, unit]
    if books.flows > 1:
        await books.free([Word(0, True, False, False)] + [Word(0, False, False, False)] * (books.unit - 1))  # fmt: skip
        await books.settle()
        assert books.told[0] == books.unit


@cocotb.test()
async def a_credit_is_told_when_it_leaves_and_not_while_it_waits(dut: Any) -> None:
    books = await Books(dut, 8).start()
    books.ready = 0.0
    body = [Word(0, False, False, False)]
    await books.free([Word(0, True, False, False), *body * (books.unit - 1)])
    await books.settle()
    assert int(dut.m_valid.value) == 1
    assert await books.told_by_the_port(0, FREED, REPORTED) == [books.unit, 0]
    books.ready = 1.0
    await books.settle()
    assert await books.told_by_the_port(0, FREED, REPORTED) == [books.unit] * 2


@cocotb.test()
async def what_was_sent_and_credited_decides_what_fits(dut: Any) -> None:
    books = Books(dut, 7)
    flow = books.flows - 1
    await books.start(cfg_active=1 << flow, cfg_share=20)
    words = [Word(flow, i == 0, i == 1, i == 13) for i in range(14)]
    await books.send(words)
    await ClockCycles(dut.link, 2)
    for asked, fits in ((6, 1), (7, 0)):
        dut.tx_flow.value, dut.tx_words.value = flow, asked
        await FallingEdge(dut.link)
        assert (int(dut.tx_fits.value), dut.tx_free.value.to_signed()) == (fits, 6)
    await books.credit(flow, 9)
    for asked, fits in ((15, 1), (16, 0)):
        dut.tx_words.value = asked
        await FallingEdge(dut.link)
        assert (int(dut.tx_fits.value), dut.tx_free.value.to_signed()) == (fits, 15)
