"""Every packet of a capture whose header or payload CRC is wrong, with what explains it and how well.

Where a tap further up has the packet unharmed, what really happened to it is known and stands beside.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np
import pandas as pd

from freezeframe.analyzers.analysis import AnalysisResult, Figure
from freezeframe.analyzers.crc.forensics import Explanation, Forensics, Place, examine
from freezeframe.analyzers.streams import Packet, Stream
from freezeframe.analyzers.taps.tap_diff import PacketPair, tap_diffs
from freezeframe.analyzers.view import CaptureView
from freezeframe.capture.registers.layouts import HEADER
from freezeframe.decoders.crc import CRC16_IBM_3740, CRC32_ISO_HDLC

_MOST_PACKETS = 500  # examined; a link that damages every packet needs no forensics of each
_WORD_B = 8
_HEADER_B = 6  # bytes of the first header word under the CRC; after them the 8 of the second


@dataclass(frozen=True, slots=True)
class BadCrc:
    """A wrong CRC of one packet at the first tap that shows it.

    Attributes:
        what: ``header`` or ``payload``.
        upstream: what the tap before has of the packet, in words; empty where that tap does not have it.
    """

    stream: Stream
    packet: Packet
    what: str
    forensics: Forensics
    upstream: str

    def place_text(self, place: Place) -> str:
        """Return a place in the words of the packet: fields of the header, words of the payload."""
        if not place.bits:
            return place.text
        return ", ".join(self._bit(byte, bit) for byte, bit in place.bits)

    def _bit(self, byte: int, bit: int) -> str:
        if self.what == "payload":
            word, inside = divmod(byte, _WORD_B)
            return f"bit {8 * inside + bit} of word {word}"
        if byte >= _HEADER_B:
            return f"bit {8 * (byte - _HEADER_B) + bit} of the address"
        at = 8 * byte + bit
        for name, (low, width) in HEADER.fields.items():
            if low <= at < low + width:
                return f"bit {at - low} of the header's {name}"
        return f"bit {at} of the header"


def bad_crcs(view: CaptureView) -> Iterator[BadCrc]:
    """Yield every wrong CRC once, tap by tap in the order of the map; damage that only goes on is left out."""
    above = _above(view)
    for stream in view.streams.values():
        for packet in stream.packets:
            pair = above.get((stream.source, packet.index))
            source = pair[0] if pair else ""
            known = pair[1] if pair else None
            for what, verdict in (("header", packet.header_ok), ("payload", packet.payload_ok)):
                if verdict is not False or not _wholly(packet, what):
                    continue
                if known is not None and not known.edits and known.up.bad:
                    continue
                yield BadCrc(
                    stream, packet, what, _examined(stream, packet, what), _upstream(source, known)
                )


def _above(view: CaptureView) -> dict[tuple[str, int], tuple[str, PacketPair]]:
    """Return for each packet what the tap before it has: name of that tap, and the comparison."""
    pairs = {}
    for diff in tap_diffs(view):
        for pair in diff.pairs:
            if pair.compared or pair.edits:
                pairs[diff.down.source, pair.down.index] = (diff.up.source, pair)
    return pairs


def _wholly(packet: Packet, what: str) -> bool:
    if what == "header":
        return packet.has_head
    return packet.has_tail and not packet.cut_start


def _examined(stream: Stream, packet: Packet, what: str) -> Forensics:
    around = [
        (name, stream.packets[i])
        for name, i in (
            ("the packet before", packet.index - 1),
            ("the packet after", packet.index + 1),
        )
        if 0 <= i < len(stream.packets)
    ]
    if what == "header":
        data, received = _header(stream, packet)
        others = [(name, _header(stream, p)[0]) for name, p in around if p.has_head]
        return examine(data, received, CRC16_IBM_3740, neighbours=others, length_error_B=0)
    tail = stream.tail(packet)
    assert tail is not None
    others = [(name, _payload(stream, p)) for name, p in around if p.has_tail and not p.cut_start]
    length = packet.length if packet.header_ok else None
    return examine(
        _payload(stream, packet),
        tail & 0xFFFFFFFF,
        CRC32_ISO_HDLC,
        word_B=_WORD_B,
        neighbours=others,
        length_error_B=None if length is None else _WORD_B * (packet.body_words - length),
    )


def _header(stream: Stream, packet: Packet) -> tuple[bytes, int]:
    words = stream.data[packet.start : packet.start + 2].astype("<u8").tobytes()
    return words[:_HEADER_B] + words[_WORD_B:], int.from_bytes(words[_HEADER_B:_WORD_B], "little")


def _payload(stream: Stream, packet: Packet) -> bytes:
    return bytes(stream.payload(packet).astype("<u8").tobytes())


def _upstream(source: str, pair: PacketPair | None) -> str:
    if pair is None:
        return ""
    if not pair.edits:
        return f"{source} has the same words"
    edits = []
    for edit in pair.edits[:4]:
        index = pair.payload_index(edit)
        place = "HEAD or TAIL" if index is None else f"word {index[0]}"
        if index is not None and index[1] - index[0] > 1:
            place = f"one of words {index[0]} to {index[1] - 1}"
        edits.append(f"{place} {edit.op}")
    more = len(pair.edits) - len(edits)
    return f"against {source}: {', '.join(edits)}" + (f" and {more} more" if more else "")


def run(view: CaptureView) -> AnalysisResult:
    counts = {stream.source: [0, 0] for stream in view.streams.values()}
    for stream in view.streams.values():
        for packet in stream.packets:
            counts[stream.source][0] += packet.header_ok is False
            counts[stream.source][1] += packet.payload_ok is False
    figures = [
        Figure(f"{source}.{what}_bad", f"{source}, packets with a wrong {what} CRC", number)
        for source, pair in counts.items()
        for what, number in zip(("header", "payload"), pair, strict=True)
    ]
    packets: list[dict[str, Any]] = []
    rows: list[dict[str, Any]] = []
    notes = list(view.switched_off)
    bad_packets = list(islice(bad_crcs(view), _MOST_PACKETS))
    if len(bad_packets) == _MOST_PACKETS:
        notes.append(f"Not more than the first {_MOST_PACKETS} wrong CRCs were examined.")
    for number, bad in enumerate(bad_packets):
        packets.append(_packet_row(bad))
        rows += [
            {"bad": number, "rank": rank, **_explanation_row(bad, explanation)}
            for rank, explanation in enumerate(bad.forensics.explanations, 1)
        ]
        if number < 8:
            notes.append(_sentence(bad))
    if not packets:
        notes.append(
            "Every CRC that was wholly recorded is right, or is wrong from the first tap on."
        )
        if not counts:
            notes[-1] = "No tap was recorded whose packets could be checked."
        elif not any(sum(pair) for pair in counts.values()):
            notes[-1] = "Every CRC that was wholly recorded is right."
    return AnalysisResult(
        "crc",
        figures=tuple(figures),
        tables={"bad": pd.DataFrame(packets), "explanations": pd.DataFrame(rows)},
        notes=tuple(notes),
    )


def _packet_row(bad: BadCrc) -> dict[str, Any]:
    packet, forensics = bad.packet, bad.forensics
    t_ps, unc_ps = bad.stream.when(packet.start)
    best = forensics.explanations[0] if forensics.explanations else None
    digits = forensics.crc.width // 4
    return {
        "t_ps": t_ps,
        "t_unc_ps": -1 if unc_ps is None else unc_ps,
        "source": bad.stream.source,
        "flow": -1 if packet.flow is None else packet.flow,
        "packet": -1 if packet.seq is None else packet.seq,
        "crc": bad.what,
        "body_words": packet.body_words,
        "length": -1 if packet.length is None else packet.length,
        "computed": f"0x{forensics.computed:0{digits}x}",
        "received": f"0x{forensics.received:0{digits}x}",
        "best": "" if best is None else best.kind,
        "by_chance": np.nan if best is None else best.by_chance,
        "equally_good": forensics.equally_good,
        "upstream": bad.upstream,
    }


def _explanation_row(bad: BadCrc, explanation: Explanation) -> dict[str, Any]:
    place = explanation.places[0] if explanation.places else None
    return {
        "kind": explanation.kind,
        "fits": float(explanation.fits),
        "tested": float(explanation.tested),
        "by_chance": explanation.by_chance,
        "certain": explanation.certain,
        "place": "" if place is None else bad.place_text(place),
        "text": explanation.text,
    }


def _sentence(bad: BadCrc) -> str:
    packet, forensics = bad.packet, bad.forensics
    name = "a packet" if packet.seq is None else f"packet {packet.seq}"
    begin = f"{bad.stream.source}, {name}, {bad.what} CRC: "
    likely = [e for e in forensics.explanations if e.by_chance < 1]
    if not likely and forensics.explanations and forensics.explanations[0].kind == "word-lost":
        verdict = forensics.explanations[0].text
    elif not likely:
        verdict = "nothing that the CRC could tell from random damage fits"
    else:
        best = likely[0]
        where = f" ({bad.place_text(best.places[0])})" if best.places else ""
        verdict = (
            f"{best.text}{where} fits; random damage would pass for it {_chance(best.by_chance)}"
        )
        if forensics.equally_good > 1:
            verdict += f"; {forensics.equally_good} explanations fit equally well"
    return begin + verdict + (f"; {bad.upstream}" if bad.upstream else "") + "."


def _chance(by_chance: float) -> str:
    once = round(1 / by_chance)
    return f"once in {once:,}"
