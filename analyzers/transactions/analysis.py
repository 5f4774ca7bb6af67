"""The analysis ``transactions``: its declaration; `freezeframe.analyzers.card.transactions` computes it."""

from __future__ import annotations

from freezeframe.analyzers.contract import Analysis
from freezeframe.capture.code import code

TRANSACTIONS = Analysis(
    id="transactions",
    title="Transactions",
    summary="Nothing on a card with the built-in map: its messages have no transaction IDs.",
    run=code("freezeframe.analyzers.transactions.analysis_code:run"),
    card_summary="What became of each transaction ID: request, answer, time-out, refusal, and whether all came back.",
    run_card=code("freezeframe.analyzers.card.transactions:run"),
    draws="",
)
