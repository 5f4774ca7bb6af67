"""How much a packed file may unpack to: ``--max-unpacked``, for this process and the ones that it starts.

No ratio tells a bomb from a capture: a real one of a quiet bus unpacks a thousandfold.
"""

from __future__ import annotations

import os

from freezeframe.capture.errors import InputError

DEFAULT_B = 64 << 30
_VARIABLE = "FREEZEFRAME_MAX_UNPACKED"  # in the environment, so that processes started from here have it too


def limit_B() -> int:
    """Return how many bytes one file may unpack to."""
    text = os.environ.get(_VARIABLE, "")
    return int(text) if text.isascii() and text.isdecimal() else DEFAULT_B


def set_limit(size_B: int) -> None:
    """Let one file unpack to at most ``size_B``, here and in processes that are started from now on."""
    os.environ[_VARIABLE] = str(size_B)


def check_unpacked(path: object, size_B: int, *, says: bool = False) -> None:
    """Refuse a file that unpacks to more than is allowed.

    Args:
        size_B: bytes it has unpacked to so far, or, where it ``says`` so, that it says it unpacks to.
    Raises:
        InputError: it is more.
    """
    if size_B > (limit := limit_B()):
        what = f"says that it unpacks to {size_B} B" if says else f"unpacks to {size_B} B and more"
        raise InputError(
            f"{path}: {what}; at most {limit} B are unpacked; if it is right, say --max-unpacked {size_B}B"
        )
