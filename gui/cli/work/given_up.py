"""What arming a card has given up, in words and as JSON: the same for every verb that arms."""

from __future__ import annotations

from typing import Any

from freezeframe.capture.custody.giving_up import Armed
from freezeframe.gui.text import printable


def given_up_lines(armed: Armed) -> list[str]:
    """Return a line for each thing worth telling: what was lost, and what is not certain."""
    given_up = armed.given_up
    lines = [f"given up: {given_up.loss}"] if given_up.loss else []
    return [printable(line) for line in (*lines, *armed.unsure)]


def given_up_document(armed: Armed) -> dict[str, Any]:
    """Return what was given up, device by device, for ``--json``."""
    given_up = armed.given_up
    return {
        "given_up": [
            {"device": state.device, "state": state.state, **recording.to_json()}
            for state, recording in zip(given_up.states, given_up.recordings, strict=True)
        ],
        "kept": str(given_up.kept) if given_up.kept else None,
        "lost": given_up.loss or None,
        "not_certain": list(armed.unsure),
    }
