"""``freezeframe loopback``: let a card hear its own link, or its peer's again."""

from __future__ import annotations

from freezeframe.gui.cli.options import (
    DeviceOption,
    DiscardOption,
    LogOption,
    SwitchArgument,
    TargetArgument,
)


def run(
    switch: SwitchArgument,
    target: TargetArgument,
    device: DeviceOption = "A",
    discard: DiscardOption = False,
    log_accesses: LogOption = None,
) -> None:
    """Let a card hear its own link instead of its peer's; a change brings the link up anew.

    A peer that is connected directly then hears nobody and is looped back as well. Cards that are
    armed are armed anew, for a recording across the restart of a link mixes two lives of it; one that
    freezes meanwhile is given up only with --discard.

    \b
    Example:
      freezeframe loopback on etherbone://192.0.2.7
    """
    from freezeframe.gui.cli.work.recorder import switch_loopback

    switch_loopback(target, device, log_accesses, on=switch == "on", discard=discard)
