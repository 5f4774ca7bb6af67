"""The registers of a card's device in SystemRDL 2.0."""

from __future__ import annotations

from collections.abc import Iterator

from freezeframe.capture.card.build.ports import module_name
from freezeframe.capture.card.elaborated import ElaboratedCard
from freezeframe.capture.card.recording import built_features
from freezeframe.capture.card.registers import card_map
from freezeframe.capture.registers.layout import RegisterInfo
from freezeframe.capture.registers.register_map import elements


def systemrdl(card: ElaboratedCard) -> str:
    """Return the text: an address map with every register by its dotted name and indices, joined by underscores."""
    registers = card_map(card, built_features(card))
    lines = [f"addrmap {module_name(card)} {{", f'    desc = "The recorder of card {card.name}.";',
             "    default regwidth = 32;", "    littleendian;"]  # fmt: skip
    for info in registers.registers:
        lines += _register(info)
    lines += [
        f"    external mem {{ mementries = {window.words}; memwidth = 32; sw = r; }} "
        f"{_name(window.name)} @ {window.address:#x};"
        for window in registers.windows
    ]
    return "\n".join([*lines, "};", ""])


def _register(info: RegisterInfo) -> Iterator[str]:
    fields = " ".join(
        f"field {{ sw = {info.access}; hw = {'r' if 'w' in info.access else 'w'}; }} "
        f"{field.name}_f[{field.lsb + field.width - 1}:{field.lsb}];"
        for field in info.fields
    )
    # A clock's registers lie side by side, and RDL's arrays cannot lie one in another: each element stands alone.
    for indices in elements(info):
        address = info.address + sum(
            index * stride_B for index, (_, stride_B) in zip(indices, info.dims, strict=True)
        )
        name = "_".join([_name(info.name), *map(str, indices)])
        yield f"    reg {{ {fields} }} {name} @ {address:#x};"


def _name(dotted: str) -> str:
    return dotted.replace(".", "_")
