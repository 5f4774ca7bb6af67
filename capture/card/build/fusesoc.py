"""The core file of a card's device for FuseSoC (CAPI 2)."""

from __future__ import annotations

from collections.abc import Iterable

from freezeframe.capture.card.build.ports import module_name
from freezeframe.capture.card.elaborated import ElaboratedCard


def fusesoc_core(card: ElaboratedCard, files: Iterable[str]) -> str:
    """Return the text of the core file.

    Args:
        files: the Verilog files, from the folder of the core file.
    """
    name = module_name(card)
    listed = "\n".join(f"      - {file}" for file in files)
    return f"""CAPI=2:
name: ::{name}:{_version(card.said.card.version)}
description: The recorder of card {card.name}, made by 'freezeframe card build'
filesets:
  rtl:
    files:
{listed}
    file_type: verilogSource
targets:
  default: &default
    filesets: [rtl]
    toplevel: {name}
  lint:
    <<: *default
    default_tool: verilator
    tools:
      verilator:
        mode: lint-only
        verilator_options: [-Wall]
"""


def _version(said: str) -> str:
    """Return a version that FuseSoC takes: three numbers."""
    parts = [part for part in said.split(".") if part.isdigit()][:3]
    return ".".join([*parts, *["0"] * (3 - len(parts))])
