"""Everything in a capture that may be claimed, in general terms: what of what unit, at which stretch, tap or law.

No value of a word is part of it, so that the same claim can be met again in another recording.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from freezeframe.analyzers.contract import Evidence, Finding, Row
from freezeframe.analyzers.evidence import amount, place_of_pair, verdict_text
from freezeframe.analyzers.taps.align import Op
from freezeframe.analyzers.taps.tap_diff import PacketPair, SegmentDiff
from freezeframe.analyzers.witness.bound import bind
from freezeframe.analyzers.witness.case import Case
from freezeframe.analyzers.witness.readings import read

_OPS = {Op.OMITTED: "omitted", Op.DUPLICATED: "duplicated", Op.ALTERED: "altered"}
_ASKED = {
    "word": (
        "words",
        "crc_before",
        "crc_at",
        "length_at",
        "tap_before",
        "tap_after",
        "checker",
        "cause",
        "level",
    ),
    "packet": ("crc_at", "length_at", "tap_after", "checker", "cause", "overflow"),
    "law": ("overflow", "refusals", "underflows"),
    "card": ("overflow", "refusals", "underflows"),
}
"""What is asked of a claim on each unit: what has to do with it, and not the load of the run."""


WHATS = (
    "altered",
    "omitted",
    "duplicated",
    "moved",
    "missing",
    "extra",
    "reordered",
    "bad",
    "broken",
    "frozen",
)
UNITS = ("word", "packet", "law", "card")


@dataclass(frozen=True, slots=True)
class General:
    """One claim: ``what`` of ``unit`` ``at`` a stretch (``tx_deq->rx_enq``), a tap, a law or a cause.

    ``seen`` is the first place that shows it.
    """

    what: str
    unit: str
    at: str
    seen: Finding

    @property
    def key(self) -> tuple[str, str, str]:
        """What is the same in another recording of the same fault."""
        return self.what, self.unit, self.at


def general_claims(case: Case) -> Iterator[General]:
    """Yield each sort of claim once, with the first that shows it: along the path, then causes, then laws."""
    told: set[tuple[str, str, str]] = set()
    for claim in (*_data(case), *_causes(case), *_laws(case)):
        if claim.key not in told:
            told.add(claim.key)
            yield claim


def pattern(case: Case, claim: General) -> dict[str, str]:
    """Return what each witness says where a claim lies; silent ones are not in it."""
    bound = bind(case, claim.seen)
    values = {name: read(name, bound).value for name in _ASKED[claim.unit]}
    return {name: value for name, value in values.items() if value}


def _data(case: Case) -> Iterator[General]:
    for _, _, _, diff in case.facts.differences():
        at = f"{diff.up.tap}->{diff.down.tap}"
        for pair in diff.differing:
            ops = {edit.op for edit in pair.edits}
            what = _OPS.get(next(iter(ops)), "moved") if len(ops) == 1 else "moved"
            yield General(what, "word", at, _of_pair(diff, pair, what))
        moved = [("missing", packet, diff.up) for packet in diff.missing]
        moved += [("extra", packet, diff.down) for packet in diff.extra]
        moved += [("reordered", packet, diff.down) for _, packet in diff.reordered]
        for what, packet, stream in moved:
            row = stream.row(packet.start, "header")
            yield General(what, "packet", at, _of_packet(diff, packet.seq, row))
    for bad in case.facts.unplaced:
        stream = bad.stream
        row = stream.row(bad.packet.start, "first word recorded")
        seen = Evidence(
            f"{stream.source}: {verdict_text(bad.packet)}.", stream.device, stream.tap, (row,)
        )
        finding = Finding(
            "bad", "", stream.device, stream.tap, f"{bad.sender}->{bad.receiver}", bad.packet.flow, bad.packet.seq,
            t_ps=row.t_ps, evidence=(seen,),
        )  # fmt: skip
        yield General("bad", "packet", stream.tap, finding)


def _of_pair(diff: SegmentDiff, pair: PacketPair, what: str) -> Finding:
    place, edit = place_of_pair(pair), pair.edits[0]
    at = min(pair.down.start + edit.down, pair.down.end - 1)
    t_ps, unc_ps = diff.down.when(at)
    span = pair.payload_index(edit)
    word = span[0] if span is not None and edit.certain else None
    seen = Evidence(
        f"{diff.up.source} and {diff.down.source} differ: {what}, {amount(len(pair.edits), 'word')}.",
        diff.down.device, diff.down.tap, (diff.down.row(at, "the first that differs"),),
    )  # fmt: skip
    return Finding(
        what, "", diff.down.device, diff.down.tap, diff.direction, place.flow, place.packet, word, t_ps, unc_ps,
        evidence=(seen,),
    )  # fmt: skip


def _of_packet(diff: SegmentDiff, seq: int | None, row: Row) -> Finding:
    seen = Evidence(
        f"Packet {seq} between {diff.up.source} and {diff.down.source}.",
        diff.down.device,
        rows=(row,),
    )
    return Finding(
        "packet",
        "",
        diff.down.device,
        diff.down.tap,
        diff.direction,
        None,
        seq,
        t_ps=row.t_ps,
        evidence=(seen,),
    )


def _causes(case: Case) -> Iterator[General]:
    for device, causes in case.own_causes.items():
        row = case.facts.view.register_row(device, "ctl.causes")
        for cause in causes:
            seen = Evidence(f"{device} froze for {cause}.", device, rows=(row,))
            yield General("frozen", "card", cause, Finding("frozen", "", device, evidence=(seen,)))


def _laws(case: Case) -> Iterator[General]:
    for law in case.broken:
        subject = law.subject
        seen = Evidence(f"{subject.text}: {law.law.name}: {law.why}.", subject.device)
        direction = f"{subject.device}->{subject.peer}" if subject.peer else None
        finding = Finding(
            "broken", "", subject.device, None, direction, subject.flow, evidence=(seen,)
        )
        yield General("broken", "law", law.law.name, finding)
