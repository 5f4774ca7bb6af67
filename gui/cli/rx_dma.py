"""``freezeframe rx-dma``: stop or start the receive DMA, to provoke back-pressure."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from freezeframe.gui.cli.options import LogOption, TargetArgument
from freezeframe.gui.cli.provoked import DeviceOption, chosen, doing
from freezeframe.gui.cli.session import open_session

__all__ = ["run"]


class _Action(StrEnum):
    STOP = "stop"
    START = "start"


ActionArgument = Annotated[
    _Action, typer.Argument(metavar="stop|start", help="What to do.", show_default=False)
]


def run(
    action: ActionArgument,
    target: TargetArgument,
    device: DeviceOption = "A",
    log_accesses: LogOption = None,
) -> None:
    """Stop or start the receive DMA of a card: its sender runs out of credit, or goes on.

    A sender that waits longer than ctl.stall_limit freezes with the cause credit-stall.

    \b
    Examples:
      freezeframe rx-dma stop etherbone://192.0.2.7 --device B
      freezeframe rx-dma start etherbone://192.0.2.7 --device B
    """
    from freezeframe.capture.recorder.provoke import set_rx_dma

    with open_session(target, log_accesses) as devices:
        card = chosen(devices, device)
        set_rx_dma(card, stopped=action is _Action.STOP)
    doing(card, f"receive DMA {'stopped' if action is _Action.STOP else 'running'}")
