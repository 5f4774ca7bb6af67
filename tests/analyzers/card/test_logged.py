"""What a card logged up to its cause, in words beside the findings."""

from __future__ import annotations

from dataclasses import replace

from freezeframe.analyzers.card.explain import explain_card
from tests.decoders.tap.test_event_log import LOG, recording


def test_machines_events_and_what_was_lost_are_told_up_to_the_cause() -> None:
    found = explain_card(recording(LOG))
    assert found.logged == [
        "fsm in 3, since 70 ns before the cause, from run",
        "alarm 0x5a, 120 ns before the cause",
        "alarm 0x7, 90 ns before the cause",
        "alarm: 3 came too fast to be recorded",
    ]


def test_what_comes_after_the_cause_is_not_told_and_a_machine_stood_where_its_next_record_says() -> (
    None
):
    found = explain_card(replace(recording(LOG), cause_cycle=104))
    assert found.logged[:2] == [
        "fsm in idle, since before the log begins",
        "alarm 0x5a, 10 ns before the cause",
    ]


def test_a_machine_without_a_record_is_not_guessed() -> None:
    only = "\n".join(line for line in LOG.strip().splitlines() if "fsm" not in line)
    assert explain_card(recording(only)).logged[0] == "fsm: its state is not in the log"


def test_a_card_without_a_log_says_nothing_of_one() -> None:
    assert explain_card(replace(recording(LOG), log=None)).logged == []
