"""Arm, freeze, and wait: writes may be lost, late or doubled, and are repeated until they act.

The device acts on a write only when it carries the key and the generation it is meant for, so a
write that was sent again after all cannot arm or freeze twice.

Source: docs/formats.md, section 1.1; docs/card-map.md, section 3.
"""

from __future__ import annotations

import time
from collections.abc import Sequence

from freezeframe.capture.errors import RecorderStateError, TargetError
from freezeframe.capture.recorder.state import RecorderState, read_state, read_steady
from freezeframe.capture.registers.access import Recorder
from freezeframe.capture.registers.layouts import STATE_NAMES

FREEZE_KEY = 0x465A

_WRITES = 8
_FIRST_PAUSE_S = 0.001
_LONGEST_PAUSE_S = 0.05
_FREEZE_S = 10.0


def arm(device: Recorder) -> int:
    """Arm a recorder, in whatever state it is, and return its new generation.

    What it recorded before is gone then.

    Raises:
        RecorderStateError: another program armed it at the same time, or it was restarted.
        TargetError: it does not take the write.
    """
    return arm_all([device])[0]


def arm_all(
    devices: Sequence[Recorder], given_up: Sequence[tuple[int, int]] | None = None
) -> list[int]:
    """Arm all recorders of a target, close together, and return their new generations.

    Args:
        given_up: boot nonce and generation of each device whose recording may go; of another one nothing is
            armed. By default whatever they hold. Between this look and the write another program may arm: the
            write carries the generation, on maps from 2 on the nonce too, so the device refuses it then.
    Raises:
        RecorderStateError: a device holds another recording than ``given_up`` says; none is armed then.
        As ``arm``; the devices before the one in the message are armed.
    """
    before = [_generation(device) for device in devices]
    for device, now, meant in zip(devices, before, given_up or before, strict=True):
        if now != meant:
            raise RecorderStateError(
                f"{device.target.url}: device {device.name} holds generation {now[1]} of boot {now[0]:#010x}, not "
                f"{meant[1]} of {meant[0]:#010x}, which is to be given up; it was armed by another program or restarted"
            )
    for device, (nonce, generation) in zip(devices, before, strict=True):
        _write_arm(device, nonce, generation)
    return [
        _confirm_arm(device, nonce, generation)
        for device, (nonce, generation) in zip(devices, before, strict=True)
    ]


def freeze(device: Recorder, nonce: int | None = None) -> RecorderState:
    """Freeze a recorder by cause ``host``, unless it has a cause already; does not wait for frozen.

    Args:
        nonce: of the boot that is to be frozen; None: whichever it is.
    Returns:
        The state after it, "triggered" or "frozen".
    Raises:
        RecorderStateError: it is idle, so there is nothing to freeze; or it was restarted, and another boot is left
            alone.
        TargetError: it does not take the write.
    """
    pause_s = _FIRST_PAUSE_S
    for _ in range(_WRITES):
        state = read_state(device)
        if nonce not in (None, state.nonce):
            raise RecorderStateError(
                f"{device.target.url}: device {device.name} was restarted (boot nonce {nonce:#010x} before, "
                f"{state.nonce:#010x} now); what it had recorded is gone, and what it records now is left alone"
            )
        if state.state in ("triggered", "frozen"):
            return state
        if state.state == "idle":
            raise RecorderStateError(
                f"{device.target.url}: device {device.name} is idle and has recorded nothing; "
                "arm it first"
            )
        device.write("ctl.freeze", FREEZE_KEY << 16 | state.generation & 0xFFFF)
        time.sleep(pause_s)
        pause_s = min(2 * pause_s, _LONGEST_PAUSE_S)
    state = read_state(device)
    if state.state in ("triggered", "frozen"):
        return state
    raise TargetError(
        f"{device.target.url}: device {device.name} did not take the freeze in {_WRITES} writes; "
        "it answers reads, so are writes blocked on the way?"
    )


def freeze_at_once(device: Recorder, generation: int) -> None:
    """Freeze a recorder whose generation was read before: one write and one read where all is well.

    Raises:
        RecorderStateError, TargetError: as `freeze`, which is tried where that did not act.
    """
    device.write("ctl.freeze", FREEZE_KEY << 16 | generation & 0xFFFF)
    if STATE_NAMES[device.field("ctl.state", "state")] not in ("triggered", "frozen"):
        freeze(device)


def freeze_all(devices: Sequence[Recorder]) -> list[RecorderState]:
    """Freeze all recorders of a target, in the boot in which they were opened, and return their states, all frozen.

    Raises as `freeze` and `wait_for`.
    """
    for device in devices:
        freeze(device, device.identity.boot_nonce)
    return [wait_for(device, "frozen", _FREEZE_S) for device in devices]


def wait_for(device: Recorder, state: str, timeout_s: float) -> RecorderState:
    """Wait until a recorder is in a state, and return what it is doing then.

    Raises:
        RecorderStateError: it is not after ``timeout_s``; the message says what it is doing.
    """
    end_s = time.monotonic() + timeout_s
    pause_s = _FIRST_PAUSE_S
    while (now := read_state(device)).state != state:
        if time.monotonic() >= end_s:
            raise RecorderStateError(
                f"{device.target.url}: device {device.name} is {now.state}, not {state}, "
                f"after {timeout_s:g} s"
            )
        time.sleep(pause_s)
        pause_s = min(2 * pause_s, _LONGEST_PAUSE_S)
    return now


def _generation(device: Recorder) -> tuple[int, int]:
    nonce, generation = read_steady(device, ("id.boot_nonce", device.generation_register))
    return nonce, generation


def _write_arm(device: Recorder, nonce: int, generation: int) -> None:
    device.write("ctl.arm", device.arm_key(nonce) << 16 | (generation + 1) & 0xFFFF)


def _confirm_arm(device: Recorder, nonce: int, before: int) -> int:
    wanted = (before + 1) & 0xFFFFFFFF
    pause_s = _FIRST_PAUSE_S
    for left in reversed(range(_WRITES)):
        nonce_now, now = _generation(device)
        if nonce_now != nonce:
            raise RecorderStateError(
                f"{device.target.url}: device {device.name} was restarted while it was being "
                "armed; look at its state and arm it again"
            )
        if now == wanted:
            return now
        if now != before:
            raise RecorderStateError(
                f"{device.target.url}: device {device.name} went from generation {before} to "
                f"{now} while it was being armed; another program arms it too"
            )
        if left:
            time.sleep(pause_s)
            pause_s = min(2 * pause_s, _LONGEST_PAUSE_S)
            _write_arm(device, nonce, before)
    raise TargetError(
        f"{device.target.url}: device {device.name} did not take the arm in {_WRITES} writes; "
        "it answers reads, so are writes blocked on the way?"
    )
