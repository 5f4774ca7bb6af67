"""Management pages of SFP modules (SFF-8472), on the I2C decoder of sigrok.

Page A0h has the identification, page A2h diagnostics with units. Load it with
SIGROKDECODE_DIR=<the folder above this one>, for instance
``sigrok-cli -i module.sr -P i2c:scl=SCL:sda=SDA,sfp``. The map of the memory is that of Freezeframe's own
decoder, read from beside this folder; to load it from elsewhere, link to this folder, do not copy it.
"""

# The folder above is on sigrok's path, not on that of Freezeframe.
from sfp.pd import Decoder  # type: ignore[import-not-found]

__all__ = ["Decoder"]
