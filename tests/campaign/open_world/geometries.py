"""Random valid cards by seed, as profiles of the pair: clocks, crystals, FIFOs, credits, flows, sizes, memories."""

from __future__ import annotations

import random
from typing import Any

_HZ = (40_000_000, 66_000_000, 78_125_000, 100_000_000, 125_000_000, 156_250_000, 250_000_000)
_DEPTHS = (256, 512, 1024, 2048, 4096, 8192)
_MESSAGES = (1, 4, 16, 64, 256, 512)
_PPM = (0, 20, 100, 100, 300, 1000)


def geometry(seed: int) -> dict[str, dict[str, Any]]:
    """Return the sections of the profile of a seed, which extends ``forth``."""
    draw = random.Random(f"geometry {seed}")
    message = draw.choice(_MESSAGES)
    whole = message + 3
    tap = max(draw.choice(_DEPTHS), _power(2 * whole))
    tx = draw.randint(whole, max(whole, tap // 2))
    active = draw.choice((1, 1, 2, 2, 3, 4, 8))
    # A flow's share holds a message beside the credit unit; some FIFOs are deeper than every memory.
    share = draw.choice((2 * whole, 3 * whole, 4 * whole, max(2 * whole, 2 * tap // active)))
    unit = draw.randint(
        1, max(1, share // 4)
    )  # above half of it the card has the fault credit-too-coarse
    event = draw.choice((512, 1024, 2048, 4096))
    bus, link = draw.choice(_HZ), draw.choice(_HZ)
    return {
        "clocks": {"bus_hz": bus, "link_hz": link, "deviation_ppm": draw.choice(_PPM)},
        "fifo": {
            "tx_words": max(16, tx),
            "rx_words": max(16, share * active + draw.randrange(active)),
            "message_words": message,
        },
        "flows": {
            "count": max(active, draw.choice((1, 8, 16, 64))),
            "active": active,
            "credit_unit_words": unit,
        },
        "trace": {
            "tap_depth": tap,
            "event_depth": event,
            "chunk_records": max(tap, event) // 64 if max(tap, event) > 64 * 64 else 64,
            "post": draw.choice((16, 64, 256)),
            "sample_period_cycles": draw.choice((128, 1024, 4096)),
            "sync_period_cycles": draw.choice((512, 4096, 16_384)),
            "cross_latency_cycles": draw.choice((8, 32, 200)),
        },
        "link": {
            "latency_ps": draw.choice((10_000, 320_000, 2_000_000)),
            "gap_cycles": draw.choice((1, 2, 8)),
        },
        "bus": {
            "retries_ppm": draw.choice((0, 20_000, 100_000)),
            "disconnects_ppm": draw.choice((0, 20_000, 100_000)),
            "outstanding_reads": draw.choice((1, 1, 2, 4)),
        },
        "host": {
            "interrupt_latency_ns": draw.choice((500, 2_000, 20_000)),
            "combining_words": draw.choice((0, 8)),
        },
    }


def as_toml(sections: dict[str, dict[str, Any]]) -> str:
    """Return the profile as the text of a file."""
    lines = ['extends = "forth"']
    for name, keys in sections.items():
        lines += [f"[{name}]", *(f"{key} = {value}" for key, value in keys.items())]
    return "\n".join(lines) + "\n"


def _power(least: int) -> int:
    return 1 << (least - 1).bit_length()
