"""Lines of text out of the characters of a UART: what a terminal on the line would have shown, with times."""

from __future__ import annotations

from freezeframe.capture.code import code
from freezeframe.decoders.contract import Decoder, Option, Output

TEXT = Decoder(
    id="text",
    name="Text lines",
    doc="lines of text on a UART, each with its time: a boot log, a console, NMEA, AT commands",
    consumes="uart",
    produces=(
        Output("text", code("freezeframe.decoders.parts.text_code:line_schema"), "lines of text"),
    ),
    decode=code("freezeframe.decoders.parts.text_code:decode_lines"),
    new_state=code("freezeframe.decoders.parts.text_code:LineState"),
    options=(
        Option("encoding", "utf-8", "of the characters", choices=("utf-8", "ascii", "latin-1")),
        Option(
            "gap_ms",
            1000.0,
            "a line without an end ends after this silence; 0 for never",
            minimum=0,
            maximum=1e6,
            unit="ms",
        ),
        Option(
            "longest",
            1024,
            "a line is parted after so many characters",
            minimum=1,
            maximum=1 << 20,
            unit="characters",
        ),
    ),
    texts=code("freezeframe.decoders.parts.text_code:line_texts"),
)
