"""Who guards a card: a file for each device that is locked while its guard lives.

The lock is the kernel's: it goes with the process, however that ends, so a lease that is not locked is a stale one and
only tells who had it last. The file is named by the device's boot nonce, by which a card is the same over every way
that leads to it; a card that was powered up again has a new lease.

Source: docs/reliability.md.
"""

from __future__ import annotations

import fcntl
import json
import os
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from freezeframe.capture.custody.ledger import state_home
from freezeframe.capture.errors import InputError
from freezeframe.capture.folder.history import act

_MOST_B = 1 << 16
_TRIES = 5
_PAUSE_S = 0.01


@dataclass(frozen=True, slots=True)
class Lease:
    """Who guards, or guarded, a card. ``live`` is false where its process is gone."""

    pid: int
    where: str
    since: str
    directory: str
    live: bool

    @property
    def text(self) -> str:
        return (
            f"process {self.pid} on {self.where} since {self.since}, into {self.directory}"
            if self.live
            else f"process {self.pid} on {self.where} until it ended, into {self.directory}"
        )


class Leases:
    """The leases that one guard holds; ``take`` adds, ``release`` gives all back."""

    def __init__(self, home: Path | None = None) -> None:
        self._place = (state_home() if home is None else home) / "leases"
        self._held: dict[int, int] = {}  # nonce -> descriptor

    def take(self, nonces: Sequence[int], directory: Path) -> str:
        """Take the lease of every device; those of other boots that were held are given back.

        Returns:
            why leases cannot be kept on this host, in one line; empty where they are.
        Raises:
            InputError: another guard that lives has one; the message says which.
        """
        for nonce in set(self._held) - set(nonces):
            self._give_back(nonce)
        try:
            self._place.mkdir(parents=True, exist_ok=True)
            for nonce in nonces:
                if nonce not in self._held:
                    self._take(nonce, directory)
        except OSError as error:
            return f"{self._place}: {error.strerror}: no other guard will know that this card is guarded"
        return ""

    def release(self) -> None:
        """Give all leases back."""
        for nonce in list(self._held):
            self._give_back(nonce)

    def _take(self, nonce: int, directory: Path) -> None:
        path = self._place / f"{nonce:08x}.lease"
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
        if not _locked(descriptor):
            os.close(descriptor)
            other = lease_of(nonce, self._place.parent)
            who = f": {other.text}" if other is not None else ""
            raise InputError(
                f"the card with boot nonce {nonce:#010x} is guarded already{who}; one guard a card"
            )
        said = act("guards", pid=os.getpid(), directory=str(directory.resolve()))
        self._held[nonce] = descriptor
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, json.dumps(said).encode(), 0)

    def _give_back(self, nonce: int) -> None:
        descriptor = self._held.pop(nonce)
        # The file stays, empty: who removed it could take it from one that has just opened it.
        os.ftruncate(descriptor, 0)
        os.close(descriptor)


def _locked(descriptor: int) -> bool:
    """Return whether a lease could be locked; who only looks at one holds it for a moment."""
    for left in reversed(range(_TRIES)):
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return True
        except BlockingIOError:
            if left:
                time.sleep(_PAUSE_S)
    return False


def lease_of(nonce: int, home: Path | None = None) -> Lease | None:
    """Return who guards a card, or who last did and was killed; None where nobody is known."""
    path = (state_home() if home is None else home) / "leases" / f"{nonce:08x}.lease"
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
            live = False
        except BlockingIOError:
            live = True
        try:
            said = json.loads(os.pread(descriptor, _MOST_B, 0))
            return Lease(
                int(said["pid"]),
                str(said["where"]),
                str(said["when"]),
                str(said["directory"]),
                live,
            )
        except (ValueError, LookupError, TypeError):
            return (
                Lease(0, "this host", "an unknown time", "an unknown place", True) if live else None
            )
    finally:
        os.close(descriptor)
