"""A night of a guard in one table: what was caught, how often, since when, and what is not accounted for."""

from __future__ import annotations

import fcntl
import json
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from freezeframe.capture.count_text import plural
from freezeframe.capture.custody.accounts import KEPT_HERE
from freezeframe.capture.custody.guard_log import LOG, read_log, seconds_between
from freezeframe.capture.custody.store import (
    LOCK,
    NOT_EXPLAINED,
    REMOVED,
    captures_in,
    kind_of,
    unreadable_in,
)
from freezeframe.capture.errors import InputError
from freezeframe.capture.folder.manifest import MANIFEST
from freezeframe.capture.host_clock import clocks_text

_WORD_BITS = 64


@dataclass(slots=True)
class Kind:
    """All freezes with one finding: how many, when the first and the last were, which bits differ, in which flows."""

    name: str
    count: int = 0
    first: str | None = None
    last: str | None = None
    bits: Counter[int] = field(default_factory=Counter)
    flows: Counter[int] = field(default_factory=Counter)
    captures: list[str] = field(default_factory=list)

    def to_json(self) -> dict[str, Any]:
        return {
            "kind": self.name,
            "count": self.count,
            "first": self.first,
            "last": self.last,
            "bits": [{"bit": bit, "count": n} for bit, n in self.bits.most_common()],
            "flows": [{"flow": flow, "count": n} for flow, n in self.flows.most_common()],
            "captures": self.captures,
        }


@dataclass(frozen=True, slots=True)
class Night:
    """What a guard's directory tells. Times are ISO 8601 in UTC, None where nothing says them.

    Attributes:
        began, ended: first and last line of the guard's log.
        hours: that were watched, between the two.
        first: when the first freeze was seen.
        kinds: the most frequent first.
        fates: of generations, by what became of them.
        not_kept: the lines of the account of those that are not kept here.
        removed: captures that were kept or explained and are there no more.
        by_rule: how many of them the log says the rule of keeping has removed.
        kept_removed: generations whose capture it was.
        missing: what of the log could not be read.
        damaged: what has the name of a capture and cannot be read as one.
        shifts: when the clock of the machine was set, by the log.
        clocks: what the pull of each freeze says of the clock that its dates are by (`host_clock`); None: nothing.
    """

    directory: str
    freezes: int
    began: str | None
    ended: str | None
    hours: float
    first: str | None
    kinds: tuple[Kind, ...]
    fates: dict[str, int]
    not_kept: tuple[dict[str, Any], ...]
    removed: int
    not_explained: tuple[str, ...]
    missing: tuple[str, ...]
    damaged: tuple[str, ...] = ()
    shifts: tuple[str, ...] = ()
    by_rule: int = 0
    kept_removed: int = 0
    clocks: tuple[Any, ...] = ()

    @property
    def per_hour(self) -> float | None:
        """Return the rate; None of a single freeze, or of less than a tenth of an hour, which tell none."""
        return self.freezes / self.hours if self.freezes > 1 and self.hours >= 0.1 else None

    def to_json(self) -> dict[str, Any]:
        return {
            "directory": self.directory,
            "freezes": self.freezes,
            "began": self.began,
            "ended": self.ended,
            "hours": round(self.hours, 4),
            "per_hour": None if self.per_hour is None else round(self.per_hour, 3),
            "first": self.first,
            "kinds": [kind.to_json() for kind in self.kinds],
            "generations": self.fates,
            "not_kept": list(self.not_kept),
            "captures_removed": self.removed,
            "captures_removed_by_rule": self.by_rule,
            "generations_removed_by_rule": self.kept_removed,
            "not_explained": list(self.not_explained),
            "missing": list(self.missing),
            "damaged": list(self.damaged),
            "clock": list(self.shifts),
            "host_clock": {
                "in_step": sum(_in_step(clock) is True for clock in self.clocks),
                "not_in_step": sum(_in_step(clock) is False for clock in self.clocks),
                "unknown": sum(_in_step(clock) is None for clock in self.clocks),
            },
        }


def night(directory: Path) -> Night:
    """Sum up the directory of a guard.

    Raises:
        InputError: it is none: it has neither a guard's log nor captures.
    """
    here = captures_in(directory)
    damaged = unreadable_in(directory)
    log = read_log(directory)
    began, ended, since_s = _watched(directory, [when for when, _ in log.lines])
    if not here and not damaged and began is None:
        raise InputError(
            f"{directory}: is no directory of a guard: it has no {LOG} and no captures"
        )
    there = {path.name for path in (*here, *damaged)}
    told = {each["capture"]: each for each in log.explanations}
    for path in here:
        told.setdefault(path.name, {"capture": path.name, **_history(path)})
    lines = log.accounts
    for line in lines:
        if line.get("capture"):  # it may have been removed before it was explained
            seen = {"what": "frozen", "seen": line.get("when")}
            told.setdefault(line["capture"], {"capture": line["capture"], "history": [seen]})
    kinds: dict[str, Kind] = {}
    for name, each in sorted(told.items()):
        kind = kind_of(each) if "findings" in each else NOT_EXPLAINED
        _count(kinds.setdefault(kind, Kind(kind)), name, each)
    by_rule = {text.partition(REMOVED)[0] for _, text in log.lines if REMOVED in text}
    by_rule = (by_rule & told.keys()) - there
    moments = [kind.first for kind in kinds.values() if kind.first is not None]
    return Night(
        directory=str(directory),
        freezes=len(told),
        began=began,
        ended=ended,
        hours=(log.span_s + since_s) / 3600,
        first=min(moments, default=None),
        kinds=tuple(sorted(kinds.values(), key=lambda kind: (-kind.count, kind.name))),
        fates=dict(Counter(str(line["what"]) for line in lines)),
        not_kept=tuple(
            {
                key: line.get(key)
                for key in ("what", "boot_nonce", "generation", "by", "elsewhere", "when")
            }
            for line in lines
            if line["what"] != KEPT_HERE
        ),
        removed=sum(name not in there for name in told),
        not_explained=tuple(
            name
            for name, each in sorted(told.items())
            if "findings" not in each or each.get("error")
        ),
        missing=tuple(log.missing),
        damaged=tuple(map(str, damaged)),
        shifts=tuple(log.shifts),
        by_rule=len(by_rule),
        kept_removed=sum(
            line["what"] == KEPT_HERE and line.get("capture") in by_rule for line in lines
        ),
        clocks=tuple(map(_clock, told.values())),
    )


def night_lines(found: Night) -> list[str]:
    """Return a night for people, the sentence that says most first."""
    lines = [", ".join(_sentence(found))]
    if found.began is not None:
        lines.append(f"watched from {found.began} to {found.ended}, {found.hours:.1f} hours")
    if clocks := clocks_text(found.clocks, "freeze"):
        lines.append(clocks)
    for kind in found.kinds:
        when = "" if kind.first is None else f", first {kind.first}, last {kind.last}"
        lines.append(f"  {kind.count:>5}  {kind.name}{_bits(kind)}{_flows(kind)}{when}")
    if found.fates:
        fates = ", ".join(f"{count} {fate}" for fate, count in sorted(found.fates.items()))
        gone = f"; {found.kept_removed:,} of the kept were removed by the rule of keeping since"
        lines.append(f"generations: {fates}{gone if found.kept_removed else ''}")
    lines += [
        f"  not kept: generation {line['generation']} of boot {line['boot_nonce']}: {line['what']}"
        f"{' by ' + line['by'] if line['by'] else ''}"
        f"{', kept in ' + line['elsewhere'] if line['elsewhere'] else ''}"
        for line in found.not_kept
    ]
    if found.by_rule:
        lines.append(f"{plural(found.by_rule, 'capture')} removed by the rule of keeping (--keep)")
    if others := found.removed - found.by_rule:
        lines.append(
            f"{plural(others, 'capture')} not there any more: removed by --keep, or by somebody"
        )
    lines += [
        f"  {path}: cannot be read as a capture; freezeframe verify {path} says why"
        for path in found.damaged
    ]
    lines += [f"{LOG}: {line}" for line in found.shifts]
    lines += [f"missing in {LOG}: {line}" for line in found.missing]
    return lines


def _sentence(found: Night) -> list[str]:
    parts = [f"{found.freezes:,} freeze{'s' if found.freezes != 1 else ''}"]
    if found.kinds:
        top = found.kinds[0]
        parts.append(f"{top.count} {top.name}{_bits(top)}")
    if found.per_hour is not None and found.freezes:
        parts.append(
            f"{found.per_hour:.2g} an hour"
            if found.per_hour < 100
            else f"{found.per_hour:,.0f} an hour"
        )
    if found.first is not None:
        days = {moment[:10] for moment in (found.began, found.ended, found.first) if moment}
        # Of a night over midnight the time is enough; of weeks it is not.
        long = len(days) > 1 and found.hours >= 24
        parts.append(
            f"none before {found.first[:10] + ' ' if long else ''}{found.first[11:16]} UTC"
        )
    return parts


def _bits(kind: Kind) -> str:
    return _most("bit", kind.bits, kind.count)


def _flows(kind: Kind) -> str:
    return _most("flow", kind.flows, kind.count)


def _most(what: str, seen: Counter[int], of: int) -> str:
    """Return what most freezes share, of at least two; one of four is no pattern."""
    shared = [
        (value, count) for value, count in seen.most_common() if count >= 2 and 2 * count > of
    ]
    if not shared:
        return ""
    best = shared[0][1]
    # A change of two bits is one pattern: both are named.
    values = sorted(value for value, count in shared if count == best)
    several = f"{what}s" if len(values) > 1 else what
    return f", {several} {' and '.join(map(str, values))} in {best}"


def _count(kind: Kind, name: str, told: dict[str, Any]) -> None:
    kind.count += 1
    kind.captures.append(name)
    moment = _frozen(told)
    if moment is not None:
        kind.first = moment if kind.first is None else min(kind.first, moment)
        kind.last = moment if kind.last is None else max(kind.last, moment)
    findings = told.get("findings") or []
    if not findings:
        return
    kind.bits.update(set(_differing(findings[0].get("evidence") or [])))
    if isinstance(findings[0].get("flow"), int):
        kind.flows[findings[0]["flow"]] += 1


def _differing(evidence: Iterable[dict[str, Any]]) -> list[int]:
    """Return the bits in which a word of the evidence is not what was expected; none where many words differ."""
    for each in evidence:
        for row in each.get("rows") or []:
            value, expected = row.get("value"), row.get("expected")
            if row.get("table") != "words" or not value or not expected or value == expected:
                continue
            try:
                change = int(value, 16) ^ int(expected, 16)
            except (TypeError, ValueError):  # of no word
                continue
            bits = [bit for bit in range(_WORD_BITS) if change >> bit & 1]
            return bits if len(bits) <= 2 else []
    return []


def _frozen(told: dict[str, Any]) -> str | None:
    """Return when a freeze was seen, in whole seconds."""
    for act in told.get("history") or []:
        if act.get("what") == "frozen" and isinstance(act.get("seen"), str):
            return str(act["seen"])[:19] + "Z"
    return None


def _in_step(clock: Any) -> bool | None:
    known = clock.get("in_step") if isinstance(clock, dict) else None
    return known if isinstance(known, bool) else None


def _clock(told: dict[str, Any]) -> Any:
    """Return what the pull of a freeze says of the clock of its host; None where it says nothing."""
    for act in told.get("history") or []:
        if act.get("what") == "pulled":
            return act.get("clock")
    return None


def _history(path: Path) -> dict[str, Any]:
    try:
        history = json.loads((path / MANIFEST).read_bytes())["history"]
    except (OSError, ValueError, LookupError, TypeError, RecursionError):
        return {}
    return {
        "history": [act for act in history if isinstance(act, dict)]
        if isinstance(history, list)
        else None
    }


def _watched(directory: Path, stamps: Sequence[str]) -> tuple[str | None, str | None, float]:
    """Return when the first and the last look were, and the seconds since the last line of a guard that is at work."""
    if not stamps:
        return None, None, 0.0
    if not is_guarded(directory):
        return stamps[0], stamps[-1], 0.0
    now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    return stamps[0], now, seconds_between(stamps[-1], now)


def is_guarded(directory: Path) -> bool:
    """Return whether a guard works in a directory now."""
    try:
        with (directory / LOCK).open("rb") as file:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        return False
    return False
