"""``freezeframe status``: recorders and memories as tables, and what to do next."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from freezeframe.capture.card.finding import FoundCard
from freezeframe.capture.custody.giving_up import known_of
from freezeframe.capture.custody.lease import lease_of
from freezeframe.capture.custody.ledger import Ledger
from freezeframe.capture.recorder.state import RecorderState, read_state
from freezeframe.gui.cli.output import count_text, emit_json, table
from freezeframe.gui.cli.work.session import card_entry, first_cause, open_recorders, overall_state
from freezeframe.gui.text import printable, shell_path, shell_word


def show_status(target: str, log: Path | None, *, json: bool) -> None:
    """Print the state of each device of a target."""
    with open_recorders(target, log) as devices:
        states = [read_state(device) for device in devices]
        found = {device.name: device.found for device in devices}
    held = known_of(states, Ledger())
    document = _document(target, states, found) | {"kept": _place(held.kept), "guard": None}
    lease = lease_of(states[0].nonce)
    if lease is not None:
        document["guard"] = asdict(lease)
    if json:
        emit_json(document)
        return
    cause = f", cause {document['cause']}" if document["cause"] else ""
    cards = dict.fromkeys(f"{f.card.name} {f.card.said.card.version}" for f in found.values())
    print(f"{printable(target)}: {document['state']}{cause}, card {' and '.join(cards)}\n")
    print(_devices_table(states), end="\n\n")
    print(_memories_table(states), end="\n\n")
    for line in still_clocks(states):
        print(line)
    if lease is not None:
        print(
            printable(
                f"Guarded by {lease.text}" if lease.live else f"A guard was killed: {lease.text}"
            )
        )
    if held.kept is not None and not target.startswith("file:"):
        print(printable(f"This recording is kept in {held.kept}; it may be armed over"))
        return
    print(_next_step(target, document["state"]))


def _place(path: Path | None) -> str | None:
    return None if path is None else str(path)


def _document(
    target: str, states: Sequence[RecorderState], found: Mapping[str, FoundCard]
) -> dict[str, Any]:
    """Return what ``--json`` prints; ``cause`` is None until something has frozen."""
    cause = first_cause(states)
    return {
        "target": target,
        "state": overall_state(states),
        "cause": cause,
        "causes": sorted({name for state in states for name in state.causes}),
        "devices": [
            {
                "device": state.device,
                "state": state.state,
                "cause": state.causes[0] if state.causes else None,
                "card": card_entry(found[state.device]),
                **state.to_json(),
            }
            for state in states
        ],
    }


def _devices_table(states: Sequence[RecorderState]) -> str:
    rows = [
        (
            state.device,
            state.state,
            ", ".join(state.causes) or "none",
            count_text(state.cause_cycle) if state.causes else "",
            state.generation,
            f"{state.nonce:#010x}",
            "yes" if state.held else "no",
        )
        for state in states
    ]
    headers = ("device", "state", "causes", "at bus cycle", "generation", "boot nonce", "card held")
    return table(headers, rows, right=(3, 4))


def _memories_table(states: Sequence[RecorderState]) -> str:
    rows = [
        (
            f"{state.device}.{name}",
            count_text(memory.stored),
            "" if memory.lost is None else count_text(memory.lost),
            "yes" if memory.wrapped else "no",
            "yes" if memory.closed else "no",
        )
        for state in states
        for name, memory in state.memories.items()
    ]
    return table(("memory", "stored", "lost", "wrapped", "closed"), rows, right=(1, 2))


def still_clocks(states: Sequence[RecorderState]) -> list[str]:
    """Return a line for each clock that stands still."""
    return [
        f"{state.device}: clock {name} stands still; its taps record nothing, and nothing waits for them"
        for state in states
        for name, clock in state.clocks.items()
        if not clock.alive
    ]


def _next_step(target: str, state: str) -> str:
    scheme, _, path = target.partition(":")
    if scheme == "file":
        return f"This is a recording. Next: freezeframe explain {shell_path(path)}"
    word = shell_word(target)
    return {
        "frozen": f"Next: freezeframe pull {word} -o NAME.ff",
        "triggered": "A cause has come; the memories are filling up to their end.",
        "armed": "Recording. It freezes at the first cause, or with 'freezeframe freeze'.",
        "idle": f"Nothing is recorded. Next: freezeframe arm {word}",
    }[state]
