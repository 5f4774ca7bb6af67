"""``freezeframe rx-dma``: stop or start the receive DMA, to provoke back-pressure."""

from __future__ import annotations

from typing import Annotated, Literal

from freezeframe.gui.cli.options import DeviceOption, LogOption, TargetArgument, argument

ActionArgument = Annotated[Literal["stop", "start"], argument("stop|start", "What to do.")]


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
    from freezeframe.gui.cli.work.recorder import switch_rx_dma

    switch_rx_dma(target, device, log_accesses, stopped=action == "stop")
    print(f"{device}: receive DMA {'stopped' if action == 'stop' else 'running'}")
