"""Faults of one's own: files that are matched in a capture, and learned from a good and a bad one.

A file's claim says what of what unit happened at which stretch, tap, law or cause, without a name: what stands in a
recording of any card. Witnesses must agree or be silent.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from freezeframe.analyzers.card.names import NONE_KNOWN
from freezeframe.analyzers.contract import Evidence, Finding, Row, Says
from freezeframe.analyzers.evidence import amount, place_of_pair, verdict_text
from freezeframe.analyzers.facts import Facts
from freezeframe.analyzers.taps.align import Op
from freezeframe.analyzers.taps.tap_diff import PacketPair, SegmentDiff
from freezeframe.analyzers.view import CaptureView
from freezeframe.analyzers.witness.case import Case, bind
from freezeframe.analyzers.witness.declared import (
    Declared,
    known_need,
    lacking,
    read_fault,
    shipped,
)
from freezeframe.analyzers.witness.gate import heard, pattern_of
from freezeframe.analyzers.witness.readings import read
from freezeframe.capture.counters.law_table import laws_of
from freezeframe.capture.errors import InputError
from freezeframe.capture.folder import CaptureFolder

_CLAIM = ("what", "unit", "at")
_NAME = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")


def own_faults(folder: Path) -> list[Declared]:
    """Return the faults of a folder's ``*.toml`` files, in the order of their names.

    Raises:
        InputError: there is no such folder, no file in it, or one that cannot be used; a line each names the file.
    """
    if not folder.is_dir():
        raise InputError(f"{folder}: there is no such folder of fault files")
    paths = sorted(folder.glob("*.toml"))
    if not paths:
        raise InputError(f"{folder}: no fault file (NAME.toml) is in it")
    faults = [_checked(path) for path in paths]
    for path, fault in zip(paths, faults, strict=True):
        first = next(p for p, other in zip(paths, faults, strict=True) if other.name == fault.name)
        if first is not path:
            raise InputError(
                f"{path}: {fault.name} is the name of {first.name} already; give it another"
            )
    return faults


def _checked(path: Path) -> Declared:
    fault = read_fault(path)
    claim = fault.claim
    for key in _CLAIM:
        if not isinstance(claim.get(key), str):
            raise InputError(f"{path}: [claim] has no {key}; it says what, unit and at")
    for key, known in (("what", WHATS), ("unit", UNITS)):
        if claim[key] not in known:
            raise InputError(f"{path}: claim.{key} = {claim[key]!r}; there are {', '.join(known)}")
    for need in fault.needs:
        if not known_need(need):
            raise InputError(f"{path}: needs {need!r}, which no card file says")
    if not _NAME.fullmatch(fault.name):
        raise InputError(
            f"{path}: name = {fault.name!r}: small letters and digits, with - between them"
        )
    if fault.name in shipped():
        raise InputError(f"{path}: {fault.name} is a name that ships; give it another")
    return fault


def matched(case: Case, faults: Sequence[Declared]) -> Iterator[Finding]:
    """Yield a finding for each fault whose claim stands and that no witness is against.

    Raises:
        InputError: a fault needs what the card has not.
    """
    claims = {claim.key: claim for claim in general_claims(case)}
    for fault in faults:
        lacks = list(lacking(case.facts.view.roles, fault))
        if lacks:
            raise InputError(f"fault {fault.name}: the card has not {'; '.join(lacks)}")
        _check_place(case, fault)
        claim = claims.get((fault.claim["what"], fault.claim["unit"], fault.claim["at"]))
        if claim is not None:
            finding = _judged(case, fault, claim)
            if finding is not None:
                yield finding


def told_with(
    own: Sequence[Finding], findings: Sequence[Finding]
) -> tuple[list[Finding], list[Finding]]:
    """Return faults of one's own, each with what is known of a nameless finding in its place, and what is left over."""
    nameless = {
        _place(finding): finding
        for finding in reversed(findings)
        if finding.diagnosis == NONE_KNOWN
    }
    told = [
        replace(mine, text=f"{mine.text} {nameless[_place(mine)].text}")
        if _place(mine) in nameless
        else mine
        for mine in own
    ]
    taken = [nameless[_place(mine)] for mine in own if _place(mine) in nameless]
    return told, [finding for finding in findings if not any(finding is each for each in taken)]


def _place(finding: Finding) -> tuple[object, ...]:
    return finding.device, finding.tap, finding.packet, finding.t_ps


def _check_place(case: Case, fault: Declared) -> None:
    """Raise where a claim is at no stretch, tap, law or cause of the card."""
    card, at = case.facts.view.roles.card, fault.claim["at"]
    asked = [at]
    if fault.claim["unit"] == "law":
        known = [law.name for law in laws_of(card)]
    elif fault.claim["unit"] == "card":
        known = [cause.name for cause in card.causes]
    else:
        asked, known = at.split("->"), [tap.name for tap in card.taps]
    if not {*asked} <= {*known}:
        raise InputError(f"fault {fault.name}: claim.at = {at!r}; the card has {', '.join(known)}")


def _judged(case: Case, fault: Declared, claim: General) -> Finding | None:
    witnesses = heard(case, claim.seen, fault)
    says = [witness.says for witness in witnesses]
    if Says.AGAINST in says or Says.FOR not in says:
        return None
    doc = fault.doc if fault.doc.endswith((".", "!", "?")) or not fault.doc else f"{fault.doc}."
    text = f"{doc} Here {_in_words(*claim.key)}.".lstrip()
    return replace(
        claim.seen,
        diagnosis=fault.name,
        text=text,
        general=fault.is_a,
        witnesses=witnesses,
        pattern=pattern_of(case, claim.seen, witnesses),
        falsifier=f"It would be wrong if {fault.falsifier}." if fault.falsifier else "",
    )


def _in_words(what: str, unit: str, at: str) -> str:
    """Return a general claim as the end of a sentence."""
    if unit == "law":
        return f'the law "{at}" is broken'
    if unit == "card":
        return f"a card froze for {at}"
    place = f"between {at.replace('->', ' and ')}" if "->" in at else f"at {at}"
    one = f"a {unit}"
    said = {
        "altered": f"{one} changed",
        "omitted": f"{one} was lost",
        "duplicated": f"{one} came twice",
        "moved": f"{unit}s were lost, added or moved",
        "missing": f"{one} went in and did not come out",
        "extra": f"{one} came out that had not gone in",
        "reordered": f"{unit}s changed places",
        "bad": f"{one} failed its checks",
    }
    return f"{said.get(what, f'{one} was {what}')} {place}"


def learned(good: CaptureFolder, bad: CaptureFolder, name: str, called: str) -> str:
    """Return a fault file: the first claim that stands in the bad capture and not in the good one, with its witnesses.

    Args:
        called: what the bad one is explained as.
    Raises:
        InputError: the name is none, or nothing stands in the bad capture alone.
    """
    if not _NAME.fullmatch(name):
        raise InputError(f"--name {name!r}: small letters and digits, with - between them")
    if name in shipped():
        raise InputError(f"--name {name}: a fault that ships has this name; give another")
    fine, wrong = Case(Facts(CaptureView(good))), Case(Facts(CaptureView(bad)))
    before = {claim.key: claim for claim in general_claims(fine)}
    alone = [claim for claim in general_claims(wrong) if claim.key not in before]
    if not alone:
        raise InputError(
            f"{bad.path}: nothing stands in it that does not stand in {good.path}; nothing was written"
        )
    first = alone[0]
    seen = pattern(wrong, first)
    if not seen:
        raise InputError(
            f"{bad.path}: every witness of what it alone has is silent; nothing was written"
        )
    says = ", ".join(f"{witness} {value}" for witness, value in seen.items())
    also = "; ".join(" ".join(claim.key) for claim in alone[1:])
    lines = [
        f'name = "{name}"',
        f'doc = "Learned from {bad.path.name} beside {good.path.name}, where explain said {called}."',
        f"falsifier = 'a run without the fault shows the same: {_in_words(*first.key)}, with {says}'",
        f"# In {good.path.name} this claim stood 0 times; in {bad.path.name} alone stood also: {also or 'nothing'}.",
        "",
        "[claim]",
        *(f'{key} = "{value}"' for key, value in zip(_CLAIM, first.key, strict=True)),
        "",
        "[for]",
        *(f'{witness} = "{value}"' for witness, value in seen.items()),
    ]
    return "\n".join(lines) + "\n"


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

    ``seen`` is the first place that shows it. No value of a word is part of it, so that the same claim can be met again
    in another recording.
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
