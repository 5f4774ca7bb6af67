"""Parallel bus: 1 to 64 data lines, with a clock and an enable where the bus has them."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING, Any

from freezeframe.decoders.contract import (
    EDGES,
    Channel,
    Decoder,
    Option,
    OptionValues,
    Output,
    Texts,
)

if TYPE_CHECKING:
    import pyarrow as pa

    from freezeframe.capture.files.edges import Edges
    from freezeframe.capture.files.samples import Samples
    from freezeframe.decoders.bus.parallel_stream import ParallelState

__all__ = [
    "PARALLEL",
    "decode_parallel",
    "decode_parallel_samples",
    "item_schema",
    "parallel_texts",
    "word_schema",
]

_MAX_BITS = 64


@cache
def item_schema() -> pa.Schema:
    """Return the columns of items, one row a clock at which the bus is enabled.

    ``kind`` is ``item`` or ``error``, and then ``error`` says which. ``value`` is the 64-bit
    pattern of the lines, d0 lowest, a line that is not there 0; ``bits`` is the width. An item
    stands until the next clock, enabled or not, the last one until the end of the capture. An error
    about the timing stands between clock and change, with ``value`` -1.
    """
    import pyarrow as pa

    from freezeframe.decoders.columns import name_type

    return pa.schema(
        [
            pa.field("t_ps", pa.int64(), nullable=False),
            pa.field("source", name_type(), nullable=False),
            pa.field("kind", name_type(), nullable=False),
            pa.field("t_end_ps", pa.int64(), nullable=False),
            pa.field("error", name_type()),
            pa.field("value", pa.int64()),
            pa.field("bits", pa.int8()),
            pa.field("sample", pa.int64()),
            pa.field("end_sample", pa.int64()),
        ]
    )


@cache
def word_schema() -> pa.Schema:
    """Return the columns of words of ``word_items`` items; no row where that is 0.

    ``kind`` is ``word``, or ``error`` (``cut-word``) for one that ends early, with the ``items`` so
    far. ``value`` is a 64-bit pattern, ``bits`` the width of the items that are there.
    """
    import pyarrow as pa

    schema = item_schema()
    return schema.insert(schema.get_field_index("sample"), pa.field("items", pa.int64()))


def decode_parallel(
    edges: Edges, options: OptionValues, state: ParallelState, last: bool
) -> dict[str, pa.Table]:
    """Decode a piece of a capture; ``edges`` has the channels clk, enable, d0 to d63.

    Without a clock every change of a data line is one.

    Raises:
        InputError: there is no data line, or a word would be wider than 64 bits.
    """
    from freezeframe.decoders.bus.parallel_stream import tables_of_edges

    return tables_of_edges(edges, options, state, last)


def decode_parallel_samples(
    samples: Samples, options: OptionValues, state: ParallelState, last: bool
) -> dict[str, pa.Table]:
    """Decode a piece of a capture, as `decode_parallel` does, straight from its samples.

    Raises:
        InputError: as `decode_parallel`.
    """
    from freezeframe.decoders.bus.parallel_stream import tables_of_samples

    return tables_of_samples(samples, options, state, last)


def _new_state() -> ParallelState:
    from freezeframe.decoders.bus.parallel_stream import ParallelState

    return ParallelState()


def parallel_texts(row: Mapping[str, Any]) -> Texts:
    """Put a row of `item_schema` or `word_schema` into words."""
    if row["kind"] == "error":
        error = str(row["error"])
        return Texts("!", error, f"{row['source']}: {error}: {_ERROR_TEXTS[error]}")
    shown = f"{row['value'] & (1 << row['bits']) - 1:0{-(-row['bits'] // 4)}x}"
    return Texts(shown, shown, f"{row['source']}: {row['kind']} {shown}")


_ERROR_TEXTS = {
    "setup": "a data line changes too soon before the clock",
    "hold": "a data line changes too soon after the clock",
    "cut-word": "the bus is disabled or the capture ends inside a word",
}


PARALLEL = Decoder(
    id="parallel",
    name="Parallel bus",
    doc="1 to 64 data lines, with a clock and an enable where the bus has them",
    consumes=EDGES,
    produces=(
        Output("parallel.items", item_schema, "one row a clock"),
        Output("parallel.words", word_schema, "items joined to words"),
    ),
    decode=decode_parallel,
    decode_samples=decode_parallel_samples,
    new_state=lambda options: _new_state(),
    channels=(
        Channel("clk", "clock; without it every change of a data line counts", optional=True),
        Channel("enable", "the clock counts only while this is active", optional=True),
        *(
            Channel(f"d{bit}", f"data line {bit}", optional=True, aliases=(f"d[{bit}]",))
            for bit in range(_MAX_BITS)
        ),
    ),
    options=(
        Option(
            "clock_edge",
            "rising",
            "edge of the clock that counts",
            choices=("rising", "falling", "both"),
        ),
        Option("enable_level", "high", "level that enables", choices=("high", "low")),
        Option(
            "take",
            "with",
            "the data that stands in the sample of the clock's edge, or in the one before it",
            choices=("with", "before"),
        ),
        Option("word_items", 0, "items that make a word; 0 for no words", minimum=0, maximum=64),
        Option(
            "endianness",
            "little",
            "whether the first item of a word is its lowest or its highest",
            choices=("little", "big"),
        ),
        Option(
            "setup_samples",
            0,
            "an error where data changes less than so long before a clock; 0 for no check",
            minimum=0,
            maximum=1 << 30,
            unit="samples",
        ),
        Option(
            "hold_samples",
            0,
            "an error where data changes less than so long after a clock; 0 for no check",
            minimum=0,
            maximum=1 << 30,
            unit="samples",
        ),
    ),
    texts=parallel_texts,
)
