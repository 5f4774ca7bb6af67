"""The identifier on labelled captures: how often it is right, and how often it says what it should not.

``make campaign-guess`` looks at every capture of sigrok's collection in ``$FREEZEFRAME_CAPTURES/dumps`` in one
process, prints the tables, and writes docs/campaign-guess.md. The calibration that ships is fitted to all folders;
each folder is judged with one fitted to the others, too. ``--fit`` prints a new one.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import numpy.typing as npt

from freezeframe.capture.errors import InputError
from freezeframe.capture.files.choice import SourceChoice
from freezeframe.capture.files.source import ReadSettings
from freezeframe.decoders.guess.candidate import Candidate
from freezeframe.decoders.guess.propose import Guesser, apart
from freezeframe.decoders.guess.weigh import CALIBRATION, WEIGHTS, frequency
from freezeframe.decoders.registry import SIGROK, load_decoders
from tests.campaign.guess_labels import right_decoders, right_frame
from tests.capture.files.captures import captures_folder

REPORT = Path(__file__).parents[2] / "docs" / "campaign-guess.md"
KINDS = ("ours", "sigrok's", "none")
_HOLD = 1.0  # how strongly the weights are believed to be right as they are
Calibration = tuple[float, float]
_ASKED_RIGHT, _ASKED_WRONG = 0.95, 0.03
_BINS = (0.0, 0.1, 0.3, 0.5, 0.7, 0.9, 0.97, 1.01)


@dataclass(frozen=True)
class Looked:
    """A capture: its path, the decoders that are right, whose they are, and all candidates."""

    path: str
    right: tuple[str, ...]
    kind: str
    seen: tuple[Candidate, ...]

    @property
    def folder(self) -> str:
        return self.path.partition("/")[0]

    def scored(self, calibration: Calibration = CALIBRATION) -> list[Candidate]:
        """Return the candidates with the scores of this calibration."""
        return [
            each
            if each.points is None
            else replace(each, score=frequency(each.points, calibration))
            for each in self.seen
        ]

    def proposals(self, calibration: Calibration = CALIBRATION) -> list[Candidate]:
        """Return what is proposed with this calibration."""
        return apart(self.scored(calibration))

    def best(self) -> Candidate | None:
        """Return the candidate with the most points."""
        return max(self.seen, key=lambda each: each.score, default=None)

    def is_right(self, candidate: Candidate) -> bool:
        return base(candidate.spec) in self.right


def base(spec: str) -> str:
    """Return the decoder at the bottom of a spec, by its name without ``srd-``."""
    return spec.partition(":")[0].partition("+")[0].removeprefix(SIGROK)


def look(
    folder: Path, wanted: Callable[[str], bool] = lambda path: True
) -> tuple[list[Looked], dict[str, str]]:
    """Return what is seen in each capture, and why the others do not open."""
    registry = load_decoders()
    native = set(registry.native)
    found, refused = [], {}
    with Guesser(registry) as guesser:
        for file in sorted(folder.rglob("*.sr")):
            path = str(file.relative_to(folder))
            if not wanted(path):
                continue
            try:
                seen = guesser.guess(SourceChoice().open(file, ReadSettings())).seen
            except InputError as error:
                refused[path] = str(error)
                continue
            right = right_decoders(path)
            kind = KINDS[0 if native & set(right) else 1 if right else 2]
            found.append(Looked(path, right, kind, seen))
    return found, refused


def fit(looked: Sequence[Looked]) -> Calibration:
    """Return the calibration that makes the best candidates of these captures the most likely.

    A device counts once, however many files there are of it.
    """
    devices = Counter(Path(each.path).parent for each in looked)
    best = [(each, top) for each in looked if (top := each.best()) and top.points is not None]
    x = np.array([[top.points, 1.0] for _, top in best])
    y = np.array([float(each.is_right(top)) for each, top in best])
    n = np.array([devices[Path(each.path).parent] ** -0.5 for each, _ in best])
    before = np.array([1.0, 0.0])

    def unlikely(w: npt.NDArray[np.float64]) -> float:
        odds = x @ w
        held = _HOLD / 2 * ((w - before) ** 2).sum()
        return float((n * (np.logaddexp(0, odds) - y * odds)).sum() + held)

    w = before.copy()
    for _ in range(50):
        p = 1 / (1 + np.exp(-np.clip(x @ w, -30, 30)))
        slope = x.T @ (n * (y - p)) - _HOLD * (w - before)
        curve = (x * (n * p * (1 - p))[:, None]).T @ x + _HOLD * np.eye(2)
        step = np.linalg.solve(curve, slope)
        while unlikely(w + step) > unlikely(w) and np.abs(step).max() > 1e-6:
            step /= 2
        w = w + step
        if np.abs(step).max() < 1e-4:
            break
    return round(float(w[0]), 2), round(float(w[1]), 2)


def verdict(each: Looked, proposals: Sequence[Candidate]) -> str:
    """Return ``right``, ``none``, or the decoder that is wrongly first."""
    if not proposals:
        return "none"
    return "right" if each.is_right(proposals[0]) else base(proposals[0].spec)


def judged(
    looked: Sequence[Looked], calibration_of: Callable[[str], Calibration]
) -> dict[str, list[str]]:
    """Return the verdicts by kind, with the calibration of each folder."""
    verdicts: dict[str, list[str]] = defaultdict(list)
    for each in looked:
        verdicts[each.kind].append(verdict(each, each.proposals(calibration_of(each.folder))))
    return verdicts


def figures(verdicts: dict[str, list[str]]) -> tuple[float, float]:
    """Return the share that is right first of what we decode, and that is wrong of the others."""
    ours = verdicts[KINDS[0]]
    others = [each for kind in KINDS[1:] for each in verdicts[kind]]
    wrong = sum(each not in ("right", "none") for each in others)
    return ours.count("right") / max(1, len(ours)), wrong / max(1, len(others))


def main(arguments: Sequence[str] | None = None) -> int:
    """Look, judge, print, and write the page unless told not to."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--fit", action="store_true", help="print the calibration fitted to all folders"
    )
    parser.add_argument("--dry", action="store_true", help="do not write docs/campaign-guess.md")
    options = parser.parse_args(arguments)
    folder = captures_folder() / "dumps"
    if not folder.is_dir():
        print(f"{folder} is not there; FREEZEFRAME_CAPTURES names the folder above it")
        return 2
    begin_s = time.process_time()
    looked, refused = look(folder)
    cpu_s = time.process_time() - begin_s
    if options.fit:
        print("CALIBRATION =", fit(looked))
    page, met = report(looked, refused, cpu_s)
    print(page)
    if not options.dry:
        REPORT.write_text(page, "utf-8")
    return 0 if met else 1


def report(looked: Sequence[Looked], refused: dict[str, str], cpu_s: float) -> tuple[str, bool]:
    """Return the page, and whether what is asked for is met."""
    folders = sorted({each.folder for each in looked})
    left_out = {
        folder: fit([each for each in looked if each.folder != folder]) for folder in folders
    }
    shipped = judged(looked, lambda folder: CALIBRATION)
    crossed = judged(looked, lambda folder: left_out[folder])
    right, wrong = figures(crossed)
    lines = [
        "# Identifier on labelled captures",
        "",
        f"`make campaign-guess`: {len(looked)} captures of the public collection of sigrok in one process, "
        f"{cpu_s:.0f} s of CPU; {len(refused)} more do not open. The folder is the label "
        "(`tests/campaign/guess_labels.py` says which decoders are right in it). *Ours*: a decoder of ours is right; "
        "*sigrok's*: one of sigrok's alone; *none*: no decoder of either. What is right is the decoder; rate and frame "
        "of a UART are judged apart, below, where they are known. A score is of the decoder alone.",
        "",
        "| captures | | right first | nothing proposed | wrong first |",
        "|---|---|---|---|---|",
    ]
    for name, verdicts in (("calibration that ships", shipped), ("folder left out", crossed)):
        for kind in KINDS:
            each = verdicts[kind]
            good, none = each.count("right"), each.count("none")
            bad = len(each) - good - none
            lines.append(f"| {kind}, {len(each)} | {name} | {good} | {none} | {bad} |")
    lines += [
        "",
        f"With each folder judged by a calibration that was fitted to the other {len(folders) - 1}: right first in "
        f"{right:.1%} of the captures that we decode (asked: {_ASKED_RIGHT:.0%}), a wrong proposal in {wrong:.1%} of "
        f"the others (asked: at most {_ASKED_WRONG:.0%}).",
        "",
        *_weights(left_out),
        *_confusion(looked),
        *_calibration(looked, left_out),
        *_frames(looked),
        *_misses(looked),
    ]
    return "\n".join(lines) + "\n", right >= _ASKED_RIGHT and wrong <= _ASKED_WRONG


def _weights(left_out: dict[str, Calibration]) -> list[str]:
    ranges = [
        f"{min(pair):.2f} to {max(pair):.2f}" for pair in zip(*left_out.values(), strict=True)
    ]
    return [
        "## Evidence",
        "",
        "What each kind adds to the logarithm of the odds. The weights are set by the reasons beside them, not fitted; "
        f"the sum is taken times {CALIBRATION[0]:g} plus {CALIBRATION[1]:g}, which is fitted to the best candidate of "
        f"each capture (with one folder left out: {ranges[0]}, and {ranges[1]}).",
        "",
        "| evidence | weight | why |",
        "|---|---|---|",
        *(f"| {each.name} | {each.weight:g} | {each.why} |" for each in WEIGHTS),
        "",
    ]


def _confusion(looked: Sequence[Looked]) -> list[str]:
    table: dict[str, Counter[str]] = defaultdict(Counter)
    for each in looked:
        proposals = each.proposals()
        table[each.folder][base(proposals[0].spec) if proposals else "-"] += 1
    lines = [
        "## Confusion",
        "",
        "The first proposal by folder, with the calibration that ships; **bold** where it is right, `-` for none.",
        "",
        "| folder | captures | first proposal |",
        "|---|---|---|",
    ]
    for folder in sorted(table):
        some = [each for each in looked if each.folder == folder]
        right = {name for each in some for name in each.right}
        said = ", ".join(
            f"{'**' if name in right else ''}{name}{'**' if name in right else ''} {count}"
            for name, count in table[folder].most_common()
        )
        lines.append(f"| {folder} | {len(some)} | {said} |")
    return [*lines, ""]


def _calibration(looked: Sequence[Looked], left_out: dict[str, Calibration]) -> list[str]:
    lines = [
        "## Calibration",
        "",
        "The best candidate of each capture, scored with its folder left out: how often it was right.",
        "",
        "| score | captures | mean score | right |",
        "|---|---|---|---|",
    ]
    best = [
        (frequency(top.points, left_out[each.folder]), each.is_right(top))
        for each in looked
        if (top := each.best()) and top.points is not None
    ]
    for low, high in pairwise(_BINS):
        some = [pair for pair in best if low <= pair[0] < high]
        if some:
            mean = sum(score for score, _ in some) / len(some)
            share = sum(right for _, right in some) / len(some)
            lines.append(
                f"| {low:.0%} to {min(high, 1):.0%} | {len(some)} | {mean:.0%} | {share:.0%} |"
            )
    return [*lines, ""]


def frames(looked: Sequence[Looked]) -> list[tuple[Looked, str, str]]:
    """Return captures of a UART whose rate and frame are known, with these and those of the first proposal."""
    pairs = []
    for each in looked:
        known, proposals = right_frame(each.path), each.proposals()
        if known and proposals and base(proposals[0].spec) == "uart":
            options = proposals[0].spec.partition("+")[0].partition(":")[2].split(",")
            said = [one for one in options if one.partition("=")[0] in ("baud", "bits", "parity")]
            pairs.append((each, known, ",".join(said)))
    return pairs


def _frames(looked: Sequence[Looked]) -> list[str]:
    judged_ones = frames(looked)
    wrong = [one for one in judged_ones if one[1] != one[2]]
    return [
        "## Rate and frame of a UART",
        "",
        f"Rate, bits and parity of {len(judged_ones)} captures are known, by the name of the file, the standard or the "
        f"instrument, and are proposed first in {len(judged_ones) - len(wrong)}"
        + (", but for:" if wrong else "."),
        "",
        *(f"- `{each.path}`: {known}; proposed: {said}" for each, known, said in wrong),
        *[""] * bool(wrong),
    ]


def _misses(looked: Sequence[Looked]) -> list[str]:
    lines = [
        "## What is missed, and what is wrong",
        "",
        "With the calibration that ships; of captures that only sigrok's decoders know, not those without a proposal.",
        "",
    ]
    for each in looked:
        proposals = each.proposals()
        said = verdict(each, proposals)
        if said == "right" or (said == "none" and each.kind != KINDS[0]):
            continue
        what = f"`{proposals[0].spec}`" if proposals else "nothing"
        lines.append(f"- `{each.path}`: {what}")
    return lines


if __name__ == "__main__":
    sys.exit(main())
