"""The channel and the options that all decoders of 8b/10b lanes share."""

from __future__ import annotations

from freezeframe.decoders.contract import Channel, Option

CLOCK = Channel("clk", "a bit clock; without it bits are told by the edges of the data", True)
LANE_OPTIONS = (
    Option(
        "bitrate",
        0,
        "bits a second, for a lane without a clock; 0 finds it",
        minimum=0,
        maximum=10**12,
        unit="bit/s",
    ),
    Option(
        "clock_edge",
        "rising",
        "clock edges at which a bit is taken",
        choices=("rising", "falling", "both"),
    ),
    Option("invert", False, "the two wires of the pair are exchanged"),
    Option("sync_commas", 3, "commas without a bad group that make synchronization", minimum=1, maximum=255),
    Option(
        "realign",
        "lost",
        "when a comma elsewhere moves the symbols: while synchronization is lost, or always",
        choices=("lost", "always"),
    ),
)  # fmt: skip
