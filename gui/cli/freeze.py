"""``freezeframe freeze``: stop the recording of every device of a target and keep it."""

from __future__ import annotations

from typing import Annotated

import typer

from freezeframe.gui.cli.options import JsonOption, LogOption, TargetArgument
from freezeframe.gui.cli.output import emit_json
from freezeframe.gui.cli.session import open_session
from freezeframe.gui.cli.usage import seconds

__all__ = ["run"]

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
    from freezeframe.capture.recorder.control import freeze, wait_for
    from freezeframe.capture.recorder.state import read_state

    with open_session(target, log_accesses) as devices:
        for device in devices:
            if read_state(device).state != "frozen":
                freeze(device)
        for device in devices:
            wait_for(device, "frozen", wait)
        states = [(device.name, read_state(device)) for device in devices]
    if json:
        rows = [{"name": n, "state": s.state, "causes": list(s.causes)} for n, s in states]
        emit_json({"target": target, "devices": rows})
        return
    for name, state in states:
        print(f"{name}: {state.state}, cause {', '.join(state.causes)}")
