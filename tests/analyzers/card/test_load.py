"""Receive livelock: named where a host's interrupts account for what it no longer delivers, and nowhere else."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import pytest

from freezeframe.analyzers.card.explain import CardExplanation, explain_card
from freezeframe.analyzers.contract import Finding
from freezeframe.capture.card.elaborated import elaborate
from freezeframe.capture.card.reading import parse_card, read_card
from freezeframe.capture.card.recording import CardRecording
from freezeframe.capture.card.shipped import card_place
from freezeframe.decoders.tap.event_log import LogKind
from freezeframe.emulator.adapter.record import run_recorded
from freezeframe.emulator.card_image import empty_recording
from freezeframe.emulator.card_memory import LogMemory

CYCLES = 50_000  # of a window, a millisecond
EVENTS = (
    "came", "delivered", "ring_dropped", "queue_dropped", "interrupts", "handler_cycles", "host_cycles",
)  # fmt: skip


class Ms(NamedTuple):
    """What happens in a millisecond; the host's time in thousandths."""

    came: int
    delivered: int
    ring_dropped: int = 0
    queue_dropped: int = 0
    interrupts: int = 0
    handler: int = 0
    host: int = 0


def recorded(windows: list[Ms], text: str | None = None) -> CardRecording:
    """Write the log of a card by hand."""
    place = card_place("interrupting")
    card = elaborate(read_card(place) if text is None else parse_card(text, "own.toml"))
    assert card.log is not None
    log, sums = LogMemory(card.log), dict.fromkeys(EVENTS, 0)
    for number, window in enumerate([Ms(0, 0), *windows]):
        for name, more in zip(sums, window, strict=True):
            sums[name] += more * CYCLES // 1000 if name.endswith("cycles") else more
        for source in card.sources:
            log.entry(
                1000 + number * CYCLES, source.number, LogKind.EVENT, sums[source.name], 1 << 40
            )
    close = 2000 + len(windows) * CYCLES
    empty = empty_recording(card)
    counters = {
        "packets_come": sums["came"], "packets_delivered": sums["delivered"],
        "packets_ring_dropped": sums["ring_dropped"], "packets_queue_dropped": sums["queue_dropped"],
    }  # fmt: skip
    inside = sums["came"] - sums["delivered"] - sums["ring_dropped"] - sums["queue_dropped"]
    return CardRecording(
        card, empty.taps, empty.clocks, empty.features, causes=1, cause_cycle=close - 64,
        counters={**empty.counters, **counters}, bank={"packets_inside": inside}, log=log.close(close, 1, 64),
    )  # fmt: skip


def explained(windows: list[Ms]) -> CardExplanation:
    return explain_card(recorded(windows))


def only(explanation: CardExplanation) -> Finding:
    (finding,) = explanation.findings
    return finding


LIGHT = [Ms(30, 30, interrupts=30, handler=360, host=960)] * 20
LIVELOCK = [Ms(80, 3, queue_dropped=77, interrupts=80, handler=940, host=1000)] * 20


def test_a_host_whose_interrupts_leave_no_time_for_its_protocol_is_in_receive_livelock() -> None:
    finding = only(explained(LIGHT + LIVELOCK))
    assert finding.diagnosis == "receive-livelock"
    assert finding.text == (
        "While 80,000 packets a second came, 3,000 were delivered; while 30,000 came, 30,000 were: interrupts took 94% "
        "of the host's time, before 36%, and 385 packets were dropped after it had worked on them."
    )
    told = [each.text for each in finding.evidence]
    assert "For: 80,000 interrupts a second, before 30,000" in told
    assert "For: the host was occupied for 100.0% of the time" in told
    assert any(
        text.startswith("For: the handler left 6.0% of the host's time, before 64.0%")
        for text in told
    )
    assert told[-1] == "Confidence: not counted yet."
    assert finding.confidence is None or finding.confidence < 0.9


def test_a_host_that_is_saturated_delivers_as_much_under_any_load_and_is_none() -> None:
    full = Ms(80, 30, ring_dropped=50, interrupts=30, handler=360, host=1000)
    assert explained(LIGHT + [full] * 20).findings == []


def test_a_packet_that_was_lost_is_none() -> None:
    lost = Ms(80, 79, queue_dropped=1, interrupts=80, handler=300, host=990)
    assert explained(LIGHT + [lost] * 20).findings == []


def test_a_load_that_does_not_change_is_said_to_tell_nothing() -> None:
    found = explained(LIGHT * 2)
    assert found.findings == []
    assert (
        "receive-livelock: load receive: what came was 30,000 to 30,000 packets a second; needs a load that changes by "
        "a quarter and more" in found.not_asked
    )
    assert any(
        line.startswith("receive-livelock: load receive: needs 8 windows")
        for line in explained(LIGHT[:3]).not_asked
    )


def test_a_host_that_is_overrun_all_the_time_has_no_name_but_what_it_loses_is_said() -> None:
    """A handler of 11.75 us a packet and 20 us after it: 31,496 a second could be delivered."""
    found = explained(LIVELOCK * 2)
    finding = only(found)
    assert finding.diagnosis == "undetermined"
    assert finding.candidates == ("receive-livelock", "none-of-the-known")
    assert finding.text.startswith(
        "While 80,000 packets a second came, 3,000 were delivered: interrupts took 94% of the host's time, and 3,080 "
        "packets were dropped after it had worked on them."
    )
    told = [each.text for each in finding.evidence]
    assert (
        "For: its handler took 94.0%; in the times that it takes for a packet, about 31,496 a second could be "
        "delivered if no more came"
    ) in told
    assert (
        "Silent: the log has no lighter load; a recording of one shows whether more is delivered then"
        in told
    )
    assert not any("needs a load that changes" in line for line in found.not_asked)


@pytest.mark.parametrize(
    "healthy",
    [
        # It has time to spare, and drops before its handler; both ways of being full.
        Ms(80, 30, queue_dropped=50, interrupts=80, handler=360, host=900),
        Ms(80, 30, ring_dropped=50, interrupts=30, handler=360, host=1000),
        # A queue that overflows now and then.
        Ms(32, 30, queue_dropped=2, interrupts=32, handler=384, host=1000),
    ],
)
def test_a_host_that_is_full_and_loses_little_work_is_none_under_a_load_that_does_not_change(
    healthy: Ms,
) -> None:
    assert explained([healthy] * 40).findings == []


@pytest.mark.parametrize(
    ("heavy", "against"),
    [
        (Ms(80, 3, queue_dropped=77, interrupts=80, handler=600, host=700), "the host was occupied for 70.0%"),
        # Its handler leaves two fifths of the time, and something else takes it.
        (Ms(80, 3, queue_dropped=77, interrupts=80, handler=600, host=1000), "the handler left 40.0% of"),
        (Ms(80, 3, ring_dropped=77, interrupts=80, handler=940, host=1000), "0 packets were dropped after"),
    ],
)  # fmt: skip
def test_deliveries_that_fall_for_another_reason_are_not_named_so(heavy: Ms, against: str) -> None:
    finding = only(explained(LIGHT + [heavy] * 20))
    assert finding.diagnosis == "undetermined" and finding.candidates == ("receive-livelock",)
    assert any(each.text.startswith(f"Against: {against}") for each in finding.evidence)


def test_fewer_interrupts_that_each_take_longer_are_no_witness_against_it() -> None:
    heavy = Ms(80, 3, queue_dropped=77, interrupts=20, handler=940, host=1000)
    finding = only(explained(LIGHT + [heavy] * 20))
    assert finding.diagnosis == "receive-livelock"
    assert "Silent: 20,000 interrupts a second, before 30,000" in [e.text for e in finding.evidence]


def test_what_waits_in_a_queue_is_not_taken_for_what_is_not_delivered() -> None:
    """A burst fills a deep queue, and its packets are delivered when the burst is over."""
    burst = [Ms(80, 20, interrupts=80, handler=500, host=1000)] * 20
    later = [Ms(5, 35, interrupts=5, handler=30, host=1000)] * 20
    assert explained(burst + later).findings == []


def test_a_card_that_does_not_log_its_hosts_time_gets_no_name() -> None:
    text = card_place("interrupting").read_text(encoding="utf-8")
    for line in (
        'handler = "handler_cycles"\n',
        'occupied = "host_cycles"\n',
        'called = "interrupts"\n',
    ):
        assert text.count(line) == 1
        text = text.replace(line, "")
    finding = only(explain_card(recorded(LIGHT + LIVELOCK, text)))
    assert finding.diagnosis == "undetermined"
    assert finding.candidates == ("receive-livelock", "none-of-the-known")


def test_the_profile_without_back_off_is_named_and_the_one_with_it_never() -> None:
    for seed in range(5):
        named, _ = run_recorded("livelock", seed, "rising")
        assert only(explain_card(named)).diagnosis == "receive-livelock"
        for workload in ("rising", "as-described"):
            healthy, _ = run_recorded("livelock-backoff", seed, workload)
            assert explain_card(healthy).answer == "no fault found"


def test_a_link_that_is_saturated_before_the_host_is_no_livelock(tmp_path: Path) -> None:
    path = tmp_path / "link.toml"
    path.write_text(
        'extends = "livelock"\n[resource.link]\nservers = 1\n[stage.wire]\nuses = ["link"]\nat = "receiver"\n'
        "fixed_ns = 40_000\n"
        '[flow.packets]\nroute = ["wire", "interrupt", "stack"]\n'
        "[parameter]\nstack_us = 5\n",
        encoding="utf-8",
    )
    for seed in range(3):
        recording, outcome = run_recorded(str(path), seed, "rising")
        assert outcome.stage("wire")["most"] > 1000
        assert explain_card(recording).answer == "no fault found"
