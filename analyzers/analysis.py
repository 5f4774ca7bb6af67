"""What a named analysis hands out: figures, series, intervals and tables beside its findings.

An analysis puts one or several `Analyzer` objects together for a whole capture. The command line, the
desktop, the report and plots all read the one `AnalysisResult`; none of them computes.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from freezeframe.analyzers.contract import Finding
from freezeframe.capture.errors import InputError
from freezeframe.capture.nearest import no_such
from freezeframe.capture.notebook import ShownInNotebooks
from freezeframe.decoders.trace.coverage import Coverages

Int64 = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Figure:
    """One number of a result.

    Attributes:
        name: dotted, stable, for programs: ``A->B.throughput.mean``.
        label: for people.
        value: integer or float; None where the capture does not hold it, and ``note`` says why.
        unit: ``MiB/s``, ``cycles``, ``ps``, ``words``, ``%``; empty for a plain count.
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
    in ``limit_label``. ``rests_on``: the memories it was made from, ``A.tx_enq``, ``A.sampler``: what they do not
    reach it does not know.
    """

    name: str
    label: str
    unit: str
    t_ps: Int64
    value: npt.NDArray[Any]
    step: bool = True
    limit: float | None = None
    limit_label: str = ""
    rests_on: tuple[str, ...] = ()

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
    """Half-open stretches of time on one track, each with a text and its own class.

    ``text[i]`` and ``kind[i]`` (``receiver-fifo``, ``credit-round-trip``, ...) have the length of the
    times. ``open_start`` and ``open_end`` mark what began before the recording or outlived it. ``rests_on`` as of
    a `Series`.
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
    rests_on: tuple[str, ...] = ()

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
    memories: Coverages = field(default_factory=Coverages, compare=False)
    """What the memories of the capture cover, by the names that ``rests_on`` has."""

    def figure(self, name: str) -> Figure:
        """Return the figure of that name.

        Raises:
            InputError: there is none.
        """
        for figure in self.figures:
            if figure.name == name:
                return figure
        names = [figure.name for figure in self.figures]
        raise InputError(f"{self.name}: {no_such('figure', name, names, 'nor one like it')}")

    def to_json(self) -> dict[str, Any]:
        """Return plain JSON values; 64-bit words in tables stand as their int64 bit pattern."""
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


def _known(value: Any) -> Any:
    """Return a value for JSON: what is not known, NaN, is null."""
    return None if isinstance(value, float) and math.isnan(value) else value
