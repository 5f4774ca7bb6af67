"""How long a word is outstanding, how many were, and the ledger of a sender's events.

Both are read at the sender alone, so no other card's clock enters: words by tx_deq, credits by the event log.
"""

from __future__ import annotations

import itertools

import numpy as np
import numpy.typing as npt

from freezeframe.analyzers.credits.columns import (
    REFUSED,
    SENT,
    TAKEN,
    ColumnLedger,
    FlowLedger,
    LedgerBatch,
)
from freezeframe.analyzers.credits.flow_history import FlowHistory
from freezeframe.analyzers.credits.ledger import FlowAccount, departures
from freezeframe.analyzers.credits.sent_counts import CROSSING_BUS, CROSSING_LINK, SentCounts
from freezeframe.analyzers.view import CaptureView
from freezeframe.capture.registers.layouts import CREDIT_FREED_LSB, CREDIT_FREED_MASK

Int64 = npt.NDArray[np.int64]

_CODES = {"taken": TAKEN, "refused_parity": REFUSED, "refused_crc": REFUSED}


def event_ledgers(view: CaptureView, device: str) -> list[FlowLedger]:
    """Return the ledger of every flow a card sends on, by its event log and tx_deq; empty without the log."""
    log, capture = view.flow_log(device), view.device(device)
    if log is None or capture is None or not 2 <= capture.identity.flows_credit_w <= 24:
        return []
    at = log.select("CREDIT", *_CODES)
    credits = [
        (int(log.t_ps[i]), int(log.flow[i]), _CODES[str(log.code[i])],
         int(log.value[i]) >> CREDIT_FREED_LSB & CREDIT_FREED_MASK)
        for i in at.tolist()
    ]  # fmt: skip
    words = [(d.t_ps, d.flow, SENT, d.words) for d in departures(view, device)]
    rows = sorted([*credits, *words])
    columns = np.array(rows, np.int64).reshape(-1, 4)
    ledger = ColumnLedger(
        max(1, min(128, capture.identity.flows_count)), capture.identity.flows_credit_w
    )
    batch = LedgerBatch(
        columns[:, 1].astype(np.uint8),
        columns[:, 2].astype(np.uint8),
        columns[:, 3].astype(np.int32),
    )
    return ledger.finish(ledger.step(ledger.init(), batch))


def loop_times_ps(
    view: CaptureView, account: FlowAccount, counts: SentCounts
) -> tuple[Int64, float | None]:
    """Return, for each credit taken, how long ago the last word it covers had left tx_deq, and the error of that.

    Only credits that cover a word of a packet in the memory of tx_deq. The error is that of the two domains of the
    sender, with what an event is stamped late.
    """
    modulus, base = account.modulus, counts.base
    stream, log = view.stream(account.sender, view.roles.tx.exit), view.flow_log(account.sender)
    if modulus is None or base is None or stream is None or log is None or not len(stream):
        return np.empty(0, np.int64), None
    before = dict(
        zip(
            (p.seq for p in counts.packets),
            itertools.accumulate((p.words for p in counts.packets), initial=0),
            strict=False,
        )
    )
    left = [
        ((base + before[d.seq]) % modulus, d.words, d.t_ps)
        for d in departures(view, account.sender)
        if d.flow == account.flow and d.seq in before
    ]
    word_ps = view.cycles_ps(account.sender, link=1000) / 1000
    times_ps = []
    taken = account.taken_credits
    for freed, t_ps in zip(taken.freed.tolist(), taken.t_ps.tolist(), strict=True):
        for start, words, left_ps in reversed(left):
            last = (freed - 1 - start) % modulus
            if last < words and left_ps <= t_ps:
                times_ps.append(t_ps - left_ps - round(last * word_ps))
                break
    unc = np.concatenate([stream.t_unc_ps, log.t_unc_ps])
    if bool((unc < 0).any()):
        return np.array(times_ps, np.int64), None
    late_ps = view.cycles_ps(account.sender, bus=CROSSING_BUS // 2)
    return np.array(times_ps, np.int64), float(stream.t_unc_ps.max() + log.t_unc_ps.max() + late_ps)


def outstanding_points(
    view: CaptureView, account: FlowAccount, history: FlowHistory | None
) -> tuple[Int64, Int64]:
    """Return times and words outstanding wherever the sender's books are known.

    At the beginning and end of back-pressure (the limit less the free words seen; a free of 0 may stand for less and
    is left out), and with each packet that started, its words with it.
    """
    log = view.flow_log(account.sender)
    points: dict[int, int] = {}
    if log is not None and account.limit is not None:
        for i in log.select("PRESSURE", "begin", "end", flow=account.flow).tolist():
            free = int(log.value[i])
            if 0 < free <= account.limit:
                points[int(log.t_ps[i])] = account.limit - free
    if history is not None:
        crossing_ps = view.cycles_ps(account.sender, link=CROSSING_LINK)
        for start in history.starts:
            points[start.departure.t_ps + crossing_ps] = start.outstanding
    times = sorted(points)
    return np.array(times, np.int64), np.array([points[t] for t in times], np.int64)
