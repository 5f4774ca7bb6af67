"""Captures with holes, little entropy, and faults at the edges: right, or undetermined, never wrong."""

from __future__ import annotations

import json
import random
from dataclasses import replace
from pathlib import Path

import pytest

from freezeframe.analyzers.contract import Finding, Ground
from freezeframe.analyzers.explain import explain
from freezeframe.capture.folder import CaptureFolder, MemoryImage, RegisterImage
from tests.analyzers.bench_pair import Pair, tail
from tests.analyzers.conftest import Explain
from tests.analyzers.damage import after, alter, duplicate, lag, misalign, omit
from tests.analyzers.diagnosis.test_word_faults import (
    HDR,
    LEN,
    PAY,
    busy,
    candidates,
    likeliest,
    only,
    said,
)

# -- what is not in the recording ----------------------------------------------------------------


def test_a_cause_that_the_memories_do_not_reach_back_to_is_undetermined(
    explained: Explain,
) -> None:
    pair, _ = busy(causes=PAY)
    finding = only(explained(pair).findings)
    assert finding.diagnosis == "undetermined"
    assert "payload-bit-flip" in finding.candidates
    assert "do not reach back" in finding.text


@pytest.mark.parametrize("gap", [(0, 200), (150, 300), (300, 300), (500, 400)])
def test_a_gap_of_the_pull_never_makes_a_wrong_name(
    explained: Explain, gap: tuple[int, int]
) -> None:
    pair, hit = busy(causes=LEN)
    omit(hit, "tx_deq", 7)
    for tap in ("A.tx_enq", "A.tx_deq", "B.rx_enq", "B.rx_deq"):
        device, name = tap.split(".")
        pair.gaps = {(device, name): [gap]}
        for devices in ("AB", "A", "B"):
            pair.gaps = {(device, name): [gap]}
            for finding in explained_again(explained, pair, devices):
                assert finding[0] in ("word-omitted", "undetermined"), (tap, devices, finding)
                if finding[0] == "word-omitted":
                    assert finding[1:5] == ("A", "tx_deq", "A->B", 3)
                    assert finding[5] == 112
                    assert finding[6] in (7, None)


def explained_again(explained: Explain, pair: Pair, devices: str) -> list[tuple[object, ...]]:
    return [said(finding) for finding in explained(pair, devices).findings]


@pytest.mark.parametrize("tap", ["A.tx_enq", "A.tx_deq", "B.rx_enq", "B.rx_deq", "A.event_log"])
@pytest.mark.parametrize("first", range(3, 500, 71))
def test_a_gap_in_a_clean_capture_is_no_finding(explained: Explain, tap: str, first: int) -> None:
    pair, _ = busy()
    for n in range(20):
        pair.credit(60_000_000 + n * 400_000, 64 * n, flow=3)
    device, name = tap.split(".")
    pair.gaps[device, name] = [(first, 150)]
    assert [said(finding) for finding in explained(pair).findings] == []


def test_a_gap_is_stated_in_the_notes(explained: Explain) -> None:
    pair, _ = busy()
    pair.gaps["B", "rx_enq"] = [(64, 32)]
    notes = explained(pair).notes
    assert any("rx_enq" in note and "32" in note for note in notes)


@pytest.mark.parametrize("keep", range(30, 44, 3))
def test_a_fault_in_the_first_recorded_packet_is_found_from_what_is_left_of_it(
    explained: Explain, keep: int
) -> None:
    pair, hit = busy(causes=PAY)
    alter(hit, "rx_enq", 2 + 30, 1 << 9)
    before = sum(
        len(c.tx_deq) for c in pair.crossings[: pair.crossings.index(hit)] if c.sender == "A"
    )
    pair.keep["A", "tx_deq"] = slice(before + 43 - keep, None)
    finding = only(explained(pair).findings)
    if keep >= 13:
        assert said(finding) == ("payload-bit-flip", "B", "rx_enq", "A->B", 3, 112, 30)


@pytest.mark.parametrize("tap", ["tx_deq", "rx_deq"])
def test_a_word_repeated_in_a_packet_whose_beginning_is_lost_keeps_its_index(
    explained: Explain, tap: str
) -> None:
    pair, hit = busy(causes=LEN)
    duplicate(hit, tap, 20)
    device = "A" if tap == "tx_deq" else "B"
    first = sum(len(getattr(c, tap)) for c in pair.crossings[:12]) + 9
    pair.keep[device, tap] = slice(first, None)
    found = explained(pair).findings
    assert {(f.diagnosis, f.packet, f.word) for f in found} == {("word-duplicated", hit.seq, 20)}


def test_the_damaged_packet_may_be_the_last_recorded(explained: Explain) -> None:
    pair, hit = busy(causes=PAY)
    pair.crossings = pair.crossings[: pair.crossings.index(hit) + 1]
    alter(hit, "rx_enq", 2 + 30, 1 << 9)
    assert said(only(explained(pair).findings))[0] == "payload-bit-flip"


def test_a_packet_that_the_freeze_cut_off_still_shows_its_damage(explained: Explain) -> None:
    pair, hit = busy(causes=LEN)
    pair.crossings = pair.crossings[: pair.crossings.index(hit) + 1]
    omit(hit, "tx_deq", 4)
    for words in hit.from_tap("rx_enq"):
        del words[30:]
    assert said(only(explained(pair).findings)) == (
        ("word-omitted", "A", "tx_deq", "A->B", 3, 112, 4)
    )


def test_traffic_the_other_way_is_not_mistaken_for_it(explained: Explain) -> None:
    pair = Pair(causes={"A": ["pay-crc", "length"], "B": ["cross"]})
    pair.traffic(8)
    pair.traffic(8, "B")
    hit = pair.send("B", flow=5, length=20)
    pair.traffic(8, "B")
    omit(hit, "tx_deq", 3)
    finding = only(explained(pair).findings)
    assert said(finding) == ("word-omitted", "B", "tx_deq", "B->A", 5, hit.seq, 3)
    finding = only(explained(pair, "A").findings)
    assert said(finding) == ("word-omitted", "B", "tx_deq", "B->A", 5, hit.seq, None)


def test_sequence_numbers_that_wrap_confuse_nothing(explained: Explain) -> None:
    pair = Pair(causes=HDR)
    pair._seq["A"] = 0xFFFA
    pair.traffic(6)
    hit = pair.send(length=20)
    pair.traffic(6)
    alter(hit, "rx_enq", 0, 0xF << 40)
    assert said(only(explained(pair).findings))[5] == 0
    assert said(only(explained(pair, "B").findings))[5] == 0


def test_events_that_the_log_lost_are_stated(explained: Explain) -> None:
    pair, _ = busy()
    pair.event("A", 60_000_000, "CREDIT", "taken", 0x40_0004, 0)
    pair.event("A", 61_000_000, "LOSS", "", 17)
    assert any("17" in note and "A.event_log" in note for note in explained(pair).notes)


def test_a_credit_that_a_loss_hides_is_not_called_lost(explained: Explain) -> None:
    pair = Pair(post_ps=400_000_000, causes={"A": ["host"], "B": ["host"]})
    pair.traffic(10, flow=2)
    for n in range(10):
        pair.credit(60_000_000 + n * 1_000_000, 64 * (n + 1), flow=2, arrives=n < 6)
    pair.event("A", 69_500_000, "LOSS", "", 9)
    pair.account("A", 2, sent=700, credited=384, limit=1024, received=700, freed=690, reported=640)
    assert explained(pair).findings == []


# -- little entropy ------------------------------------------------------------------------------


def counting(first: int = 0) -> list[int]:
    return list(range(first, first + 40))


def test_a_repeated_half_that_differs_in_one_bit_is_decided_by_the_lanes_count(
    explained: Explain,
) -> None:
    names = []
    for underflows in (0, 1):
        pair = Pair()
        pair.traffic(4)
        hit = pair.send(payload=counting())
        pair.traffic(4)
        lag(hit, 0, 2 + 7, 2 + 8)  # payload word 7 shows the 6 before it: one bit
        pair.set("B", "frozen.lane.underflows", 0, value=underflows)
        pair.causes = PAY
        names.append(only(explained(pair, captured="AB").findings).diagnosis)
    assert names == ["payload-bit-flip", "sync-fifo-empty"]


def test_without_the_lanes_count_a_repeated_half_of_one_bit_is_undetermined(
    explained: Explain,
) -> None:
    pair = Pair(causes=PAY)
    pair.traffic(4)
    hit = pair.send(payload=counting())
    pair.traffic(4)
    lag(hit, 0, 2 + 7, 2 + 8)
    pair.unread.add(("B", "frozen.lane.underflows", 0))
    assert set(candidates(explained(pair).findings)) == {"sync-fifo-empty", "payload-bit-flip"}


def test_a_lag_over_equal_halves_has_no_certain_first_word(explained: Explain) -> None:
    pair = Pair(causes=PAY)
    pair.traffic(4)
    hit = pair.send(payload=[7] * 10 + pair.payload(10))
    pair.traffic(4)
    lag(hit, 0, 2 + 5, 23)
    pair.set("B", "frozen.lane.underflows", 0, value=1)
    finding = only(explained(pair).findings)
    assert (finding.diagnosis, finding.packet, finding.word) == ("sync-fifo-empty", hit.seq, None)


def test_a_word_repeated_within_a_run_has_no_index(explained: Explain) -> None:
    pair = Pair(causes=LEN)
    pair.traffic(4)
    hit = pair.send(payload=[1, 2, 2, 2, 3])
    pair.traffic(4)
    duplicate(hit, "tx_deq", 3)
    for devices in ("AB", "B"):
        finding = only(explained(pair, devices).findings)
        assert (likeliest(finding), finding.word) == ("word-duplicated", None)


def rotated_at_the_end(explained: Explain, last: int) -> Finding:
    """Explain a packet of which lane 1 is rotated by a byte in its last word of payload and in its tail."""
    pair = Pair(causes=PAY)
    pair.traffic(4)
    hit = pair.send(payload=[0] * 39 + [last])
    misalign([hit], 1, 41, 1)
    finding = only(explained(pair).findings)
    assert finding.packet == hit.seq
    return finding


def turned(last: int) -> int:
    """Count the bits that the rotation turns over, of lane 1: the odd bytes of the last word and of the tail."""
    count = 0
    for word in (last, tail([0] * 39 + [last])):
        octets = word.to_bytes(8, "little")[1::2]
        count += sum(
            (a ^ b).bit_count() for a, b in zip(octets, octets[1:] + octets[:1], strict=True)
        )
    return count


def test_a_rotation_of_two_words_that_turns_few_bits_is_not_named(explained: Explain) -> None:
    last = next(
        w
        for x in range(1 << 16)
        if turned(w := 0x0100 | x << 16 & 0xFF0000 | x << 24 & 0xFF00000000) < 12
    )
    finding = rotated_at_the_end(explained, last)
    assert (finding.diagnosis, finding.candidates) == ("undetermined", ("lane-misaligned",))


def test_a_rotation_of_two_words_that_turns_many_bits_is_named_as_little_is_recorded_of_it(
    explained: Explain,
) -> None:
    """A card that freezes at once and sends nothing else has no more to tell by."""
    assert turned(0x0FA55A3CC31E8877) > 24
    finding = rotated_at_the_end(explained, 0x0FA55A3CC31E8877)
    assert (finding.diagnosis, finding.ground) == ("lane-misaligned", Ground.LITTLE)
    assert (finding.device, finding.tap) == ("B", "rx_enq")


def test_a_packet_that_the_receiver_counted_as_bad_is_no_upset_of_the_memory_behind_it(
    explained: Explain,
) -> None:
    """B.rx_enq is lost from the capture; B's checker looked at the packet before B.rx_deq recorded it."""
    pair, hit = busy(causes=PAY)
    alter(hit, "rx_enq", 9, 1 << 20)
    pair.gaps["B", "rx_enq"] = [(0, 2048)]
    pair.counter("B", "payload_errors", 1)
    finding = only(explained(pair).findings)
    assert (finding.diagnosis, finding.packet) == ("undetermined", hit.seq)
    assert "payload-bit-flip" in finding.candidates
    assert "recorder-suspect" not in finding.candidates


# -- more than one thing -------------------------------------------------------------------------


def test_a_word_wrong_before_it_entered_the_fifo_is_not_blamed_on_the_fifo(
    explained: Explain,
) -> None:
    pair, hit = busy(causes=PAY)
    alter(hit, "tx_enq", 9, 1 << 20)
    finding = only(explained(pair).findings)
    assert finding.diagnosis == "none-of-the-known"
    assert "before it entered the outgoing FIFO" in finding.text
    assert "payload-bit-flip" not in finding.candidates


def test_a_dma_that_resumed_at_the_wrong_word_is_no_omission(explained: Explain) -> None:
    pair, hit = busy(causes={"A": ["cross"], "B": ["length"]})
    short = pair.send(flow=3, length=40)
    body = [data for kind, data in short.tx_enq if kind == 2]
    del body[11]
    from tests.analyzers.bench_pair import BODY, TAIL, tail

    for words in short.from_tap("tx_enq"):
        words[2:] = [*((BODY, data) for data in body), (TAIL, tail(body))]
    pair.traffic(4)
    finding = only(explained(pair).findings)
    assert (finding.candidates[0], finding.device, finding.tap) == (
        "split-retry-mishandled",
        "A",
        "tx_enq",
    )
    # No event of the bus tells where the read went on.
    assert (finding.packet, finding.word) == (short.seq, None) and finding.ground == "eliminated"
    assert hit.seq != finding.packet


def test_two_damaged_packets_are_two_findings_the_earlier_first(explained: Explain) -> None:
    pair, hit = busy(causes=LEN)
    second = after(pair, hit)[3]
    omit(hit, "tx_deq", 7)
    duplicate(second, "rx_deq", 1)
    found = explained(pair).findings
    assert [(f.diagnosis, f.packet) for f in found] == [
        ("word-omitted", 112),
        ("word-duplicated", second.seq),
    ]


def test_an_overflow_of_an_earlier_generation_hides_no_fault_of_this_one(
    explained: Explain,
) -> None:
    pair, hit = busy(causes=LEN)
    omit(hit, "rx_deq", 7)
    pair.counter("B", "rx_fifo_overflows", 1173)
    pair.set("B", "ctl.generation", value=2)
    finding = only(explained(pair).findings)
    assert said(finding) == ("word-omitted", "B", "rx_deq", "A->B", 3, 112, 7)


@pytest.mark.parametrize("seed", range(12))
def test_whatever_stands_in_records_and_registers_nothing_raises(tmp_path: Path, seed: int) -> None:
    generator = random.Random(seed)
    pair, hit = busy(seed=seed, causes=LEN)
    omit(hit, "tx_deq", 7)
    folder = pair.write(tmp_path / "pair.ff")
    devices = []
    for device in folder.devices:
        memories = {}
        for name, memory in device.memories.items():
            records = memory.records.copy()
            for _ in range(generator.choice((0, 20, 4000))):
                records[generator.randrange(800), generator.randrange(9)] = generator.randrange(256)
            if generator.random() > 0.1:
                memories[name] = MemoryImage(name, records, memory.write_ptr, memory.wrapped, [])
        kept = {
            address: generator.getrandbits(32) if generator.random() < 0.02 else word
            for address, word in device.registers
            if generator.random() > 0.05
        }
        devices.append(replace(device, memories=memories, registers=RegisterImage(kept)))
    scrambled = CaptureFolder(folder.path, folder.manifest, devices)
    for names in (None, ["A"], ["B"]):
        found = explain(scrambled, names)
        assert all(finding.evidence for finding in found.findings)
        json.dumps(found.to_json())
