"""``freezeframe calibrate``, and what-if from a capture: a profile fitted to it, written down and held to it."""

from __future__ import annotations

import math
from collections import defaultdict
from pathlib import Path

import numpy as np

from freezeframe.analyzers.calibrate.arrivals import Arrival
from freezeframe.analyzers.calibrate.fit import Fit, fitted
from freezeframe.analyzers.calibrate.refusals import CannotSay
from freezeframe.analyzers.view import CaptureView
from freezeframe.capture.errors import InputError
from freezeframe.capture.folder import CaptureFolder
from freezeframe.capture.folder.opening import open_capture
from freezeframe.emulator.adapter.outcome import Outcome, run_adapter
from freezeframe.emulator.adapter.reading import load_adapter
from freezeframe.gui.cli.compiling import compile_notice
from freezeframe.gui.cli.output import emit_json, table
from freezeframe.gui.text import printable

BASE = "rdma-pair"
"""The profile whose numbers are fitted."""

_MOST_MISFIT = 0.25
_LEAST_WRITTEN = 3


def calibrate(capture: Path, output: Path, *, json: bool) -> None:
    """Fit a profile to a capture, write it, and print its numbers with their intervals.

    Raises:
        InputError: the capture cannot say; or the files cannot be written.
    """
    fit, misfit = write_fitted(capture, output)
    if json:
        emit_json({
            "capture": str(capture),
            "profile": str(output),
            "messages": len(fit.arrivals),
            "misfit": misfit,
            "parameters": {
                value.name: {
                    "value": value.value, "low": value.low, "high": value.high, "samples": value.samples,
                    "told_by": value.told_by,
                }
                for value in fit.values
            },
        })  # fmt: skip
        return
    rows = [
        (
            value.name,
            f"{value.value:,.5g}",
            "exact" if value.low == value.high else f"{value.low:,.5g} .. {value.high:,.5g}",
            f"{value.samples:,}" if value.samples else "",
            value.told_by,
        )
        for value in fit.values
    ]
    print(table(("", "fitted", "90 % interval", "samples", "told by"), rows, right=(1, 3)))
    print(
        f"\n{len(fit.arrivals)} messages came; their latency by the fitted profile is {100 * misfit:+z.1f} % from the "
        f"capture's own.\nWritten: {printable(output)}; ask 'freezeframe what-if {printable(output)} --set KEY=VALUE'."
    )


def write_fitted(capture: Path, output: Path) -> tuple[Fit, float]:
    """Write the profile fitted to a capture, a file of arrivals for each flow beside it; return fit and misfit.

    Raises:
        InputError: the capture cannot say; or the files cannot be written.
    """
    folder = open_capture(capture)
    if not isinstance(folder, CaptureFolder):
        raise CannotSay(
            f"{capture}: no bus events: its card records no reads and postings (DESC, STATE); a profile is fitted to "
            "captures of cards with the built-in map"
        )
    with compile_notice():
        fit = fitted(CaptureView(folder))
        text = _written(fit, capture, output)
        try:
            for name, arrivals in _flows(fit).items():
                _trace(output, name).write_text(_lines(fit, arrivals), encoding="utf-8")
            output.write_text(text.format(misfit="0.0"), encoding="utf-8")
            misfit = _misfit(capture, fit, run_adapter(load_adapter(str(output))))
            output.write_text(text.format(misfit=f"{misfit:.6g}"), encoding="utf-8")
        except OSError as error:
            raise InputError(f"{output}: cannot be written: {error}") from error
    return fit, misfit


def _flows(fit: Fit) -> dict[str, list[Arrival]]:
    """Return the arrivals of each sender and flow, by the name of the profile's flow."""
    found: dict[str, list[Arrival]] = defaultdict(list)
    for one in fit.arrivals:
        found[f"{one.sender.lower()}_{one.flow}"].append(one)
    return dict(found)


def _trace(output: Path, flow: str) -> Path:
    return output.with_name(f"{output.stem}.{flow}.csv")


def _lines(fit: Fit, arrivals: list[Arrival]) -> str:
    """Return arrivals as lines ``time_ns,size_B``, sizes with the frame; a picosecond keeps equal times in order."""
    order = {(one.sender, one.number): place for place, one in enumerate(fit.arrivals)}
    frame_B = 8 * int(fit.value("frame_words"))
    return "".join(
        f"{(one.t_ps + order[one.sender, one.number]) / 1000:.3f},{one.size_B + frame_B}\n"
        for one in arrivals
    )


def _written(fit: Fit, capture: Path, output: Path) -> str:
    """Return the text of the profile, with a place for its misfit."""
    senders = sorted({one.sender for one in fit.arrivals} | {"A", "B"})
    said = capture.name.replace("\\", "/").replace('"', "'")
    lines = [
        f"# Fitted by 'freezeframe calibrate' to {said}; [fit.interval] has 90 % intervals.".replace(
            "{", "{{"
        ).replace("}", "}}"),
        f'extends = "{BASE}"',
        f'description = "fitted to {said}"'.replace("{", "{{").replace("}", "}}"),
        "",
        "[parameter]",
        *(f"{value.name} = {_number(value.value)}  # {value.told_by}" for value in fit.values),
        "",
        "[fit]",
        "misfit = {misfit}  # of the latency of the capture's own messages",
        "",
        "[fit.interval]",
        *(
            f"{value.name} = [{_number(value.low)}, {_number(value.high)}]"
            for value in fit.values
            if value.low < value.high
        ),
        "",
        "[flow.messages]  # none of the profile's own",
    ]
    for name, arrivals in _flows(fit).items():
        at = senders.index(arrivals[0].sender)
        lines += [
            "",
            f"[flow.{name}]",
            'arrivals = "trace"',
            f'file = "{_trace(output, name).name}"'.replace("{", "{{").replace("}", "}}"),
            f"from = {at}",
            f"to = {1 - at}",
            'packet_B = "= 8 * burst_words"',
        ]
    return "\n".join(lines) + "\n"


def _number(value: float) -> str:
    return str(int(value)) if float(value).is_integer() else f"{value:.9g}"


def _misfit(capture: Path, fit: Fit, outcome: Outcome) -> float:
    """Return by what share the fitted profile misses the latencies that the taps still tell, with its own arrivals.

    Raises:
        CannotSay: by so much that something must have held the messages up that no event tells of.
    """
    flows = _flows(fit)
    ours: list[float] = []
    theirs: list[float] = []
    for number, way in enumerate(outcome.compiled.ways):
        rows = outcome.world.messages[outcome.world.messages["flow"] == number]
        for row, one in zip(rows, flows[way.name], strict=True):
            written_ps = fit.written.get((one.sender, one.number))
            if written_ps is not None:
                ours.append(float(row["done"] - row["born"]))
                theirs.append(float(written_ps - one.t_ps))
    if len(theirs) < _LEAST_WRITTEN:
        return 0.0
    misfit = float(np.mean(ours) / np.mean(theirs)) - 1
    if not math.isfinite(misfit) or abs(misfit) > _MOST_MISFIT:
        raise CannotSay(
            f"{capture}: saturated elsewhere: the last {len(theirs)} messages took {np.mean(theirs) / 1e6:,.1f} us, "
            f"by its events it would be {np.mean(ours) / 1e6:,.1f} us; what "
            "held them up is in no event; see 'freezeframe explain' and 'freezeframe analyze CAPTURE pressure'"
        )
    return misfit
