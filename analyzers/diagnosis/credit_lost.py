"""credit-lost: from some cycle on every credit of a flow is lost at the receiver's output.

The sender stalls although the receiver's FIFO is empty and the receiver freed more than the sender was
credited. What tells it from a host that stopped receiving (healthy): there freed and credited agree.
"""

from __future__ import annotations

from collections.abc import Iterator

from freezeframe.analyzers.contract import Evidence, Finding
from freezeframe.analyzers.diagnosis.place import cause_evidence
from freezeframe.analyzers.diagnosis.stall import Stall
from freezeframe.analyzers.facts import Facts

__all__ = ["NAME", "diagnose"]

NAME = "credit-lost"


def diagnose(facts: Facts, stalls: list[Stall]) -> Iterator[Finding]:
    """Yield a finding for every flow whose credits stopped arriving."""
    for stall in stalls:
        if stall.verdict != "lost":
            continue
        account = stall.account
        waits = f" {account.sender} waits for them since." if stall.waits else ""
        yield Finding(
            diagnosis=NAME,
            text=f"{stall.text}{waits} Credits of flow {account.flow} are lost at {account.receiver}'s output.",
            device=account.receiver,
            direction=account.direction,
            flow=account.flow,
            t_ps=stall.t_ps,
            t_uncertainty_ps=stall.t_unc_ps,
            confidence=0.97 if stall.waits else 0.85,
            evidence=(
                Evidence(stall.text, account.receiver, rows=stall.rows),
                *cause_evidence(facts, account.sender),
            ),
        )
