"""The name and version of this program, as captures and recordings state it."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version


def tool_version() -> str:
    """Return the name and version of this program."""
    try:
        return f"freezeframe {version('freezeframe')}"
    except PackageNotFoundError:
        return "freezeframe (version unknown: not installed)"
