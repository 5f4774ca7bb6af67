"""How a parser is fed with broken input, again and again in one process, and what is kept of it.

Half of the inputs are bytes changed, cut, spliced; the other half keep the structure that a checker would ask for.
An input that makes a parser answer in a way not seen before, or that takes a new way through its files, joins its
corpus. An input is a matter of its seed, its number and the corpus.
"""

from __future__ import annotations

import math
import mmap
import random
import re
import resource
import signal
import sys
import time
import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

from tests.campaign import harden_oracles as oracles
from tests.campaign.harden_parsers import ALLOWED, Parser

MOST_B = 1 << 16
SLOW_S = 1.0  # of the processor, for an input of at most 64 KiB
NOW, LENGTH_B = "now", 8  # the file that holds the present input behind its length
_MOST_KINDS, _MOST_CORPUS = 300, 1000  # of kinds of answer; in all
_STRUCTURED = 0.55  # more than half, as not every input of the corpus can keep its structure
_WHOLE = 0.7  # of them, made of an input that is read
_TIMES, _CUTS, _REPEATED, _OFTEN = (1, 1, 1, 2, 3, 8), (1, 2, 16, 256), (1, 8, 64, 512), (1, 2, 9)
_TRACED, _SELDOM = 16, 256  # one in so many is watched line by line: after a new way, and at least
_PLACES = re.compile(r"/\S*/")  # folders, whose names are drawn
_DIGITS = re.compile(r"0x[0-9a-fA-F]+|\d+|'[^']*'|\"[^\"]*\"")
_NUMBERS = (
    0,
    1,
    0x7F,
    0x80,
    0xFF,
    0x7FFF,
    0x8000,
    0xFFFF,
    0x7FFFFFFF,
    0x80000000,
    0xFFFFFFFF,
    (1 << 63) - 1,
    (1 << 64) - 1,
)
_WORDS = (
    b"-1",
    b"0",
    b"1e309",
    b"nan",
    b"99999999999999999999",
    b"-9223372036854775808",
    b"\x00",
    b"\xff\xfe",
    b"\xc3\x28",
    b"\r\n",
    b"'",
    b'"',
    b"=cmd|x!A0",
    b"\x1b[31m",
)


@dataclass(slots=True)
class Tally:
    """What was done to a parser in all runs so far.

    ``crashes`` has the first of each kind; ``compared``: how many inputs were held against an independent reader.
    """

    executions: int = 0
    structured: int = 0
    refused: int = 0
    slow: int = 0
    crashed: int = 0
    crashes: list[str] = field(default_factory=list)
    most_MB: int = 0
    cpu_s: float = 0.0
    compared: int = 0

    def __add__(self, more: Tally) -> Tally:
        crashes = self.crashes + more.crashes
        return Tally(
            self.executions + more.executions, self.structured + more.structured, self.refused + more.refused,
            self.slow + more.slow, self.crashed + more.crashed, crashes, max(self.most_MB, more.most_MB),
            self.cpu_s + more.cpu_s, self.compared + more.compared,
        )  # fmt: skip


def mutated(rng: random.Random, data: bytes, other: bytes) -> bytes:
    """Return bytes changed in a few places, cut, repeated, or spliced with others."""
    octets = bytearray(data)
    # Three times as fast as choice and randrange, which would take as long as most parsers.
    chance = rng.random
    for _ in range(_TIMES[int(chance() * len(_TIMES))]):
        at = int(chance() * (len(octets) + 1))
        what = int(chance() * 8)
        if what == 0 and octets:
            octets[at % len(octets)] ^= 1 << int(chance() * 8)
        elif what == 1:
            size = 1 << int(chance() * 4)
            value = _NUMBERS[int(chance() * len(_NUMBERS))] & ((1 << 8 * size) - 1)
            octets[at : at + size] = value.to_bytes(size, "little" if chance() < 0.5 else "big")
        elif what == 2:
            del octets[at : at + _CUTS[int(chance() * 4)]]
        elif what == 3:
            piece = bytes(octets[at : at + _REPEATED[int(chance() * 4)]])
            octets[at:at] = piece * _OFTEN[int(chance() * 3)]
        elif what == 4:
            octets[at:at] = _WORDS[int(chance() * len(_WORDS))]
        elif what == 5 and other:
            octets[at:] = other[int(chance() * len(other)) :]
        elif what == 6:
            octets[at:at] = rng.randbytes(1 + int(chance() * 8))
        else:
            numbers = [found.span() for found in re.finditer(rb"\d+", octets[: 1 << 13])]
            if numbers:
                begin, end = numbers[int(chance() * len(numbers))]
                octets[begin:end] = _WORDS[int(chance() * 6)]
    return bytes(octets[:MOST_B])


def signature(outcome: str) -> str:
    """Return what stays the same of an answer when only numbers and names differ."""
    return _DIGITS.sub("#", _PLACES.sub("", outcome))[:120]


def corpus_of(parser: Parser, place: Path) -> list[bytes]:
    """Return a parser's seeds and what was found with them."""
    found = sorted((place / parser.name).glob("*.in"))
    return [*parser.seeds(), *(path.read_bytes() for path in found)]


def attack(
    parser: Parser,
    executions: int,
    seed: int,
    place: Path,
    cpu_s: float = math.inf,
    hung_s: float | None = None,
    ended: Callable[[], bool] = lambda: False,
) -> Tally:
    """Feed a parser so often, for so long, or until ``ended``.

    The present input is kept in ``place``, so that who dies of it leaves it.

    An input joins the corpus when its answer is of a new kind, or, of those that are watched, when it takes a way
    through the parser's own files that none took before. ``hung_s``: an input that has no answer for so long ends the
    process.
    """
    folder = place / parser.name
    folder.mkdir(parents=True, exist_ok=True)
    corpus = corpus_of(parser, place)
    answers = [fed(parser, data)[0] for data in corpus]
    seen = set(map(signature, answers))
    # Most of a corpus are refusals, each of a kind of its own; what stands behind them is reached from what is read.
    whole = [data for data, said in zip(corpus, answers, strict=True) if said.startswith("read")]
    ways = Ways(parser.files)
    for data in corpus:
        ways.new(partial(fed, parser, data))
    kinds = {signature(path.read_text()) for path in folder.glob("*.why")}
    tally = Tally()
    now = folder / NOW
    with now.open("w+b") as file:
        file.truncate(LENGTH_B + MOST_B)
        kept_now = mmap.mmap(file.fileno(), 0)
    before = oracles.compared
    every, traced_next = _TRACED, 0
    begun_s = _spent_s(parser)
    while tally.executions < executions and _spent_s(parser) - begun_s < cpu_s and not ended():
        number = tally.executions
        rng = random.Random(f"{parser.name}/{seed}/{number}")
        base, other = (corpus[int(rng.random() * len(corpus))] for _ in range(2))
        structured = rng.random() < _STRUCTURED
        if structured:
            if whole and rng.random() < _WHOLE:
                base = whole[int(rng.random() * len(whole))]
            data = parser.structured(rng, base, partial(mutated, rng, other=other))[:MOST_B]
        else:
            data = mutated(rng, base, other)
        # By memory that outlives the process: to write a file takes ten times as long as most parsers do.
        kept_now[: LENGTH_B + len(data)] = len(data).to_bytes(LENGTH_B, "little") + data
        if hung_s is not None:
            signal.setitimer(signal.ITIMER_REAL, hung_s)
        outcome, crash, took_s = fed(parser, data)
        tally.executions += 1
        tally.structured += structured
        tally.refused += outcome.startswith("refused")
        tally.crashed += bool(crash)
        slow = not crash and took_s > SLOW_S and fed(parser, data)[2] > SLOW_S  # not of its loading
        tally.slow += slow
        if (crash and signature(crash) not in kinds) or slow:
            kept = folder / f"{'crash' if crash else 'slow'}-{seed}-{number}"
            kept.write_bytes(data)
            kept.with_suffix(".why").write_text(crash or f"{took_s:.1f} s")
            kinds.add(signature(crash))
            if crash:
                tally.crashes.append(f"{kept.name}: {crash}")
        kind = signature(outcome)
        new = kind not in seen and len(seen) < _MOST_KINDS
        if number >= traced_next:
            found = ways.new(partial(fed, parser, data))
            every = _TRACED if found else min(_SELDOM, 2 * every)
            traced_next, new = number + every, new or found
        if new and not slow and len(corpus) < _MOST_CORPUS:  # the corpus is fed anew in each run
            seen.add(kind)
            corpus.append(data)
            if outcome.startswith("read"):
                whole.append(data)
            (folder / f"{seed}-{number}.in").write_bytes(data)
    if hung_s is not None:
        signal.setitimer(signal.ITIMER_REAL, 0)
    kept_now.close()
    now.unlink(missing_ok=True)
    tally.most_MB = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10
    tally.compared = oracles.compared - before
    tally.cpu_s = round(_spent_s(parser) - begun_s, 3)
    return tally


class Ways:
    """The steps from line to line in some files that were taken so far."""

    def __init__(self, files: Sequence[str]) -> None:
        self._files = tuple(files)
        self._own: dict[CodeType, bool] = {}
        self._taken: set[tuple[int, int, int]] = set()

    def new(self, call: Callable[[], object]) -> bool:
        """Call, and return whether a step was taken that was not before."""
        before, taken, own = len(self._taken), self._taken, self._own

        def entered(frame: FrameType, event: str, _: object) -> Callable[..., Any] | None:
            code = frame.f_code
            if code not in own:
                own[code] = code.co_filename.endswith(self._files)
            if not own[code]:
                return None
            last, this = 0, id(code)

            def stepped(frame: FrameType, event: str, _: object) -> Any:
                nonlocal last
                if event == "line":
                    taken.add((this, last, frame.f_lineno))
                    last = frame.f_lineno
                return stepped

            return stepped

        sys.settrace(entered)
        try:
            call()
        finally:
            sys.settrace(None)
        return len(taken) > before


def fed(parser: Parser, data: bytes) -> tuple[str, str, float]:
    """Return what a parser answers, how it crashed, and the seconds of the processor it took."""
    begun_s = _spent_s(parser)
    try:
        outcome, crash = f"read {parser.run(data)}", ""
    except ALLOWED as error:
        outcome, crash = f"refused {error}", ""
        if any("\n" in line for line in getattr(error, "lines", (str(error),))):
            crash = f"a refusal in several lines: {str(error)[:80]!r}"
    except Exception as error:  # what is looked for
        last = traceback.extract_tb(error.__traceback__)[-1]
        outcome = crash = (
            f"{type(error).__name__}: {str(error)[:100]} at {Path(last.filename).name}:{last.lineno}"
        )
    return outcome, crash, _spent_s(parser) - begun_s


def _spent_s(parser: Parser) -> float:
    """Return the seconds of the processor that this process has taken, and others for this parser."""
    return time.process_time() + parser.others_s()
