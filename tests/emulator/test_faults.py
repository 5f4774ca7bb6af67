"""Each fault as docs/faults.md defines it: the freeze cause, the truth, and what the taps show of it, by comparing
them here. `test_slow_faults` has those that slow a pair down or let counts slip.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from freezeframe.capture.errors import InputError
from freezeframe.capture.registers.layouts import Cause, CreditCode, Kind
from freezeframe.emulator.faults.registry import FAULTS, make_fault
from tests.emulator.reading import (
    Card,
    Packet,
    Record,
    causes,
    evidence,
    packets_of,
    pair,
    run_to_evidence,
    truth,
)

# fault: causes it may freeze with, the card that finds it
EXPECTED: dict[str, tuple[set[Cause], str]] = {
    "word-omitted": ({Cause.PAY_CRC, Cause.LENGTH}, "B"),
    "word-duplicated": ({Cause.PAY_CRC, Cause.LENGTH}, "B"),
    "sync-fifo-empty": ({Cause.PAY_CRC, Cause.HDR_CRC}, "B"),
    "lane-misaligned": ({Cause.HDR_CRC, Cause.PAY_CRC}, "B"),
    "payload-bit-flip": ({Cause.PAY_CRC}, "B"),
    "header-corrupted": ({Cause.HDR_CRC}, "B"),
    "credit-corrupted": ({Cause.CREDIT_PARITY}, "A"),
    "credit-lost": ({Cause.CREDIT_STALL}, "A"),
    "wrap-unhandled": ({Cause.RX_OVF}, "B"),
    "credit-start-too-large": ({Cause.RX_OVF}, "B"),
    "clock-drift": ({Cause.PAY_CRC, Cause.HDR_CRC}, "B"),
    "credit-too-coarse": ({Cause.HOST}, "A"),
    "credit-too-optimistic": ({Cause.RX_OVF}, "B"),
    "interrupt-storm": ({Cause.HOST}, "A"),
    "interrupt-lost": ({Cause.HOST}, "A"),
    "short-transfers": ({Cause.HOST}, "A"),
    "split-retry-mishandled": ({Cause.LENGTH}, "B"),
}
SEEDS = (0, 2)  # the FIFOs of both cards are hit
every_seed = pytest.mark.parametrize("seed", SEEDS)


def only(packets: list[Packet], seq: int) -> Packet:
    found = [p for p in packets if p.seq == seq]
    assert len(found) == 1, f"packet {seq} stands {len(found)} times in the memory"
    return found[0]


def packets_in(words: list[Record]) -> list[list[int]]:
    """Return the words of every packet whose two HEAD words are there, whole or not."""
    found: list[list[int]] = []
    for number, word in enumerate(words):
        if [w.kind for w in words[number : number + 2]] == [Kind.HEAD, Kind.HEAD]:
            found.append([])
        if found:
            found[-1].append(word.data)
    return found


def received(card: Card, sent: Packet, sender: Card) -> list[int]:
    """Return the words B's receiver made of a packet of A, found by place or by a good neighbour."""
    words = card.words(2)
    runs: list[list[int]] = []
    for number, word in enumerate(words):
        if word.kind == Kind.HEAD and (number == 0 or words[number - 1].kind != Kind.HEAD):
            runs.append([])
        if runs:
            runs[-1].append(word.data)
    if not card.read("memory.status", 2) & 1:
        return runs[sent.seq]
    passed = packets_of(sender.words(1))
    good = {run[0]: k for k, run in enumerate(runs)}
    for offset in range(1, len(passed) + 1):
        for other in (sent.seq - offset, sent.seq + offset):
            match = [p for p in passed if p.seq == other and p.header in good]
            if match:
                return runs[good[match[0].header] + sent.seq - other]
    raise AssertionError(f"no good packet near {sent.seq}")


@every_seed
@pytest.mark.parametrize("fault", EXPECTED)
def test_a_fault_freezes_both_cards_for_what_the_table_says(fault: str, seed: int) -> None:
    a, b = evidence(fault, seed)
    allowed, finder = EXPECTED[fault]
    cards = {"A": a, "B": b}
    assert causes(cards.pop(finder)) <= allowed
    (other,) = cards.values()
    assert causes(other) == {Cause.CROSS}
    injection = truth(a)
    assert (injection["fault"], injection["direction"]) == (fault, "A->B")
    assert (injection["generation"], injection["before_freeze"]) == (1, True)
    assert 0 < injection["t_ps"] <= a.target.now_ps


@every_seed
@pytest.mark.parametrize("fault", list(EXPECTED)[:10])
def test_a_fault_shows_within_60_000_words(fault: str, seed: int) -> None:
    words = 0
    for nic in evidence(fault, seed)[0].target.pair.nics:
        words += nic.taps[1].words.entered
    assert words < 60_000


@every_seed
def test_an_omitted_word_is_missing_after_the_fifo_and_nothing_else(seed: int) -> None:
    a, b = evidence("word-omitted", seed)
    t = truth(a)
    card, before, after = (a, 0, 1) if t["device"] == "A" else (b, 2, 3)
    assert t["tap"] == {"A": "tx_deq", "B": "rx_deq"}[t["device"]]
    whole = only(packets_of(card.words(before)), t["packet"])
    short = only(packets_of(card.words(after)), t["packet"])
    assert whole.flow == t["flow"]
    assert short.payload == whole.payload[: t["word"]] + whole.payload[t["word"] + 1 :]
    assert short.tail == whole.tail


@every_seed
def test_a_repeated_word_stands_twice_after_the_fifo(seed: int) -> None:
    a, b = evidence("word-duplicated", seed)
    t = truth(a)
    card, before, after = (a, 0, 1) if t["device"] == "A" else (b, 2, 3)
    whole = only(packets_of(card.words(before)), t["packet"])
    long = only(packets_of(card.words(after)), t["packet"])
    assert len(long.payload) == len(whole.payload) + 1
    assert long.payload[t["word"]] == long.payload[t["word"] - 1] == whole.payload[t["word"] - 1]
    assert long.payload[: t["word"]] + long.payload[t["word"] + 1 :] == whole.payload


@pytest.mark.parametrize("fault", ["word-omitted", "word-duplicated"])
def test_the_fifos_of_both_cards_are_hit(fault: str) -> None:
    assert {truth(evidence(fault, seed)[0])["device"] for seed in SEEDS} == {"A", "B"}


@every_seed
def test_flipped_bits_are_one_or_two_of_one_payload_word(seed: int) -> None:
    a, b = evidence("payload-bit-flip", seed)
    t = truth(a)
    sent = only(packets_of(a.words(1)), t["packet"])
    came = only(packets_of(b.words(2)), t["packet"])
    changed = {
        k: x ^ y for k, (x, y) in enumerate(zip(sent.payload, came.payload, strict=True)) if x != y
    }
    assert list(changed) == [t["word"]]
    assert changed[t["word"]] == sum(1 << bit for bit in t["detail"]["bits"])
    assert changed[t["word"]].bit_count() in (1, 2)
    assert (came.header, came.address, came.tail) == (sent.header, sent.address, sent.tail)


@every_seed
def test_a_corrupted_header_is_one_word_with_up_to_eight_bits_and_its_neighbours_are_good(
    seed: int,
) -> None:
    a, b = evidence("header-corrupted", seed)
    t = truth(a)
    assert t["word"] is None
    # The cause comes with the header, so the packet may end where a memory closed.
    sent = next(p for p in packets_in(a.words(1)) if p[0] >> 32 & 0xFFFF == t["packet"])
    candidates = [
        p for p in packets_in(b.words(2)) if sum(x != y for x, y in zip(sent, p, strict=False)) == 1
    ]
    (came,) = candidates
    assert (
        1 <= (sent[t["detail"]["header_word"]] ^ came[t["detail"]["header_word"]]).bit_count() <= 8
    )
    good = {tuple(p) for p in packets_in(a.words(1))} & {tuple(p) for p in packets_in(b.words(2))}
    assert len(good) >= 1


def lane(word: int, which: int) -> list[int]:
    return list(word.to_bytes(8, "little")[which::2])


@every_seed
def test_a_lane_whose_fifo_ran_empty_repeats_a_half_and_lags(seed: int) -> None:
    a, b = evidence("sync-fifo-empty", seed)
    t = truth(a)
    sent = only(packets_of(a.words(1)), t["packet"])
    words = [sent.header, sent.address, *sent.payload, sent.tail]
    came = received(b, sent, a)
    place, bad = t["detail"]["place"], t["detail"]["lane"]
    assert t["word"] == (place - 2 if 2 <= place < len(words) - 1 else None)
    assert came[:place] == words[:place]
    for k in range(place, len(words)):
        assert lane(came[k], 1 - bad) == lane(words[k], 1 - bad)
        assert lane(came[k], bad) == lane(words[k - 1], bad)
    assert b.read("frozen.lane.underflows", bad) == 1
    assert Cause.SYNC_UNF not in causes(b)  # masked by default: it must be found by what it does


@every_seed
def test_a_misaligned_lane_stays_so_for_every_word_after(seed: int) -> None:
    a, b = evidence("lane-misaligned", seed)
    t = truth(a)
    bad, lost, place = t["detail"]["lane"], t["detail"]["lost_B"], t["detail"]["place"]
    for seq in range(t["packet"], t["packet"] + 3):
        sent = [p for p in packets_of(a.words(1)) if p.seq == seq]
        if not sent:
            break
        words = [sent[0].header, sent[0].address, *sent[0].payload, sent[0].tail]
        came = received(b, sent[0], a)
        stream = [byte for word in words[place:] for byte in lane(word, bad)][lost:]
        assert came[:place] == words[:place]
        for k in range(place, min(len(words), len(came)) - 1):
            assert lane(came[k], 1 - bad) == lane(words[k], 1 - bad)
            assert lane(came[k], bad) == stream[4 * (k - place) : 4 * (k - place) + 4]
        place = 0


@every_seed
def test_a_corrupted_credit_differs_in_one_bit_from_what_the_parity_generator_made(
    seed: int,
) -> None:
    a, b = evidence("credit-corrupted", seed)
    t = truth(a)
    (refused,) = a.events(Kind.CREDIT, CreditCode.REFUSED_PARITY)
    assert refused.value.bit_count() % 2 == 0
    made = [r.value for r in b.events(Kind.CREDIT, CreditCode.SENT)]
    assert refused.value ^ (1 << t["detail"]["bit"]) in made
    assert a.counter("parity_errors") == a.counter("credits_refused") == 1


@every_seed
def test_with_its_credits_lost_a_flow_stalls_although_b_has_freed_everything(seed: int) -> None:
    a, b = evidence("credit-lost", seed)
    flow = truth(a)["flow"]
    sender, receiver = a.flow(flow), b.flow(flow)
    mask = 0x1FFF
    assert receiver["freed"] - sender["credited"] & mask > 0
    assert receiver["reported"] - sender["credited"] & mask > 0
    assert b.read("frozen.rx_level") == 0
    assert a.read("frozen.stalled_flows") == 1 << flow


@every_seed
def test_an_unhandled_wrap_sends_beyond_the_limit_only_across_the_wrap(seed: int) -> None:
    a, _ = evidence("wrap-unhandled", seed)
    t = truth(a)
    detail = t["detail"]
    assert detail["limit"] == 1024
    assert detail["sent"] < detail["credited"]  # sent has wrapped, credited has not
    assert detail["sent"] + 8192 - detail["credited"] <= 1024 + 515
    assert a.flow(t["flow"])["limit"] == 1024


@every_seed
def test_a_start_credit_too_large_is_within_its_limit_but_the_limit_is_above_the_fifo(
    seed: int,
) -> None:
    a, b = evidence("credit-start-too-large", seed)
    flow = a.flow(truth(a)["flow"])
    assert flow["limit"] > b.read("id.rx_fifo") == 2048
    assert flow["sent"] - flow["credited"] & 0x1FFF <= flow["limit"]
    assert b.counter("rx_fifo_overflows") > 0


@pytest.mark.parametrize("fault", ["word-omitted", "lane-misaligned", "clock-drift", "credit-lost"])
def test_the_same_seed_gives_the_same_bytes_and_another_seed_others(fault: str) -> None:
    def everything(seed: int) -> list[bytes]:
        _, a, b = run_to_evidence(fault, seed)
        return [card.memory_bytes(m) for card in (a, b) for m in range(5)]

    assert everything(5) == everything(5) != everything(6)


def test_the_truth_is_written_when_it_happens_and_never_half(tmp_path: Path) -> None:
    path = tmp_path / "truth.json"
    target, _, _ = pair("payload-bit-flip", 4, truth_path=path)
    assert json.loads(path.read_text()) == {
        "fault": "payload-bit-flip", "seed": 4, "profile": "forth", "injections": [], "freezes": [],
    }  # fmt: skip
    assert target.run_until_frozen(20_000_000_000)
    truth = json.loads(path.read_text())
    (injection,) = truth["injections"]
    assert set(injection) == {
        "fault", "generation", "device", "tap", "direction", "flow", "packet", "word", "t_ps",
        "detail", "before_freeze",
    }  # fmt: skip
    assert injection["before_freeze"] is True
    first, second = sorted(truth["freezes"], key=lambda stop: stop["cause_ps"])
    assert (first["device"], second["device"]) == ("B", "A")
    assert injection["t_ps"] < first["cause_ps"] < first["frozen_ps"]
    assert [p.name for p in tmp_path.iterdir()] == ["truth.json"]


def test_a_truth_file_that_cannot_be_written_says_so(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"truth file .* cannot be written: No such file"):
        pair(truth_path=tmp_path / "nowhere" / "truth.json")


def test_an_unknown_fault_is_refused_with_the_list() -> None:
    with pytest.raises(InputError, match="there is no fault 'zzz'; there is none, word-omitted,"):
        make_fault("zzz")


@pytest.mark.parametrize(
    ("name", "near"),
    [
        ("word-omited", "word-omitted"), ("lane_misaligned", "lane-misaligned"),
        ("switch-word-losst", "switch-word-lost"), ("tx-empty-stick", "tx-empty-stuck"),
    ],
)  # fmt: skip
def test_of_a_fault_that_is_mistyped_the_nearest_is_offered(name: str, near: str) -> None:
    with pytest.raises(InputError) as refused:
        make_fault(name)
    assert str(refused.value) == f"there is no fault '{name}'; did you mean {near}?"


def test_the_faults_are_those_of_the_table() -> None:
    assert FAULTS.keys() == {"none", *EXPECTED, "header-miscounted"}
