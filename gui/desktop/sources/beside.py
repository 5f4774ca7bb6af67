"""Where packets and recorded counters stand beside other sources: by the wall clocks of both, and how sure that is."""

from __future__ import annotations

from collections.abc import Sequence

from freezeframe.capture.time_text import format_ps
from freezeframe.gui.desktop.sources.opened import Opened

_FAR_NS = 24 * 3600 * 10**9
_DATED = ("packets", "recording", "capture")
_BY_HAND = "Ctrl+Shift+T gives it an offset"


def place_by_clock(new: Opened, others: Sequence[Opened]) -> None:
    """Give a new source the offset at which its wall clock agrees with that of the first one that has one.

    Only where one of the two holds packets or counters of a machine: recordings of cards are compared from their own
    zeros. What was done, or why nothing could be, is a remark.
    """
    fit = [each for each in others if each.kind in _DATED and {each.kind, new.kind} != {"capture"}]
    if new.kind not in _DATED or not fit:
        return
    dated = [each for each in fit if each.wall_clock is not None]
    clock = new.wall_clock
    if clock is None or not dated or dated[0].wall_clock is None:
        unknown = new if clock is None else fit[0]
        new.remarks.append(
            f"not placed beside {fit[0].name}: no wall clock says when time 0 of {unknown.name} was; {_BY_HAND}"
        )
        return
    other, base = dated[0], dated[0].wall_clock
    away_ns = clock.epoch_ns - base.epoch_ns
    if abs(away_ns) > _FAR_NS:
        new.remarks.append(
            f"not placed beside {other.name}: by their wall clocks they are {abs(away_ns) / _FAR_NS:.1f} days apart; "
            f"{_BY_HAND}"
        )
        return
    new.offset_ps = other.offset_ps + away_ns * 1000
    unc_ps = (clock.unc_ns + base.unc_ns) * 1000
    sure = f"right to {format_ps(unc_ps)}" if unc_ps else "exact to the clocks"
    new.remarks.append(
        f"placed beside {other.name} by their wall clocks, {sure} if both machines' clocks agree; {_BY_HAND}"
    )
