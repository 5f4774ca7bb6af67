"""What can have happened to a message whose CRC is wrong: hypotheses tested against it, and how much each is worth.

Every hypothesis is a set of changes that would make the CRC right. A CRC of w bits lets one of 2^w changes pass
by chance, so a set of N hypotheses explains random damage N / 2^w times: `Explanation.by_chance`. One flipped bit
of 4 KB under 32 bits: 8 in a million, so where one fits it is right. Two bits anywhere: 0.125, once in eight, so
it says little. A lost word fits at every place, whatever happened.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from freezeframe.analyzers.crc.hypotheses import hypotheses
from freezeframe.analyzers.crc.message import Explanation, Message, Place
from freezeframe.decoders.crc import Crc

__all__ = ["Explanation", "Forensics", "Place", "examine", "examine_frame"]

MOST_BYTES = 1 << 17
"""The longest message that is examined, bytes; two flipped bits need memory for each of its bits."""

_WORTH = 10.0  # explanations within this factor of the best one are called equally good


@dataclass(frozen=True, slots=True)
class Forensics:
    """What was found of one message, the explanation that chance gives least first.

    Attributes:
        crc: which one; computed, received: its values.
        explanations: those that fit, best first.
        tested: hypotheses tried, of each kind, those that did not fit as well.
    """

    crc: Crc
    computed: int
    received: int
    explanations: tuple[Explanation, ...]
    tested: dict[str, int]

    @property
    def good(self) -> bool:
        return self.computed == self.received

    @property
    def equally_good(self) -> int:
        """How many single hypotheses are as good as the best: 0 for a right CRC, 1 where it is alone."""
        if not self.explanations:
            return 0
        best = self.explanations[0].by_chance
        return sum(e.fits for e in self.explanations if e.by_chance <= _WORTH * best)

    def to_json(self) -> dict[str, Any]:
        digits = -(-self.crc.width // 4)
        return {
            "crc": self.crc.name,
            "computed": f"0x{self.computed:0{digits}x}",
            "received": f"0x{self.received:0{digits}x}",
            "good": self.good,
            "equally_good": self.equally_good,
            "explanations": [e.to_json() for e in self.explanations],
            "tested": self.tested,
        }


def examine_frame(frame: bytes, crc: Crc, *, little: bool = True, **options: Any) -> Forensics:
    """Examine a frame that ends in its CRC, as an Ethernet frame ends in its FCS (least significant byte first).

    Args:
        little: the CRC's least significant byte comes first.
        options: those of `examine`.
    Raises:
        ValueError: the frame is shorter than its CRC, or as of `examine`.
    """
    length = -(-crc.width // 8)
    if len(frame) < length:
        raise ValueError(f"a frame of {len(frame)} B is shorter than its CRC of {length} B")
    received = int.from_bytes(frame[len(frame) - length :], "little" if little else "big")
    return examine(frame[: len(frame) - length], received, crc, **options)


def examine(
    data: bytes,
    received: int,
    crc: Crc,
    *,
    word_B: int = 8,
    neighbours: Sequence[tuple[str, bytes]] = (),
    length_error_B: int | None = None,
) -> Forensics:
    """Test every hypothesis on a message.

    Args:
        data: the bytes the CRC was made over, as received.
        received: the CRC as received.
        word_B: bytes of a word: what is lost, repeated or swapped as one.
        neighbours: other messages whose CRC this could be, each with its name (``the packet before``).
        length_error_B: bytes by which the message is too long (negative: too short); None where that is not
            known. Damage that changes the length otherwise is then not considered.
    Raises:
        ValueError: the message exceeds `MOST_BYTES`, or the CRC does not fit its width.
    """
    if len(data) > MOST_BYTES:
        raise ValueError(f"a message of {len(data):,} B; up to {MOST_BYTES:,} B are examined")
    message = Message(data, received, crc, word_B, tuple(neighbours))
    if not message.syndrome:
        return Forensics(crc, received, received, (), {})
    explanations: list[Explanation] = []
    tested: dict[str, int] = {}
    for kind, change_B, test in hypotheses(word_B):
        if length_error_B is not None and change_B is not None and change_B != length_error_B:
            continue
        for explanation in test(message):
            tested[explanation.kind] = tested.get(explanation.kind, 0) + explanation.tested
            if explanation.fits:
                explanations.append(explanation)
        tested.setdefault(kind, 0)
    explanations.sort(key=lambda e: (e.by_chance, e.kind))
    return Forensics(
        crc, crc.value(int(message.registers[-1])), received, tuple(explanations), tested
    )
