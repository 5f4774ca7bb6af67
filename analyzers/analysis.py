"""What a named analysis takes and hands out: figures, series, intervals and tables beside its findings.

An analysis puts one or several `Analyzer` objects together for a whole capture. The command line, the
desktop, the report and plots all read the one `AnalysisResult`; none of them computes.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from freezeframe.analyzers.contract import Finding
from freezeframe.capture.notebook import ShownInNotebooks

if TYPE_CHECKING:
    import pandas as pd

    from freezeframe.analyzers.view import CaptureView
    from freezeframe.capture.folder import CaptureFolder
    from freezeframe.decoders.trace.decode import Trace

__all__ = ["Analysis", "AnalysisResult", "Figure", "Intervals", "Material", "Series"]

Int64 = npt.NDArray[np.int64]


class Material:
    """One capture as the analyses read it; what is costly is made once, when it is first asked for.

    Raises (from its attributes): what opening and decoding a capture raise.
    """

    def __init__(self, folder: CaptureFolder, devices: Sequence[str] | None = None) -> None:
        self.folder = folder
        self.chosen = None if devices is None else tuple(devices)

    @cached_property
    def trace(self) -> Trace:
        """The decoded tables and their time base."""
        from freezeframe.decoders.trace.decode import decode_capture

        return decode_capture(self.folder, self.chosen)

    @cached_property
    def view(self) -> CaptureView:
        """Word streams, event logs and frozen registers of the chosen devices."""
        from freezeframe.analyzers.view import view_of

        return view_of(self.folder, self.trace, self.chosen)


@dataclass(frozen=True, slots=True)
class Figure:
    """One number of a result.

    Attributes:
        name: dotted, stable, for programs: ``A->B.throughput.mean``.
        label: for people.
        value: integer or float; None where the capture does not hold it, and ``note`` says why.
        unit: ``MB/s``, ``cycles``, ``ps``, ``words``, ``%``; empty for a plain count.
        uncertainty: half width, in the same unit; None where it is exact or does not apply.
        note: a sentence: what it rests on, or what is missing.
    """

    name: str
    label: str
    value: int | float | None
    unit: str = ""
    uncertainty: float | None = None
    note: str = ""

    def to_json(self) -> dict[str, Any]:
        return {key: getattr(self, key) for key in self.__slots__}


@dataclass(frozen=True, eq=False, slots=True)
class Series:
    """A quantity over time: ``value[i]`` holds from ``t_ps[i]`` on (``step``) or is a point.

    ``t_ps`` and ``value`` have the same length; ``t_ps`` does not decrease. A value that is not known
    is NaN (null in JSON). ``limit`` is a line to compare it with, in the same unit, with its meaning
    in ``limit_label``.
    """

    name: str
    label: str
    unit: str
    t_ps: Int64
    value: npt.NDArray[Any]
    step: bool = True
    limit: float | None = None
    limit_label: str = ""

    def to_json(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "label": self.label,
            "unit": self.unit,
            "t_ps": self.t_ps.tolist(),
            "value": [_known(value) for value in self.value.tolist()],
            "step": self.step,
            "limit": self.limit,
            "limit_label": self.limit_label,
        }


@dataclass(frozen=True, eq=False, slots=True)
class Intervals:
    """Half-open stretches of time on one track, each with a text and a class of its own.

    ``text[i]`` and ``kind[i]`` (``receiver-fifo``, ``credit-round-trip``, ...) have the length of the
    times. ``open_start`` and ``open_end`` mark what began before the recording or outlived it.
    """

    name: str
    label: str
    t_ps: Int64
    t_end_ps: Int64
    kind: tuple[str, ...]
    text: tuple[str, ...]
    flow: Int64
    open_start: npt.NDArray[np.bool_]
    open_end: npt.NDArray[np.bool_]

    def to_json(self) -> dict[str, Any]:
        columns = {
            "t_ps": self.t_ps, "t_end_ps": self.t_end_ps, "flow": self.flow,
            "open_start": self.open_start, "open_end": self.open_end,
        }  # fmt: skip
        return {
            "name": self.name,
            "label": self.label,
            "kind": list(self.kind),
            "text": list(self.text),
            **{key: column.tolist() for key, column in columns.items()},
        }


@dataclass(frozen=True, slots=True)
class AnalysisResult(ShownInNotebooks):
    """What an analysis found in one capture.

    ``notes`` say what limits the answer. ``tables`` are whole, by name, times as ``t_ps`` columns.
    """

    name: str
    figures: tuple[Figure, ...] = ()
    series: tuple[Series, ...] = ()
    intervals: tuple[Intervals, ...] = ()
    findings: tuple[Finding, ...] = ()
    tables: dict[str, pd.DataFrame] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    def figure(self, name: str) -> Figure:
        """Return the figure of that name.

        Raises:
            KeyError: there is none.
        """
        for figure in self.figures:
            if figure.name == name:
                return figure
        raise KeyError(name)

    def to_json(self) -> dict[str, Any]:
        """Return plain JSON values; 64-bit words in tables stand as their int64 bit pattern."""
        import json

        return {
            "analysis": self.name,
            "figures": [figure.to_json() for figure in self.figures],
            "findings": [finding.to_json() for finding in self.findings],
            "series": [series.to_json() for series in self.series],
            "intervals": [intervals.to_json() for intervals in self.intervals],
            "tables": {
                name: json.loads(table.to_json(orient="records"))
                for name, table in self.tables.items()
            },
            "notes": list(self.notes),
        }


@dataclass(frozen=True, slots=True)
class Analysis:
    """An analysis by name: what ``freezeframe analyze NAME`` runs.

    Attributes:
        id: the name of the entry point in the group ``freezeframe.analyzers``.
        title: a few words, for a heading.
        summary: one sentence: what it tells. docs/analyzers.md says what it cannot.
        run: from the material of a capture to the result. A capture that lacks what it needs gives a
            result without figures and a note that says what is missing; it does not raise.
    """

    id: str
    title: str
    summary: str
    run: Callable[[Material], AnalysisResult]


def _known(value: Any) -> Any:
    """Return a value for JSON: what is not known, NaN, is null."""
    return None if isinstance(value, float) and math.isnan(value) else value
