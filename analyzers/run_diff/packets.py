"""The packets of two runs laid side by side, tap by tap and flow by flow: which are equal, and the first that is not.

Sequence numbers of two runs may begin anywhere, and a recording may begin anywhere in a run. So packets are
aligned by what they carry, and where that differs by their numbers, counted from an aligned neighbour.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from freezeframe.analyzers.streams import Packet, Stream
from freezeframe.analyzers.taps.align import Op
from freezeframe.analyzers.taps.edit_script import edit_script
from freezeframe.analyzers.taps.tap_diff import PacketPair, compare_packets
from freezeframe.analyzers.view import CaptureView
from freezeframe.capture.registers.layouts import HEADER_CRC_LSB, HEADER_SEQ_LSB, HEADER_SEQ_MASK

_HEADER_MASK = (1 << HEADER_CRC_LSB) - 1 & ~(HEADER_SEQ_MASK << HEADER_SEQ_LSB)


@dataclass(frozen=True, eq=False, slots=True)
class TapRuns:
    """One tap in two runs.

    Attributes:
        source: ``A.tx_enq``.
        packets: recorded wholly, in run A and run B.
        same: pairs that are equal in both, word for word but for their sequence numbers.
        altered: pairs of which the words differ, in the order of run B.
        missing, extra: packets between aligned ones that only run A, only run B has.
        alone: packets before the first and after the last aligned one that only run A, only run B
            recorded: what the other recording would have is not known.
    """

    source: str
    a: Stream
    b: Stream
    packets: tuple[int, int]
    same: tuple[tuple[Packet, Packet], ...]
    altered: tuple[PacketPair, ...]
    missing: tuple[Packet, ...]
    extra: tuple[Packet, ...]
    alone: tuple[tuple[Packet, ...], tuple[Packet, ...]]

    @property
    def equal(self) -> int:
        return len(self.same)

    @property
    def outside(self) -> tuple[int, int]:
        """How many packets stand in `alone`, of run A and of run B."""
        return len(self.alone[0]), len(self.alone[1])

    @property
    def differing(self) -> int:
        return len(self.altered) + len(self.missing) + len(self.extra)

    @property
    def first_ps(self) -> int | None:
        """Time in run B of the first packet that differs; of one that is missing there, in run A."""
        times = [int(self.b.t_ps[pair.down.start]) for pair in self.altered]
        times += [int(self.b.t_ps[packet.start]) for packet in self.extra]
        times += [int(self.a.t_ps[packet.start]) for packet in self.missing]
        return min(times, default=None)

    def first_text(self) -> str:
        """Return the first difference in a sentence; empty where there is none."""
        differences: list[tuple[int, str]] = []
        for pair in self.altered:
            differences.append((int(self.b.t_ps[pair.down.start]), _altered_text(pair)))
        for stream, packets, text in (
            (self.b, self.extra, "only run B has it"),
            (self.a, self.missing, "only run A has it"),
        ):
            differences += [(int(stream.t_ps[p.start]), f"{_name(p)}: {text}") for p in packets]
        return min(differences)[1] if differences else ""

    def to_json(self) -> dict[str, Any]:
        return {
            "tap": self.source,
            "packets": list(self.packets),
            "equal": self.equal,
            "altered": [_pair_json(pair) for pair in self.altered],
            "only_a": [{"flow": p.flow, "packet": p.seq} for p in self.missing],
            "only_b": [{"flow": p.flow, "packet": p.seq} for p in self.extra],
            "outside": list(self.outside),
            "first": self.first_text() or None,
            "first_t_ps": self.first_ps,
        }


def align_taps(a: CaptureView, b: CaptureView) -> list[TapRuns]:
    """Align every tap that both runs recorded, in the order of run A."""
    return [
        _align(stream, b.streams[place])
        for place, stream in a.streams.items()
        if place in b.streams
    ]


def _align(a: Stream, b: Stream) -> TapRuns:
    whole = [[p for p in stream.packets if _whole(p)] for stream in (a, b)]
    flows = sorted({_flow(p) for packets in whole for p in packets})
    equal: list[tuple[Packet, Packet]] = []
    alone: tuple[list[Packet], list[Packet]] = ([], [])
    altered: list[PacketPair] = []
    missing: list[Packet] = []
    extra: list[Packet] = []
    for flow in flows:
        ups, downs = ([p for p in packets if _flow(p) == flow] for packets in whole)
        script = edit_script(_signatures(a, ups), _signatures(b, downs)).tolist()
        aligned = sum(group[2] for group in script)
        if not aligned:
            alone[0].extend(ups)
            alone[1].extend(downs)
            continue
        i = j = 0
        for number, (gone, come, same) in enumerate(script):
            lefts, rights = ups[i : i + gone], downs[j : j + come]
            i, j = i + gone, j + come
            leading, trailing = number == 0, not same
            # The number an aligned packet has more in run B than in run A.
            shift = _shift(
                ups, downs, i if leading else i - gone - 1, j if leading else j - come - 1
            )
            pairs, left, right = _by_number(lefts, rights, shift)
            altered += [_compared(a, p, b, q) for p, q in pairs]
            if leading or trailing:
                alone[0].extend(left)
                alone[1].extend(right)
            else:
                missing += left
                extra += right
            equal += zip(ups[i : i + same], downs[j : j + same], strict=True)
            i, j = i + same, j + same
    altered.sort(key=lambda pair: pair.down.start)
    return TapRuns(
        source=a.source, a=a, b=b, packets=(len(whole[0]), len(whole[1])), same=tuple(equal),
        altered=tuple(altered), missing=tuple(missing), extra=tuple(extra),
        alone=(tuple(alone[0]), tuple(alone[1])),
    )  # fmt: skip


def _compared(a: Stream, p: Packet, b: Stream, q: Packet) -> PacketPair:
    """Compare two packets; another sequence number, and the header CRC that comes with it, is no difference."""
    pair = compare_packets(a, p, b, q)
    if (int(a.data[p.start]) ^ int(b.data[q.start])) & _HEADER_MASK:
        return pair
    if p.header_ok is False or q.header_ok is False:
        return pair
    return replace(pair, edits=tuple(e for e in pair.edits if (e.op, e.up) != (Op.ALTERED, 0)))


def _whole(packet: Packet) -> bool:
    return packet.has_head and not packet.cut_start and not packet.cut_end


def _flow(packet: Packet) -> int:
    """Return a packet's flow; -1 of a damaged header, which may say anything."""
    return -1 if packet.flow is None or packet.header_ok is False else packet.flow


def _signatures(stream: Stream, packets: list[Packet]) -> npt.NDArray[np.int64]:
    """Return a number for each packet, equal where all but sequence number and header CRC is equal."""
    signatures = np.empty(len(packets), np.int64)
    for number, packet in enumerate(packets):
        data = stream.words(packet)[1:].tobytes()
        header = (packet.header or 0) & _HEADER_MASK
        begin = header.to_bytes(8, "little")
        # Two CRCs with different beginnings, so that 64 bits decide.
        signatures[number] = zlib.crc32(data, zlib.crc32(begin)) << 31 ^ zlib.adler32(begin + data)
    return signatures


def _shift(ups: list[Packet], downs: list[Packet], i: int, j: int) -> int | None:
    if not (0 <= i < len(ups) and 0 <= j < len(downs)):
        return None
    a, b = ups[i].seq, downs[j].seq
    return None if a is None or b is None else b - a & HEADER_SEQ_MASK


def _by_number(
    lefts: list[Packet], rights: list[Packet], shift: int | None
) -> tuple[list[tuple[Packet, Packet]], list[Packet], list[Packet]]:
    """Pair packets whose sequence numbers tell that they are the same one; return what is left over."""
    if shift is None:
        return [], lefts, rights
    at = {(p.seq or 0) + shift & HEADER_SEQ_MASK: p for p in lefts}
    pairs = [(at[q.seq], q) for q in rights if q.seq is not None and q.seq in at]
    taken = {id(p) for pair in pairs for p in pair}
    return (
        pairs,
        [p for p in lefts if id(p) not in taken],
        [q for q in rights if id(q) not in taken],
    )


def _name(packet: Packet) -> str:
    return f"flow {packet.flow}, packet {packet.seq}"


def changes(pair: PacketPair) -> Iterator[str]:
    """Yield what happened to a packet, word by word; beyond three only how many more."""
    for edit in pair.edits[:3]:
        index = pair.payload_index(edit)
        yield f"{'a HEAD or TAIL word' if index is None else f'word {index[0]}'} {edit.op}"
    if len(pair.edits) > 3:
        yield f"{len(pair.edits) - 3} more"


def _altered_text(pair: PacketPair) -> str:
    number = "" if pair.up.seq == pair.down.seq else f" ({pair.up.seq} in run A)"
    lengths = ""
    if pair.up.length != pair.down.length:
        lengths = f", {pair.up.length} words in run A, {pair.down.length} in run B"
    return f"{_name(pair.down)}{number}: {', '.join(changes(pair))}{lengths}"


def _pair_json(pair: PacketPair) -> dict[str, Any]:
    return {
        "flow": pair.down.flow,
        "packet": [pair.up.seq, pair.down.seq],
        "words_differing": len(pair.edits),
        "changes": list(changes(pair)),
    }
