"""States, transactions and ways of a card file: a name that is not there is one line with the nearest right one."""

from __future__ import annotations

import pytest

from freezeframe.capture.card.elaborated import elaborate
from freezeframe.capture.card.reading import parse_card
from freezeframe.capture.card.sequences import events_of
from freezeframe.capture.card.shipped import shipped_cards
from freezeframe.capture.card.toml_text import CardError

GOOD = """\
schema = 1
[card]
name = "t"
[clock.bus]
hz = 100_000_000
registers = true
[format.f]
is = "fields"
[format.f.field]
id = { at_bit = 0, bits = 6 }
kind = { at_bit = 8, bits = 8, names = { ask = 1, answer = 2 } }
status = { at_bit = 16, bits = 8, names = { fine = 0 } }
[tap.a]
kind = "axi-stream"
clock = "bus"
format = "f"
[tap.b]
kind = "axi-stream"
clock = "bus"
format = "f"
[event.begun]
wire = "begun"
value = "begun_id"
bits = 6
[event.over]
wire = "over"
value = "over_id"
bits = 6
[event.bare]
wire = "bare"
[states.m]
wire = "m"
names = ["idle", "busy"]
[states.m.after]
busy = ["idle"]
[transactions.t]
out = "a"
in = "b"
id = "id"
ids = 64
kind = "kind"
requests = ["ask"]
answers = ["answer"]
status = "status"
good = ["fine"]
taken = "begun"
returned = "over"
[load.l]
came = "begun"
delivered = "over"
dropped = "begun"
wasted = "over"
[way.w]
[[way.w.phase]]
name = "all"
begin = "begun"
end = "over"
"""


def test_a_file_that_names_what_is_there_is_a_card() -> None:
    said = elaborate(parse_card(GOOD)).said
    assert said.transactions["t"].in_ == "b"
    assert events_of(said.way["w"]) == ("begun", "over")


FAR = (
    GOOD
    + """
[path.p]
taps = ["a"]
far_end = "other:in"
[[path.p.stretch]]
reorders = true
[counter.sent]
wire = "sent"
[law.between]
scope = "link"
plus = ["sent"]
minus = ["peer.sent"]
"""
)


def test_what_the_card_at_a_far_end_logs_and_counts_is_named_with_peer_before_it() -> None:
    card = parse_card(FAR.replace('end = "over"', 'end = "peer.over"'))
    assert (card.way["w"].phase[0].end, card.path["p"].stretch[0].reorders) == ("peer.over", True)


@pytest.mark.parametrize(
    ("line", "wrong", "says"),
    [
        ('out = "a"', 'out = "aa"', "transactions t: out: there is no tap 'aa'; did you mean a?"),
        ('id = "id"', 'id = "ids"', "transactions t: id: there is no field 'ids'; did you mean id?"),
        ("ids = 64", "ids = 65", "transactions t: 65 IDs; field id of 6 bits holds 64"),
        ('requests = ["ask"]', 'requests = ["asks"]',
         "transactions t: requests: there is no name of field kind 'asks'; did you mean ask?"),
        ('good = ["fine"]', "", "transactions t: status and good belong together"),
        ('returned = "over"', "", "transactions t: taken and returned belong together"),
        ('taken = "begun"', 'taken = "begin"', "transactions t: taken: there is no event 'begin'; did you mean begun?"),
        ('status = "status"', 'status = "status"\napart = { queue = ["x"] }',
         "transactions t: apart: there is no field 'queue'; there is id, kind, status"),
        ('taken = "begun"', 'taken = "bare"', "transactions t: event bare is logged without a value, so without an ID"),
        ('busy = ["idle"]', 'busy = ["idel"]', "states m: after: there is no state 'idel'; did you mean idle?"),
        ('came = "begun"', 'came = "begin"', "load l: came: there is no event 'begin'; did you mean begun?"),
        ('came = "begun"', 'came = "bare"', "load l: came: event bare is logged without a value"),
        ('wasted = "over"', 'wasted = "over"\nhandler = "bear"',
         "load l: handler: there is no event 'bear'; did you mean bare?"),
        ('bits = 6\n[event.over]', 'bits = 6\nclock = "other"\n[clock.other]\nhz = 1_000_000\n[event.over]',
         "load l: its events are of several clocks; they are logged together"),
        ('end = "over"', 'end = "bare"',
         "way w: event bare is logged without a value, by which its message would be known"),
        ('end = "over"', 'end = "ever"', "way w: phase all: there is no event 'ever'; did you mean over?"),
        ('end = "over"', 'end = "begun"',
         "way w: phase all ends with begun, before it begins; give the phases in the order in which they are met"),
        ('is = "fields"\n[format.f.field]', 'is = "raw"\n[format.g]\nis = "fields"\n[format.g.field]',
         'transactions t: taps a and b need a format with is = "fields"'),
        ('end = "over"', 'end = "peer.ever"',
         "way w: phase all: there is no event 'peer.ever'; did you mean peer.over?"),
        ('far_end = "other:in"', "", 'law between: scope = "link" needs a path with a far_end'),
        ('far_end = "other:in"', "", "path p: one tap alone; a path has two, or a far_end"),
        ('far_end = "other:in"', "", "path p: 1 stretches between 1 taps; 0 or none"),
        ('minus = ["peer.sent"]', 'minus = ["peer.send"]',
         "law between: there is no counter or register of the bank 'peer.send'; did you mean peer.sent?"),
        ('scope = "link"', "",
         "law between: there is no counter or register of the bank 'peer.sent'; did you mean sent?"),
        ('scope = "link"', 'scope = "flow"',
         'law between: modulus, needs and every scope but "link" belong to map = 1'),
        ("reorders = true\n", "reorders = true\n[[path.p.stretch]]\n",
         "path p: 2 stretches between 1 taps; 0, 1 with the way to its far_end, or none"),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_told_in_one_line(line: str, wrong: str, says: str) -> None:
    assert line in FAR
    with pytest.raises(CardError) as refused:
        parse_card(FAR.replace(line, wrong))
    lines = str(refused.value).splitlines()
    assert any(one.partition(": ")[2].endswith(says) for one in lines), lines


def test_a_text_without_these_tables_is_the_text_of_before() -> None:
    """A card that does not use them keeps its hash: devices that were built know it."""
    text = elaborate(parse_card(shipped_cards()["liteeth"].read_text())).text
    assert not any(word in text for word in ("transactions", '"way"', '"after"'))
