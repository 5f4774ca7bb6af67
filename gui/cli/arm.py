"""``freezeframe arm``: begin a new recording on every device of a target."""

from __future__ import annotations

from freezeframe.gui.cli.options import JsonOption, LogOption, TargetArgument
from freezeframe.gui.cli.output import emit_json


def run(target: TargetArgument, json: JsonOption = False, log_accesses: LogOption = None) -> None:
    """Start a new recording on every device of the card.

    What the card holds now is lost: pull it first.

    \b
    Example:
      freezeframe arm etherbone://192.0.2.7
    """
    from freezeframe.gui.cli.work.recorder import arm
    from freezeframe.gui.cli.work.status import still_clocks

    states = arm(target, log_accesses)
    if json:
        rows = [
            {"name": s.device, "state": s.state, "generation": s.generation}
            | ({"clocks": {name: c.alive for name, c in s.clocks.items()}} if s.clocks else {})
            for s in states
        ]
        emit_json({"target": target, "devices": rows})
        return
    for state in states:
        print(f"{state.device}: {state.state}, generation {state.generation}")
    for line in still_clocks(states):
        print(f"{line}. Once it runs, arm again")
