"""PCI bus of 32 bits: its phases and the transactions they make.

For PulseView and sigrok-cli: SIGROKDECODE_DIR=<the folder above this one>, for instance
``sigrok-cli -i bus.sr -P pci:clk=CLK:frame=FRAME:...``. Source: PCI Local Bus Specification 3.0.
"""

# The folder above is on sigrok's path, not on that of Freezeframe.
from pci.pd import Decoder  # type: ignore[import-not-found]

__all__ = ["Decoder"]
