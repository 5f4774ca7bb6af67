"""Small things to export, written out by hand, and the tools of others that read the files again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from freezeframe.capture.files.edges import Bus, Edges
from freezeframe.decoders.run import Decoded
from freezeframe.decoders.trace.schema import schema
from freezeframe.gui.export.material import Material
from tests.processes import run_program

# docs/formats.md section 3: RDMA_WRITE, flow 3, seq 7, dest 0x1000, payload 1, 2.
GOLDEN_PACKET = bytes.fromhex(
    "010302000700c530 0010000000000000 0100000000000000 0200000000000000 b9ddf60000000000"
)

_WORD = {"t_unc_ps": 0, "cycle": 0, "packet": -1, "word": -1}
_PACKET = {
    "t_unc_ps": 0,
    "cycle": 0,
    "device": "A",
    "tap": "tx_enq",
    "direction": "A->B",
    "flags": 0,
    "dest": 0,
    "header_ok": True,
    "payload_ok": True,
    "length_ok": True,
    "whole": True,
}
_EVENT = {"t_unc_ps": 0, "cycle": 0, "slot": 0, "device": "A", "flow": -1, "data": 0}
_INTERVAL = {"t_unc_ps": 0, "device": "A", "open_start": False, "open_end": False}


def samples(*pieces: Edges) -> Material:
    """Return pieces of samples as something to export."""
    return Material(Path("made.sr"), edges=lambda: iter(pieces))


def small() -> Edges:
    """Return 12 samples at 3 MHz of two channels, one with a blank in its name."""
    return Edges(
        np.array([0, 3, 7, 8], dtype=np.int64),
        np.array([0b01, 0b10, 0b11, 0b00], dtype=np.uint64),
        ("clk", "data out"),
        3_000_000,
        0,
        12,
    )


def with_bus() -> Edges:
    """Return samples at 1 GHz of clk and a bus addr of 4 bits, not in order of its bits."""
    return Edges(
        np.array([0, 2, 5], dtype=np.int64),
        # bits: addr1, clk, addr0, addr2, addr3
        np.array([0b00000, 0b10001, 0b11111], dtype=np.uint64),
        ("addr[1]", "clk", "addr[0]", "addr[2]", "addr[3]"),
        1_000_000_000,
        0,
        6,
        (Bus("addr", ("addr[0]", "addr[1]", "addr[2]", "addr[3]")),),
    )


def recording(
    *,
    words: Sequence[Mapping[str, Any]] = (),
    packets: Sequence[Mapping[str, Any]] = (),
    events: Sequence[Mapping[str, Any]] = (),
    intervals: Sequence[Mapping[str, Any]] = (),
) -> Material:
    """Return the four tables of a recording with these rows; columns not given are ordinary."""
    rows = {
        "packets": [_PACKET | dict(row) for row in packets],
        "words": [_WORD | dict(row) for row in words],
        "events": [_EVENT | dict(row) for row in events],
        "intervals": [_INTERVAL | dict(row) for row in intervals],
    }
    return Material(
        Path("made.ff"),
        tables=[
            Decoded(f"trace.{name}", pa.Table.from_pylist(those, schema=schema(name)))
            for name, those in rows.items()
        ],
    )


def golden_recording(*, t_ps: int = 1_999, **changes: Any) -> Material:
    """Return a recording of the golden packet alone, in tap A.tx_enq, a word every 10 ns."""
    kinds = ("HEAD", "HEAD", "BODY", "BODY", "TAIL")
    words = [
        {
            "t_ps": t_ps + 10_000 * i,
            "source": "A.tx_enq",
            "kind": kind,
            "slot": i,
            "data": int.from_bytes(GOLDEN_PACKET[8 * i : 8 * i + 8], "little", signed=True),
            "packet": 0,
        }
        for i, kind in enumerate(kinds)
    ]
    packet = {
        "t_ps": t_ps,
        "source": "A.tx_enq",
        "kind": "RDMA_WRITE",
        "t_end_ps": t_ps + 50_000,
        "flow": 3,
        "seq": 7,
        "length": 2,
        "body_words": 2,
        "first_row": 0,
        "end_row": 5,
    }
    return recording(words=words, packets=[packet | changes])


def tool(*command: str | Path) -> str:
    """Run a tool and return what it prints; a failure shows what it complained about."""
    done = run_program([str(part) for part in command])
    assert done.returncode == 0, done.stderr
    return done.stdout
