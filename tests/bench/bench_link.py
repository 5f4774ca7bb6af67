"""8b/10b, bonding and the link's packets on dense captures in memory, edges to tables, on one core."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from freezeframe.capture.files.edges import Edges
from freezeframe.capture.registers.layouts import PacketType
from freezeframe.decoders.contract import Decoder
from freezeframe.decoders.link.bonded import BONDED
from freezeframe.decoders.link.link import LINK
from freezeframe.decoders.link.link_encode import encode_link
from freezeframe.decoders.link.symbols import EIGHT_TEN
from freezeframe.decoders.trace.encode import packet_words
from tests.bench.common import BenchResult, main, median_s

_RATE_HZ = 12_500_000_000
_SAMPLES_A_BIT = 4  # 3.125 Gbit/s
_PACKETS = 600
_PIECE_EDGES = 1 << 16  # as decode_file cuts them
_REFERENCE = 200.0  # Msample/s, what was asked


def run() -> list[BenchResult]:
    """Measure; every word and symbol is compared with what was sent before a time is taken."""
    rng = np.random.default_rng(4)
    units = [
        [word for _, word in packet_words(PacketType.RDMA_WRITE, 1, seq, seq << 12, payload)]
        for seq in range(_PACKETS)
        for payload in [rng.integers(0, 1 << 63, int(rng.integers(513)), np.uint64).tolist()]
    ]
    lanes = encode_link(units, samples_a_bit=_SAMPLES_A_BIT, samplerate_hz=_RATE_HZ)
    both = replace(lanes, channels=(*lanes.channels, ""))
    one = lanes.select(["LANE0", None])

    stack = _decode((BONDED, LINK), both)
    assert stack["link.packets"]["payload_ok"].to_pylist() == [True] * _PACKETS
    assert stack["link.errors"].num_rows == 0
    sent = np.array([word for unit in units for word in unit], np.uint64).view(np.int64)
    assert np.array_equal(stack["link.words"]["data"].to_numpy(), sent)
    made = _decode((EIGHT_TEN,), one)["8b10b.symbols"]
    assert len(made) == lanes.end_sample // (10 * _SAMPLES_A_BIT)

    results = []
    for name, decoders, edges, asked in (
        ("8b/10b, 4 samples a bit, edges to tables", (EIGHT_TEN,), one, _REFERENCE),
        ("two bonded lanes, edges to words", (BONDED,), both, None),
        ("two bonded lanes, edges to packets", (BONDED, LINK), both, None),
    ):
        seconds = median_s(lambda d=decoders, e=edges: _decode(d, e), clock=time.process_time)  # type: ignore[misc]
        rate = edges.end_sample / seconds / 1e6
        against = f"{_REFERENCE:.0f} Msample/s, as asked"
        results.append(
            BenchResult(name, rate, "Msample/s", rate / _REFERENCE, against, asked, "value")
        )
    return results


def _decode(decoders: Sequence[Decoder], edges: Edges) -> dict[str, Any]:
    """Decode piece by piece with the decoders stacked; return the tables of the one on top."""
    import pyarrow as pa

    options = [decoder.option_values() for decoder in decoders]
    states = [d.new_state(o) for d, o in zip(decoders, options, strict=True)]
    made: list[dict[str, Any]] = []
    for begin in range(0, len(edges), _PIECE_EDGES):
        end = min(begin + _PIECE_EDGES, len(edges))
        last = end == len(edges)
        piece: Any = replace(
            edges,
            sample=edges.sample[begin:end],
            value=edges.value[begin:end],
            begin_sample=int(edges.sample[begin]),
            end_sample=edges.end_sample if last else int(edges.sample[end]),
        )
        for level, decoder in enumerate(decoders):
            tables = decoder.decode(piece, options[level], states[level], last)
            if level + 1 < len(decoders):
                piece = tables[decoders[level + 1].consumes]
        made.append(tables)
    return {kind: pa.concat_tables(tables[kind] for tables in made) for kind in made[0]}


if __name__ == "__main__":
    main(run)
