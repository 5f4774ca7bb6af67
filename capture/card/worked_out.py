"""Structures of msgspec that any thread may ask for.

msgspec works out what a structure takes when it is first asked, and marks it as worked out before it is: a second
thread that asks meanwhile reads what is not there yet, and the process dies. So the first to ask does it alone.
"""

from __future__ import annotations

from functools import cache
from threading import Lock
from typing import TypeVar

from msgspec import Struct, json

Tables = TypeVar("Tables", bound=Struct)

_alone = Lock()


def worked_out(kind: type[Tables]) -> type[Tables]:
    """Return the structure, worked out with all that stands in it."""
    with _alone:
        _work_out(kind)
    return kind


@cache
def _work_out(kind: type[Struct]) -> None:
    json.Decoder(kind)
