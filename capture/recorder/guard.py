"""Wait for a freeze, pull it, arm again: unattended, for faults that take days.

Each freeze becomes ``NNNN-NONCE-GENERATION-CAUSE.ff`` in one directory. A freeze that has its whole
folder is not pulled again, whatever was restarted in between. A recorder is armed as soon as its
recording stands on the disk, and only then: what it holds must be what stands there, by boot nonce and
generation, or nothing is armed. What another program has given up is said in the log.
"""

from __future__ import annotations

import fcntl
import json
import os
import re
import shutil
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from freezeframe.capture.card.device import open_any, split_card
from freezeframe.capture.durable import PARTIAL, remove_folder
from freezeframe.capture.errors import (
    FreezeframeError,
    InputError,
    NoRoomError,
    RecorderStateError,
    TargetError,
)
from freezeframe.capture.folder.manifest import MANIFEST
from freezeframe.capture.recorder.control import arm_all
from freezeframe.capture.recorder.pull import PullReport, pull
from freezeframe.capture.recorder.state import RecorderState, read_state
from freezeframe.capture.registers.access import Recorder
from freezeframe.capture.targets.base import Target, open_target

LOG = "guard.log"
LOCK = ".guard.lock"

_NAME = re.compile(r"(?P<number>\d{4,})-(?P<nonce>[0-9a-f]{8})-(?P<generation>\d+)-[a-z0-9-]+\.ff")
_SLICE_S = 0.1  # between two looks at ``stop``
_LONGEST_AWAY_S = 5.0  # between two attempts to reach a target that is away
_ROOM_S = 2.0  # between two looks at a disk that is full

OnCapture = Callable[[PullReport], None]


def guard(
    target_url: str,
    keep: int,
    directory: Path | str,
    on_capture: OnCapture | None = None,
    stop: Callable[[], bool] = lambda: False,
    *,
    poll_s: float = 0.2,
    wait_s: float = 30.0,
    log: Callable[[str], None] | None = None,
) -> int:
    """Pull every freeze of a target until ``stop`` says so; return how many were.

    A freeze of which something could not be read is pulled once more before the recorder is armed.

    Args:
        target_url: must answer once at the start; later it may vanish for any time.
        keep: newest folders kept in ``directory``; older ones that a guard made are removed.
        directory: made when it is not there; its parent must be.
        on_capture: called with each report, after the recorder was armed again; what it raises as
            FreezeframeError goes to the log.
        stop: asked several times a second.
        poll_s: pause between two looks at the recorders.
        wait_s: how long a pull waits for a target that vanishes during it.
        log: called with each line that also goes to ``guard.log``.
    Raises:
        InputError: the directory cannot be used. A full disk is waited for: the recorder stays frozen
            with the recording in it.
        DeviceUnknownError, TargetError: at the start only.
    """
    if keep < 1:
        raise InputError(f"keep {keep}: at least one capture must be kept")
    place = Path(directory)
    try:
        place.mkdir(exist_ok=True)
    except OSError as error:
        raise InputError(f"{place}: cannot be used as a directory: {error.strerror}") from error
    with _alone(place):
        post = _Guard(target_url, keep, place, on_capture, _Log(place, log), wait_s)
        post.tidy()
        post.connect()
        try:
            while not stop():
                pause_s = post.look(poll_s)
                _sleep(pause_s, stop)
        finally:
            post.disconnect()
    return post.pulled


@dataclass(slots=True)
class _Log:
    """Lines with the time of day, in ``guard.log`` and to whoever listens."""

    directory: Path
    listener: Callable[[str], None] | None

    def __call__(self, line: str) -> None:
        stamped = f"{time.strftime('%Y-%m-%dT%H:%M:%SZ', time.gmtime())} {line}"
        try:
            with (self.directory / LOG).open("a", encoding="utf-8") as file:
                file.write(stamped + "\n")
        except OSError as error:
            stamped += f" ({LOG}: {error.strerror})"  # a full disk must not end the guard here
        if self.listener is not None:
            self.listener(stamped)


@dataclass(slots=True)
class _Guard:
    """What a guard knows between two looks at its target."""

    url: str
    keep: int
    directory: Path
    on_capture: OnCapture | None
    log: _Log
    wait_s: float
    pulled: int = 0
    _target: Target | None = None
    _devices: Sequence[Recorder] = ()
    _away_s: float = 0.0
    _trouble: str = ""
    _seen: tuple[int, int] | None = None  # nonce and generation at the last look, or after arming
    _again: set[str] = field(default_factory=set)

    def tidy(self) -> None:
        """Remove what a guard that was killed has left half-done."""
        for entry in sorted(self.directory.iterdir()):
            match = PARTIAL.fullmatch(entry.name)
            if match and _NAME.fullmatch(match["name"]):
                self.log(f"{entry.name}: left by a guard that was killed; removed")
                shutil.rmtree(entry)
        self._prune()

    def connect(self) -> None:
        """Open the target and its devices; raises as ``open_target`` and ``open_any``."""
        plain, card = split_card(self.url)
        target = open_target(plain)
        try:
            self._devices = open_any(target, card)
        except BaseException:
            target.close()
            raise
        self._target = target
        names = ", ".join(device.name for device in self._devices)
        self.log(f"{target.url}: watching {names}")

    def disconnect(self) -> None:
        """Close the target; the next look opens it again."""
        if self._target is not None:
            self._target.close()
        self._target = None

    def look(self, poll_s: float) -> float:
        """Look at the recorders once, do what there is to do, return how long to pause."""
        try:
            if self._target is None:
                self.connect()
            states = [read_state(device) for device in self._devices]
            self._away_s = 0.0
            if any(
                s.nonce != d.identity.boot_nonce for s, d in zip(states, self._devices, strict=True)
            ):
                self.log("the target was restarted; what it had recorded before is gone")
                self.disconnect()
                return 0.0
            self._account(states[0])
            if all(state.state == "idle" for state in states):
                self._arm("idle", [(state.nonce, state.generation) for state in states])
            elif any(state.state == "frozen" for state in states):
                self._frozen(states)
            self._away_s, self._trouble = 0.0, ""
            return poll_s
        except NoRoomError as error:
            if self._trouble != type(error).__name__:
                self.log(f"{error}; the recorder stays frozen until there is room")
            self._trouble = type(error).__name__
            return max(poll_s, _ROOM_S)
        except InputError as error:
            self.log(f"{error}; the guard ends")
            raise
        except TargetError as error:
            if self._trouble != type(error).__name__:  # one line for an outage, however long it is
                self.log(f"{error}; going on")
            self._trouble = type(error).__name__
            self.disconnect()
            self._away_s = min(max(2 * self._away_s, poll_s), _LONGEST_AWAY_S)
            return self._away_s

    def _frozen(self, states: Sequence[RecorderState]) -> None:
        key = f"{states[0].nonce:08x}-{states[0].generation}"
        known = [
            path
            for _, path in self._folders()
            if f"-{key}-" in path.name
            # A nonce of few bits comes again after a power cycle; the cycle of the cause does not.
            and _devices_of(path)[0]["cause_cycle"] in (None, states[0].cause_cycle)
        ]
        if known and (key in self._again or not _has_gaps(known[-1])):
            self._arm(f"{known[-1].name} was pulled before", _kept(known[-1]))
            return
        target = self._target
        if target is None:
            return
        if known:
            # The target went away during that pull and has come back with the recording.
            self._again.add(key)
            self.log(f"{known[-1].name} has gaps; pulled once more")
        last = max((number for number, _ in self._folders()), default=0)
        path = self.directory / f"{last + 1:04d}-{key}-{_cause(states)}.ff"
        plain, card = split_card(self.url)
        report = pull(
            target,
            path,
            freeze=True,
            wait_s=self.wait_s,
            reopen=lambda: open_target(plain),
            card=card,
        )
        missing = "" if report.complete else f"; missing: {'; '.join(report.lost)}"
        self.log(
            f"{path.name}: {report.words} words in {report.seconds:.2f} s, "
            f"{report.retries} read again{missing}"
        )
        try:
            if report.outages:  # the pull went on over a target of its own
                self.disconnect()
                self.connect()
            if not report.complete and not known:
                self.log(f"{path.name} has gaps; the recorder stays frozen for one more pull")
                return
            self.pulled += 1
            self._arm(f"{path.name} stands on the disk", _kept(path))
        finally:
            # Whatever became of the target: the capture is here, and seconds of explaining are not blind.
            self._explain(report)
            self._prune()

    def _explain(self, report: PullReport) -> None:
        if self.on_capture is not None:
            try:
                self.on_capture(report)
            except FreezeframeError as error:
                self.log(f"{report.path.name}: {error}")

    def _arm(self, why: str, given_up: Sequence[tuple[int, int]]) -> None:
        try:
            generations = arm_all(self._devices, given_up)
        except RecorderStateError as error:
            self.log(f"{why}; not armed: {error}")
            return
        self._seen = (given_up[0][0], generations[0])
        armed = ", ".join(
            f"{device.name} generation {number}"
            for device, number in zip(self._devices, generations, strict=True)
        )
        self.log(f"{why}; armed: {armed}")

    def _account(self, state: RecorderState) -> None:
        """Say which generations somebody else has given up since the last look, and that they are not here."""
        before, self._seen = self._seen, (state.nonce, state.generation)
        if before is None or before[0] != state.nonce or before[1] >= state.generation:
            return
        here = [path.name for _, path in self._folders()]
        missing = [
            number
            for number in range(before[1], state.generation)
            if not any(f"-{state.nonce:08x}-{number}-" in name for name in here)
        ]
        if missing:
            which = f"generation {missing[0]} was"
            if len(missing) > 1:
                which = f"{len(missing)} generations, {missing[0]} to {missing[-1]}, were"
            self.log(
                f"{which} given up by another program: not kept here, nor known whether frozen"
            )

    def _folders(self) -> list[tuple[int, Path]]:
        """Return the folders that a guard made here with their numbers, oldest first."""
        return [(int(path.name.partition("-")[0]), path) for path in captures_in(self.directory)]

    def _prune(self) -> None:
        for _, path in self._folders()[: -self.keep]:
            remove_folder(path)
            self.log(f"{path.name}: removed; the newest {self.keep} are kept")


def captures_in(directory: Path) -> list[Path]:
    """Return the captures that a guard made in a directory, oldest first; none where it is not there."""
    numbered = []
    for entry in directory.iterdir() if directory.is_dir() else ():
        match = _NAME.fullmatch(entry.name)
        if match and _is_of(entry, match["nonce"], int(match["generation"])):
            numbered.append((int(match["number"]), entry))
    return [path for _, path in sorted(numbered)]


def _is_of(folder: Path, nonce: str, generation: int) -> bool:
    """Return whether a folder is the capture that its name says; only such a one is a guard's."""
    try:
        manifest = json.loads((folder / MANIFEST).read_bytes())
        first = manifest["devices"][0]
        return bool(first["boot_nonce"] == f"0x{nonce}" and first["generation"] == generation)
    except (OSError, ValueError, LookupError, TypeError):
        return False


def _devices_of(folder: Path) -> list[dict[str, Any]]:
    """Return the devices of a capture that `_is_of` has looked at, as its manifest has them."""
    devices: list[dict[str, Any]] = json.loads((folder / MANIFEST).read_bytes())["devices"]
    return devices


def _kept(folder: Path) -> list[tuple[int, int]]:
    """Return boot nonce and generation of each device of a capture."""
    return [(int(device["boot_nonce"], 16), device["generation"]) for device in _devices_of(folder)]


def _has_gaps(folder: Path) -> bool:
    """Return whether a capture states that some of its recording could not be read."""
    return any(
        part["gaps"]
        for device in _devices_of(folder)
        for part in (*device["memories"].values(), device.get("samples"))
        if part
    )


def _cause(states: Sequence[RecorderState]) -> str:
    """Return the cause that names a freeze: the first that no other card brought."""
    own = [cause for state in states for cause in state.own_causes]
    first = (*own, *(cause for state in states for cause in state.causes), "unknown")[0]
    return first.replace("_", "-")  # a card file's names have underscores


@contextmanager
def _alone(directory: Path) -> Iterator[None]:
    """Hold the directory's lock, so that two guards never number or remove each other's folders."""
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


def _sleep(pause_s: float, stop: Callable[[], bool]) -> None:
    end_s = time.monotonic() + pause_s
    while (left_s := end_s - time.monotonic()) > 0 and not stop():
        time.sleep(min(left_s, _SLICE_S))
