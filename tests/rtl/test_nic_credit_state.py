"""ff_nic_credit_state: credit compared modulo the counters' width, and what a comparison that does not know of the wrap
lets through (docs/formats.md section 3; docs/faults.md, wrap-unhandled, credit-start-too-large, credit-too-optimistic).
"""

from __future__ import annotations

import random
from typing import Any

import cocotb
from cocotb.triggers import FallingEdge, Timer

from tests.rtl.clocks import Clock
from tests.rtl.simulation import in_icarus

SENT, CREDITED, LIMIT, RECEIVED, SENT_32, RECEIVED_32, REPORTED = 0, 1, 2, 3, 5, 6, 7
INPUTS = (
    "cfg_active", "cfg_share", "fault_start", "fault_wrap", "fault_add", "fault_flow", "fault_limit", "tx_flow",
    "tx_words", "sent_valid", "told_valid", "told_flow", "told_freed", "taken_valid", "taken_flow", "taken_freed",
    "received_valid", "received_flow", "r_flow", "r_field",
)  # fmt: skip


test_the_credit_state_of_all_flows = in_icarus(
    "ff_nic_credit_state", __name__, {"FLOWS": 1, "CREDIT_W": 10}, {"FLOWS": 128, "CREDIT_W": 24}
)


async def _start(dut: Any, share: int) -> tuple[int, int]:
    """Return the number of flows and the modulus of the counters."""
    Clock(dut.clk, 10, "ns").start()
    for name in INPUTS:
        getattr(dut, name).value = 0
    dut.cfg_active.value = (1 << 128) - 1
    dut.cfg_share.value = share
    dut.rst.value = 1
    for _ in range(2):
        await FallingEdge(dut.clk)
    dut.rst.value = 0
    for _ in range(130):  # cleared flow by flow
        await FallingEdge(dut.clk)
    return int(dut.FLOWS.value), 1 << int(dut.CREDIT_W.value)


async def _send(dut: Any, flow: int, words: int) -> None:
    await FallingEdge(dut.clk)
    dut.tx_flow.value = flow
    dut.sent_valid.value = 1
    for _ in range(words):
        await FallingEdge(dut.clk)
    dut.sent_valid.value = 0


async def _credit(dut: Any, flow: int, freed: int) -> None:
    await FallingEdge(dut.clk)
    dut.taken_valid.value, dut.taken_flow.value, dut.taken_freed.value = 1, flow, freed
    await FallingEdge(dut.clk)
    dut.taken_valid.value = 0


async def _asked(dut: Any, flow: int, words: int) -> tuple[int, int, int]:
    """Return fits, wrong and the free words."""
    dut.tx_flow.value, dut.tx_words.value = flow, words
    await Timer(1, "ns")
    return int(dut.tx_fits.value), int(dut.tx_wrong.value), dut.tx_free.value.to_signed()


async def _field(dut: Any, flow: int, field: int) -> int:
    dut.r_flow.value, dut.r_field.value = flow, field
    await Timer(1, "ns")
    return int(dut.r_data.value)


@cocotb.test()
async def free_words_are_the_limit_less_what_is_outstanding_on_both_sides_of_a_wrap(
    dut: Any,
) -> None:
    flows, modulus = await _start(dut, share=200)
    draw = random.Random(4)
    flow, sent, credited = flows - 1, 0, 0
    # Near the wrap without sending millions of words: the counts meet there through the credit alone.
    for _ in range(60):
        words = draw.randrange(1, 40)
        await _send(dut, flow, words)
        sent += words
        credited += draw.randrange(0, sent - credited + 1)
        await _credit(dut, flow, credited % modulus)
        free = 200 - (sent - credited) % modulus
        for asked in (1, max(1, free), max(1, free + 1)):
            assert await _asked(dut, flow, asked) == (int(asked <= free), 0, free)
        assert await _field(dut, flow, SENT) == sent % modulus
        assert await _field(dut, flow, CREDITED) == credited % modulus
        assert await _field(dut, flow, SENT_32) == sent
    assert await _field(dut, flow, LIMIT) == 200


@cocotb.test()
async def a_flow_outside_the_map_or_not_active_has_no_credit_and_is_not_counted(dut: Any) -> None:
    flows, _ = await _start(dut, share=100)
    dut.cfg_active.value = (1 << 128) - 2
    assert (await _asked(dut, 0, 1))[0] == 0
    if flows < 128:
        assert await _asked(dut, flows, 1) == (0, 0, 0)
        await _send(dut, flows, 3)
        assert await _field(dut, flows, SENT_32) == 0


@cocotb.test()
async def a_comparison_without_the_wrap_lets_a_packet_pass_that_has_no_credit(dut: Any) -> None:
    flows, modulus = await _start(dut, share=150)
    if modulus > 1024:
        return  # the same comparison; only the small counters wrap in reasonable time
    flow = flows - 1
    dut.fault_wrap.value, dut.fault_flow.value = 1, flow
    await _send(dut, flow, 1020)
    await _credit(dut, flow, 1000)
    # Outstanding 20, but 1,020 + 8 is not beyond 1,000 + 150: right either way.
    assert await _asked(dut, flow, 8) == (1, 0, 130)
    await _send(dut, flow, 8)  # the counter wraps to 4
    # 4 + 148 is below 1,150: the raw comparison sees room without end; 28 are outstanding, 122 free.
    assert await _asked(dut, flow, 148) == (1, 1, 122)


@cocotb.test()
async def a_start_up_credit_larger_than_the_share_is_told_where_it_is_used(dut: Any) -> None:
    flows, _ = await _start(dut, share=100)
    flow = flows - 1
    dut.fault_start.value, dut.fault_flow.value, dut.fault_limit.value = 1, flow, 500
    assert await _field(dut, flow, LIMIT) == 500
    assert await _asked(dut, flow, 100) == (1, 0, 500)
    assert await _asked(dut, flow, 101) == (1, 1, 500)


@cocotb.test()
async def a_constant_added_to_the_free_space_is_told_where_it_is_used_and_nowhere_else(
    dut: Any,
) -> None:
    """docs/faults.md, credit-too-optimistic: the limit stays what it is, and so does the reported free space."""
    flows, _ = await _start(dut, share=100)
    flow = flows - 1
    dut.fault_add.value, dut.fault_flow.value, dut.fault_limit.value = 1, flow, 300
    assert await _field(dut, flow, LIMIT) == 100
    assert await _asked(dut, flow, 100) == (1, 0, 100)
    assert await _asked(dut, flow, 101) == (1, 1, 100)
    assert await _asked(dut, flow, 400) == (1, 1, 100)
    assert await _asked(dut, flow, 401) == (0, 0, 100)
    await _send(dut, flow, 250)  # 150 beyond the limit, below zero free
    assert await _asked(dut, flow, 150) == (1, 1, -150)
    assert await _asked(dut, flow, 151) == (0, 0, -150)
    dut.fault_add.value = 0
    assert await _asked(dut, flow, 1) == (0, 0, -150)
    if flows > 1:
        dut.fault_add.value = 1
        assert await _asked(dut, 0, 101) == (0, 0, 100)


@cocotb.test()
async def words_received_and_credits_told_are_kept_for_each_flow(dut: Any) -> None:
    flows, modulus = await _start(dut, share=100)
    flow = flows - 1
    dut.received_valid.value, dut.received_flow.value = 1, flow
    for _ in range(7):
        await FallingEdge(dut.clk)
    dut.received_valid.value = 0
    dut.told_valid.value, dut.told_flow.value, dut.told_freed.value = 1, flow, modulus - 1
    await FallingEdge(dut.clk)
    dut.told_valid.value = 0
    assert [await _field(dut, flow, f) for f in (RECEIVED, RECEIVED_32, REPORTED)] == [
        7,
        7,
        modulus - 1,
    ]
