"""When the messages of a flow come and how large they are, drawn from its seed or read from a file.

Gaps and sizes are drawn by inversion from 53-bit uniforms of PCG64, whose stream does not depend on the machine.
"""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from freezeframe.capture.errors import InputError
from freezeframe.capture.packets.file import open_packets
from freezeframe.emulator.adapter.tables import MOST_MESSAGES, Flow

Whole = npt.NDArray[np.int64]
_PS = 1000  # of a nanosecond
_MOST_T_PS = 1 << 60


class Load(NamedTuple):
    """Messages of a flow: ``born_ps`` -1 where the card itself decides; sizes in bytes."""

    born_ps: Whole
    size_B: Whole


def load_of(flow: Flow, name: str, messages: int, seed: int, folder: Path) -> Load:
    """Return the messages of a flow.

    Raises:
        InputError: the file of a trace cannot be read, ends early, or a time in it is before the one above.
    """
    if flow.arrivals == "trace":
        return _cut(_trace(flow, folder), flow)
    if flow.arrivals == "pcap":
        return _cut(_pcap(flow, folder), flow)
    count = flow.messages or messages
    digest = hashlib.sha256(f"{seed} {name}".encode()).digest()
    draw = np.random.Generator(np.random.PCG64(int.from_bytes(digest[:16], "big")))
    born = np.full(count, -1, np.int64)
    if flow.rate_per_s:
        gaps = _gaps_s(flow, draw, count)
        times = np.rint(np.cumsum(gaps) * 1e12)
        if times[-1] > _MOST_T_PS:
            raise InputError(
                f"flow.{name}: {count:,} messages at {flow.rate_per_s:g} a second take "
                f"{times[-1] / 1e12:,.0f} s; a run has at most {_MOST_T_PS / 1e12:,.0f} s"
            )
        born = times.astype(np.int64)
    return Load(born, _sizes(flow, draw, count))


def _gaps_s(flow: Flow, draw: np.random.Generator, count: int) -> npt.NDArray[np.float64]:
    mean = 1.0 / flow.rate_per_s
    if flow.arrivals == "periodic":
        gaps = np.full(count, mean)
        gaps[0] = 0.0
        return gaps
    uniform = 1.0 - draw.random(count)  # in (0, 1]
    if flow.arrivals == "pareto":
        least = mean * (flow.alpha - 1) / flow.alpha
        return np.asarray(least * uniform ** (-1.0 / flow.alpha))
    gaps = -mean * np.log(uniform)
    if flow.arrivals == "on-off" and flow.off_ns:
        # Poisson within the time that is on; each time a period ends, the rest of the gap lies behind a pause.
        share = flow.on_ns / (flow.on_ns + flow.off_ns)
        on_s = np.cumsum(gaps * share)
        periods = np.floor(on_s / (flow.on_ns * 1e-9))
        return np.diff(on_s + periods * flow.off_ns * 1e-9, prepend=0.0)
    return np.asarray(gaps)


def _sizes(flow: Flow, draw: np.random.Generator, count: int) -> Whole:
    if flow.sizes_B:
        weights = np.array(flow.weights or [1.0] * len(flow.sizes_B))
        edges = np.cumsum(weights / weights.sum())
        edges[-1] = 1.0
        places = np.searchsorted(edges, draw.random(count), "right")
        return np.asarray(np.array(flow.sizes_B, np.int64)[places])
    if flow.size_alpha:  # a Pareto distribution cut off above
        low, high = float(flow.size_B), float(flow.size_most_B)
        tail = 1.0 - (low / high) ** flow.size_alpha
        sizes = low * (1.0 - draw.random(count) * tail) ** (-1.0 / flow.size_alpha)
        return np.asarray(np.minimum(np.rint(sizes), high), np.int64)
    return np.full(count, flow.size_B, np.int64)


def _trace(flow: Flow, folder: Path) -> Load:
    """Read lines ``time_ns,size_B``; blank lines and those that begin with # are passed over."""
    path = folder / flow.file
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: cannot be read: {error}") from error
    born: list[int] = []
    sizes: list[int] = []
    for number, line in enumerate(lines, 1):
        if not line.strip() or line.startswith("#"):
            continue
        parts = line.split(",")
        try:
            time_ns, size_B = float(parts[0]), int(parts[1])
        except (ValueError, IndexError):
            raise InputError(
                f"{path}:{number}: {line.strip()[:40]!r} is no time_ns,size_B; the trace ends early there, "
                f"after {len(born):,} messages"
            ) from None
        t_ps = round(time_ns * _PS)
        if not 0 <= t_ps <= _MOST_T_PS or not 0 <= size_B <= 1 << 30:
            raise InputError(f"{path}:{number}: {line.strip()[:40]!r}: a time or size out of range")
        if born and t_ps < born[-1]:
            raise InputError(
                f"{path}:{number}: the time {time_ns:g} ns is before that of the line above"
            )
        born.append(t_ps)
        sizes.append(size_B)
    if not born:
        raise InputError(f"{path}: has no messages; each line is time_ns,size_B")
    return Load(np.array(born, np.int64), np.array(sizes, np.int64))


def _pcap(flow: Flow, folder: Path) -> Load:
    """Take the times and wire sizes of captured packets; packets out of order are put into the order of time."""
    path = folder / flow.file
    times: list[Whole] = []
    sizes: list[Whole] = []
    with open_packets(path) as packets:
        for block in packets:
            times.append(block.t_ps.copy())
            sizes.append(block.wire_B.copy())
        if packets.notes:
            raise InputError(f"{path}: {packets.notes[0]}")
    born = np.concatenate([*times, np.zeros(0, np.int64)])
    if not len(born):
        raise InputError(f"{path}: has no packets")
    order = np.argsort(born, kind="stable")
    return Load(born[order], np.concatenate(sizes)[order])


def _cut(load: Load, flow: Flow) -> Load:
    """Take as many messages as are asked for."""
    count = flow.messages or len(load.born_ps)
    if count > len(load.born_ps):
        raise InputError(
            f"{flow.file}: ends early: it has {len(load.born_ps):,} messages of the {count:,} asked for"
        )
    if count > MOST_MESSAGES:
        raise InputError(f"{flow.file}: {count:,} messages; a run has at most {MOST_MESSAGES:,}")
    return Load(load.born_ps[:count], load.size_B[:count])
