"""All sigrok decoders of this machine with their channels, options and annotation classes.

A worker loads each once; the answer is kept in the cache folder of the user until the library or a
file of a decoder changes.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from freezeframe.capture.errors import FreezeframeError
from freezeframe.decoders.srd.location import SrdLocation
from freezeframe.decoders.srd.process import SrdWorker

_FORMAT = 2
_OLD_NS = 30 * 24 * 3600 * 10**9  # caches of other libraries and folders are removed then


@dataclass(frozen=True, slots=True)
class SrdChannel:
    """A channel as the decoder declares it."""

    id: str
    desc: str
    optional: bool


@dataclass(frozen=True, slots=True)
class SrdOption:
    """An option as the decoder declares it."""

    id: str
    desc: str
    default: str | int | float
    values: tuple[str | int | float, ...]


@dataclass(frozen=True, slots=True)
class SrdDescription:
    """What a decoder says of itself; ``rows`` are annotation rows with numbers of ``classes``."""

    id: str
    name: str
    doc: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    channels: tuple[SrdChannel, ...]
    options: tuple[SrdOption, ...]
    classes: tuple[str, ...]
    rows: tuple[tuple[str, tuple[int, ...]], ...]
    tags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Catalogue:
    """The decoders, by their names in sigrok, and why the others did not load."""

    version: str
    decoders: Mapping[str, SrdDescription] = field(default_factory=dict)
    broken: Mapping[str, str] = field(default_factory=dict)


def read_catalogue(location: SrdLocation, *, cache: Path | None = None) -> Catalogue:
    """Return the catalogue, from the cache when nothing has changed.

    Args:
        cache: the folder for it; by default ``freezeframe`` in the user's cache folder.
    Raises:
        FreezeframeError: the library does not load.
    """
    folder = cache or _cache_folder()
    file = folder / f"sigrok-{_key(location)}.json"
    kept = _kept(file)
    if kept is not None:
        return kept
    loaded = _load_all(location)
    _keep(file, loaded)
    return loaded


def _load_all(location: SrdLocation) -> Catalogue:
    decoders: dict[str, SrdDescription] = {}
    broken: dict[str, str] = {}
    left = location.decoder_names()
    while True:
        worker = SrdWorker(location, "sigrok decoders")
        try:
            while left:
                name = left.pop(0)
                described = worker.describe(name)
                if "error" in described:
                    broken[name] = " ".join(str(described["error"]).split())
                else:
                    decoders[name] = _description(described)
            return Catalogue(worker.version, decoders, broken)
        # It took its worker along; the others get a new one.
        except FreezeframeError as error:
            broken[name] = str(error)
        except (KeyError, TypeError, ValueError) as error:
            broken[name] = f"declares itself wrongly: {type(error).__name__}: {error}"
        finally:
            worker.close()


def _description(described: Mapping[str, Any]) -> SrdDescription:
    return SrdDescription(
        id=described["id"],
        name=described["name"],
        doc=described["doc"],
        inputs=tuple(described["inputs"]),
        outputs=tuple(described["outputs"]),
        channels=tuple(
            SrdChannel(c["id"], c["desc"], c["optional"]) for c in described["channels"]
        ),
        options=tuple(
            SrdOption(o["id"], o["desc"], o["default"], tuple(o["values"]))
            for o in described["options"]
        ),
        classes=tuple(described["classes"]),
        rows=tuple((name, tuple(classes)) for name, classes in described["rows"]),
        tags=tuple(described["tags"]),
    )


def _key(location: SrdLocation) -> str:
    """Return a text that changes with the library and with every file of a decoder."""
    digest = hashlib.sha256()
    digest.update(f"{_FORMAT} {location.python}\n".encode())
    files = [location.library]
    for folder in location.folders:
        files += [folder, *sorted(folder.glob("*/*.py"))]
    for file in files:
        state = file.stat()
        digest.update(f"{file} {state.st_mtime_ns} {state.st_size}\n".encode())
    return digest.hexdigest()[:24]


def _kept(file: Path) -> Catalogue | None:
    try:
        document = json.loads(file.read_bytes())
        return Catalogue(
            document["version"],
            {name: _description(described) for name, described in document["decoders"].items()},
            document["broken"],
        )
    # Whatever is wrong with the cache, the decoders themselves say it again.
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None


def _keep(file: Path, catalogue: Catalogue) -> None:
    """Write the cache in one step; where that is impossible the next run loads them again."""
    part = file.with_name(f".{file.name}.{os.getpid()}")
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        part.write_text(json.dumps(asdict(catalogue)), encoding="utf-8")
        part.replace(file)
    except OSError:
        with contextlib.suppress(OSError):
            part.unlink()
        return
    for old in file.parent.glob("sigrok-*.json"):
        if old != file and old.stat().st_mtime_ns < file.stat().st_mtime_ns - _OLD_NS:
            old.unlink(missing_ok=True)


def _cache_folder() -> Path:
    base = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(base) / "freezeframe"
