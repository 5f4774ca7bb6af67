"""``freezeframe arm``: begin a new recording on every device of a target."""

from __future__ import annotations

from freezeframe.gui.cli.options import DiscardOption, JsonOption, LogOption, TargetArgument


def run(
    target: TargetArgument,
    discard: DiscardOption = False,
    json: JsonOption = False,
    log_accesses: LogOption = None,
) -> None:
    """Start a new recording on every device of the card.

    A frozen recording that this host has not pulled, or whose capture is gone, is given up only
    with --discard.

    \b
    Examples:
      freezeframe arm etherbone://192.0.2.7
      freezeframe arm etherbone://192.0.2.7 --discard
    """
    from freezeframe.gui.cli.work.recorder import arm

    arm(target, log_accesses, discard=discard, json=json)
