"""What was not recorded because it was switched off proves nothing: no fault, and no fault misnamed.

Source: ctl.kinds and ctl.post of the register map; docs/diagnosis.md.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from freezeframe.analyzers.explain import Explanation, explain
from freezeframe.capture.folder import CaptureFolder
from freezeframe.capture.recorder.pull import pull
from freezeframe.capture.registers.names import offset
from freezeframe.emulator.target import EmulatorTarget
from tests.analyzers.bench_pair import BODY, HEAD, TAIL, Crossing, Pair
from tests.analyzers.conftest import Explain
from tests.analyzers.damage import alter, omit
from tests.analyzers.diagnosis.test_credit_faults import waiting
from tests.analyzers.diagnosis.test_word_faults import LEN, PAY, busy, only, said

TAPS = ("tx_enq", "tx_deq", "rx_enq", "rx_deq")
ALL = 0xFFFF
DEVICE_B = 1 << 24
WORD_KINDS = [HEAD, BODY, TAIL]
CREDIT, STATE, PRESSURE = 4, 8, 9


def switch_off(pair: Pair, device: str, tap: str, kind: int) -> None:
    """Record no words of a kind at a tap."""
    pair.set(device, "ctl.kinds", TAPS.index(tap), value=ALL & ~(1 << kind))
    for crossing in pair.crossings:
        sends = crossing.sender == device
        if sends == tap.startswith("tx"):
            words = getattr(crossing, tap)
            setattr(crossing, tap, [word for word in words if word[0] != kind])


@pytest.mark.parametrize("kind", WORD_KINDS, ids=["HEAD", "BODY", "TAIL"])
@pytest.mark.parametrize("tap", TAPS)
@pytest.mark.parametrize("device", ["A", "B"])
def test_a_clean_capture_without_one_kind_of_word_at_a_tap_has_no_finding(
    explained: Explain, device: str, tap: str, kind: int
) -> None:
    pair, _ = busy()
    switch_off(pair, device, tap, kind)
    result = explained(pair)
    assert result.findings == []
    name = {HEAD: "HEAD", BODY: "BODY", TAIL: "TAIL"}[kind]
    assert any(
        f"{device}.{tap}" in note and f"switched {name} off" in note for note in result.notes
    )


@pytest.mark.parametrize("kind", WORD_KINDS, ids=["HEAD", "BODY", "TAIL"])
@pytest.mark.parametrize("tap", TAPS)
def test_a_fault_beside_a_tap_without_one_kind_of_word_is_right_or_undetermined(
    explained: Explain, tap: str, kind: int
) -> None:
    def damaged(pair: Pair, hit: Crossing, fault: str) -> None:
        if fault == "word-omitted":
            omit(hit, "rx_deq", 7)
            pair.causes = LEN
        else:
            alter(hit, "rx_enq", 2 + 7, 1 << 9)
            pair.causes = PAY

    for fault in ("word-omitted", "payload-bit-flip"):
        pair, hit = busy()
        damaged(pair, hit, fault)
        switch_off(pair, "A" if tap.startswith("tx") else "B", tap, kind)
        finding = only(explained(pair).findings)
        assert finding.diagnosis in (fault, "undetermined")
        if finding.diagnosis == fault:
            assert finding.packet == hit.seq
            assert finding.word in (7, None)
        else:
            assert fault in finding.candidates


def test_a_tap_whose_kinds_were_not_read_counts_as_not_recorded(explained: Explain) -> None:
    pair, hit = busy(causes=LEN)
    omit(hit, "tx_deq", 7)
    pair.unread.add(("A", "ctl.kinds", 1))
    result = explained(pair)
    finding = only(result.findings)
    assert said(finding)[0] in ("word-omitted", "undetermined")
    assert finding.word is None
    assert any("A.tx_deq: its register ctl.kinds was not read" in note for note in result.notes)


@pytest.mark.parametrize("kind", [CREDIT, PRESSURE, STATE], ids=["CREDIT", "PRESSURE", "STATE"])
@pytest.mark.parametrize("device", ["A", "B"])
def test_a_log_without_flow_control_names_no_lost_credit(
    explained: Explain, device: str, kind: int
) -> None:
    pair = waiting(25, 9)
    names = {CREDIT: "CREDIT", PRESSURE: "PRESSURE", STATE: "STATE"}
    pair.events[device] = [e for e in pair.events[device] if e.kind != names[kind]]
    pair.set(device, "ctl.kinds", 4, value=ALL & ~(1 << kind))
    result = explained(pair)
    finding = only(result.findings)
    assert finding.diagnosis == "undetermined"
    assert {"credit-lost", "none"} <= set(finding.candidates)
    assert any(f"{device}.event_log" in note and names[kind] in note for note in result.notes)


@pytest.mark.parametrize("device", ["A", "B"])
def test_credits_that_no_log_was_to_hold_are_not_lost(explained: Explain, device: str) -> None:
    pair = Pair(post_ps=400_000_000)
    pair.traffic(10, flow=2)
    for n in range(10):
        pair.credit(60_000_000 + n * 1_000_000, 64 * (n + 1), flow=2)
    pair.events[device] = [e for e in pair.events[device] if e.kind != "CREDIT"]
    pair.set(device, "ctl.kinds", 4, value=ALL & ~(1 << CREDIT))
    pair.account("A", 2, sent=640, credited=640, limit=1024, received=640, freed=640, reported=640)
    assert explained(pair).findings == []


# -- on the emulated pair: registers written before the traffic, then pulled ----------------------


def emulated(
    path: Path, writes: dict[int, int], fault: str = "none", seed: int = 2
) -> tuple[Explanation, list[dict[str, object]]]:
    truth = path / "truth.json"
    target = EmulatorTarget(profile="forth", fault=fault, seed=seed, truth_path=truth)
    for address, value in writes.items():
        target.write(address, [value])
    target.run_until_frozen(300_000_000 if fault == "none" else 20_000_000_000)
    pull(target, path / "run.ff", freeze=True)
    injected = json.loads(truth.read_text())["injections"] if truth.exists() else []
    return explain(CaptureFolder.open(path / "run.ff")), injected


def kinds(device: int, memory: int, *off: int) -> dict[int, int]:
    return {device + offset("ctl.kinds", memory): ALL & ~sum(1 << kind for kind in off)}


CLEAN = {
    "log without CREDIT": kinds(0, 4, CREDIT),
    "log without PRESSURE": kinds(DEVICE_B, 4, PRESSURE),
    "log without STATE": kinds(0, 4, STATE),
    "empty log": kinds(0, 4, *range(16)),
    "tx_deq without BODY": kinds(0, 1, BODY),
    "tx_deq without TAIL": kinds(0, 1, TAIL),
    "rx_enq of HEAD alone": kinds(0, 2, BODY, TAIL) | kinds(DEVICE_B, 2, BODY, TAIL),
    "rx_deq without HEAD": kinds(DEVICE_B, 3, HEAD),
}


@pytest.mark.parametrize(("number", "what"), [*enumerate(CLEAN)], ids=CLEAN)
def test_a_clean_run_with_kinds_switched_off_has_no_finding(
    tmp_path: Path, number: int, what: str
) -> None:
    assert emulated(tmp_path, CLEAN[what], seed=2 + number % 2)[0].findings == []


@pytest.mark.parametrize(("device", "post"), [(0, 0), (DEVICE_B, 0), (0, 1), (DEVICE_B, 90)])
@pytest.mark.parametrize("memory", range(5), ids=[*TAPS, "event_log"])
def test_packets_and_credits_that_a_post_count_cut_off_are_no_fault(
    tmp_path: Path, memory: int, device: int, post: int
) -> None:
    writes = {device + offset("ctl.post", memory): post}
    assert emulated(tmp_path, writes)[0].findings == []


FAULTY = {
    "credit-lost": kinds(DEVICE_B, 4, CREDIT),
    "wrap-unhandled": kinds(0, 4, PRESSURE),
    "word-omitted": kinds(0, 1, TAIL),
    "word-duplicated": kinds(DEVICE_B, 2, BODY),
    "payload-bit-flip": kinds(0, 1, BODY),
    "header-corrupted": kinds(0, 1, HEAD),
}


@pytest.mark.parametrize("fault", FAULTY)
def test_a_fault_with_kinds_switched_off_is_right_or_undetermined(
    tmp_path: Path, fault: str
) -> None:
    explanation, injected = emulated(tmp_path, FAULTY[fault], fault, seed=4)
    finding = explanation.findings[0]
    assert finding.diagnosis in (fault, "undetermined")
    if finding.diagnosis == fault:
        assert finding.packet in (None, injected[-1]["packet"])
        assert finding.word in (None, injected[-1]["word"])
    else:
        assert fault in finding.candidates
