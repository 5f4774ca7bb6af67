"""Captures and recordings for `tests.campaign.harden`: manifests, archives and journals, each read whole.

Their structured inputs are sealed again: digests, checksums and frames fit what was changed.
"""

from __future__ import annotations

import io
import json
import random
import shutil
import zipfile
import zlib
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from freezeframe.analyzers.explain import explain
from freezeframe.capture.counters.recorded import Recorded
from freezeframe.capture.files.packed import temporary_folder
from freezeframe.capture.folder import CaptureFolder
from freezeframe.capture.folder.manifest import manifest_digest, manifest_text
from freezeframe.capture.folder.one_file import files_below, pack, place_of
from freezeframe.capture.folder.raw_files import stated_files
from freezeframe.capture.folder.salvage import examine_any
from freezeframe.capture.journal import frame
from tests.campaign.harden_files import Mutate, file_of, scratch, zipped
from tests.gui.made_capture import made_capture

_MANIFEST, _COPY = "x.ff/manifest.json", "x.ff/manifest.copy.json"
_EXPLAINED = 8  # one manifest in so many: it takes forty times as long as to read it


@cache
def _capture() -> tuple[Path, dict[str, bytes]]:
    folder = made_capture(Path(scratch().name) / "base.ff").path
    return folder, {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def manifest_seed() -> Sequence[bytes]:
    return (_capture()[1]["manifest.json"],)


def _sealed(data: bytes) -> bytes:
    """Return a manifest with its digest made again, where it is JSON at all."""
    try:
        manifest = json.loads(data)
        manifest["digest"] = manifest_digest(manifest)
        return manifest_text(manifest)
    except (ValueError, TypeError, RecursionError):
        return data


def changed_manifest(rng: random.Random, data: bytes, mutate: Mutate) -> bytes:
    """Change values of a manifest, anywhere in it, and seal it."""
    try:
        manifest = json.loads(data)
    except (ValueError, RecursionError):
        return mutate(data)
    for _ in range(rng.choice((1, 1, 2, 4))):
        _change(rng, manifest)
    return _sealed(json.dumps(manifest).encode())


def _change(rng: random.Random, value: Any) -> None:
    """Replace, remove or repeat something in a tree of lists and objects."""
    while isinstance(value, dict | list) and value:
        key = rng.choice(list(value)) if isinstance(value, dict) else rng.randrange(len(value))
        inside = value[key]
        if isinstance(inside, dict | list) and inside and rng.random() < 0.85:
            value = inside
            continue
        match rng.randrange(4):
            case 0:
                del value[key]
            case 1:
                value[key] = rng.choice(
                    (None, True, -1, 0, 1, 1 << 31, 1 << 63, "", "x" * 300, [], {}, 255)
                )
            case 2 if isinstance(inside, int):
                value[key] = inside + rng.choice((-1, 1, 1 << 16))
            case _:
                value[key] = str(inside)
        return


def folder_run(data: bytes) -> object:
    folder, files = _capture()
    (folder / "manifest.json").write_bytes(data)
    try:
        opened = CaptureFolder.open(folder)
        if zlib.crc32(data) % _EXPLAINED:
            return len(opened.lost)
        return len(explain(opened).findings)
    finally:
        (folder / "manifest.json").write_bytes(files["manifest.json"])


def archive_run(data: bytes) -> object:
    path = file_of("x.ff.zip", data)
    try:
        return len(examine_any(path).damage), place_of(path).name
    finally:  # what was unpacked, or memory is full of it after some ten thousand
        for left in Path(temporary_folder().name).iterdir():
            shutil.rmtree(left)


def archive_seeds() -> Sequence[bytes]:
    folder = _capture()[0]
    small = {name: data[:600] for name, data in files_below(folder, "x.ff").items()}
    whole = {f"x.ff/{name}": data for name, data in _capture()[1].items()}
    return (
        pack(small), zipped(whole), zipped({"x.ff/manifest.json": _capture()[1]["manifest.json"]})
    )  # fmt: skip


@cache
def _whole() -> dict[str, bytes]:
    return _members(archive_seeds()[1])


def _members(data: bytes) -> dict[str, bytes]:
    """Return the members of an archive; none where a capture is not in it, or it is broken."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            members = {name: archive.read(name) for name in archive.namelist()}
    except Exception:  # whatever is wrong with it
        return {}
    return members if _MANIFEST in members and len(members) > 3 else {}


def changed_archive(rng: random.Random, data: bytes, mutate: Mutate) -> bytes:
    """Change one member, pack it again with right checksums, and as often as not seal the manifest for it, too."""
    members = dict(_members(data) or _whole())
    name = rng.choice(list(members))
    members[name] = mutate(members[name])
    if rng.random() < 0.1:
        members.pop(rng.choice(list(members)))
    if rng.random() < 0.6:
        members.update(_stated(members))
    return pack(members) if rng.random() < 0.3 else zipped(members)


def _stated(members: Mapping[str, bytes]) -> dict[str, bytes]:
    """Return both manifests as they state these members; nothing where the manifest is what was changed."""
    try:
        manifest = json.loads(members[_MANIFEST])
        inside = {name.removeprefix("x.ff/"): data for name, data in members.items()}
        manifest["raw"] = stated_files(
            {name: data for name, data in inside.items() if not name.startswith("manifest")}
        )
        manifest["digest"] = manifest_digest(manifest)
        return dict.fromkeys((_MANIFEST, _COPY), manifest_text(manifest))
    except (ValueError, LookupError, TypeError, RecursionError):
        return {}


def journal_seed() -> Sequence[bytes]:
    head = {"recording": 1, "kind": "counters", "tool": "x", "t_ns": 1, "utc_ns": 2}
    texts: list[Any] = [
        head,
        {"source": "s", "columns": [["a", "counter", "B"]]},
        ["s", 5, [7]],
        ["s", 9, [8]],
    ]
    frames = [frame(n, json.dumps(text).encode()) for n, text in enumerate(texts)]
    return (b"FFRJRNL1" + b"".join(frames) + frame(len(texts), b""),)


def journal_run(data: bytes) -> object:
    place = Path(scratch().name) / "x.ffrec"
    place.mkdir(exist_ok=True)
    (place / "00000001.ffj").write_bytes(data)
    recorded = Recorded(place)
    return sum(table.num_rows for table in recorded.tables()), len(recorded.missing)


def whole_frames(rng: random.Random, data: bytes, mutate: Mutate) -> bytes:
    """Change payloads and put them into frames that are right."""
    payloads = [part[16:] for part in data.split(b"\xf5FFJ")[1:]] or [b"{}"]
    at = rng.randrange(len(payloads))
    payloads[at] = mutate(payloads[at])
    numbers = list(range(len(payloads)))
    if rng.random() < 0.2:
        rng.shuffle(numbers)
    return b"FFRJRNL1" + b"".join(frame(n, p) for n, p in zip(numbers, payloads, strict=True))
