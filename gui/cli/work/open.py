"""``freezeframe open``: the desktop checked, or started."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from freezeframe.capture.errors import FreezeframeError, InputError
from freezeframe.decoders.plugin import load_with_plugins
from freezeframe.gui.cli.output import emit_json
from freezeframe.gui.cli.reading import Reading
from freezeframe.gui.cli.work.reading import source_choice
from freezeframe.gui.cli.work.sources import check_period
from freezeframe.gui.desktop.options import DesktopOptions
from freezeframe.gui.desktop.sources.choice import kind_of
from freezeframe.gui.desktop.start import check_desktop, start
from freezeframe.gui.typed_time import parse_time_ps


def check_desktop_for(sources: Sequence[str], every_s: float, into: Path, *, json: bool) -> None:
    """Print that the desktop can be shown here, and what kind of source each is.

    Raises:
        InputError: it cannot, or an argument cannot be used.
    """
    kinds = _kinds(sources, every_s, into)
    check_desktop()
    if json:
        opened = [{"source": name, "kind": kind} for name, kind in zip(sources, kinds, strict=True)]
        emit_json({"desktop": "can be shown", "sources": opened})
    else:
        print("the desktop can be shown here")


def open_desktop(
    sources: Sequence[str],
    specs: Sequence[str],
    every_s: float,
    into: Path,
    reading: Reading,
    plugins: Sequence[Path],
    *,
    allow_write: bool,
    light: bool,
    at: str | None,
) -> int:
    """Show the desktop until its window is closed; return its exit code.

    Raises:
        InputError: it cannot be shown here, or an argument cannot be used.
    """
    check_period(every_s)
    _check_into(into)
    at_ps = None if at is None else _time_at(at)
    refused = [why for name in sources if (why := _refused(name))]
    if refused and len(refused) == len(sources):
        raise refused[0]
    registry = load_with_plugins(plugins) if plugins else None
    choice = source_choice(reading)
    return start(
        DesktopOptions(sources, specs, allow_write, light, every_s, into, choice, registry, at_ps)
    )


def _kinds(sources: Sequence[str], every_s: float, into: Path) -> list[str]:
    check_period(every_s)
    _check_into(into)
    return [kind_of(name) for name in sources]


def _time_at(text: str) -> int:
    try:
        return parse_time_ps(text)
    except InputError as error:
        raise InputError(f"--at: {error}") from None


def _check_into(into: Path) -> None:
    if not into.is_dir():
        raise InputError(f"{into}: is not a folder")


def _refused(name: str) -> FreezeframeError | None:
    """Return why a source cannot be opened; the window says it, and opens the others."""
    try:
        kind_of(name)
    except FreezeframeError as error:
        return error
    return None
