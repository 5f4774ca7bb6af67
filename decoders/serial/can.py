"""CAN and CAN FD: frames, error flags and overload flags on one line.

Source: ISO 11898-1:2015; Bosch CAN 2.0 (1991); Bosch CAN FD 1.0 (2012) for what the ISO form replaced.
"""

from __future__ import annotations

from freezeframe.capture.code import code
from freezeframe.decoders.contract import EDGES, Channel, Decoder, Option, Output

_NAMES = ("can", "rx", "canrx", "can_l", "canl", "can_rxd", "can_tx", "cantx", "can_txd", "rxd")

CAN = Decoder(
    id="can",
    name="CAN",
    doc="CAN 2.0A/B and CAN FD frames, error and overload flags on one line",
    consumes=EDGES,
    produces=(
        Output("can", code("freezeframe.decoders.serial.can_code:can_schema"), "frames and errors"),
    ),
    decode=code("freezeframe.decoders.serial.can_code:decode_can"),
    new_state=code("freezeframe.decoders.serial.can_code:CanState"),
    channels=(Channel("can_rx", "the line, 0 dominant", aliases=_NAMES),),
    options=(
        Option(
            "nominal_bitrate",
            0,
            "bits a second; 0 measures them on the line",
            minimum=0,
            maximum=10**9,
            unit="bit/s",
        ),
        Option(
            "fast_bitrate",
            0,
            "bits a second in the data of CAN FD frames that switch; 0 measures them",
            minimum=0,
            maximum=10**9,
            unit="bit/s",
        ),
        Option(
            "sample_point",
            0.0,
            "where in a bit its level is taken; 0 for 70, or with fewer than 4 samples a bit that "
            "at which more frames are right",
            minimum=0.0,
            maximum=95.0,
            unit="%",
        ),
        Option("invert", False, "1 is dominant, as on CAN_H"),
    ),
    texts=code("freezeframe.decoders.serial.can_code:can_texts"),
)
