"""Decode what MDIO frames say of PHYs: each register in words, and the link where what is known of it changes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa

from freezeframe.decoders.columns import name_type, sampled_schema
from freezeframe.decoders.contract import OptionValues, Texts
from freezeframe.decoders.parts.phy_link import Link, link_of, media_of
from freezeframe.decoders.parts.phy_registers import (
    CLAUSE_22,
    CLAUSE_45,
    FIBRE,
    FIBRE_22,
    Register,
    forced_mode,
)
from freezeframe.decoders.serial.mdio_names import DEVICES, REGISTERS

_STATUS, _LINK_45 = 1, 2  # register of clause 22; bit of status 1 in clause 45
_NOTHING = (
    0xFFFF  # what the pull-up gives where nothing answers; no register has all of its bits set
)
_WATCHED_45 = {1: "PMA/PMD", 3: "PCS", 4: "PHY XS", 7: "auto-negotiation"}
_COPIED = ("t_ps", "t_end_ps", "clause", "op", "phy", "sample", "end_sample")


def register_schema() -> pa.Schema:
    """Return the columns of registers: one row for each frame of `mdio_schema` that reads or writes one.

    ``device`` is that of clause 45 (-1 in clause 22), ``register`` the number (-1: its address was not in the
    capture), ``name`` its name in the standard, ``value`` what was read or written, ``bits`` what that says in
    words, ``changed`` the bits that differ from the last value of this register that was seen (0 the first time).
    """
    return sampled_schema(
        {
            "clause": pa.int8(),
            "op": name_type(),
            "phy": pa.int8(),
            "device": pa.int8(),
            "register": pa.int32(),
            "name": name_type(),
            "value": pa.int32(),
            "bits": pa.string(),
            "changed": pa.int32(),
        }
    )


def link_schema() -> pa.Schema:
    """Return the columns of links: a row for each PHY where up, mode or reason changes.

    ``kind`` is ``link``, or ``error`` where the link is down. A row stands at the read of the status register that
    it is about; the registers that explain it are those of the reads up to the next one. ``mode`` is the mode that
    both ends agree on, as ``100 full``, empty where it is not known; ``why`` is the reason in words.
    """
    return sampled_schema(
        {
            "clause": pa.int8(),
            "phy": pa.int8(),
            "device": pa.int8(),
            "up": pa.bool_(),
            "mode": name_type(),
            "why": pa.string(),
        }
    )


@dataclass(slots=True)
class _Phy:
    """What is known of one PHY: values by (device, register), and the status read that waits for its reason."""

    values: dict[tuple[int, int], int] = field(default_factory=dict)
    waiting: dict[str, Any] | None = None
    told: Link | None = None
    told_45: dict[int, bool] = field(default_factory=dict)
    lost: bool = False


class PhyState:
    """The PHYs seen so far, by their address."""

    def __init__(self, options: OptionValues) -> None:
        self.media = options.text("media")
        self.phys: dict[int, _Phy] = {}


def decode_phy(
    table: pa.Table, options: OptionValues, state: PhyState, last: bool
) -> dict[str, pa.Table]:
    """Decode rows of `mdio_schema`."""
    registers: list[dict[str, Any]] = []
    links: list[dict[str, Any]] = []
    for frame in table.to_pylist():
        # Without a turnaround nothing answered, and the value is that of the pull-up.
        if frame["kind"] == "error" or frame["data"] < 0 or not frame["ta_ok"]:
            continue
        if frame["op"] not in ("read", "write", "post-read-increment"):
            continue
        phy = state.phys.setdefault(frame["phy"], _Phy())
        clause_22 = frame["clause"] == 22
        device = -1 if clause_22 else frame["reg"]
        number = frame["reg"] if clause_22 else frame["address"]
        if clause_22 and number == _STATUS and frame["op"] != "write":
            links += _link(phy, state.media)
        before = phy.values.get((device, number))
        there = frame["op"] == "write" or frame["data"] != _NOTHING
        if number >= 0 and there:
            phy.values[device, number] = frame["data"]
        registers.append(_row(frame, device, number, before, phy, state.media))
        if frame["op"] != "write" and there:
            if clause_22 and number == _STATUS:
                phy.waiting = frame
            elif (device in _WATCHED_45) and number == _STATUS:
                links += _link_45(phy, frame, device)
    if last:
        for phy in state.phys.values():
            links += _link(phy, state.media)
    links.sort(key=lambda row: row["t_ps"])
    return {
        "phy.registers": pa.Table.from_pylist(registers, schema=register_schema()),
        "phy.links": pa.Table.from_pylist(links, schema=link_schema()),
    }


def phy_texts(row: Mapping[str, Any]) -> Texts:
    """Put a row of either table into words."""
    where = f"PHY {row['phy']}" if row["clause"] == 22 else f"port {row['phy']}"
    if "why" in row:
        device = "" if row["device"] < 0 else f" {DEVICES[row['device']]}"
        normal = f"{where}{device} link {row['why']}"
        return Texts("up" if row["up"] else "down", normal, normal)
    device = (
        ""
        if row["device"] < 0
        else f" device {row['device']} {DEVICES.get(row['device'], '')}".rstrip()
    )
    number = f"register {row['register']}"
    if row["clause"] == 45:
        number = "unknown address" if row["register"] < 0 else f"register {row['register']:#06x}"
    name = f" {row['name']}" if row["name"] else ""
    sign = "<-" if row["op"] == "write" else "->"
    bits = f": {row['bits']}" if row["bits"] else ""
    normal = f"{where}{device} {number}{name} {sign} {row['value']:#06x}{bits}"
    changed = f", changed {row['changed']:#06x}" if row["changed"] else ""
    return Texts(f"{row['value']:#06x}", normal, f"{normal}{changed}")


def _row(
    frame: dict[str, Any], device: int, number: int, before: int | None, phy: _Phy, media: str
) -> dict[str, Any]:
    register = _register(device, number, phy, media)
    value = frame["data"]
    if value == _NOTHING and frame["op"] != "write":
        said = ["all ones: nothing answers"]
    else:
        said = [] if register is None else register.words(value)
        if device < 0 and number == 0 and not value & 0x9000:  # neither in reset nor negotiating
            said.insert(0, forced_mode(value))
    known = REGISTERS.get(number, "") if device < 0 else ""
    return {name: frame[name] for name in _COPIED} | {
        "source": "PHY",
        "kind": "register",
        "error": "",
        "device": device,
        "register": number,
        "name": known if register is None else register.name,
        "value": value,
        "bits": ", ".join(said),
        "changed": 0 if before is None else before ^ value,
    }


def _register(device: int, number: int, phy: _Phy, media: str) -> Register | None:
    if device >= 0:
        return CLAUSE_45.get((device, number))
    if number in FIBRE_22 and media_of(_clause_22(phy), media) == FIBRE:
        return FIBRE_22[number]
    return CLAUSE_22.get(number)


def _clause_22(phy: _Phy) -> dict[int, int]:
    return {number: value for (device, number), value in phy.values.items() if device < 0}


def _link(phy: _Phy, media: str) -> list[dict[str, Any]]:
    """Return the row about the status read that waits, where it says something new."""
    frame, phy.waiting = phy.waiting, None
    if frame is None:
        return []
    link = link_of(_clause_22(phy), media, phy.lost)
    phy.lost = not link.up
    if link == phy.told:
        return []
    phy.told = link
    return [_link_row(frame, -1, link)]


def _link_45(phy: _Phy, frame: dict[str, Any], device: int) -> list[dict[str, Any]]:
    up = bool(frame["data"] >> _LINK_45 & 1)
    if phy.told_45.get(device) == up:
        return []
    phy.told_45[device] = up
    fault = ", it reports a fault" if frame["data"] >> 7 & 1 and device != 7 else ""
    return [_link_row(frame, device, Link(up, "", f"{'up' if up else 'down'}{fault}"))]


def _link_row(frame: dict[str, Any], device: int, link: Link) -> dict[str, Any]:
    return {name: frame[name] for name in _COPIED if name != "op"} | {
        "source": "PHY",
        "kind": "link" if link.up else "error",
        "error": "" if link.up else "link-down",
        "device": device,
        "up": link.up,
        "mode": link.mode,
        "why": link.why,
    }
