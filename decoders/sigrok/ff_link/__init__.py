# SPDX-FileCopyrightText: The Freezeframe authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The Freezeframe link: two bonded 8b/10b lanes, their packets and credits, and what is wrong with them.

Load it with SIGROKDECODE_DIR=<the folder above this one>, beside ``8b10b``, whose reading of a lane it
uses: ``sigrok-cli -i link.sr -P ff_link:lane0=LANE0:lane1=LANE1:bitrate=3125000000``.
"""

# The folder above is on sigrok's path, not on that of Freezeframe.
from ff_link.pd import Decoder  # type: ignore[import-not-found]

__all__ = ["Decoder"]
