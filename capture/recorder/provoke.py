"""What a host may do to a card to provoke it: stop the receive DMA, send pattern traffic or a hand-built packet,
loop the link back.

Writes may be lost, late or doubled, so each is read back and repeated until it stands; the injected packet carries a
token and cannot be sent twice.

Source: register file ``provoke``; docs/formats.md sections 1 and 3.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from freezeframe.capture.errors import InputError, RecorderStateError, TargetError
from freezeframe.capture.registers.access import Device

MOST_INJECTED = 1023
"""Words that one injected packet may have: its field in ``provoke.inject`` is ten bits."""

_WRITES = 8
_FIRST_PAUSE_S = 0.001
_LONGEST_PAUSE_S = 0.05
_AT_ONCE = 32  # words of the inject buffer that one write carries


@dataclass(frozen=True, slots=True)
class Traffic:
    """Pattern traffic: ``length_words`` a packet (0..512), ``gap_cycles`` bus cycles between two."""

    flow: int = 0
    length_words: int = 64
    gap_cycles: int = 1000
    seed: int = 0


def set_rx_dma(device: Device, *, stopped: bool) -> None:
    """Stop or start the receive DMA.

    Raises:
        TargetError: the device does not take the write.
    """
    write_fields(device, "provoke.rx_dma", stop=int(stopped))


def set_loopback(device: Device, *, on: bool) -> None:
    """Let the card hear its own link, or its peer's again; a change brings the link up again.

    Raises:
        TargetError: the device does not take the write.
    """
    write_fields(device, "provoke.link", loopback=int(on))


def set_traffic(device: Device, traffic: Traffic | None) -> None:
    """Send pattern packets, numbered from 0, or with None none any more.

    Raises:
        InputError: the device has no such flow, or a packet cannot be that long; nothing is written.
        TargetError: the device does not take a write.
    """
    if traffic is None:
        write_fields(device, "provoke.traffic", enable=0)
        return
    flows = device.identity.flows_count
    if not 0 <= traffic.flow < flows:
        raise InputError(f"flow {traffic.flow}: device {device.name} has flows 0..{flows - 1}")
    if not 0 <= traffic.length_words <= 512:
        raise InputError(f"length {traffic.length_words}: a packet carries 0..512 words")
    for name, value in (("gap", traffic.gap_cycles), ("seed", traffic.seed)):
        if not 0 <= value < 1 << 32:
            raise InputError(f"{name} {value}: does not fit 32 bits")
    write_fields(device, "provoke.traffic", enable=0)  # so that the packets are numbered from 0
    write_fields(device, "provoke.traffic_gap", value=traffic.gap_cycles)
    write_fields(device, "provoke.traffic_seed", value=traffic.seed)
    write_fields(
        device, "provoke.traffic", enable=1, flow=traffic.flow, length=traffic.length_words
    )


def inject(device: Device, words: Sequence[int]) -> int:
    """Send these 64-bit words as one packet, as they stand, and return how many were injected by now.

    Raises:
        InputError: no words, too many, or one that does not fit 64 bits; nothing is written.
        RecorderStateError: the card is held, or another program injects at the same time.
        TargetError: the device does not take the words.
    """
    if not 1 <= len(words) <= MOST_INJECTED:
        raise InputError(f"{len(words)} words to inject: a packet has 1..{MOST_INJECTED}")
    for number, word in enumerate(words):
        if not 0 <= word < 1 << 64:
            raise InputError(f"word {number}: {word:#x} does not fit 64 bits")
    _fill(device, words)
    before = device.read("provoke.inject_count")
    token = (before + 1) & 0xFFFF
    pause_s = _FIRST_PAUSE_S
    for _ in range(_WRITES):
        device.write("provoke.inject", token | len(words) << 16)
        time.sleep(pause_s)
        pause_s = min(2 * pause_s, _LONGEST_PAUSE_S)
        now = device.read("provoke.inject_count")
        if now == (before + 1) & 0xFFFFFFFF:
            return now
        if now != before:
            raise RecorderStateError(
                f"{device.target.url}: device {device.name} went from {before} to {now} injected "
                "packets at once; another program injects too"
            )
    if device.field("ctl.state", "held"):
        raise RecorderStateError(
            f"{device.target.url}: device {device.name} is held since it froze and sends nothing; "
            "pull what it holds, then arm every device"
        )
    raise _not_taken(device, "provoke.inject")


def _fill(device: Device, words: Sequence[int]) -> None:
    """Put the words into the inject buffer, and see that they stand there."""
    halves = np.array(
        [half for word in words for half in (word & 0xFFFFFFFF, word >> 32)], dtype=np.uint32
    )
    start = device.window("inject_buffer")
    addresses = start + 4 * np.arange(len(halves), dtype=np.uint32)
    for _ in range(_WRITES):
        for first in range(0, len(halves), _AT_ONCE):
            device.target.write(start + 4 * first, halves[first : first + _AT_ONCE])
        if np.array_equal(device.read_words(addresses), halves):
            return
    raise _not_taken(device, "inject_buffer")


def write_fields(device: Device, name: str, **fields: int) -> None:
    """Write fields of a register until they read back.

    Raises:
        TargetError: the device does not take the write.
    """
    pause_s = _FIRST_PAUSE_S
    for _ in range(_WRITES):
        device.modify(name, **fields)
        if all(device.field(name, field) == value for field, value in fields.items()):
            return
        time.sleep(pause_s)
        pause_s = min(2 * pause_s, _LONGEST_PAUSE_S)
    raise _not_taken(device, name)


def _not_taken(device: Device, name: str) -> TargetError:
    return TargetError(
        f"{device.target.url}: device {device.name} did not take {name} in {_WRITES} writes; "
        "it answers reads, so are writes blocked on the way?"
    )
