"""Freezeframe from Python: ``import freezeframe.capture as ff``, then connect, pull, open, decode, analyze.

Names are loaded when they are first used, so importing this costs nothing. Decoders and analyses stand on
higher floors; they are found through entry points, as the command line finds them. See docs/python-api.md.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from freezeframe.capture.api import Card, analyze, connect, decode, explain
    from freezeframe.capture.api import open_capture as open
    from freezeframe.capture.errors import FreezeframeError, InputError, TargetError
    from freezeframe.capture.folder import CaptureFolder
    from freezeframe.capture.folder.samples import SampleFolder

__all__ = [
    "CaptureFolder",
    "Card",
    "FreezeframeError",
    "InputError",
    "SampleFolder",
    "TargetError",
    "analyze",
    "connect",
    "decode",
    "explain",
    "open",
]

_API = "freezeframe.capture.api"
_ERRORS = "freezeframe.capture.errors"
_WHERE = {
    "CaptureFolder": ("freezeframe.capture.folder", "CaptureFolder"),
    "Card": (_API, "Card"),
    "FreezeframeError": (_ERRORS, "FreezeframeError"),
    "InputError": (_ERRORS, "InputError"),
    "SampleFolder": ("freezeframe.capture.folder.samples", "SampleFolder"),
    "TargetError": (_ERRORS, "TargetError"),
    "analyze": (_API, "analyze"),
    "connect": (_API, "connect"),
    "decode": (_API, "decode"),
    "explain": (_API, "explain"),
    "open": (_API, "open_capture"),
}


def __getattr__(name: str) -> Any:
    """Load a name of this interface when it is first asked for (PEP 562)."""
    where = _WHERE.get(name)
    if where is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    found = getattr(import_module(where[0]), where[1])
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *_WHERE})
