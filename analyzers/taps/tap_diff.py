"""Compare what crossed two taps, packet by packet and word by word.

A packet that only one of the taps recorded, because a memory begins, ends or has a gap there, or
because its words were still on their way at the freeze, is no difference.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from freezeframe.analyzers.streams import HEADS, Packet, Stream
from freezeframe.analyzers.taps.align import Alignment, Edit, Op, align, align_cut, match_packets
from freezeframe.analyzers.view import CaptureView


@dataclass(frozen=True, slots=True)
class PacketPair:
    """One packet at both taps, and how its words differ.

    ``edits`` count from the packets' first recorded words. ``compared`` words stood on both sides,
    0 when the two pieces cannot be laid together; the first of them is word ``up_skip`` upstream
    and ``down_skip`` downstream (not 0 where one side lacks the packet's beginning).
    """

    up: Packet
    down: Packet
    edits: tuple[Edit, ...]
    compared: int
    up_skip: int = 0
    down_skip: int = 0

    @property
    def in_part(self) -> bool:
        """Words of the packet lie outside the recording of one side, so not all of them were compared."""
        return any(p.cut_start or p.cut_end for p in (self.up, self.down))

    @property
    def in_place(self) -> bool:
        """No word is missing or too many: compared words stand side by side."""
        return all(edit.op is Op.ALTERED for edit in self.edits)

    def payload_index(self, edit: Edit) -> tuple[int, int] | None:
        """Return the payload indices ``[first, end)`` an edit may stand at; None in HEAD or TAIL.

        Counted upstream for what was omitted or altered, downstream for what was too many. None,
        too, where the packet's beginning was recorded on neither side, unless its header states the
        length on the side that has the tail.
        """
        upstream = edit.op in (Op.OMITTED, Op.ALTERED)
        packet = self.up if upstream else self.down
        base = self._payload_start(packet, upstream)
        if base is None:
            return None
        first = packet.start + edit.first - base
        end = first + edit.places
        if first < 0 or end > packet.start + packet.heads + packet.body_words - base:
            return None
        return first, end

    def _payload_start(self, packet: Packet, upstream: bool) -> int | None:
        """Return the stream position of payload word 0, which may lie before the recorded part."""
        if packet.heads >= HEADS or not packet.cut_start:
            return packet.start + packet.heads
        other = self.down if upstream else self.up
        if packet.has_tail and other.has_head and other.length is not None:
            # Downstream the packet has what came twice besides, and has not what was omitted.
            more = sum(1 if edit.op is not Op.OMITTED else -1 for edit in self._moving)
            return packet.end - 1 - other.length - (0 if upstream else more)
        return None

    @property
    def _moving(self) -> tuple[Edit, ...]:
        """The edits after which every word downstream is in another place."""
        return tuple(edit for edit in self.edits if edit.op is not Op.ALTERED)


@dataclass(frozen=True, eq=False)
class SegmentDiff:
    """Everything between two neighbouring taps of one direction.

    ``missing`` are packets of ``up`` that never came although later ones did; ``extra`` the reverse.
    """

    direction: str
    up: Stream
    down: Stream
    pairs: tuple[PacketPair, ...]
    missing: tuple[Packet, ...]
    extra: tuple[Packet, ...]
    reordered: tuple[tuple[Packet, Packet], ...]

    @property
    def differing(self) -> tuple[PacketPair, ...]:
        """The packets whose words differ, in order."""
        return tuple(pair for pair in self.pairs if pair.edits)

    @property
    def first_divergence(self) -> tuple[PacketPair, Edit] | None:
        """The first word that differs, in the order of the downstream tap."""
        for pair in self.pairs:
            if pair.edits:
                return pair, pair.edits[0]
        return None

    @property
    def words_compared(self) -> int:
        return sum(pair.compared for pair in self.pairs)


def diff_streams(direction: str, up: Stream, down: Stream) -> SegmentDiff:
    """Compare two taps of one direction. Linear in the words, and in what differs."""
    match = match_packets(up, down)
    pairs = tuple(compare_packets(up, up.packets[i], down, down.packets[j]) for i, j in match.pairs)
    return SegmentDiff(
        direction=direction,
        up=up,
        down=down,
        pairs=pairs,
        missing=tuple(up.packets[i] for i in match.missing),
        extra=tuple(down.packets[j] for j in match.extra),
        reordered=tuple((up.packets[i], down.packets[j]) for i, j in match.reordered),
    )


def compare_packets(up: Stream, p: Packet, down: Stream, q: Packet) -> PacketPair:
    """Compare the words of one packet at two taps, HEAD and TAIL with them."""
    n, m = p.end - p.start, q.end - q.start
    if n == m and np.array_equal(up.words(p), down.words(q)) and _same_kinds(up, p, down, q):
        return PacketPair(p, q, (), n)
    from_start, to_end = not (p.cut_start or q.cut_start), not (p.cut_end or q.cut_end)
    if from_start and to_end:
        alignment = align(*_ids(up, p, down, q))
    elif from_start or to_end:
        alignment = align_cut(*_ids(up, p, down, q), at_start=to_end)
    else:
        alignment = Alignment((), 0)
    skip = 0 if from_start else max(n, m) - min(n, m)
    return PacketPair(
        p, q, alignment.edits, alignment.compared, skip if n > m else 0, skip if m > n else 0
    )


def tap_diffs(view: CaptureView) -> Iterator[SegmentDiff]:
    """Compare every segment whose both taps may be looked at."""
    for sender, receiver in view.directions:
        for above, below in pairwise(view.path(sender, receiver)):
            up, down = view.stream(*above), view.stream(*below)
            if up is not None and down is not None:
                yield diff_streams(f"{sender}->{receiver}", up, down)


def _same_kinds(up: Stream, p: Packet, down: Stream, q: Packet) -> bool:
    return np.array_equal(up.kind[p.start : p.end], down.kind[q.start : q.end])


def _ids(
    up: Stream, p: Packet, down: Stream, q: Packet
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Return numbers that are equal where data and kind are equal."""
    data = np.concatenate([up.words(p), down.words(q)])
    kind = np.concatenate([up.kind[p.start : p.end], down.kind[q.start : q.end]])
    _, number = np.unique(data, return_inverse=True)
    ids = number.astype(np.int64).reshape(-1) * 16 + kind
    return ids[: p.end - p.start], ids[p.end - p.start :]
