"""How many words stood in a receiver's FIFO or were outstanding: by two taps, and by counts that do not wrap."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from freezeframe.analyzers.credits.ledger import FlowAccount
from freezeframe.analyzers.facts import RECEIVER_FIFO, Facts

_NEAR_FULL = 64  # words: what two clocks and a full flag that is early may make of a full FIFO


def fifo_levels(
    facts: Facts, sender: str, receiver: str, t_ps: npt.NDArray[np.int64]
) -> list[int | None]:
    """Return the words in the receiver's FIFO at ``(n,)`` times: entered and not left, by its two taps."""
    diff = facts.diff(sender, receiver, RECEIVER_FIFO)
    if diff is None or not len(diff.down) or diff.up.breaks or diff.down.breaks:
        return [None] * len(t_ps)
    # Where each word that left had entered.
    entered = np.full(len(diff.down), -1, np.int64)
    for pair in diff.pairs:
        if pair.compared and pair.in_place:
            count = np.arange(pair.compared)
            places = pair.down.start + pair.down_skip + count
            entered[places] = pair.up.start + pair.up_skip + count
    levels: list[int | None] = []
    for at in t_ps.tolist():
        arrived = int(np.searchsorted(diff.up.t_ps, at, side="right"))
        left = int(np.searchsorted(diff.down.t_ps, at, side="right")) - 1
        known = left >= 0 and entered[left] >= 0
        levels.append(arrived - int(entered[left]) - 1 if known else None)
    return levels


def overflowed_at(facts: Facts, sender: str, receiver: str) -> int | None:
    """Return how many words the receiver's FIFO held when it overflowed, where that is far fewer than it holds.

    Words that it lost are among those that entered, so that it may have held fewer.
    """
    capture, (t_ps, unc_ps) = facts.view.device(receiver), facts.caused(receiver)
    roles = facts.view.roles
    if capture is None or t_ps is None or unc_ps is None:
        return None
    if roles.cause("overflow", roles.rx.entry) not in facts.view.causes(receiver):
        return None
    around_ps = np.array([t_ps - unc_ps, t_ps, t_ps + unc_ps], np.int64)
    levels = fifo_levels(facts, sender, receiver, around_ps)
    if None in levels:
        return None
    most = max(level for level in levels if level is not None)
    return most if most + _NEAR_FULL < capture.identity.rx_fifo else None


def outstanding_in_whole(facts: Facts, account: FlowAccount) -> int | None:
    """Return the words that a sender has outstanding at freeze by counts that do not wrap; None where not known.

    What it was credited is what came in at the receiver since power-up, without what waits there or is not told yet.
    """
    sent = facts.view.value(account.sender, "frozen_flow.words_sent", account.flow)
    received = facts.view.value(account.receiver, "frozen_flow.words_received", account.flow)
    waiting, untold, modulus = account.waiting, account.withheld, account.modulus
    if sent is None or received is None or waiting is None or untold is None or modulus is None:
        return None
    ends = (account.sender, account.receiver)
    if any(facts.view.value(end, "ctl.generation") != 1 for end in ends):
        return None
    credited = received - waiting - untold
    fits = received % modulus == account.received and sent % modulus == account.sent
    return sent - credited if fits and 0 <= credited <= sent else None
