"""What must add up in a card, as data: the one table that the live dashboard and `freezeframe check` read.

A law is a sum of terms that lies within bounds. Terms are written with a dot, by where they stand:

=================  ============================================================================================
``counter.X``      counter X, of the freeze bank or of a live snapshot
``frozen.X``       register X of the freeze bank
``parameter.X``    parameter X of the card (``tx_fifo``, ``rx_fifo``), from its identity
``flow.X``         X of one flow's credit state; a law with such a term holds for every flow
``flows.X``        the sum of X over all flows; ``flows.waiting`` of received - freed
``memory.X``       X (offered, stored, lost) of one memory; such a law holds for every memory of its scope
``recorded.X``     what the trace of that memory holds: words, events, records, packets, header_bad
``histogram.X``    the sum of the bins: lengths, occupancy
``sampler.X``      out, in: the newest sample; taken: their number; age: link cycles from it to the freeze
``slack.X``        by how many words X may be late (a level crosses clock domains); 0 where nothing moved
``way.X``          at most so many words or credits can be on the way between the two cards at their freezes
``peer.``          before any of these: of the card at the other end
=================  ============================================================================================

Counts of the two clock domains are those of one moment in a freeze bank; a FIFO's level is what the bus domain saw of
it, a few words late while they move. In a live snapshot the counts, too, stand a few cycles apart; `laws` gives the
slack for that, and bounds for the terms that no snapshot holds.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Scope = Literal["device", "flow", "tap", "event-log", "link", "link-flow"]


@dataclass(frozen=True, slots=True)
class CardLaw:
    """``least <= balance <= most``.

    Attributes:
        name: short, stable, for programs.
        text: the law in a sentence.
        scope: what it holds for: each ``device``, each ``flow`` of it, each ``tap`` memory, the ``event-log``, each
            direction of a ``link`` (the device is the sender) and each flow of it.
        balance: terms with ``+`` and ``-`` between them.
        least, most: a number, a term, either with ``-`` before it, or empty where there is no such bound.
        modulus: ``word``: counts wrap at 2^32; ``credit``: at the width of the credit counters; empty: never.
        needs: ``first-up`` (counters run since power-up; FIFOs and flows begin again when a held card is armed again or
            its link is looped back), ``first-arm`` (memories, too, begin again at an arm), ``all-kinds`` (the tap
            recorded every word), ``unwrapped`` (the memory still holds everything since arm).
    """

    name: str
    text: str
    scope: Scope
    balance: str
    least: str = "0"
    most: str = "0"
    modulus: Literal["", "word", "credit"] = ""
    needs: tuple[Literal["first-up", "first-arm", "all-kinds", "unwrapped"], ...] = ()


# A card goes on for a few cycles between the copy of its counters and its hold, so its peer may have got
# that many words more than the copy says.
_HOLD = "-16"

CARD_LAWS: tuple[CardLaw, ...] = (
    CardLaw(
        "outgoing FIFO, words", "What went into the outgoing FIFO came out or is still in it.", "device",
        "counter.tx_enq_words - counter.tx_deq_words - frozen.tx_level", "-slack.tx_level", needs=("first-up",),
    ),
    CardLaw(
        "incoming FIFO, words", "What went into the incoming FIFO came out or is still in it.", "device",
        "counter.rx_enq_words - counter.rx_deq_words - frozen.rx_level", "0", "slack.rx_level", needs=("first-up",),
    ),
    CardLaw(
        "outgoing FIFO, packets", "Packets that went in came out, or their words are still there.", "device",
        "counter.tx_enq_packets - counter.tx_deq_packets", "0", "frozen.tx_level", needs=("first-up",),
    ),
    CardLaw(
        "incoming FIFO, packets", "Packets that went in came out, or their words are still there.", "device",
        "counter.rx_enq_packets - counter.rx_deq_packets", "0", "frozen.rx_level", needs=("first-up",),
    ),
    CardLaw(
        "words sent, by flow", "The flows together sent what left the outgoing FIFO.", "device",
        "counter.tx_deq_words - flows.words_sent", modulus="word", needs=("first-up",),
    ),
    CardLaw(
        "words received, by flow", "The flows together received what went into the incoming FIFO.", "device",
        "counter.rx_enq_words - flows.words_received", modulus="word", needs=("first-up",),
    ),
    CardLaw(
        "words waiting, by flow", "What the flows received and did not free is in the incoming FIFO.", "device",
        "frozen.rx_level - flows.waiting", "-8",
    ),
    CardLaw(
        "packets received", "A packet that left the incoming FIFO was delivered or dropped.", "device",
        "counter.rx_deq_packets - counter.drops - histogram.lengths", "0", "1",
    ),
    CardLaw(
        "descriptors", "A descriptor that is not waiting was sent, or is the one being worked on.", "device",
        "counter.descriptors - frozen.descriptors_waiting - counter.tx_enq_packets", "", "1", needs=("first-up",),
    ),
    CardLaw(
        "bus cycles", "A data cycle is a bus cycle.", "device",
        "counter.bus_cycles - counter.bus_data_cycles", "0", "",
    ),
    CardLaw(
        "refused credits", "A credit with a parity error is refused.", "device",
        "counter.credits_refused - counter.parity_errors", "0", "",
    ),
    CardLaw(
        "sampler, words out", "The newest sample is the counter a little earlier.", "device",
        "counter.tx_deq_words - sampler.out", "0", "sampler.age", modulus="word",
    ),
    CardLaw(
        "sampler, words in", "The newest sample is the counter a little earlier.", "device",
        "counter.rx_enq_words - sampler.in", "0", "sampler.age", modulus="word",
    ),
    CardLaw(
        "samples", "Every sample is in the histogram of the FIFO's level.", "device",
        "histogram.occupancy - sampler.taken", needs=("first-arm",),
    ),
    CardLaw(
        "words sent, two counts", "A flow's two counts of sent words are one.", "flow",
        "flow.words_sent - flow.sent", modulus="credit",
    ),
    CardLaw(
        "words received, two counts", "A flow's two counts of received words are one.", "flow",
        "flow.words_received - flow.received", modulus="credit",
    ),
    CardLaw(
        "credit", "What a flow was granted is consumed or free: no more than its limit is sent and not credited.",
        "flow", "flow.sent - flow.credited", "0", "flow.limit", modulus="credit",
    ),
    CardLaw(
        "words waiting", "A flow frees what it received, and what it did not yet free fits the FIFO.", "flow",
        "flow.received - flow.freed", "0", "parameter.rx_fifo", modulus="credit",
    ),
    CardLaw(
        "credits due", "A flow reports what it freed, and no more.", "flow",
        "flow.freed - flow.reported", "0", "parameter.rx_fifo", modulus="credit",
    ),
    CardLaw(
        "limit", "A flow's limit fits the FIFO at the other end.", "link-flow",
        "peer.parameter.rx_fifo - flow.limit", "0", "",
    ),
    CardLaw(
        "words on the way, by flow", "What a flow sent arrived, is on the way, or was lost.", "link-flow",
        "flow.sent - peer.flow.received", _HOLD, "flow.limit", modulus="credit",
    ),
    CardLaw(
        "credits on the way, by flow", "What a flow was credited, its receiver had reported.", "link-flow",
        "peer.flow.reported - flow.credited", "0", "peer.parameter.rx_fifo", modulus="credit",
    ),
    CardLaw(
        "words on the way", "What was sent arrived, was counted as lost at a full FIFO, or is on the way.", "link",
        "counter.tx_deq_words - peer.counter.rx_enq_words - peer.counter.rx_fifo_overflows", _HOLD, "way.words",
        needs=("first-up",),
    ),
    CardLaw(
        "credits on the way", "A credit that was sent was taken, refused, or is on the way.", "link",
        "peer.counter.credits_sent - counter.credits_taken - counter.credits_refused", "0", "way.credits",
        needs=("first-up",),
    ),
    CardLaw(
        "recorded words", "A tap that has not wrapped holds every word it was offered.", "tap",
        "memory.offered - memory.lost - recorded.words", needs=("unwrapped",),
    ),
    CardLaw(
        "stored records", "A memory that has not wrapped holds every record it stored.", "tap",
        "memory.stored - recorded.records", needs=("unwrapped",),
    ),
    CardLaw(
        "counted words", "A tap's counter counts every word its memory was offered, and goes on to the freeze.", "tap",
        "counter.TAP_words - memory.offered", "0", "", needs=("first-arm", "all-kinds"),
    ),
    CardLaw(
        "counted header errors", "Every recorded packet with a wrong header CRC was counted.", "tap",
        "counter.header_errors - recorded.header_bad", "0", "", needs=("first-arm",),
    ),
    CardLaw(
        "stored events", "An event log that has not wrapped holds every record it stored.", "event-log",
        "memory.stored - recorded.records", needs=("unwrapped",),
    ),
    CardLaw(
        "recorded events", "An event log that has not wrapped holds every event offered, but those counted lost.",
        "event-log", "memory.offered - memory.lost - recorded.events", needs=("unwrapped",),
    ),
)  # fmt: skip
"""All laws of a card. Add one here and it is checked, printed and documented."""

LIVE_BOUNDS: dict[str, tuple[str, str]] = {
    "frozen.tx_level": ("0", "parameter.tx_fifo"),
    "frozen.rx_level": ("0", "parameter.rx_fifo"),
    "slack.tx_level": ("0", "0"),
    "slack.rx_level": ("0", "0"),
}
"""Between what a term lies that a live snapshot does not hold."""


def split_terms(balance: str) -> list[tuple[int, str]]:
    """Return the terms of a balance, each with its sign, 1 or -1.

    Raises:
        ValueError: the text is not terms with ``+`` and ``-`` between them.
    """
    parts = balance.split()
    signs, terms = ["+", *parts[1::2]], parts[::2]
    if len(signs) != len(terms) or not set(signs) <= {"+", "-"} or not all("." in t for t in terms):
        raise ValueError(f"{balance!r}: terms with '+' and '-' between them were expected")
    return [(1 if sign == "+" else -1, term) for sign, term in zip(signs, terms, strict=True)]
