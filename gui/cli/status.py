"""``freezeframe status``: the state of each device's recorder and what froze it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from freezeframe.gui.cli.options import JsonOption, LogOption, TargetArgument
from freezeframe.gui.cli.output import count_text, emit_json, plural, table
from freezeframe.gui.cli.session import first_cause, open_session, overall_state

if TYPE_CHECKING:
    from freezeframe.capture.recorder.state import RecorderState
    from freezeframe.capture.registers.access import Device

__all__ = ["run", "status_document"]


def run(target: TargetArgument, json: JsonOption = False, log_accesses: LogOption = None) -> None:
    """Tell the state of the recorder and what froze it.

    Only reads: the card is not disturbed. The cause is that of the device that froze first.

    \b
    Examples:
      freezeframe status etherbone://192.0.2.7
      freezeframe status etherbone://192.0.2.7 --json
    """
    from freezeframe.capture.recorder.state import read_state

    with open_session(target, log_accesses) as devices:
        states = [read_state(device) for device in devices]
    document = status_document(target, devices, states)
    if json:
        emit_json(document)
        return
    cause = f", cause {document['cause']}" if document["cause"] else ""
    print(f"{target}: {document['state']}{cause}")
    print()
    print(_devices_table(document["devices"]))
    print()
    print(_memories_table(document["devices"]))
    print()
    print(_next_step(document))
