"""IDs followed through two taps and a log, written by hand: each wrong order of things by its name."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from freezeframe.analyzers.card.explain import explain_card
from freezeframe.analyzers.card.transactions import run, tracked
from freezeframe.analyzers.card.view import CardView
from freezeframe.capture.card.elaborated import elaborate
from freezeframe.capture.card.reading import parse_card
from freezeframe.capture.card.recording import CardRecording, Feature, RecordedClock, RecordedTap
from freezeframe.decoders.tap.event_log import LogKind
from freezeframe.emulator.card_memory import LogMemory, TapMemory

CARD = """\
schema = 1
[card]
name = "t"
[clock.bus]
hz = 100_000_000
registers = true
[format.f]
is = "fields"
[format.f.field]
id = { at_bit = 0, bits = 8 }
kind = { at_bit = 8, bits = 8, names = { ask = 1, answer = 2, post = 3 } }
status = { at_bit = 16, bits = 8, names = { fine = 0, bad = 1 } }
aside = { at_bit = 24, bits = 8, names = { no = 0, yes = 1 } }
[tap.out]
kind = "axi-stream"
clock = "bus"
format = "f"
[tap.back]
kind = "axi-stream"
clock = "bus"
format = "f"
[event.taken]
wire = "taken"
value = "taken_id"
bits = 8
[event.returned]
wire = "returned"
value = "returned_id"
bits = 8
[event.late]
wire = "late"
value = "late_id"
bits = 8
[event.no_room]
wire = "no_room"
value = "no_room_id"
bits = 8
[states.m]
wire = "m"
names = ["idle", "busy", "done"]
[states.m.after]
done = ["busy"]
[transactions.t]
out = "out"
in = "back"
id = "id"
ids = 256
kind = "kind"
requests = ["ask"]
posted = ["post"]
answers = ["answer"]
status = "status"
good = ["fine"]
apart = { aside = ["yes"] }
taken = "taken"
returned = "returned"
timed_out = "late"
busy = "no_room"
"""
EVENTS = ("taken", "returned", "late", "no_room")
KINDS = {"ask": 1, "answer": 2, "post": 3}
HEALTHY = "10 taken 5|20 out ask 5|50 back answer 5|52 returned 5"


def recording(story: str) -> CardRecording:
    """Return what is recorded of lines ``CYCLE taken ID``, ``CYCLE out KIND ID [bad] [aside]``, ``CYCLE m WAS NOW``."""
    card = elaborate(parse_card(CARD))
    taps = {tap.name: TapMemory(tap) for tap in card.taps}
    assert card.log is not None
    log = LogMemory(card.log)
    for line in story.split("|"):
        at, what, *rest = line.split()
        if what in taps:
            word = bytes([int(rest[1]), KINDS[rest[0]], "bad" in rest, "aside" in rest, *range(12)])
            taps[what].packet(int(at), word)
        elif what == "m":
            log.entry(int(at), len(EVENTS), LogKind.STATE, int(rest[1]) | int(rest[0]) << 8, 9000)
        else:
            log.entry(int(at), EVENTS.index(what), LogKind.EVENT, int(rest[0]), 9000)
    return CardRecording(
        card,
        {name: memory.close(9000, 1, 5) for name, memory in taps.items()},
        [RecordedClock(clock, clock.said.hz) for clock in card.clocks],
        Feature.EVENT_LOG,
        causes=1,
        cause_cycle=8990,
        log=log.close(9000, 1, 5),
    )


def names(story: str) -> list[str]:
    return [finding.diagnosis for finding in explain_card(recording(story)).findings]


def test_a_request_with_its_answer_is_one_exchange_with_all_of_its_times() -> None:
    (found,) = tracked(CardView.of(recording(HEALTHY)))
    (use,) = found.exchanges
    assert (use.id, use.kind, use.outcome, use.status) == (5, "ask", "answered", "fine")
    assert [t // 10_000 for t in (use.taken_ps, use.out_ps, use.answer_ps, use.returned_ps)] == [
        10,
        20,
        50,
        52,
    ]
    assert (found.most_out, found.claims) == (1, [])


@pytest.mark.parametrize(
    ("story", "name"),
    [
        ("10 taken 5|20 out ask 5|900 late 5|901 returned 5", "answer-missing"),
        ("10 taken 5|20 out ask 5|50 back answer 5|900 late 5|901 returned 5", "answer-not-taken"),
        ("10 taken 5|20 out ask 5|30 no_room 5|60 no_room 5|900 late 5|901 returned 5", "receiver-without-room"),
        ("10 taken 5|12 taken 6|20 out ask 5|25 out ask 6|50 back answer 5|52 returned 6|90 back answer 6",
         "answer-confused"),
        ("10 taken 5|20 out ask 5|60 returned 5", "id-returned-early"),
        (HEALTHY + "|60 returned 5", "id-returned-twice"),
        ("10 taken 5|20 out ask 5|30 taken 5", "id-taken-twice"),
        (HEALTHY + "|60 back answer 5", "answer-unexpected"),
        ("10 taken 5|20 out ask 5|50 back answer 5 bad|52 returned 5", "access-refused"),
        ("10 m 0 1|20 m 1 0|30 m 0 2", "state-out-of-order"),
    ],
)  # fmt: skip
def test_a_wrong_order_of_things_has_its_name(story: str, name: str) -> None:
    assert names(story) == [name]


@pytest.mark.parametrize(
    "story",
    [
        HEALTHY,
        HEALTHY + "|60 taken 5|70 out ask 5|80 back answer 5|82 returned 5",
        "10 taken 5|20 out post 5|22 returned 5|30 taken 5|40 out post 5|42 returned 5",
        "10 taken 5|20 out ask 5",  # still open when the memories close
        "50 back answer 5|52 returned 5",  # asked before they begin
        "52 returned 5|60 taken 5",
        "10 taken 5|20 out ask 5|30 out post 5 aside|31 back answer 5 aside|50 back answer 5|52 returned 5",
        "10 taken 5|20 out ask 5|30 no_room 5|50 back answer 5|52 returned 5",
        "10 m 0 1|20 m 1 2|30 m 2 0",
    ],
)  # fmt: skip
def test_what_is_right_or_cut_by_the_memories_has_no_finding(story: str) -> None:
    assert names(story) == []


def test_the_confused_ids_are_both_named_and_the_rows_shown() -> None:
    story = "10 taken 5|12 taken 6|20 out ask 5|25 out ask 6|50 back answer 5|52 returned 6"
    (finding,) = explain_card(recording(story)).findings
    assert finding.text.startswith(
        "The answer for ID 5 closed the transaction of ID 6: it came 20 ns before ID 6"
    )
    assert [row.label for row in finding.evidence[0].rows] == [
        "answer with ID 5",
        "ask with ID 6",
        "returned",
    ]
    assert finding.t_ps == 520_000


def test_the_analysis_counts_and_times_them() -> None:
    result = run(CardView.of(recording(HEALTHY + "|60 taken 7|61 out ask 7|70 no_room 7")))
    values = {figure.name: figure.value for figure in result.figures}
    assert (values["A.t.answered"], values["A.t.open"], values["A.t.most-out"]) == (1, 1, 1)
    assert (values["A.t.no-room"], values["A.t.answer.max"]) == (1, 300_000)
    assert list(result.tables["exchanges"]["outcome"]) == ["answered", "open"]


def test_a_card_without_transactions_says_what_it_lacks() -> None:
    bare = CARD[: CARD.index("[transactions.t]")]
    card = elaborate(parse_card(bare))
    made = CardRecording(card, {}, [RecordedClock(c, c.said.hz) for c in card.clocks], Feature(0))
    assert run(CardView.of(made)).notes == (
        "A: could not be asked: needs [transactions] in the card file",
    )


@pytest.mark.parametrize("seed", range(25))
def test_memories_of_any_content_are_explained_without_an_error(seed: int) -> None:
    chance = random.Random(seed)
    made = recording(
        HEALTHY + "|60 taken 7|61 out ask 7|70 no_room 7|80 back answer 7 bad|90 m 0 1|95 late 7"
    )
    taps = {name: _damaged(tap, chance) for name, tap in made.taps.items()}
    assert made.log is not None
    broken = replace(made, taps=taps, log=_damaged(made.log, chance))
    for finding in explain_card(broken).findings:
        assert finding.evidence
    run(CardView.of(broken))


def _damaged(tap: RecordedTap, chance: random.Random) -> RecordedTap:
    """Return a memory of which some bytes are others, and the pointer may be anywhere."""
    lanes = tuple(lane.copy() for lane in tap.lanes)
    for lane in lanes:
        for _ in range(chance.randrange(40)):
            lane[chance.randrange(16), chance.randrange(9)] = chance.randrange(256)
    return replace(tap, lanes=lanes, write_ptr=chance.randrange(20), wrapped=chance.random() < 0.3)
