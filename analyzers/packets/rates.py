"""Throughput of chosen connections, and of all, over equal stretches of time."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from freezeframe.analyzers.analysis import Series
from freezeframe.analyzers.packets.reduced import Stretches
from freezeframe.decoders.net.tcp_streams import DATA, GAP, LOST, StreamPieces

_MBIT_OF_B_PER_PS = 8 * 10**12 / 1e6


class Rates:
    """Bytes of streams, each once, in the stretch in which the packet that brought them was captured."""

    def __init__(self, connections: Sequence[int], stretches: Stretches) -> None:
        self._numbers = np.array(sorted(connections), np.int64)
        self._stretches = stretches
        rows = 2 * len(self._numbers) + 1
        self._bytes = np.zeros((rows, stretches.count), np.int64)

    def take(self, pieces: StreamPieces) -> None:
        """Take what a block brought."""
        # What the snap length cut was carried too.
        cut = (pieces.kind == GAP) & (pieces.aux != LOST)
        data = np.flatnonzero((pieces.kind == DATA) | cut)
        if not len(data):
            return
        stretch = self._stretches.place(pieces.t_ps[data])
        length = pieces.length[data]
        self._add(len(self._bytes) - 1, stretch, length)
        if not len(self._numbers):
            return
        number = pieces.connection[data]
        place = np.minimum(np.searchsorted(self._numbers, number), len(self._numbers) - 1)
        row = np.where(self._numbers[place] == number, 2 * place + pieces.side[data], -1)
        for each in np.unique(row[row >= 0]):
            self._add(int(each), stretch[row == each], length[row == each])

    def side(self, connection: int, side: int, name: str, label: str) -> Series:
        """Return the throughput of what one end of a connection sends."""
        place = int(np.searchsorted(self._numbers, connection))
        return self._series(2 * place + side, name, label)

    def all(self, name: str, label: str) -> Series:
        """Return that of all connections, both ways."""
        return self._series(len(self._bytes) - 1, name, label)

    def _add(self, row: int, stretch: np.ndarray, length: np.ndarray) -> None:
        # A weight is a double: whole up to 2**53, and a block has fewer bytes.
        added = np.bincount(stretch, weights=length, minlength=self._stretches.count)
        self._bytes[row] += added.astype(np.int64)

    def _series(self, row: int, name: str, label: str) -> Series:
        width = self._stretches.width_ps
        rate = self._bytes[row] * (_MBIT_OF_B_PER_PS / width)
        begins = self._stretches.begins_ps()
        end = int(begins[-1]) + width
        return Series(
            name, label, "Mbit/s", np.append(begins, end), np.append(rate, rate[-1:]), step=True
        )
