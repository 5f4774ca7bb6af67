"""Names for targets: ``lab`` instead of ``etherbone://192.0.2.7``, from the user's file.

The file is ``freezeframe/targets.toml`` in the XDG configuration folder, a line each: ``lab = "etherbone://192.0.2.7"``.
"""

from __future__ import annotations

import os
import re
import tomllib
from pathlib import Path

from freezeframe.capture.errors import InputError

_NAME = re.compile(r"[A-Za-z0-9_-]+")


def aliases_file() -> Path:
    """Return where the names stand."""
    return (
        Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config")
        / "freezeframe/targets.toml"
    )


def aliases() -> dict[str, str]:
    """Return the URL of each name; none where there is no file.

    Raises:
        InputError: the file is damaged, or a name or URL in it is none.
    """
    path = aliases_file()
    try:
        said = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, RecursionError) as error:
        raise InputError(f"{path}: cannot be read: {error}") from None
    for name, url in said.items():
        if not (_NAME.fullmatch(name) and isinstance(url, str) and ":" in url):
            raise InputError(
                f'{path}: {name}: write NAME = "URL", for instance lab = "etherbone://192.0.2.7"'
            )
    return said


def resolved(url: str) -> str:
    """Return the URL that a name stands for; a URL itself."""
    return aliases().get(url, url) if _NAME.fullmatch(url) else url
