"""The analysis ``credits``: the account of every flow, what became of every credit, and where the books slip.

Source: FORTH 3.5 (credit flow control, its faults, and credits copied into payloads as a witness).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pandas as pd

from freezeframe.analyzers.analysis import (
    AnalysisResult,
    Figure,
    Intervals,
    Series,
)
from freezeframe.analyzers.credits.columns import FlowLedger
from freezeframe.analyzers.credits.copies import copies_of, witness
from freezeframe.analyzers.credits.flights import Flights, flights
from freezeframe.analyzers.credits.flow_history import flow_history
from freezeframe.analyzers.credits.ledger import FlowAccount, credit_accounts
from freezeframe.analyzers.credits.loop import event_ledgers, loop_times_ps, outstanding_points
from freezeframe.analyzers.credits.sent_counts import (
    Loaded,
    SentCounts,
    loaded_packets,
    seen_unit,
    sent_counts,
)
from freezeframe.analyzers.credits.slip import Slip, fullest, outlook, slips
from freezeframe.analyzers.credits.tables import BANK, account_row, account_tables, credit_rows
from freezeframe.analyzers.result_parts import (
    IntervalRow,
    distribution_figures,
    interval_track,
    joined_notes,
)
from freezeframe.analyzers.view import CaptureView
from freezeframe.capture.card.roles import EVENT_LOG

_SLIP_FACTS = (
    3  # words slipped from which on more than the last moment before the freeze must explain them
)


def run(view: CaptureView) -> AnalysisResult:
    """Return the books of all flows, the fate and flight of credits, slips, and what they lead to."""
    audit = _Audit(view)
    accounts = credit_accounts(view)
    by_sender: dict[str, list[Loaded]] = {}
    for account in accounts:
        log = view.flow_log(account.sender)
        if account.sender not in by_sender:
            by_sender[account.sender] = loaded_packets(log) if log is not None else []
        audit.add_flow(account, by_sender[account.sender])
    audit.add_slips(accounts, by_sender)
    audit.add_copies(accounts)
    if not accounts:
        audit.notes.append(
            "No flow of any direction was ever used, or the freeze banks were not read."
        )
    for device in view.names:
        log = view.flow_log(device)
        if log is None or log.gaps or len(log.select("LOSS")):
            audit.notes.append(
                f"{device}: its event log is missing, has gaps or lost events; a credit that it does not hold may "
                "have been there."
            )
    return AnalysisResult(
        "credits",
        tuple(audit.figures),
        tuple(audit.series),
        tuple(track for track in audit.tracks if len(track.t_ps)),
        tables=audit.tables(),
        notes=joined_notes([*audit.notes, *view.switched_off]),
    )


class _Audit:
    """Collects what the result is made of."""

    def __init__(self, view: CaptureView) -> None:
        self.view = view
        self.figures: list[Figure] = []
        self.series: list[Series] = []
        self.tracks: list[Intervals] = []
        self.notes: list[str] = []
        self._rows: list[dict[str, Any]] = []
        self._credits: list[dict[str, Any]] = []
        self._ledgers = {name: event_ledgers(view, name) for name in view.names}

    def add_flow(self, account: FlowAccount, packets: Sequence[Loaded]) -> None:
        """Add the account of one flow of one direction."""
        name = f"{account.direction}.flow{account.flow}"
        label = f"{account.direction} flow {account.flow}"
        counts = sent_counts(self.view, account, packets)
        matched = flights(self.view, account)
        ledger = next(
            (f for f in self._ledgers.get(account.sender, []) if f.flow == account.flow), None
        )
        self.figures += _bank_figures(name, label, account)
        self.figures += self._fate_figures(name, label, account, matched, ledger)
        self.figures += distribution_figures(
            f"{name}.credit_flight", f"{label}, a credit's way", _delays(matched), "ps", matched.doubt_ps,
            "sent to taken, both by event logs" if matched.pairs else "no credit is in both event logs",
        )  # fmt: skip
        loops, error_ps = loop_times_ps(self.view, account, counts)
        self.figures += distribution_figures(
            f"{name}.round_trip", f"{label}, a word's round trip", loops, "ps", error_ps,
            f"from {self.view.roles.tx.exit} to the credit taken, {len(loops)} credits; "
            "the wait in the receiver's FIFO is in it"
            if len(loops)
            else "no credit covers a word of which it is known when it left",
        )  # fmt: skip
        self._outstanding(name, label, account, counts)
        self.tracks.append(_lost_track(name, label, account, matched))
        self._rows.append(account_row(account, matched))
        self._credits += credit_rows(account, matched)
        if matched.lost:
            refused = len(matched.refused)
            self.notes.append(
                f"{label}: {len(matched.lost)} of {len(account.sent_credits)} credits sent were not taken"
                f"{f', {refused} of them refused for their parity or CRC' if refused else ''}. One lost among others "
                "heals itself: the next credit tells the same and more."
            )

    def _fate_figures(
        self,
        name: str,
        label: str,
        account: FlowAccount,
        matched: Flights,
        ledger: FlowLedger | None,
    ) -> Iterator[Figure]:
        both = bool(matched.pairs)
        why = "" if both else "needs credits in the event logs of both ends"
        yield Figure(
            f"{name}.credits.sent",
            f"{label}, credits sent",
            len(account.sent_credits),
            note="in the event log",
        )
        yield Figure(
            f"{name}.credits.taken",
            f"{label}, credits taken",
            len(account.taken_credits),
            note="in the event log",
        )
        yield Figure(
            f"{name}.credits.lost",
            f"{label}, credits lost",
            len(matched.lost) if both else None,
            note=why,
        )
        yield Figure(f"{name}.credits.refused", f"{label}, credits refused", len(matched.refused) if both else None,
                     note=why or "of the lost ones: damaged, by parity or CRC")  # fmt: skip
        yield Figure(f"{name}.credits.altered", f"{label}, credits taken and never sent so",
                     len(matched.foreign) if both else None, note=why)  # fmt: skip
        if ledger is not None:
            yield Figure(
                f"{name}.credits.repeated",
                f"{label}, credits that told nothing new",
                ledger.repeated,
            )
            yield Figure(
                f"{name}.credits.backward",
                f"{label}, credits that told less than before",
                ledger.backward,
            )
            yield Figure(
                f"{name}.credits.step", f"{label}, longest step of a credit", ledger.step, "words"
            )
        unit = seen_unit(account)
        stated = account.credit_unit
        if unit is not None:
            note = (
                "as the card states"
                if unit == stated
                else f"the card states {stated}; every credit in the log told more"
            )
            yield Figure(
                f"{name}.credit_unit",
                f"{label}, words between two credits",
                unit,
                "words",
                note=note,
            )

    def _outstanding(self, name: str, label: str, account: FlowAccount, counts: SentCounts) -> None:
        """Add the words outstanding over time, the most of them, and starts beyond the limit."""
        history = flow_history(self.view, account)
        t_ps, words = outstanding_points(self.view, account, history)
        if len(t_ps) and account.limit is not None:
            self.series.append(
                Series(f"{name}.outstanding", f"{label}, words outstanding", "words", t_ps, words, step=False,
                       limit=float(account.limit), limit_label="start-up credit of the flow",
                       rests_on=_logs(account))
            )  # fmt: skip
            self.figures.append(
                Figure(f"{name}.outstanding.most", f"{label}, most words outstanding", int(words.max()), "words",
                       note=f"at {len(t_ps)} moments at which the books are known; limit {account.limit}")
            )  # fmt: skip
        if history is None or account.limit is None:
            return
        beyond = history.beyond(account.limit)
        wrapped = [start for start in beyond if start.across_wrap]
        self.figures.append(
            Figure(f"{name}.beyond_limit", f"{label}, packets started beyond the limit", len(beyond),
                   note=f"of {len(history.starts)} starts known; {len(wrapped)} of them across a wrap of the counters")
        )  # fmt: skip

    def add_slips(self, accounts: Sequence[FlowAccount], packets: dict[str, list[Loaded]]) -> None:
        """Add slips of the counters over the whole run, and what they lead to; `explain` has the finding."""
        slipped, notes = slips(self.view)
        self.notes += notes
        for slip in slipped:
            rate, low, high = slip.per_packet
            name = f"{slip.device}.{slip.side}.slip"
            self.figures.append(
                Figure(name, f"{slip.device}, words {slip.side} and not so counted", -slip.slipped, "words",
                       note=f"taps saw {slip.crossed}, flows counted {slip.counted}, over {slip.packets} packets")
            )  # fmt: skip
            self.figures.append(
                Figure(f"{name}.rate", f"{slip.device}, slip a packet {slip.side}", rate, "words", (high - low) / 2,
                       f"95 % limits {low:.3g} to {high:.3g}")
            )  # fmt: skip
            if abs(slip.slipped) >= _SLIP_FACTS:
                self._lead(slip, accounts, packets)

    def _lead(
        self, slip: Slip, accounts: Sequence[FlowAccount], packets: dict[str, list[Loaded]]
    ) -> None:
        view = self.view
        sender = slip.device if slip.side == "sent" else view.peer(slip.device)
        mine = [a for a in accounts if a.sender == sender and a.limit]
        sizes = [p.words for p in packets.get(sender or "?", [])]
        limits = [a.limit or 0 for a in mine]
        depth = mine[0].depth if mine else None
        name = f"{slip.device}.{slip.side}.slip"
        if slip.slipped < 0 and slip.side == "sent":
            if limits and depth is not None:
                left = depth - sum(limits) + slip.slipped
                self._ahead(slip, left, f"{name}.overflow_possible", "an overflow is possible: the limits of the flows "
                            f"and the slip are more than the {depth} words of the receiver's FIFO")  # fmt: skip
            peak = fullest(view, mine[0].receiver) if mine else None
            if peak is not None and depth is not None:
                self._ahead(slip, depth - peak, f"{name}.overflow", "the receiver's FIFO overflows, if it is as full "
                            f"then as it was at most ({peak} of {depth} words) and the slip more")  # fmt: skip
        elif limits and sizes:
            left = min(limits) - max(sizes) - abs(slip.slipped)
            self._ahead(
                slip, left, f"{name}.stall", f"no credit is left for a packet of {max(sizes)} words"
            )

    def _ahead(self, slip: Slip, left: int, name: str, what: str) -> None:
        """Add when a slip has used ``left`` words up."""
        ahead = outlook(slip, left)
        if ahead is None:
            return
        until = "never" if math.isinf(ahead.high_s) else f"{1e6 * ahead.high_s:,.1f} us"
        end = "an overflow" if "overflow" in name else "a stall"
        limits = f"95 % limits {1e6 * ahead.low_s:,.1f} us to {until}"
        self.figures.append(
            Figure(
                name,
                f"{slip.device}, time left until this slip ends in {end}",
                round(1e12 * ahead.seconds),
                "ps",
                note=f"{what}: {ahead.words_left} words left at this rate; {limits}",
            )
        )

    def add_copies(self, accounts: Sequence[FlowAccount]) -> None:
        """Add what credits copied into payloads say, where a card copies them."""
        for device in self.view.names:
            stream = self.view.first_sent(device)
            copies = copies_of(stream) if stream is not None else []
            if stream is None or not copies:
                continue
            for code, owner in (("sent", "receiver"), ("taken", "sender")):
                for account in accounts:
                    if getattr(account, owner) != device:
                        continue
                    logged = account.sent_credits if code == "sent" else account.taken_credits
                    mine = [c.freed for c in copies if c.code == code and c.flow == account.flow]
                    if mine:
                        self._add_witness(
                            device, stream.source, account, code, mine, logged.freed.tolist()
                        )

    def _add_witness(
        self,
        device: str,
        source: str,
        account: FlowAccount,
        code: str,
        mine: list[int],
        logged: list[int],
    ) -> None:
        seen = witness(mine, logged)
        name = f"{account.direction}.flow{account.flow}.copies.{code}"
        label = f"{account.direction} flow {account.flow}, credits {code} copied by {device}"
        self.figures.append(
            Figure(
                name,
                label,
                len(mine),
                note=f"in payloads at {source}; {seen.both} agree with the event log",
            )
        )
        for values, what in ((seen.only_copied, "are in payloads and not in the event log"),
                             (seen.only_logged, "are in the event log and in no payload")):  # fmt: skip
            if values:
                self.notes.append(
                    f"{label}: {len(values)} {what}, first the one of {values[0]} words freed."
                )

    def tables(self) -> dict[str, pd.DataFrame]:
        return account_tables(self._rows, self._credits)


def _bank_figures(name: str, label: str, account: FlowAccount) -> Iterator[Figure]:
    """Yield what both freeze banks say, words."""
    for key, text, whose in BANK:
        value = getattr(account, key)
        note = ""
        if value is None:
            ends = {"sender": account.sender, "receiver": account.receiver, "both": "both ends"}
            note = f"not in the capture: needs the freeze bank of {ends[whose]}"
        yield Figure(f"{name}.{key}", f"{label}, {text}", value, "words", note=note)


def _delays(matched: Flights) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    return np.array([taken - sent for sent, taken in matched.pairs_ps], np.int64)


def _logs(account: FlowAccount) -> tuple[str, str]:
    return f"{account.sender}.{EVENT_LOG}", f"{account.receiver}.{EVENT_LOG}"


def _lost_track(name: str, label: str, account: FlowAccount, matched: Flights) -> Intervals:
    """Return, for each lost credit, the time until one that stated as much was taken."""
    sent, taken = account.sent_credits, account.taken_credits
    rows: list[IntervalRow] = []
    for i in matched.lost:
        begin = int(sent.t_ps[i])
        later = [t for s, t in matched.pairs_ps if s >= begin]
        end = min(later, default=int(taken.t_ps[-1]) if len(taken) else begin)
        kind = "credit-refused" if i in matched.refused else "credit-lost"
        text = f"{int(sent.freed[i])} words freed, sent and {'refused' if kind == 'credit-refused' else 'never taken'}"
        rows.append((begin, max(begin, end), kind, text, account.flow, False, not later))
    return interval_track(f"{name}.lost", f"{label}, credits lost", rows, _logs(account))
