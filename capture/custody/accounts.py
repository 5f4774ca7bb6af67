"""What became of every generation of a card while it was guarded: entries of the guard's log.

An entry is one generation of one boot: ``kept`` (in which capture), ``given-up`` (by whom, kept elsewhere or not),
``never-frozen`` (armed over while it ran), ``lost`` (frozen, and gone with the power), or ``unknown``.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from freezeframe.capture.custody.guard_log import GuardLog
from freezeframe.capture.custody.ledger import GIVEN_UP, KEPT, Ledger, RecordingKey, digest_of
from freezeframe.capture.custody.store import captures_in, firsts_of
from freezeframe.capture.folder.history import Act, act
from freezeframe.capture.recorder.recorder_state import RecorderState

KEPT_HERE, GIVEN_UP_BY, NEVER_FROZEN, LOST, UNKNOWN = (
    "kept",
    "given-up",
    "never-frozen",
    "lost",
    "unknown",
)


class Accounts:
    """The generations of the first device of a target, one after the other, boot by boot."""

    def __init__(self, directory: Path, ledger: Ledger, log: GuardLog) -> None:
        """Go on after what a guard has written there before."""
        self._log = log
        self._ledger = ledger
        self._told: dict[int, int] = {}  # nonce -> the last generation that is accounted for
        self._last: RecorderState | None = None  # at the last look; None before the first
        for line in log.before.accounts:
            self._told[line["nonce"]] = max(self._told.get(line["nonce"], 0), line["generation"])
        for folder in captures_in(directory):  # a guard was killed before it wrote this down
            for first in firsts_of(folder):
                if first.generation > self._told.get(first.nonce, 0):
                    self._write(first.nonce, first.generation, KEPT_HERE, capture=folder.name)

    def kept(self, key: RecordingKey, capture: str) -> None:
        """A recording stands on the disk."""
        self._write(key.nonce, key.generation, KEPT_HERE, capture=capture)

    def look(self, state: RecorderState) -> list[str]:
        """Account for all generations before the one the card is in; return a line for each stretch not kept here."""
        lines = []
        before, self._last = self._last, state
        if before is not None and before.nonce != state.nonce:
            lines += self._power_went(before)
        first = self._told.get(state.nonce)
        if first is None:
            # Of a boot that began under this guard every generation counts; of another one only from now on.
            first = 0 if before is not None else state.generation - 1
            self._told[state.nonce] = first
        stretch: list[tuple[int, str, str]] = []
        for generation in range(first + 1, state.generation):
            fate, text = self._fate(state.nonce, generation, before)
            if stretch and stretch[-1][2] != text:
                lines.append(_told(stretch))
                stretch = []
            stretch.append((generation, fate, text))
        return lines + ([_told(stretch)] if stretch else [])

    def _fate(self, nonce: int, generation: int, before: RecorderState | None) -> tuple[str, str]:
        acts = [
            entry
            for entry in self._ledger.acts(nonce)
            if entry["parsed"][0].generation == generation
        ]
        elsewhere = [Path(entry["path"]) for entry in acts if entry["what"] == KEPT]
        gone = next((entry for entry in reversed(acts) if entry["what"] == GIVEN_UP), None)
        who = _who(gone) if gone is not None else "another program"
        if place := next((p for p in reversed(elsewhere) if digest_of(p) is not None), None):
            self._write(nonce, generation, GIVEN_UP_BY, by=who, elsewhere=str(place))
            return GIVEN_UP_BY, f"given up by {who}; it is kept in {place}"
        if gone is not None and gone.get("loss"):
            self._write(nonce, generation, GIVEN_UP_BY, by=who, elsewhere=None)
            return GIVEN_UP_BY, f"given up by {who}, frozen, and is kept nowhere"
        if gone is not None:
            self._write(nonce, generation, NEVER_FROZEN, by=who)
            return NEVER_FROZEN, f"armed over by {who} while it was recording"
        frozen = before is not None and (before.nonce, before.generation, before.state) == (
            nonce,
            generation,
            "frozen",
        )
        self._write(nonce, generation, UNKNOWN, by=who, frozen=frozen or None)
        known = "it was frozen when last seen" if frozen else "nor known whether frozen"
        return UNKNOWN, f"given up by {who}: not kept here, {known}"

    def _power_went(self, before: RecorderState) -> list[str]:
        """Account for the generation in which a boot ended."""
        if self._told.get(before.nonce, 0) >= before.generation:
            return []
        which = f"generation {before.generation} of boot {before.nonce:#010x}"
        if before.state in ("triggered", "frozen"):
            self._write(before.nonce, before.generation, LOST, by="a restart of the card")
            return [f"{which} was frozen, not kept yet, and is lost by a restart of the card"]
        self._write(before.nonce, before.generation, UNKNOWN, by="a restart of the card")
        return [f"{which} was {before.state} when last seen; the card was restarted"]

    def _write(self, nonce: int, generation: int, fate: str, **known: Any) -> None:
        self._told[nonce] = max(generation, self._told.get(nonce, 0))
        entry = act(fate, boot_nonce=f"{nonce:#010x}", generation=generation, **known)
        self._log.account(entry)


def _who(gone: Act) -> str:
    return f"{gone.get('by')} of {gone.get('who')} on {gone.get('where')} at {gone.get('when')}"


def _told(stretch: Sequence[tuple[int, str, str]]) -> str:
    first, last, text = stretch[0][0], stretch[-1][0], stretch[0][2]
    if first == last:
        return f"generation {first} was {text}"
    return f"{len(stretch)} generations, {first} to {last}, were {text}"
