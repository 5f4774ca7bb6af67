"""One elaboration gives every number: the same for the same card, in the order of the file."""

from __future__ import annotations

import hashlib

from msgspec import NODEFAULT, json, to_builtins

from freezeframe.capture.card import tables
from freezeframe.capture.card.canonical import defaults_of
from freezeframe.capture.card.elaborated import elaborate
from freezeframe.capture.card.reading import parse_card
from tests.capture.card.test_reading import MAC

WIDE = """\
schema = 1
[card]
name = "wide"
[clock.rx]
hz = 322_265_625
[clock.bus]
hz = 100_000_000
registers = true
[format.eth]
is = "ethernet"
[tap.in]
kind = "axi-stream"
clock = "rx"
bits = 512
keep = "tail"
format = "eth"
recorder = "fast"
[tap.slow]
kind = "axi-stream"
clock = "rx"
bits = 8
[tap.out]
kind = "axi-stream"
clock = "bus"
bits = 64
format = "eth"
[path.rx]
taps = ["in", "slow", "out"]
[counter.in_packets]
counts = "packets"
tap = "in"
[counter.slow_packets]
counts = "packets"
tap = "slow"
[law.own]
plus = ["in_packets"]
most = 5
"""


def test_clocks_memories_and_causes_are_numbered_the_bus_clock_first() -> None:
    card = elaborate(parse_card(WIDE))
    assert [(clock.number, clock.name) for clock in card.clocks] == [(0, "bus"), (1, "rx")]
    assert [(tap.name, tap.lanes) for tap in card.taps] == [
        ("in", range(8)),
        ("slow", range(8, 9)),
        ("out", range(9, 10)),
    ]
    assert [tap.latency_cycles for tap in card.taps] == [2, 1, 1]
    assert (card.memories, card.memory_bits) == (10, 10 * 2048 * 72)
    assert [(cause.bit, cause.name) for cause in elaborate(parse_card(MAC)).causes] == [
        (0, "host"),
        (1, "trigger"),
        (2, "peer"),
        (3, "bad_fcs"),
    ]


def test_a_stretch_without_a_word_is_identity_and_gives_laws_where_both_ends_are_counted() -> None:
    card = elaborate(parse_card(WIDE))
    assert [(s.path, s.first.name, s.second.name, s.text) for s in card.stretches] == [
        ("rx", "in", "slow", "512 to 8 bits"),
        ("rx", "slow", "out", "8 to 64 bits"),
    ]
    assert all(stretch.identity for stretch in card.stretches)
    derived, own = card.laws
    assert (derived.name, derived.plus, derived.minus) == (
        "rx.in-slow.packets",
        ("in_packets",),
        ("slow_packets",),
    )
    assert (own.name, own.most, own.derived) == ("own", 5, False)
    (stretch,) = elaborate(parse_card(MAC)).stretches
    assert not stretch.identity
    assert stretch.text == "drops whole packets, counted by rx_dropped"


def test_the_hash_is_that_of_what_is_said_and_not_of_how_it_is_written() -> None:
    spaced = MAC.replace("[card]", "\n# a comment\n[card]").replace("100_000_000", "100000000")
    assert elaborate(parse_card(spaced)).hash == elaborate(parse_card(MAC)).hash
    written_out = MAC.replace('version = "1.0"', 'version = "1.0"\nrom = true')
    assert elaborate(parse_card(written_out)).hash == elaborate(parse_card(MAC)).hash
    other = MAC.replace("156_250_000", "156_250_001")
    assert elaborate(parse_card(other)).hash != elaborate(parse_card(MAC)).hash


def test_the_text_that_is_hashed_has_what_the_file_says_and_no_key_at_its_default() -> None:
    text = (
        '{"schema":1,"card":{"name":"wide"},"clock":{"rx":{"hz":322265625},"bus":{"hz":100000000,"registers":true}},'
        '"tap":{"a":{"kind":"axi-stream","clock":"rx","format":"eth","store":{"first_bytes":64}},'
        '"b":{"kind":"axi-stream","clock":"rx","format":"eth"}},"format":{"eth":{"is":"ethernet"}},'
        '"path":{"p":{"taps":["a","b"],"stretch":[{}]}},"law":{"l":{"plus":["c"],"most":""}},"counter":{"c":{"wire":"c"}}}'
    )
    said = """\
schema = 1
card = { name = "wide", version = "0.1", map = 2 }
[clock]
rx = { hz = 322_265_625, ppm = 100 }
bus = { hz = 100_000_000, registers = true }
[tap.a]
kind = "axi-stream"
clock = "rx"
format = "eth"
store = { first_bytes = 64 }
[tap.b]
kind = "axi-stream"
clock = "rx"
format = "eth"
bits = 64
[format.eth]
is = "ethernet"
[path.p]
taps = ["a", "b"]
[[path.p.stretch]]
reorders = false
[law.l]
plus = ["c"]
minus = []
least = 0
most = ""
[counter.c]
wire = "c"
[transport]
bus = "axi4-lite"
"""
    card = elaborate(parse_card(said))
    assert json.decode(card.text) == json.decode(text)
    assert f"{card.hash:016x}" == hashlib.sha256(card.text.encode()).hexdigest()[:16]
    assert json.decode(card.text, type=tables.CardFile) == card.said


# A default that changes would give every card that leaves the key out another meaning under the same hash: it takes
# a new schema. A new key is added here with its default.
DEFAULTS = """\
Header: version="0.1" doc="" rom=true map=2 map_hash=0
Clock: ppm=100 registers=false doc=""
FormatField: order="big" constant=null names={} doc=""
CrcCheck: first=0 end=null crc="" width=0 poly=0 init=0 xorout=0 refin=false refout=false order="big"
Format: fcs="present" preamble=false shortest_B=0 longest_B=0 length="" length_plus_B=0 field={} check={} doc=""
User: bad_frame=null
Tap: bits=64 keep="none" user=null ready=false interleaved=false time="exact" recorder="plain" format="" depth=2048
Tap: store="all" doc=""
Drops: counter="" whole=true
Stretch: drops=null fcs="kept" rewrites=[] reorders=false forwarding="cut-through" capacity_words=0 level="" capacity=""
Path: stretch=[] far_end="" doc=""
Identity: by="content" fields=[]
Cause: check="" tap="" cycles=0 field="" wire="" clock="" means="" enabled=true doc=""
Counter: counts="" tap="" wire="" clock="" means="" unit="" bits=32 doc=""
Bank: bits=32 clock="" unit="" doc=""
Event: wire="" value="" bits=32 clock="" doc=""
States: wire="" clock="" doc=""
Trigger: terms=1 steps=0 count_bits=16 timer_bits=24 pin=false
FlowControl: scheme="none" unit_words=1 flows=1 fifo_words=0
Law: minus=[] least=0 most=0 title="" scope="device" modulus="" needs=[] doc=""
Transport: bus="axi4-lite" base=0
CardFile: tap={} format={} path={} cause={} counter={} bank={} event={} states={} histogram={} law={}
"""


def test_what_a_key_is_where_the_file_does_not_say_it_never_changes() -> None:
    for line in DEFAULTS.splitlines():
        table, _, keys = line.partition(": ")
        found = {
            name: json.encode(to_builtins(default)).decode()
            for _, name, default in defaults_of(getattr(tables, table))
            if default is not NODEFAULT
        }
        assert dict(key.split("=", 1) for key in keys.split(" ")).items() <= found.items(), table
