"""Which probe is meant for a channel, by the names that people give to probes.

A channel goes by its id and by the aliases of its declaration. Marks do not count (``CS#``, ``/CS``,
``cs_``), nor does the decoder's name in front (``SPI_CLK``); a name that is nearer goes first.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from freezeframe.decoders.contract import Channel, Decoder

_LONGEST = (
    64  # of a name that is looked at; a simulation has longer ones, and no channel is called so
)


@lru_cache(maxsize=1 << 12)
def plain(name: str) -> str:
    """Return the letters and digits of a name, small; a sign that tells two wires apart stays.

    A clock is ``clk``.
    """
    small = name.lower()
    sign = small[-1] if len(small) > 1 and small[-1] in "+-" else ""
    # Two numbers stay two: d1[0] is not d10.
    apart = re.sub(r"(?<=[0-9])[^a-z0-9]+(?=[0-9])", "_", small[:-1] if sign else small)
    letters = re.sub(r"[^a-z0-9_]+|(?<![0-9])_|_(?![0-9])", "", apart)
    return letters.replace("clock", "clk") + sign


def called(decoder: Decoder, channel: Channel, probes: Sequence[str]) -> list[str]:
    """Return the probes that a channel may mean, all equally near; the nearest alone."""
    wanted = channel.id
    exact = [probe for probe in probes if probe == wanted]
    if exact:
        return exact
    same = [probe for probe in probes if len(probe) <= _LONGEST and probe.lower() == wanted]
    if same:
        return same
    short = [(probe, plain(probe)) for probe in probes if len(probe) <= _LONGEST]
    prefix = plain(decoder.id)
    for names in ({plain(wanted)}, {plain(alias) for alias in channel.aliases}):
        for meant in (names, {prefix + name for name in names}):
            found = [probe for probe, name in short if name in meant]
            if found:
                return found
    return []
