"""``freezeframe arm``: begin a new recording on every device of a target."""

from __future__ import annotations

from freezeframe.gui.cli.options import JsonOption, LogOption, TargetArgument
from freezeframe.gui.cli.output import emit_json
from freezeframe.gui.cli.session import open_session

__all__ = ["run"]


def run(target: TargetArgument, json: JsonOption = False, log_accesses: LogOption = None) -> None:
    """Start a new recording on every device of the card.

    What the card holds now is lost: pull it first.

    \b
    Example:
      freezeframe arm etherbone://192.0.2.7
    """
    from freezeframe.capture.recorder.control import arm_all
    from freezeframe.capture.recorder.state import read_state

    with open_session(target, log_accesses) as devices:
        arm_all(devices)
        states = [(device.name, read_state(device)) for device in devices]
    if json:
        rows = [{"name": n, "state": s.state, "generation": s.generation} for n, s in states]
        emit_json({"target": target, "devices": rows})
        return
    for name, state in states:
        print(f"{name}: {state.state}, generation {state.generation}")
