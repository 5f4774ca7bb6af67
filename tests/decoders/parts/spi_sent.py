"""SPI transfers from hex texts, as the SPI decoder gives them."""

from __future__ import annotations

import pyarrow as pa

from freezeframe.decoders.serial.spi import SPI
from freezeframe.decoders.serial.spi_encode import SpiTransfer, encode_transfers
from tests.decoders.pieces import decoded


def spi_sent(text: str) -> SpiTransfer:
    """Make a transfer of MOSI in hex, and MISO after a slash (filled up with zeros)."""
    mosi, _, miso = text.partition("/")
    to_chip = bytes.fromhex(mosi)
    return SpiTransfer(to_chip, bytes.fromhex(miso).ljust(len(to_chip), b"\0"))


def spi_transfers(*texts: str, samplerate_hz: int = 10_000_000, word_bits: int = 8) -> pa.Table:
    """Decode the drawn transfers; two samples a half period, as much idle between."""
    edges = encode_transfers(
        [spi_sent(text) for text in texts], samplerate_hz=samplerate_hz, word_bits=word_bits
    )
    edges = edges.select(["CLK", "MISO", "MOSI", "CS", None, None, None])
    return decoded(SPI, edges, word_bits=word_bits)["spi.transfers"]
