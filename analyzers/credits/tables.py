"""The tables of the analysis ``credits``: a row for each flow, a row for each credit that was sent."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import pandas as pd

from freezeframe.analyzers.credits.flights import Flights
from freezeframe.analyzers.credits.ledger import FlowAccount

BANK = (
    ("sent", "words sent", "sender"),
    ("credited", "words credited", "sender"),
    ("outstanding", "words outstanding", "sender"),
    ("free", "words it may still send", "sender"),
    ("limit", "start-up credit", "sender"),
    ("received", "words received", "receiver"),
    ("freed", "words freed", "receiver"),
    ("reported", "words freed, as last told", "receiver"),
    ("waiting", "words in the receiver's FIFO", "receiver"),
    ("withheld", "words freed and not credited", "both"),
    ("on_the_way", "words sent and not received", "both"),
)
"""What the freeze banks say of a flow: attribute of its account, meaning, whose bank is needed."""


def account_row(account: FlowAccount, matched: Flights) -> dict[str, Any]:
    """Return the row of a flow: what both banks say, and how many credits met which fate."""
    row: dict[str, Any] = {"direction": account.direction, "flow": account.flow}
    row |= {key: getattr(account, key) for key, _, _ in BANK}
    row |= {
        "credits_sent": len(account.sent_credits),
        "credits_taken": len(account.taken_credits),
        "credits_lost": len(matched.lost),
        "credits_refused": len(matched.refused),
    }
    return row


def credit_rows(account: FlowAccount, matched: Flights) -> Iterator[dict[str, Any]]:
    """Yield a row for every credit sent: when, what it stated, and what became of it."""
    taken = dict(matched.pairs)
    fates = dict.fromkeys(matched.lost, "lost") | dict.fromkeys(matched.refused, "refused")
    fates |= dict.fromkeys(taken, "taken")
    for i in range(len(account.sent_credits)):
        yield {
            "direction": account.direction,
            "flow": account.flow,
            "t_ps": int(account.sent_credits.t_ps[i]),
            "freed": int(account.sent_credits.freed[i]),
            "fate": fates.get(i, "not known"),
            "taken_ps": int(account.taken_credits.t_ps[taken[i]]) if i in taken else None,
        }


def account_tables(
    rows: Sequence[dict[str, Any]], credits: Sequence[dict[str, Any]]
) -> dict[str, pd.DataFrame]:
    """Return the tables ``flows`` and ``credits`` of such rows; a table without rows is left out."""
    tables = {}
    if rows:
        tables["flows"] = pd.DataFrame(rows).astype(
            {name: "Int64" for name, _, _ in BANK}  # null where a bank was not read
        )
    if credits:
        frame = pd.DataFrame(credits)
        frame["taken_ps"] = frame["taken_ps"].astype("Int64")
        tables["credits"] = frame
    return tables
