"""ff_histogram: 16 bins that run on for ever, and their values at freeze."""

from __future__ import annotations

import random
from typing import Any

import cocotb

from tests.rtl.cycles import Block
from tests.rtl.simulation import in_icarus

CLEARING = 16  # cycles after reset


test_a_histogram = in_icarus("ff_histogram", __name__)


async def histogram(dut: Any) -> Block:
    block = await Block(
        dut, ("s_valid", "s_bin", "frozen", "sel", "win_word"), ("win_ack", "win_rdata")
    ).start()
    return block


async def read(block: Block, word: int, frozen: int = 0) -> int:
    """Return a bin, asked for while no strobe comes; no answer within 40 cycles is a failure."""
    for _ in range(40):
        seen = await block.step(sel=1, win_word=word, frozen=frozen)
        if seen["win_ack"]:
            await block.step(frozen=frozen)
            return seen["win_rdata"]
        assert seen["win_rdata"] == 0  # the answers of all windows are joined by OR
    raise AssertionError(f"bin {word}: no answer")


@cocotb.test()
async def every_strobe_counts_in_its_bin_and_before_any_came_all_read_zero(dut: Any) -> None:
    block, draw, bins = await histogram(dut), random.Random(1), [0] * 16
    assert [await read(block, word) for word in range(16)] == bins
    for _ in range(400):
        valid, bin_ = int(draw.random() < 0.8), draw.choice((0, 3, 3, 7, 15))
        await block.step(s_valid=valid, s_bin=bin_)
        bins[bin_] += valid
    assert [await read(block, word) for word in range(16)] == bins


@cocotb.test()
async def of_the_strobes_while_the_bins_are_cleared_the_newest_counts(dut: Any) -> None:
    block = await histogram(dut)
    for bin_ in (4, 9, 2):
        await block.step(s_valid=1, s_bin=bin_)
    await block.step()
    for _ in range(CLEARING):
        await block.step()
    assert [await read(block, word) for word in range(16)] == [0, 0, 1, *[0] * 13]


@cocotb.test()
async def while_frozen_the_values_at_freeze_are_read_and_the_bins_run_on(dut: Any) -> None:
    block, draw, bins = await histogram(dut), random.Random(2), [0] * 16
    for _ in range(CLEARING):
        await block.step()
    for _ in range(3):  # three recordings
        for _ in range(50):
            bin_ = draw.randrange(16)
            await block.step(s_valid=1, s_bin=bin_)
            bins[bin_] += 1
        await block.step(frozen=1)
        kept = list(bins)
        assert [await read(block, word, frozen=1) for word in range(16)] == kept
        for _ in range(30):
            bin_ = draw.randrange(16)
            await block.step(s_valid=1, s_bin=bin_, frozen=1)
            bins[bin_] += 1
        assert [await read(block, word, frozen=1) for word in range(16)] == kept
        await block.step()
        assert [await read(block, word) for word in range(16)] == bins


@cocotb.test()
async def an_access_waits_for_the_copy_which_strobes_may_delay(dut: Any) -> None:
    block = await histogram(dut)
    for _ in range(CLEARING + 1):
        await block.step()
    await block.step(frozen=1)
    for _ in range(40):  # a strobe in every cycle: no cycle is left for the copy
        seen = await block.step(frozen=1, sel=1, win_word=5, s_valid=1, s_bin=5)
        assert (seen["win_ack"], seen["win_rdata"]) == (0, 0)
    assert 40 <= await read(block, 5, frozen=1) <= 41
