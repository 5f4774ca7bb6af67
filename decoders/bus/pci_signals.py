"""The signals of a PCI or PCI-X bus: channels, and where each stands in a sample.

Source: PCI Local Bus Specification 3.0, 2.2 (signal definition), 3.8 (64-bit extension).
"""

from __future__ import annotations

from collections.abc import Sequence

from freezeframe.capture.errors import InputError
from freezeframe.decoders.contract import Channel, Option

# Places of the channels. Those of the 64-bit extension are last, so that a capture of a 32-bit bus
# has none beyond the 64th.
CLK, FRAME, IRDY, TRDY, DEVSEL, STOP, PAR, RST, IDSEL, PERR, SERR, LOCK, GNT = range(13)
REQ64, ACK64, PAR64, CBE, AD, CBE_HIGH, AD_HIGH = 13, 14, 15, 16, 20, 52, 56

_ACTIVE_LOW = (FRAME, IRDY, TRDY, DEVSEL, STOP, RST, PERR, SERR, LOCK, GNT, REQ64, ACK64)


def _active_low(id: str, doc: str, *, optional: bool = False) -> Channel:
    """Declare a signal with a bar over its name, as people and simulators write it."""
    spelled = (f"{id}#", f"{id}_n", f"{id}_b", f"{id}_l", f"n{id}", f"{id}n", f"/{id}", f"-{id}")
    return Channel(id, doc, optional, spelled)


def _cbe(bit: int, *, optional: bool = False) -> Channel:
    spelled = (f"c/be{bit}#", f"c/be{bit}", f"c/be[{bit}]", f"c/be[{bit}]#", f"cbe[{bit}]")
    more = (f"cbe{bit}#", f"cbe_n[{bit}]", f"c_be[{bit}]", f"cxbe{bit}", f"cbe_{bit}")
    return Channel(f"cbe{bit}", f"command and byte enable {bit}", optional, spelled + more)


def _ad(bit: int, *, optional: bool = False) -> Channel:
    return Channel(f"ad{bit}", f"address and data {bit}", optional, (f"ad[{bit}]", f"ad_{bit}"))


CHANNELS: tuple[Channel, ...] = (
    Channel("clk", "clock", aliases=("pciclk", "pci_clk")),
    _active_low("frame", "cycle frame"),
    _active_low("irdy", "initiator ready"),
    _active_low("trdy", "target ready"),
    _active_low("devsel", "device select"),
    _active_low("stop", "stop"),
    Channel("par", "parity of AD31..0 and C/BE3..0#; without it none is checked", optional=True),
    _active_low("rst", "reset", optional=True),
    Channel("idsel", "initialization device select of one device", optional=True),
    _active_low("perr", "parity error", optional=True),
    _active_low("serr", "system error", optional=True),
    _active_low("lock", "lock", optional=True),
    _active_low("gnt", "grant of the initiator", optional=True),
    _active_low("req64", "request for 64 bits", optional=True),
    _active_low("ack64", "acknowledge of 64 bits", optional=True),
    Channel("par64", "parity of AD63..32 and C/BE7..4#", optional=True),
    *(_cbe(bit) for bit in range(4)),
    *(_ad(bit) for bit in range(32)),
    *(_cbe(bit, optional=True) for bit in range(4, 8)),
    *(_ad(bit, optional=True) for bit in range(32, 64)),
)

TAKE = Option(
    "take",
    "before",
    "the signals that stand in the sample before the rising edge of the clock, or with it",
    choices=("before", "with"),
)


def absent_lines(channels: Sequence[str]) -> int:
    """Return the bits that must be set where an active-low signal was not captured."""
    return sum(1 << place for place in _ACTIVE_LOW if not channels[place])


def is_wide(channels: Sequence[str], decoder: str) -> bool:
    """Return whether the 64-bit extension was captured.

    Raises:
        InputError: only a part of it was, so that it cannot be told what a data phase carries.
    """
    needed = (REQ64, ACK64, *range(CBE_HIGH, AD_HIGH + 32))
    missing = [place for place in needed if not channels[place]]
    if any(channels[CBE_HIGH:]) and missing:
        raise InputError(
            f"decoder {decoder}: of the 64-bit extension {CHANNELS[missing[0]].id} has no probe; "
            "it needs req64, ack64, cbe4 to cbe7 and ad32 to ad63, or none of cbe4.. and ad32.."
        )
    return not missing
