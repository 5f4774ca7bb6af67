"""Events of one kind with their value taken apart: credits, descriptors, state changes.

Source: docs/formats.md sections 3 and 4.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from freezeframe.capture.registers.layouts import (
    CREDIT,
    DESC_VALUE,
    MACHINE_STATE_NAMES,
    STATE_VALUE,
    Kind,
    PacketType,
)
from freezeframe.decoders.trace.schema import field_of, name_of

_COMMON = ["t_ps", "t_unc_ps", "cycle", "device"]


def credits(events: pd.DataFrame) -> pd.DataFrame:
    """Return the CREDIT events: t_ps, t_unc_ps, cycle, device, flow, code, freed, parity_ok.

    ``freed`` in words, as wrapped in the credit word; ``parity_ok`` by bits 0-39, all that an event
    keeps (bits 40-47 are reserved and 0). Rows keep the index they have in ``events``.
    """
    rows = _of_kind(events, Kind.CREDIT)
    value = rows["value"].to_numpy()
    return rows[[*_COMMON, "flow", "code"]].assign(
        freed=field_of(CREDIT, "freed", value),
        parity_ok=(np.bitwise_count(value) & 1).astype(np.bool_),
    )


def descriptors(events: pd.DataFrame) -> pd.DataFrame:
    """Return the DESC events: t_ps, t_unc_ps, cycle, device, flow, code, type, length, flags, seq.

    ``length`` in 64-bit words; ``type`` is the name of the packet type or "unknown".
    """
    rows = _of_kind(events, Kind.DESC)
    value = rows["value"].to_numpy()
    kinds = field_of(DESC_VALUE, "type", value)
    known = {int(kind): kind.name for kind in PacketType}
    return rows[[*_COMMON, "flow", "code"]].assign(
        type=[known.get(number, "unknown") for number in kinds.tolist()],
        **{name: field_of(DESC_VALUE, name, value) for name in ("length", "flags", "seq")},
    )


def states(events: pd.DataFrame) -> pd.DataFrame:
    """Return the STATE events: t_ps, t_unc_ps, cycle, device, machine, old, new (names)."""
    rows = _of_kind(events, Kind.STATE)
    value = rows["value"].to_numpy()
    view = rows[_COMMON].copy()
    view["machine"] = rows["code"]
    for name in ("old", "new"):
        numbers = field_of(STATE_VALUE, name, value).tolist()
        view[name] = [name_of(MACHINE_STATE_NAMES, number) for number in numbers]
    return view


def event_texts(events: pd.DataFrame) -> dict[int, str]:
    """Return what credits and descriptors say, by their row of ``events``: ``sent f0: freed 256 (+64)``.

    The step is from the credit of that flow and code before; a count that wrapped steps by what it went on.
    """
    texts: dict[int, str] = {}
    before: dict[tuple[str, int, str], int] = {}
    modulus = 1 << CREDIT.fields["freed"][1]
    taken = credits(events)
    columns = (taken[name].tolist() for name in ("device", "flow", "code", "freed", "parity_ok"))
    for row, device, flow, code, freed, good in zip(taken.index, *columns, strict=True):
        last = before.get((device, flow, code))
        step = "" if last is None else f" (+{(freed - last) % modulus})"
        texts[row] = f"{code} f{flow}: freed {freed}{step}" + ("" if good else ", bad parity")
        before[device, flow, code] = freed
    posted = descriptors(events)
    said = (posted[name].tolist() for name in ("flow", "code", "type", "length", "seq"))
    for row, flow, code, kind, length, seq in zip(posted.index, *said, strict=True):
        texts[row] = f"{code} f{flow}: {kind} {length} words, packet {seq}"
    return texts


def _of_kind(events: pd.DataFrame, kind: Kind) -> pd.DataFrame:
    return events[events["kind"] == kind.name]
