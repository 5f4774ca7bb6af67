"""The directory of a guard: whose it is, which captures it holds and how they are numbered, and what goes from it.

Source: docs/reliability.md.
"""

from __future__ import annotations

import fcntl
import os
import shutil
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from freezeframe.capture.custody.guard_log import GuardLog
from freezeframe.capture.custody.ledger import RecordingKey
from freezeframe.capture.custody.store import (
    BESIDE,
    BUNDLE,
    LOCK,
    NAME,
    REMOVED,
    Keep,
    captures_in,
    held_back_B,
    holds,
    superfluous,
)
from freezeframe.capture.durable import PARTIAL, remove_folder
from freezeframe.capture.errors import InputError, NoRoomError


class GuardPlace:
    """A directory that is this guard's.

    Args:
        unexplained: the names of the captures that are still to be explained; none of them is removed.
    """

    def __init__(
        self,
        directory: Path,
        keep: Keep,
        log: GuardLog,
        unexplained: Callable[[], Collection[str]],
    ) -> None:
        self.directory = directory
        self._keep = keep
        self._log = log
        self._unexplained = unexplained
        self._waited: frozenset[str] = frozenset()  # to be explained, when it was last pruned

    def tidy(self) -> None:
        """Remove what a guard that was killed has left half-done."""
        for entry in sorted(self.directory.iterdir()):
            match = PARTIAL.fullmatch(entry.name)
            if match and NAME.fullmatch(match["name"]):
                self._log(f"{entry.name}: left by a guard that was killed; removed")
                shutil.rmtree(entry)

    def known(self, keys: Sequence[RecordingKey], *, several: bool) -> list[Path]:
        """Return the captures here that hold these recordings, of one target or of several.

        A nonce of few bits comes again after a power cycle; the cycle of the cause does not.
        """
        stem = f"-{keys[0].nonce:08x}-{keys[0].generation}-"
        folders = [path for path in captures_in(self.directory) if several or stem in path.name]
        return [path for path in folders if holds(path, keys)]

    def next(self, key: RecordingKey, cause: str) -> Path:
        """Return where the next capture goes.

        Raises:
            NoRoomError: what is not explained yet takes more than is to be kept.
        """
        over_B = held_back_B(self.directory, self._keep, self._unexplained())
        if over_B:
            raise NoRoomError(
                f"{self.directory}: {over_B:,} B above --keep-bytes, and what is not explained yet is not removed"
            )
        numbers = [int(path.name.partition("-")[0]) for path in captures_in(self.directory)]
        number = max(numbers, default=0) + 1
        return self.directory / f"{number:04d}-{key.nonce:08x}-{key.generation}-{cause}.ff"

    def prune(self) -> None:
        """Remove what is not to be kept, as far as it has been explained."""
        # In this order: what is not among them any more has its kind in the log.
        self._waited = frozenset(self._unexplained())
        gone = superfluous(self.directory, self._keep, self._log.kinds, self._waited)
        for path in gone:
            remove_folder(path)
            for more in (BESIDE, BUNDLE):
                path.with_suffix(more).unlink(missing_ok=True)
            self._log(f"{path.name}{REMOVED}{_kept_words(self._keep)} are kept")

    def prune_explained(self) -> None:
        """Prune where the explaining has caught up with some since it was last done."""
        if not self._waited <= frozenset(self._unexplained()):
            self.prune()


def _kept_words(keep: Keep) -> str:
    words = [f"the newest {keep.newest}"]
    words += [f"the first {keep.first}"] if keep.first else []
    words += ["one of each kind of finding"] if keep.kinds else []
    words += [f"up to {keep.bytes:,} B"] if keep.bytes is not None else []
    return ", ".join(words)


@contextmanager
def made_alone(directory: Path) -> Iterator[None]:
    """Make the directory and hold its lock, so that two guards never number or remove each other's folders.

    Raises:
        InputError: it cannot be used, or another guard holds it.
    """
    try:
        directory.mkdir(exist_ok=True)
    except OSError as error:
        raise InputError(f"{directory}: cannot be used as a directory: {error.strerror}") from error
    try:
        descriptor = os.open(directory / LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
    except OSError as error:
        raise InputError(f"{directory}: cannot be written: {error.strerror}") from error
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise InputError(
                f"{directory}: another guard works in this directory; give each its own"
            ) from error
        yield
    finally:
        os.close(descriptor)
