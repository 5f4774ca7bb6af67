"""What an argument of ``freezeframe open`` is: a capture folder, samples, packets, counters, or something live."""

from __future__ import annotations

from pathlib import Path

from freezeframe.capture.errors import InputError
from freezeframe.capture.files.open import is_samples
from freezeframe.capture.folder.one_file import place_of
from freezeframe.capture.journal import is_journal
from freezeframe.capture.packets.recognise import is_packets
from freezeframe.gui.desktop.sources.opened import SourceKind


def kind_of(what: str) -> SourceKind:
    """Return what kind of source a path or URL is; nothing is read but the beginning of a folder.

    Raises:
        InputError: there is no such file, and it is no URL of a target or of counters.
    """
    if not what.strip():
        raise InputError("nothing is named; give a capture folder, a file, or the URL of a card")
    path = Path(what)
    try:
        path.lstat()
        there = True
    except (FileNotFoundError, NotADirectoryError):
        there = False
    except (OSError, ValueError) as error:
        raise InputError(f"{what}: cannot be looked at: {error}") from None
    if there:
        if is_packets(path):
            return "packets"
        if is_samples(path):
            return "samples"
        if is_journal(path):
            return "recording"
        if (path := place_of(path)).is_dir():
            if not (path / "manifest.json").is_file():
                raise InputError(
                    f"{what}: is a directory, but not a capture folder: it has no manifest.json; "
                    "give the folder NAME.ff that a pull wrote, or a capture file"
                )
            return "capture"
        raise InputError(f"{what}: is neither a file nor a folder")
    scheme, colon, _ = what.partition(":")
    if colon and scheme.isidentifier() and "/" not in scheme:
        return "live"
    raise InputError(
        f"{what}: there is no such file or folder, and it is no target "
        "(etherbone://192.0.2.7, netdev:eth0)"
    )
