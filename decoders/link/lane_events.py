"""What happened on lanes, in the order of time whatever the pieces: alignment, synchronization, errors."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from freezeframe.capture.files.edges import samples_to_ps
from freezeframe.decoders.columns import names, table
from freezeframe.decoders.link.event_rows import event_schema


class EventQueue:
    """Events of up to two lanes, held until no earlier one can come."""

    def __init__(self) -> None:
        self._rows: list[tuple[int, npt.NDArray[np.void]]] = []

    def add(self, lane: int, rows: npt.NDArray[np.void]) -> None:
        """Hold rows of EVENT of a lane (-1: both)."""
        if len(rows):
            self._rows.append((lane, rows))

    def take(
        self, horizon: int | None
    ) -> tuple[
        npt.NDArray[np.int64], npt.NDArray[np.int64], npt.NDArray[np.int64], npt.NDArray[np.int64]
    ]:
        """Return and forget those before sample ``horizon`` (None: all): sample, lane, code, value.

        At one sample: by lane, then by code.
        """
        if not self._rows:
            none = np.empty(0, np.int64)
            return none, none, none, none
        rows = np.concatenate([rows for _, rows in self._rows])
        lane = np.concatenate([np.full(len(rows), lane, np.int64) for lane, rows in self._rows])
        order = np.lexsort((rows["value"], rows["code"], lane, rows["sample"]))
        rows, lane = rows[order], lane[order]
        count = len(rows)
        if horizon is not None:
            count = int(np.searchsorted(rows["sample"], horizon))
        self._rows = [
            (number, rows[count:][lane[count:] == number])
            for number in np.unique(lane[count:]).tolist()
        ]
        return rows["sample"][:count], lane[:count], rows["code"][:count], rows["value"][:count]


def event_table(
    taken: tuple[npt.NDArray[np.int64], ...],
    codes: Sequence[str],
    errors: Sequence[str],
    sources: Sequence[str],
    samplerate_hz: int,
) -> pa.Table:
    """Return the table of events that `EventQueue.take` gave.

    Args:
        codes: names by code; ``errors`` are those of kind ``error``.
        sources: by lane; the last one is for both lanes (-1).
    """
    sample, lane, code, value = taken
    is_error = np.array([name in errors for name in codes], dtype=np.int32)
    return table(
        event_schema(),
        {
            "t_ps": samples_to_ps(sample, samplerate_hz),
            "source": names(np.where(lane < 0, len(sources) - 1, lane), sources),
            "kind": names(is_error[code], ("event", "error")),
            "code": names(code, codes),
            "lane": lane,
            "value": value,
            "sample": sample,
        },
    )
