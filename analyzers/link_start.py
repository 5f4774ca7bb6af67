"""From when on a recording is of the link as it is now: a change of its wiring brings it up anew.

The recorder goes on over that. What stands before is of another link: its packets came from elsewhere, its credits
counted from another zero.

Source: docs/formats.md section 3, "Loop-back": sequence numbers begin from 0; section 4, LINK trained.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from freezeframe.capture.folder import DeviceCapture
from freezeframe.capture.registers.layouts import Kind, LinkCode
from freezeframe.decoders.trace.decode import Trace

__all__ = ["came_up_ps", "fits_power_up"]

Int64 = npt.NDArray[np.int64]

_SEQS = 1 << 16
_REORDERED = 64
"""A smaller step back is packets that changed places, unless it leads to 0."""

_SIDES = (("frozen.next_seq_out", "tx_enq"), ("frozen.next_seq_in", "rx_enq"))
_DAMAGED = 16
"""Packets that came in and were counted, and whose numbers were not taken: they were damaged."""


def fits_power_up(device: DeviceCapture, peer: DeviceCapture | None = None) -> bool:
    """Return whether a card's next sequence numbers are its counts of packets: its link is the one of power-up.

    A packet on its way out has its number before it is counted; one that comes in may be counted first. Packets
    that were damaged or lost at a full FIFO make the numbers of those that come in another than their count; then
    those that go out decide, of both cards: the two ends of a link come up together. False where a register was
    not read, or neither says it.
    """
    out, into = _ahead(device)
    if out not in (0, 1):
        return False
    return into in (-1, 0, 1) or (peer is not None and _ahead(peer)[0] in (0, 1))


def came_up_ps(trace: Trace, devices: Sequence[DeviceCapture]) -> dict[str, int]:
    """Return when the link of each card came up anew within its recording; without those of which nothing says so.

    The log says it (LINK trained); where that is not recorded any more, sequence numbers that began again do. A
    lane that trained again on a link that stayed up has numbers that go on. The two ends of a link come up together.
    """
    if not any(_may_have_come_up(device) for device in devices):
        return {}
    found = {device.name: _came_up_ps(trace, device) for device in devices}
    return {name: t_ps for name, t_ps in found.items() if t_ps is not None}


def _came_up_ps(trace: Trace, device: DeviceCapture) -> int | None:
    events = trace.events
    mine = (events["source"] == f"{device.name}.event_log").to_numpy()
    trained = mine & (events["kind"] == Kind.LINK.name).to_numpy()
    trained &= (events["code"] == LinkCode.TRAINED.name.lower()).to_numpy()
    if trained.any():
        return int(events["t_ps"].to_numpy()[trained].max())
    anew, before = [], []
    for register, entered in _SIDES:
        coming = device.registers.value(register)
        for tap in (entered, entered.replace("enq", "deq")):
            start, last = _boundary(trace, f"{device.name}.{tap}", coming)
            anew += start
            before += last
    return min(anew) if anew else max(before, default=None)


def _ahead(device: DeviceCapture) -> tuple[int | None, int | None]:
    """Return by how much the next number out, and in, is ahead of the count of packets."""
    found: list[int | None] = []
    for register, tap in _SIDES:
        number = device.registers.value(register)
        packets = device.registers.value64(f"frozen_counters.{tap}_packets.")
        known = number is not None and packets is not None
        half = _SEQS // 2
        found.append(((number or 0) - (packets or 0) + half) % _SEQS - half if known else None)
    return found[0], found[1]


def _may_have_come_up(device: DeviceCapture) -> bool:
    """Return whether the numbers leave room for a link that came up after packets had crossed."""
    out, into = _ahead(device)
    return out not in (0, 1) or into is None or into < -_DAMAGED


def _boundary(trace: Trace, source: str, coming: int | None) -> tuple[list[int], list[int]]:
    """Return when the first packet of the link as it is now crossed a tap, and when the last of before had.

    Each is a list of one time, or of none where the tap does not tell.
    """
    packets = trace.packets
    known = (packets["source"] == source) & (packets["header_ok"].fillna(value=False))
    at = np.flatnonzero(known.to_numpy(bool))
    seq: Int64 = packets["seq"].to_numpy()[at].astype(np.int64)
    if not len(seq):
        return [], []
    step = -np.diff(seq) % _SEQS
    back = np.flatnonzero(
        (step > 0) & (step <= _SEQS // 2) & ((step > _REORDERED) | (seq[1:] == 0))
    )
    if len(back):
        return [int(packets["t_ps"].to_numpy()[at[back[-1] + 1]])], []
    if coming is not None and (coming - 1 - int(seq[-1])) % _SEQS >= _SEQS // 2:
        return [], [int(packets["t_end_ps"].to_numpy()[at[-1]])]
    return [], []
