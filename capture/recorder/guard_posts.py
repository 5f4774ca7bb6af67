"""The targets of a guard: opened before anything is written, refused where they cannot be guarded, away and back."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from typing import NamedTuple

from freezeframe.capture.card.device import CardDevice, open_any, split_card
from freezeframe.capture.custody.accounts import Accounts
from freezeframe.capture.custody.giving_up import recordings_of
from freezeframe.capture.custody.ledger import RecordingKey
from freezeframe.capture.errors import DeviceUnknownError, InputError, TargetError
from freezeframe.capture.recorder.state import RecorderState
from freezeframe.capture.registers.access import Recorder
from freezeframe.capture.registers.names import device_name
from freezeframe.capture.targets.base import Target, open_target


class Way(NamedTuple):
    """A target that was opened, and what is there."""

    target: Target
    devices: Sequence[Recorder]


def open_way(url: str) -> Way:
    """Open a target and its devices; raises as ``open_target`` and ``open_any``."""
    plain, card = split_card(url)
    target = open_target(plain)
    try:
        return Way(target, open_any(target, card))
    except BaseException:
        target.close()
        raise


def open_ways(urls: Sequence[str], opened: ExitStack) -> list[Way | TargetError]:
    """Open all targets, before anything is written; of one that is not up, return why.

    Raises:
        InputError, DeviceUnknownError: one is no target, or no card of ours.
    """
    found: list[Way | TargetError] = []
    for url in urls:
        try:
            way = open_way(url)
        except DeviceUnknownError:
            raise
        except TargetError as error:
            found.append(error)
        else:
            opened.callback(way.target.close)  # once more does no harm
            found.append(way)
    return found


def refuse_twice(ways: Sequence[Way]) -> None:
    """Refuse one card over two ways: it would be pulled twice, and what one has armed be none of the other's."""
    way_of: dict[int, Way] = {}
    for way in ways:
        for nonce in {device.identity.boot_nonce for device in way.devices}:
            first = way_of.setdefault(nonce, way)
            if first is not way:
                raise InputError(
                    f"{first.target.url} and {way.target.url}: lead to the same card, boot nonce {nonce:#010x}; "
                    "name it once (two cards of one nonce are not told apart: let one of them start anew)"
                )


def refuse_traces(ways: Sequence[Way], traced: Sequence[str], *, all_up: bool) -> None:
    """Refuse a trace of a card that is not there; while a target is not up, nobody knows how many it has."""
    known = [device_name(number) for number in range(sum(len(way.devices) for way in ways))]
    for name in traced if all_up else ():
        if name not in known:
            raise InputError(
                f"--host-trace: no device {name!r}; the targets have {', '.join(known)}"
            )


def refuse_card_files(ways: Sequence[Way], *, alone: bool) -> None:
    """Refuse a card of a card file that is not ``alone``: beside others, or with traces of its host."""
    for way in ways:
        if isinstance(way.devices[0], CardDevice) and not alone:
            raise InputError(
                f"{way.target.url}: a card that is described by a file is guarded alone and without --host-trace; "
                "run a guard for each, in directories of their own"
            )


@dataclass(slots=True)
class Post:
    """One target of a guard: opened or away, and what its recorders did at the last look."""

    url: str
    accounts: Accounts
    target: Target | None = None
    devices: Sequence[Recorder] = ()
    states: Sequence[RecorderState] = ()
    away_since_s: float | None = None
    known: bool = False  # it has answered once

    @property
    def keys(self) -> tuple[RecordingKey, ...]:
        return recordings_of(self.states)

    @property
    def frozen(self) -> bool:
        return any(state.state == "frozen" for state in self.states)

    def open(self, way: Way | None = None) -> str:
        """Open it and its devices, or take what was opened, and return what there is to log; raises as `open_way`."""
        self.target, self.devices = open_way(self.url) if way is None else way
        self.states = ()  # those of other devices, if any
        self.away_since_s = None
        return f"{self.target.url}: watching {', '.join(device.name for device in self.devices)}"

    def close(self) -> None:
        """Close it; the next look opens it again."""
        if self.target is not None:
            self.target.close()
        self.target, self.states = None, ()
