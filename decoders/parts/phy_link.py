"""Why a link is up or down, from the registers of a PHY as they were read: never more than they say.

Source: IEEE 802.3-2018, 22.2.4.2.13 (link status latches low), 28.2.3.1 (parallel detection), annex 28B.3 (priority),
40.5.2 (MASTER-SLAVE resolution), 37.2.4 (1000BASE-X).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from freezeframe.decoders.parts.phy_registers import COPPER, FIBRE, forced_mode

_MODES = ("1000 full", "1000 half", "100 full", "100BASE-T4", "100 half", "10 full", "10 half")
"""The modes of twisted pair that PHYs agree on, the best first (annex 28B.3)."""
_BASE_BITS = {"100 full": 8, "100BASE-T4": 9, "100 half": 7, "10 full": 6, "10 half": 5}
_FIBRE_BITS = {"1000 full": 5, "1000 half": 6}
_GIGABIT = {"1000 full": (9, 11), "1000 half": (8, 10)}  # bits of registers 9 and 10
_NEEDED = {4: "own advertisement", 5: "partner's ability"}


@dataclass(frozen=True, slots=True)
class Link:
    """A verdict: up or down, the mode where it is known, and why in one line."""

    up: bool
    mode: str
    why: str


def link_of(registers: Mapping[int, int], media: str, lost_before: bool) -> Link:
    """Return what the registers of clause 22 say of a link; register 1, the status, must be among them.

    Args:
        registers: value of each register that was read or written, by number.
        media: ``auto``, ``copper`` or ``1000x``.
        lost_before: the read before this one had no link, so this one may be new.
    """
    status, control = registers[1], registers.get(0)
    up = bool(status >> 2 & 1)
    negotiates = None if control is None else bool(control >> 12 & 1)
    if control is not None and negotiates is False:
        mode = forced_mode(control)
        return Link(up, mode, _forced(up, mode, control))
    if up:
        return _up(registers, media)
    return Link(False, "", _down(registers, status, control, media, lost_before))


def media_of(registers: Mapping[int, int], media: str) -> str:
    """Return what registers 4 and 5 are about: copper, or 1000BASE-X by register 15 or the selector."""
    if media != "auto":
        return media
    extended = registers.get(15, 0)
    if extended & 0xC000 and not extended & 0x3000:
        return FIBRE
    # The selector of twisted pair is 1; 1000BASE-X has zeros there.
    base = registers.get(4, 1)
    return FIBRE if not base & 0x1F and base & 0x60 and not extended & 0x3000 else COPPER


def modes(registers: Mapping[int, int], media: str) -> tuple[list[str], list[str]]:
    """Return the modes that this end and its partner offer, the best first."""
    bits = _FIBRE_BITS if media == FIBRE else _BASE_BITS
    own = {name for name, bit in bits.items() if registers.get(4, 0) >> bit & 1}
    partner = {name for name, bit in bits.items() if registers.get(5, 0) >> bit & 1}
    if media == COPPER and _has_gigabit(registers):
        own |= {name for name, (bit, _) in _GIGABIT.items() if registers.get(9, 0) >> bit & 1}
        partner |= {name for name, (_, bit) in _GIGABIT.items() if registers.get(10, 0) >> bit & 1}
    return [mode for mode in _MODES if mode in own], [mode for mode in _MODES if mode in partner]


def _has_gigabit(registers: Mapping[int, int]) -> bool:
    """Whether registers 9 and 10 are those of a 1000 Mbit/s PHY: bit 8 of status says so (22.2.4.2.16)."""
    return bool(registers[1] >> 8 & 1)


def _gigabit_unread(registers: Mapping[int, int], media: str) -> bool:
    there = _has_gigabit(registers) and media_of(registers, media) == COPPER
    return there and not {9, 10} <= registers.keys()


def _up(registers: Mapping[int, int], media: str) -> Link:
    own, partner = modes(registers, media_of(registers, media))
    if not partner and 5 in registers:
        return Link(
            True, "", "up; the partner's ability is empty, so its mode was found without it"
        )
    common = [mode for mode in own if mode in partner]
    if 4 not in registers or 5 not in registers:
        return Link(True, "", f"up; {_not_read(registers)}")
    if not common:
        return Link(True, "", f"up, though no mode is common: {_both(own, partner)}")
    if _gigabit_unread(registers, media):
        return Link(True, "", f"up, {common[0]} or better: registers 9 and 10 were not read")
    return Link(True, common[0], f"up, {common[0]}")


def _forced(up: bool, mode: str, control: int) -> str:
    off = _switched_off(control)
    if up or not off:
        return f"{'up' if up else 'down'}, {mode} without auto-negotiation" + (
            "" if up else ": the partner must be set to the same, and the cable whole"
        )
    return f"down: {off}"


def _switched_off(control: int | None) -> str:
    if control is None:
        return ""
    for bit, text in ((15, "in reset"), (11, "powered down"), (10, "isolated from the MAC")):
        if control >> bit & 1:
            return text
    return ""


def _down(
    registers: Mapping[int, int], status: int, control: int | None, media: str, lost_before: bool
) -> str:
    off = _switched_off(control)
    if off:
        return f"down: {off}"
    if _has_gigabit(registers) and registers.get(10, 0) >> 15 & 1:
        role = "MASTER" if registers.get(9, 0) >> 11 & 1 else "SLAVE"
        by_hand = f"; this end is set to {role} by hand" if registers.get(9, 0) >> 12 & 1 else ""
        return f"down: MASTER-SLAVE fault, both ends want the same role{by_hand}"
    if registers.get(6, 0) >> 4 & 1:
        return "down: parallel detection fault, the partner's signal fits more than one mode or breaks off"
    if status >> 4 & 1:
        return "down: the partner reports a fault"
    own, partner = modes(registers, media_of(registers, media))
    known = {4, 5} <= registers.keys()
    if known and not registers[5]:
        return "down: nothing from the partner; no cable, no power there, or it does not negotiate"
    if known and not set(own) & set(partner):
        unread = _gigabit_unread(registers, media)
        rest = " (registers 9 and 10, for 1000, were not read)" if unread else ""
        return f"down: no common mode: {_both(own, partner)}{rest}"
    if known:
        common = next(mode for mode in own if mode in partner)
        done = "complete" if status >> 5 & 1 else "not complete"
        receiver = registers.get(10)
        if receiver is not None and common.startswith("1000 ") and not receiver >> 13 & 1:
            return f"down: {common} is common, but the local receiver is not good: look at the four pairs"
        again = (
            ""
            if lost_before
            else "; the link may have been lost only for a moment: read status twice"
        )
        return f"down: {common} is common, auto-negotiation {done}{again}"
    return f"down: {_not_read(registers)}"


def _both(own: Sequence[str], partner: Sequence[str]) -> str:
    return f"here {', '.join(own) or 'none'}; there {', '.join(partner) or 'none'}"


def _not_read(registers: Mapping[int, int]) -> str:
    missing = [f"{name} (register {n})" for n, name in _NEEDED.items() if n not in registers]
    return f"why is not known, for {' and '.join(missing)} was not read"
