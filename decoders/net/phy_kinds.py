"""What there is between a MAC and its PHY, by number, for the kernels and for what names it."""

from __future__ import annotations

FRAME, FALSE_CARRIER, EXTENSION, CARRIER_SENSE, LOW_POWER, RESERVED, STATUS = range(7)
KINDS = ("frame", "error", "extension", "carrier-sense", "low-power", "error", "status")

# Of a longer frame no more octets are kept: a stuck enable must not fill the memory.
LONGEST_B = 65_536
