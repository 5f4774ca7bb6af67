"""The tables of the diagnosis campaign as Markdown, and whether every asked figure is met."""

from __future__ import annotations

import multiprocessing
from collections import Counter
from collections.abc import Sequence

from tests.campaign.judge import Verdict, judge, judge_pair
from tests.campaign.runs import FAULTS, LOADS, Run

COMMANDS = {"emulator": "make campaign", "board": "make campaign-rtl"}
_WHAT = {"emulator": "emulated pair", "board": "verilated pair"}
_ASKED = 0.97  # right name first; right place of those that have one
_ASKED_PAIRS = 0.8

Judged = Sequence[tuple[Run, Verdict]]


def report(
    runs: Sequence[Run], seconds: float, on: str, planned: int | None = None
) -> tuple[str, bool]:
    """Return the tables and whether every asked figure is met; ``planned``: how many runs were to be made."""
    part = "" if planned in (None, len(runs)) else f" of {planned} planned"
    pairs = [run for run in runs if "+" in run.fault]
    judged = [(run, judge(run)) for run in runs if "+" not in run.fault]
    faults = [f for f in (*FAULTS, "none") if any(run.fault == f for run, _ in judged)]
    loads = [load for load in ("", *LOADS) if any(run.load == load for run, _ in judged)]
    lines = [
        f"# Diagnosis campaign{' on the simulated board' if on == 'board' else ''}",
        "",
        f"`{COMMANDS[on]}`: {len(runs)}{part} runs in {seconds / 60:.1f} minutes on "
        f"{multiprocessing.cpu_count()} cores. Each run: {_WHAT[on]} -> UDP Etherbone -> "
        "verified pull -> capture folder -> explanation; then, and only then, the truth.",
        "",
        *_figures(judged, pairs),
        *_by_load(judged, faults, loads),
        *_by_fault(judged, faults),
        *_confusion(judged, faults),
        *_causes(judged, faults),
        *_pair_table(pairs),
        *_times(runs),
    ]
    return "\n".join(lines) + "\n", _met(judged, pairs, faults)


def _share(found: Sequence[bool]) -> float:
    return sum(found) / len(found) if found else 1.0


def _named(judged: Judged) -> list[bool]:
    return [v.named for run, v in judged if run.fault != "none"]


def _pinned(judged: Judged) -> list[bool]:
    return [bool(v.placed) for _, v in judged if v.pinned]


def _placed(judged: Judged) -> list[bool]:
    return [v.placed for _, v in judged if v.placed is not None]


def _clean(judged: Judged) -> list[Verdict]:
    return [v for run, v in judged if run.fault == "none"]


def _both(pairs: Sequence[Run]) -> list[bool]:
    return [v.both for v in map(judge_pair, pairs) if v.counts]


def _met(judged: Judged, pairs: Sequence[Run], faults: Sequence[str]) -> bool:
    return (
        _share(_named(judged)) >= _ASKED
        and _share(_pinned(judged)) >= _ASKED
        and all(v.named for v in _clean(judged))
        and not any(v.one_end_wrong for _, v in judged)
        and _share(_both(pairs)) >= _ASKED_PAIRS
    )


def _figures(judged: Judged, pairs: Sequence[Run]) -> list[str]:
    lines = ["| figure | measured | asked |", "|---|---|---|"]
    named, pinned, placed = (f(judged) for f in (_named, _pinned, _placed))
    clean = _clean(judged)
    if named:
        lines.append(
            f"| right name first ({len(named)} runs) | {_share(named):.2%} | at least {_ASKED:.0%} |"
        )
    if pinned:
        lines.append(
            f"| every stated packet and word right, with device, tap, direction and flow ({len(pinned)} runs) "
            f"| {_share(pinned):.2%} | at least {_ASKED:.0%} |"
        )
    if placed:
        lines.append(
            f"| all that the truth says of the place, any fault | {_share(placed):.2%} | |"
        )
    if clean:
        found = sum(not v.named for v in clean)
        lines.append(f"| findings in {len(clean)} clean runs | {found} | 0 |")
    ends = sum(len(v.one_end_wrong) for _, v in judged)
    asked = sum(len(set(run.said) & {"A", "B"}) for run, _ in judged)
    if asked:
        lines.append(f"| wrong answers from one end alone ({asked} explanations) | {ends} | 0 |")
    both = _both(pairs)
    if pairs:
        lines.append(
            f"| two faults in one run, the second before the freeze ({len(both)} of {len(pairs)} runs): both "
            f"among the first three | {_share(both):.2%} | at least {_ASKED_PAIRS:.0%} |"
        )
        other = sum(bool(judge_pair(run).other) for run in pairs)
        lines.append(f"| a name of neither, in all {len(pairs)} runs with two faults | {other} | |")
    return [*lines, ""]


def _by_load(judged: Judged, faults: Sequence[str], loads: Sequence[str]) -> list[str]:
    if loads == [""]:
        return []
    lines = [
        "Named first, of so many runs, by the traffic's load:",
        "",
        "| fault | " + " | ".join(load or "by the seed" for load in loads) + " |",
        "|---|" + "---|" * len(loads),
    ]
    for fault in faults:
        cells = []
        for load in loads:
            mine = [v for run, v in judged if run.fault == fault and run.load == load]
            cells.append(f"{sum(v.named for v in mine)} of {len(mine)}" if mine else "")
        lines.append(f"| {_label(fault)} | " + " | ".join(cells) + " |")
    return [*lines, ""]


def _by_fault(judged: Judged, faults: Sequence[str]) -> list[str]:
    lines = [
        "| fault | runs | named first | place right | from A alone: right / wrong "
        "| from B alone: right / wrong |",
        "|---|---|---|---|---|---|",
    ]
    for fault in faults:
        mine = [v for run, v in judged if run.fault == fault]
        placed = [v.placed for v in mine if v.placed is not None]
        ends = [
            f"{sum(e in v.one_end_right for v in mine)} / {sum(e in v.one_end_wrong for v in mine)}"
            for e in "AB"
        ]
        where = f"{sum(placed)} of {len(placed)}" if placed else "-"
        named = sum(v.named for v in mine)
        lines.append(
            f"| {_label(fault)} | {len(mine)} | {named} | {where} | {ends[0]} | {ends[1]} |"
        )
    return [*lines, ""]


def _confusion(judged: Judged, faults: Sequence[str]) -> list[str]:
    known = [fault for fault in faults if fault != "none"]
    others = sorted({v.first for _, v in judged} - set(known) - {"(none)"})
    columns = [*known, *others, "(none)"]
    lines = [
        "Confusion matrix (rows: injected; columns: named first):",
        "",
        "| | " + " | ".join(columns) + " |",
        "|---|" + "---|" * len(columns),
    ]
    for fault in faults:
        count = Counter(v.first for run, v in judged if run.fault == fault)
        lines.append(f"| {fault} | " + " | ".join(str(count[c] or "") for c in columns) + " |")
    return [*lines, ""]


def _causes(judged: Judged, faults: Sequence[str]) -> list[str]:
    causes = Counter(
        (run.fault, cause) for run, _ in judged for c in run.causes.values() for cause in c
    )
    lines = ["Freeze causes seen (either device):", "", "| fault | causes |", "|---|---|"]
    for fault in faults:
        seen = ", ".join(f"{c} {n}" for (f, c), n in sorted(causes.items()) if f == fault)
        lines.append(f"| {fault} | {seen} |")
    return [*lines, ""]


def _pair_table(pairs: Sequence[Run]) -> list[str]:
    if not pairs:
        return []
    lines = [
        "Two faults in one run, by the first of them, counted where the second struck before the freeze.",
        "A fault has struck when it has changed something: a word, a credit, a count, an interrupt, a wait that would "
        "not have been.",
        "Being switched on is no strike: short-transfers strikes when its first message leaves A, credit-too-coarse "
        "when A waits for credit that",
        "B withholds while its FIFO is less than half full, word-duplicated when the second copy leaves the FIFO.",
        "",
        "| first fault | counted | both among the first three |",
        "|---|---|---|",
    ]
    for fault in FAULTS:
        mine = _both([run for run in pairs if run.fault.split("+")[0] == fault])
        if mine:
            lines.append(f"| {fault} | {len(mine)} | {sum(mine)} |")
    return [*lines, "", *_missed_pairs(pairs)]


def _missed_pairs(pairs: Sequence[Run]) -> list[str]:
    """Return the counted runs of which a fault was not named: which it was, and what was said instead."""
    judged = [(run, judge_pair(run)) for run in pairs]
    missed = sorted(
        (run.fault, run.load, run.seed, verdict.missing, verdict.said)
        for run, verdict in judged
        if verdict.counts and not verdict.both
    )
    if not missed:
        return []
    return [
        "Counted, and not both named:",
        "",
        "| the two faults | load | seed | not named | said |",
        "|---|---|---|---|---|",
        *(
            f"| {fault} | {load} | {seed} | {', '.join(missing)} | {', '.join(said) or '(none)'} |"
            for fault, load, seed, missing, said in missed
        ),
        "",
    ]


def _times(runs: Sequence[Run]) -> list[str]:
    done = [run for run in runs if not run.error]
    if not done:
        return []
    medians = [
        sorted(getattr(run, name) for run in done)[len(done) // 2]
        for name in ("emulate_s", "pull_s", "explain_s")
    ]
    return [
        f"Median seconds a run: until frozen {medians[0]:.2f}, pull {medians[1]:.2f}, "
        f"explanations {medians[2]:.2f}."
    ]


def _label(fault: str) -> str:
    return "no finding" if fault == "none" else fault
