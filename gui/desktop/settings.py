"""What the window keeps from one start to the next: theme, places of its parts, what was opened last. No Qt.

``freezeframe/desktop.json`` in the XDG configuration folder. What is wrong in it is said, and the usual is used.
"""

from __future__ import annotations

import base64
import binascii
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from freezeframe.capture.errors import InputError
from freezeframe.gui.desktop.track_tree import PRESETS
from freezeframe.gui.export.place import new_files
from freezeframe.gui.palette import THEMES

_FORMAT = ["freezeframe-desktop", 1]
_MOST_B = 1 << 20
_RECENT = 12
_LEAST_PX, _MOST_PX = 90, 4000
_COLUMNS = 1000
_OLD = ".old"
_USUAL = f"the usual settings are used, it is kept as desktop.json{_OLD}"


@dataclass(frozen=True, slots=True)
class Settings:
    """The settings of a window.

    Attributes:
        geometry, parts: what Qt keeps of the window's place and of its panels; empty: the usual ones.
        gutter_px: width of the label column, logical pixels.
        recent: paths and URLs that were opened, the last first.
        hidden_columns: columns that are not shown, by the name of their table.
    """

    theme: Literal["dark", "light"] = "dark"
    geometry: bytes = b""
    parts: bytes = b""
    gutter_px: int = 0
    preset: str = "fault"
    legend: bool = True
    recent: tuple[str, ...] = ()
    hidden_columns: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def opened(self, what: str) -> Settings:
        """Return the settings after something was opened."""
        rest = (one for one in self.recent if one != what)
        return replace(self, recent=(what, *rest)[:_RECENT])


def settings_path(environment: Mapping[str, str] = os.environ) -> Path:
    """Return where the settings are kept."""
    base = environment.get("XDG_CONFIG_HOME") or str(Path.home() / ".config")
    return Path(base) / "freezeframe" / "desktop.json"


def read_settings(path: Path) -> Settings:
    """Return the settings of a file; the usual ones where there is none.

    Raises:
        InputError: it cannot be read, is damaged, or of another version.
    """
    try:
        if path.stat().st_size > _MOST_B:
            raise InputError(f"{path}: larger than {_MOST_B:,} B, so no settings; {_USUAL}")
        held = json.loads(path.read_bytes())
    except FileNotFoundError:
        return Settings()
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}; {_USUAL}") from None
    except (ValueError, RecursionError):
        raise InputError(f"{path}: is damaged (no JSON); {_USUAL}") from None
    if not isinstance(held, dict) or not isinstance(held.get("format"), list):
        raise InputError(f"{path}: holds no settings of this window; {_USUAL}")
    if held["format"][:2] != _FORMAT:
        raise InputError(
            f"{path}: is of the version {str(held['format'])[:60]}, this window knows {_FORMAT}; {_USUAL}"
        )
    try:
        return _settings(held)
    except (ValueError, TypeError, binascii.Error) as error:
        raise InputError(f"{path}: is damaged: {error}; {_USUAL}") from None


def write_settings(path: Path, settings: Settings) -> None:
    """Write the settings. Raises: InputError: they cannot be written."""
    held = {
        "format": _FORMAT,
        "theme": settings.theme,
        "geometry": base64.b64encode(settings.geometry).decode(),
        "parts": base64.b64encode(settings.parts).decode(),
        "gutter_px": settings.gutter_px,
        "preset": settings.preset,
        "legend": settings.legend,
        "recent": list(settings.recent),
        "hidden_columns": {
            name: list(columns) for name, columns in settings.hidden_columns.items()
        },
    }
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"{path}: the settings cannot be kept: {error.strerror}") from None
    with new_files([path], force=True) as temporary:
        temporary[0].write_text(json.dumps(held, indent=1) + "\n", "utf-8")


def set_aside(path: Path) -> None:
    """Give a file of settings that could not be used another name, so that it is not written over."""
    try:
        path.replace(path.with_name(path.name + _OLD))
    except OSError as error:
        raise InputError(f"{path}: cannot be renamed: {error.strerror}") from None


def _settings(held: Mapping[str, Any]) -> Settings:
    """Return checked settings. Raises: ValueError, TypeError naming the field."""
    columns = held.get("hidden_columns", {})
    if not isinstance(columns, dict) or len(columns) > _COLUMNS:
        raise ValueError("hidden_columns is no object of tables")
    gutter_px = held.get("gutter_px", 0)
    if not isinstance(gutter_px, int) or isinstance(gutter_px, bool) or not (
        gutter_px == 0 or _LEAST_PX <= gutter_px <= _MOST_PX
    ):  # fmt: skip
        raise ValueError(f"gutter_px is {gutter_px!r:.40}")
    theme = held.get("theme", "dark")
    if theme not in THEMES:
        raise ValueError(f"theme is {theme!r:.40}")
    preset = held.get("preset", "fault")
    if preset not in PRESETS:
        raise ValueError(f"preset is {preset!r:.40}")
    return Settings(
        theme=theme,
        geometry=base64.b64decode(held.get("geometry", ""), validate=True),
        parts=base64.b64decode(held.get("parts", ""), validate=True),
        gutter_px=gutter_px,
        preset=preset,
        legend=held.get("legend", True) is True,
        recent=_texts(held.get("recent", []), "recent")[:_RECENT],
        hidden_columns={str(name): _texts(one, "hidden_columns") for name, one in columns.items()},
    )


def _texts(value: object, name: str) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
        raise ValueError(f"{name} is no list of texts")
    return tuple(value)
