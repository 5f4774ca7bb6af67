"""The iWARP campaign: millions of legal FPDUs, captures beside tshark, every breach, and conformance of broken copies.

The streams are of a generator that shares no code with the decoder. Prints tables and, when whole, writes
docs/campaign-iwarp.md. ``make campaign-iwarp``.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from freezeframe.emulator.iwarp.conform.outcome import FAIL
from freezeframe.emulator.iwarp.conform.suite import chosen, judge
from tests.campaign.fuzz_packets import SECTION
from tests.decoders.iwarp.breaches import NAMES, break_stream
from tests.decoders.iwarp.bulk import write_bulk
from tests.decoders.iwarp.compare import (
    breach_differences,
    breaches_found,
    decode,
    decode_file,
    found_whole,
    fpdu_differences,
    operation_differences,
    source_of,
    strays,
    unfounded,
)
from tests.decoders.iwarp.damage import damaged
from tests.decoders.iwarp.make import make_stream, merged
from tests.decoders.iwarp.truth import complete
from tests.decoders.iwarp.tshark import TSHARK, Row, expected_row, read_rows
from tests.emulator.iwarp.broken_copies import INITIATORS, RESPONDERS
from tests.emulator.iwarp.subject import initiator, responder

PAGE = Path(__file__).parents[2] / "docs" / "campaign-iwarp.md"
WHOLE = (10_000_000, 1000, 20)
PIECE = 500_000  # FPDUs of a file
BATCH = 100  # captures of a file that tshark reads
BESIDE = """What tshark 4.0 cannot read, and what the captures beside it therefore do without:

- markers, unless each FPDU stands alone in its segment;
- an FPDU of which less than 20 octets stand in the segment in which it begins: it is lost, and what follows it too;
- MPA frames that do not begin and end with a segment.

By default it also takes short Sends for RPC over RDMA, fails on them, and loses the FPDUs behind them in the packet;
port 57000 it takes for IRC; and segments out of order need `tcp.reassemble_out_of_order`."""
_SHARED: dict[str, Any] = {"reject": False, "streaming_B": (0, 0), "wants_markers": (False, False)}


@dataclass(slots=True)
class Tally:
    """What came out; `wrong`: a line for each thing that should not be."""

    rows: list[tuple[str, str, str]] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)

    def add(self, figure: str, measured: object, asked: object = "") -> None:
        self.rows.append(
            (figure, f"{measured:,}" if isinstance(measured, int) else str(measured), str(asked))
        )


def bulk(tally: Tally, fpdus: int, path: Path) -> None:
    """Decode so many legal FPDUs; nothing may be found in them, and none may be missing."""
    made = found = events = seed = 0
    while made < fpdus:
        count, payload_B = write_bulk(path, min(PIECE, fpdus - made), seed)
        tables = decode_file(path, payload=False)
        rows = tables["fpdus"].num_rows
        if (
            tables["events"].num_rows
            or rows != count
            or sum(tables["fpdus"]["payload_B"].to_pylist()) != payload_B
        ):
            tally.wrong.append(
                f"bulk, seed {seed}: {tables['events'].num_rows} events, {rows} FPDUs of {count}"
            )
        made, found, events, seed = (
            made + count,
            found + rows,
            events + tables["events"].num_rows,
            seed + 1,
        )
    tally.add("legal FPDUs in bulk", made, f"{fpdus:,}")
    tally.add("of them decoded", found, f"{made:,}")
    tally.add("events in them", events, 0)


def legal(tally: Tally, captures: int, path: Path) -> None:
    """Compare random legal captures with the truth, field by field."""
    wrong = fpdus = 0
    for seed in range(captures):
        capture, truth = make_stream(seed)
        tables = decode(capture, path)
        lines = [row["text"] for row in breaches_found(tables)]
        lines += fpdu_differences(tables, truth) + operation_differences(tables, truth)
        wrong += bool(lines)
        fpdus += len(truth.fpdus)
        tally.wrong += [f"legal, seed {seed}: {line}" for line in lines[:2]]
    tally.add(
        f"random legal captures ({fpdus:,} FPDUs, every packing, markers): with a difference or a finding",
        wrong,
        0,
    )


def beside_tshark(tally: Tally, captures: int, path: Path) -> None:
    """Compare tshark, the truth and the decoder on captures without markers."""
    if not TSHARK:
        tally.add("captures beside tshark", "tshark is not installed")
        return
    wrong = fpdus = 0
    for begin in range(0, captures, BATCH):
        count, lines = _batch_beside_tshark(range(begin, min(begin + BATCH, captures)), path)
        fpdus += count
        wrong += len(lines)
        tally.wrong += lines.values()
    tally.add(
        f"captures without markers ({fpdus:,} FPDUs) where decoder, tshark and truth differ",
        wrong,
        f"0 of {captures:,}",
    )


def _batch_beside_tshark(seeds: range, path: Path) -> tuple[int, dict[int, str]]:
    """Compare the captures of some seeds, as one file: tshark starts once. Return the FPDUs; by seed what differs."""
    parts, seed_of = [], []
    for seed in seeds:
        calm = bool(seed % 2)
        parts.append(make_stream(10_000 + seed, calm=calm, for_tshark=True, **_SHARED))
        seed_of += [seed] * len(parts[-1][1].connections)
    capture, truth = merged(parts)
    sources = {source_of(truth, n, side): seed for n, seed in enumerate(seed_of) for side in (0, 1)}
    lines: dict[int, str] = {}
    for line in fpdu_differences(decode(capture, path), truth):
        seed = sources[line.split(" ")[0].removesuffix(":")]
        lines.setdefault(seed, f"tshark, seed {seed}: {line}")
    wanted: dict[int, Counter[Row]] = {seed: Counter() for seed in seeds}
    found: dict[int, Counter[Row]] = {seed: Counter() for seed in seeds}
    for fpdu in truth.fpdus:
        row = expected_row(fpdu, truth.connections[fpdu.connection].ends)
        wanted[seed_of[fpdu.connection]][row] += 1
    for row in read_rows(path):
        found[seed_of[capture.packets[row.packet - 1].connection]][row] += 1
    for seed in seeds:
        if not seed % 2:  # tshark counts an FPDU to the packet that fills the hole
            for each in (wanted, found):
                each[seed] = Counter(replace(row, packet=0) for row in each[seed].elements())
        if wanted[seed] != found[seed]:
            lines.setdefault(seed, f"tshark, seed {seed}: it reads other FPDUs")
    return len(truth.fpdus), lines


def breaches(tally: Tally, seeds: int, path: Path) -> None:
    """Break each rule in many captures: found where it stands, by its name, and no other name."""
    missed = 0
    for name in NAMES:
        for seed in range(seeds):
            capture, truth = break_stream(name, seed)
            lines = breach_differences(decode(capture, path), truth)
            missed += bool(lines)
            tally.wrong += [f"{name}, seed {seed}: {line}" for line in lines[:1]]
    figure = f"breaches ({len(NAMES)} rules, {seeds} seeds each) not found where they stand, or other names too"
    tally.add(figure, missed, f"0 of {len(NAMES) * seeds:,}")


def losses(tally: Tally, captures: int, seeds: int, path: Path) -> None:
    """Damage legal captures, then broken ones: nothing is found that is not there, whatever was lost."""
    wrong = fpdus = whole = found = 0
    for seed in range(captures):
        capture, truth = make_stream(20_000 + seed)
        how, capture = damaged(seed, capture, truth)
        complete(capture, truth)
        tables = decode(capture, path)
        lines = unfounded(tables, truth) + strays(tables, truth)
        counts = found_whole(tables, truth)
        found, whole, fpdus = found + counts[0], whole + counts[1], fpdus + len(truth.fpdus)
        wrong += bool(lines)
        tally.wrong += [f"legal, seed {seed}, {how}: {line}" for line in lines[:1]]
    tally.add(
        "damaged legal captures: with a finding, or an FPDU that was never sent",
        wrong,
        f"0 of {captures:,}",
    )
    tally.add(
        f"of {fpdus:,} FPDUs in them, whole in the capture and decoded", f"{found:,} of {whole:,}"
    )
    wrong = named = 0
    for name in NAMES:
        for seed in range(seeds):
            capture, truth = break_stream(name, 20_000 + seed)
            how, capture = damaged(seed * len(NAMES) + NAMES.index(name), capture, truth)
            complete(capture, truth)
            if truth.breaches[0].fpdu is None:  # no packet completes it
                truth.breaches[0].packet = 0
            tables = decode(capture, path)
            lines = unfounded(tables, truth)
            named += any(row["error"] == name for row in tables["events"])
            wrong += bool(lines)
            tally.wrong += [f"{name}, seed {seed}, {how}: {line}" for line in lines[:1]]
    count = len(NAMES) * seeds
    tally.add(
        f"damaged captures with a breach (found in {named:,}): at another place, or another name",
        wrong,
        f"0 of {count:,}",
    )


def copies(tally: Tally) -> None:
    """Put all requirements to every broken copy of the stack."""
    blind = strange = put = 0
    for begin, broken, role in (
        (responder, RESPONDERS, "responder"),
        (initiator, INITIATORS, "initiator"),
    ):
        for number, (options, follow) in broken.items():
            with begin(options) as subject:
                subject.limit_s = subject.patience_s = 0.7
                failed = {r.number for r in chosen(role) if judge(r, subject)[0].outcome == FAIL}
            put += len(chosen(role))
            others = failed - {number, *follow}
            blind += number not in failed
            strange += bool(others)
            if number not in failed or others:
                tally.wrong.append(f"copy {number}, a {role}: fails {sorted(failed)}")
    count = len(RESPONDERS) + len(INITIATORS)
    tally.add(
        f"broken copies of the stack ({count}; {put:,} trials) that pass what they break", blind, 0
    )
    tally.add("that fail what does not follow", strange, 0)


def text(tally: Tally, seconds: float) -> str:
    """Return the page."""
    lines = [
        "# iWARP: generated streams, tshark, broken copies",
        "",
        f"`make campaign-iwarp`, in {seconds / 60:.0f} minutes. Generator and decoder share no code.",
        "",
        "| figure | measured | asked |",
        "|---|---|---|",
        *(f"| {a} | {b} | {c} |" for a, b, c in tally.rows),
        "",
        BESIDE,
        "",
    ]
    if tally.wrong:
        lines += [
            "What is not as it should be:",
            "",
            *(f"- {line}" for line in tally.wrong[:40]),
            "",
        ]
    return "\n".join(lines)


def main() -> int:
    """Run the campaign; return 1 where something is not as it should be."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--fpdus", type=int, default=WHOLE[0])
    parser.add_argument("--captures", type=int, default=WHOLE[1])
    parser.add_argument("--seeds", type=int, default=WHOLE[2])
    given = parser.parse_args()
    tally, start = Tally(), time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "x.pcap"
        bulk(tally, given.fpdus, path)
        legal(tally, given.captures, path)
        beside_tshark(tally, given.captures, path)
        breaches(tally, given.seeds, path)
        losses(tally, given.captures, given.seeds, path)
        copies(tally)
    page = text(tally, time.monotonic() - start)
    print(page)
    if (given.fpdus, given.captures, given.seeds) == WHOLE:
        _, mark, broken = PAGE.read_text("utf-8").partition(SECTION)
        PAGE.write_text(f"{page}\n{mark}{broken}" if mark else page, "utf-8")
    return int(bool(tally.wrong))


if __name__ == "__main__":
    sys.exit(main())
