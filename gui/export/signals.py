"""Samples as the signals that a user sees: single channels as bits, buses as numbers."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt

from freezeframe.capture.files.edges import Bus, Edges
from freezeframe.gui.export.material import times_ps


class Signals:
    """The signals of a capture, made from its first piece; ``names`` and ``bits`` of each.

    A bus takes the place of its first channel. ``ranged`` are the names followed by the range of a bus,
    ``data[7:0]``, where its channels are called ``data[0]`` and so on.
    """

    def __init__(self, piece: Edges) -> None:
        of_bus = {channel: bus for bus in piece.buses for channel in bus.channels}
        self.names: list[str] = []
        self.ranged: list[str] = []
        self._channels: list[list[int]] = []  # positions, the least significant first
        for number, channel in enumerate(piece.channels):
            bus = of_bus.get(channel)
            if bus is None:
                self.names.append(channel)
                self.ranged.append(channel)
                self._channels.append([number])
            elif bus.channels[0] == channel:
                self.names.append(bus.name)
                self.ranged.append(_ranged(bus))
                self._channels.append([piece.channels.index(name) for name in bus.channels])
        self.bits = [len(channels) for channels in self._channels]
        self._held: list[int] = []

    def columns(self, piece: Edges) -> list[npt.NDArray[np.uint64]]:
        """Return the value of each signal at each edge of the piece."""
        columns = []
        for channels in self._channels:
            column = np.zeros(len(piece), dtype=np.uint64)
            for bit, channel in enumerate(channels):
                one = piece.value >> np.uint64(channel) & np.uint64(1)
                column |= one << np.uint64(bit)
            columns.append(column)
        return columns

    def changes(self, piece: Edges) -> Iterator[tuple[int, int, int]]:
        """Yield (t_ps, number of the signal, new value) in order of time; pieces in order.

        At the first edge of the capture every signal has a change.

        Raises:
            InputError: a time is beyond what t_ps can hold.
        """
        at_ps = times_ps(piece.sample, piece.samplerate_hz)
        if not len(piece):
            return
        edges: list[npt.NDArray[np.int64]] = []
        columns = self.columns(piece)
        for number, column in enumerate(columns):
            changed = np.ones(len(column), dtype=np.bool_)
            np.not_equal(column[1:], column[:-1], out=changed[1:])
            if self._held:
                changed[0] = int(column[0]) != self._held[number]
            edges.append(np.flatnonzero(changed))
        self._held = [int(column[-1]) for column in columns]
        yield from _in_order(at_ps, edges, columns)


def _ranged(bus: Bus) -> str:
    low, high = (re.fullmatch(r".*\[(\d+)\]", name) for name in (bus.channels[0], bus.channels[-1]))
    return f"{bus.name}[{high[1]}:{low[1]}]" if low and high else bus.name


def _in_order(
    at_ps: npt.NDArray[np.int64],
    edges: Sequence[npt.NDArray[np.int64]],
    columns: Sequence[npt.NDArray[np.uint64]],
) -> Iterator[tuple[int, int, int]]:
    edge = np.concatenate(edges)
    number = np.repeat(np.arange(len(edges)), [len(those) for those in edges])
    value = np.concatenate([c[those] for c, those in zip(columns, edges, strict=True)])
    order = np.argsort(edge, kind="stable")
    t_ps = at_ps[edge[order]].tolist()
    yield from zip(t_ps, number[order].tolist(), value[order].tolist(), strict=True)
