"""SPI: words in both directions and the transfers they make, with up to four chip selects.

Source: Motorola SPI Block Guide V04.01, 4.3 (clock phase and polarity).
"""

from __future__ import annotations

from freezeframe.capture.code import code
from freezeframe.decoders.contract import EDGES, Channel, Decoder, Option, Output


def _select_names(number: str) -> tuple[str, ...]:
    """Return what the chip select of a chip is called; the first may be 0 or without a number."""
    stems = (
        "ncs",
        "csn",
        "csb",
        "ss",
        "nss",
        "ssn",
        "ssel",
        "ce",
        "nce",
        "cen",
        "sel",
        "chipselect",
    )
    names = tuple(f"{stem}{number}" for stem in stems)
    return names if number else (*names, *(f"{stem}0" for stem in ("cs", "ncs", "ss", "nss", "ce")))


SPI = Decoder(
    id="spi",
    name="SPI",
    doc="serial peripheral interface: words and transfers, both directions, up to 4 chip selects",
    consumes=EDGES,
    produces=(
        Output(
            "spi.words",
            code("freezeframe.decoders.serial.spi_code:word_schema"),
            "words and errors",
            code("freezeframe.decoders.serial.spi_code:wide_word_schema"),
        ),
        Output(
            "spi.transfers",
            code("freezeframe.decoders.serial.spi_code:transfer_schema"),
            "one row from select to deselect",
            code("freezeframe.decoders.serial.spi_code:wide_transfer_schema"),
        ),
    ),
    decode=code("freezeframe.decoders.serial.spi_code:decode_spi"),
    decode_samples=code("freezeframe.decoders.serial.spi_code:decode_spi"),
    new_state=code("freezeframe.decoders.serial.spi_code:SpiState"),
    channels=(
        Channel("clk", "clock", aliases=("sck", "sclk", "clock", "sclock", "spiclk")),
        Channel(
            "miso",
            "data from the chip",
            optional=True,
            aliases=("sdo", "so", "do", "dout", "somi", "cipo"),
        ),
        Channel(
            "mosi",
            "data to the chip",
            optional=True,
            aliases=("sdi", "si", "di", "din", "simo", "copi", "sdio"),
        ),
        Channel("cs", "chip select", optional=True, aliases=_select_names("")),
        Channel("cs1", "chip select of a second chip", optional=True, aliases=_select_names("1")),
        Channel("cs2", "chip select of a third chip", optional=True, aliases=_select_names("2")),
        Channel("cs3", "chip select of a fourth chip", optional=True, aliases=_select_names("3")),
    ),
    options=(
        Option(
            "mode",
            0,
            "clock polarity * 2 + clock phase",
            choices=(0, 1, 2, 3),
            bits=("cpol", "cpha"),
        ),
        Option(
            "word_bits",
            8,
            "size of a word",
            minimum=4,
            maximum=256,
            unit="bits",
            aliases=("wordsize",),
        ),
        Option(
            "order",
            "msb-first",
            "bit that comes first",
            choices=("msb-first", "lsb-first"),
            aliases=("bitorder",),
        ),
        Option(
            "select",
            "active-low",
            "level of the chip selects that selects",
            choices=("active-low", "active-high"),
            aliases=("cs_polarity",),
        ),
        Option(
            "gap_us",
            0.0,
            "without a chip select, a pause of the clock of so long ends a transfer; 0 for none",
            minimum=0.0,
            maximum=1e9,
            unit="us",
        ),
    ),
    texts=code("freezeframe.decoders.serial.spi_code:spi_texts"),
    evidence=code("freezeframe.decoders.guess.spi_rule:spi"),
    sigrok="srd.spi",
)
