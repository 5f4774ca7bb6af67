"""What ``card build`` writes: the place and the text of each file; and what of a kept folder is stale."""

from __future__ import annotations

import json
from pathlib import Path

from freezeframe.capture.card.build.c_header import c_header
from freezeframe.capture.card.build.constraints import sdc_constraints, vivado_constraints
from freezeframe.capture.card.build.drawing import drawing
from freezeframe.capture.card.build.fusesoc import fusesoc_core
from freezeframe.capture.card.build.litex import litex_module
from freezeframe.capture.card.build.names import refuse_taken
from freezeframe.capture.card.build.page import register_page
from freezeframe.capture.card.build.ports import module_name, rom_module
from freezeframe.capture.card.build.rom import verilog_rom
from freezeframe.capture.card.build.sources import device_sources
from freezeframe.capture.card.build.systemrdl import systemrdl
from freezeframe.capture.card.build.verilog import verilog_top
from freezeframe.capture.card.build.vhdl import vhdl_package
from freezeframe.capture.card.build.wiring_test import wiring_test
from freezeframe.capture.card.elaborated import ElaboratedCard


def outputs(card: ElaboratedCard) -> dict[str, str]:
    """Return the text of every file, by its place in the folder; the same card gives the same bytes.

    A card of C hooks has a header alone.

    Raises:
        InputError: a wire of the card has a name that is taken.
    """
    name = module_name(card)
    described = {"card.json": json.dumps(json.loads(card.text), indent=1) + "\n"}
    if card.of_hooks:
        return {f"{name}.h": c_header(card), **described}
    top = verilog_top(card)
    refuse_taken(card, top)
    texts = {f"{name}.v": top}
    if card.said.card.rom:
        texts[f"{rom_module(card)}.v"] = verilog_rom(card)
    sources = device_sources(top)
    texts |= {f"rtl/{path.name}": path.read_text("utf-8") for path in sources}
    verilog = list(texts)
    texts[f"{name}.f"] = "".join(f"{place}\n" for place in verilog)
    texts[f"{name}.core"] = fusesoc_core(card, verilog)
    blocks = [path.stem for path in sources]
    texts[f"{name}_vivado.tcl"] = vivado_constraints(card, blocks)
    texts[f"{name}.sdc"] = sdc_constraints(card, blocks)
    texts[f"{name}.h"] = c_header(card)
    texts[f"{name}.rdl"] = systemrdl(card)
    texts[f"{name}_pkg.vhd"] = vhdl_package(card)
    if card.said.transport.bus == "wishbone":
        texts[f"{name}_litex.py"] = litex_module(card)
    texts[f"{name}_wiring.py"] = wiring_test(card)
    texts[f"{name}.svg"] = drawing(card)
    texts[f"{name}.html"] = register_page(card)
    return {**texts, **described}


def stale(card: ElaboratedCard, folder: Path) -> list[str]:
    """Return the files of a folder that are missing or differ from what the card gives."""
    return [
        place
        for place, text in outputs(card).items()
        if not (folder / place).is_file() or (folder / place).read_text("utf-8") != text
    ]
