"""``freezeframe freeze``: stop the recording of every device of a target and keep it."""

from __future__ import annotations

from typing import Annotated

import typer

from freezeframe.gui.cli.options import JsonOption, LogOption, TargetArgument
from freezeframe.gui.cli.output import emit_json
from freezeframe.gui.cli.usage import seconds

WaitOption = Annotated[
    float,
    typer.Option("--wait", metavar="SECONDS", parser=seconds, help="How long a device may take."),
]


def run(
    target: TargetArgument,
    wait: WaitOption = 10.0,
    json: JsonOption = False,
    log_accesses: LogOption = None,
) -> None:
    """Stop recording now, with cause 'host', and keep what was recorded.

    A card that is frozen already keeps its cause. Traffic stops where the card is set to hold.

    \b
    Example:
      freezeframe freeze etherbone://192.0.2.7
    """
    from freezeframe.gui.cli.work.recorder import freeze

    states = freeze(target, wait, log_accesses)
    if json:
        rows = [{"name": s.device, "state": s.state, "causes": list(s.causes)} for s in states]
        emit_json({"target": target, "devices": rows})
        return
    for state in states:
        print(f"{state.device}: {state.state}, cause {', '.join(state.causes)}")
