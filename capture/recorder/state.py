"""What a recorder is doing: its state, why it froze, and how far its memories are."""

from __future__ import annotations

import time
from collections.abc import Sequence

from freezeframe.capture.card.device import CardDevice
from freezeframe.capture.card.roles import roles_of
from freezeframe.capture.errors import RecorderStateError, TargetError
from freezeframe.capture.recorder.recorder_state import ClockState, MemoryState, RecorderState
from freezeframe.capture.registers.access import Recorder
from freezeframe.capture.registers.layouts import STATE_NAMES

__all__ = [
    "MemoryState",
    "RecorderState",
    "all_frozen",
    "read_state",
    "read_steady",
    "refuse_running",
    "settled_states",
]

_TRIES = 16
_SETTLE_S = 2.0  # a cause on one device freezes the other, and the records after it drain
_PAUSE_S = 0.001
_STEADY = (
    "id.boot_nonce",
    "ctl.generation",
    "ctl.state",
    "ctl.causes",
    "ctl.cause_cycle_lo",
    "ctl.cause_cycle_hi",
)
_MEMORY = ("write_ptr", "status", "stored", "offered", "lost")


def read_state(device: Recorder) -> RecorderState:
    """Read what the recorder is doing; state, causes and generation belong together.

    Raises:
        TargetError: the device is gone, or what must stand still does not.
    """
    if isinstance(device, CardDevice):
        return _card_state(device)
    nonce, generation, state, causes, low, high = read_steady(device, _STEADY)
    roles = roles_of(device.found.card)
    names_of = roles.memories
    registers = [(f"memory.{n}", m) for m in range(len(names_of)) for n in _MEMORY]
    words = device.read_many(registers)
    field = device.map.field
    closed = field("ctl.state", "closed").of(state)
    memories = {}
    for index, name in enumerate(names_of):
        write_ptr, status, *counts = words[index * len(_MEMORY) : (index + 1) * len(_MEMORY)]
        memories[name] = MemoryState(
            write_ptr,
            bool(field("memory.status", "wrapped").of(status)),
            bool(closed >> index & 1),
            field("memory.status", "chunks_done").of(status),
            *counts,
        )
    return RecorderState(
        device=device.name,
        state=STATE_NAMES[field("ctl.state", "state").of(state)],
        causes=tuple(device.found.card.cause_names(causes)),
        generation=generation,
        nonce=nonce,
        cause_cycle=high << 32 | low,
        held=bool(field("ctl.state", "held").of(state)),
        memories=memories,
        peer_cause=device.found.card.peer_cause,
        roles=roles,
    )


def _card_state(device: CardDevice) -> RecorderState:
    card = device.found.card
    steady = [name if name != "ctl.generation" else device.generation_register for name in _STEADY]
    nonce, generation, state, causes, low, high = read_steady(device, steady)
    alive, closed, crc_done = device.read_many(
        ["ctl.clocks_alive", "ctl.clocks_closed", "ctl.crc_done"]
    )
    try:
        words = device.read_many(
            [(f"tap.{n}", tap.number) for tap in card.recorders for n in _MEMORY[:4]]
        )
    except TargetError:
        # A clock that has just stopped answers an error until the card has seen that it stands still.
        if not _another_stands_still(device, alive):
            raise
        return _card_state(device)
    memories = {}
    first = 0
    for memory in device.memories:
        at = 4 * memory.tap.number
        write_ptr, status, stored, offered = words[at : at + 4]
        entries = -(-memory.depth // device.identity.chunk)
        memories[memory.name] = MemoryState(
            write_ptr,
            wrapped=bool(status & 1),
            closed=bool(status >> 1 & 1),
            chunks_done=min(max(crc_done - first, 0), entries),
            stored=stored,
            offered=offered,
            lost=None,
        )
        first += entries
    return RecorderState(
        device=device.name,
        state=STATE_NAMES[state & 3],
        causes=tuple(device.found.card.cause_names(causes)),
        generation=generation,
        nonce=nonce,
        cause_cycle=high << 32 | low,
        held=bool(state >> 4 & 1),
        memories=memories,
        clocks={
            clock.name: ClockState(
                bool(alive >> clock.number & 1), bool(closed >> clock.number & 1)
            )
            for clock in card.clocks
        },
    )


def _another_stands_still(device: CardDevice, alive: int) -> bool:
    end_s = time.monotonic() + _SETTLE_S
    while time.monotonic() < end_s:
        if alive & ~device.read("ctl.clocks_alive"):
            return True
        time.sleep(_PAUSE_S)
    return False


def read_steady(device: Recorder, registers: Sequence[str]) -> list[int]:
    """Return registers once two readings of all of them, one after the other, were equal.

    So they belong together although a transport may read them in any order, and a word altered on
    its way is not believed.

    Raises:
        TargetError: 16 readings in a row differed.
    """
    before = device.read_many(list(registers))
    for _ in range(_TRIES):
        words = device.read_many(list(registers))
        if words == before:
            return words
        before = words
    raise TargetError(
        f"{device.target.url}: device {device.name}: {', '.join(registers)} were different in each "
        f"of {_TRIES + 1} readings; does another program arm and freeze it?"
    )


def settled_states(devices: Sequence[Recorder]) -> list[RecorderState]:
    """Return the states of all recorders; where one has a cause the others are given time to freeze."""
    states = [read_state(device) for device in devices]
    closing = any(state.state in ("triggered", "frozen") for state in states)
    end_s = time.monotonic() + _SETTLE_S
    while closing and not all_frozen(states) and time.monotonic() < end_s:
        time.sleep(_PAUSE_S)
        states = [read_state(device) for device in devices]
    return states


def all_frozen(states: Sequence[RecorderState]) -> bool:
    return all(state.state == "frozen" for state in states)


def refuse_running(devices: Sequence[Recorder], states: Sequence[RecorderState]) -> None:
    """Raise RecorderStateError where a recorder is not frozen; the message says what to do."""
    for device, state in zip(devices, states, strict=True):
        if state.state != "frozen":
            raise RecorderStateError(
                f"{device.target.url}: device {state.device} is {state.state}, not frozen. "
                "Wait for its freeze, or freeze it now (--freeze)"
            )
