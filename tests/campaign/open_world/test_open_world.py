"""A few runs of the open-world campaign in the suite; ``make campaign-open`` makes five thousand."""

from __future__ import annotations

import json

import pytest

from freezeframe.analyzers.contract import Evidence, Finding
from freezeframe.emulator.faults.registry import FAULTS
from freezeframe.emulator.open_world.table import ENTRIES
from freezeframe.emulator.profile import load_profile
from tests.campaign.open_world.geometries import as_toml, geometry
from tests.campaign.open_world.judge import placed_of, right_of
from tests.campaign.open_world.listing import PAGE, listing
from tests.campaign.open_world.next import measured, text_of
from tests.campaign.open_world.report import diagram, page, reliability, wrong_and_certain
from tests.campaign.open_world.run import COUNTING, TESTING, round_of
from tests.campaign.open_world.runs import GEOMETRIES, LISTED, UNLISTED, Job, run_job

SEED = 999_983  # of the seeds for counting: nothing that is tested on others is looked at here
OF_EACH_KIND = (
    "link-packet-lost", "in-bit", "out-words-swapped", "retrain-untold", "noise-packet", "lanes-crossed",
    "crc-generator", "freed-leaks", "note-missing", "descriptor-twice", "bus-hangs-b", "tx-full-stuck",
    "trace-bit-upset", "trace-record-dropped", "level-one-off", "counter-narrow",
)  # fmt: skip
PLACE = {"device": "B", "tap": "rx_enq", "direction": "A->B", "flow": 0, "packet": 7, "word": 3}


def finding(name: str, **said: object) -> Finding:
    return Finding(name, "", evidence=(Evidence("seen"),), confidence=0.9, **said)  # type: ignore[arg-type]


def test_the_page_of_the_faults_is_made_of_their_table() -> None:
    assert PAGE.read_text() == listing(), (
        "say: .venv/bin/python -m tests.campaign.open_world.listing"
    )


def test_there_are_more_than_sixty_and_none_is_one_of_the_eighteen() -> None:
    assert len(ENTRIES) > 60
    assert not ENTRIES.keys() & FAULTS.keys()


@pytest.mark.parametrize("fault", OF_EACH_KIND)
def test_a_fault_in_no_list_comes_and_its_answers_are_judged(fault: str) -> None:
    records = run_job(Job(UNLISTED, fault, "saturating", SEED))
    assert [r for r in records if r["name"] in ("(error)", "(not shown)")] == []
    assert {r["ends"] for r in records} == {"both", "A", "B"}
    assert records[0]["truth"]["device"] in ("A", "B")
    assert json.loads(json.dumps(records)) == records


ASKED = {
    # The packet's end had not come, so that nothing had checked it: a bit of the link or of the memory.
    Job(
        UNLISTED, "trace-bit-upset", "saturating", 30_006
    ): "undetermined: payload-bit-flip, recorder-suspect",
    # It ended after the cause of the freeze and before the counters stood still.
    Job(UNLISTED, "trace-two-bits-upset", "saturating", 30_000): "recorder-suspect",
    # The tap before holds a part of the packets; what is left is as wrong as it was.
    Job(UNLISTED, "trace-bit-stuck", "saturating", 30_007): "recorder-suspect",
    # The end of the packet is not in the memory; its header was checked.
    Job(UNLISTED, "trace-bit-stuck", "saturating", 30_100): "recorder-suspect",
    # One bit of a count of packets looks like a link that came up again, and only one law speaks of it.
    Job(UNLISTED, "counter-upset", "", 30_000): "law-broken",
    # The enabling was two cycles before the completion that raised the line.
    Job(LISTED, "interrupt-lost", "saturating", 30_017): "interrupt-lost",
    # What left before the freeze is not described; what left since power-up is all there.
    Job(GEOMETRIES, "credit-too-optimistic", "", 30_005, 1_200_212): "credit-too-optimistic",
    # Its flows counted more than left: what is counted back from them is no ground for a name.
    Job(UNLISTED, "sent-twice", "saturating", 1_001_742): "law-broken",
    # The wait was over when the card stood still; the other card's books are of a later moment.
    Job(GEOMETRIES, "none", "", 30_005, 1_200_224): "(none)",
}


@pytest.mark.parametrize("job", ASKED, ids=lambda job: f"{job.fault}-{job.seed}")
def test_what_little_a_recording_holds_is_enough_and_no_more_is_said(job: Job) -> None:
    first = run_job(job)[0]
    candidates = ", ".join(first.get("candidates") or ())
    assert first["name"] + (f": {candidates}" if candidates else "") == ASKED[job]


def test_a_fault_in_no_list_is_the_same_again_for_the_same_seed() -> None:
    job = Job(UNLISTED, "link-words-swapped", "medium", SEED)
    first, again = (
        [r | {"explain_s": 0, "emulate_s": 0, "pull_s": 0} for r in run_job(job)] for _ in (0, 1)
    )
    assert first == again


@pytest.mark.parametrize("card", range(6))
def test_a_clean_card_of_random_geometry_has_no_finding(card: int) -> None:
    records = run_job(Job(GEOMETRIES, "none", "", SEED, card))
    assert [r["name"] for r in records if r["ends"] == "both"] == ["(none)"]


def test_every_random_geometry_is_valid_and_they_differ(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    digests = set()
    for seed in range(200):
        path = tmp_path_factory.getbasetemp() / "card.toml"
        path.write_text(as_toml(geometry(seed)))
        digests.add(load_profile(str(path)).digest)
    assert len(digests) == 200


def test_a_round_has_every_fault_and_counting_shares_no_seed_with_testing() -> None:
    jobs = round_of(TESTING.start)
    assert {job.fault for job in jobs if job.world == LISTED} == FAULTS.keys()
    assert {job.fault for job in jobs if job.world == UNLISTED} == ENTRIES.keys()
    assert not set(COUNTING) & {job.seed for job in jobs}


def test_an_answer_is_right_by_its_name_and_by_what_it_says_of_the_place() -> None:
    assert right_of(finding("payload-bit-flip", device="B", word=3), "payload-bit-flip", PLACE)
    assert (
        right_of(finding("payload-bit-flip", device="B", word=4), "payload-bit-flip", PLACE)
        is False
    )
    assert right_of(finding("packet-dropped", device="B", tap="rx_enq"), "link-packet-lost", PLACE)
    assert (
        right_of(finding("packet-dropped", device="A", tap="tx_deq"), "link-packet-lost", PLACE)
        is False
    )
    assert right_of(finding("word-omitted", device="B"), "link-packet-lost", PLACE) is False
    assert right_of(finding("undetermined"), "link-packet-lost", PLACE) is None


def test_the_first_bad_place_is_a_tap_and_a_packet_or_the_one_beside_it() -> None:
    injection = {"detail": {"also": 8}}
    assert placed_of(finding("undetermined", device="B", tap="rx_enq", packet=8), PLACE, injection)
    assert (
        placed_of(finding("undetermined", device="B", tap="rx_enq", packet=6), PLACE, injection)
        is False
    )
    assert (
        placed_of(finding("undetermined", device="B", tap="rx_deq", packet=7), PLACE, injection)
        is False
    )


def test_where_the_first_bad_tap_has_written_over_it_the_next_that_holds_it_is_the_place() -> None:
    injection: dict[str, object] = {"detail": {}}
    later = finding("undetermined", device="B", tap="rx_deq", packet=7)
    assert placed_of(later, PLACE, injection, ["B", "rx_enq"]) is False
    assert placed_of(later, PLACE, injection, ["B", "rx_deq"])
    assert placed_of(later, PLACE, injection, None) is False


def answer(confidence: float, right: bool, **more: object) -> dict[str, object]:
    return {
        "world": 1, "fault": "word-omitted", "load": "light", "seed": 3, "card": -1, "ends": "both", "rank": 0,
        "kind": "listed", "name": "word-omitted" if right else "word-duplicated", "confidence": confidence,
        "certain": confidence >= 0.9, "right": right, "placed": right,
        "held": ["B", "rx_enq"], "truth": PLACE, "said": PLACE, "detail": {},
        "text": "", **more,
    }  # fmt: skip


def test_reliability_is_the_share_right_in_each_bin_of_counted_frequency() -> None:
    often = {"counted": "33 of 33"}  # 34 of 35: printed 0.89, counted 0.971
    records = [
        answer(0.89, True, **often), answer(0.89, True, **often), answer(0.89, False, **often),
        answer(0.4, False, counted="1 of 3"), answer(0.0, True, counted=""), answer(0.93, False),
    ]  # fmt: skip
    rows = reliability(records)
    assert rows == [(0.3, 0.5, 1, 0, 2 / 5), (0.95, 0.98, 3, 2, 34 / 35)]
    assert diagram(rows).count("<circle") == 2
    assert [r["confidence"] for r in wrong_and_certain(records)] == [0.93]
    said = "2 of 6 answers had a pattern that was never counted, printed so; right of these: 1."
    assert said in page(records, 6, 60.0, 2)[0]


def test_the_page_counts_what_was_certain_and_wrong_and_names_it() -> None:
    text, _ = page([answer(0.95, False), answer(0.95, True, seed=4)], 2, 60.0, 2)
    assert "| certain and wrong, in 2 runs, both ends and one end | 1 | 0 |" in text
    assert "| word-omitted | word-duplicated 0.95 | both | 1 | seed 3 |" in text
    assert "| first world: named first | 1 of 2 (50.0 %) | 99.8 % |" in text


def test_what_one_end_leaves_open_the_proposed_command_decides() -> None:
    records = measured(Job(1, "payload-bit-flip", "light", 3))
    assert records
    for record in records:
        assert record["ends"] in ("A", "B")
        assert record["name"] == "undetermined"
        assert record["command"] == f"freezeframe pull TARGET -o run-{record['ends']}-both.ff"
        assert (record["then"], record["right"]) == ("payload-bit-flip", True)
    assert f"The right name then: {len(records)} of {len(records)} (100.0 %)" in text_of(records, 1)


def test_credits_whose_sending_one_log_no_longer_holds_are_not_late() -> None:
    """A's log goes on for longer than B's, by more than a turn of the counts that its credits tell."""
    (both,) = [r for r in run_job(Job(LISTED, "none", "saturating", 1638)) if r["ends"] == "both"]
    assert both["name"] == "(none)"
