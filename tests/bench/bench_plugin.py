"""What the jail of ``--plugin`` costs, beside the same decoder in the program: its start, a piece, a row in words.

``python -m tests.bench.bench_plugin`` prints it.
"""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from freezeframe.capture.files.edges import Edges
from freezeframe.decoders.plugin import load_with_plugins
from freezeframe.decoders.plugin_file import decoders_of_file
from freezeframe.decoders.registry import Registry
from freezeframe.decoders.spec import parse_spec
from freezeframe.decoders.stack_run import StackRun

_PLUGIN = """
import pyarrow as pa
from freezeframe.decoders.contract import EDGES, Channel, Decoder, Output, Texts

def schema():
    return pa.schema([pa.field("t_ps", pa.int64()), pa.field("source", pa.string()),
                      pa.field("kind", pa.string())])

def decode(edges, options, state, last):
    every = len(edges)
    return pa.table({"t_ps": edges.t_ps(), "source": pa.array(["s"] * every),
                     "kind": pa.array(["k"] * every)}, schema=schema())

COST = Decoder(id="cost", name="cost", doc="a row for each edge", consumes=EDGES, decode=decode,
    produces=(Output("cost", schema),), channels=(Channel("a", "any"), Channel("b", "any")),
    texts=lambda row: Texts("a", "b", "c"))
"""
_EDGES, _PIECES, _WORDS = 1 << 16, 40, 2000


def _pieces() -> list[Edges]:
    made = []
    for number in range(_PIECES):
        begin = number * _EDGES
        sample = np.arange(begin, begin + _EDGES)
        value = (sample & 3).astype(np.uint64)
        made.append(Edges(sample, value, ("a", "b"), 10**6, begin, begin + _EDGES))
    return made


def _run_s(registry: Registry, pieces: list[Edges]) -> float:
    begin_s = time.perf_counter()
    run = StackRun(parse_spec("cost", registry))
    for piece in pieces:
        run.feed(piece, last=piece is pieces[-1])
    taken_s = time.perf_counter() - begin_s
    run.close()
    return taken_s


def main() -> None:
    """Print it."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "cost.py"
        path.write_text(_PLUGIN)
        begin_s = time.perf_counter()
        jailed = load_with_plugins([path])
        print(f"start: {time.perf_counter() - begin_s:.2f} s")
        inside = Registry({each.id: each for each in decoders_of_file(path).values()})
        pieces = _pieces()
        for name, registry in (("jail", jailed), ("program", inside)):
            taken_s = min(_run_s(registry, pieces) for _ in range(3))
            each_ms = taken_s / _PIECES * 1e3
            print(f"{name}: {each_ms:.1f} ms for a piece of {_EDGES} edges and as many rows")
            words = registry.find("cost").texts
            if words is None:
                sys.exit("no words")
            begin_s = time.perf_counter()
            for _ in range(_WORDS):
                words({"t_ps": 1, "source": "s", "kind": "k"})
            print(
                f"{name}: {(time.perf_counter() - begin_s) / _WORDS * 1e6:.1f} us for a row in words"
            )


if __name__ == "__main__":
    main()
