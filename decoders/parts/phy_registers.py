"""The standard registers of a PHY as data: their bits and fields, by name.

Source: IEEE 802.3-2018, tables 22-7 (control), 22-8 (status), 28-2 to 28-4 (auto-negotiation), 40-3 (1000BASE-T),
22-9 (extended status), 37-1 (1000BASE-X), 45-3 and following (clause 45).
"""

from __future__ import annotations

from dataclasses import dataclass

COPPER, FIBRE = "copper", "1000x"


@dataclass(frozen=True, slots=True)
class Register:
    """A register: its name, its single bits that mean something when set, and its wider fields."""

    name: str
    bits: dict[int, str]
    fields: tuple[tuple[int, int, tuple[str, ...]], ...] = ()  # (high, low, text of each value)

    def words(self, value: int) -> list[str]:
        """Return what a value says: fields first, then the bits that are set, the highest first."""
        said = []
        for high, low, texts in self.fields:
            text = texts[value >> low & (1 << high - low + 1) - 1]
            if text:
                said.append(text)
        said += [name for bit, name in self.bits.items() if value >> bit & 1]
        return said


_CONTROL = {
    15: "reset", 14: "loopback", 12: "auto-negotiation on", 11: "powered down", 10: "isolated",
    9: "restarts auto-negotiation", 7: "collision test",
}  # fmt: skip
_ABILITIES = {
    15: "next page", 13: "remote fault", 12: "extended next page", 11: "asymmetric pause",
    10: "pause", 9: "100BASE-T4", 8: "100 full", 7: "100 half", 6: "10 full", 5: "10 half",
}  # fmt: skip
_FIBRE_FAULTS = (13, 12, ("", "offline", "link failure", "auto-negotiation error"))
_FIBRE_ABILITIES = {
    15: "next page",
    14: "acknowledge",
    8: "asymmetric pause",
    7: "pause",
    6: "1000 half",
    5: "1000 full",
}

CLAUSE_22 = {
    0: Register("control", _CONTROL),
    1: Register(
        "status",
        {
            15: "100BASE-T4", 14: "100 full", 13: "100 half", 12: "10 full", 11: "10 half",
            10: "100BASE-T2 full", 9: "100BASE-T2 half", 8: "extended status",
            7: "sends without a link", 6: "takes frames without preamble",
            5: "auto-negotiation complete", 4: "remote fault", 3: "can negotiate", 2: "link up",
            1: "jabber", 0: "extended registers",
        },
    ),
    4: Register("auto-negotiation advertisement", _ABILITIES),
    5: Register("auto-negotiation link partner ability", {15: "next page", 14: "acknowledge", **_ABILITIES}),
    6: Register(
        "auto-negotiation expansion",
        {
            4: "parallel detection fault", 3: "partner has next pages", 2: "has next pages",
            1: "page received", 0: "partner negotiates",
        },
    ),
    9: Register(
        "MASTER-SLAVE control",
        {12: "role set by hand", 10: "multiport", 9: "1000 full", 8: "1000 half"},
        ((15, 13, ("", "test mode 1", "test mode 2", "test mode 3", "test mode 4", *[""] * 3)),),
    ),
    10: Register(
        "MASTER-SLAVE status",
        {
            15: "MASTER-SLAVE fault", 14: "is MASTER", 13: "local receiver good",
            12: "remote receiver good", 11: "partner 1000 full", 10: "partner 1000 half",
        },
    ),
    15: Register(
        "extended status",
        {15: "1000BASE-X full", 14: "1000BASE-X half", 13: "1000 full", 12: "1000 half"},
    ),
}  # fmt: skip
"""Registers of clause 22 by number; those without a text for their bits are named by `mdio_names`."""

FIBRE_22 = {
    4: Register("auto-negotiation advertisement", _FIBRE_ABILITIES, (_FIBRE_FAULTS,)),
    5: Register("auto-negotiation link partner ability", _FIBRE_ABILITIES, (_FIBRE_FAULTS,)),
}
"""Those that 1000BASE-X has otherwise."""

_MMD_CONTROL = {15: "reset", 14: "loopback", 11: "low power"}
_MMD_STATUS = {7: "fault", 2: "link up", 1: "has low power"}
_MMD_STATUS_2 = {11: "transmit fault", 10: "receive fault"}

CLAUSE_45 = {
    (1, 0): Register("control 1", {15: "reset", 11: "low power", 0: "loopback"}),
    (1, 1): Register("status 1", _MMD_STATUS),
    (1, 8): Register("status 2", _MMD_STATUS_2),
    (1, 10): Register("receive signal detect", {0: "signal on all lanes"}),
    (3, 0): Register("control 1", _MMD_CONTROL),
    (3, 1): Register("status 1", _MMD_STATUS),
    (3, 8): Register("status 2", _MMD_STATUS_2),
    (3, 32): Register("BASE-R status 1", {12: "receive link up", 1: "high bit error rate", 0: "block lock"}),
    (4, 1): Register("status 1", _MMD_STATUS),
    (5, 1): Register("status 1", _MMD_STATUS),
    (7, 0): Register("control", {15: "reset", 12: "auto-negotiation on", 9: "restarts auto-negotiation"}),
    (7, 1): Register(
        "status",
        {
            6: "page received", 5: "auto-negotiation complete", 4: "remote fault", 3: "can negotiate",
            2: "link up", 0: "partner negotiates",
        },
    ),
}  # fmt: skip
"""Registers of clause 45 by device and number."""

SPEEDS = ("10", "100", "1000", "?")


def forced_mode(control: int) -> str:
    """Return the mode that the control register sets without auto-negotiation: ``100 full`` (table 22-7)."""
    speed = SPEEDS[(control >> 6 & 1) << 1 | control >> 13 & 1]
    return f"{speed} {'full' if control >> 8 & 1 else 'half'}"
