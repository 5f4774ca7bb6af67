"""JTAG: states of the TAP controller, and scans of the instruction and data registers.

Source: IEEE 1149.1-2013, figure 6-1 (TAP controller), 6.1.1.
"""

from __future__ import annotations

from freezeframe.capture.code import code
from freezeframe.decoders.contract import EDGES, Channel, Decoder, Option, Output

JTAG = Decoder(
    id="jtag",
    name="JTAG",
    doc="IEEE 1149.1: states of the TAP controller, scans of any length",
    consumes=EDGES,
    produces=(
        Output(
            "jtag.states",
            code("freezeframe.decoders.serial.jtag_code:state_schema"),
            "one row a stay in a state",
        ),
        Output(
            "jtag.scans",
            code("freezeframe.decoders.serial.jtag_code:scan_schema"),
            "scans of IR and DR, and errors",
        ),
    ),
    decode=code("freezeframe.decoders.serial.jtag_code:decode_jtag"),
    decode_samples=code("freezeframe.decoders.serial.jtag_code:decode_jtag"),
    new_state=code("freezeframe.decoders.serial.jtag_code:JtagState"),
    channels=(
        Channel("tck", "clock", aliases=("tclk",)),
        Channel("tms", "mode select"),
        Channel("tdi", "data to the chain", optional=True),
        Channel("tdo", "data from the chain", optional=True),
        # Not "trst": a probe of that name is often there and not wired, and would hold the TAP.
        Channel("ntrst", "reset, active low", optional=True),
    ),
    options=(
        Option(
            "start",
            "run-test/idle",
            "state in which the capture begins; five ones on TMS reset it from any",
            choices=("run-test/idle", "test-logic-reset"),
        ),
    ),
    texts=code("freezeframe.decoders.serial.jtag_code:jtag_texts"),
    evidence=code("freezeframe.decoders.guess.bus_rules:jtag"),
)
