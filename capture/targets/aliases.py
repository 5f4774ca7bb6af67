"""Names for targets: ``lab`` instead of ``etherbone://192.0.2.7``, from the user's file.

The file is ``freezeframe/targets.toml`` in the XDG configuration folder, a line each: ``lab = "etherbone://192.0.2.7"``.
Each line is read by itself, as TOML, so that a bad one takes no other name with it.
"""

from __future__ import annotations

import os
import re
import tomllib
import warnings
from dataclasses import dataclass
from pathlib import Path

from freezeframe.capture.errors import FreezeframeWarning, InputError

_NAME = re.compile(r"[A-Za-z0-9_-]+")
_BEGINNING = re.compile(r"""\s*(["']?)([A-Za-z0-9_-]+)\1\s*=""")


@dataclass(frozen=True, slots=True)
class WrongLine:
    """A line of the file that gives no name, counted from 1; ``name``: the one it was to give, or empty."""

    line: int
    name: str
    why: str


@dataclass(frozen=True, slots=True)
class Aliases:
    """What the file says: the URL of each name, and the lines that say none."""

    path: Path
    urls: dict[str, str]
    wrong: tuple[WrongLine, ...]

    def text(self, wrong: WrongLine) -> str:
        name = f"{wrong.name}: " if wrong.name else ""
        return f"{self.path}:{wrong.line}: {name}{wrong.why}"

    def warning(self) -> str:
        """Return one line about all wrong lines; empty where there are none."""
        if not self.wrong:
            return ""
        more = ", ".join(str(each.line) for each in self.wrong[1:])
        others = f"; wrong, too: line {more}" if more else ""
        return f"{self.text(self.wrong[0])}{others}; the other names can be used"


def aliases_file() -> Path:
    """Return where the names stand."""
    return (
        Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config")
        / "freezeframe/targets.toml"
    )


def aliases() -> Aliases:
    """Return the names; none where there is no file.

    Raises:
        InputError: the file cannot be read.
    """
    path = aliases_file()
    try:
        lines = path.read_bytes().split(b"\n")
    except FileNotFoundError:
        lines = []
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}") from None
    places: dict[str, list[tuple[int, str]]] = {}
    wrong = []
    for number, line in enumerate(lines, 1):
        read = _read(line)
        if isinstance(read, dict):
            for name, url in read.items():
                places.setdefault(name, []).append((number, url))
        else:
            wrong.append(WrongLine(number, read, _how(read)))
    for name, said in places.items():
        number, url = said[0]
        if len(said) > 1:
            more = ", ".join(str(place) for place, _ in said[1:])
            wrong.append(WrongLine(number, name, f"stands again in line {more}; write it once"))
        elif ":" not in url:
            meant = places.get(url, [])
            known = meant[0][1] if meant and ":" in meant[0][1] else ""
            why = f"{url!r} is a name itself; write what it stands for: {name} = {_quoted(known)}"
            wrong.append(WrongLine(number, name, why if known else _how(name)))
    refused = {each.name for each in wrong}
    urls = {name: said[0][1] for name, said in places.items() if name not in refused}
    return Aliases(path, urls, tuple(sorted(wrong, key=lambda each: each.line)))


def _read(line: bytes) -> dict[str, str] | str:
    """Return name and URL of a line, nothing of one without; or the name that a wrong one was to give."""
    text = line.decode("utf-8", "replace")
    try:
        said = tomllib.loads(line.removesuffix(b"\r").decode("utf-8"))
    except (ValueError, RecursionError):
        said = None
    if said is not None and all(_NAME.fullmatch(n) and isinstance(u, str) for n, u in said.items()):
        return said
    begun = _BEGINNING.match(text)
    return begun[2] if begun else ""


def _quoted(url: str) -> str:
    return f'"{url}"'


def _how(name: str) -> str:
    return f'write {name or "NAME"} = "URL", for instance {name or "lab"} = "etherbone://192.0.2.7"'


def resolved(url: str) -> str:
    """Return the URL that a name stands for; a URL itself. Lines of the file that are wrong are told once.

    Raises:
        InputError: the name's own line is wrong, or it stands in none and one is wrong.
    """
    if not _NAME.fullmatch(url):
        return url
    known = aliases()
    for each in known.wrong:
        if each.name == url:
            raise InputError(known.text(each))
    if known.wrong and url not in known.urls:
        raise InputError(
            f"{url!r}: no line that can be read gives that name, and {known.text(known.wrong[0])}"
        )
    if known.wrong:
        warnings.warn(known.warning(), FreezeframeWarning, stacklevel=2)
    return known.urls.get(url, url)
