"""A target that is waited for when it vanishes, and must still hold the same recording then."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from freezeframe.capture.errors import BusError, RecorderStateError, TargetError, TargetTimeout
from freezeframe.capture.recorder.agreed import Recording, RecordingLost
from freezeframe.capture.recorder.progress import Tally
from freezeframe.capture.registers import names
from freezeframe.capture.registers.access import ALL_ONES, open_devices
from freezeframe.capture.registers.identity import MAGIC
from freezeframe.capture.targets.base import Target, Words

_CONTACT_S = 3.0
_PAUSE_S = 0.05
_FRUITLESS = 10  # returns from an outage without one read in between that worked


class PatientTarget:
    """A target whose reads outlast an outage of up to ``wait_s``.

    Attributes:
        recording: what the target must hold when it is back; None until that is known.
        inner: the target that is read: the one given, or the last that was opened again.
    """

    def __init__(
        self,
        target: Target,
        wait_s: float,
        reopen: Callable[[], Target] | None = None,
        tally: Tally | None = None,
    ) -> None:
        """Wrap a target.

        Args:
            wait_s: longest outage, seconds.
            reopen: opens the target again, for transports that do not mend themselves.
            tally: counts the outages, and reports them while they last.
        """
        self.recording: Recording | None = None
        self.inner = target
        self._wait_s = wait_s
        self._reopen = reopen
        self._tally = tally or Tally()
        self._fruitless = 0

    @property
    def url(self) -> str:
        """The URL of the target that is waited for."""
        return self.inner.url

    def meet(self) -> None:
        """Raise when there is no device in the first place: only one that was seen is waited for.

        Raises:
            TargetError: no answer, or nothing but ones; the message says which.
        """
        end_s = time.monotonic() + _CONTACT_S
        while True:
            try:
                magic = int(self.inner.read([0])[0])
                break
            except TargetTimeout:
                if time.monotonic() >= end_s:
                    raise
        if magic == ALL_ONES:
            open_devices(self.inner)  # says what is wrong with it

    def read(self, addresses: Words | Sequence[int]) -> Words:
        """Read as ``Target.read``; an outage only takes time.

        Raises:
            RecordingLost: the target did not come back in time, or came back without the recording.
            RecorderStateError: it came back armed, or not frozen.
            BusError: error answer.
        """
        while True:
            try:
                words = self.inner.read(addresses)
                self._refuse_dead(words)
            except BusError:
                raise
            except TargetError as error:
                self._wait(error)
            else:
                self._fruitless = 0
                return words

    def write(self, address: int, words: Sequence[int] | Words) -> None:
        """Write as ``Target.write``, after an outage once more: only for writes that are keyed."""
        try:
            self.inner.write(address, words)
        except BusError:
            raise
        except TargetError as error:
            self._wait(error)
            self.inner.write(address, words)

    def close(self) -> None:
        """Close the target that is read."""
        self.inner.close()

    def _refuse_dead(self, words: Words) -> None:
        """Raise when words of all ones come from a bus on which nothing answers any more."""
        if (words == ALL_ONES).any() and int(self.inner.read([0])[0]) == ALL_ONES:
            raise TargetError(f"{self.url}: everything reads all ones, also the magic")

    def _wait(self, error: TargetError) -> None:
        self._tally.outages += 1
        self._fruitless += 1
        if self._fruitless > _FRUITLESS:
            raise RecordingLost(
                self.url,
                f"the target answers single words, but {_FRUITLESS} longer reads in a row failed",
                f" (last: {error})",
            ) from error
        end_s = time.monotonic() + self._wait_s
        last = error
        while True:
            self._tally.tell(waiting=True)
            try:
                if self._reopen is not None:
                    self.inner.close()  # first: a line that one program may have open is not opened twice
                    self.inner = self._reopen()
                self._refuse_stranger()
                if self.recording is not None:
                    self.recording.confirm(self.inner)
                return
            except (RecordingLost, RecorderStateError):
                raise
            except TargetError as still:
                last = still
            if time.monotonic() >= end_s:
                raise RecordingLost(
                    self.url,
                    f"the target vanished and did not come back within {self._wait_s:g} s",
                    f" (last: {last})",
                ) from last
            time.sleep(_PAUSE_S)

    def _refuse_stranger(self) -> None:
        magic = int(self.inner.read([names.offset("id.magic")])[0])
        if magic != MAGIC:
            raise TargetError(f"{self.url}: the magic reads {magic:#010x}, not {MAGIC:#010x}")
