"""What the runs of the campaign on foreign designs gave, and the page with its tables."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tests.campaign.card_model import FAULTS
from tests.campaign.foreign_plans import cannot
from tests.rtl.foreign.running import DESIGNS

SEEDS, CLEAN, FRAMES = 20, 200, 1_000_000
"""Asked of each fault, and of each design."""

HEAD = """\
# Campaign on designs that are not ours

`make campaign-foreign`: three receive paths of other people's blocks, generated from their packages, with the
recorder that `card build` writes, under Verilator. A stream is spoilt between two of their blocks, and neither
they nor the recorder know of it: the host arms, waits, pulls over UDP with every word verified, and
`explain_card` sees the capture alone.

- `liteeth-8`, `liteeth-32`: LiteEth's MAC core of 8 or 32 bits, sending to itself over a line of 8 bits; two
  clocks. Taps: the line with preamble and FCS, and what the MAC hands on, without FCS and with an error bit.
- `axis-512`: LiteX's streams of 512 bits: a packet FIFO that drops bad frames and those it has no room for, an
  asynchronous FIFO into another clock, a FIFO. Taps: before the packet FIFO, behind it, behind the other two.

Why LiteX's FIFOs: they come from a package index in any width, and as separate blocks, so that a fault can
stand between any two. The frames are a generator's in the bench.

A cell: right name and place, of so many runs. The place is the stretch or the tap, the packet by its bytes, and
the beat where one is told. Asked: 97 % on each design, no wrong name, no finding on a clean run. A name is
wrong when it is given as decided and is not the fault's. About half of what axis-512 loses its own FIFO loses,
while a receiver holds it up; LiteEth's core has no FIFO that drops, so there the bench takes the frame out
before or behind the MAC.
"""
FOOT = """\
All lengths from 64 to 9,000 B come at least once, so every number of bytes in a last beat; the receiver waits
at random. The rest are short frames, because a line of 8 bits takes a cycle a byte: a million frames of all
lengths alike would be 4,500,000,000 cycles.

A recording goes on for 64 records after the cause. On a stream of 8 bits those are 512 B: a frame with more
than that behind a gap is cut by the recording's end, and is named all the same.
"""


@dataclass(frozen=True, slots=True)
class Verdict:
    """How an explanation stands to the truth.

    Attributes:
        wrong: a name that is not the fault's, as if it were decided.
        said: the names it gave.
        delay: cycles from the hit packet's last beat to the cause that froze the card, at the tap where it came in;
            None where no checker of that tap froze it.
        whole: the packet that was hit is in the memory, whole.
    """

    design: str
    fault: str
    seed: int
    named: bool
    placed: bool
    wrong: bool
    said: tuple[str, ...]
    delay: int | None = None
    whole: bool = True


@dataclass(frozen=True, slots=True)
class Long:
    """A long clean run: what passed, whether the card froze, and what is said of it."""

    design: str
    frames: int
    bytes_: int
    line_cycles: int
    sys_cycles: int
    froze: bool
    dropped: int
    said: tuple[str, ...]


Result = Verdict | Long


def missed(verdict: Verdict) -> bool:
    """Tell whether a run is not as asked."""
    return verdict.wrong or not (verdict.named and verdict.placed and verdict.whole)


def told(verdict: Verdict) -> str:
    """Return a line about a run that was missed."""
    said = ", ".join(verdict.said) or "nothing"
    return (
        f"MISS {verdict.design} {verdict.fault} seed {verdict.seed}: {said}; placed {verdict.placed}, "
        f"whole {verdict.whole}, wrong {verdict.wrong}"
    )


def report(results: Sequence[Result]) -> str:
    """Return the tables as Markdown."""
    verdicts = [r for r in results if isinstance(r, Verdict)]
    lines = [
        HEAD,
        f"| what was done | its general name | {' | '.join(DESIGNS)} |",
        f"|---|---|{'---|' * len(DESIGNS)}",
    ]
    for fault, name in FAULTS.items():
        cells = []
        for design in DESIGNS:
            part = [v for v in verdicts if (v.design, v.fault) == (design, fault)]
            right = sum(v.named and v.placed for v in part)
            cells.append(
                f"{right} of {len(part)}" if part else f"cannot be: {cannot(design, fault)}"
            )
        lines.append(f"| {fault} | {name} | {' | '.join(cells)} |")
    faulty, clean = ([v for v in verdicts if (v.fault == "none") == none] for none in (False, True))
    right = sum(v.named and v.placed for v in faulty)
    each = ", ".join(f"{sum(v.design == d for v in clean)} of {d}" for d in DESIGNS)
    lines += [
        "",
        f"Together {right} of {len(faulty)} ({100 * right / max(1, len(faulty)):.1f} %); wrong names: "
        f"{sum(v.wrong for v in faulty)}; findings on {len(clean)} clean runs ({each}): {sum(v.wrong for v in clean)}.",
        *_open(faulty, clean),
        "",
        "## Where the cause stands, and the frame",
        "",
        "Cycles of the stream from the last beat of the frame that was hit to the cause; below 0: inside it.",
        "",
        f"| what was done | {' | '.join(DESIGNS)} |",
        f"|---|{'---|' * len(DESIGNS)}",
    ]
    for fault in ("bad-fcs", "runt", "gap"):
        cells = []
        for design in DESIGNS:
            here = [
                v.delay
                for v in verdicts
                if (v.design, v.fault) == (design, fault) and v.delay is not None
            ]
            cells.append(f"{min(here)} to {max(here)} ({len(here)} runs)" if here else "")
        lines.append(f"| {fault} | {' | '.join(cells)} |")
    hit = [v for v in faulty if v.fault != "stall"]
    lines += [
        "",
        f"In {sum(v.whole for v in hit)} of {len(hit)} runs the frame that was hit is in the memory, whole.",
        "",
        "## Long clean runs",
        "",
        "| design | frames | bytes | cycles of the line | cycles of sys | freezes | dropped | findings |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for long in (r for r in results if isinstance(r, Long)):
        lines.append(
            f"| {long.design} | {long.frames:,} | {long.bytes_:,} | {long.line_cycles:,} | {long.sys_cycles:,} "
            f"| {int(long.froze)} | {long.dropped} | {len(long.said)} |"
        )
    return "\n".join([*lines, "", FOOT])


def _open(faulty: Sequence[Verdict], clean: Sequence[Verdict]) -> list[str]:
    """Return a line where less was run than is asked."""
    cells = sum(not cannot(design, fault) for design in DESIGNS for fault in FAULTS)
    asked = SEEDS * cells, CLEAN * len(DESIGNS)
    if (len(faulty), len(clean)) == asked:
        return []
    return [
        "",
        f"Not run in full: {len(faulty)} of {asked[0]} runs with a fault, {len(clean)} of {asked[1]} clean ones.",
    ]
