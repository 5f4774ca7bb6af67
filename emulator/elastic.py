"""Where the synchronization FIFOs of a link run empty or full, over idle rate, difference of clocks, and fill.

The FORTH paper varied the parameters of its transceivers to provoke what it saw (section 3.4): a FIFO that runs empty
repeats its last word, and clocks that differ show only after quite long runs. A point of the map is run twice, with the
sender the faster one by the whole difference and with the receiver; beside it stands what no run can beat.

Source: docs/formats.md section 3.1, rules 2 and 3; FORTH paper, sections 2.1 and 3.4.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from freezeframe.capture.errors import InputError
from freezeframe.emulator.elastic_kernels import (
    COLUMN,
    CORRECTED,
    FIRST,
    GROUP_COLUMNS,
    GROUPS,
    SLIPS,
    run_fifo,
)
from freezeframe.emulator.packet import FRAME_WORDS
from freezeframe.emulator.profile import MOST_SKEW_CYCLES, Profile

_PS_PER_S = 10**12
_PPB = 1_000
_EVERY = 1024  # columns between correction groups, by the link's rule 2
_MOST_COLUMNS = 10**13  # of a run: a day of a link of 100 MHz, so that no level leaves 63 bits

RANGES: dict[str, tuple[int, int]] = {
    "idle_every": (0, 1 << 30),
    "ppm": (0, 100_000),
    "fill": (1, 1024),
    "skew": (0, MOST_SKEW_CYCLES),
    "run_us": (1, 86_400_000_000),
    "seed": (0, (1 << 62) - 1),
}
"""What can be set, with its range: columns after which the next gap has a correction group (0: none), difference of the
two link clocks, shares in a FIFO before words are read (it holds twice as many), how far the latest lane is behind,
how long to run, and the seed of the packets' lengths.
"""

MAP = {
    "idle_every": "0,1024,4096,16384,65536",
    "ppm": "25,50,100,200,400,1000",
    "fill": "2,4,16,64",
}
"""What is swept where nothing is said."""


class End(NamedTuple):
    """What became of a FIFO. ``first_us``: until it first slipped, None where it did not.

    ``earliest_us``: no run can slip before; None: never. ``verdict``: what follows without a run: ``holds``, ``slips``,
    or empty where the lengths of packets decide.
    """

    first_us: float | None
    slips: int
    corrected: int
    groups: int
    earliest_us: float | None
    verdict: str


@dataclass(frozen=True, slots=True)
class Point:
    """One point of the map: its settings, the FIFO that is read too fast and the one that is read too slowly."""

    settings: dict[str, Any]
    empty: End
    full: End

    @property
    def verdict(self) -> str:
        """``holds``, ``empty``, ``full`` or ``both``: which of the two slipped."""
        slipped = [name for name, end in (("empty", self.empty), ("full", self.full)) if end.slips]
        return "both" if len(slipped) == 2 else slipped[0] if slipped else "holds"

    @property
    def first_us(self) -> float | None:
        """Return until the first of the two slipped; None where neither did."""
        firsts = [end.first_us for end in (self.empty, self.full) if end.first_us is not None]
        return min(firsts, default=None)

    def to_json(self) -> dict[str, Any]:
        return {
            "settings": self.settings,
            "verdict": self.verdict,
            "first_us": self.first_us,
            "empty": self.empty._asdict(),
            "full": self.full._asdict(),
        }


def defaults(profile: Profile) -> dict[str, int]:
    """Return the settings that a profile stands for: the worst pair of its crystals, the link's rule for idles."""
    return {
        "idle_every": _EVERY,
        "ppm": 2 * profile.clocks_deviation_ppm,
        "fill": profile.link_sync_fill_halves,
        "skew": profile.link_lane_skew_cycles,
        "run_us": 1_000_000,
        "seed": 1,
    }


def run_point(profile: Profile, settings: Mapping[str, Any]) -> Point:
    """Run one point.

    Raises:
        InputError: an unknown setting, one that is no whole number in its range, a skew that the FIFO cannot hold, or a
            run of more columns than can be counted.
    """
    said = defaults(profile) | dict(settings)
    for key, value in said.items():
        if key not in RANGES:
            raise InputError(f"{key}: the map of lanes has {', '.join(RANGES)}")
        low, high = RANGES[key]
        if type(value) is not int or not low <= value <= high:
            raise InputError(f"{key} = {value!r}; it must be a whole number {low}..{high}")
    if said["skew"] > said["fill"]:
        raise InputError(
            f"skew = {said['skew']} is more than fill = {said['fill']}: the FIFO of the earliest lane would be full "
            "before the latest has begun"
        )
    columns = said["run_us"] * profile.clocks_link_hz // 1_000_000
    if columns > _MOST_COLUMNS:
        raise InputError(
            f"run_us = {said['run_us']}: {columns:,} columns; a run has at most {_MOST_COLUMNS:,}"
        )
    # When words are read the latest lane has `fill` shares, and the earliest the skew more.
    below, above = said["fill"], said["fill"] - said["skew"]
    ends = [_end(profile, said, sign, below, above, columns) for sign in (-1, 1)]
    return Point(dict(settings), *ends)


def _end(
    profile: Profile, said: Mapping[str, int], sign: int, below: int, above: int, columns: int
) -> End:
    drift, every = sign * said["ppm"] * _PPB, said["idle_every"]
    longest = profile.fifo_message_words + FRAME_WORDS
    numbers: Any = [
        np.int64(value)
        for value in (
            drift, every, longest, profile.link_gap_cycles, below * COLUMN, above * COLUMN, columns, said["seed"],
        )
    ]  # fmt: skip
    told = run_fifo(*numbers)
    us = 1_000_000 / profile.clocks_link_hz
    first = int(told[FIRST])
    margin = above if sign > 0 else below
    return End(
        None if first < 0 else first * us,
        int(told[SLIPS]),
        int(told[CORRECTED]),
        int(told[GROUPS]),
        margin * COLUMN / abs(drift) * us if drift else None,
        foretold(abs(drift), every, longest, profile.link_gap_cycles, margin),
    )


def foretold(drift: int, every: int, longest: int, gap: int, margin: int) -> str:
    """Return what follows from the numbers alone: ``holds``, ``slips``, or empty where packets' lengths decide.

    A group takes out or puts in one column. Groups are at least ``every`` + 3 columns apart, and at most so many more
    as a gap and a packet that begins just before have. Where the clocks drift by no more than a column over the
    longest distance, the level is never more than a column and one distance's drift away: a FIFO of that holds.
    Where they drift by more than a column over the shortest, nothing holds for ever.

    Args:
        drift: 10^-9 columns that the clocks differ by in each; margin: columns that the FIFO has on that side.
    """
    if not drift:
        return "holds"
    if not every:
        return "slips"
    shortest = every + GROUP_COLUMNS
    farthest = every - 1 + gap + longest + GROUP_COLUMNS
    if drift * farthest <= COLUMN and COLUMN + drift * farthest <= margin * COLUMN:
        return "holds"
    return "slips" if drift * shortest > COLUMN else ""


def sure_us(point: Point) -> float | None:
    """Return the earliest that any run of these settings can slip, in microseconds; None: never."""
    earliest = [
        end.earliest_us
        for end in (point.empty, point.full)
        if end.verdict != "holds" and end.earliest_us is not None
    ]
    return min(earliest, default=None)
