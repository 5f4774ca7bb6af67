"""The witnesses of a capture, and the values that each can have: all that a fault file may ask for.

A witness that could not have seen a claim has no value: it is silent, with the reason.
"""

from __future__ import annotations

from dataclasses import dataclass

from freezeframe.analyzers.contract import Row


@dataclass(frozen=True, slots=True)
class Reading:
    """What a witness said: ``value`` is empty where it is silent; ``text`` says what was seen, or why nothing was."""

    value: str
    text: str
    rows: tuple[Row, ...] = ()


def silent(why: str) -> Reading:
    """Return that of a witness that could not have seen it."""
    return Reading("", why)


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """A witness: what it is, and its values with what each means."""

    doc: str
    values: dict[str, str]


_CHECK = {"good": "every check that can be made passes", "bad": "a check fails"}
_LENGTH = {"right": "as its header says", "short": "less than that", "long": "more than that"}
_STANDS = {"as-before": "as before the stretch", "as-after": "as behind it", "otherwise": "neither"}

WITNESSES: dict[str, Vocabulary] = {
    "words": Vocabulary(
        "the words of the packet at the two taps of the stretch, side by side",
        {
            "equal": "no difference",
            "omitted": "one word less behind it",
            "duplicated": "one word twice behind it",
            "altered": "as many words, some of them others",
            "moved": "several words more, less or elsewhere",
        },
    ),
    "crc_before": Vocabulary("the packet's CRCs at the first tap of the stretch", _CHECK),
    "crc_at": Vocabulary("the packet's CRCs at its second tap, or at the one tap", _CHECK),
    "length_before": Vocabulary("the packet's length at the first tap of the stretch", _LENGTH),
    "length_at": Vocabulary("the packet's length at its second tap, or at the one tap", _LENGTH),
    "tap_before": Vocabulary("the packet at the tap before the stretch", _STANDS),
    "tap_after": Vocabulary("the packet at the tap behind the stretch", _STANDS),
    "packet_after": Vocabulary(
        "how often the taps behind the place have the packet, by its number",
        {"gone": "none has it", "once": "one time", "twice": "two times or more"},
    ),
    "checker": Vocabulary(
        "the receiver's own counters of packets that fail its checks",
        {"counted": "it counted one", "not-counted": "they are 0"},
    ),
    "cause": Vocabulary(
        "what froze the receiver, where its checks may freeze it",
        {
            "raised": "a check did",
            "not-raised": "none did, though the packet had passed it before",
        },
    ),
    "level": Vocabulary(
        "words that went into the FIFO, less those that came out, against its level",
        {
            "less": "words are missing in it",
            "more": "it holds too many",
            "balanced": "none is missing",
        },
    ),
    "underflows": Vocabulary(
        "reads of the lanes' empty synchronization FIFOs, as the receiver counted them",
        {"counted": "at least one", "zero": "none"},
    ),
    "idles": Vocabulary(
        "idle words that the receiver put in or took out to keep up with the sender's clock",
        {"none": "never", "some": "it corrects its clock"},
    ),
    "read_events": Vocabulary(
        "retries and disconnects of the sender's reads of this packet, in its log",
        {"seen": "at least one", "none": "the log is whole, and has none"},
    ),
    "refusals": Vocabulary(
        "credits that the sender refused, as it counted them",
        {"counted": "at least one", "zero": "none"},
    ),
    "credits": Vocabulary(
        "the counts of the credits that were taken, among those that were sent",
        {"as-sent": "each was sent so", "others": "one was taken that nobody sent so"},
    ),
    "waiting": Vocabulary(
        "whether the sender waited for credit of that flow at the freeze",
        {"waits": "it did"},
    ),
    "line": Vocabulary(
        "what else was on the line while the credits of the flow were lost",
        {
            "arrived": "credits of other flows, or packets",
            "lost": "nothing of it arrived, or a lane lost its lock",
        },
    ),
    "tap_count": Vocabulary(
        "the tap's count of words, against the other tap of its FIFO and the FIFO's level",
        {
            "agrees": "what went in, came out or is in it",
            "differs": "the tap counts as many too many as the flows miss",
        },
    ),
    "resumed": Vocabulary(
        "the requests that went on after retries and disconnects of the packet's read",
        {
            "elsewhere": "one asked for other than what was left",
            "rightly": "each asked for what was left",
        },
    ),
    "overflow": Vocabulary(
        "words that the receiver's full FIFO lost, as it counted them",
        {"lost": "at least one", "kept": "none"},
    ),
    "within": Vocabulary(
        "what the sender had outstanding of the flow, against its limit",
        {"kept": "never more than the limit", "beyond": "more than that"},
    ),
    "constant": Vocabulary(
        "the largest excess over the limit, against the credit that the sender waited for all the same",
        {"fits": "a constant may be so large", "too-large": "no constant can be"},
    ),
    "interrupt_line": Vocabulary(
        "mask and waiting completions at the freeze",
        {"waits": "enabled, and one waits", "masked": "the line is masked"},
    ),
    "interrupts": Vocabulary(
        "interrupts as the card counted them, against those in its log",
        {"counted": "at least as many", "fewer": "less than the log holds"},
    ),
    "lengths": Vocabulary(
        "packets of one to three words in the histogram of lengths at the other end",
        {"many": "half of all or more", "few": "less than half"},
    ),
    "registers_alone": Vocabulary(
        "as registers, where the claim rests on no event that was logged",
        {
            "one-bit": "there is such a bit",
            "one-register": "there is such a register",
            "consistent": "there is none",
        },
    ),
    "registers": Vocabulary(
        "the one bit of one register, or the one register, that would mend every law that is broken",
        {
            "one-bit": "there is such a bit",
            "one-register": "no such bit, but such a register, by two laws that say exactly what it is",
            "consistent": "no law is broken, or no single bit mends it",
        },
    ),
}
