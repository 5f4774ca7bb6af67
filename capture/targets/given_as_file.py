"""A target where a file is wanted: what is said of a path at which there is nothing, because it was a URL."""

from __future__ import annotations

from importlib.metadata import entry_points
from pathlib import Path

_OF_FILES = "file"


def missing(path: Path | str, otherwise: str = "there is no such file or folder") -> str:
    """Return the message that there is nothing at a path: ``otherwise``, unless it begins as a target does."""
    scheme, colon, rest = str(path).partition(":")
    schemes = {point.name for point in entry_points(group="freezeframe.targets")} - {_OF_FILES}
    if not colon or scheme not in schemes:
        return f"{path}: {otherwise}"
    # A path has lost one of the two slashes before a host; before a device (uart:/dev/ttyUSB0) there is one.
    first = Path(*Path(rest).parts[:2])
    slash = "/" if rest.startswith("/") and not rest.startswith("//") and not first.exists() else ""
    return (
        f"{scheme}:{slash}{rest}: is a target, not a capture; freezeframe pull makes a capture of it: "
        f"freezeframe pull '{scheme}:{slash}{rest}' -o NAME.ff"
    )
