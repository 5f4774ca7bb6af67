# SPDX-FileCopyrightText: The Freezeframe authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""8b/10b: the symbols of one serial lane (IEEE 802.3 clause 36.2.4, FC-PH clause 11).

Bits are told by a clock, or by the edges of the data where the bit rate is given. Load it with
SIGROKDECODE_DIR=<the folder above this one>: ``sigrok-cli -i lane.sr -P 8b10b:data=RX:bitrate=1250000000``.
"""

import importlib

Decoder = importlib.import_module("8b10b.pd").Decoder  # a name that no import statement can have
