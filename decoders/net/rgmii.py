"""RGMII: frames between a MAC and its PHY at 10, 100 and 1000 Mb/s, on both clock edges.

Source: RGMII v2.0, 3 (signals, timing, error coding, in-band status), 5 (10 and 100 Mb/s).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from freezeframe.capture.errors import InputError
from freezeframe.decoders.contract import EDGES, Channel, Decoder, Option, OptionValues, Output
from freezeframe.decoders.net.ethernet import ETHERNET
from freezeframe.decoders.net.phy import (
    MIN_GAP,
    Line,
    Side,
    decode_sides,
    frame_schema,
    has_side,
    phy_texts,
)

if TYPE_CHECKING:
    import pyarrow as pa

    from freezeframe.capture.files.edges import Edges

__all__ = ["RGMII", "RgmiiState", "decode_rgmii"]

_RX, _TX = 0, 6  # places of rxc and txc among the channels
_CONTROL = 5  # after the clock


class RgmiiState:
    """The directions that the capture has; known with the first piece."""

    def __init__(self) -> None:
        self.sides: list[Side] | None = None


def decode_rgmii(
    edges: Edges, options: OptionValues, state: RgmiiState, last: bool
) -> dict[str, pa.Table]:
    """Decode a piece of a capture; ``edges`` has the channels in the order of the declaration.

    Raises:
        InputError: a direction has some but not all of its channels, or none is there.
    """
    if state.sides is None:
        state.sides = _sides(edges, options)
    return decode_sides(edges, options, state.sides, "RGMII", last)


def _sides(edges: Edges, options: OptionValues) -> list[Side]:
    from freezeframe.decoders.net.phy_kernels import AT, MIDDLE

    take = AT if options.text("clock") == "delayed" else MIDDLE
    sides = []
    for direction, first in (("received", _RX), ("sent", _TX)):
        if not has_side(edges, CHANNELS, slice(first, first + _CONTROL + 1), "rgmii"):
            continue
        in_band = direction == "received" and options.flag("in_band")
        line = Line(direction, first, first + 1, first + _CONTROL, -1, -1, take, True, in_band)
        sides.append(Side(line))
    if not sides:
        raise InputError(
            "decoder rgmii: neither direction has probes; say rxc=PROBE, rd0=PROBE to rd3=PROBE and "
            "rx_ctl=PROBE, or txc, td0 to td3 and tx_ctl"
        )
    return sides


def _direction(prefix: str, what: str) -> tuple[Channel, ...]:
    letter = prefix[0]
    return (
        Channel(f"{prefix}c", f"{what} clock", optional=True, aliases=(f"{prefix}_clk",)),
        *(
            Channel(f"{letter}d{n}", f"{what} data {n}", optional=True, aliases=(f"{prefix}d{n}",))
            for n in range(4)
        ),
        Channel(f"{prefix}_ctl", f"{what} control", optional=True),
    )


CHANNELS = (*_direction("rx", "receive"), *_direction("tx", "transmit"))

RGMII = Decoder(
    id="rgmii",
    name="RGMII",
    doc="Ethernet between MAC and PHY on both clock edges: frames, errors, in-band status",
    consumes=EDGES,
    produces=(
        Output("rgmii.frames", frame_schema, "frames, status and errors on the interface"),
        ETHERNET,
    ),
    decode=decode_rgmii,
    new_state=lambda options: RgmiiState(),
    channels=CHANNELS,
    options=(
        Option(
            "clock",
            "delayed",
            "where data change: delayed, half way between clock edges (RGMII-ID, or a delay on the "
            "board); aligned, with the clock edges",
            choices=("delayed", "aligned"),
        ),
        Option("in_band", True, "idle symbols from the PHY carry its status"),
        MIN_GAP,
    ),
    texts=phy_texts,
)
