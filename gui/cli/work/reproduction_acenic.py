"""Speculative defragmentation on the AceNIC: the paper's trials beside profiles ``acenic`` and ``acenic-speculative``.

Source: B. Krishnamurthy, S. Tamma, Q. S. Kareemullah, V. K. Doshi, "Implementation of speculative defragmentation for UDP using
programmable Alteon Acenic NIC" (2003), figures 1 and 3 to 5.
"""

from __future__ import annotations

from statistics import fmean

from freezeframe.emulator.adapter.outcome import Outcome
from freezeframe.gui.cli.work.reproduction_stages import Bench, Row

# Throughput in Mbit/s and processor load in % of ten trials: the original module at an MTU of 1500 and 4096, then the modified one.
_RATE = (802, 796.6, 802, 797.5, 798, 798.1, 792.4, 809.8, 787.6, 811)
_LOAD = (41.9, 38.57, 39.93, 42.52, 42.64, 42.43, 43.84, 41.58, 47.08, 45.09)
_RATE_4096 = (942.9, 914.3, 935.7, 930, 885.5, 923.8, 917.6, 936.7, 922.7, 923.8)
_LOAD_4096 = (50.43, 48.99, 51.53, 47.53, 59.38, 63.93, 56.3, 58.34, 51.3, 50.48)
_RATE_NEW = (790.2, 799, 795.4, 795.9, 780, 798.1, 801.2, 805.6, 799.2, 799.6)
_LOAD_NEW = (35.6, 34.88, 37.2, 39.6, 36.34, 40.66, 38.85, 42.32, 41.76, 43.22)
_RATE_NEW_4096 = (942.9, 914.3, 935.7, 930, 885.5, 923.8, 917.6, 936.7, 922.7, 923.8)

_DATAGRAM_B = 4906
FREE: dict[str, float | str] = dict.fromkeys(
    ("pci_MBps", "frame_us", "descriptor_us", "byte_ns"), "acenic"
)
"""Parameters of the fit: their values, or the profile that has them."""
_FITTED = tuple(FREE)


def _mbit(outcome: Outcome) -> float:
    return outcome.messages_per_s * _DATAGRAM_B * 8 / 1e6


def _load(outcome: Outcome) -> float:
    return 100 * next(part.share for part in outcome.occupied() if part.label == "cpu@1")


def _per_datagram_us(rate: tuple[float, ...], load: tuple[float, ...]) -> float:
    """Return the processor time of a datagram that the paper's own columns come to."""
    return fmean(load) / 100 / (fmean(rate) * 1e6 / 8 / _DATAGRAM_B) * 1e6


def _mean(values: tuple[float, ...]) -> tuple[float, float]:
    return fmean(values), fmean(values)


def _descriptors(bench: Bench, datagram_B: int) -> float:
    """Return the descriptors, each with its interrupt, of the changed firmware by those of the original."""
    jobs = [
        bench.run(name, datagram_B=datagram_B).stage("host")["jobs"]
        for name in ("acenic", "acenic-speculative")
    ]
    return jobs[1] / jobs[0]


ROWS: tuple[Row, ...] = (
    Row("rate-1500", "MTU 1500, original: mean of ten trials", _mean(_RATE), "Mbit/s", "fit", lambda bench: _mbit(bench.run("acenic")),
        "the sender's PCI bus: its bytes, and 3 us beside them for each of four frames", fitted=_FITTED),
    Row("rate-1500-new", "MTU 1500, modified", _mean(_RATE_NEW), "Mbit/s", "emerges", lambda bench: _mbit(bench.run("acenic-speculative")),
        "the sender still decides; the receiver's copy fits beside it"),
    Row("rate-same", "modified by original: the same throughput", (1, 1), "", "emerges",
        lambda bench: _mbit(bench.run("acenic-speculative")) / _mbit(bench.run("acenic")), "conclusion of the paper"),
    Row("rate-4096", "MTU 4096, original", _mean(_RATE_4096), "Mbit/s", "fit", lambda bench: _mbit(bench.run("acenic", mtu_B=4096)),
        "two frames on a bus of 32 bit at 33 MHz; on each faster one the wire decides, at 974", fitted=_FITTED),
    Row("load-1500", "MTU 1500, original: processor load", _mean(_LOAD), "%", "fit", lambda bench: _load(bench.run("acenic")),
        "four descriptors a datagram and its bytes", about=True, fitted=_FITTED),
    Row("load-1500-new", "MTU 1500, modified", _mean(_LOAD_NEW), "%", "fit", lambda bench: _load(bench.run("acenic-speculative")),
        "4/3 descriptors a datagram", about=True, fitted=_FITTED),
    Row("load-4096", "MTU 4096, original", _mean(_LOAD_4096), "%", "fit", lambda bench: _load(bench.run("acenic", mtu_B=4096)),
        "two descriptors a datagram, more datagrams", about=True, fitted=_FITTED),
    Row("load-less", "load, modified by original: lower", (fmean(_LOAD_NEW) / fmean(_LOAD),) * 2, "", "fit",
        lambda bench: _load(bench.run("acenic-speculative")) / _load(bench.run("acenic")), "fewer descriptors and interrupts", fitted=_FITTED),
    Row("interrupts", "interrupts of a datagram of 3 frames: a third", (1 / 3, 1 / 3), "", "emerges", lambda bench: _descriptors(bench, 4000),
        "three frames, one descriptor"),
    Row("same-column", "MTU 4096: trials equal to the digit in both tables", None, "of 10", "contradiction",
        lambda bench: float(sum(a == b for a, b in zip(_RATE_4096, _RATE_NEW_4096, strict=True))),
        "ten runs of another firmware do not repeat ten throughputs: copied, not measured"),
    Row("dearer", "processor time of a datagram of 2 frames by one of 4", None, "", "contradiction",
        lambda bench: _per_datagram_us(_RATE_4096, _LOAD_4096) / _per_datagram_us(_RATE, _LOAD),
        "fewer frames and interrupts cost more, against the conclusion that interrupts are what costs"),
    Row("overflow", "three full frames in a buffer of 4096 B", None, "B", "contradiction", lambda bench: float(1514 + 1500 + 1164),
        "the paper's buffer overflows with the datagram it was made for"),
    Row("straddles", "frames of a datagram of -m 4906", None, "", "contradiction", lambda bench: (_DATAGRAM_B + 8) / 1480,
        "groups of three straddle datagrams of 3.3 frames: the guess is wrong most of the time"),
)  # fmt: skip
