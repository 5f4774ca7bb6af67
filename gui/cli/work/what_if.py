"""``freezeframe what-if``: one change beside the profile, or a sweep, as tables, a drawing or JSON."""

from __future__ import annotations

import csv
import io
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

from freezeframe.capture.errors import InputError
from freezeframe.emulator.adapter.deliveries import COLUMNS, deliveries
from freezeframe.emulator.adapter.gain import Gain, gains
from freezeframe.emulator.adapter.outcome import Outcome, run_adapter
from freezeframe.emulator.adapter.reading import load_adapter
from freezeframe.emulator.adapter.what_if import (
    Point,
    Worth,
    grid,
    sweep,
    value_of,
    values_of,
    worths,
)
from freezeframe.emulator.profile_files import profile_file, profile_names
from freezeframe.gui.cli.compiling import compile_notice
from freezeframe.gui.cli.output import emit_json, progress_bar, table
from freezeframe.gui.cli.work.calibration import write_fitted
from freezeframe.gui.cli.work.what_if_card import card_points
from freezeframe.gui.places import is_capture, write_whole
from freezeframe.gui.plots.curves import Curve, draw_curves
from freezeframe.gui.text import printable

_SHOWN = 0.005  # a resource that is occupied for less is not worth a line


def list_profiles(*, json: bool) -> None:
    """Print the profiles of stages that ship."""
    found = {
        name: profile_file(name).said.get("description", "")
        for name in profile_names(by_stages=True)
    }
    if json:
        emit_json({"profiles": found})
        return
    print(table(("profile", "describes"), list(found.items())))


@contextmanager
def runnable(name: str) -> Iterator[str]:
    """Yield what a profile is run by: its name, or for a capture the path of one that is fitted to it.

    Raises:
        InputError: the capture cannot say what a profile needs.
    """
    capture = Path(name)
    if not capture.is_dir() and not name.endswith(".ff"):
        yield name
        return
    if capture.is_dir() and not is_capture(capture):
        raise InputError(f"{name}: is a folder and no capture; give a profile or a capture folder")
    with tempfile.TemporaryDirectory(prefix="freezeframe-what-if-") as folder:
        path = Path(folder) / f"{capture.stem}.toml"
        write_fitted(capture, path)
        yield str(path)


def one_point(
    name: str, changes: Sequence[str], delivered: Path | None = None, *, json: bool
) -> None:
    """Print what a profile shows, beside its change where there is one.

    Args:
        delivered: where each message of the last of the two runs is written.

    Raises:
        InputError: the profile or a setting is wrong.
    """
    settings = settings_of(changes)
    file = profile_file(name)
    if not file.by_stages:
        if delivered is not None:
            raise InputError(
                "--deliveries: of a profile of stages; 'freezeframe decode' lists the packets of a capture"
            )
        card_points(file, [{}, settings] if settings else [{}], json=json)
        return
    with compile_notice():
        base = run_adapter(load_adapter(name))
        changed = run_adapter(load_adapter(name, settings)) if settings else None
        last = changed or base
        if delivered is not None:
            _write_deliveries(last, delivered)
        found = worths(last)
        fitted = base.compiled.described.fit
        gained = gains(base, changed, settings) if changed is not None and fitted else {}
    if json:
        document: dict[str, Any] = {"profile": name, "settings": settings, "base": base.shown()}
        if changed is not None:
            document["changed"] = changed.shown()
        if fitted is not None:
            document["misfit"] = fitted.misfit
            document["gain_percent"] = {key: asdict(gain) for key, gain in gained.items()}
        document["one_per_cent_faster"] = [worth._asdict() for worth in found]
        emit_json(document)
        return
    print(
        printable(f"{Path(name).stem}: {base.compiled.described.adapter.description}".rstrip(": "))
    )
    _print_run(base, changed, ", ".join(changes))
    print()
    if gained:
        _print_gains(gained)
    _print_worths(last, found)


def _write_deliveries(outcome: Outcome, path: Path) -> None:
    rows = io.StringIO()
    writer = csv.writer(rows, lineterminator="\n")
    writer.writerow(COLUMNS)
    writer.writerows(deliveries(outcome))
    write_whole(path, rows.getvalue().encode())


def _print_run(base: Outcome, changed: Outcome | None, what: str) -> None:
    outcomes = [base] + ([changed] if changed is not None else [])
    rows = [
        (label, *[_text(cell) for cell in cells], _change(cells))
        for label, *cells in _figures(outcomes)
    ]
    rows += [
        (f"{part} occupied", *[f"{100 * share:.1f} %" for share in shares], "")
        for part, *shares in _occupied(outcomes)
    ]
    headers = ("", "profile", printable(what)) if changed is not None else ("", "profile")
    right = tuple(range(1, len(outcomes) + 2))
    print(table((*headers, "change" if changed is not None else ""), rows, right=right))


def _figures(outcomes: list[Outcome]) -> list[tuple[Any, ...]]:
    """Return the rows of the table: a label, and a number with its unit or a text for each outcome."""
    latencies = [outcome.latency_ns() for outcome in outcomes]
    rows: list[tuple[Any, ...]] = [
        ("throughput", *[(o.throughput_MBps, "MB/s") for o in outcomes]),
        ("exact bound", *[(o.bound_MBps, "MB/s") for o in outcomes]),
        ("messages", *[(o.messages_per_s, "/s") for o in outcomes]),
    ]
    rows += [
        (f"latency {key}", *[(found.get(key, 0.0) / 1000, "us") for found in latencies])
        for key in ("mean", "p50", "p99", "max")
    ]
    if any(outcome.dropped for outcome in outcomes):
        rows.append(("packets dropped", *[(float(o.dropped), "") for o in outcomes]))
    rows.append(("bottleneck", *[o.bottleneck for o in outcomes]))
    rows.append(("its share of the time", *[f"{100 * o.bottleneck_share:.1f} %" for o in outcomes]))
    return rows


def _occupied(outcomes: list[Outcome]) -> list[tuple[Any, ...]]:
    shares = [{part.label: part.share for part in outcome.occupied()} for outcome in outcomes]
    labels = dict.fromkeys(label for found in shares for label in found)
    rows = {label: [found.get(label, 0.0) for found in shares] for label in labels}
    return [(label, *row) for label, row in rows.items() if max(row) >= _SHOWN]


def _print_gains(found: dict[str, Gain]) -> None:
    rows = [
        (
            name.replace("_", " "),
            f"{gain.value:+z.1f} %",
            f"{gain.low:+z.1f} .. {gain.high:+z.1f} %",
        )
        for name, gain in found.items()
    ]
    print(table(("gain", "foretold", "90 % interval"), rows, right=(1, 2)))
    print()


def _print_worths(outcome: Outcome, found: list[Worth]) -> None:
    rows = [
        (worth.part, f"{worth.throughput:+z.3f} %", f"{worth.latency:+z.3f} %") for worth in found
    ]
    print(table(("1 % faster", "throughput", "mean latency"), rows, right=(1, 2)))
    flow = outcome.compiled.described.adapter.flow
    if any(one.rate_per_s or one.file for one in flow.values()):
        print("Messages come in time of their own, so throughput follows them; latency tells.")


def sweep_points(
    name: str,
    changes: Sequence[str],
    sweeps: Sequence[str],
    output: Path | None,
    scheduler: str = "",
    *,
    json: bool,
) -> None:
    """Print a line for each point of a grid, and draw it.

    Raises:
        InputError: the profile, a setting or a range is wrong, the scheduler cannot be used, or the drawing cannot be
            written.
    """
    settings = settings_of(changes)
    ranges: dict[str, list[Any]] = {}
    for text in sweeps:
        key, _, values = text.partition("=")
        try:
            ranges[key] = values_of(values)
        except ValueError as error:
            raise InputError(f"--sweep {key}: {error}") from None
    file = profile_file(name)
    if not file.by_stages:
        if output is not None:
            raise InputError(f"-o: {name} is a card down to its cycles; its points are not drawn")
        if scheduler:
            raise InputError(
                f"--scheduler: {name} is a card down to its cycles; its points run here"
            )
        points_of_card = [{}, *({**settings, **point} for point in grid(ranges))]
        card_points(file, points_of_card, json=json, swept=list(ranges))
        return
    first = {key: values[0] for key, values in ranges.items()}
    base = load_adapter(name, {**settings, **first}, first)
    with compile_notice(), progress_bar(name, "points") as update:
        points = sweep(
            base, settings, ranges, lambda done, total: update(done, total, ""), scheduler
        )
    if output is not None:
        _draw(name, points, list(ranges), output)
    if json:
        emit_json({
            "profile": name,
            "settings": settings,
            "points": [{"settings": point.settings, **point.shown} for point in points],
        })  # fmt: skip
        return
    rows = [
        (
            *[_short(value) for value in point.settings.values()],
            _text((point.shown["throughput_MBps"], "MB/s")),
            _text((point.shown["bound_MBps"], "MB/s")),
            _text((point.shown["latency_ns"].get("p50", 0.0) / 1000, "us")),
            _text((point.shown["latency_ns"].get("p99", 0.0) / 1000, "us")),
            point.shown["bottleneck"],
            f"{100 * point.shown['bottleneck_share']:.1f} %",
        )
        for point in points
    ]
    headers = (*ranges, "throughput", "bound", "p50", "p99", "bottleneck", "share")
    numbers = len(ranges) + 4
    print(table(headers, rows, right=(*range(numbers), numbers + 1)))
    if output is not None:
        print(f"\nDrawn into {printable(output)}.")


def _draw(name: str, points: list[Point], keys: list[str], output: Path) -> None:
    """Draw throughput over the first key, a line for each combination of the others, and the bound dashed."""
    lines: dict[str, list[Point]] = {}
    for point in points:
        label = ", ".join(f"{key}={_short(point.settings[key])}" for key in keys[1:])
        lines.setdefault(label, []).append(point)
    if any(not isinstance(point.settings[keys[0]], (int, float)) for point in points):
        raise InputError(f"-o: {keys[0]} has no numbers to draw over")
    curves = []
    for label, line in lines.items():
        x = [float(point.settings[keys[0]]) for point in line]
        curves.append(Curve(label or "simulated", x, [p.shown["throughput_MBps"] for p in line]))
        curves.append(Curve("", x, [p.shown["bound_MBps"] for p in line], dashed=True))
    title = f"{name}: throughput over {keys[0]}"
    output.write_text(draw_curves(curves, title, keys[0], "MB/s"), encoding="utf-8")


def settings_of(changes: Sequence[str]) -> dict[str, Any]:
    """Return what --set says, by its keys; raises InputError for what is no KEY=VALUE."""
    found: dict[str, Any] = {}
    for change in changes:
        key, equals, value = change.partition("=")
        if not equals or not key:
            raise InputError(f"--set {change!r}: it must be KEY=VALUE")
        found[key] = value_of(value)
    return found


def _text(cell: Any) -> str:
    if isinstance(cell, str):
        return cell
    value, unit = cell
    return f"{_short(value)} {unit}".rstrip()


def _short(value: Any) -> str:
    """Return a number with four digits, thousands separated where it has more."""
    if not isinstance(value, (int, float)) or isinstance(value, bool):
        return str(value)
    return f"{value:,.0f}" if abs(value) >= 1000 or float(value).is_integer() else f"{value:.4g}"


def _change(cells: list[Any]) -> str:
    if len(cells) < 2 or any(isinstance(cell, str) for cell in cells) or not cells[0][0]:
        return ""
    return f"{100 * (cells[1][0] / cells[0][0] - 1):+z.1f} %"
