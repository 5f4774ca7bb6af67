"""A target that is waited for when it vanishes, and must still hold the same recording then."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from freezeframe.capture.errors import BusError, RecorderStateError, TargetError
from freezeframe.capture.registers import names
from freezeframe.capture.registers.access import ALL_ONES, Device
from freezeframe.capture.registers.identity import MAGIC
from freezeframe.capture.registers.layouts import STATE_NAMES, State
from freezeframe.capture.targets.base import Target, Words

__all__ = ["PatientTarget", "Recording", "RecordingLost"]

_PAUSE_S = 0.05
_FRUITLESS = 10  # returns from an outage without one read in between that worked
_CONFIRM_TRIES = 16
_STATE_MASK = 0x3


class RecordingLost(TargetError):
    """The rest of a recording is out of reach: the target stayed away, or came back without it.

    ``reason`` is the message without the URL: it stands in the capture, and the options of a URL
    may say what a capture must not (which fault an emulated card was given).
    """

    def __init__(self, url: str, reason: str, detail: str = "") -> None:
        super().__init__(f"{url}: {reason}{detail}")
        self.reason = reason


class PatientTarget:
    """A target whose reads outlast an outage of up to ``wait_s``.

    Attributes:
        outages: how often it vanished and came back.
        returned: called with the target when it is back; raises when it is not what it was.
    """

    def __init__(
        self,
        target: Target,
        wait_s: float,
        reopen: Callable[[], Target] | None = None,
        waiting: Callable[[], None] | None = None,
    ) -> None:
        """Wrap a target.

        Args:
            wait_s: longest outage, seconds.
            reopen: opens the target anew, for transports that do not mend themselves.
            waiting: called now and then during an outage.
        """
        self.outages = 0
        self.returned: Callable[[Target], None] = lambda target: None
        self._inner = target
        self._given = target
        self._wait_s = wait_s
        self._reopen = reopen
        self._waiting = waiting or (lambda: None)
        self._fruitless = 0

    @property
    def url(self) -> str:
        """The URL of the target that is waited for."""
        return self._inner.url

    def read(self, addresses: Words | Sequence[int]) -> Words:
        """Read as ``Target.read``; an outage only takes time.

        Raises:
            RecordingLost: the target did not come back in time; or what ``returned`` raises.
            BusError: error answer.
        """
        while True:
            try:
                words = self._inner.read(addresses)
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
            self._inner.write(address, words)
        except BusError:
            raise
        except TargetError as error:
            self._wait(error)
            self._inner.write(address, words)

    def close(self) -> None:
        """Close what was opened anew; the target that was given stays its owner's."""
        if self._inner is not self._given:
            self._inner.close()

    def _refuse_dead(self, words: Words) -> None:
        """Raise when words of all ones come from a bus on which nothing answers any more."""
        if (words == ALL_ONES).any() and int(self._inner.read([0])[0]) == ALL_ONES:
            raise TargetError(f"{self.url}: everything reads all ones, also the magic")

    def _wait(self, error: TargetError) -> None:
        self.outages += 1
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
            self._waiting()
            try:
                if self._reopen is not None:
                    fresh = self._reopen()
                    self._inner.close()
                    self._inner = fresh
                self._refuse_stranger()
                self.returned(self._inner)
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
        magic = int(self._inner.read([names.offset("id.magic")])[0])
        if magic != MAGIC:
            raise TargetError(f"{self.url}: the magic reads {magic:#010x}, not {MAGIC:#010x}")


@dataclass(slots=True)
class Recording:
    """Which recording is being read: boot nonce and generation of every device, all frozen."""

    devices: Sequence[Device]
    expected: list[tuple[int, int, int]]  # nonce, generation, state of each device

    @classmethod
    def frozen(cls, devices: Sequence[Device], generations: Sequence[int]) -> Recording:
        """Hold what identifies the recording of each device that was found frozen."""
        expected = [
            (device.identity.boot_nonce, generation, int(State.FROZEN))
            for device, generation in zip(devices, generations, strict=True)
        ]
        return cls(devices, expected)

    def confirm(self, target: Target) -> None:
        """Check that every device still holds this recording.

        What was read before is then of this recording: a nonce does not come back after a restart,
        and a generation does not after an arm.

        Raises:
            RecordingLost: a device was restarted.
            RecorderStateError: a device was armed again, or says it is not frozen.
            TargetError: the answers stay different from one reading to the next.
        """
        addresses = [
            device.address(name)
            for device in self.devices
            for name in ("id.boot_nonce", "ctl.generation", "ctl.state")
        ]
        before: Words | None = None
        for _ in range(_CONFIRM_TRIES):
            words = target.read(addresses)
            found = [(int(n), int(g), int(s) & _STATE_MASK) for n, g, s in words.reshape(-1, 3)]
            if found == self.expected:
                return
            # One word altered on its way is no restart: a difference is believed the second time.
            if before is not None and np.array_equal(words, before):
                raise self._changed(target.url, found)
            before = words
        raise TargetError(
            f"{target.url}: nonce, generation and state were different in each of "
            f"{_CONFIRM_TRIES} readings; the network alters packets"
        )

    def _changed(self, url: str, found: list[tuple[int, int, int]]) -> TargetError:
        for device, was, now in zip(self.devices, self.expected, found, strict=True):
            where = f"{url}: device {device.name}"
            if now[0] != was[0]:
                return RecordingLost(
                    url,
                    f"device {device.name} was restarted (boot nonce {was[0]:#010x} before, "
                    f"{now[0]:#010x} now); its recording is gone",
                )
            if now[1] != was[1]:
                return RecorderStateError(
                    f"{where} was armed again during the pull (generation {was[1]} before, "
                    f"{now[1]} now); nothing is kept. Stop whatever arms it, and pull again"
                )
            if now[2] != was[2]:
                return RecorderStateError(
                    f"{where} is {STATE_NAMES[now[2]]} and was frozen, with the same generation; "
                    "the device contradicts itself, and nothing is kept"
                )
        raise ValueError("nothing has changed")
