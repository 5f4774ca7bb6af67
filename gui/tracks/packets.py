"""What happened on a connection as tracks: operations, FPDUs, broken rules and TCP of each end, and throughput.

The window makes them of the tables of a file, the report of the rows that it keeps of each end, or of their sums.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa

from freezeframe.analyzers.analysis import Series
from freezeframe.analyzers.packets.names import connection_title
from freezeframe.analyzers.packets.reduced import Summed
from freezeframe.analyzers.packets.survey import SeenConnection
from freezeframe.decoders.iwarp.words import iwarp_texts
from freezeframe.decoders.net.tcp import tcp_texts
from freezeframe.gui.tracks.slices import MOST_CLASSES, classes_by_appearance, slices_of_rows
from freezeframe.gui.tracks.tracks import Role, SeriesTrack, SliceTrack

Int64 = npt.NDArray[np.int64]

OPERATIONS, FPDUS, RULES, TCP = "iwarp.operations", "iwarp.fpdus", "iwarp.events", "tcp.events"
WHAT = {OPERATIONS: "operations", FPDUS: "FPDUs", RULES: "rules", TCP: "TCP"}
"""Tables of which each end of a connection has a track, and what the track is called."""

_KINDS = {"Write": "a", "Read": "b", "Send": "c", "Immediate": "e", "Atomic": "f", "Terminate": "g"}
_OTHER: Role = "h"
_ROLES: dict[str, dict[str, Role]] = {
    FPDUS: {"cut": "idle", "bad": "error", "": "d"},
    RULES: {"warning": "warn", "note": "note"},
    TCP: {"retransmission": "warn"},
}
_CLASS = {OPERATIONS: "kind", FPDUS: "verdict", RULES: "error", TCP: "kind"}  # column of the colour


def role_of(table: str, kind: str) -> Role:
    """Return the role of a row of a table by its kind; of an FPDU by its verdict."""
    if table == OPERATIONS:
        return next((role for name, role in _KINDS.items() if kind.startswith(name)), _OTHER)
    return _ROLES[table].get(kind, _ROLES[table].get("", "error"))


def words_of(table: str) -> Callable[[Mapping[str, Any]], Any]:
    """Return what puts rows of a table into words."""
    texts = tcp_texts if table.startswith("tcp") else iwarp_texts
    return lambda row: texts({name: _plain(value) for name, value in row.items()})


def normal_text(table: str) -> Callable[[Mapping[str, Any]], str]:
    """Return what says a row of a table in its usual words."""
    words = words_of(table)
    return lambda row: str(words(row).normal)


def packet_frame(table: pa.Table) -> pd.DataFrame:
    """Return a table with whole numbers as they are, also in columns where some are not there."""
    for at, each in enumerate(table.schema):
        if pa.types.is_dictionary(each.type):  # of which a decoder may name a text twice
            table = table.set_column(
                at, each.name, table.column(at).cast(pa.string()).dictionary_encode()
            )
    frame: pd.DataFrame = table.unify_dictionaries().to_pandas(split_blocks=True)
    for name in table.schema.names:
        column = table.column(name)
        if pa.types.is_integer(column.type) and column.null_count:
            filled = column.fill_null(0).to_numpy()
            frame[name] = pd.arrays.IntegerArray(filled.copy(), column.is_null().to_numpy().copy())
    return frame


def said_of(
    key: str,
    source: str,
    connection: SeenConnection,
    side: int,
    role: str,
    what: str,
    before: str = "",
) -> dict[str, Any]:
    """Return the fields that say what a track of one end is: key, name, source, note."""
    return {
        "key": f"{key}/packets/{connection.number}/{side}/{what}",
        "name": f"{before}{role} {what}",
        "source": source,
        "note": f"{connection_title(connection)}. {what} of the {role}.",
    }  # fmt: skip


def end_track(
    table: str, frame: pd.DataFrame, rows: Int64, said: Mapping[str, Any], meant: int | None = None
) -> SliceTrack:
    """Return the track of rows of a table, which are of one end; one class for a kind on all tracks of the frame.

    Args:
        frame: of `packet_frame`.
        meant: the number of an FPDU that is in error, too: that of a finding.
    """
    column = frame[_CLASS[table]].astype("category")
    codes, names = column.cat.codes.to_numpy(), tuple(map(str, column.cat.categories))
    classes = tuple(f"FPDU, {name}" if table == FPDUS else name for name in names[:MOST_CLASSES])
    roles = _roles(table, frame["verdict" if table == FPDUS else "kind"], codes, names)
    if len(names) > MOST_CLASSES:
        classes, roles = (*classes[:-1], "other"), (*roles[: MOST_CLASSES - 1], _OTHER)
    error = np.zeros(len(frame), np.bool_)
    if table == FPDUS:
        error = (column.astype(str) == "bad").to_numpy() | (frame["number"] == meant).to_numpy()
    elif table != OPERATIONS:
        error[rows] = frame["kind"].iloc[rows].isin(("error", "gap")).to_numpy()
    words = words_of(table)

    def tip(row: int) -> str:
        values: dict[str, Any] = {str(name): frame[name].iat[row] for name in frame.columns}
        packets = f"packet {values['packet']}"
        if table == OPERATIONS:
            packets = f"packets {values['packet']} to {values['packet_end']}"
            packets += "" if values["whole"] else "; not whole in the capture"
        return f"{words(values).long}; {packets}"

    return slices_of_rows(
        SliceTrack,
        frame["t_ps"].to_numpy(),
        frame["t_end_ps"].to_numpy(),
        rows,
        columns={"colour": np.clip(codes, 0, len(classes) - 1).astype(np.uint8), "error": error},
        classes=classes,
        roles=roles,
        label=_label(table, frame),
        tip=tip,
        **said,
    )


def sums_track(
    table: str, stretches: Iterable[Summed], said: Mapping[str, Any]
) -> SliceTrack | None:
    """Return how many rows of each kind were under way in stretches of time; None where there are none."""
    each = list(stretches)
    if not each:
        return None
    most = [max(one.kinds, key=one.kinds.__getitem__) for one in each]
    classes, colour = classes_by_appearance(most)
    roles = tuple(role_of(table, kind) if table == OPERATIONS else "warn" for kind in classes)

    def counted(row: int) -> str:
        return ", ".join(f"{count:,} {kind}" for kind, count in sorted(each[row].kinds.items()))

    return slices_of_rows(
        SliceTrack,
        np.array([one.t_ps for one in each], np.int64),
        np.array([one.t_end_ps for one in each], np.int64),
        columns={"colour": colour},
        classes=classes,
        roles=roles,
        label=counted,
        **said,
    )


def rate_track(series: Series, at: int, said: Mapping[str, Any]) -> SeriesTrack:
    """Return the payload that one end sent over time; ``at``: its place among the ends of the connection."""
    return SeriesTrack(
        t_ps=series.t_ps[:-1],
        value=series.value[:-1],
        unit=series.unit,
        scale=f"{said['source']}/rate",
        role="ab"[at],
        end_ps=int(series.t_ps[-1]),
        **said,
    )


def _roles(
    table: str, kinds: pd.Series[Any], codes: npt.NDArray[Any], names: Sequence[str]
) -> tuple[Role, ...]:
    """Return the role of each class of a table, by the kind of its first row; of one without rows that of its name."""
    present, first = np.unique(codes, return_index=True)
    kind_of = dict(enumerate(names))
    kind_of |= {int(code): str(kinds.iloc[row]) for code, row in zip(present, first, strict=True)}
    return tuple(role_of(table, kind_of[number]) for number in range(len(names)))


def _label(table: str, frame: pd.DataFrame) -> Callable[[int], str]:
    if table == FPDUS:
        return lambda row: str(frame["number"].iat[row])
    if table == TCP:  # whose words begin with the ends, which the track is of
        return lambda row: f"{frame['kind'].iat[row]} {frame['length_B'].iat[row]} B"
    if table == OPERATIONS:  # with its place it would have room nowhere: that is told by the tip
        return lambda row: f"{frame['kind'].iat[row]} {frame['size_B'].iat[row]} B"
    text = normal_text(table)
    return lambda row: text({str(name): frame[name].iat[row] for name in frame.columns})


def _plain(value: Any) -> Any:
    """Return a value of a frame as the decoder's own tables have it: None where it is not there."""
    if value is None or value is pd.NA or (isinstance(value, float) and np.isnan(value)):
        return None
    return value.item() if isinstance(value, np.generic) else value
