"""ff_nic_credit_return: a flow is due with every UNIT words freed, and due flows go in order (formats.md section 3)."""

from __future__ import annotations

import random
from typing import Any, Self

import cocotb
from cocotb.triggers import ClockCycles, FallingEdge, RisingEdge

from tests.rtl.clocks import Clock
from tests.rtl.simulation import in_icarus

CLEARING = 140  # cycles after reset in which the counts are cleared


test_the_return_of_credits = in_icarus(
    "ff_nic_credit_return",
    __name__,
    {"FLOWS": 1, "CREDIT_W": 10, "UNIT": 1},
    {"FLOWS": 128, "CREDIT_W": 24, "UNIT": 5},
)


class Freed:
    """The block, the words freed in each flow, and the credits that left, oldest first."""

    def __init__(self, dut: Any, seed: int) -> None:
        self.dut, self.draw = dut, random.Random(seed)
        self.flows, self.unit = int(dut.FLOWS.value), int(dut.UNIT.value)
        self.limit = 1 << int(dut.CREDIT_W.value)
        self.words = [0] * 128
        self.order: list[int] = []  # flows in the order in which they became due
        self.credits: list[tuple[int, int]] = []
        self.ready = 0.5

    async def start(self) -> Self:
        dut = self.dut
        for name in (
            "s_valid", "s_flow", "r_flow", "m_take", "fault_coarse", "fault_flow", "fault_unit"
        ):  # fmt: skip
            getattr(dut, name).value = 0
        Clock(dut.clk, 10_000, "ps").start()
        Clock(dut.m_clk, 12_800, "ps").start()
        dut.rst.value = dut.m_rst.value = 1
        await ClockCycles(dut.m_clk, 12)
        await FallingEdge(dut.clk)
        dut.rst.value = dut.m_rst.value = 0
        await ClockCycles(dut.clk, CLEARING)
        cocotb.start_soon(self._take())
        return self

    async def _take(self) -> None:
        dut = self.dut
        while True:
            await FallingEdge(dut.m_clk)
            dut.m_take.value = int(self.draw.random() < self.ready)
            await RisingEdge(dut.m_clk)
            if int(dut.m_valid.value) and int(dut.m_take.value):
                self.credits.append((int(dut.m_flow.value), int(dut.m_freed.value)))

    async def free(self, flow: int) -> None:
        """Let a word of a flow leave the FIFO."""
        await FallingEdge(self.dut.clk)
        self.dut.s_valid.value, self.dut.s_flow.value = 1, flow
        await RisingEdge(self.dut.clk)
        if flow < self.flows:
            self.words[flow] += 1
            if self.words[flow] % self.unit == 0:
                self.order.append(flow)

    async def idle(self, cycles: int) -> None:
        await FallingEdge(self.dut.clk)
        self.dut.s_valid.value = 0
        await ClockCycles(self.dut.clk, cycles)


@cocotb.test()
async def the_last_credit_of_a_flow_tells_all_words_up_to_its_last_unit(dut: Any) -> None:
    """Credits that wait become one, never more words than were freed, and no flow is forgotten."""
    freed = await Freed(dut, 1).start()
    flows = [0, 0, 1, 3, freed.flows - 1, 127]
    for _ in range(700):
        if freed.draw.random() < 0.8:
            await freed.free(freed.draw.choice(flows))
        else:
            await freed.idle(freed.draw.randrange(4))
    await freed.idle(300)
    last: dict[int, int] = {}
    for flow, words in freed.credits:
        assert flow < freed.flows
        assert last.get(flow, 0) < words or freed.words[flow] >= freed.limit, flow
        last[flow] = words
    for flow in range(128):
        told, counted = last.get(flow, 0), freed.words[flow] % freed.limit
        assert counted - freed.unit < told <= counted, flow
        dut.r_flow.value = flow
        await FallingEdge(dut.clk)
        assert int(dut.r_freed.value) == counted, (
            flow
        )  # a flow that the build does not have counts nothing


@cocotb.test()
async def flows_leave_in_the_order_in_which_they_became_due(dut: Any) -> None:
    freed = await Freed(dut, 2).start()
    freed.ready = 0.0  # nothing leaves while they become due
    await freed.idle(4)
    for flow in [7, 5, 2, 9, 0, 2, 5, 1]:  # the first is on its way at once
        for _ in range(freed.unit):
            await freed.free(flow)
    await freed.idle(40)
    assert freed.credits == []
    freed.ready = 0.6
    await freed.idle(400)
    assert [flow for flow, _ in freed.credits][: len(set(freed.order))] == list(
        dict.fromkeys(freed.order)
    )


@cocotb.test()
async def the_count_begins_anew_at_two_to_the_width(dut: Any) -> None:
    freed = await Freed(dut, 3).start()
    if freed.limit > 1024:
        return
    freed.ready = 1.0
    for _ in range(freed.limit + 3):
        await freed.free(0)
    await freed.idle(60)
    assert freed.credits[-1] == (0, 3)


@cocotb.test()
async def one_flow_with_a_coarser_unit_is_due_with_that_and_the_others_with_their_own(
    dut: Any,
) -> None:
    """docs/faults.md, credit-too-coarse; it is told as long as a credit of the right unit is kept back."""
    freed, unit = Freed(dut, 4), 37
    await freed.start()
    freed.ready = 1.0
    flow = freed.flows - 1
    dut.fault_coarse.value, dut.fault_flow.value, dut.fault_unit.value = 1, flow, unit
    for count in range(1, 2 * unit + 10):
        await freed.free(flow)
        await freed.idle(1)
        await FallingEdge(dut.clk)
        assert int(dut.fault_withheld.value) == int(count % unit >= freed.unit), count
    await freed.idle(40)
    assert freed.credits == [(flow, unit), (flow, 2 * unit)]
    if freed.flows > 1:
        for _ in range(freed.unit):
            await freed.free(0)
        await freed.idle(40)
        assert freed.credits[-1] == (0, freed.unit)
