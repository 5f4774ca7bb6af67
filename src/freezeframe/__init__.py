"""Freezeframe: a flight recorder for network cards.

``import freezeframe as ff`` is the whole interface for everyday work (docs/python-api.md). Each name is
loaded when it is first used, so that importing this costs nothing and a program that only arms a card
loads neither tables nor kernels (0.6 s of CPU for all of them).
"""

import os
import sys
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

if sys.version_info < (3, 11):  # noqa: UP036 - a checkout on the path is checked by no installer
    sys.exit("freezeframe needs Python 3.11 or newer; this is %d.%d" % sys.version_info[:2])  # noqa: UP031

if TYPE_CHECKING:
    from freezeframe.analyzers.api import analyze, check, diff, explain
    from freezeframe.capture.connection import Card, connect, trigger
    from freezeframe.capture.errors import FreezeframeError, InputError, TargetError
    from freezeframe.capture.folder.opening import open_capture as open
    from freezeframe.capture.folder.reader import CaptureFolder
    from freezeframe.capture.folder.samples import SampleFolder
    from freezeframe.decoders.api import decode
    from freezeframe.gui.report.write import report

__all__ = [
    "CaptureFolder",
    "Card",
    "FreezeframeError",
    "InputError",
    "SampleFolder",
    "TargetError",
    "__version__",
    "analyze",
    "check",
    "connect",
    "decode",
    "diff",
    "explain",
    "open",
    "report",
    "trigger",
]

__version__ = "0.2.0"

_root = Path(__file__).resolve().parents[2]
if (_root / "pyproject.toml").is_file():  # a checkout: the rooms are its top-level folders
    __path__.insert(0, str(_root))

_cache = Path(os.environ.get("XDG_CACHE_HOME") or Path(os.environ.get("HOME") or "/", ".cache"))
_cache = Path(os.environ.get("NUMBA_CACHE_DIR") or _cache / "numba")
_there = next((one for one in (_cache, *_cache.parents) if os.access(one, os.F_OK)), "/")
if not os.access(_there, os.W_OK | os.X_OK):  # numba alone would end in a traceback then
    _own = "freezeframe.capture.kernel_cache.PrivateCacheLocator"
    _numba = ("UserProvided", "InTree", "UserWide", "IPython", "Zip")
    os.environ.setdefault(
        "NUMBA_CACHE_LOCATOR_CLASSES", ",".join([*(f"{one}CacheLocator" for one in _numba), _own])
    )

_MODULE_OF = {
    "CaptureFolder": "capture.folder.reader",
    "Card": "capture.connection",
    "FreezeframeError": "capture.errors",
    "InputError": "capture.errors",
    "SampleFolder": "capture.folder.samples",
    "TargetError": "capture.errors",
    "analyze": "analyzers.api",
    "check": "analyzers.api",
    "connect": "capture.connection",
    "decode": "decoders.api",
    "diff": "analyzers.api",
    "explain": "analyzers.api",
    "open": "capture.folder.opening",
    "report": "gui.report.write",
    "trigger": "capture.connection",
}
_NAME_THERE = {"open": "open_capture"}  # a module of ours does not hide the built-in function


def __getattr__(name: str) -> object:
    """Load a name of the interface when it is first used (PEP 562)."""
    module = _MODULE_OF.get(name)
    if module is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value: object = getattr(import_module(f"freezeframe.{module}"), _NAME_THERE.get(name, name))
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
