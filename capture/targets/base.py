"""The small protocol that every way to a device speaks, and the opening of a target by its URL."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib.metadata import entry_points
from typing import Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from freezeframe.capture.errors import InputError

Words = npt.NDArray[np.uint32]


@runtime_checkable
class Target(Protocol):
    """Registers reached over some transport: byte addresses, multiples of 4, and words of 32 bits.

    No read has a side effect on the device, so an implementation may read again whatever got lost;
    a write is sent once for each call and may, on a lossy transport, be lost, late or doubled.
    """

    @property
    def url(self) -> str:
        """The URL that opens this target again."""

    def read(self, addresses: Words | Sequence[int]) -> Words:
        """Return the word at each address, in the order asked: ``(n,)`` uint32, a copy.

        Any addresses in any order; the transport groups them into its largest requests and keeps
        several in flight. An error answer is 0xFFFFFFFF on transports that cannot say more
        (docs/formats.md, section 1).

        Raises:
            BusError: the transport reports an error answer itself.
            TargetTimeout: no answer after all retries; the message says how many words miss.
            ValueError: an address is negative, not a multiple of 4, or above 32 bits.
        """

    def write(self, address: int, words: Sequence[int] | Words) -> None:
        """Write words to consecutive addresses. Returns when sent, not when they took effect.

        Raises:
            BusError: the transport reports an error answer itself.
            ValueError: an address as for ``read``, or a word that does not fit 32 bits.
        """

    def close(self) -> None:
        """Free the transport. After it, use raises TargetError; closing twice is harmless."""


TargetFactory = Callable[[str], Target]


def target_schemes() -> dict[str, str]:
    """Return every URL scheme that can be opened and the object reference that opens it."""
    return {point.name: point.value for point in entry_points(group="freezeframe.targets")}


def open_target(url: str) -> Target:
    """Open a target by URL, for instance ``etherbone://127.0.0.1:1234``.

    Raises:
        InputError: no scheme, or one that nothing registered; the message lists those there are.
        TargetError: the transport cannot be opened.
    """
    scheme, colon, _ = url.partition(":")
    points = [point for point in entry_points(group="freezeframe.targets") if point.name == scheme]
    if not colon or not points:
        known = ", ".join(f"{name}:" for name in sorted(target_schemes()))
        raise InputError(
            f"{url!r}: no target of that kind; a target is a URL that begins with {known}, or a name of yours for one"
        )
    factory: TargetFactory = points[0].load()
    return factory(url)
