"""``freezeframe arm``: begin a new recording on every device of a target."""

from __future__ import annotations

from freezeframe.gui.cli.options import DiscardOption, JsonOption, LogOption, TargetArgument
from freezeframe.gui.cli.output import emit_json


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
    from freezeframe.gui.cli.work.given_up import given_up_document, given_up_lines
    from freezeframe.gui.cli.work.recorder import arm
    from freezeframe.gui.cli.work.status import still_clocks

    states, armed = arm(target, log_accesses, discard=discard)
    if json:
        rows = [
            {"name": s.device, "state": s.state, "generation": s.generation}
            | ({"clocks": {name: c.alive for name, c in s.clocks.items()}} if s.clocks else {})
            for s in states
        ]
        emit_json({"target": target, "devices": rows, **given_up_document(armed)})
        return
    for state in states:
        print(f"{state.device}: {state.state}, generation {state.generation}")
    for line in given_up_lines(armed):
        print(line)
    for line in still_clocks(states):
        print(f"{line}. Once it runs, arm again")
