"""State machines of a described card that went where its file says that they cannot: ``[states.NAME.after]``."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from freezeframe.analyzers.card.claims import Claim
from freezeframe.analyzers.card.view import CardView
from freezeframe.analyzers.contract import Row, Says, Witness
from freezeframe.decoders.tap.event_log import Logged

STATE_ORDER = "state-out-of-order"


def log_row(device: str, number: int, entry: Logged) -> Row:
    """Return an entry of the log as a row of evidence."""
    return Row(
        "events", f"{device}.event_log", entry.name,
        value=entry.value, row=number, cycle=entry.cycle, t_ps=entry.t_ps,
    )  # fmt: skip


def state_order(card: CardView) -> Iterator[Claim]:
    """Yield a claim for each change of a state machine that the card file does not allow."""
    said = card.recording.card.said.states
    entries = card.log.entries
    broken: dict[str, list[Claim]] = defaultdict(list)
    for number, entry in enumerate(entries):
        if entry.kind != "state" or entry.was == entry.state:
            continue
        before = said[entry.name].after.get(entry.state)
        if before is not None and entry.was not in before:
            only = " or ".join(before)
            text = f"{entry.name} went from {entry.was} to {entry.state}; that state follows {only} alone."
            row = log_row(card.device, number, entry)
            broken[entry.name].append(
                Claim(
                    STATE_ORDER,
                    text,
                    (),
                    t_ps=entry.t_ps,
                    t_unc_ps=0,
                    witnesses=(Witness(Says.FOR, text.rstrip("."), (row,)),),
                    falsifier="the state between them",
                )
            )
    for claims in broken.values():
        yield from claims
