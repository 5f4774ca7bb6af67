"""I2C transfers from short texts, as the I2C decoder gives them."""

from __future__ import annotations

import pyarrow as pa

from freezeframe.capture.files.edges import Edges
from freezeframe.decoders.serial.i2c import I2C
from freezeframe.decoders.serial.i2c_encode import I2cTransfer, encode_transfers
from tests.decoders.pieces import decoded


def i2c_sent(text: str) -> I2cTransfer:
    """Make a transfer of ``50w 00 aa`` or ``50r aa bb``: address, direction, bytes in hex.

    ``!`` after the direction or a byte: it is not acknowledged. ``~`` at the end: a repeated START
    follows instead of a STOP. The last byte of a read is not acknowledged, unless ``+`` says so.
    """
    head, *rest = text.split()
    stop = "~" not in rest
    plus = "+" in rest
    items = [item for item in rest if item not in ("~", "+")]
    read = head[2] == "r"
    naks = {number for number, item in enumerate([head, *items]) if item.endswith("!")}
    if read and items and not plus:
        naks.add(len(items))
    data = bytes.fromhex("".join(item.rstrip("!") for item in items))
    return I2cTransfer(int(head[:2], 16), read, data, naks=tuple(sorted(naks)), stop=stop)


def i2c_edges(*texts: str, samplerate_hz: int = 1_000_000) -> Edges:
    """Draw the transfers: 8 samples a bit, 8 idle before and after."""
    return encode_transfers([i2c_sent(text) for text in texts], samplerate_hz=samplerate_hz)


def i2c_transfers(*texts: str, samplerate_hz: int = 1_000_000) -> pa.Table:
    """Decode the drawn transfers."""
    return decoded(I2C, i2c_edges(*texts, samplerate_hz=samplerate_hz))["i2c.transfers"]
