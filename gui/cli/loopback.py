"""``freezeframe loopback``: let a card hear its own link, or its peer's again."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from freezeframe.gui.cli.options import LogOption, TargetArgument
from freezeframe.gui.cli.provoked import DeviceOption, chosen, doing
from freezeframe.gui.cli.session import open_session

__all__ = ["run"]


class _Switch(StrEnum):
    ON = "on"
    OFF = "off"


SwitchArgument = Annotated[
    _Switch, typer.Argument(metavar="on|off", help="Which of the two.", show_default=False)
]


def run(
    switch: SwitchArgument,
    target: TargetArgument,
    device: DeviceOption = "A",
    log_accesses: LogOption = None,
) -> None:
    """Let a card hear its own link instead of its peer's; a change brings the link up anew.

    A peer that is connected directly then hears nobody and is looped back as well. Cards that are
    armed are armed anew, for a recording across the restart of a link mixes two lives of it.

    \b
    Example:
      freezeframe loopback on etherbone://192.0.2.7
    """
    from freezeframe.capture.recorder.control import arm_all
    from freezeframe.capture.recorder.provoke import set_loopback
    from freezeframe.capture.recorder.state import read_state

    with open_session(target, log_accesses) as devices:
        card = chosen(devices, device)
        states = [read_state(one) for one in devices]
        set_loopback(card, on=switch is _Switch.ON)
        # A recording across the restart of a link counts credits of two lives of it; one that is frozen is evidence.
        anew = all(state.state == "armed" for state in states)
        if anew:
            arm_all(devices)
    doing(card, f"loop-back {switch.value}{', armed anew' if anew else ''}")
