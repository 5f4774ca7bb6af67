"""USB at low and full speed: packets, transactions, transfers with their requests and descriptors, on D+ and D-.

Source: Universal Serial Bus Specification, revision 2.0, chapters 7.1 (signalling), 8 (protocol), 9.3 to 9.6.
"""

from __future__ import annotations

from freezeframe.capture.code import code
from freezeframe.decoders.contract import EDGES, Channel, Decoder, Option, Output

_CODE = "freezeframe.decoders.serial.usb_code"

USB = Decoder(
    id="usb",
    name="USB",
    doc="USB low and full speed: packets, transactions, transfers, standard requests and descriptors",
    consumes=EDGES,
    produces=(
        Output(
            "usb.transfers", code(f"{_CODE}:transfer_schema"), "control and other transfers, whole"
        ),
        Output(
            "usb.transactions", code(f"{_CODE}:transaction_schema"), "token, data and handshake"
        ),
        Output("usb.packets", code(f"{_CODE}:packet_schema"), "packets, resets and errors"),
    ),
    decode=code(f"{_CODE}:decode_usb"),
    new_state=code(f"{_CODE}:UsbState"),
    channels=(
        Channel("dp", "D+", aliases=("d+", "usb_dp", "usb_d+", "usbdp", "usb+", "data+", "dplus")),
        Channel(
            "dm",
            "D-",
            aliases=("d-", "usb_dm", "usb_d-", "usbdm", "usb-", "data-", "dminus", "dn", "usb_dn"),
        ),
    ),
    options=(
        Option(
            "signalling",
            "automatic",
            "the speed; automatic goes by the level of the idle line",
            choices=("automatic", "full-speed", "low-speed"),
        ),
    ),
    texts=code("freezeframe.decoders.serial.usb_texts:usb_texts"),
    evidence=code("freezeframe.decoders.guess.usb_rule:usb"),
)
