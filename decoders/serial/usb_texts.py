"""Rows of USB in words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from freezeframe.decoders.contract import Texts

_SHOWN_B = 32


def usb_texts(row: Mapping[str, Any]) -> Texts:
    """Put a row of packets, transactions or transfers into words."""
    if row["kind"] == "error":
        error = str(row["error"])
        known = row["address"] >= 0
        where = f" ({_where(row)})" if known else ""
        seen = row.get("seen", -1)
        more = f": expected {row['expected']:#x}, seen {seen:#x}" if seen >= 0 else ""
        return Texts("!", error, f"USB: {error}{where}: {ERROR_TEXTS[error]}{more}")
    if "transfer" in row:
        return _transfer(row)
    if "token" in row:
        answer = row["handshake"] or "no handshake"
        normal = f"{row['token']} {_where(row)}{_data(row['data'])} {answer}"
        return Texts(answer, normal, f"USB: {normal}, {row['speed']} speed")
    if row["kind"] in ("reset", "keep-alive"):
        return Texts(row["kind"][0].upper(), row["kind"], f"USB: {row['kind']}")
    about = {"token": lambda: f" {_where(row)}", "sof": lambda: f" {row['frame']}"}
    normal = row["pid"] + about.get(row["kind"], lambda: _data(row["data"]))()
    return Texts(row["pid"], normal, f"USB: {normal}, {row['speed']} speed")


def _transfer(row: Mapping[str, Any]) -> Texts:
    what = row["request"] or row["kind"]
    way = "in" if row["read"] else "out"
    answer = row["status"] or "no handshake"
    naks = f", {row['naks']} NAK before" if row["naks"] else ""
    about = f": {row['about']}" if row["about"] else _data(row["data"])
    normal = f"{_where(row)} {what}{about}"
    return Texts(answer, normal, f"USB: {way} {normal}, {answer}{naks}")


def _where(row: Mapping[str, Any]) -> str:
    return f"{row['address']}.{row['endpoint'] & 15}"


def _data(data: bytes) -> str:
    more = f" ... {len(data)} B" if len(data) > _SHOWN_B else ""
    return f" {data[:_SHOWN_B].hex(' ')}{more}" if data else ""


ERROR_TEXTS = {
    "bad-sync": "the packet does not begin with 00000001",
    "bad-pid": "the check bits of the PID are not its complement",
    "bad-length": "not whole octets, or not as many as such a packet has",
    "bad-crc": "the CRC is not that of the packet",
    "bad-stuff": "seven ones: a 0 after six is missing",
    "bad-eop": "the packet does not end in SE0 and J",
    "cut-packet": "the capture begins or ends inside the packet",
    "no-reply": "nothing answered, or the host sent no data",
    "unexpected": "data or a handshake without what has to be before it",
    "bad-data": "the CRC of the data in this transaction is wrong",
    "cut-transfer": "the capture or another SETUP is inside the transfer",
}
