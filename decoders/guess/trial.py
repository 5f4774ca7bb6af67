"""Run a decoder over the edges at hand, and see whether what comes out makes sense."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import pandas as pd
import pyarrow as pa

from freezeframe.capture.errors import FreezeframeError
from freezeframe.capture.files.edges import Edges
from freezeframe.decoders.contract import Decoder, OptionValue
from freezeframe.decoders.registry import Registry
from freezeframe.decoders.run import Decoded, StackRun
from freezeframe.decoders.spec import match_channels, parse_spec, spec_value


@dataclass(frozen=True, slots=True)
class Trial:
    """What a stack made of the edges: its tables, good rows and rows of kind ``error``."""

    tables: tuple[Decoded, ...]
    good: int
    bad: int

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

    def count(self, kind: str, *row_kinds: str) -> int:
        """Return how many rows of these kinds a table has, or rows at all; 0 where nothing came."""
        if not self.tables:
            return 0
        kinds = self.table(kind).column("kind").to_pylist()
        return sum(map(kinds.count, row_kinds)) if row_kinds else len(kinds)


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


def try_spec(spec: str, edges: Edges, registry: Registry) -> Trial:
    """Return what a stack makes of the edges, as if the capture ended with them."""
    stack = parse_spec(spec, registry)
    below = stack.steps[0]
    run = StackRun(stack)
    try:
        chosen = match_channels(below.decoder, below.probes, edges.channels)
        run.feed(edges.select(chosen), last=True)
        tables = tuple(run.tables())
    # An option that cannot be with this sample rate, for instance; then it does not fit.
    except FreezeframeError:
        return Trial((), 0, 1)
    finally:
        run.close()
    good = bad = 0
    for _, table in tables:
        errors = table.column("kind").to_pylist().count("error")
        good += len(table) - errors
        bad += errors
    return Trial(tables, good, bad)
