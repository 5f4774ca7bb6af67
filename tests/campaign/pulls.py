"""The pull campaign: verified pulls through a UDP proxy that loses, doubles, reorders and alters.

Each pull is from a target that restarts twice, in every third run the second time without its
recording. It must be identical to a clean pull or state what is missing; no word may be wrong.
Prints a table and, when whole, writes docs/campaign-pull.md. ``make campaign-pull``.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from pathlib import Path

from tests.capture.recorder.bad_network import Fates, Outcome, one_pull

PAGE = Path(__file__).parents[2] / "docs" / "campaign-pull.md"
WHOLE = 200


def report(outcomes: list[Outcome], seconds: float) -> tuple[str, bool]:
    """Return the table as Markdown, and whether what is asked holds."""
    fates = Fates()
    kept = [o for o in outcomes if not o.recording_lost]
    lost = [o for o in outcomes if o.recording_lost]
    wrong = sum(o.wrong_words for o in outcomes)
    dishonest = [o.seed for o in outcomes if not o.honest]
    rows = [
        ("pulls", str(len(outcomes)), ""),
        ("wrong words", str(wrong), "0"),
        ("neither identical nor stated as incomplete", str(len(dishonest)), "0"),
        (
            f"identical to a clean pull, recording kept ({len(kept)} pulls)",
            str(sum(o.identical for o in kept)),
            str(len(kept)),
        ),
        (
            f"power-cycled in mid-pull ({len(lost)} pulls): finished before / partial, gaps stated "
            "/ nothing kept, error",
            f"{sum(o.identical for o in lost)} / "
            f"{sum(not o.identical and not o.error for o in lost)} / "
            f"{sum(bool(o.error) for o in lost)}",
            "",
        ),
        (
            "restarts, altered datagrams",
            f"{_sum(outcomes, 'restarts')}, {_sum(outcomes, 'altered')}",
            "",
        ),
        ("chunks and words read again", str(_sum(outcomes, "retries")), ""),
        ("outages waited for", str(_sum(outcomes, "outages")), ""),
    ]
    lines = [
        f"{len(outcomes)} pulls in {seconds / 60:.1f} minutes, two devices of five memories of 2,048 "
        f"records: {fates.lost:.0%} of datagrams lost, {fates.doubled:.0%} doubled, "
        f"{fates.delayed:.0%} delayed, {fates.altered:.0%} altered, target restarted twice.",
        "",
        "| figure | measured | asked |",
        "|---|---|---|",
        *(f"| {name} | {value} | {asked} |" for name, value, asked in rows),
    ]
    good = wrong == 0 and not dishonest and all(o.identical for o in kept)
    return "\n".join(lines) + "\n", good


def main() -> None:
    """Run the campaign from the command line; exit 1 when what is asked does not hold."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--pulls", type=int, default=WHOLE, help=f"how many ({WHOLE})")
    parser.add_argument("--first", type=int, default=0, help="the first seed (0)")
    parser.add_argument("--depth", type=int, default=2048, help="records in a memory (2048)")
    args = parser.parse_args()
    outcomes = []
    started_s = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="ff-pulls-") as place:
        for seed in range(args.first, args.first + args.pulls):
            outcome = one_pull(seed, Path(place) / f"{seed}.ff", depth=args.depth)
            outcomes.append(outcome)
            if not outcome.honest or (not outcome.identical and not outcome.recording_lost):
                print(f"\nMISS {outcome}", file=sys.stderr)
            if sys.stderr.isatty():
                print(f"\r{len(outcomes)} of {args.pulls}", end="", file=sys.stderr)
    table, good = report(outcomes, time.monotonic() - started_s)
    print(table)
    if args.pulls >= WHOLE and args.depth == 2048:
        PAGE.write_text(f"# Pulls through a bad network\n\n`make campaign-pull`: {table}")
    sys.exit(0 if good else 1)


def _sum(outcomes: list[Outcome], name: str) -> int:
    return sum(getattr(outcome, name) for outcome in outcomes)


if __name__ == "__main__":
    main()
