"""What a run of the diagnosis campaign counts as: what was said beside the truth."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from tests.campaign.runs import Run

PLACE = ("device", "tap", "direction", "flow", "packet", "word")
OPEN = ("undetermined", "none-of-the-known", "law-broken")
"""Answers that name no fault: what is known is said, and nothing else claimed."""
_FIRST = 3  # findings that count where two faults were injected


@dataclass
class Verdict:
    """What a run counts as.

    ``placed``: everything the truth says of the place is right; None for a clean run. ``pinned``: the truth
    names a packet, so that the place counts among the figures for packets and words.
    """

    first: str  # the first diagnosis, or "(none)" or "(error)"
    named: bool
    placed: bool | None
    one_end_wrong: list[str] = field(default_factory=list)
    one_end_right: list[str] = field(default_factory=list)
    pinned: bool = False


@dataclass
class PairVerdict:
    """``counts``: the second fault struck before the freeze. ``both``: both are among the first three findings, by
    their names or as the first of a set that is not decided.

    ``missing``: those of the two that are not. ``other``: names of neither that were given.
    """

    counts: bool
    both: bool
    said: tuple[str, ...]
    missing: tuple[str, ...] = ()
    other: tuple[str, ...] = ()


def judge(run: Run) -> Verdict:
    """Compare what was said to the truth; a clean run is right when nothing was said."""
    if run.error:
        return Verdict("(error)", False, None if run.fault == "none" else False)
    both = run.said["both"]
    first = both[0]["diagnosis"] if both else "(none)"
    ends = [end for end in "AB" if end in run.said]
    if run.fault == "none":
        silent = [end for end in ends if not run.said[end]]
        wrong = [e for e in ends if any(f["diagnosis"] not in OPEN for f in run.said[e])]
        return Verdict(first, not both, None, wrong, silent)
    truth = run.truth["injections"][-1]
    known = [key for key in PLACE if truth[key] is not None]
    named = first == run.fault
    placed = named and all(both[0][key] == truth[key] for key in known)
    wrong, right = [], []
    for end in ends:
        named_here = [f for f in run.said[end] if f["diagnosis"] not in OPEN]
        if any(_wrong(f, run.fault, truth, known) for f in named_here):
            wrong.append(end)
        elif named_here:
            right.append(end)
    return Verdict(first, named, placed, wrong, right, truth["packet"] is not None)


def judge_pair(run: Run) -> PairVerdict:
    """Judge a run with two faults; a fault counts from its strike on: when it has changed a word, a count or a wait."""
    if run.error:
        return PairVerdict(False, False, ("(error)",))
    names = run.fault.split("+")
    wanted = set(names)
    last = max((stop["generation"] for stop in run.truth.get("freezes", [])), default=1)
    struck = {
        one["fault"]
        for one in run.truth["injections"]
        if one["before_freeze"] and one["generation"] == last
    }
    # A set is judged by the name that stands first in it: it is said that it is one of these.
    said = tuple((f.get("candidates", ()) or [f["diagnosis"]])[0] for f in run.said["both"])
    named = {finding["diagnosis"] for finding in run.said["both"]}
    first = said[:_FIRST]
    missing = tuple(name for name in names if name not in first)
    other = tuple(sorted(named - {*names, *OPEN}))
    return PairVerdict(wanted <= struck, not missing, said, missing, other)


def _wrong(finding: dict[str, Any], fault: str, truth: dict[str, Any], known: list[str]) -> bool:
    return finding["diagnosis"] != fault or any(
        finding[key] not in (None, truth[key]) for key in known
    )
