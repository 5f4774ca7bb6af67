"""A link of four bonded lanes: its pace, its skew and what the deskew holds, its faults, and what is told of them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from freezeframe.capture.errors import InputError
from freezeframe.capture.registers.layouts import Kind, LinkCode
from freezeframe.emulator.faults.lanes import late_from, slipped_from
from freezeframe.emulator.profile import load_profile
from freezeframe.emulator.target import EmulatorTarget
from tests.campaign.runs import Job, Run, run_one
from tests.emulator.reading import Card, freeze

PROFILE = "forth-x4"
FILL = 8
US = 1_000_000


def _ran(fault: str = "none", seed: int = 1, us: int = 100) -> EmulatorTarget:
    target = EmulatorTarget(PROFILE, fault, seed, nonce=1, access_ps=0)
    target.advance(us * US)
    return target


def _run(fault: str, seed: int) -> Run:
    return run_one(Job("emulator", fault, "medium", seed, ends=False, profile=PROFILE))


def test_four_lanes_of_2_5_gbit_s_carry_a_word_each_cycle_of_156_25_mhz() -> None:
    profile = load_profile(PROFILE)
    assert (profile.link_lanes, profile.clocks_link_hz) == (4, 156_250_000)
    assert profile.clocks_link_hz * 64 == 4 * 2_500_000_000
    assert round(profile.clocks_link_hz * 8 / 2**20) == 1192


@pytest.mark.parametrize("seed", range(4))
def test_the_fifo_of_an_early_lane_holds_what_the_latest_lane_is_behind(seed: int) -> None:
    target = _ran(seed=seed, us=20)
    for nic in target.pair.nics:
        lanes = nic.lanes
        assert len(lanes.levels) == 4
        assert min(lanes.skew_cycles) == 0
        assert max(lanes.skew_cycles) <= 3
        for behind, level in zip(lanes.skew_cycles, lanes.levels, strict=True):
            assert level == FILL + max(lanes.skew_cycles) - behind
        assert min(lanes.levels) == FILL


def test_a_word_comes_as_many_cycles_later_as_the_latest_lane_is_behind() -> None:
    late: dict[int, int] = {}
    for skew in (0, 3):
        target = EmulatorTarget(PROFILE, seed=4, nonce=1, access_ps=0)
        for nic in target.pair.nics:
            nic.lanes.skew_cycles = [0, skew, 0, 0]
        target.advance(5 * US)
        card = Card(target, 1)
        freeze(card, target, 3_000 * US)
        target.advance(2_000 * US)
        assert not card.read("memory.status", 2) & 1  # nothing has been overwritten
        late[skew] = card.words(2)[0].cycle  # the first at rx_enq
    assert late[3] - late[0] == 3


def test_each_lane_trains_and_each_is_corrected_with_the_others() -> None:
    target = _ran(us=200)
    card = Card(target, 1)
    freeze(card, target, 5_000 * US)
    trained = [record.value for record in card.events(Kind.LINK, LinkCode.TRAINED)]
    assert trained == [0, 1, 2, 3]
    for code in (LinkCode.IDLE_INSERTED, LinkCode.IDLE_REMOVED):
        said = [record.value for record in card.events(Kind.LINK, code)]
        assert said == [0, 1, 2, 3] * (len(said) // 4)


def test_a_lane_that_repeats_and_one_that_lost_two_bytes_move_their_own_bytes_alone() -> None:
    words = np.array([0x0706050403020100, 0x1716151413121110, 0x2726252423222120], np.uint64)
    late = late_from(words, 3, 1, 4)
    assert [hex(word) for word in late.tolist()] == [
        "0x706050403020100", "0x716151403121110", "0x1726252413222120",
    ]  # fmt: skip
    slipped = slipped_from(words, 1, 1, 2, 4)  # a whole share: the lane runs a word ahead
    assert [hex(word) for word in slipped.tolist()] == [
        "0x706050403020100", "0x1716251413122110", "0x2726bc242322bc20",
    ]  # fmt: skip


def test_a_lane_that_slips_is_named_with_its_number_and_where_it_began() -> None:
    for seed in (1, 7):
        run = _run("lane-misaligned", seed)
        injected = run.truth["injections"][0]
        finding = run.said["both"][0]
        assert finding["diagnosis"] == "lane-misaligned"
        assert (finding["packet"], finding["word"]) == (injected["packet"], injected["word"])
        lane, lost = injected["detail"]["lane"], injected["detail"]["lost_B"]
        assert f"lane {lane} into B has its bytes {lost} early" in finding["text"]
        assert "the other 3 lanes are right" in finding["text"]


def test_clocks_that_drift_slip_all_four_lanes_at_once() -> None:
    finding = _run("clock-drift", 2).said["both"][0]
    assert finding["diagnosis"] == "clock-drift"
    assert finding["text"].startswith("All 4 lanes into B slipped by a word in one cycle")


def test_a_lane_that_ran_empty_has_its_share_repeated_and_the_third_lane_has_a_register_too() -> (
    None
):
    run = _run("sync-fifo-empty", 4)
    injected = run.truth["injections"][0]
    assert injected["detail"]["lane"] >= 2
    text = run.said["both"][0]["text"]
    assert f"Lane {injected['detail']['lane']} into B repeated its 16-bit share" in text
    rows = [row for part in run.said["both"][0]["evidence"] for row in part["rows"]]
    assert any("frozen.lane.underflows" in str(row) for row in rows)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (
            'extends = "forth"\n[link]\nlanes = 4\n',
            r"mine\.toml:3: link\.lanes = 4, and the card forth has map_hash 0x01b120fd, that of 2 lanes "
            r"without regions; 4 lanes without regions have 0x20a26bd1",
        ),
        ('extends = "forth-x4"\ncard = "forth"\n', r"forth-x4\.toml:\d+: link\.lanes = 4, and the"),
        (
            'extends = "forth-x4"\n[link]\nlanes = 3\n',
            r"mine\.toml:3: link\.lanes = 3; a word of 8 bytes goes over 2, 4, 8 lanes alike",
        ),
        (
            'extends = "forth-x4"\n[link]\nlanes = 16\n',
            r"mine\.toml:3: link\.lanes = 16; it must be a whole number 2\.\.8",
        ),
        (
            'extends = "forth-x4"\n[link]\nsync_fill_halves = 2\n',
            r"forth-x4\.toml:\d+: link\.lane_skew_cycles = 3 is more than link\.sync_fill_halves = 2",
        ),
        (
            'extends = "forth-x4"\n[link]\nlane_skew = 1\n',
            r"mine\.toml:3: unknown key link\.lane_skew; \[link\] has .*lane_skew_cycles",
        ),
    ],
)  # fmt: skip
def test_a_mistake_in_the_lanes_is_named_with_file_line_and_key(
    tmp_path: Path, text: str, says: str
) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(text)
    with pytest.raises(InputError, match=says):
        load_profile(str(path))


def test_what_is_left_out_and_what_says_the_same_are_one_build(tmp_path: Path) -> None:
    path = tmp_path / "same.toml"
    path.write_text('extends = "forth"\n[link]\nlanes = 2\nlane_skew_cycles = 0\n')
    assert load_profile(str(path)).digest == load_profile("forth").digest
    assert load_profile("forth").digest == 258158714
