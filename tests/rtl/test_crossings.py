"""Words between two clocks: none lost, none twice, none torn; and a clock that stands still is told, not waited for."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import cocotb
import pytest
from cocotb.triggers import ClockCycles, FallingEdge, RisingEdge, with_timeout

from tests.rtl.clocks import Clock
from tests.rtl.simulation import simulate

# (one clock, the other) in ps: near each other, far apart both ways
RATIOS = [(10_000, 12_800), (4_000, 17_002), (17_002, 4_000)]


@pytest.mark.parametrize(
    ("top", "parameters"),
    [("ff_cdc_fifo", {"DATA_W": 16, "DEPTH_LOG2": 2}), ("ff_cdc_fifo", {"DATA_W": 16, "DEPTH_LOG2": 6}),
     ("ff_cdc_handshake", {"DATA_W": 16}), ("ff_cdc_read", {"DATA_W": 16, "TIMEOUT_LOG2": 8})],
)  # fmt: skip
def test_a_crossing(tmp_path: Path, top: str, parameters: dict[str, object]) -> None:
    simulate(top, __name__, tmp_path, parameters)


async def stream(dut: Any, clocks: tuple[int, int], seed: int) -> None:
    """Send 200 words through with stalls on both sides."""
    draw = random.Random(seed)
    send_clock = Clock(dut.s_clk, clocks[0], "ps").start()
    take_clock = Clock(dut.m_clk, clocks[1], "ps").start()
    dut.s_valid.value = 0
    dut.m_ready.value = 0
    dut.s_rst.value = 1
    dut.m_rst.value = 1
    await ClockCycles(dut.s_clk, 20)
    await ClockCycles(dut.m_clk, 20)
    dut.s_rst.value = 0
    dut.m_rst.value = 0
    await ClockCycles(dut.m_clk, 20)
    sent = [draw.getrandbits(16) for _ in range(200)]
    seen: list[int] = []

    async def give() -> None:
        for word in sent:
            await FallingEdge(dut.s_clk)
            dut.s_valid.value = 1
            dut.s_data.value = word
            while True:
                await RisingEdge(dut.s_clk)
                if int(dut.s_ready.value):
                    break
            if draw.random() < 0.3:
                await FallingEdge(dut.s_clk)
                dut.s_valid.value = 0
                await ClockCycles(dut.s_clk, draw.randrange(12))
        await FallingEdge(dut.s_clk)
        dut.s_valid.value = 0

    async def take() -> None:
        while len(seen) < len(sent):
            await FallingEdge(dut.m_clk)
            dut.m_ready.value = int(draw.random() < 0.6)
            await RisingEdge(dut.m_clk)
            if int(dut.m_valid.value) and int(dut.m_ready.value):
                seen.append(int(dut.m_data.value))

    giving = cocotb.start_soon(give())
    await with_timeout(take(), 200, "us")
    await giving
    await ClockCycles(dut.m_clk, 20)
    assert int(dut.m_valid.value) == 0
    assert seen == sent
    send_clock.cancel()
    take_clock.cancel()


@cocotb.test()
@cocotb.parametrize(ratio=[0, 1, 2])
async def words_pass_in_order_at_any_ratio_of_the_clocks(dut: Any, ratio: int) -> None:
    if dut._name != "ff_cdc_read":
        await stream(dut, RATIOS[ratio], ratio)


@cocotb.test()
async def a_word_of_another_domain_is_read_whole_and_a_stopped_clock_is_an_error(dut: Any) -> None:
    if dut._name != "ff_cdc_read":
        return
    draw = random.Random(7)
    Clock(dut.clk, 10_000, "ps").start()
    far = Clock(dut.far_clk, 12_800, "ps").start()
    dut.req.value = 0
    dut.rst.value = 1
    dut.far_rst.value = 1
    dut.far_data.value = 0
    await ClockCycles(dut.clk, 20)
    dut.rst.value = 0
    dut.far_rst.value = 0

    async def read(word: int) -> tuple[int, int]:
        await FallingEdge(dut.clk)
        dut.req.value = 1
        dut.far_data.value = word  # what the address selects, from this cycle on
        while True:
            await RisingEdge(dut.clk)
            if int(dut.ack.value):
                break
        answer = int(dut.err.value), int(dut.data.value)
        await FallingEdge(dut.clk)
        dut.req.value = 0
        return answer

    for _ in range(100):
        word = draw.getrandbits(16)
        assert await read(word) == (0, word)
        await ClockCycles(dut.clk, draw.randrange(8))
        if draw.random() < 0.3:  # an access that is given up does not answer the next
            await FallingEdge(dut.clk)
            dut.req.value = 1
            dut.far_data.value = draw.getrandbits(16)
            await ClockCycles(dut.clk, draw.randrange(1, 7))
            await FallingEdge(dut.clk)
            dut.req.value = 0
            await ClockCycles(dut.clk, 1 + draw.randrange(3))
    far.cancel()
    for _ in range(2):
        assert (await read(1))[0] == 1
    Clock(dut.far_clk, 12_800, "ps").start()
    await ClockCycles(dut.clk, 20)
    assert await read(0x1234) == (0, 0x1234)
