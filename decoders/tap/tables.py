"""A card's recording as tables: the packets of each tap, a bad one followed by a row that says why, and the event log.

Times are on the card's time base, from the zero of its bus clock's counter.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from freezeframe.capture.card.recording import CardRecording
from freezeframe.capture.card.tables import Format
from freezeframe.capture.card.time_base import card_time_base
from freezeframe.capture.folder.card_folder import CardFolder
from freezeframe.capture.timebase import TimeBase
from freezeframe.decoders.stack_run import Decoded
from freezeframe.decoders.tap.checked import BAD, FCS_B, GOOD, CheckedStream, Wrong, check_packets
from freezeframe.decoders.tap.event_log import decode_log, entry_text, log_table
from freezeframe.decoders.tap.kinds import Packet
from freezeframe.decoders.tap.stream import decode_tap

_VERDICTS = {GOOD: "good", BAD: "bad"}
_WRONG = {
    Wrong.CRC: "its CRC does not match",
    Wrong.USER: "marked bad by its user bit",
    Wrong.RUNT: "shorter than its format allows",
    Wrong.GIANT: "longer than its format allows",
    Wrong.CONSTANT: "a constant field has another value",
    Wrong.LENGTH: "its length field does not match",
    Wrong.PREAMBLE: "no preamble",
    Wrong.HEADER_CRC: "its header's CRC does not match",
}
_HIDDEN = {
    Packet.CUT_BEGIN: "its beginning is not in the memory",
    Packet.CUT_END: "its end is not in the memory",
    Packet.VOID: "parts of it were not read",
    Packet.LOST_END: "another packet began inside it",
    Packet.NULL_BEAT: "a beat of it has no byte",
    Packet.IRREGULAR: "bytes are off inside it",
}
_SHOWN_B = 16
_OWN = {
    "t_ps", "t_end_ps", "t_unc_ps", "source", "kind", "number", "wire_B", "cycle", "end_cycle", "verdict", "data",
    "fcs", "error", "begun", "says", "ethertype",
}  # fmt: skip
"""Columns of every table, and the one that says Ethernet: an own field of such a name is shown as ``field_NAME``."""


def packet_tables(folder: CardFolder, devices: Sequence[str] | None = None) -> list[Decoded]:
    """Return the packets of every tap, ``A.rx_in`` and so on, in the order of the card, then its event log.

    Args:
        devices: names of those that are wanted; all of the capture by default.
    Raises:
        InputError: the capture has no such device.
    """
    chosen = [folder.device(name) for name in devices] if devices else folder.devices
    tables = []
    for device in chosen:
        recording = device.recording()
        times = card_time_base(recording)
        for name, tap in recording.taps.items():
            checked = check_packets(recording.card.said, decode_tap(tap))
            table = packet_table(recording, times, checked)
            tables.append(Decoded(f"{device.name}.{name}", table))
        if recording.log is not None:
            table = log_table(recording, decode_log(recording, times))
            tables.append(Decoded(f"{device.name}.{recording.log.tap.name}", table))
    return tables


def packet_text(row: Mapping[str, Any]) -> str:
    """Return a row of such a table in words."""
    if "number" not in row:
        return entry_text(row)
    if row["kind"] == "error":
        return f"#{row['number']} {row['error']}"
    data = row["data"] or b""
    shown = data[:_SHOWN_B].hex(" ") + (" ..." if len(data) > _SHOWN_B else "")
    verdict = f", {row['verdict']}" if row["verdict"] else ""
    says = f", {row['says']}" if row.get("says") else ""
    return f"#{row['number']} {row['wire_B']} B{verdict}{says}: {shown}".rstrip(": ")


def error_text(row: Mapping[str, Any]) -> str:
    """Return what is wrong with a packet; nothing for one that is not bad."""
    return str(row["error"] or "")


def packet_table(recording: CardRecording, times: TimeBase, checked: CheckedStream) -> pa.Table:
    """Return the packets of one tap, each with its times, its bytes and the columns of its headers."""
    packets = checked.stream.packets
    clock = checked.tap.clock.name
    t_ps, uncertainty_ps = times.times_ps(recording.device, clock, packets.begin)
    # A begin that a gap hides may be earlier by its slack.
    slack, period_ps = packets.begin_slack, times.clocks[recording.device, clock].ps_per_cycle
    known = (uncertainty_ps >= 0) & (slack >= 0)
    uncertainty_ps = np.where(known, uncertainty_ps + slack * int(period_ps), -1)
    t_end_ps, _ = times.times_ps(recording.device, clock, packets.end + 1)
    said = checked.said
    ethernet = said is not None and said.is_ == "ethernet"
    with_fcs = ethernet and said is not None and said.fcs == "present"
    taken = set() if ethernet else _OWN
    own = {f"field_{name}" if name in taken else name: name for name in checked.columns}
    rows, length_B = [], checked.length_B
    for n in range(len(checked)):
        data, fcs = checked.content(n), -1
        flags = int(packets.flags[n])
        hidden = int(Packet.CUT_END | Packet.VOID | Packet.SUMMARY)
        if with_fcs and len(data) >= FCS_B and not flags & hidden:
            fcs = int.from_bytes(data[-FCS_B:], "little")
        row = {
            "t_ps": int(t_ps[n]),
            "t_end_ps": int(t_end_ps[n]),
            "t_unc_ps": int(uncertainty_ps[n]),
            "source": f"{recording.device}.{checked.tap.name}",
            "kind": "packet",
            "number": n,
            "wire_B": int(length_B[n]),
            "cycle": int(packets.begin[n]),
            "end_cycle": int(packets.end[n]),
            "verdict": _VERDICTS.get(int(checked.verdict[n]), ""),
            "data": data[:-FCS_B] if fcs >= 0 else data,
            "fcs": fcs,
            "error": "",
            "begun": bool(checked.begun[n]),
            "says": "" if ethernet or said is None else _says(said, checked, n),
            **{name: int(checked.columns[column][n]) for name, column in own.items()},
        }
        rows.append(row)
        error = _error(int(checked.wrong[n]), flags)
        if error:
            rows.append({**row, "kind": "error", "error": error})
    names = [
        "t_ps",
        "t_end_ps",
        "t_unc_ps",
        "source",
        "kind",
        "number",
        "wire_B",
        "cycle",
        "end_cycle",
    ]
    names += ["verdict", "data", "fcs", "error", "begun", "says", *own]
    for name in ("says",) if ethernet else ("fcs",):
        names.remove(name)
    return pa.table({name: _column(name, [row[name] for row in rows]) for name in names})


def _says(said: Format, checked: CheckedStream, packet: int) -> str:
    """Return a packet's own fields in words, the names that the card file has for their values with them."""
    parts = []
    for name, column in checked.columns.items():
        value = int(column[packet])
        each = said.field.get(name)
        short = value < 0 if each is None else each.at_bit + each.bits > 8 * checked.size[packet]
        if short or not checked.begun[packet]:
            continue
        bits = 64 if each is None else each.bits
        value &= (1 << bits) - 1
        words = [word for word, number in each.names.items() if number == value] if each else []
        parts.append(f"{name} {words[0]} ({value})" if words else f"{name} {value}")
    return ", ".join(parts)


def _error(wrong: int, flags: int) -> str:
    parts = [text for bit, text in _WRONG.items() if wrong & bit]
    parts += [text for bit, text in _HIDDEN.items() if flags & bit]
    return "; ".join(parts)


def _column(name: str, values: list[Any]) -> pa.Array:
    kinds = {
        "says": pa.string(),
        "begun": pa.bool_(),
        "source": pa.string(),
        "kind": pa.string(),
        "verdict": pa.string(),
        "error": pa.string(),
    }
    if name == "data":
        return pa.array(values, pa.binary())
    if name in kinds:
        return pa.array(values, kinds[name])
    return pa.array(np.array(values, np.int64))
