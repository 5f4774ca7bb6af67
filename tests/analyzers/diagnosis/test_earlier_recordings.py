"""Counts go on over re-arms: what an earlier recording counted says nothing of this one.

And what a reader is told when a capture does not hold enough: pull again, or pull both ends.
"""

from __future__ import annotations

import pytest

from tests.analyzers.bench_pair import Pair
from tests.analyzers.conftest import Explain
from tests.analyzers.damage import alter, duplicate, lag
from tests.analyzers.diagnosis.test_credit_faults import T0, waiting
from tests.analyzers.diagnosis.test_hard_captures import counting
from tests.analyzers.diagnosis.test_word_faults import HDR, LEN, PAY, busy, only, said


def second_generation(pair: Pair, underflows: int) -> None:
    for device in "AB":
        pair.set(device, "ctl.generation", value=2)
    pair.set("B", "frozen.lane.underflows", 0, value=underflows)


def test_a_credit_refused_before_this_recording_does_not_hide_a_lost_one(
    explained: Explain,
) -> None:
    pair = waiting(25, 9)
    pair.counter("A", "credits_refused", 1)
    second_generation(pair, 0)
    assert said(only(explained(pair).findings))[0] == "credit-lost"


def test_where_only_the_banks_remember_an_old_refusal_does_not_hide_lost_credits(
    explained: Explain,
) -> None:
    pair = waiting(25, 9)
    pair.events["B"] = [event for event in pair.events["B"] if event.kind != "CREDIT"]
    pair.credit(T0, 64, flow=5)
    pair.counter("A", "credits_refused", 1)
    second_generation(pair, 0)
    assert said(only(explained(pair).findings))[0] == "credit-lost"


def test_where_only_the_banks_remember_a_refusal_since_the_last_credit_leaves_it_open(
    explained: Explain,
) -> None:
    pair = waiting(25, 9)
    pair.events["B"] = [event for event in pair.events["B"] if event.kind != "CREDIT"]
    pair.credit(T0, 64, flow=5)
    pair.credit(T0 + 20_000_000, 640, flow=2, flip=3)
    pair.events["B"].pop()
    log = pair.events["A"]
    log[-1].data = log[-1].data & ~(0xFF << 56) | 4 << 56  # refused for its CRC
    pair.counter("A", "credits_refused", 1)
    waits, refused = explained(pair).findings
    assert "credit-lost" in waits.candidates
    assert "A refused 1 credit from B for a bad CRC" in refused.text


@pytest.mark.parametrize("underflows", [0, 3])
def test_an_underflow_before_this_recording_does_not_make_a_flipped_bit_a_lanes_lag(
    explained: Explain, underflows: int
) -> None:
    pair = Pair(causes=PAY)
    pair.traffic(4)
    hit = pair.send(payload=counting())
    pair.traffic(4)
    lag(hit, 0, 2 + 7, 2 + 8)  # payload word 7 shows the 6 before it: one bit
    second_generation(pair, underflows)
    finding = only(explained(pair).findings)
    if underflows:
        assert set(finding.candidates) == {"sync-fifo-empty", "payload-bit-flip"}
    else:
        assert finding.diagnosis == "payload-bit-flip"


@pytest.mark.parametrize("devices", ["AB", "B"])
def test_a_header_after_an_old_underflow_is_never_blamed_on_the_lane(
    explained: Explain, devices: str
) -> None:
    pair, hit = busy(causes=HDR)
    alter(hit, "rx_enq", 0, 0x7 << 33)
    second_generation(pair, 3)
    finding = only(explained(pair, devices).findings)
    assert finding.diagnosis in ("header-corrupted", "undetermined")
    assert devices == "B" or finding.packet == hit.seq
    assert finding.diagnosis == "header-corrupted" or "header-corrupted" in finding.candidates


# -- what to do next -------------------------------------------------------------------------------


def test_an_incomplete_capture_says_so_and_to_pull_again(explained: Explain) -> None:
    pair, hit = busy(causes=LEN)
    duplicate(hit, "tx_deq", 7)
    for device in "AB":
        for tap in ("tx_enq", "tx_deq", "rx_enq", "rx_deq", "event_log"):
            pair.gaps[device, tap] = [(0, 2048)]
    finding = only(explained(pair).findings)
    assert finding.diagnosis == "undetermined"
    assert "The capture is incomplete: A.tx_enq, " in finding.text
    assert "pull again" in finding.text


def test_one_device_that_froze_with_the_other_says_to_pull_both_ends(explained: Explain) -> None:
    pair, _ = busy(causes=PAY)
    finding = only(explained(pair, "A", captured="A").findings)
    assert finding.diagnosis == "undetermined"
    assert "Why B froze stands in its own registers and memories: pull both ends" in finding.text


@pytest.mark.parametrize("device", ["A", "B"])
def test_one_device_that_the_host_froze_and_that_shows_nothing_wrong_has_no_finding(
    explained: Explain, device: str
) -> None:
    pair, _ = busy(causes={"A": ["host"], "B": ["host"]})
    assert explained(pair, device, captured=device).findings == []


def test_a_sender_that_was_credited_more_than_it_sent_is_not_beyond_its_limit(
    explained: Explain,
) -> None:
    pair = Pair(causes={"A": ["cross"], "B": ["pay-crc"]})
    pair.account("A", 1, sent=517, credited=899, limit=1024)  # 382 words less than nothing
    pair.set("A", "frozen_flow.words_sent", 1, value=8192 + 517)
    assert only(explained(pair, "A").findings).diagnosis == "undetermined"
