"""The credit ledger over columns of events: one state for a capture, a long archive, or pieces of it.

What a sender's log and tx_deq tell is a stream of words sent and credits taken. Counts in credits are cumulative and
wrap, so a stretch needs of its neighbour only the last credit before it; everything else adds up.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from freezeframe.analyzers.credits import kernels as k
from freezeframe.analyzers.credits.kernels import scan

Int64 = npt.NDArray[np.int64]
Bytes = npt.NDArray[np.uint8]

SENT, TAKEN, REFUSED = 0, 1, 2
"""What an event is: words sent, a credit taken, a credit refused."""

_COLUMNS = 13


@dataclass(frozen=True, slots=True, eq=False)
class LedgerBatch:
    """Events of one sender in order: ``flow`` and ``event`` ``(n,)`` uint8, ``value`` ``(n,)`` int32.

    ``value``: words of the packet for SENT, words freed as the credit says for TAKEN, anything for REFUSED.
    """

    flow: Bytes
    event: Bytes
    value: npt.NDArray[np.int32]


@dataclass(frozen=True, slots=True, eq=False)
class LedgerState:
    """``rows``: ``(flows, 13)`` int64 as of the kernel; ``beyond``: events of flows the card does not have."""

    rows: Int64
    beyond: int = 0


@dataclass(frozen=True, slots=True)
class FlowLedger:
    """One flow's account over a stretch.

    Attributes:
        words: sent. credits: taken. credited: words that the credits stated more than the first one.
        repeated: credits that brought nothing new. backward: credits that stated less than the one before.
        refused: credits refused. first, last: values of the first and last credit; None without one.
        net: words sent less words credited, since the first credit.
        peak, low: the most and the least that net ever was, so the most outstanding is what was outstanding at
            the first credit, plus peak.
        step: words of the longest step of a credit.
    """

    flow: int
    words: int
    credits: int
    credited: int
    repeated: int
    backward: int
    refused: int
    first: int | None
    last: int | None
    net: int
    peak: int
    low: int
    step: int


class ColumnLedger:
    """Ledgers of all flows of one sender; ``merge`` takes neighbours in order, in any grouping."""

    def __init__(self, flows: int, credit_w: int) -> None:
        """Take the sender's shape.

        Args:
            flows: flows with a row of their own, 1..128.
            credit_w: bits of a credit count, 2..24.
        Raises:
            ValueError: one of them is out of range.
        """
        if not 1 <= flows <= 128 or not 2 <= credit_w <= 24:
            raise ValueError(
                f"flows {flows} (1..128) or credit_w {credit_w} (2..24) is out of range"
            )
        self.flows = flows
        self.mask = (1 << credit_w) - 1

    def init(self) -> LedgerState:
        return LedgerState(np.zeros((self.flows, _COLUMNS), np.int64))

    def step(self, state: LedgerState, batch: LedgerBatch) -> LedgerState:
        """Take the events of a stretch into a new state.

        Raises:
            ValueError: columns of other types, or of different lengths.
        """
        wanted = ((batch.flow, np.uint8), (batch.event, np.uint8), (batch.value, np.int32))
        if any(c.dtype != kind or c.shape != (len(batch.flow),) for c, kind in wanted):
            raise ValueError(
                "ledger columns are flow uint8, event uint8, value int32, of one length"
            )
        rows = state.rows.copy()
        beyond = int(scan(batch.flow, batch.event, batch.value, np.int64(self.mask), rows))
        return LedgerState(rows, state.beyond + beyond)

    def merge(self, states: Sequence[LedgerState]) -> LedgerState:
        whole = self.init()
        for state in states:
            whole = LedgerState(self._joined(whole.rows, state.rows), whole.beyond + state.beyond)
        return whole

    def finish(self, state: LedgerState) -> list[FlowLedger]:
        """Return the ledgers of the flows that anything is known of."""
        ledgers = []
        for flow, row in enumerate(state.rows.tolist()):
            if row[k.WORDS] or row[k.CREDITS] or row[k.REFUSED]:
                known = row[k.CREDITS] > 0
                ledgers.append(
                    FlowLedger(
                        flow, row[k.WORDS], row[k.CREDITS], row[k.CREDITED], row[k.REPEATED], row[k.BACKWARD],
                        row[k.REFUSED], row[k.FIRST] if known else None, row[k.LAST] if known else None,
                        row[k.NET], row[k.PEAK], row[k.LOW], row[k.STEP],
                    )
                )  # fmt: skip
        return ledgers

    def _joined(self, left: Int64, right: Int64) -> Int64:
        """Join two neighbouring stretches: all that is between them is the step of the first credit on the right."""
        joined = left + right  # sums; what is not a sum follows
        before, after = left[:, k.CREDITS] > 0, right[:, k.CREDITS] > 0
        step = (right[:, k.FIRST] - left[:, k.LAST]) & self.mask
        both = before & after
        back = both & (step >= (self.mask + 1) >> 1)
        joined[:, k.REPEATED] += both & (step == 0)
        joined[:, k.BACKWARD] += back
        step = np.where(both, step - back * (self.mask + 1), 0)
        joined[:, k.FIRST] = np.where(before, left[:, k.FIRST], right[:, k.FIRST])
        joined[:, k.LAST] = np.where(after, right[:, k.LAST], left[:, k.LAST])
        joined[:, k.EARLY] = left[:, k.EARLY] + np.where(before, 0, right[:, k.EARLY])
        joined[:, k.CREDITED] += step
        # From the first credit on the right, its own account goes on from here.
        reached = left[:, k.NET] + np.where(before, right[:, k.EARLY], 0)
        start = reached - step
        joined[:, k.NET] = np.where(after, start + right[:, k.NET], reached)
        inner = np.where(after, start + right[:, k.PEAK], reached)
        joined[:, k.PEAK] = np.maximum(np.maximum(left[:, k.PEAK], reached), inner)
        low = np.where(after, start + right[:, k.LOW], reached)
        joined[:, k.LOW] = np.minimum(left[:, k.LOW], low)
        joined[:, k.STEP] = np.maximum(np.maximum(left[:, k.STEP], right[:, k.STEP]), step)
        return joined
