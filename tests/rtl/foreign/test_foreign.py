"""Designs that are not ours, with the recorder in them: a share of ``make campaign-foreign``, and odd frames."""

from __future__ import annotations

from pathlib import Path

import pytest

from freezeframe.analyzers.card.explain import explain_card
from freezeframe.decoders.tap.kinds import Packet
from tests.campaign.card_model import FAULTS
from tests.campaign.foreign import judge
from tests.campaign.foreign_plans import cannot
from tests.campaign.foreign_report import missed, told
from tests.rtl.foreign.running import DESIGNS, build, run

pytest.importorskip("liteeth", reason="LiteEth comes with the extra 'peers'")

ONE_EACH = ("liteeth-32", "axis-512")
FREEZE = {"bad-fcs", "runt", "gap"}  # by a check of the card itself
# Of the others every second one at each design: the campaign has all of them at all designs, twenty times.
OTHERS = [fault for fault in FAULTS if fault not in FREEZE]
SHARES = {design: [*FREEZE, *OTHERS[n::2]] for n, design in enumerate(ONE_EACH)}


@pytest.fixture(scope="module")
def benches(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    return {name: build(DESIGNS[name], tmp_path_factory.mktemp(name)) for name in ONE_EACH}


@pytest.mark.parametrize("design", ONE_EACH)
def test_every_fault_between_blocks_of_others_is_named_and_placed(
    design: str, benches: dict[str, Path]
) -> None:
    verdicts = [judge(design, fault, 30, benches[design]) for fault in SHARES[design]]
    assert [told(verdict) for verdict in verdicts if missed(verdict)] == []
    froze = [v for v in verdicts if v.delay is not None]
    # Cycles behind the frame's last beat: the checker's three, and the cause's way to the recorder.
    assert {v.fault for v in froze} == FREEZE
    assert all(v.delay is not None and v.delay <= 8 for v in froze)


@pytest.mark.parametrize("design", ONE_EACH)
def test_a_clean_run_freezes_nothing_and_has_no_finding(
    design: str, benches: dict[str, Path]
) -> None:
    verdict = judge(design, "none", 1, benches[design])
    assert verdict.named and verdict.said == ()


def test_the_longest_frame_is_good_one_of_5_bytes_a_runt_and_one_without_an_end_is_not_judged(
    benches: dict[str, Path], tmp_path: Path
) -> None:
    plan = ["seed=5", "hit=450", "hit_B=9000", "lazy=20", "pause=60", "after=2"]
    giant = run(benches["axis-512"], plan, tmp_path / "giant.ff")
    assert giant.froze is False
    assert explain_card(giant.recording).findings == []

    plan = ["seed=6", "hit=450", "hit_B=5", "after=3"]
    tiny = explain_card(run(benches["axis-512"], plan, tmp_path / "tiny.ff").recording)
    assert [(f.diagnosis, f.tap) for f in tiny.findings] == [("runt", "rx_in")]

    # A line on which no frame ends any more: one packet, cut, on which no verdict rests.
    faults = [f"1:nolast:{n}" for n in range(100, 130)]
    plan = ["seed=7", "longest=64", "hit=110", "after=8", "drain=20000", "wait=60000", *faults]
    endless = run(benches["liteeth-32"], plan, tmp_path / "endless.ff")
    wire = explain_card(endless.recording).streams["wire"]
    last = len(wire) - 1
    assert wire.stream.packets.flags[last] & int(Packet.CUT_END)
    assert wire.verdict[last] == -1


def test_a_receiver_that_stopped_for_long_and_goes_on_is_a_stall_up_to_the_cause(
    benches: dict[str, Path], tmp_path: Path
) -> None:
    # It waits until the FIFO has dropped a frame; these take longer to fill it than the checker's 5,000 cycles.
    plan = ["seed=8", "longest=400", "pause=60", "hit=-1", "after=3", "drain=500", "block=150"]
    ran = run(benches["axis-512"], plan, tmp_path / "stuck.ff")
    assert ran.recording.cause_names == ("stuck",) and ran.dropped
    (finding,) = explain_card(ran.recording).findings
    assert (finding.diagnosis, finding.tap) == ("stalled", "rx_out")
    assert "stood still" in finding.text and "checker stuck saw valid without ready" in finding.text


def test_a_fault_that_cannot_be_is_told_with_its_reason() -> None:
    assert cannot("liteeth-8", "lanes-crossed") and not cannot("liteeth-32", "lanes-crossed")
