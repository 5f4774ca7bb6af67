"""Parallel bus: 1 to 64 data lines, with a clock and an enable where the bus has them."""

from __future__ import annotations

from freezeframe.capture.code import code
from freezeframe.decoders.contract import EDGES, Channel, Decoder, Option, Output

_MAX_LINES = 64

PARALLEL = Decoder(
    id="parallel",
    name="Parallel bus",
    doc="1 to 64 data lines, with a clock and an enable where the bus has them",
    consumes=EDGES,
    produces=(
        Output(
            "parallel.items",
            code("freezeframe.decoders.bus.parallel_tables:item_schema"),
            "one row a clock",
        ),
        Output(
            "parallel.words",
            code("freezeframe.decoders.bus.parallel_tables:word_schema"),
            "items joined to words",
        ),
    ),
    decode=code("freezeframe.decoders.bus.parallel_code:decode_parallel"),
    decode_samples=code("freezeframe.decoders.bus.parallel_code:decode_parallel"),
    new_state=code("freezeframe.decoders.bus.parallel_code:ParallelState"),
    channels=(
        Channel(
            "clk",
            "clock; without it every change of a data line counts",
            optional=True,
            aliases=("clock", "pclk", "dclk", "strobe", "wr"),
        ),
        Channel("enable", "the clock counts only while this is active", optional=True),
        *(
            Channel(f"d{bit}", f"data line {bit}", optional=True, aliases=(f"data{bit}",))
            for bit in range(_MAX_LINES)
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
    texts=code("freezeframe.decoders.bus.parallel_tables:parallel_texts"),
    evidence=code("freezeframe.decoders.guess.bus_rules:parallel"),
)
