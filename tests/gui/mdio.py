"""The transfers of a PHY that the tests of the faces decode, export and draw."""

from __future__ import annotations

from freezeframe.decoders.serial.mdio_encode import MdioFrame

FRAMES = (
    MdioFrame(22, "read", phy=1, reg=2, data=0x0007),
    MdioFrame(22, "write", phy=1, reg=0, data=0x3100),
)
