"""What a tool answered on exactly these inputs before: proofs and syntheses take minutes and are functions of them.

``recorded.json`` keeps each answer beside the SHA-256 of all it was made from: the texts of the sources, the
script, the tool's version. Where that differs the tool runs, as it does everywhere with ``make proofs``, which
writes the answers down.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path
from typing import TypeVar

from tests.processes import run_program
from tests.rtl.simulation import modules, tool

Answer = TypeVar("Answer")

_PROOFS = os.environ.get("FREEZEFRAME_PROOFS")
# As in make proofs; with "stale" what no longer fits its sources is answered and written down.
ANEW = _PROOFS == "anew"
_FILE = Path(__file__).with_name("recorded.json")


@cache
def version(program: str, *asking: str) -> str:
    """Return what a program says of its version; the test is skipped where it is not installed."""
    return run_program([tool(program), *asking], check=True).stdout


def sources_of(top: str) -> list[Path]:
    """Return the files of a module and of all that it names, and so on down."""
    files = modules()
    waiting, found = [top], {top}
    while waiting:
        words = set(files[waiting.pop()].read_text("utf-8").replace("(", " ").split())
        waiting += (names := (words & files.keys()) - found)
        found |= names
    return [files[name] for name in sorted(found)]


def recorded(name: str, inputs: Iterable[str], compute: Callable[[], Answer]) -> Answer:
    """Return the answer that is written down for these inputs, or else the one that ``compute`` gives.

    Args:
        name: under which it is written down.
        inputs: every text that the answer depends on.
        compute: runs the tool; its answer is one that JSON can hold.
    """
    sha256 = hashlib.sha256("\0".join(inputs).encode()).hexdigest()
    known = json.loads(_FILE.read_text("utf-8")).get(name, {})
    if known.get("sha256") == sha256 and not ANEW:
        answer: Answer = known["answer"]
        return answer
    answer = compute()
    if _PROOFS:
        answers = json.loads(_FILE.read_text("utf-8")) | {
            name: {"sha256": sha256, "answer": answer}
        }
        lines = (f" {json.dumps(key)}: {json.dumps(answers[key])}" for key in sorted(answers))
        _FILE.write_text("{\n" + ",\n".join(lines) + "\n}\n", "utf-8")  # a line each
    return answer
