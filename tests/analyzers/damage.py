"""Ways to damage words in the lists of a `bench_pair.Crossing`, written out byte by byte."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from tests.analyzers.bench_pair import Crossing, Pair, Word

HEADS = 2


def omit(crossing: Crossing, tap: str, word: int) -> None:
    """Lose one payload word before a tap."""
    for words in crossing.from_tap(tap):
        del words[HEADS + word]


def duplicate(crossing: Crossing, tap: str, word: int) -> None:
    """Repeat one payload word before a tap; the second copy is payload word ``word``."""
    for words in crossing.from_tap(tap):
        words.insert(HEADS + word, words[HEADS + word - 1])


def alter(crossing: Crossing, tap: str, place: int, mask: int) -> None:
    """Flip bits of the word at a place of the packet (0 and 1 are the header) before a tap."""
    for words in crossing.from_tap(tap):
        kind, data = words[place]
        words[place] = (kind, data ^ mask)


def _split(word: int, lane: int) -> list[int]:
    return list(word.to_bytes(8, "little"))[lane::2]


def _with(word: int, lane: int, octets: Sequence[int]) -> int:
    whole = bytearray(word.to_bytes(8, "little"))
    whole[lane::2] = bytes(octets)
    return int.from_bytes(whole, "little")


def lag(crossing: Crossing, lane: int, first: int, end: int) -> None:
    """Let one lane repeat its half at place ``first`` and lag by a word up to ``end``."""
    for words in crossing.from_tap("rx_enq"):
        sent = list(words)
        for i in range(first, end):
            kind, data = words[i]
            words[i] = (kind, _with(data, lane, _split(sent[i - 1][1], lane)))


def misalign(crossings: Iterable[Crossing], lane: int, first: int, k: int) -> None:
    """Rotate one lane's bytes within each half from place ``first`` of the first packet on."""
    for crossing in crossings:
        for words in crossing.from_tap("rx_enq"):
            for i in range(first, len(words)):
                octets = _split(words[i][1], lane)
                words[i] = (words[i][0], _with(words[i][1], lane, octets[k:] + octets[:k]))
        first = 0


def slip(crossings: Iterable[Crossing], lane: int, first: int, k: int) -> None:
    """Let one lane lose k bytes before place ``first``; idle bytes follow at the end of a packet."""
    for crossing in crossings:
        for words in crossing.from_tap("rx_enq"):
            stream = [octet for _, data in words[first:] for octet in _split(data, lane)]
            stream = stream[k:] + [0xBC] * k
            for i in range(first, len(words)):
                octets = stream[4 * (i - first) : 4 * (i - first) + 4]
                words[i] = (words[i][0], _with(words[i][1], lane, octets))
        first = 0


def after(pair: Pair, crossing: Crossing) -> list[Crossing]:
    """Return a packet and all that were sent after it in its direction."""
    at = pair.crossings.index(crossing)
    return [other for other in pair.crossings[at:] if other.sender == crossing.sender]


def words_text(words: Sequence[Word]) -> str:
    """Return words for a failing test's message."""
    return " ".join(f"{kind}:{data:016x}" for kind, data in words)
