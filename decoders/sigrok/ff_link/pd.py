# SPDX-FileCopyrightText: The Freezeframe authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The Freezeframe link as a libsigrokdecode decoder: words, packets, credits, lane events, errors.

Source: Freezeframe docs/formats.md sections 3 and 3.1; libsigrokdecode 0.5, decoder API version 3.
"""

from __future__ import annotations

import binascii
import importlib
import zlib
from typing import Any, ClassVar

import sigrokdecode as srd  # type: ignore[import-not-found]  # exists inside sigrok only

from ff_link.bond import Bond, Columns, Word  # type: ignore[import-not-found]  # as above

_lane = importlib.import_module("8b10b.lane")  # a name that no import statement can have

_TYPES = {1: "RDMA_WRITE", 2: "NOTIFICATION", 3: "INTERRUPT", 4: "CREDIT"}
_INJECTED = 8
_HEAD, _BODY, _TAIL, _CREDIT_WORD, _STRAY, _PACKET, _CREDIT, _ERROR, _EVENT = range(9)
_WORD_CLASSES = {
    "HEAD": _HEAD,
    "BODY": _BODY,
    "TAIL": _TAIL,
    "CREDIT": _CREDIT_WORD,
    "STRAY": _STRAY,
}


class Decoder(srd.Decoder):  # type: ignore[misc]  # of a module without types
    """Two lanes in; annotations of words, packets, credits and what is wrong out."""

    api_version = 3
    id = "ff_link"
    name = "FF link"
    longname = "Freezeframe link"
    desc = "Packets and credits of a NIC link on two bonded 8b/10b lanes."
    license = "gplv3+"
    inputs: ClassVar = ["logic"]
    outputs: ClassVar[list[str]] = []
    tags: ClassVar = ["Networking"]
    channels = (
        {"id": "lane0", "name": "Lane 0", "desc": "Lane of bytes 0, 2, 4, 6"},
        {"id": "lane1", "name": "Lane 1", "desc": "Lane of bytes 1, 3, 5, 7"},
    )
    options: Any = (
        {"id": "bitrate", "desc": "Bits a second of a lane", "default": 0},
        {"id": "sync_commas", "desc": "Commas that make synchronization", "default": 3},
        {
            "id": "realign",
            "desc": "When a comma moves the symbols",
            "default": "lost",
            "values": ("lost", "always"),
        },
    )
    annotations = (
        ("head", "Header word"),
        ("body", "Payload word"),
        ("tail", "Tail word"),
        ("credit-word", "Credit word"),
        ("stray", "Word in no packet"),
        ("packet", "Packet"),
        ("credit", "Credit"),
        ("error", "Error"),
        ("event", "Lane event"),
    )
    annotation_rows = (
        ("words", "Words", (_HEAD, _BODY, _TAIL, _CREDIT_WORD, _STRAY)),
        ("packets", "Packets", (_PACKET, _CREDIT)),
        ("errors", "Errors", (_ERROR,)),
        ("events", "Lanes", (_EVENT,)),
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

    def decode(self) -> None:
        bitrate = self.options["bitrate"]
        if bitrate <= 0 or self.samplerate < 2.5 * bitrate:
            raise ValueError(
                f"ff_link: option bitrate={bitrate}: at {self.samplerate} samples a second at least "
                "2.5 samples a bit are needed"
            )
        always = self.options["realign"] == "always"
        self.runs = [_lane.Runs(self.samplerate / bitrate) for _ in range(2)]
        self.lanes = [_lane.Lane(self.options["sync_commas"], always) for _ in range(2)]
        self.columns = [Columns(), Columns()]
        self.bond = Bond()
        self.packet: list[Word] = []
        self.next_seq = -1
        pins = self.wait()
        while True:
            for number in (0, 1):
                self._feed(number, pins[number])
            self.bond.join()
            self._give()
            pins = self.wait([{0: "e"}, {1: "e"}])

    def _feed(self, number: int, level: int) -> None:
        runs, lane, columns = self.runs[number], self.lanes[number], self.columns[number]
        made = runs.before(self.samplenum) if runs.level is not None else []
        for run in made + runs.take(self.samplenum, level):
            for item in lane.take(*run):
                if item[0] == "event":
                    self._event(number, item[1], item[3], item[4])
                    continue
                _, at, end, byte, k, error, _, fresh = item
                column = columns.take(at, end, byte, k, error, fresh)
                if column is not None:
                    self.bond.waiting[number].append(column)
        begun = lane.aligned and columns.group
        now = (
            self.samplenum
            if runs.silent
            else min(lane.before[1], lane.start)
            if lane.aligned
            else lane.before[1]
        )
        if runs.silent:  # a comma can begin two bits before the next edge
            now -= 2 * (runs.silence // _lane.SILENCE + 1)
        self.bond.known_to[number] = columns.at if begun else now
        for at, text, value in columns.events:
            self._event(number, at, text, value)
        columns.events.clear()

    def _event(self, number: int, at: int, text: str, value: int) -> None:
        where = "link" if number < 0 else f"lane {number}"
        self.put(at, at, self.out_ann, [_EVENT, [f"{where}: {text} {value}", text]])

    def _give(self) -> None:
        for at, text, value in self.bond.events:
            self._event(-1, at, text, value)
        self.bond.events.clear()
        for word in self.bond.words:
            self._take(word)
        self.bond.words.clear()

    def _take(self, word: Word) -> None:
        if word.kind not in _WORD_CLASSES:
            self._error(word.at, word.end, word.kind)
            if self.packet:
                self._end_packet(word.kind)
            return
        text = f"{word.kind} {word.data:016X}"
        text += f" bad bytes {word.bad:02X}" if word.bad else ""
        self.put(word.at, word.end, self.out_ann, [_WORD_CLASSES[word.kind], [text, word.kind]])
        if word.kind == "CREDIT":
            self._credit(word)
        elif word.kind != "STRAY":
            self.packet.append(word)
            if word.kind == "TAIL":
                self._end_packet("")

    def _credit(self, word: Word) -> None:
        data = word.data
        crc = binascii.crc_hqx(data.to_bytes(8, "little")[:6], 0xFFFF)
        flow, freed = data >> 8 & 0x7F, data >> 16 & 0xFFFFFF
        text = f"credit flow {flow} freed {freed}"
        self.put(word.at, word.end, self.out_ann, [_CREDIT, [text, f"+{freed}"]])
        if not bin(data & (1 << 48) - 1).count("1") & 1:
            self._error(word.at, word.end, "bad-parity")
        if crc != data >> 48:
            self._error(word.at, word.end, "bad-credit")

    def _end_packet(self, error: str) -> None:
        packet, self.packet = self.packet, []
        at, end = packet[0].at, packet[-1].end
        heads = [word.data for word in packet if word.kind == "HEAD"]
        payload = b"".join(
            word.data.to_bytes(8, "little") for word in packet if word.kind == "BODY"
        )
        header = heads[0]
        length, seq = header >> 16 & 0x3FF, header >> 32 & 0xFFFF
        kind = _TYPES.get(header & 15, "unknown")
        header_ok = len(heads) == 2 and header >> 48 == binascii.crc_hqx(
            header.to_bytes(8, "little")[:6] + heads[1].to_bytes(8, "little"), 0xFFFF
        )
        text = f"{kind} #{seq} flow {header >> 8 & 0x7F} length {length}"
        self.put(at, end, self.out_ann, [_PACKET, [text, f"#{seq}"]])
        if not header_ok:
            self._error(at, end, "bad-header")
        if not error and zlib.crc32(payload) != packet[-1].data & 0xFFFFFFFF:
            self._error(at, end, "bad-payload")
        if error or length != len(payload) // 8:
            self._error(at, end, "bad-length")
        if header_ok and not header >> 4 & _INJECTED:
            if self.next_seq not in (-1, seq):
                self._error(at, end, f"sequence {seq - self.next_seq & 0xFFFF}")
            self.next_seq = seq + 1 & 0xFFFF

    def _error(self, at: int, end: int, text: str) -> None:
        self.put(at, end, self.out_ann, [_ERROR, [text, "!"]])
