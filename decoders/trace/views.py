"""Events of one kind with their value taken apart: credits, descriptors, state changes.

Source: docs/formats.md sections 3 and 4.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pandas as pd

from freezeframe.capture.registers import layouts
from freezeframe.capture.registers.layouts import MACHINE_STATE_NAMES, Kind, PacketType

__all__ = ["credits", "descriptors", "states"]

_COMMON = ["t_ps", "t_unc_ps", "cycle", "device"]


def credits(events: pd.DataFrame) -> pd.DataFrame:
    """Return the CREDIT events: t_ps, t_unc_ps, cycle, device, flow, code, freed, parity_ok.

    ``freed`` in words, as wrapped in the credit word; ``parity_ok`` by bits 0-39, all that an event
    keeps (bits 40-47 are reserved and 0). Rows keep the index they have in ``events``.
    """
    rows = _of_kind(events, Kind.CREDIT)
    value = rows["value"].to_numpy()
    view = rows[[*_COMMON, "flow", "code"]].copy()
    view["freed"] = _field(value, layouts.CREDIT_FREED_LSB, layouts.CREDIT_FREED_MASK)
    view["parity_ok"] = (np.bitwise_count(value) & 1).astype(np.bool_)
    return view


def descriptors(events: pd.DataFrame) -> pd.DataFrame:
    """Return the DESC events: t_ps, t_unc_ps, cycle, device, flow, code, type, length, flags, seq.

    ``length`` in 64-bit words; ``type`` is the name of the packet type or "unknown".
    """
    rows = _of_kind(events, Kind.DESC)
    value = rows["value"].to_numpy()
    view = rows[[*_COMMON, "flow", "code"]].copy()
    kinds = _field(value, layouts.DESC_VALUE_TYPE_LSB, layouts.DESC_VALUE_TYPE_MASK)
    known = {int(kind): kind.name for kind in PacketType}
    view["type"] = [known.get(number, "unknown") for number in kinds.tolist()]
    view["length"] = _field(value, layouts.DESC_VALUE_LENGTH_LSB, layouts.DESC_VALUE_LENGTH_MASK)
    view["flags"] = _field(value, layouts.DESC_VALUE_FLAGS_LSB, layouts.DESC_VALUE_FLAGS_MASK)
    view["seq"] = _field(value, layouts.DESC_VALUE_SEQ_LSB, layouts.DESC_VALUE_SEQ_MASK)
    return view


def states(events: pd.DataFrame) -> pd.DataFrame:
    """Return the STATE events: t_ps, t_unc_ps, cycle, device, machine, old, new (names)."""
    rows = _of_kind(events, Kind.STATE)
    value = rows["value"].to_numpy()
    view = rows[_COMMON].copy()
    view["machine"] = rows["code"]
    for name, lsb, mask in (
        ("old", layouts.STATE_VALUE_OLD_LSB, layouts.STATE_VALUE_OLD_MASK),
        ("new", layouts.STATE_VALUE_NEW_LSB, layouts.STATE_VALUE_NEW_MASK),
    ):
        view[name] = [_listed(MACHINE_STATE_NAMES, n) for n in _field(value, lsb, mask).tolist()]
    return view


def _of_kind(events: pd.DataFrame, kind: Kind) -> pd.DataFrame:
    return events[events["kind"] == kind.name]


def _field(value: npt.NDArray[np.int64], lsb: int, mask: int) -> npt.NDArray[np.int64]:
    return value >> np.int64(lsb) & np.int64(mask)


def _listed(names: Sequence[str], number: int) -> str:
    return names[number] if number < len(names) else f"unknown-{number}"
