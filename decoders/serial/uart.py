"""UART: one line of asynchronous characters of 5 to 9 bits.

Source: the asynchronous frame of ITU-T V.4 and TIA-232.
"""

from __future__ import annotations

from freezeframe.capture.code import code
from freezeframe.decoders.contract import EDGES, Channel, Decoder, Option, Output

UART = Decoder(
    id="uart",
    name="UART",
    doc="asynchronous characters on one line; decode a second line with a second -d",
    consumes=EDGES,
    produces=(
        Output(
            "uart", code("freezeframe.decoders.serial.uart_code:uart_schema"), "frames and errors"
        ),
    ),
    decode=code("freezeframe.decoders.serial.uart_code:decode_uart"),
    decode_samples=code("freezeframe.decoders.serial.uart_code:decode_uart"),
    new_state=code("freezeframe.decoders.serial.uart_code:UartState"),
    channels=(
        Channel(
            "rx",
            "the line",
            aliases=(
                "rxd",
                "tx",
                "txd",
                "rxtx",
                "uart",
                "serial",
                "ser",
                "sin",
                "sout",
                "console",
                "dmx",
            ),
        ),
    ),
    options=(
        Option(
            "baud",
            0,
            "bits a second; 0 measures them on the line",
            minimum=0,
            maximum=10**9,
            unit="Bd",
            aliases=("baudrate",),
        ),
        Option("bits", 8, "data bits", minimum=5, maximum=9, aliases=("data_bits",)),
        Option(
            "parity",
            "none",
            "how the parity bit is checked",
            choices=("none", "odd", "even", "zero", "one", "ignore"),
        ),
        Option(
            "stop",
            1.0,
            "stop bits, for the length of a break",
            choices=(0.5, 1.0, 1.5, 2.0),
            aliases=("stop_bits",),
        ),
        Option(
            "order",
            "lsb-first",
            "bit that comes first",
            choices=("lsb-first", "msb-first"),
            aliases=("bit_order",),
        ),
        Option("invert", False, "the line idles low", aliases=("invert_rx", "invert_tx")),
    ),
    texts=code("freezeframe.decoders.serial.uart_code:uart_texts"),
    evidence=code("freezeframe.decoders.guess.uart_rule:uart"),
    hint=code("freezeframe.decoders.serial.uart_hint:uart_hint"),
    sigrok="srd.uart",
)
