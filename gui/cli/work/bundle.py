"""``freezeframe bundle``: everything that belongs to a capture, packed into one file."""

from __future__ import annotations

import json as json_text
import platform
import sys
import tempfile
from collections.abc import Iterable, Sequence
from importlib.metadata import version
from pathlib import Path

from freezeframe.capture.count_text import plural
from freezeframe.capture.custody.guard_log import read_log
from freezeframe.capture.errors import InputError
from freezeframe.capture.folder.damage import Examined, lines_of
from freezeframe.capture.folder.manifest import MANIFEST, MANIFEST_COPY
from freezeframe.capture.folder.one_file import SUFFIX, files_below, pack
from freezeframe.capture.folder.opening import open_capture
from freezeframe.capture.folder.salvage import examine_any, salvage
from freezeframe.capture.folder.samples import SampleFolder
from freezeframe.capture.tool import tool_version
from freezeframe.gui.cli.output import count_text, emit_json
from freezeframe.gui.cli.reading import refuse_missing
from freezeframe.gui.places import refuse_evidence, refuse_taken, write_whole
from freezeframe.gui.report.write import report_capture
from freezeframe.gui.text import folder_name, printable

_LOG = "guard.log"  # of the guard that caught it
_LIBRARIES = ("numpy", "numba", "pandas", "pyarrow")


def bundle(
    capture: Path, output: Path | None, add: Sequence[Path], *, force: bool, json: bool
) -> None:
    """Write the file, and print what is in it.

    Raises:
        InputError: it is no capture folder, or the file cannot be written.
    """
    refuse_missing(capture, *add)
    if not capture.is_dir():
        raise InputError(f"{capture}: is packed already, or no capture folder; give NAME.ff")
    folder = capture.resolve()
    beside = capture if capture.name == folder.name else folder
    place = output or beside.with_name(folder_name(folder).removesuffix(".ff") + SUFFIX)
    if not place.name.endswith(SUFFIX):
        raise InputError(
            f"{place}: a capture in one file is called NAME{SUFFIX}, by which it is known"
        )
    refuse_evidence(place)
    refuse_taken(place, force, f"fault{SUFFIX}")
    examined = examine_any(capture)
    damage = lines_of(examined.damage)
    name = folder_name(folder).removesuffix(".ff") + ".ff"
    files = files_below(folder, name)
    evidence = {f"{name}/{each}" for each in (MANIFEST, MANIFEST_COPY, *_stated(examined))}
    files["versions.json"] = _versions()
    if damage:
        files["damage.txt"] = "".join(f"{line}\n" for line in damage).encode()
    readable = open_capture(salvage(folder).place)
    if not isinstance(readable, SampleFolder):
        with tempfile.TemporaryDirectory() as made:
            report = Path(made) / "report.html"
            report_capture(readable, report, with_analyses=True)
            files["report.html"] = report.read_bytes()
    if lines := read_log(folder.parent).lines:
        files[_LOG] = "".join(f"{when} {line}\n" for when, line in lines).encode()
    for path in add:
        if path.name in (MANIFEST, MANIFEST_COPY):
            raise InputError(f"{path}: by that name it would be taken for a capture; rename yours")
        if path.name in files:
            raise InputError(f"{path}: {path.name} is in the file already; rename yours")
        files[path.name] = path.read_bytes()
    write_whole(place, pack(files))
    more = [each for each in files if each not in evidence]
    if json:
        emit_json(
            {
                "bundle": str(place),
                "bytes": place.stat().st_size,
                "files": list(files),
                "damage": damage,
            }
        )
        return
    print(
        f"{printable(place)}: {count_text(place.stat().st_size)} B: {name} "
        f"({plural(examined.files, 'file')}), {printable(', '.join(more))}"
    )
    if damage:
        print(
            f"freezeframe: {printable(capture)} is damaged in {plural(len(damage), 'place')}; damage.txt lists them",
            file=sys.stderr,
        )


def _stated(examined: Examined) -> Iterable[str]:
    return () if examined.manifest is None else examined.manifest["raw"]


def _versions() -> bytes:
    """Return what made the bundle, as JSON: no name of a user or a machine."""
    libraries = {name: version(name) for name in _LIBRARIES}
    said = {
        "tool": tool_version(),
        "python": platform.python_version(),
        "system": platform.platform(),
        "libraries": libraries,
    }
    return json_text.dumps(said, indent=1).encode() + b"\n"
