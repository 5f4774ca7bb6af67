"""What the host may write into a card's registers, as the card acts on it."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from freezeframe.capture.registers.layouts import Cause
from freezeframe.emulator.profile import Profile

_ALL_CAUSES = sum(1 << cause for cause in Cause)


@dataclass(slots=True)
class Config:
    """The values of the writable registers; see the register map."""

    stall_limit: int
    snapshot_log2: int
    sample_period: int
    # The driver masks sync-unf: an underflow must be found by what it does to the words.
    cause_mask: int = _ALL_CAUSES & ~(1 << Cause.SYNC_UNF)
    hold: bool = True
    select_tap: int = 0
    index_record: int = 0
    index_memory: int = 0
    rx_stop: bool = False
    loopback: bool = False
    traffic_on: bool = False
    traffic_flow: int = 0
    traffic_length: int = 0
    traffic_gap: int = 0
    traffic_seed: int = 0
    inject_buffer: npt.NDArray[np.uint32] = field(
        default_factory=lambda: np.zeros(2048, dtype=np.uint32)
    )

    @classmethod
    def of(cls, profile: Profile) -> Config:
        """Return what the driver has set after power-up."""
        return cls(
            profile.trace_stall_limit_cycles,
            profile.trace_snapshot_log2,
            profile.trace_sample_period_cycles,
        )
