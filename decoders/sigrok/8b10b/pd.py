# SPDX-FileCopyrightText: The Freezeframe authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""8b/10b as a libsigrokdecode decoder: symbols of one lane, and what happened on it.

OUTPUT_PYTHON, one for each symbol: ``["SYMBOL", [byte, k, error, rd]]``; error is "", "disparity" or "code",
rd 1 or 0 (positive or negative running disparity after it).

Source: IEEE 802.3-2018 36.2.4; libsigrokdecode 0.5, decoder API version 3.
"""

from __future__ import annotations

import importlib
from typing import Any, ClassVar

import sigrokdecode as srd  # type: ignore[import-not-found]  # exists inside sigrok only

_lane = importlib.import_module("8b10b.lane")  # a name that no import statement can have

_DATA, _CONTROL, _ERROR, _EVENT = range(4)


class Decoder(srd.Decoder):  # type: ignore[misc]  # of a module without types
    """A lane in, with or without its clock; symbols and events out."""

    api_version = 3
    id = "8b10b"
    name = "8b/10b"
    longname = "8b/10b serial lane"
    desc = "Symbols of a serial lane with 8b/10b code groups."
    license = "gplv3+"
    inputs: ClassVar = ["logic"]
    outputs: ClassVar = ["8b10b"]
    tags: ClassVar = ["Networking", "Encoding"]
    channels = ({"id": "data", "name": "Data", "desc": "The lane"},)
    optional_channels = ({"id": "clk", "name": "Clock", "desc": "Bit clock"},)
    options: Any = (
        {"id": "bitrate", "desc": "Bits a second, without a clock", "default": 0},
        {
            "id": "clock_edge",
            "desc": "Clock edges that take a bit",
            "default": "rising",
            "values": ("rising", "falling", "both"),
        },
        {
            "id": "invert",
            "desc": "Wires of the pair exchanged",
            "default": "no",
            "values": ("yes", "no"),
        },
        {"id": "sync_commas", "desc": "Commas that make synchronization", "default": 3},
        {
            "id": "realign",
            "desc": "When a comma moves the symbols",
            "default": "lost",
            "values": ("lost", "always"),
        },
    )
    annotations = (
        ("data", "Data"),
        ("control", "Control"),
        ("error", "Error"),
        ("event", "Event"),
    )
    annotation_rows = (
        ("symbols", "Symbols", (0, 1, 2)),
        ("events", "Events", (3,)),
    )

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        self.samplerate = 0

    def metadata(self, key: int, value: int) -> None:
        if key == srd.SRD_CONF_SAMPLERATE:
            self.samplerate = value

    def start(self) -> None:
        self.out_ann = self.register(srd.OUTPUT_ANN)
        self.out_python = self.register(srd.OUTPUT_PYTHON)

    def decode(self) -> None:
        self.lane = _lane.Lane(self.options["sync_commas"], self.options["realign"] == "always")
        self.invert = int(self.options["invert"] == "yes")
        if self.has_channel(1):
            self.decode_clocked()
        else:
            self.decode_timed()

    def decode_timed(self) -> None:
        bitrate = self.options["bitrate"]
        if bitrate <= 0 or self.samplerate < 2.5 * bitrate:
            raise ValueError(
                f"8b10b: option bitrate={bitrate}: at {self.samplerate} samples a second at least 2.5 "
                "samples a bit are needed; or name a clock"
            )
        runs = _lane.Runs(self.samplerate / bitrate)
        pins = self.wait()
        while True:
            for run in runs.take(self.samplenum, pins[0] ^ self.invert):
                self.give(self.lane.take(*run))
            pins = self.wait({0: "e"})

    def decode_clocked(self) -> None:
        edge = {"rising": "r", "falling": "f", "both": "e"}[self.options["clock_edge"]]
        level: int | None = None
        count = begin = 0
        self.wait()
        while True:
            pins = self.wait({1: edge})
            now = pins[0] ^ self.invert
            if now == level:
                count += 1
                if count == _lane.SILENCE:
                    self.give(self.lane.take(level, count, begin, self.samplenum))
                continue
            n = 0 if level is None or count >= _lane.SILENCE else count
            self.give(self.lane.take(level or 0, n, begin, self.samplenum))
            level, count, begin = now, 1, self.samplenum

    def give(self, items: list[tuple[Any, ...]]) -> None:
        for item in items:
            kind, begin, end = item[:3]
            if kind == "event":
                self.put(begin, end, self.out_ann, [_EVENT, [f"{item[3]} {item[4]}", item[3]]])
                continue
            byte, k, error, rd = item[3:7]
            self.put(begin, end, self.out_python, ["SYMBOL", [byte, k, error, rd]])
            text = _lane.name(byte, k)
            if error == "code":
                self.put(begin, end, self.out_ann, [_ERROR, ["code error", "!"]])
            elif error:
                self.put(begin, end, self.out_ann, [_ERROR, [f"{text} disparity error", "!"]])
            else:
                row = _CONTROL if k else _DATA
                self.put(begin, end, self.out_ann, [row, [f"{text} 0x{byte:02X}", text]])
