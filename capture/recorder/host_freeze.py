"""Cards are frozen for what the host has seen, and how long that took."""

from __future__ import annotations

import time
from collections.abc import Sequence

from freezeframe.capture.custody.host_rules import Fired
from freezeframe.capture.recorder.control import freeze_at_once
from freezeframe.capture.registers.access import Recorder


def freeze_now(running: Sequence[tuple[Recorder, int]], since_ns: int) -> str:
    """Freeze recorders that run, each in its generation, and say how long after an instant of the monotonic clock each
    was seen to have stopped."""
    took = []
    for device, generation in running:
        freeze_at_once(device, generation)
        took.append(f"{device.name} frozen after {(time.monotonic_ns() - since_ns) / 1e6:.1f} ms")
    return ", ".join(took)


def fired_words(fired: Fired) -> str:
    """Return what the host has seen, and within how long of it."""
    within_ms = max(0, fired.seen_ns - fired.after_ns) / 1e6
    return f"the host saw {fired.text} (within {within_ms:.0f} ms)"
