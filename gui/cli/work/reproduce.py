"""``freezeframe reproduce``: numbers of papers beside ours, from captures, from profiles of stages, or live."""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from freezeframe.capture.count_text import plural
from freezeframe.capture.errors import FreezeframeError, InputError
from freezeframe.gui.cli.compiling import compile_notice
from freezeframe.gui.cli.output import emit_json, progress_bar, table
from freezeframe.gui.cli.work import reproduction_acenic as acenic
from freezeframe.gui.cli.work import reproduction_curves as curves
from freezeframe.gui.cli.work import reproduction_end as end
from freezeframe.gui.cli.work import reproduction_sci as sci
from freezeframe.gui.cli.work.reproduction import (
    Experiment,
    Outcome,
    Quantity,
    Run,
    counted,
    judge,
    run_experiment,
)
from freezeframe.gui.cli.work.reproduction_forth import EXPERIMENTS, QUANTITIES
from freezeframe.gui.cli.work.reproduction_forth_curves import forth_figures
from freezeframe.gui.cli.work.reproduction_iwarp import reproduce_iwarp
from freezeframe.gui.cli.work.reproduction_ranges import free_parameters, ranges_text
from freezeframe.gui.cli.work.reproduction_stages import (
    Bench,
    judge_row,
    rows_markdown,
    rows_text,
    tally,
)
from freezeframe.gui.places import is_capture, refuse_evidence
from freezeframe.gui.text import printable

_STAGES = {"sci": sci.ROWS, "end": end.ROWS, "acenic": acenic.ROWS}
_FREE = {"sci": sci.FREE, "end": end.FREE, "acenic": acenic.FREE}
_FIGURES = {"forth": ("forth-3", "forth-4"), "sci": ("sci-7", "sci-8"), "end": ("end-8", "end-9")}
_PAPERS = ("forth", *_STAGES, "iwarp")


def reproduce(
    paper: str, output: Path | None, *, force: bool, json: bool, markdown: bool = False
) -> bool:
    """Measure the numbers of a paper, or of all, and print them; return whether all come out.

    Raises:
        InputError: there is no such paper, or the captures cannot be written there.
    """
    if paper not in (*_PAPERS, "all"):
        raise InputError(
            f"there is no paper {paper!r} to reproduce; there are {', '.join(_PAPERS)}, and all"
        )
    if output is not None and paper == "iwarp":
        raise InputError("-o: iwarp is measured live, there are no captures to keep")
    if output is not None and paper in _STAGES:
        raise InputError(f"-o: {paper} is simulated from a profile, there are no captures to keep")
    if markdown and paper not in _STAGES:
        raise InputError(
            f"--markdown: for {', '.join(_STAGES)}, whose numbers are the same every time"
        )
    if output is not None:
        _check_place(output, EXPERIMENTS, force)
    documents: list[dict[str, Any]] = []
    fine = True
    for name in _PAPERS if paper == "all" else (paper,):
        if paper == "all" and not json:
            print(f"{name}\n")
        if name == "forth":
            document, came = _forth(output, show=not json)
        elif name == "iwarp":
            document, came = reproduce_iwarp(show=not json)
        else:
            document, came = _stages(name, show=not json, markdown=markdown)
        documents.append(document)
        fine = fine and came
        if paper == "all" and not json:
            print()
    if json:
        emit_json({"papers": documents} if paper == "all" else documents[0])
    return fine


def reproduce_curves(paper: str, output: Path | None, *, force: bool, json: bool) -> bool:
    """Draw the figures of a paper, or of all, beside what its text says of them; return whether all agree that can.

    Raises:
        InputError: the paper has no figure that its text tells of, or the pictures cannot be written there.
    """
    if paper not in (*_FIGURES, "all"):
        raise InputError(
            f"--curves: there are figures of {', '.join(_FIGURES)}, and all; not of {paper!r}"
        )
    if output is not None:
        refuse_evidence(output)
        if output.exists() and not output.is_dir():
            raise InputError(f"{output}: is a file; -o names the directory for the pictures")
        there = [path for path in _pictures(output, paper) if path.exists()]
        if there and not force:
            raise InputError(f"{there[0]}: stands there from an earlier run; --force replaces it")
    figures: list[curves.Figure] = []
    with tempfile.TemporaryDirectory(prefix="freezeframe-reproduce-") as hidden, compile_notice():
        for name in _FIGURES if paper == "all" else (paper,):
            if name == "forth":
                with progress_bar(name, "runs") as update:
                    figures += forth_figures(Path(hidden), update)
            else:
                figures += (curves.sci_figures if name == "sci" else curves.end_figures)(Bench())
    written = [] if output is None else curves.write_pictures(figures, output)
    if json:
        emit_json({"figures": [figure.to_json() for figure in figures]})
    else:
        print("\n\n\n".join(figure.text() for figure in figures))
        if written:
            print(f"\nThe pictures are in {printable(output)}.")
    return all(figure.agrees for figure in figures)


def _pictures(output: Path, paper: str) -> list[Path]:
    wanted = _FIGURES.values() if paper == "all" else (_FIGURES[paper],)
    return [output / f"{key}.svg" for keys in wanted for key in keys]


def _stages(name: str, *, show: bool, markdown: bool) -> tuple[dict[str, Any], bool]:
    """Run the profiles of a paper; return its rows as a document, and whether all agree that can."""
    bench = Bench()
    rows = _STAGES[name]
    with compile_notice(), progress_bar(name, "numbers") as update:
        judged = []
        for done, row in enumerate(rows):
            update(done, len(rows), row.label)
            judged.append(judge_row(row, bench))
        free = free_parameters(judged, _FREE[name])
    if show:
        print(rows_markdown(judged) if markdown else rows_text(judged))
        print(f"\n{ranges_text(free)}")
    document = {
        "paper": name,
        "quantities": [one.to_json() for one in judged],
        "free": [one._asdict() for one in free],
        "tally": tally(judged),
    }
    return document, all(one.agrees is not False for one in judged)


def _forth(output: Path | None, *, show: bool) -> tuple[dict[str, Any], bool]:
    """Measure the FORTH paper's numbers from captures; return a document, and whether all come out."""
    started = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="freezeframe-reproduce-") as hidden:
        folder = Path(hidden)
        if output is not None:
            output.mkdir(parents=True, exist_ok=True)
            folder = output
        runs, failed = _run_all(EXPERIMENTS, folder)
        outcomes = [judge(quantity, runs, failed) for quantity in QUANTITIES]
    if show:
        _print(outcomes, failed, time.monotonic() - started)
        if output is not None:
            print(f"\nThe captures are in {printable(output)}.")
    document = _document("forth", outcomes, EXPERIMENTS)
    return document, all(outcome.verdict != "no" for outcome in outcomes)


def _check_place(output: Path, experiments: Sequence[Experiment], force: bool) -> None:
    refuse_evidence(output)
    if output.exists() and not output.is_dir():
        raise InputError(f"{output}: is a file; -o names the directory for the captures")
    for experiment in experiments:
        path = output / f"{experiment.name}.ff"
        if not path.exists():
            continue
        if not force:
            raise InputError(f"{path}: stands there from an earlier run; --force replaces it")
        if not is_capture(path):
            raise InputError(f"{path}: is no capture, so it is not replaced; choose another -o")


def _run_all(
    experiments: Sequence[Experiment], folder: Path
) -> tuple[dict[str, Run], dict[str, str]]:
    """Run every experiment; one that fails says so beside the quantities that needed it."""
    runs: dict[str, Run] = {}
    failed: dict[str, str] = {}
    with progress_bar("experiments", "runs") as update:
        for done, experiment in enumerate(experiments):
            update(done, len(experiments), experiment.what)
            try:
                runs[experiment.name] = run_experiment(experiment, folder / f"{experiment.name}.ff")
            except FreezeframeError as error:
                failed[experiment.name] = str(error)
                print(f"freezeframe: {experiment.name}: {printable(str(error))}", file=sys.stderr)
    return runs, failed


def _print(outcomes: Sequence[Outcome], failed: dict[str, str], took_s: float) -> None:
    rows = []
    for outcome in outcomes:
        q, m = outcome.quantity, outcome.measured
        rows.append(
            (
                q.label,
                _paper(q),
                "-" if m is None else f"{_number(m.value)}{_around(m.uncertainty)} {q.unit}",
                _difference(outcome),
                q.kind,
                outcome.verdict,
                q.how,
            )
        )
    headers = ("quantity", "paper", "ours", "difference", "kind", "agrees", "how measured")
    print(table(headers, rows, right=(1, 2, 3)))
    print(f"\n{counted(outcomes)} It took {took_s:.0f} s.")
    for outcome in outcomes:
        if outcome.verdict == "yes":
            continue
        q, m = outcome.quantity, outcome.measured
        why = outcome.why
        if m is not None:
            why = f"{_number(m.value)} {q.unit} beside {_paper(q)}"
            why += f" ({m.remark})" if m.remark else ""
        what = "contradiction" if outcome.verdict == "contradiction" else "does not come out"
        print(printable(f"{what}: {q.label}: {why}"))
    if failed:
        print(f"{plural(len(failed), 'experiment')} could not be run; see above.")


def _document(
    paper: str, outcomes: Sequence[Outcome], experiments: Sequence[Experiment]
) -> dict[str, Any]:
    return {
        "paper": paper,
        "quantities": [outcome.to_json() for outcome in outcomes],
        "come_out": sum(outcome.comes_out for outcome in outcomes),
        "tally": counted(outcomes),
        "experiments": [
            {
                "name": e.name,
                "what": e.what,
                "emulate": ["--seed", str(e.seed), *e.options],
                "until": {e.counter: e.least},
            }
            for e in experiments
        ],
    }


def _paper(quantity: Quantity) -> str:
    """Return what the paper says, with its unit."""
    low, high = quantity.paper
    if quantity.about == "fewer":
        return "fewer"
    about = f"{quantity.about} " if quantity.about else ""
    is_one = low == high or quantity.about == "up to"
    span = _number(high) if is_one else f"{_number(low)}..{_number(high)}"
    return f"{about}{span} {quantity.unit}"


def _difference(outcome: Outcome) -> str:
    if outcome.difference is None:
        return "-"
    if outcome.quantity.about == "fewer" and outcome.comes_out:
        return "fewer"
    return f"{outcome.difference:+.1f} {outcome.quantity.difference_unit}"


def _number(value: float) -> str:
    """Return four digits or so, no more than were measured."""
    if abs(value) >= 1000:
        return f"{value:,.0f}"
    text = f"{value:.1f}" if abs(value) >= 10 else f"{value:.2f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def _around(uncertainty: float | None) -> str:
    return f" +-{_number(uncertainty)}" if uncertainty is not None and uncertainty >= 0.05 else ""
