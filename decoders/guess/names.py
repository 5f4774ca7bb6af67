"""What channels are usually called, for each role in a decoder."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from freezeframe.decoders.contract import Decoder

# Words that stand for a role besides the name of the channel itself.
_WORDS: Mapping[tuple[str, str], tuple[str, ...]] = {
    ("spi", "clk"): ("sck", "sclk", "spiclk", "clock", "sclock"),
    ("spi", "mosi"): ("sdi", "simo", "si", "copi", "din"),
    ("spi", "miso"): ("sdo", "somi", "so", "cipo", "dout"),
    ("spi", "cs"): ("ncs", "csn", "ss", "nss", "ssn", "ce", "sel", "cs0", "chipselect"),
    ("i2c", "scl"): ("i2cscl", "twck", "sclk"),
    ("i2c", "sda"): ("i2csda", "twd"),
    ("uart", "rx"): ("rxd", "tx", "txd", "uart", "serial", "ser", "console"),
    ("parallel", "clk"): ("clock", "wr", "strobe", "pclk", "dclk"),
}


def is_named(decoder: str, channel: str, probe: str) -> bool:
    """Return whether a probe is called as the channel of a decoder is, in one word of its name."""
    words = {word for word in re.split(r"[^a-z0-9]+", probe.lower()) if word}
    words |= {"".join(re.split(r"[^a-z0-9]+", probe.lower()))}
    return bool(words & {channel, channel.replace("_", ""), *_WORDS.get((decoder, channel), ())})


def fitting_probes(decoder: Decoder, probes: Sequence[str]) -> dict[str, str] | None:
    """Return a probe for each channel by name alone; None where a needed one has none.

    A probe with exactly the channel's name is taken before one that only contains it.
    """
    chosen: dict[str, str] = {}
    for channel in decoder.channels:
        called = {channel.id, *(alias.lower() for alias in channel.aliases)}
        exact = [p for p in probes if p.lower() in called]
        named = exact or [p for p in probes if is_named(decoder.id, channel.id, p)]
        left = [probe for probe in named if probe not in chosen.values()]
        if left:
            chosen[channel.id] = left[0]
        elif not channel.optional:
            return None
    return chosen or None
