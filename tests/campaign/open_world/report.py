"""The page of the open-world campaign: figures, certain and wrong, reliability, confusion, and what is missed."""

from __future__ import annotations

import argparse
import json
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise
from pathlib import Path
from statistics import median
from typing import Any

from freezeframe.emulator.open_world.table import ENTRIES
from tests.campaign.open_world.decidable import ONE_LAW, UPSETS
from tests.campaign.open_world.judge import NOTHING, OPEN

Record = dict[str, Any]

DOCS = Path(__file__).parents[3] / "docs"
PAGE = DOCS / "campaign-open.md"
WORLDS = {1: "the eighteen faults", 2: "faults in no list", 3: "random geometries"}
_BINS = (0.0, 0.3, 0.5, 0.6, 0.7, 0.8, 0.85, 0.9, 0.95, 0.98, 0.99, 1.0001)
_SUSPECT = "recorder-suspect"
_ASKED_RUNS = 5000
_SHOWN = 40  # lines of a list
_WIDE, _EDGE = 320, 40  # of the diagram, in its own units


def first_answers(records: Iterable[Record], ends: str = "both") -> list[Record]:
    """Return the first answer of each run that had one, or said nothing."""
    return [r for r in records if r["ends"] == ends and r.get("rank") == 0]


def wrong_and_certain(records: Iterable[Record]) -> list[Record]:
    """Return the answers that were certain and are not so, from both ends or one."""
    return [r for r in records if r.get("certain") and r["right"] is False]


def share(records: Sequence[Record], holds: Callable[[Record], bool]) -> str:
    """Return ``n of m (p %)``."""
    count = sum(1 for record in records if holds(record))
    return (
        f"{count} of {len(records)} ({100 * count / len(records):.1f} %)" if records else "no run"
    )


def figures(records: list[Record], runs: int) -> list[tuple[str, str, str]]:
    """Return each figure, what was measured, and what is asked."""
    first = first_answers(records)
    listed = [r for r in first if r["world"] == 1 and r["kind"] == "listed"]
    answered = [r for r in listed if r["right"] is not None]
    clean = [r for r in first if r["world"] == 1 and r["kind"] == "clean"]
    cards = [r for r in first if r["world"] == 3 and r["kind"] == "listed"]
    cards_clean = [r for r in first if r["world"] == 3 and r["kind"] == "clean"]
    unlisted = [r for r in first if r["kind"] not in ("listed", "clean")]
    data = [r for r in unlisted if r["kind"] == "data" and r["truth"].get("tap")]
    stalls = [r for r in unlisted if r["kind"] == "stall"]
    upsets = [r for r in unlisted if r["kind"] in UPSETS]
    told = [r for r in upsets if r.get("decided_by", True)]
    on_recorder = [r for r in told if r["kind"] == "recorder"]
    bits = [
        r for r in told if isinstance(r["detail"].get("bit"), int) and r["fault"] != "level-one-off"
    ]
    either = [r for r in bits if r.get("decided_by") == ONE_LAW]
    alone = [r for r in bits if r.get("decided_by") != ONE_LAW]
    return [
        (f"certain and wrong, in {runs} runs, both ends and one end", str(len(wrong_and_certain(records))), "0"),
        ("first world: named first", share(listed, lambda r: r["name"] == r["fault"]), "99.8 %"),
        ("first world: place right of those named", share(answered, lambda r: bool(r["right"])), "99.6 %"),
        ("first world: with a certain answer", share(listed, lambda r: r["certain"]), "95 %"),
        ("first world: clean runs without a finding", share(clean, lambda r: r["name"] == NOTHING), "all"),
        ("random geometries: named first", share(cards, lambda r: r["name"] == r["fault"]), "98 %"),
        ("random geometries: named first, or a set of that name and a register one bit off that cannot be told apart",
         share(cards, _named_or_register), ""),
        ("random geometries: named first, of those whose log reaches back to the fault",
         share([r for r in cards if r.get("reached")], lambda r: r["name"] == r["fault"]), ""),
        ("random geometries: with a certain answer", share(cards, lambda r: r["certain"]), "80 %"),
        ("random geometries: clean runs without a finding", share(cards_clean, lambda r: r["name"] == NOTHING), "all"),
        ("unlisted faults called by a name that is not theirs", share(unlisted, lambda r: r["right"] is False), "1 %"),
        ("unlisted data faults that a memory still shows: first bad tap right, and packet where one is named",
         share([r for r in data if r["held"]], _placed), "95 %"),
        ("unlisted data faults that every memory has written over: placed all the same, by laws and counters",
         share([r for r in data if not r["held"]], _placed), ""),
        ("unlisted stalls: the card that stopped is named", share(stalls, _stopper), "99 %"),
        ("upsets of the recorder, contradicted: recorder-suspect", share(on_recorder, _suspected), "95 %"),
        ("upsets of one bit, contradicted: recorder-suspect with that bit", share(alone, _with_bit), "95 %"),
        ("upsets of one bit, contradicted by one law alone: a set with that bit", share(either, _names_bit), "95 %"),
        ("upsets of recorder or register called a fault of the card", share(upsets, _blamed), "none"),
    ]  # fmt: skip


def _named_or_register(record: Record) -> bool:
    candidates = record.get("candidates", ())
    return bool(record["name"] == record["fault"]) or (
        record["fault"] in candidates and _SUSPECT in candidates
    )


def _suspected(record: Record) -> bool:
    return bool(record["name"] == _SUSPECT)


def _suspected_or_untold(record: Record) -> bool:
    either = record.get("decided_by") == ONE_LAW and (
        record["name"] == "law-broken" or _SUSPECT in record.get("candidates", ())
    )
    return _suspected(record) or either or not record.get("decided_by", True)


def _blamed(record: Record) -> bool:
    return bool(record["name"] not in (NOTHING, *OPEN, _SUSPECT))


def _stopper(record: Record) -> bool:
    nothing = record["name"] == NOTHING
    said = record.get("stopped") if nothing else record["said"]["device"]
    return bool(said == record["truth"]["device"])


def _placed(record: Record) -> bool:
    return bool(record["placed"])


def _with_bit(record: Record) -> bool:
    return _suspected(record) and _names_bit(record)


def _names_bit(record: Record) -> bool:
    bit = record["detail"]["bit"]
    said = re.findall(
        r"\bbits? (\d+(?: to \d+)?(?:(?:, | or )\d+(?: to \d+)?)*)", record.get("text", "")
    )
    runs = [run.split(" to ") for each in said for run in re.split(", | or ", each)]
    return any(int(run[0]) <= bit <= int(run[-1]) for run in runs) and not _blamed(record)


def frequency(record: Record) -> float | None:
    """Return how often such an answer was right when it was counted, ``(n + 1) / (m + 2)``; None where it never was.

    It is not what is printed: whatever is not certain is printed below 0.9, however often it was right.
    """
    if not record.get("counted") or record["right"] is None:
        return None
    right, of = (int(number.replace(",", "")) for number in record["counted"].split(" of "))
    return (right + 1) / (of + 2)


def reliability(records: list[Record]) -> list[tuple[float, float, int, int, float]]:
    """Return ``(from, to, answers, right, mean frequency)`` of each bin of counted frequency."""
    counted = [(f, bool(r["right"])) for r in records if (f := frequency(r)) is not None]
    rows = []
    for low, high in pairwise(_BINS):
        inside = [(f, right) for f, right in counted if low <= f < high]
        if inside:
            mean = sum(f for f, _ in inside) / len(inside)
            rows.append((low, min(high, 1.0), len(inside), sum(r for _, r in inside), mean))
    return rows


def page(records: list[Record], runs: int, seconds: float, workers: int) -> tuple[str, str]:
    """Return the page and the reliability diagram as SVG."""
    spent = [r for r in records if "emulate_s" in r]
    cost = ", ".join(f"{what} {median(r[key] for r in spent):.3f}" for what, key in _COSTS if spent)
    lines = [
        "# Open-world campaign",
        "",
        f"`make campaign-open`: {runs} runs in {seconds / 60:.1f} minutes with {workers} processes, "
        f"{runs / max(seconds, 1):.2f} a second (median processor seconds: {cost}). Each run: emulated pair, pulled, "
        "explained from both ends and from each alone; then the truth. Three worlds: the eighteen faults of "
        "[faults.md](faults.md), the faults of [open-world-faults.md](open-world-faults.md), for which the diagnosis "
        "was not made, and cards of random geometry with faults of either kind and without. Seeds below 1,000,000 "
        "are for counting, those from 1,001,000 on for testing.",
        "",
        "| figure | measured | asked |",
        "|---|---|---|",
        *(f"| {name} | {value} | {asked} |" for name, value, asked in figures(records, runs)),
        "",
        *_limits(records, runs),
        *_troubles(records),
        "## Certain and wrong",
        "",
        *wrong(records),
        "## Reliability",
        "",
        "Answers that name something, from both ends and from one, by how often such an answer was right when it was "
        "counted (what is not certain is printed below 0.9 even where that is more); the share that was right now.",
        "",
        "![share right by confidence](images/reliability.svg)",
        "",
        "| counted | answers | right | share | off the mean of what was counted by |",
        "|---|---|---|---|---|",
        *(
            f"| {low:.2f} to {high:.2f} | {count} | {right} | {right / count:.3f} | {right / count - mean:+.3f} |"
            for low, high, count, right, mean in reliability(records)
        ),
        "",
        *_uncounted(records),
        "## What was said first, from both ends",
        "",
    ]
    for world, title in WORLDS.items():
        lines += [f"### World {world}: {title}", "", *confusion(records, world), ""]
    lines += ["## What is missed", "", *missed(records)]
    return "\n".join(lines) + "\n", diagram(reliability(records))


_COSTS = (("emulation", "emulate_s"), ("pull", "pull_s"), ("explanation of both ends", "explain_s"))


def _limits(records: list[Record], runs: int) -> list[str]:
    """Return what these figures cannot say."""
    lines = []
    if runs < _ASKED_RUNS:
        lines += [f"{_ASKED_RUNS:,} runs are asked for; these are {runs:,}.", ""]
    named = [r for r in records if r.get("confidence") is not None and r["right"] is not None]
    if named and not any(r["confidence"] for r in named):
        lines += [
            "No confidence was counted yet when these answers were given, so that none is certain: the figures on "
            "certain answers say nothing, those on names and places do.",
            "",
        ]
    return lines


def _uncounted(records: list[Record]) -> list[str]:
    """Return how many answers had a pattern that was never counted, and of those how many were right."""
    named = [r for r in records if r.get("confidence") is not None and r["right"] is not None]
    never = [r for r in named if frequency(r) is None]
    right = sum(bool(r["right"]) for r in never)
    return [
        f"{len(never):,} of {len(named):,} answers had a pattern that was never counted, printed so; "
        f"right of these: {right:,}.",
        "",
    ]


def _troubles(records: list[Record]) -> list[str]:
    errors = [r for r in records if r["name"] == "(error)"]
    unseen = Counter(r["fault"] for r in records if r["name"] == "(not shown)")
    lines = []
    if errors:
        lines += ["Runs that broke:", ""]
        lines += [f"- {_run(r)}, {r['ends']}: `{r['error'][:200]}`" for r in errors[:_SHOWN]]
        lines += [""]
    if unseen:
        told = ", ".join(f"{fault} {count}" for fault, count in unseen.most_common())
        lines += [f"Runs in which the fault did not come within its time, not counted: {told}.", ""]
    return lines


def _run(record: Record) -> str:
    card = f", card {record['card']}" if record["card"] >= 0 else ""
    return f"{record['fault']}{' ' + record['load'] if record['load'] else ''} seed {record['seed']}{card}"


def wrong(records: list[Record]) -> list[str]:
    """Return the table of the answers that were certain and are not so."""
    answers = wrong_and_certain(records)
    if not answers:
        return ["None.", ""]
    by = Counter((r["fault"], r["name"], r["ends"]) for r in answers)
    lines = ["| fault | said | from | times | an example |", "|---|---|---|---|---|"]
    for (fault, name, ends), count in by.most_common():
        one = next(r for r in answers if (r["fault"], r["name"], r["ends"]) == (fault, name, ends))
        card = f", card {one['card']}" if one["card"] >= 0 else ""
        lines.append(
            f"| {fault} | {name} {one['confidence']:.2f} | {ends} | {count} | seed {one['seed']}{card} |"
        )
    return [*lines, ""]


def confusion(records: list[Record], world: int) -> list[str]:
    """Return the table of what was said first of each fault of a world."""
    first = [r for r in first_answers(records) if r["world"] == world]
    rows: dict[str, list[Record]] = defaultdict(list)
    for record in first:
        rows[record["fault"]].append(record)
    lines = ["| fault | runs | certain | said first |", "|---|---|---|---|"]
    for fault in sorted(rows, key=_place_in_table):
        said = Counter(r["name"] for r in rows[fault])
        told = ", ".join(f"{name} {count}" for name, count in said.most_common())
        certain = sum(bool(r["certain"]) for r in rows[fault])
        lines.append(f"| {fault} | {len(rows[fault])} | {certain} | {told} |")
    return lines


def _place_in_table(fault: str) -> tuple[int, str]:
    return (list(ENTRIES).index(fault), "") if fault in ENTRIES else (-1, fault)


def missed(records: list[Record]) -> list[str]:
    """Return by kind which faults were not told as asked, and how often."""
    first = first_answers(records)
    lines = []
    upsets = [r for r in first if r["kind"] in UPSETS and "decided_by" in r]
    if upsets:
        total = Counter(r["fault"] for r in upsets)
        apart = Counter(r["fault"] for r in upsets if not r["decided_by"])
        told = ", ".join(f"{fault} {n} of {total[fault]}" for fault, n in apart.most_common())
        by = Counter(r["decided_by"] for r in upsets if r["decided_by"])
        how = ", ".join(f"{witness} {n}" for witness, n in by.most_common())
        lines += [
            f"What contradicts an upset, by its mechanism and whatever was answered: {how}. Nothing that was recorded "
            f"contradicts {sum(apart.values())} of {len(upsets)}, which the figures leave out: {told or 'none'}.",
            "",
        ]
    for kind, title, holds in (
        ("listed", "Listed faults that were not named", lambda r: r["name"] == r["fault"]),
        ("data", "Data faults whose first bad place was not told", lambda r: r["placed"] in (True, None)),
        ("stall", "Stalls whose stopper was not told", _stopper),
        ("recorder", "Faults of the recorder that were not suspected, and could be", _suspected_or_untold),
        ("register", "Registers that were not suspected, and could be", _suspected_or_untold),
        ("host", "Faults of host and driver of which nothing was said", lambda r: r["name"] != NOTHING),
        ("clean", "Clean runs with a finding", lambda r: r["name"] == NOTHING),
    ):  # fmt: skip
        others = [r for r in first if r["kind"] == kind and not holds(r)]
        if others:
            total = Counter(r["fault"] for r in first if r["kind"] == kind)
            by = Counter(r["fault"] for r in others)
            told = ", ".join(f"{fault} {n} of {total[fault]}" for fault, n in by.most_common())
            lines += [f"{title}: {told}.", ""]
    return lines


def diagram(rows: list[tuple[float, float, int, int, float]]) -> str:
    """Return the reliability diagram: a point a bin, as large as it has answers, beside the diagonal."""
    points = []
    for _, _, count, right, mean in rows:
        x, y = _EDGE + _WIDE * mean, _EDGE + _WIDE * (1 - right / count)
        radius = 2 + min(10, count**0.5 / 4)
        points.append(
            f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{radius:.1f}" fill="#2563eb">'
            f"<title>{right} of {count}</title></circle>"
        )
    whole, middle, end = _WIDE + 2 * _EDGE, _EDGE + _WIDE // 2, _EDGE + _WIDE
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {whole} {whole}" font-family="sans-serif">',
        f'<rect x="{_EDGE}" y="{_EDGE}" width="{_WIDE}" height="{_WIDE}" fill="white" stroke="#888"/>',
        f'<line x1="{_EDGE}" y1="{end}" x2="{end}" y2="{_EDGE}" stroke="#bbb"/>',
        *points,
        f'<text x="{middle}" y="{whole - 10}" text-anchor="middle">counted frequency, 0 to 1</text>',
        f'<text x="14" y="{middle}" text-anchor="middle" transform="rotate(-90 14 {middle})">share right</text>',
        "</svg>",
    ]
    return "\n".join(lines) + "\n"


def main() -> None:
    """Make the page of files of answers."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--minutes", type=float, default=0.0, help="how long they took")
    parser.add_argument("--write", action="store_true", help="write docs/campaign-open.md")
    args = parser.parse_args()
    records = [json.loads(line) for path in args.files for line in path.open()]
    runs = len({(r["world"], r["fault"], r["load"], r["seed"], r["card"]) for r in records})
    text, svg = page(records, runs, 60 * args.minutes, 2)
    print(text)
    if args.write:
        PAGE.write_text(text)
        (PAGE.parent / "images" / "reliability.svg").write_text(svg)


if __name__ == "__main__":
    main()
