"""The loop of the credit ledger over columns of events, at memory speed.

Numba compiles it on first use and keeps the result; importing this module is what costs, so import it where it
is used.
"""

from __future__ import annotations

from typing import no_type_check

import numpy as np
from numba import njit

SENT, TAKEN = 0, 1
"""Events: words sent (value: how many), a credit taken (value: words freed, wrapped); 2 is a credit refused."""

WORDS, CREDITS, CREDITED, REPEATED, BACKWARD, REFUSED, FIRST, LAST, EARLY, NET, PEAK, LOW, STEP = (
    range(13)
)
"""Columns of a flow's row.

WORDS sent; CREDITS taken; CREDITED words, the sum of steps forward; REPEATED credits that brought nothing new; BACKWARD
credits that stated less than the one before; REFUSED credits; FIRST and LAST value; EARLY: words sent before the first
credit; NET: words sent less words credited since the first credit; PEAK and LOW: the most and least NET was, the
words at each packet's start with it; STEP: the longest step of a credit, in words.
"""


@njit(cache=True, nogil=True)
@no_type_check
def scan(flow, event, value, mask, rows):
    """Take events into the rows of their flows.

    Args:
        flow, event: ``(n,)`` uint8; value: ``(n,)`` int32.
        mask: 2^credit_w - 1; a step of half of it or more is one backward.
        rows: ``(flows, 13)`` int64, a row for each flow, changed. A flow beyond them is not looked at.
    Returns:
        events of flows beyond the rows.
    """
    flows = rows.shape[0]
    half = (mask + 1) >> 1
    beyond = np.int64(0)
    for i in range(flow.size):
        f = flow[i]
        if f >= flows:
            beyond += 1
            continue
        row = rows[f]
        v = np.int64(value[i])
        what = event[i]
        if what == SENT:
            row[WORDS] += v
            if row[CREDITS] == 0:
                row[EARLY] += v
            else:
                net = row[NET] + v
                row[NET] = net
                row[PEAK] = max(row[PEAK], net)
        elif what == TAKEN:
            v &= mask
            if row[CREDITS] == 0:
                row[FIRST] = v
            else:
                step = (v - row[LAST]) & mask
                if step == 0:
                    row[REPEATED] += 1
                elif step >= half:
                    row[BACKWARD] += 1
                    step -= mask + 1
                net = row[NET] - step
                row[CREDITED] += step
                row[NET] = net
                row[PEAK] = max(row[PEAK], net)
                row[LOW] = min(row[LOW], net)
                row[STEP] = max(row[STEP], step)
            row[LAST] = v
            row[CREDITS] += 1
        else:
            row[REFUSED] += 1
    return beyond
