"""END's claims about the CIM 250, and its receive livelock, beside profiles ``cim250-*`` and ``livelock-*``.

Source: A. Indiresan, A. Mehra, K. G. Shin, "The END: A Network Adapter Design Tool", sections 4 to 6, table 1, equations (1) to (6).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from freezeframe.gui.cli.work.reproduction_stages import Bench, Row

SIZES = tuple(1 << power for power in range(10, 17))
"""1 to 64 KB: the sizes over which the paper's words are taken; its figures are not in the text."""

_SMALL, _LARGE = 256, 65_536
_SPLIT = 0.6
"""The fit: the part of F_o that leaves the bus to DMA, where the paper prints 1/3; free between 1/3 and 0.6."""


def _at(profile: str, size_B: int, depth: int, **more: Any) -> tuple[str, dict[str, Any]]:
    return profile, {"size_B": size_B, "depth": depth, **more}


def _deeper(bench: Bench, **more: Any) -> float:
    gains = [
        bench.gain(_at("cim250", size, 1, **more), _at("cim250", size, 2, **more)) for size in SIZES
    ]
    return sum(gains) / len(gains)


def _dual(bench: Bench, size_B: int, **more: Any) -> float:
    return bench.gain(_at("cim250", size_B, 2, **more), _at("cim250-dual", size_B, 2, **more))


def _fast(bench: Bench, size_B: int) -> float:
    return bench.gain(_at("cim250", size_B, 1), _at("cim250-fast", size_B, 1))


def _both(bench: Bench, size_B: int) -> float:
    return bench.gain(_at("cim250", size_B, 2), _at("cim250-both", size_B, 2))


def period_us(bench: Bench, size_B: int, depth: int, profile: str = "cim250") -> float:
    """Return the time of a message once the pipeline is full."""
    done = bench.run(profile, size_B=size_B, depth=depth).world.messages["done"]
    half = len(done) // 2
    return float(done[-1] - done[half - 1]) / (len(done) - half) / 1e6


def _period(size_B: int, depth: int, profile: str = "cim250") -> Callable[[Bench], float]:
    return lambda bench: period_us(bench, size_B, depth, profile)


def _t_d_us(size_B: int) -> float:
    """Equation (3)."""
    return math.ceil(size_B / 256) * 1.76 + min(size_B, 4096) * 0.42 + max(0, size_B - 4096) * 0.31


def _t_f_us(size_B: int) -> float:
    """Equation (1)."""
    return 1350 + math.ceil(size_B / 2048) * 79.75


def equation_2(size_B: int) -> float:
    """Return the time of a message at depth 1, us."""
    return 1280 + _t_d_us(size_B) + _t_f_us(size_B)


def equation_5(size_B: int) -> float:
    """Return the time of a message at depth 2, us."""
    return max(_t_d_us(size_B), 1350 / 3) + _t_f_us(size_B) - 1350 / 3


def equation_6(size_B: int) -> float:
    """Return the time of a message with two banks, us."""
    return max(_t_d_us(size_B), _t_f_us(size_B))


def _useful(bench: Bench, profile: str, offered: int) -> float:
    """Return the useful throughput as a share of the best that the plain host does at any load."""
    best = max(
        bench.run("livelock", offered_per_s=rate, messages=20_000).messages_per_s
        for rate in (20_000, 30_000, 40_000)
    )
    return 100 * bench.run(profile, offered_per_s=offered, messages=20_000).messages_per_s / best


FREE: dict[str, float | str] = {"split": _SPLIT, "M_o_us": "cim250-fast"}
"""Parameters of the fits: their values, or the profile that has them."""

ROWS: tuple[Row, ...] = (
    *(
        Row(f"equation-2-{size}", f"fig. 8, depth 1: equation (2), {size:,} B", (equation_2(size),) * 2, "us", "emerges",
            _period(size, 1), "host, DMA and FC one after the other: one token")
        for size in (64, 1024, 4096, 65_536)
    ),
    *(
        Row(f"equation-5-{size}", f"fig. 8, depth 2: equation (5), {size:,} B", (equation_5(size),) * 2, "us", "emerges",
            _period(size, 2), "FC preempts DMA on the memory bus, but for the first third of F_o")
        for size in (4096, 16_384, 65_536)
    ),
    *(
        Row(f"equation-6-{size}", f"fig. 9(b), two banks: equation (6), {size:,} B", (equation_6(size),) * 2, "us", "emerges",
            _period(size, 2, "cim250-dual"), "the slower of DMA and FC alone decides")
        for size in (64, 16_384, 65_536)
    ),
    Row("depth-2", "fig. 8: depth 1 to 2, mean of 1-64 KB", (50, 50), "%", "fit", lambda bench: _deeper(bench, split=_SPLIT),
        "0.6 of F_o off the bus; the printed 1/3 gives 39 %", about=True, fitted=("split",)),
    Row("dual-most", "two banks, depth 2: up to", (28, 28), "%", "fit",
        lambda bench: max(_dual(bench, size, split=_SPLIT) for size in SIZES),
        "the more of F_o leaves the bus, the less two banks add", about=True, fitted=("split",)),
    Row("dual-large-fit", "two banks, depth 2, very large (64 KB), same fit", (17, 17), "%", "fit",
        lambda bench: _dual(bench, _LARGE, split=_SPLIT),
        "DMA alone decides again; how much of a segment DMA repeats once FC took its bus, the text does not say", about=True, fitted=("split",)),
    Row("dual-small", "two banks, depth 2, small (256 B)", (8, 8), "%", "emerges", lambda bench: _dual(bench, _SMALL),
        "DMA no longer waits for FC; at depth 2 and the printed third", about=True),
    Row("dual-large", "two banks, depth 2, very large (64 KB)", (17, 17), "%", "emerges", lambda bench: _dual(bench, _LARGE),
        "the bus carried DMA and FC, now DMA alone", about=True),
    Row("fast-small", "simpler interface, depth 1, 64 B", (12, 15), "%", "fit", lambda bench: _fast(bench, 64),
        "M_o 1280 -> 923 us; the paper gives no new M_o", fitted=("M_o_us",)),
    Row("fast-1k", "simpler interface, depth 1, 1 KB", (12, 15), "%", "fit", lambda bench: _fast(bench, 1024),
        "the same cut of a longer message", fitted=("M_o_us",)),
    Row("both-least", "both, depth 2, 1-64 KB: from", (15, 15), "%", "emerges", lambda bench: min(_both(bench, size) for size in SIZES),
        "64 KB: the interface counts for nothing", about=True),
    Row("both-in-range", "both, depth 2, 1-64 KB: the most", (15, 50), "%", "emerges", lambda bench: max(_both(bench, size) for size in SIZES),
        "2 KB: host and bus together"),
    Row("livelock", "receive livelock: useful at 4 times the load", (0, 10), "% of its best", "emerges", lambda bench: _useful(bench, "livelock", 160_000),
        "interrupts take the processor; the stack's queue overflows", said="falls to zero"),
    Row("livelock-backoff", "the same with interface back-off", (95, 300), "% of its best", "emerges",
        lambda bench: _useful(bench, "livelock-backoff", 160_000), "no interrupt while the stack has work; the adapter's ring overflows", said="no livelock"),
    Row("contradiction-5", "equation (5) at 1 KB: below half of (2), us", None, "us", "contradiction", lambda bench: period_us(bench, 1024, 2),
        f"(5) gives {equation_5(1024):,.0f}, less than {equation_2(1024) / 2:,.0f}: two messages under way cannot be faster"),
    Row("contradiction-6", "equation (6) at 4 KB: below half of (2), us", None, "us", "contradiction",
        lambda bench: period_us(bench, 4096, 2, "cim250-dual"),
        f"(6) gives {equation_6(4096):,.0f}, less than {equation_2(4096) / 2:,.0f}; depth 3 gets there"),
    Row("contradiction-6-gain", "two banks by (6)/(5) at 4 KB", None, "%", "contradiction", lambda bench: _dual(bench, 4096),
        f"the equations give {100 * (equation_5(4096) / equation_6(4096) - 1):.0f} %, the text at most 28 %"),
    Row("contradiction-small", "two banks by (6)/(5), small (256 B)", None, "%", "contradiction", lambda bench: _dual(bench, _SMALL),
        "the equations give 0 %, the text about 8 %"),
    Row("contradiction-fast", "simpler interface, depth 1, 64 KB", None, "%", "contradiction", lambda bench: _fast(bench, _LARGE),
        "12 to 15 % at every size would need a cut of 2,828 us; M_o is 1,280"),
    Row("contradiction-fast-2", "simpler interface, depth 2, 256 B", None, "%", "contradiction",
        lambda bench: bench.gain(_at("cim250", _SMALL, 2), _at("cim250-fast", _SMALL, 2)),
        "(5) and (6) have no M_o, so by them it changes nothing; with both changes the text has 15-50 %"),
)  # fmt: skip
