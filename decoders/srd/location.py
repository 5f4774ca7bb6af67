"""Where libsigrokdecode, its decoders and the Python it was built with are on this machine.

``FREEZEFRAME_SIGROK_LIBRARY`` names the library; ``SIGROKDECODE_DIR`` names a folder of decoders
that come before the installed ones, as for sigrok-cli and PulseView.
"""

from __future__ import annotations

import os
import re
import shutil
import sys
import sysconfig
from dataclasses import dataclass
from pathlib import Path

from freezeframe.capture.errors import FreezeframeError

LIBRARY_VARIABLE = "FREEZEFRAME_SIGROK_LIBRARY"
_INSTALL = (
    "install it (Debian: apt-get install libsigrokdecode4), or name it with " + LIBRARY_VARIABLE
)


@dataclass(frozen=True, slots=True)
class SrdLocation:
    """The library, the folders with decoders (the first wins) and the Python that runs it."""

    library: Path
    folders: tuple[Path, ...]
    python: str

    def decoder_names(self) -> list[str]:
        """Return the names of all decoders in the folders, sorted."""
        return sorted(
            {
                entry.parent.name
                for folder in self.folders
                for entry in folder.glob("*/__init__.py")
                # Folders without it hold what decoders share.
                if (entry.parent / "pd.py").exists() or "Decoder" in _text(entry)
            }
        )


def find_sigrok() -> SrdLocation:
    """Return where everything is; nothing is loaded and no program is run.

    Raises:
        FreezeframeError: there is no library, no decoder, or not the Python that it needs.
    """
    library = _library()
    folders = tuple(folder for folder in _folders(library) if folder.is_dir())
    if not folders:
        raise FreezeframeError(
            f"{library}: no folder with decoders: {', '.join(map(str, _folders(library)))} are not "
            "there; name one with SIGROKDECODE_DIR"
        )
    return SrdLocation(library, folders, _python(library))


def _library() -> Path:
    named = os.environ.get(LIBRARY_VARIABLE)
    if named:
        path = Path(named)
        if not path.is_file():
            raise FreezeframeError(f"{LIBRARY_VARIABLE}={named}: there is no such file")
        return path
    prefixes = ("/usr/local/lib", "/usr/lib", "/lib", "/opt/homebrew/lib", "/usr/lib64")
    multiarch = sysconfig.get_config_var("MULTIARCH") or ""
    places = [place for place in os.environ.get("LD_LIBRARY_PATH", "").split(os.pathsep) if place]
    places += [f"{prefix}/{multiarch}" for prefix in prefixes if multiarch] + list(prefixes)
    for place in places:
        for pattern in ("libsigrokdecode.so.4", "libsigrokdecode.so.*", "libsigrokdecode*.dylib"):
            for path in sorted(Path(place).glob(pattern)):
                return path.resolve()
    raise FreezeframeError(f"libsigrokdecode is not installed; {_INSTALL}")


def _folders(library: Path) -> list[Path]:
    """Return where libsigrokdecode looks, in the order in which it finds."""
    home = os.environ.get("XDG_DATA_HOME") or str(Path.home() / ".local" / "share")
    shared = os.environ.get("XDG_DATA_DIRS") or "/usr/local/share:/usr/share"
    own = os.environ.get("SIGROKDECODE_DIR")
    folders = [Path(own)] if own else []
    beside = [parent / "share" for parent in library.parents if (parent / "share").is_dir()][:1]
    for place in [Path(home), *(Path(part) for part in shared.split(":") if part), *beside]:
        folder = place / "libsigrokdecode" / "decoders"
        if folder not in folders:
            folders.append(folder)
    return folders


def _python(library: Path) -> str:
    """Return a Python of the version that the library is linked with; this one if it fits."""
    needs = re.search(rb"libpython(3\.\d+)", library.read_bytes())
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    if needs is None or needs[1].decode() == version:
        return sys.executable
    name = f"python{needs[1].decode()}"
    program = shutil.which(name)
    if program is None:
        raise FreezeframeError(
            f"{library} is built for {name}, and this is Python {version}: there is no {name} on "
            f"PATH; install it (Debian: apt-get install {name}-minimal)"
        )
    return program


def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8", errors="replace")
