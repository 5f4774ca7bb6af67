"""The one policy for what a card holds: a frozen recording that this host has not kept goes only when that was said.

Whoever arms looks first, names what is given up (boot nonce and generation of every device), and writes down who did
it. What the card holds must be that still when the write comes: on maps from 2 on the card refuses another one, on
map 1 the host compares and the card takes the generation alone.

Source: docs/reliability.md.
"""

from __future__ import annotations

import shlex
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from freezeframe.capture.custody.ledger import (
    ARMED,
    GIVEN_UP,
    KEPT,
    Ledger,
    RecordingKey,
    digest_of,
)
from freezeframe.capture.errors import ForeignRecordingError, RecorderStateError
from freezeframe.capture.recorder.control import arm_all
from freezeframe.capture.recorder.state import RecorderState, settled_states
from freezeframe.capture.registers.access import Recorder

_LOOKS = 8  # until what is written down is what the card holds


@dataclass(frozen=True, slots=True)
class Holding:
    """What the recorders of a target hold.

    Attributes:
        recordings: of each device; ``loss``: of those, what nobody here has kept, in words; empty: nothing.
        kept: the capture in which they lie.
    """

    states: tuple[RecorderState, ...]
    recordings: tuple[RecordingKey, ...]
    kept: Path | None
    loss: str

    @property
    def frozen(self) -> bool:
        return any(state.state in ("triggered", "frozen") for state in self.states)

    @property
    def running(self) -> bool:
        return not self.frozen and any(state.state == "armed" for state in self.states)


@dataclass(frozen=True, slots=True)
class Armed:
    """What came of an arm: the new generations, what was given up, and in one line each what is not certain."""

    generations: tuple[int, ...]
    given_up: Holding
    unsure: tuple[str, ...] = ()


def recordings_of(states: Sequence[RecorderState]) -> tuple[RecordingKey, ...]:
    """Return what identifies the recording of each device."""
    return tuple(
        RecordingKey(s.nonce, s.generation, s.cause_cycle if s.causes else None) for s in states
    )


def holding(devices: Sequence[Recorder], ledger: Ledger) -> Holding:
    """Look at what a target holds, and at what this host knows of it."""
    return known_of(settled_states(devices), ledger)


def known_of(read: Sequence[RecorderState], ledger: Ledger) -> Holding:
    """Return what this host knows of what the recorders of a target hold, by their states."""
    states = tuple(read)
    recordings = recordings_of(states)
    if not any(state.state in ("triggered", "frozen") for state in states):
        return Holding(states, recordings, None, "")
    kept, why = _kept(ledger, recordings)
    if kept is not None:
        return Holding(states, recordings, kept, "")
    frozen = [
        f"{s.device} generation {s.generation} ({', '.join(s.causes) or 'no cause yet'})"
        for s in states
        if s.state in ("triggered", "frozen")
    ]
    verb = "is" if len(frozen) == 1 else "are"
    return Holding(states, recordings, None, f"{' and '.join(frozen)} {verb} frozen, and {why}")


def refuse_loss(
    devices: Sequence[Recorder],
    *,
    discard: bool,
    ledger: Ledger | None = None,
    own: Sequence[tuple[int, int]] | None = None,
) -> Holding:
    """Return what a target holds, where that may go.

    Args:
        own: boot nonce and generation of what the program has armed itself for a test: that goes, and nothing else.
    Raises:
        RecorderStateError: it holds a frozen recording that this host has not kept, and ``discard`` is not said.
        ForeignRecordingError: it holds another recording than ``own``.
    """
    found = holding(devices, ledger or Ledger())
    url = devices[0].target.url
    if own is not None:
        for state, here, meant in zip(found.states, found.recordings, own, strict=True):
            if (here.nonce, here.generation) != meant:
                raise ForeignRecordingError(
                    f"{url}: device {state.device} holds generation {here.generation} of boot {here.nonce:#010x}, not "
                    f"{meant[1]} of {meant[0]:#010x}, which this test armed: another program armed it, or it was "
                    "restarted; nothing was given up, repeat the test when nobody else uses the card"
                )
    elif found.loss and not discard:
        raise RecorderStateError(
            f"{url}: {found.loss}; it would be lost. Keep it: freezeframe pull {shlex.quote(url)} -o NAME.ff",
            option="discard",
        )
    return found


def give_up(
    devices: Sequence[Recorder],
    *,
    by: str,
    discard: bool = False,
    ledger: Ledger | None = None,
    own: Sequence[tuple[int, int]] | None = None,
) -> tuple[Holding, str]:
    """Write down that what a target holds is given up, if that may go, before it goes.

    Args:
        by: the verb, for the ledger.
        own: as `refuse_loss`.
    Returns:
        what it holds, and why it could not be written down (empty where it was).
    Raises:
        RecorderStateError: as `refuse_loss`.
    """
    book = ledger or Ledger()
    found = refuse_loss(devices, discard=discard, ledger=book, own=own)
    return found, note_given_up(devices, found, by=by, ledger=book)


def note_given_up(devices: Sequence[Recorder], found: Holding, *, by: str, ledger: Ledger) -> str:
    """Write down what is given up; before the write to the card, so that no loss is without a line."""
    return ledger.note(
        GIVEN_UP,
        found.recordings,
        states=[state.state for state in found.states],
        kept=str(found.kept) if found.kept else None,
        loss=found.loss or None,
        by=by,
        target=devices[0].target.url.partition("?")[0],
    )


def arm_over(
    devices: Sequence[Recorder],
    *,
    by: str,
    discard: bool = False,
    ledger: Ledger | None = None,
    own: Sequence[tuple[int, int]] | None = None,
) -> Armed:
    """Arm all recorders of a target over what they hold, if that may go, and write down what went.

    Args:
        own: as `refuse_loss`.
    Raises:
        RecorderStateError: a frozen recording would be lost (see `refuse_loss`), or another one came
            meanwhile; as `arm_all` otherwise.
    """
    book = ledger or Ledger()
    noted, trouble = give_up(devices, by=by, discard=discard, ledger=book, own=own)
    for _ in range(_LOOKS):
        looked_s = time.monotonic()
        found = refuse_loss(devices, discard=discard, ledger=book, own=own)
        if found.recordings == noted.recordings:
            break
        # The line took time to reach the disk, and what the card holds by now is named in none.
        noted, trouble = found, note_given_up(devices, found, by=by, ledger=book)
    else:
        raise RecorderStateError(
            f"{devices[0].target.url}: at each of {_LOOKS} looks it held another recording; nothing was armed. Does "
            "another program arm it?"
        )
    over = found.recordings
    generations = tuple(arm_all(devices, [(r.nonce, r.generation) for r in over]))
    unsure = [trouble]
    if found.running:
        took_ms = 1000 * (time.monotonic() - looked_s)
        unsure.append(
            f"it was recording; that it froze in the {took_ms:.1f} ms up to the arm is not excluded"
        )
    unsure.append(note_armed(devices, over, generations, by=by, ledger=book))
    return Armed(generations, found, tuple(dict.fromkeys(filter(None, unsure))))


def note_armed(
    devices: Sequence[Recorder],
    over: Sequence[RecordingKey],
    generations: Sequence[int],
    *,
    by: str,
    ledger: Ledger,
) -> str:
    """Write down who armed, for the history of the next capture; return why it could not be (its history says less)."""
    return ledger.note(
        ARMED,
        [RecordingKey(r.nonce, g) for r, g in zip(over, generations, strict=True)],
        by=by,
        target=devices[0].target.url.partition("?")[0],
    )


def _kept(ledger: Ledger, recordings: Sequence[RecordingKey]) -> tuple[Path | None, str]:
    """Return the capture in which these recordings lie; or None, and why nothing counts as kept."""
    why = "this host has not kept it"
    for entry in reversed(ledger.of(KEPT, recordings)):
        path = Path(entry["path"])
        if not entry.get("whole", False):
            why = f"{path} holds only a part of it"
        elif digest_of(path) == entry["digest"]:
            return path, ""
        else:
            why = f"{path}, into which it was pulled, is not there any more as it was"
    return None, why
