"""What befell whole packets, by both taps of a stretch and by their numbers; which name stands, and where."""

from __future__ import annotations

from pathlib import Path

from freezeframe.analyzers.contract import Finding
from freezeframe.analyzers.explain import explain
from tests.analyzers.bench_pair import LINK_PS, Crossing, Pair, header, words_of
from tests.analyzers.conftest import Explain
from tests.campaign.open_world.runs import Job, take
from tests.campaign.runs import Job as Campaign
from tests.campaign.runs import run_one

IN_SWITCH = ("switch-word-lost", "switch-word-altered", "switch-credit-held", "switch-wrong-port")
QUIET = {"A": ["host"], "B": ["host"]}


def first(explained: Explain, pair: Pair) -> Finding:
    return explained(pair).findings[0]


def place(finding: Finding) -> tuple[str | None, str | None, int | None]:
    return finding.device, finding.tap, finding.packet


def lost_from(crossing: Crossing, tap: str) -> None:
    """Take a packet away at a tap and all behind it."""
    for words in crossing.from_tap(tap):
        words.clear()


def test_a_packet_that_came_out_of_no_tap_behind_the_link_was_dropped_there(
    explained: Explain,
) -> None:
    pair = Pair(causes=QUIET)
    gone = pair.traffic(20)[11]
    lost_from(gone, "rx_enq")
    finding = first(explained, pair)
    assert finding.diagnosis == "packet-dropped"
    assert place(finding) == ("B", "rx_enq", gone.seq)
    assert "packet 111: B.rx_deq 0 times" in {witness.text for witness in finding.witnesses}


def test_a_packet_that_one_tap_alone_does_not_hold_was_not_dropped(explained: Explain) -> None:
    pair = Pair(causes=QUIET)
    pair.traffic(20)[11].rx_enq.clear()
    finding = first(explained, pair)
    assert (finding.diagnosis, *place(finding)[:2]) == ("recorder-suspect", "B", "rx_enq")


def test_a_packet_that_comes_out_of_a_fifo_twice_is_duplicated(explained: Explain) -> None:
    pair = Pair(causes=QUIET)
    twice = pair.traffic(20)[11]
    for words in twice.from_tap("tx_deq"):
        words.extend(list(words))
    finding = first(explained, pair)
    assert finding.diagnosis == "packet-duplicated"
    assert place(finding) == ("A", "tx_deq", twice.seq)


def test_a_packet_that_came_over_the_link_in_place_of_the_last_one_says_nothing_of_a_memory(
    tmp_path: Path,
) -> None:
    """Packet 4 comes twice, and A's memories close within packet 5: at its place stand words of two packets."""
    take(Job(2, "link-packet-doubled", "light", 1_002_011, -1), tmp_path)
    findings = explain(tmp_path / "run.ff").findings
    assert "recorder-suspect" not in {finding.diagnosis for finding in findings}
    assert (findings[0].diagnosis, findings[0].packet) == ("packet-duplicated", 4)


def test_two_packets_that_changed_places_on_the_link_are_reordered(explained: Explain) -> None:
    pair = Pair(causes=QUIET)
    sent = pair.traffic(20)
    for one, other in zip(sent[11].from_tap("rx_enq"), sent[12].from_tap("rx_enq"), strict=True):
        one[:], other[:] = list(other), list(one)
    finding = first(explained, pair)
    assert finding.diagnosis == "packets-reordered"
    assert place(finding)[:2] == ("B", "rx_enq")
    assert finding.packet in (sent[11].seq, sent[12].seq)


def late_end(lost: int) -> Pair:
    """Return a pair whose last packets never arrive, and that goes on for long after them."""
    pair = Pair(causes=QUIET, post_ps=200_000_000)
    sent = pair.traffic(20)
    pair.credit(51_000_000, 64)
    pair.account("A", 0, sent=640, credited=64, limit=1024, received=640, freed=64, reported=64)
    for crossing in sent[20 - lost :]:
        lost_from(crossing, "rx_enq")
    return pair


def test_the_last_packets_are_lost_on_the_link_once_they_had_time_to_arrive(
    explained: Explain,
) -> None:
    finding = first(explained, late_end(3))
    assert (finding.diagnosis, *place(finding)) == ("packet-dropped", "B", "rx_enq", 117)
    assert "3 packets went in and did not come out" in finding.text


def test_the_last_packets_may_be_on_their_way_as_the_card_freezes(explained: Explain) -> None:
    pair = late_end(1)
    pair.post_ps = 20 * LINK_PS
    assert explained(pair).findings == []


def test_a_number_that_the_sender_leaves_out_is_first_seen_at_its_first_tap(
    explained: Explain,
) -> None:
    pair = Pair(causes=QUIET)
    pair.traffic(6)
    ahead = pair.send(length=9)
    pair.traffic(6)
    for words in ahead.from_tap("tx_enq"):
        words[:] = words_of(0, ahead.seq + 4, [data for _, data in words[2:-1]], words[1][1])
    finding = first(explained, pair)
    assert finding.diagnosis == "none-of-the-known"
    assert place(finding) == ("A", "tx_enq", ahead.seq)
    assert "packet 110 follows where packet 106 is due" in finding.text


def test_a_link_whose_packet_0_the_tap_records_from_its_middle_on_misses_none(
    explained: Explain,
) -> None:
    """As where a card in loop-back is armed while packet 0 crosses its FIFO, and the tap before it holds later ones."""
    pair = Pair(causes=QUIET)
    pair.next_number("A", 0)
    sent = pair.traffic(8)
    for crossing in sent[:4]:
        crossing.tx_enq.clear()
    for words in sent[0].from_tap("tx_deq"):
        del words[:4]
    assert explained(pair).findings == []


def test_a_header_that_names_another_flow_than_its_descriptor_is_told(explained: Explain) -> None:
    pair = Pair(causes=QUIET)
    sent = pair.traffic(8, flow=2)
    for crossing in sent:
        value = crossing.seq << 20 | len(crossing.tx_enq) - 3
        pair.event("A", 49_000_000, "DESC", "posted", value, flow=2)
    wrong = sent[4]
    for words in wrong.from_tap("tx_enq"):
        words[0] = (words[0][0], header(3, len(words) - 3, wrong.seq, words[1][1]))
    finding = first(explained, pair)
    assert place(finding) == ("A", "tx_enq", wrong.seq)
    assert "with flow 3 in its header, where its descriptor says 2" in finding.text


def test_what_a_card_logs_before_a_descriptor_is_written_says_nothing_of_its_flow(
    explained: Explain,
) -> None:
    """DESC ``posting`` holds the number that comes next, and flow 0 (formats.md, event log)."""
    pair = Pair(causes=QUIET)
    for crossing in pair.traffic(8, flow=2):
        pair.event("A", 49_000_000, "DESC", "posting", crossing.seq << 20, flow=0)
    assert explained(pair).findings == []


def test_what_a_receiver_counted_as_bad_is_told_though_no_memory_holds_it_any_more(
    explained: Explain,
) -> None:
    pair = Pair(causes=QUIET)
    pair.traffic(8)
    pair.counter("B", "payload_errors", 2)
    finding = first(explained, pair)
    assert (finding.diagnosis, *place(finding)) == ("undetermined", "B", "rx_enq", None)
    assert "payload-bit-flip" in finding.candidates and "recorder-suspect" in finding.candidates


def test_one_bad_packet_may_be_what_a_sender_left_open_when_it_stood_still_first(
    explained: Explain,
) -> None:
    pair = Pair(causes=QUIET)
    pair.traffic(8)
    pair.counter("B", "payload_errors", 1)
    assert explained(pair).findings == []


def test_a_packet_of_a_number_that_came_before_with_another_header_is_not_from_the_sender(
    explained: Explain,
) -> None:
    """As where a switch sends a packet back: it has the number of one of the other card's, and nothing else of it."""
    pair = Pair(causes=QUIET)
    sent = pair.traffic(6)
    stranger = words_of(3, sent[4].seq, [5, 6, 7], 0x40)
    for words in sent[5].from_tap("rx_enq"):
        words[:] = stranger
    finding = first(explained, pair)
    assert finding.diagnosis == "none-of-the-known"
    assert place(finding)[:2] == ("B", "rx_enq")
    assert "packet 104 of A has another header, so this one is not from there" in finding.text


def test_what_goes_wrong_in_a_switch_is_placed_between_the_cards() -> None:
    """docs/emulator.md: a capture holds nothing of the switch."""
    found = {}
    for fault in ("none", *IN_SWITCH):
        run = run_one(Campaign("emulator", fault, "medium", 4, False, "forth", "switch-pair"))
        assert run.error == ""
        found[fault] = [(f["diagnosis"], f["device"], f["tap"]) for f in run.said["both"]]
    assert found == {
        "none": [],
        "switch-word-lost": [("none-of-the-known", "B", "rx_enq")],
        "switch-word-altered": [("payload-bit-flip", "B", "rx_enq")],
        "switch-credit-held": [("none-of-the-known", "A", None)],
        "switch-wrong-port": [("undetermined", "A", None)],
    }


def test_the_first_packet_after_power_up_that_a_switch_sent_elsewhere_is_missed() -> None:
    run = run_one(
        Campaign("emulator", "switch-wrong-port", "light", 9, False, "forth", "switch-pair")
    )
    (finding,) = run.said["both"]
    assert (finding["diagnosis"], finding["tap"]) == ("packet-dropped", "rx_enq")
    assert finding["text"].startswith("At B.rx_enq packet 1 follows where packet 0 is due")


def test_a_packet_that_a_switch_sent_back_is_not_one_of_the_other_card_twice() -> None:
    run = run_one(
        Campaign("emulator", "switch-wrong-port", "light", 15, False, "forth", "switch-pair")
    )
    (finding,) = run.said["both"]
    assert (finding["diagnosis"], finding["tap"]) == ("none-of-the-known", "rx_enq")
    assert "packet 0 of B has another header, so this one is not from there" in finding["text"]
