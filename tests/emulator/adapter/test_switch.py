"""The crossbar of profile switch: shares of a hotspot, cut-through, credits, nothing lost."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest

from freezeframe.emulator.adapter.outcome import Outcome, run_adapter
from freezeframe.emulator.adapter.reading import load_adapter

CYCLE_PS = 12_800


def words_in_steady_state(outcome: Outcome) -> npt.NDArray[np.int64]:
    """``(flows,)``: words delivered between a tenth and a half of the run, while all senders send."""
    packets, took = outcome.world.packets, outcome.took_ps
    middle = (packets["done"] > took // 10) & (packets["done"] < took // 2)
    return np.asarray(np.bincount(packets["flow"][middle], minlength=len(outcome.world.flows)))


def test_seven_nodes_that_send_to_one_have_a_seventh_each_and_nothing_is_lost() -> None:
    outcome = run_adapter(load_adapter("switch"))
    words = words_in_steady_state(outcome)
    assert words / words.sum() == pytest.approx([1 / 7] * 7, rel=0.01)
    assert (outcome.messages, outcome.dropped) == (7 * 60, 0)
    assert outcome.bytes_ == 7 * 60 * 512
    assert (outcome.bottleneck, round(outcome.bottleneck_share, 2)) == ("output@7", 1.0)


def test_an_output_sends_packets_whole_and_takes_inputs_in_turn() -> None:
    outcome = run_adapter(load_adapter("switch"))
    packets = outcome.world.packets[np.argsort(outcome.world.packets["done"], kind="stable")]
    messages = packets["message"][:: 512 // 8]
    assert (
        packets["message"].reshape(-1, 64).std(axis=1).max() == 0
    )  # no word of another in between
    flows = outcome.world.messages["flow"][messages][7 * 5 : 7 * 40].reshape(-1, 7)
    assert (np.sort(flows, axis=1) == np.arange(7)).all()


def test_a_packet_is_cut_through_the_switch_and_not_stored_in_it() -> None:
    outcome = run_adapter(load_adapter("switch-full"))
    words, through = 64, 12
    assert outcome.latency_ns()["max"] * 1000 == (words + through + 1) * CYCLE_PS


def test_eight_nodes_at_full_load_carry_a_word_a_cycle_each() -> None:
    outcome = run_adapter(load_adapter("switch-full"))
    assert outcome.throughput_MBps == pytest.approx(8 * 8 / CYCLE_PS * 1e6, rel=0.01)
    assert outcome.messages == 8 * 60


@pytest.mark.parametrize(("credits", "rate"), [(1, 1 / 14), (7, 7 / 14), (14, 1.0)])
def test_with_fewer_credits_than_the_round_trip_takes_an_input_waits_for_them(
    credits: int, rate: float
) -> None:
    """A credit is away for a word's cycle into the switch, 12 through it, and one out."""
    outcome = run_adapter(load_adapter("switch-full", {"crosspoint_words": credits}))
    assert outcome.throughput_MBps == pytest.approx(rate * 8 * 8 / CYCLE_PS * 1e6, rel=0.01)
