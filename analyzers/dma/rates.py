"""How fast words move at a tap while they move: the peak of the DMA engine and of the link, from the words.

The longest stretch of words in consecutive cycles is a burst. Its rate is that of its own first and last
word, so it holds what the clock really did, not its nominal value.

Source: FORTH paper, section 2.6 (762.9 and 596 MB/s, MB = 2^20 bytes: MiB/s here).
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from freezeframe.analyzers.analysis import Figure
from freezeframe.analyzers.time_alignment import Moments, span_uncertainty_ps
from freezeframe.analyzers.view import CaptureView
from freezeframe.capture.registers.layouts import Kind
from freezeframe.capture.timebase import PS_PER_S

Int64 = npt.NDArray[np.int64]

_WORD_B = 8
_MB = 1 << 20
_LEAST_WORDS = 16  # a shorter burst says more of how packets are cut than of how fast words move


def longest_burst(cycle: Int64) -> tuple[int, int]:
    """Return the half-open rows of the longest run of consecutive cycles, the first of equals.

    Args:
        cycle: ``(n,)`` int64, rising. Without words it is (0, 0).
    """
    if not len(cycle):
        return 0, 0
    edges = np.flatnonzero(np.diff(cycle) != 1) + 1
    begins = np.concatenate([[0], edges])
    ends = np.concatenate([edges, [len(cycle)]])
    at = int(np.argmax(ends - begins))
    return int(begins[at]), int(ends[at])


def rate_figures(view: CaptureView, device: str) -> list[Figure]:
    """Return the peak rate at each tap of a device that recorded a burst of some length."""
    figures, roles = [], view.roles
    for tap, label in (
        (roles.tx.entry, "data read from the host"),
        (roles.tx.exit, "words sent to the link"),
        (roles.rx.entry, "words taken from the link"),
        (roles.rx.exit, "words written to the host"),
    ):
        stream = view.stream(device, tap)
        if stream is None:
            continue
        data = np.flatnonzero(stream.kind == int(Kind.BODY))
        rows = data if tap == roles.tx.entry else np.arange(len(stream))
        begin, end = longest_burst(stream.cycle[rows])
        if end - begin < _LEAST_WORDS:
            continue
        first, last = int(rows[begin]), int(rows[end - 1])
        span_ps = int(stream.t_ps[last] - stream.t_ps[first])
        words = end - begin
        rate = (words - 1) * _WORD_B / _MB * PS_PER_S / span_ps
        domain = roles.domain_of[tap]
        ends = [
            Moments(device, domain, stream.t_ps[[i]], stream.t_unc_ps[[i]]) for i in (first, last)
        ]
        error_ps = int(span_uncertainty_ps(view.trace.timebase, ends[0], ends[1])[0])
        figures.append(
            Figure(
                f"{device}.{tap}.peak", f"{device} {label}, peak", rate, "MiB/s",
                rate * error_ps / span_ps,
                f"{words} words in consecutive cycles",
            )
        )  # fmt: skip
    return figures
