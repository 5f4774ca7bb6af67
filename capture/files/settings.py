"""What the user says of a format: ``NAME[:key=value,key=value]``, and its numbers."""

from __future__ import annotations

from freezeframe.capture.errors import InputError
from freezeframe.capture.files.source import ReadSettings


def parse_format(text: str) -> tuple[str, dict[str, str]]:
    """Return the name and the settings of ``--format``.

    Raises:
        InputError: a setting is not key=value, or is given twice.
    """
    name, _, rest = text.partition(":")
    layout: dict[str, str] = {}
    for part in rest.split(",") if rest else ():
        key, equals, value = (word.strip() for word in part.partition("="))
        if not key or not equals:
            raise InputError(f"--format {text!r}: {part!r} is not key=value")
        if key in layout:
            raise InputError(f"--format {text!r}: {key} is given twice")
        layout[key] = value
    return name.strip().lower(), layout


def layout_number(
    settings: ReadSettings, where: str, key: str, low: int, high: int, default: int | None = None
) -> int:
    """Return a whole number of the layout.

    Raises:
        InputError: it is missing and there is no default, is not a number, or not ``low..high``.
    """
    text = settings.layout.get(key)
    if text is None:
        if default is None:
            raise InputError(
                f"--format {where}: give {key}={low}..{high}, for instance {key}={high}"
            )
        return default
    if not text.isascii() or not text.isdecimal() or not low <= int(text[:20]) <= high:
        raise InputError(f"--format {where}: {key}={text}; {low}..{high} are possible")
    return int(text)
