"""``freezeframe reg``: registers of a card by name, read and written; also those of a capture."""

from __future__ import annotations

from typing import Annotated

import typer

from freezeframe.gui.cli.completing import targets
from freezeframe.gui.cli.options import JsonOption, LogOption, SalvageOption, argument, option

RegTarget = Annotated[
    str,
    argument("TARGET", "URL or alias of a card, or a capture (NAME.ff).", autocompletion=targets),
]
NamesArgument = Annotated[
    list[str] | None,
    argument(
        "[NAME[=VALUE]]...",
        "A register (ctl.state, memory.stored[2]), a field (ctl.options.hold), a pattern ('ctl.*'), an "
        "address (0x120); with =VALUE it is written. None: all.",
    ),
]
DeviceOption = Annotated[
    str | None,
    option("--device", "NAME", "This device only; a write needs one where there are several."),
]
ActOption = Annotated[
    bool, typer.Option("--act", help="Write registers that do something when they are written.")
]


def run(
    target: RegTarget,
    names: NamesArgument = None,
    *,
    device: DeviceOption = None,
    act: ActOption = False,
    salvage: SalvageOption = False,
    json: JsonOption = False,
    log_accesses: LogOption = None,
) -> None:
    """Read, write and dump registers by the names of the card's own map; of a capture those at its freeze.

    No read has a side effect. What a write does is known from the map: registers that act when they are
    written need --act, and those that would give up a recording are left to arm and freeze.

    \b
    Examples:
      freezeframe reg etherbone://192.0.2.7
      freezeframe reg etherbone://192.0.2.7 ctl.state 'memory.*'
      freezeframe reg etherbone://192.0.2.7 ctl.sample_period=64 --device A
      freezeframe reg lab ctl.options.hold=1
      freezeframe reg fault.ff ctl.causes
    """
    from freezeframe.gui.cli.work.reg import show_registers

    show_registers(target, names or (), device, log_accesses, act=act, salvage=salvage, json=json)
