"""PCI-X bus of 32 bits: its phases, and the transactions they make, with requester, tag and byte count.

For PulseView and sigrok-cli: SIGROKDECODE_DIR=<the folder above this one>, for instance
``sigrok-cli -i bus.sr -P pcix:clk=CLK:frame=FRAME:...``. Source: PCI-X Addendum 1.0b.
"""

# The folder above is on sigrok's path, not on that of Freezeframe.
from pcix.pd import Decoder  # type: ignore[import-not-found]

__all__ = ["Decoder"]
