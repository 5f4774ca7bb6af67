"""What the general names mean in a headline, and what to do next; docs/card-analyze.md lists them."""

from __future__ import annotations

from typing import NamedTuple


class Advice(NamedTuple):
    """``title`` completes "NAME: ...", ``{place}`` in it is where; ``steps`` say what to do."""

    title: str
    steps: tuple[str, ...]


_DECODE = (
    "See the packet and its neighbours: 'freezeframe decode CAPTURE.ff', or 'freezeframe export "
    "CAPTURE.ff --to pcapng'."
)

CARD_ADVICE: dict[str, Advice] = {
    "bad-on-arrival": Advice(
        "a packet was bad when it came to {place}",
        (
            "Look before that tap: the line, the PHY or whoever sends there. What lies behind it is not to blame.",
            _DECODE,
        ),
    ),
    "runt": Advice(
        "a packet shorter than its format allows came to {place}",
        ("Look at what ends packets before that tap: collisions, an abort, a lost beat.", _DECODE),
    ),
    "giant": Advice(
        "a packet longer than its format allows came to {place}",
        (
            "Look for an end of packet that was lost before that tap; where such packets are meant, say "
            "longest_B in the card file.",
            _DECODE,
        ),
    ),
    "packet-dropped": Advice(
        "a packet went into {place} and never came out",
        (
            "Look at what decides about drops there: the FIFO's level at that time, its overflow and its counter.",
            "Compare the counters of both taps: 'freezeframe check CAPTURE.ff --all'.",
        ),
    ),
    "packet-duplicated": Advice(
        "a packet came out of {place} once more",
        (
            "Look at the read side and at what sends again there: a pointer that steps back, a retry.",
        ),
    ),
    "packets-reordered": Advice(
        "packets came out of {place} in another order",
        (
            "Look at what arbitrates there; where it may reorder, say so in the card file (reorders = true).",
        ),
    ),
    "beat-omitted": Advice(
        "a beat of a packet was lost in {place}",
        (
            "Look at the write side: write enable and almost-full in the cycle of that beat, and what holds them off.",
        ),
    ),
    "beat-duplicated": Advice(
        "a beat of a packet came twice out of {place}",
        ("Look at the read side: a read pointer that does not advance while the output is taken.",),
    ),
    "bits-altered": Advice(
        "bits of a packet changed in {place}",
        (
            "Look at the memory and the multiplexers of the lanes that changed, and at timing between clocks.",
        ),
    ),
    "bytes-rotated": Advice(
        "byte lanes are crossed in {place}",
        ("Look at the byte order of the width or lane conversion there.",),
    ),
    "packets-joined": Advice(
        "the end of a packet was lost in {place}",
        ("Look at how last is carried there; the next packet follows in the same one.",),
    ),
    "packet-cut": Advice(
        "a packet came out of {place} without its end",
        ("Look at what aborts packets there, and whether the rest was dropped.",),
    ),
    "stalled": Advice(
        "{place} stands still",
        (
            "Look at who holds it: ready of the receiver behind that tap, valid of the block before it.",
        ),
    ),
    "gap-in-packet": Advice(
        "valid fell within a packet at {place}, where the card file forbids it",
        ("Look at what feeds that stream: it must not begin a packet that it cannot finish.",),
    ),
    "law-broken": Advice(
        "the counters of {place} do not add up",
        (
            "Look at which counter of the sum misses or repeats a count: 'freezeframe check CAPTURE.ff --all'.",
        ),
    ),
    "description-does-not-fit": Advice(
        "the traffic at {place} is not what the card file says",
        (
            "Correct the card file: format, keep, user, and where FCS and preamble stand. Until then "
            "nothing else is judged.",
            _DECODE,
        ),
    ),
    "none-of-the-known": Advice(
        "something is wrong at {place} that no name accounts for",
        ("Compare what stands at the taps around it.", _DECODE),
    ),
}
