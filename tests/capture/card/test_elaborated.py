"""One elaboration gives every number: the same for the same card, in the order of the file."""

from __future__ import annotations

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
