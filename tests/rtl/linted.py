"""What Verilator and Icarus say of a module, by sets of parameters: written down as proofs are (`recorded`).

A module is one answer, with everything below it: a change of one module has those asked again that hold it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.rtl.recorded import recorded, sources_of, version
from tests.rtl.simulation import elaborate, lint

Parameters = Mapping[str, object]


def linted(top: str, sets: Sequence[Parameters]) -> str:
    """Return what Verilator says of a module with each set of parameters: nothing, where it is clean."""
    inputs = _inputs(top, sets, version("verilator", "--version"))
    return recorded(
        f"lint {top}", inputs, lambda: "".join(lint(top, parameters) for parameters in sets)
    )


def elaborated(top: str, sets: Sequence[Parameters]) -> str:
    """Return what Icarus says of a module with each set of parameters: nothing, where it is content."""

    def run() -> str:
        with TemporaryDirectory() as folder:
            out = Path(folder) / "out.vvp"
            return "".join(elaborate(top, out, parameters.items()) for parameters in sets)

    return recorded(f"elaborate {top}", _inputs(top, sets, version("iverilog", "-V")), run)


def refusals(top: str, sets: Sequence[Parameters]) -> list[str]:
    """Return the sentences with which Icarus refuses each set of parameters: none, where there is an output."""

    def refusal(parameters: Parameters) -> str:
        with TemporaryDirectory() as folder:
            told = elaborate(top, out := Path(folder) / "out.vvp", parameters.items())
            return "" if out.exists() else " ".join(sorted({*re.findall(r"ff_error_\w+", told)}))

    inputs = _inputs(top, sets, version("iverilog", "-V"))
    return recorded(f"refuse {top}", inputs, lambda: [refusal(each) for each in sets])


def _inputs(top: str, sets: Sequence[Parameters], tool_version: str) -> list[str]:
    texts = [path.read_text("utf-8") for path in sources_of(top)]
    return [tool_version, json.dumps([dict(each) for each in sets]), *texts]
