"""A recording with literal records, of a card with a wide tap, as tests pull, write and read it."""

from __future__ import annotations

import numpy as np

from freezeframe.capture.card.elaborated import ElaboratedCard, elaborate
from freezeframe.capture.card.reading import parse_card
from freezeframe.capture.card.recording import (
    CardRecording,
    Feature,
    RecordedClock,
    RecordedTap,
    Toggle,
)
from freezeframe.emulator.card_image import SERVED

TEXT = """\
schema = 1
[card]
name = "wide"
version = "1.2"
[clock.bus]
hz = 100_000_000
registers = true
[clock.rx]
hz = 200_000_000
ppm = 50
[tap.byte]
kind = "axi-stream"
clock = "rx"
bits = 8
depth = 512
[tap.wide]
kind = "axi-stream"
clock = "rx"
bits = 128
depth = 16
[counter.drops]
wire = "drops"
unit = "packets"
[bank.level]
wire = "level"
"""

# docs/card-map.md, "Golden bytes", 8 bits.
BYTES = [
    "30 31 32 33 34 35 36 37 f1",
    "38 00 00 00 00 00 00 01 17",
    "40 41 00 00 00 00 00 03 44",
    "42 00 00 00 00 00 00 01 15",
]


def card(text: str = TEXT) -> ElaboratedCard:
    return elaborate(parse_card(text))


def recording(of: ElaboratedCard | None = None, features: Feature = SERVED) -> CardRecording:
    """Four golden records at the tap ``byte``; lanes 1 and 2 of ``wide`` full of 0x11 and 0x22."""
    mine = of or card()
    first = np.zeros((512, 9), np.uint8)
    for row, text in enumerate(BYTES):
        first[row] = list(bytes.fromhex(text))
    lanes = tuple(np.full((16, 9), fill, np.uint8) for fill in (0x11, 0x22))
    return CardRecording(
        mine,
        {
            "byte": RecordedTap(mine.tap("byte"), (first,), 4, wrapped=False, stored=4, offered=12),
            "wide": RecordedTap(mine.tap("wide"), lanes, 5, wrapped=True, stored=21, offered=20),
        },
        [
            RecordedClock(mine.clocks[0], 100_000_000, Toggle(1, 100), Toggle(9, 32_868)),
            RecordedClock(mine.clocks[1], 199_999_000, Toggle(1, 205), None),
        ],
        features,
        causes=0b10,
        cause_cycle=(7 << 32) + 5,
        counters={"drops": (1 << 32) + 3},
        bank={"level": 77},
    )
