"""Frames between a MAC and its PHY, as MII, RGMII and RMII share them: rows, Ethernet frames, words.

Source: IEEE 802.3-2018, 4.2.4 (frame reception: alignment and length), table 4-2 (interpacket gap),
22.2.3 (preamble and delimiter), 22.2.4.4 (carrier events).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from freezeframe.capture.errors import InputError
from freezeframe.capture.files.edges import Edges, sample_to_ps
from freezeframe.capture.files.samples import Samples
from freezeframe.decoders.clocked import Clocked, Clocks, clocking
from freezeframe.decoders.columns import event_schema, name_type
from freezeframe.decoders.contract import Channel, OptionValues, Texts
from freezeframe.decoders.net.ethernet import (
    ETHERNET,
    FCS_B,
    EthernetFrame,
    ethernet_texts,
    frame_check,
)
from freezeframe.decoders.net.ethernet_code import ethernet_table
from freezeframe.decoders.net.phy_kernels import (
    BEFORE,
    MIDDLE,
    ROW,
    close,
    end_of_clock,
    frames,
    new_clock,
    new_frame,
    pairs,
    take_symbols,
)
from freezeframe.decoders.net.phy_kinds import (
    FALSE_CARRIER,
    FRAME,
    KINDS,
    LONGEST_B,
    RESERVED,
    STATUS,
)

_PREAMBLE_NIBBLES = 15  # seven octets 55, and the lower half of the delimiter D5
_GAP_BITS = {10: 47, 100: 96, 1000: 64}  # of received frames; of sent ones always 96 (table 4-2)
_SENT_GAP_BITS = 96
_SPEEDS = (10, 100, 1000)
_MICROS = 10**6


def frame_schema() -> pa.Schema:
    """Return the columns of frames between MAC and PHY, of what stands between them, and errors.

    ``kind`` is ``frame``, ``status`` (a change of RGMII's in-band status), ``low-power``,
    ``extension``, ``carrier-sense``, ``carrier`` (CRS of MII was active) or ``error``, and then
    ``error`` says which; an error about a frame stands after it and repeats its values. A frame
    lasts from the first symbol with the enable to the first without. ``length_B`` counts the octets
    after the delimiter, the check sequence included, ``extra_bits`` what is left over.
    ``preamble_bits`` are those before the delimiter. ``symbol_errors`` counts symbols with RX_ER or
    TX_ER, ``first_error_B`` is the octet of the first (-1 in the preamble, or none). ``gap_bits`` is
    since the frame before in this direction. ``code`` is that of an error without enable, or the
    in-band status; ``link`` and ``duplex`` say what it means. ``speed_mbps`` is measured; of a status
    it is what it says. Of an error about a frame ``expected`` and ``seen`` are the check sequence of
    its octets and the one it has (``bad-fcs``, ``alignment``), or the bits of the least gap and of the
    one before it (``short-gap``). -1 stands for what is not there.
    """
    return event_schema(
        {
            "direction": name_type(),
            "speed_mbps": pa.int32(),
            "preamble_bits": pa.int32(),
            "length_B": pa.int32(),
            "extra_bits": pa.int8(),
            "symbol_errors": pa.int32(),
            "first_error_B": pa.int32(),
            "gap_bits": pa.int64(),
            "fcs_ok": pa.bool_(),
            "collision": pa.bool_(),
            "code": pa.int16(),
            "link": pa.bool_(),
            "duplex": name_type(),
            "expected": pa.int64(),
            "seen": pa.int64(),
            "sample": pa.int64(),
            "data_sample": pa.int64(),
            "end_sample": pa.int64(),
        }
    )


def blank_row(
    source: str, kind: str, direction: str, places: tuple[int, int], piece: Edges | Samples
) -> dict[str, Any]:
    """Return a row of `frame_schema` over samples ``[begin, end)`` in which all else is not there."""
    return {
        "t_ps": _to_ps(places[0], piece),
        "source": source,
        "kind": kind,
        "t_end_ps": _to_ps(places[1], piece),
        "error": "",
        "direction": direction,
        "speed_mbps": -1,
        "preamble_bits": -1,
        "length_B": -1,
        "extra_bits": -1,
        "symbol_errors": -1,
        "first_error_B": -1,
        "gap_bits": -1,
        "fcs_ok": None,
        "collision": None,
        "code": -1,
        "link": None,
        "duplex": "",
        "expected": -1,
        "seen": -1,
        "sample": places[0],
        "data_sample": -1,
        "end_sample": places[1],
    }


class Line(NamedTuple):
    """The channels of one direction by their numbers: clock, first of four data, enable, error and
    collision (-1 for none). ``take`` is where a clock edge takes the data (AT, BEFORE, MIDDLE)."""

    direction: str
    clock: int
    data: int
    enable: int
    error: int
    collision: int
    take: int
    ddr: bool
    in_band: bool = False

    @property
    def places(self) -> tuple[int, int, int, int, int]:
        """The channels as the kernels take them."""
        return self.clock, self.data, self.enable, self.error, self.collision


class Side:
    """One direction of the interface, with what is carried from piece to piece."""

    def __init__(self, line: Line, channels: int) -> None:
        """Decode a direction of a capture that has so many channels."""
        self.line = line
        self.clocked = Clocked()
        self.clock = new_clock()
        self.frame = new_frame()
        self.data = np.empty(0, dtype=np.uint8)  # of the frame that is open
        clock = 1 << line.clock
        # Data that is taken after the edge is what the last change of any line left.
        marked = (1 << channels) - 1 & ~clock if line.take == MIDDLE else 0
        before = line.take == BEFORE
        self.clocking = clocking(clock, both=line.ddr, before=before, marked=marked)

    def feed(
        self, piece: Edges | Samples, octet_period: int, last: bool
    ) -> list[tuple[npt.NDArray[np.void], npt.NDArray[np.uint8]]]:
        """Return the rows that this piece ends, in parts, each with the octets that they point into."""
        parts = [
            self._frames(self._joined(self._symbols(clocks), False), octet_period)
            for clocks in self.clocked.parts(piece, self.clocking)
        ]
        if last:
            end = piece.end_sample
            symbols = np.empty((1, 3), dtype=np.int64)
            count = end_of_clock(end, self.line.places, self.clock, symbols)
            parts.append(self._frames(self._joined(symbols[:count], True), octet_period))
            rows = np.zeros(1, dtype=ROW)
            data = self.data
            parts.append((rows[: close(end, self.frame, rows)], data))
        return parts

    def _symbols(self, clocks: Clocks) -> npt.NDArray[np.int64]:
        symbols = np.empty((len(clocks.sample) + 1, 3), dtype=np.int64)
        line = self.line
        return symbols[: take_symbols(clocks, line.places, line.take, self.clock, symbols)]

    def _joined(self, symbols: npt.NDArray[np.int64], last: bool) -> npt.NDArray[np.int64]:
        """Return the symbols of whole clocks; ``last`` is true with the last that come."""
        return symbols[: pairs(symbols, self.clock)] if self.line.ddr else symbols

    def _frames(
        self, symbols: npt.NDArray[np.int64], octet_period: int
    ) -> tuple[npt.NDArray[np.void], npt.NDArray[np.uint8]]:
        line = self.line
        count = len(symbols)
        rows = np.zeros(2 * count + 2, dtype=ROW)
        data = np.empty(len(self.data) + count, dtype=np.uint8)
        data[: len(self.data)] = self.data
        settings = octet_period, int(line.in_band)
        ended = frames(symbols, int(line.ddr), settings, self.frame, rows, data)
        self._keep_open(data)
        return rows[:ended], data

    def _keep_open(self, data: npt.NDArray[np.uint8]) -> None:
        """Keep the octets of the frame that is open; those before are in the rows."""
        first, end = int(self.frame["row"]["first_byte"][0]), int(self.frame["bytes"][0])
        if not self.frame["phase"][0]:
            first = end
        self.data = data[first:end].copy()
        self.frame["row"]["first_byte"] = 0
        self.frame["bytes"] = end - first


class Sides:
    """The directions that the capture has; known with the first piece."""

    def __init__(self, options: OptionValues) -> None:
        self.sides: list[Side] | None = None


def sides_of(
    decoder: str,
    probes: Sequence[str],
    channels: Sequence[Channel],
    lines: Mapping[int, Line],
    say: str,
    side: type[Side] = Side,
) -> list[Side]:
    """Return the directions that a capture has.

    Args:
        lines: those that there may be, by the first of the channels that each needs; the last is its enable.
        say: what to give for one, in the message.
    Raises:
        InputError: a direction has some of its channels, and the message says which are missing; or none is there.
    """
    sides = []
    for first, line in lines.items():
        needed = range(first, line.enable + 1)
        missing = [channels[place].id for place in needed if not probes[place]]
        if missing and len(missing) < len(needed):
            raise InputError(
                f"decoder {decoder}: channels {', '.join(missing)} have no probe; a direction needs its "
                "clock, four data and the enable, or none of them"
            )
        if not missing:
            error, collision = (
                place if place >= 0 and probes[place] else -1
                for place in (line.error, line.collision)
            )
            sides.append(side(line._replace(error=error, collision=collision), len(channels)))
    if not sides:
        raise InputError(f"decoder {decoder}: neither direction has probes; say {say}")
    return sides


def decode_sides(
    piece: Edges | Samples,
    options: OptionValues,
    sides: list[Side],
    source: str,
    last: bool,
    more: Sequence[dict[str, Any]] = (),
) -> dict[str, pa.Table]:
    """Decode a piece of a capture in all directions; rows stand in the order of their end.

    ``more`` are rows of `frame_schema` that end in this piece and come from elsewhere.
    """
    events: list[tuple[int, list[dict[str, Any]], list[EthernetFrame]]] = [
        (row["end_sample"], [row], []) for row in more
    ]
    # An octet takes 8 ns at 1000 Mb/s and a nibble 40 ns at 100: half way, in ratio.
    octet_period = piece.samplerate_hz * 18 // 10**9
    for side in sides:
        for rows, data in side.feed(piece, octet_period, last):
            for row in rows:
                first, size = int(row["first_byte"]), min(int(row["bytes"]), LONGEST_B)
                octets = data[first : first + size].tobytes()
                about = _rows_of(row, octets, side.line, piece, options, source)
                events.append((int(row["known"]), *about))
    events.sort(key=lambda event: event[0])
    all_rows = [row for _, rows, _ in events for row in rows]
    ethernet = [frame for _, _, of_event in events for frame in of_event]
    return {
        f"{source.lower()}.frames": pa.Table.from_pylist(all_rows, schema=frame_schema()),
        ETHERNET.kind: ethernet_table(ethernet, source),
    }


def _rows_of(
    row: np.void,
    octets: bytes,
    line: Line,
    piece: Edges | Samples,
    options: OptionValues,
    source: str,
) -> tuple[list[dict[str, Any]], list[EthernetFrame]]:
    """Return the row and the errors about it, and the Ethernet frame when there is one."""
    kind = int(row["kind"])
    begin, end, data = (int(row[name]) for name in ("sample", "end_sample", "data_sample"))
    values = blank_row(source, KINDS[kind], line.direction, (begin, end), piece)
    values |= {
        "error": {FALSE_CARRIER: "false-carrier", RESERVED: "reserved-code"}.get(kind, ""),
        "speed_mbps": _speed_mbps(row, piece.samplerate_hz),
        "code": int(row["code"]),
        "data_sample": data,
    }
    if kind == STATUS:
        code = int(row["code"])
        values["link"] = bool(code & 1)
        values["duplex"] = "full" if code & 8 else "half"
        values["speed_mbps"] = (*_SPEEDS, -1)[code >> 1 & 3]
    if kind != FRAME:
        return [values], []
    # Of a frame begun before the capture, what looks like a delimiter may be its data.
    has_delimiter = bool(row["data_sample"] != -1) and not row["cut"] & 1
    fcs_ok, check = None, (-1, -1)
    if has_delimiter and FCS_B <= row["bytes"] <= LONGEST_B:
        check = frame_check(octets[:-FCS_B]), int.from_bytes(octets[-FCS_B:], "little")
        fcs_ok = check[0] == check[1]
    values |= {
        "preamble_bits": 4 * (int(row["preamble"]) - 1) if has_delimiter else -1,
        "length_B": int(row["bytes"]) if has_delimiter else -1,
        "extra_bits": 4 * int(row["extra"]),
        "symbol_errors": int(row["errors"]),
        "first_error_B": int(row["first_error"]),
        "gap_bits": -1 if row["gap"] < 0 else 4 * int(row["gap"]),
        "fcs_ok": None if row["cut"] else fcs_ok,
        "collision": bool(row["collision"]) if line.collision >= 0 else None,
    }
    errors = _errors(row, values, line, options)
    gap = _least_gap(values, line, options), values["gap_bits"]
    checks = {"bad-fcs": check, "alignment": check, "short-gap": gap}
    about = []
    for error in errors:
        expected, seen = checks.get(error, (-1, -1))
        more = {"kind": "error", "error": error, "expected": expected, "seen": seen}
        about.append(values | more)
    if not has_delimiter:
        return [values, *about], []
    return [values, *about], _ethernet(values, octets, _to_ps(max(0, data), piece), errors)


def _errors(
    row: np.void, values: Mapping[str, Any], line: Line, options: OptionValues
) -> list[str]:
    if row["cut"]:
        return ["cut-frame"]
    errors = []
    if values["length_B"] < 0:
        errors.append("no-delimiter")
    elif row["bad_preamble"]:
        errors.append("bad-preamble")
    elif line.direction == "sent" and row["preamble"] < _PREAMBLE_NIBBLES:
        errors.append("short-preamble")
    if values["length_B"] > LONGEST_B:
        errors.append("jabber")
    if row["errors"]:
        errors.append("symbol-error")
    if values["collision"]:
        errors.append("collision")
    if values["fcs_ok"] is False:
        # 802.3 4.2.4: what is left over is dropped; with a wrong FCS it is an alignment error.
        errors.append("alignment" if row["extra"] else "bad-fcs")
    if 0 <= values["gap_bits"] < _least_gap(values, line, options):
        errors.append("short-gap")
    return errors


def _least_gap(values: Mapping[str, Any], line: Line, options: OptionValues) -> int:
    """Return the bits that there should be before a frame."""
    return options.integer("min_gap_bits") or (
        _SENT_GAP_BITS if line.direction == "sent" else _GAP_BITS.get(values["speed_mbps"], 0)
    )


def _ethernet(
    values: Mapping[str, Any], octets: bytes, t_ps: int, errors: list[str]
) -> list[EthernetFrame]:
    if not octets:
        return []
    worst = ("cut-frame", "jabber", "symbol-error", "alignment")
    severe = [error for error in worst if error in errors]
    whole = not {"cut-frame", "jabber"} & set(errors) and len(octets) >= FCS_B
    data, tail = (octets[:-FCS_B], octets[-FCS_B:]) if whole else (octets, b"")
    return [
        EthernetFrame(
            t_ps,
            values["t_end_ps"],
            values["direction"],
            data,
            int.from_bytes(tail, "little") if tail else None,
            error=severe[0] if severe else "",
        )
    ]


def phy_texts(row: Mapping[str, Any]) -> Texts:
    """Put a row of `frame_schema`, or of an Ethernet frame, into words."""
    if "ethertype" in row:
        return ethernet_texts(row)
    about = f"{row['direction']} at {_speed_text(row)}" if row["direction"] else "the medium"
    if row["kind"] == "error":
        error = str(row["error"])
        return Texts(
            "!", error, f"{about}: {error}: {_ERROR_TEXTS[error]}{_expected_and_seen(row)}"
        )
    if row["kind"] == "status":
        link = "up" if row["link"] else "down"
        normal = f"link {link}, {row['speed_mbps']} Mb/s, {row['duplex']} duplex"
        return Texts(f"link {link}", normal, f"{row['source']}: in-band status: {normal}")
    if row["kind"] != "frame":
        return Texts(row["kind"], str(row["kind"]), f"{about}: {_EVENT_TEXTS[row['kind']]}")
    verdict = {True: ", FCS good", False: ", FCS wrong", None: ""}[row["fcs_ok"]]
    size = "no delimiter" if row["length_B"] < 0 else f"{row['length_B']} B"
    gap = "" if row["gap_bits"] < 0 else f", gap {row['gap_bits']} bits"
    normal = f"{row['direction']} {size}{verdict}"
    return Texts(
        size,
        normal,
        f"{about}: {size}{verdict}, preamble {row['preamble_bits']} bits{gap}, "
        f"{row['symbol_errors']} symbols with errors",
    )


def _expected_and_seen(row: Mapping[str, Any]) -> str:
    """Return what was expected and what was seen, where both are known."""
    if row["seen"] < 0:
        return ""
    if row["error"] == "short-gap":
        return f": expected {row['expected']} bits, seen {row['seen']}"
    return f": expected {row['expected']:#010x}, seen {row['seen']:#010x}"


def _speed_text(row: Mapping[str, Any]) -> str:
    return f"{row['speed_mbps']} Mb/s" if row["speed_mbps"] >= 0 else "unknown speed"


_EVENT_TEXTS = {
    "extension": "carrier extension (half duplex at 1000 Mb/s)",
    "carrier-sense": "carrier sense without data",
    "carrier": "CRS was active",
    "low-power": "low power idle",
}
_ERROR_TEXTS = {
    "cut-frame": "the capture begins or ends inside the frame",
    "no-delimiter": "no start frame delimiter follows the preamble",
    "bad-preamble": "bits before the delimiter that are not 1010",
    "short-preamble": "a MAC sends seven octets of preamble",
    "jabber": f"longer than {LONGEST_B} B, of which the rest is not kept",
    "symbol-error": "the error signal was active in the frame",
    "collision": "COL was active while the frame was sent",
    "alignment": "not whole octets, and the check sequence is wrong",
    "bad-fcs": "the check sequence is not that of the frame",
    "short-gap": "the gap since the frame before is shorter than allowed",
    "cut-carrier": "the capture begins or ends while CRS is active",
    "false-carrier": "the PHY saw a carrier that does not begin as a frame does",
    "reserved-code": "error without enable, and data that mean nothing then",
}


def _to_ps(sample: int, piece: Edges | Samples) -> int:
    return sample_to_ps(sample, piece.samplerate_hz)


def _speed_mbps(row: np.void, samplerate_hz: int) -> int:
    """Return the measured speed: one of the three that there are when it is near."""
    span = int(row["end_sample"]) - int(row["sample"])
    if span <= 0 or row["symbols"] == 0 or not samplerate_hz:
        return -1
    rate_bps = 4 * int(row["width"]) * int(row["symbols"]) * samplerate_hz // span
    for speed in _SPEEDS:
        if 0.75 < rate_bps / (speed * _MICROS) < 1.25:
            return speed
    return rate_bps // _MICROS
