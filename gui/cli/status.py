"""``freezeframe status``: the state of each device's recorder and what froze it."""

from __future__ import annotations

from freezeframe.gui.cli.options import JsonOption, LogOption, TargetArgument


def run(target: TargetArgument, json: JsonOption = False, log_accesses: LogOption = None) -> None:
    """Tell the state of the recorder and what froze it.

    Only reads: the card is not disturbed. The cause is that of the device that froze first.

    \b
    Examples:
      freezeframe status etherbone://192.0.2.7
      freezeframe status etherbone://192.0.2.7 --json
    """
    from freezeframe.gui.cli.work.status import show_status

    show_status(target, log_accesses, json=json)
