"""Run a decoder over the edges at hand, and see whether what comes out makes sense."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa

from freezeframe.capture.errors import FreezeframeError
from freezeframe.capture.files.edges import NO_RATE, Edges, samples_to_ps
from freezeframe.decoders.contract import Decoder, OptionValue
from freezeframe.decoders.guess.counted import Counted, most_frequent
from freezeframe.decoders.registry import Registry
from freezeframe.decoders.run import Decoded, StackRun
from freezeframe.decoders.spec import match_channels, parse_spec, spec_value

MOST_EDGES = 1 << 14
"""Changes of the lines in question that a trial run is given."""

Column = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Trial:
    """What a stack made of the edges: its tables, good rows and rows of kind ``error``.

    ``whole``: the edges are all of the capture. Else what is under way at their end has no row.
    """

    tables: tuple[Decoded, ...]
    good: int
    bad: int
    edges: Edges | None = None
    whole: bool = True

    @property
    def quality(self) -> float:
        """0 to 1: the share of good rows, and low where there are too few to tell."""
        return self.good / (self.good + self.bad + 1) if self.good else 0.0

    def table(self, kind: str) -> pa.Table:
        """Return the table of this kind."""
        name = kind.partition(".")[2]
        for decoded in self.tables:
            if len(self.tables) == 1 or decoded.name.endswith(f".{name}"):
                return decoded.table
        raise KeyError(kind)

    def rows(self, kind: str) -> pd.DataFrame:
        """Return the table of this kind as a pandas DataFrame."""
        frame: pd.DataFrame = self.table(kind).to_pandas()
        return frame

    def explained(self, begin_ps: Column, end_ps: Column, at: Column | None = None) -> float:
        """Return the share of the changes that stand in one of these stretches of time, ends included.

        ``at`` are samples of changes; by default all of the lines in question.
        """
        if self.edges is None or len(self.edges) < 2 or not len(begin_ps):
            return 0.0
        # The first is where the capture begins.
        at_ps = samples_to_ps(self.edges.sample[1:] if at is None else at, self.edges.samplerate_hz)
        if not len(at_ps):
            return 0.0
        order = np.argsort(begin_ps, kind="stable")
        begin_ps, end_ps = begin_ps[order], np.maximum.accumulate(end_ps[order])
        last = np.searchsorted(begin_ps, at_ps, side="right") - 1
        return float(((last >= 0) & (end_ps[last] >= at_ps)).mean())

    def explained_by(self, kind: str, *row_kinds: str) -> float:
        """Return the share of the changes inside rows of these kinds, or inside all but errors."""
        if not self.tables:
            return 0.0
        table = self.table(kind)
        keep = _of_kinds(table, row_kinds) if row_kinds else ~_of_kinds(table, ("error",))
        begin, end = (table.column(name).to_numpy()[keep] for name in ("t_ps", "t_end_ps"))
        return self.explained(begin, end)

    def errors(self, kind: str) -> int:
        """Return how many rows of a table are errors that the ends of the capture did not make."""
        if not self.tables or self.edges is None:
            return 0
        table = self.table(kind)
        return _errors(table, self.edges)

    def counted(self, kind: str = "", *row_kinds: str) -> Counted | None:
        """Return what `decode` gives over these edges: rows of these kinds in a table, or all but errors in all
        tables, and every error; None where the run failed."""
        if self.edges is None:
            return None
        rows = 0
        named: Counter[str] = Counter()
        for _, table in self.tables:
            is_error = _of_kinds(table, ("error",))
            rows += int((~is_error).sum())
            texts = ["" for _ in range(int(is_error.sum()))]
            if "error" in table.column_names:
                texts = table.column("error").filter(pa.array(is_error)).to_pylist()
            named.update(text or "" for text in texts)
        if kind:
            rows = self.count(kind, *row_kinds)
            rows -= 0 if row_kinds else self.count(kind, "error")
        end, rate_hz = self.edges.end_sample, self.edges.samplerate_hz
        end_ps = None if rate_hz == NO_RATE else int(samples_to_ps(np.array([end]), rate_hz)[0])
        changes = max(0, len(self.edges) - 1)
        errors = named.total()
        return Counted(rows, errors, most_frequent(named), changes, end, end_ps, self.whole)

    def count(self, kind: str, *row_kinds: str) -> int:
        """Return how many rows of these kinds a table has, or rows at all; 0 where nothing came."""
        if not self.tables:
            return 0
        table = self.table(kind)
        return int(_of_kinds(table, row_kinds).sum()) if row_kinds else len(table)


def spec_text(
    decoder: Decoder,
    probes: Mapping[str, str],
    options: Mapping[str, OptionValue],
    all_probes: tuple[str, ...],
) -> str:
    """Return the shortest spec that means this: probes found by name are left out."""
    try:
        by_name = match_channels(decoder, {}, all_probes)
    except FreezeframeError:
        by_name = tuple(None for _ in decoder.channels)
    wanted = tuple(probes.get(channel.id) for channel in decoder.channels)
    settings = []
    if by_name != wanted:
        settings = [f"{channel}={spec_value(probe)}" for channel, probe in probes.items()]
        # Nor does one take a probe by its name that the signal speaks against.
        settings += [
            f"{channel.id}="
            for channel, by, meant in zip(decoder.channels, by_name, wanted, strict=True)
            if meant is None and by is not None and by not in probes.values()
        ]
    settings += [f"{name}={spec_value(value)}" for name, value in options.items()]
    return f"{decoder.id}:{','.join(settings)}" if settings else decoder.id


def try_spec(spec: str, edges: Edges, registry: Registry, *, whole: bool) -> Trial:
    """Return what a stack makes of the first edges; of those that are not the ``whole`` capture no end is made, so
    that each row is one of the capture's own."""
    stack = parse_spec(spec, registry)
    below = stack.steps[0]
    run = StackRun(stack)
    try:
        chosen = match_channels(below.decoder, below.probes, edges.channels)
        selected = edges.select(chosen)
        edges = first_edges(selected, MOST_EDGES)
        whole = whole and len(edges) == len(selected)
        run.feed(edges, last=whole)
        tables = tuple(run.tables())
    # An option that cannot be with this sample rate, for instance; and someone else's decoder can fail in any way on
    # lines that are not for it. Then it does not fit, and the others are tried all the same.
    except Exception:
        return Trial((), 0, 1)
    finally:
        run.close()
    good = bad = 0
    for _, table in tables:
        good += int((~_of_kinds(table, ("error",))).sum())
        bad += _errors(table, edges)
    return Trial(tables, good, bad, edges, whole)


def _of_kinds(table: pa.Table, kinds: Sequence[str]) -> npt.NDArray[np.bool_]:
    """Return which rows are of one of these kinds, ``(n,)``."""
    parts = [np.zeros(0, dtype=np.bool_)]
    for chunk in table.column("kind").chunks:
        # Of a dictionary the texts are few, and the rows many.
        coded = chunk if isinstance(chunk, pa.DictionaryArray) else chunk.dictionary_encode()
        wanted = np.isin(coded.dictionary.to_pylist(), kinds)
        parts.append(wanted[coded.indices.to_numpy(zero_copy_only=False)])
    return np.concatenate(parts)


def _errors(table: pa.Table, edges: Edges) -> int:
    """Return the errors but those that the ends of the capture made: what was under way when it began, and when
    it ended."""
    bad = _of_kinds(table, ("error",))
    if not bad.any() or "t_end_ps" not in table.column_names:
        return int(bad.sum())
    begin, end = (table.column(name).to_numpy() for name in ("t_ps", "t_end_ps"))
    last_ps = int(samples_to_ps(np.array([edges.end_sample - 1]), edges.samplerate_hz)[0])
    first_ps = int(begin[~bad].min()) if (~bad).any() else -1
    before = np.flatnonzero(bad & (begin < first_ps))
    bad &= end < last_ps
    bad[before[:1]] = False
    return int(bad.sum())


def first_edges(edges: Edges, most: int) -> Edges:
    """Return the beginning of a capture, with so many changes."""
    kept = most + 1  # the first is where the capture begins
    if len(edges) <= kept:
        return edges
    end = int(edges.sample[kept])
    return replace(
        edges,
        sample=edges.sample[:kept],
        value=edges.value[:kept],
        high=None if edges.high is None else edges.high[:kept],
        end_sample=end,
    )
