"""What was not recorded is hatched with its reason, in every kind of track: no blank pixel means two things."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from PyQt6.QtCore import QPoint

from freezeframe.decoders.trace.coverage import Coverage, Hole
from freezeframe.gui.desktop.timeline.scene import GUTTER_PX
from freezeframe.gui.desktop.timeline.view import TimelineView
from freezeframe.gui.palette import DARK, LIGHT, contrast
from freezeframe.gui.tracks.tracks import (
    BusTrack,
    IntervalTrack,
    SeriesTrack,
    SliceTrack,
    StateTrack,
    Track,
    WaveTrack,
)
from tests.gui.desktop.timeline.hands import move

Shown = Callable[[Sequence[Track]], TimelineView]

_WHY = "overwritten before 300 ns: the memory wrapped"
_COVERED = Coverage.between(300_000, 800_000, _WHY, "recording closed at 800 ns").less(
    [Hole(500_000, 600_000, "4 records not read: bus error")]
)
_T = np.array([310_000, 610_000, 700_000], np.int64)
_SAME: dict[str, Any] = {"key": "a", "name": "a", "coverage": _COVERED}
_KINDS: dict[str, Track] = {
    "series": SeriesTrack(**_SAME, t_ps=_T, value=np.array([1, 5, 2]), end_ps=790_000),
    "slices": SliceTrack(**_SAME, t_ps=_T, t_end_ps=_T + 20_000),
    "intervals": IntervalTrack(**_SAME, t_ps=_T, t_end_ps=_T + 20_000),
    "wave": WaveTrack(**_SAME, t_ps=_T, level=np.array([0, 1, 0], np.uint8), end_ps=790_000),
    "bus": BusTrack(**_SAME, t_ps=_T, value=np.array([1, 2, 3]), end_ps=790_000),
    "states": StateTrack(**_SAME, t_ps=_T, colour=np.zeros(3, np.uint8), end_ps=790_000),
    "nothing at all": SliceTrack(**_SAME),
}


def hatched(view: TimelineView, key: str) -> npt.NDArray[np.bool_]:
    """Return for each column of a row whether any of its pixels has the colour of the hatch."""
    image = view.render_image()
    bits = image.constBits()
    assert bits is not None
    pixels = np.frombuffer(bits.asstring(image.sizeInBytes()), np.uint32)
    pixels = pixels.reshape(image.height(), image.bytesPerLine() // 4)[:, : image.width()]
    middle = view.row_center(key)
    row = pixels[middle - 10 : middle + 10, GUTTER_PX : GUTTER_PX + view.area_width()]
    return np.asarray(((row & 0xFFFFFF) == DARK.hatch).any(axis=0))


@pytest.mark.parametrize("kind", _KINDS)
@pytest.mark.parametrize("stretch", [(0, 1_000_000), (290_000, 310_000), (450_000, 650_001)])
def test_columns_outside_the_ranges_of_a_track_are_hatched_and_those_inside_never(
    shown: Shown, kind: str, stretch: tuple[int, int]
) -> None:
    frame = SliceTrack(
        key="z", name="z", t_ps=np.array([0], np.int64), t_end_ps=np.array([10**6], np.int64)
    )
    view = shown([_KINDS[kind], frame])
    view.set_range(*stretch)
    t0, t1 = view.range()
    found = hatched(view, "a")
    for column, painted in enumerate(found.tolist()):
        begin, end = (t0 + (t1 - t0) * at / len(found) for at in (column, column + 1))
        outside = end <= 300_000 or begin >= 800_000 or (begin >= 500_000 and end <= 600_000)
        inside = end > 300_000 and begin < 800_000 and not (begin >= 500_000 and end <= 600_000)
        assert painted == outside != inside, (column, begin, end)
    assert not hatched(view, "z").any()


def test_the_mouse_in_a_hatched_stretch_is_told_why_nothing_is_known(shown: Shown) -> None:
    view = shown([_KINDS["slices"]])
    view.set_range(0, 1_000_000)
    move(view, QPoint(round(view.x_of(100_000)), view.row_center("a")))
    assert view.tip.text() == _WHY and view.tip.isVisible()


def test_the_reason_is_written_where_it_has_room(shown: Shown) -> None:
    view = shown([_KINDS["slices"]])
    view.resize(1500, 300)
    view.set_range(0, 1_000_000)
    wide = view.render_svg().decode()
    assert _WHY in wide


@pytest.mark.parametrize("theme", [DARK, LIGHT], ids=["dark", "light"])
def test_a_hatch_can_be_seen_on_every_ground_and_has_a_colour_of_its_own(theme: object) -> None:
    assert isinstance(theme, type(DARK))
    for ground in (theme.background, theme.stripe):
        assert contrast(theme.hatch, ground) >= 3
    assert theme.hatch not in {*theme.roles.values(), theme.grid, theme.dim, theme.hit}
