"""Two bridges at the ends of one ring: a write and its response from node to node, by the captures of both.

What the captures must say is known from the bridges themselves: their books, their memories, and by how much the
counter of B started earlier.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from freezeframe.analyzers.card.beside import Beside, laws_of
from freezeframe.analyzers.card.explain import explain_card
from freezeframe.analyzers.card.phases import ways_of
from freezeframe.analyzers.card.transactions import tracked
from freezeframe.analyzers.card.view import CardView, side_by_side
from freezeframe.capture.errors import InputError
from freezeframe.decoders.sci import layout
from freezeframe.emulator.card_image import empty_recording
from freezeframe.emulator.running_card import RunningCard, Wanted
from freezeframe.emulator.sci.faults import FAULTS
from freezeframe.emulator.sci.parts import FAR_NODE, NODE
from freezeframe.emulator.sci.record import SciPairRun, run_pair
from freezeframe.emulator.sci.workloads import PAIR_WORKLOADS

CYCLE_PS = 30_000
ROUNDED_PS = 2  # an instant placed on the other card's axis
NAMED = {  # on A, whose host writes; on B
    "nwrite-response-confused": ({"answer-confused"}, set()),
    "response-lost": ({"answer-missing"}, {"packet-dropped"}),
    "packet-damaged": ({"bits-altered"}, set()),
    "incoming-buffers-leak": ({"receiver-without-room"}, {"law-broken"}),
    "page-not-exported": ({"access-refused"}, set()),
    "page-not-imported": ({"access-refused"}, set()),
}


def far(card: CardView) -> Beside:
    assert card.beside is not None
    return card.beside


def test_a_write_to_the_other_node_takes_the_papers_89_cycles_by_the_logs_of_both() -> None:
    for card in side_by_side(run_pair(workload="ping-pong-4B").recordings):
        ((_, found),) = ways_of(card)
        assert found.complete >= 50 and found.incomplete == 0
        cycles = {}
        for phase in found.phases:
            assert phase.max_ps - phase.min_ps <= ROUNDED_PS
            cycles[phase.name] = round(phase.min_ps / CYCLE_PS)
        assert cycles == {"A": 5, "B": 20, "C": 8, "D": 21, "E": 3, "F": 4, "G": 9, "H": 7, "I": 8, "J": 4}  # fmt: skip
        assert found.whole is not None
        assert abs(found.whole.max_ps - 89 * CYCLE_PS) <= ROUNDED_PS


@pytest.mark.parametrize("workload", sorted(PAIR_WORKLOADS))
def test_the_clocks_stand_to_each_other_as_they_were_started_within_what_is_stated(
    workload: str,
) -> None:
    made = run_pair(workload=workload, seed=3)
    a, b = side_by_side(made.recordings)
    true_ps = made.earlier_cycles * CYCLE_PS
    for card, device, sign in ((a, "B", -1), (b, "A", 1)):
        relation = far(card).times.relations[device]
        assert relation is not None
        assert abs(relation.place(10**9) - (10**9 + sign * true_ps)) <= relation.offset_unc_ps
        assert f"within {relation.offset_unc_ps / 1000:.0f} ns" in far(card).note


def test_what_a_host_wrote_is_in_the_other_hosts_memory_and_every_packet_names_both_nodes() -> None:
    made = run_pair(seed=2)
    nodes = (NODE, FAR_NODE)
    for number, card in enumerate(side_by_side(made.recordings)):
        out, come = card.streams["blink_out"].columns, card.streams["blink_in"]
        there, here = nodes[1 - number], nodes[number]
        assert set(out["source_node"].tolist()) == {here}
        assert set(out["target_node"].tolist()) == {there}
        assert set(come.columns["source_node"].tolist()) == {there}
        books = made.bridges[number].books
        requests = np.flatnonzero(come.columns["queue"] == layout.QUEUES["request"]).tolist()
        written = {}
        for n in requests[: len(requests) - books.inside]:
            for w in range(int(come.columns["start"][n]), int(come.columns["end"][n])):
                data = come.content(n)[layout.BODY_AT + 4 * w :][:4]
                written[int(come.columns["address"][n]) + 4 * w] = int.from_bytes(data, "little")
        assert len(written) > 500
        assert written.items() <= made.bridges[number].memory.items()


def test_ids_are_followed_at_both_ends_and_none_is_missing_of_the_64_on_either() -> None:
    made = run_pair(seed=5)
    for number, card in enumerate(side_by_side(made.recordings)):
        books, other = made.bridges[number].books.counts, made.bridges[1 - number].books.counts
        (found,) = tracked(card)
        assert found.counts["answered"] == books["responses_taken"]
        assert sum(e.answered_ps >= 0 for e in found.exchanges) == books["responses_taken"]
        assert sum(e.arrived_ps >= 0 for e in found.exchanges) == other["writes_come"]
        for use in found.exchanges:
            if use.answered_ps >= 0:
                assert use.out_ps < use.arrived_ps < use.answered_ps < use.answer_ps
        laws = {v.law.name: v for v in card.laws}
        assert laws["ids_all"].value == 64
        assert all(v.holds for v in laws.values())
        assert laws["packets_between"].value == 0 == laws["ids_kept"].value


@pytest.mark.parametrize("workload", sorted(PAIR_WORKLOADS))
def test_two_healthy_nodes_have_no_finding(workload: str) -> None:
    for seed in range(3):
        made = run_pair(seed=seed, workload=workload)
        for card in side_by_side(made.recordings):
            explained = explain_card(card)
            assert explained.answer == "no fault found", [f.text for f in explained.findings]
        assert made.truth == ()


@pytest.mark.parametrize("fault", sorted(NAMED))
def test_each_fault_is_named_on_the_node_that_shows_it(fault: str) -> None:
    assert set(NAMED) == set(FAULTS) - {"none"}
    named = 0
    for seed in range(4):
        made = run_pair(fault=fault, seed=seed)
        found = [
            {finding.diagnosis for finding in explain_card(card).findings}
            for card in side_by_side(made.recordings)
        ]
        assert found[0] <= NAMED[fault][0] and found[1] <= NAMED[fault][1], (seed, found)
        broken = {v.law.name for n in (0, 1) for v in laws_of(made.recordings, n) if not v.holds}
        assert broken == ({"buffers_kept"} if fault == "incoming-buffers-leak" else set())
        named += bool(found[0])
    assert named >= 3


def test_the_table_of_the_other_node_refuses_a_write_whether_it_is_answered_or_not() -> None:
    made = run_pair(fault="page-not-exported", seed=3)
    a, b = side_by_side(made.recordings)
    (finding,) = explain_card(a).findings
    assert finding.text.startswith("up_refused at B: an access with ID ")
    assert finding.t_uncertainty_ps is not None and finding.t_uncertainty_ps > 0
    refused = made.bridges[1].books.counts["writes_refused_up"]
    assert made.truth
    assert refused > 0 == made.bridges[0].books.counts["writes_refused_up"]
    (at_a,), (at_b,) = tracked(a), tracked(b)
    assert sum(claim.name == "access-refused" for claim in at_a.claims) == refused
    assert at_b.claims == []  # B's own writes, some of them of the same IDs, were allowed
    missing = {0x200 * 4096 + 4 * word for word in range(1024)}
    assert not missing & made.bridges[1].memory.keys()


def test_a_stream_to_the_other_node_runs_at_the_papers_16_cycles_for_64_bytes() -> None:
    """There each host has a bus of its own; what finds no buffer is refused, and comes again."""
    made = run_pair(workload="stream-64B")
    there = made.recordings[1].counters
    assert 12_000 / there["writes_done"] == pytest.approx(16, rel=0.02)
    assert there["packets_refused"] > 0
    (found,) = tracked(side_by_side(made.recordings)[0])
    assert found.refusals > 0 and found.claims == []


def test_one_node_alone_is_asked_for_what_it_can_say_and_the_rest_is_told() -> None:
    made = run_pair(fault="page-not-exported", seed=3)
    (alone,) = side_by_side(made.recordings[:1])
    assert alone.beside is None
    explained = explain_card(alone)
    assert any("needs the card there in the capture" in line for line in explained.not_asked)
    (found,) = tracked(alone)
    assert found.notes == [
        "remote: peer.up_refused, peer.packet_refused: needs the card at the other end in the capture"
    ]
    unasked = [v.law.name for v in alone.laws if v.holds is None]
    assert unasked == ["packets_between", "answers_between"]
    # An answered write says of itself that it was refused; what nothing answers does not.
    assert {f.diagnosis for f in explained.findings} == {"access-refused"}


def test_packets_of_one_way_are_compared_and_no_time_is() -> None:
    made = run_pair(workload="single-4B")
    a, b = made.recordings
    taps = {**b.taps, "blink_out": empty_recording(b.card).taps["blink_out"]}
    card, _ = side_by_side((a, replace(b, taps=taps)))
    assert far(card).note == (
        "B to A: packets that stand at both ends: of one direction alone; times are not compared"
    )
    ((_, found),) = ways_of(card)
    assert found.complete == 0
    assert "A.blink_out -> B.blink_in: 30 packets compared" in explain_card(card).looked_at


def test_two_cards_that_could_be_the_other_end_are_neither() -> None:
    a, b = run_pair().recordings
    (card, *_) = side_by_side((a, b, replace(b, device="C")))
    assert card.beside is None


def _bytes(made: SciPairRun) -> bytes:
    return b"".join(
        lane.tobytes()
        for recording in made.recordings
        for tap in recording.recorders.values()
        for lane in tap.lanes
    )


def test_the_same_seed_gives_the_same_memories_on_both_nodes() -> None:
    assert _bytes(run_pair(seed=4)) == _bytes(run_pair(seed=4)) != _bytes(run_pair(seed=5))


def test_what_a_pair_does_not_have_is_refused_with_what_it_has() -> None:
    with pytest.raises(
        InputError, match=r"there is no workload 'flood'; there is mixed, .*ping-pong-4B"
    ):
        run_pair(workload="flood")
    with pytest.raises(
        InputError, match=r"there is no fault 'word-omitted'; there is none, nwrite"
    ):
        run_pair(fault="word-omitted")


def test_both_cards_run_anew_when_both_are_armed_and_one_alone_has_recorded_nothing() -> None:
    target = RunningCard(Wanted("pci-sci-pair", "none", 1, ""), nonce=1)
    first = [target.device(n).recording for n in (0, 1)]

    def arm(number: int) -> None:
        device = target.device(number)
        nonce = device.get("id.boot_nonce") & 0xFFF
        base = number << device.get("id.devices") // (1 << 16) % (1 << 8)
        word = (0x4152 ^ nonce) << 16 | (device.get("id.generation") + 1) & 0xFFFF
        target.write(base + device.map.offset("ctl.arm"), [word])

    arm(0)
    assert target.device(0).recording.taps["blink_out"].stored == 0
    assert target.device(1).recording is first[1]
    arm(1)
    again = [target.device(n).recording for n in (0, 1)]
    assert [r.taps["blink_out"].stored != 0 for r in again] == [True, True]
    assert again[0] is not first[0] and again[1] is not first[1]
    link = far(side_by_side(again)[0]).departures[0]
    assert len(link.pairing.pairs) > 100  # both of one run
