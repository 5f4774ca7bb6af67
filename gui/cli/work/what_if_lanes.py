"""``freezeframe what-if CARD --lanes``: where a link's synchronization FIFOs run empty or full: table, map, JSON."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from freezeframe.capture.errors import InputError
from freezeframe.emulator.adapter.what_if import MOST_POINTS, grid, values_of
from freezeframe.emulator.elastic import MAP, Point, defaults, run_point, sure_us
from freezeframe.emulator.profile import Profile, load_profile
from freezeframe.gui.cli.compiling import compile_notice
from freezeframe.gui.cli.output import emit_json, progress_bar, table
from freezeframe.gui.plots.cells import Cell, draw_cells
from freezeframe.gui.text import printable

_PANELS, _ROWS, _COLUMNS = 1, 2, 3
_ROLES = {"holds": "good", "both": "error", "empty": "warn", "full": "note"}
_MEANS = {"holds": "holds", "both": "empty or full", "empty": "runs empty", "full": "runs full"}


def lanes_map(
    name: str,
    settings: Mapping[str, Any],
    sweeps: Sequence[str],
    output: Path | None,
    *,
    json: bool,
) -> None:
    """Print a line for each point of a map, and draw it.

    Raises:
        InputError: the profile is none of a card down to its cycles, or a setting or a range is wrong.
    """
    profile = load_profile(name)
    ranges: dict[str, list[Any]] = {}
    said = defaults(profile) | dict(settings)
    for text in sweeps or [f"{key}={values}" for key, values in MAP.items() if key not in settings]:
        key, _, values = text.partition("=")
        try:
            ranges[key] = values_of(values)
        except ValueError as error:
            raise InputError(f"--sweep {key}: {error}") from None
    if not sweeps and "fill" in ranges:  # of the whole map, what can hold the lanes
        ranges["fill"] = [fill for fill in ranges["fill"] if fill >= said["skew"]]
    points = [{**settings, **point} for point in grid(ranges)]
    if len(points) > MOST_POINTS:
        raise InputError(f"{len(points):,} points; a sweep has at most {MOST_POINTS:,}")
    if output is not None and not _PANELS <= len(ranges) <= _COLUMNS:
        raise InputError(f"-o: a map is drawn over one to three --sweep, not over {len(ranges)}")
    found = _run(profile, points)
    if output is not None:
        _draw(profile, found, list(ranges), output)
    if json:
        emit_json({
            "profile": profile.name,
            "settings": said,
            "points": [point.to_json() for point in found],
        })  # fmt: skip
        return
    rest = ", ".join(f"{key} {said[key]:,}" for key in said if key not in ranges and key != "seed")
    print(
        printable(
            f"{profile.name}: the synchronization FIFOs of {profile.link_lanes} lanes; {rest}"
        )
    )
    rows = [
        (
            *[f"{point.settings[key]:,}" for key in ranges],
            point.verdict,
            _time(point.first_us, "-"),
            _time(sure_us(point), "never"),
            f"{max(point.empty.slips, point.full.slips):,}",
            _foretold(point),
        )
        for point in found
    ]
    headers = (*ranges, "FIFO", "first slip", "at the earliest", "slips", "foretold")
    keys = len(ranges)
    print(table(headers, rows, right=(*range(keys), keys + 1, keys + 2, keys + 3)))
    if output is not None:
        print(f"\nDrawn into {printable(output)}.")


def _run(profile: Profile, points: list[dict[str, Any]]) -> list[Point]:
    found: list[Point] = []
    with (
        compile_notice(),
        progress_bar(profile.name, "points") as update,
        ThreadPoolExecutor(os.cpu_count()) as workers,
    ):
        for point in workers.map(lambda settings: run_point(profile, settings), points):
            found.append(point)
            update(len(found), len(points), "")
    return found


def _foretold(point: Point) -> str:
    """Return what the numbers alone say of both ends."""
    verdicts = {point.empty.verdict, point.full.verdict}
    if verdicts == {"holds"}:
        return "holds for ever"
    return "slips" if "slips" in verdicts else "by the packets"


def _time(us: float | None, none: str) -> str:
    """Return a time with three digits, in its own unit."""
    if us is None:
        return none
    for most, unit, per in (
        (1e3, "us", 1.0),
        (1e6, "ms", 1e3),
        (6e7, "s", 1e6),
        (3.6e9, "min", 6e7),
    ):
        if us < most:
            return f"{us / per:.3g} {unit}"
    return f"{us / 3.6e9:.3g} h"


def _draw(profile: Profile, points: list[Point], keys: list[str], output: Path) -> None:
    """Draw a panel for each value of the last of three keys: the first is a row, the second a column."""
    row, column, panel = (*keys, *[""] * _COLUMNS)[:_COLUMNS]
    cells = [
        Cell(
            f"{panel} = {point.settings[panel]:,}" if panel else "",
            f"{point.settings[column]:,}" if column else "",
            f"{point.settings[row]:,}",
            _ROLES[point.verdict],
            _time(point.first_us, "holds"),
            f"{', '.join(f'{key} {value:,}' for key, value in point.settings.items())}: {_MEANS[point.verdict]}, "
            f"at the earliest {_time(sure_us(point), 'never')}",
        )
        for point in points
    ]
    title = f"{profile.name}: time until a synchronization FIFO slips"
    key = [(_ROLES[verdict], _MEANS[verdict]) for verdict in _ROLES]
    output.write_text(draw_cells(cells, title, column, row, key), encoding="utf-8")
