"""Packets on an AXI4-Stream of any width, given beat by beat to a block of one clock that listens to it."""

from __future__ import annotations

import random
from collections.abc import Callable

from tests.rtl.cycles import Block

STREAM = ("tvalid", "tready", "tlast", "tdata", "tkeep")


def beats(packet: bytes, bytes_: int, draw: random.Random) -> list[dict[str, int]]:
    """Return the beats of a packet; bytes that are off hold anything."""
    parts = [packet[at : at + bytes_] for at in range(0, len(packet), bytes_)] or [b""]
    return [
        {
            "tvalid": 1, "tready": 1, "tlast": int(number == len(parts) - 1),
            "tdata": int.from_bytes(part + draw.randbytes(bytes_ - len(part)), "little"),
            "tkeep": (1 << len(part)) - 1,
        }
        for number, part in enumerate(parts)
    ]  # fmt: skip


async def packets_that_are_bad(
    block: Block,
    packets: list[bytes],
    bytes_: int,
    draw: random.Random,
    idle: Callable[[], int] = lambda: 0,
) -> list[int]:
    """Give packets to a checker and return the numbers of those after whose end, or within which, bad was up.

    Between packets stand at least four cycles, so that a late bad belongs to one packet alone; within them as
    many idle ones, with tvalid or tready low, as ``idle`` says.
    """
    bad = []
    for number, packet in enumerate(packets):
        told = 0
        for beat in beats(packet, bytes_, draw):
            for _ in range(idle()):
                waits = draw.choice(({"tvalid": 0}, {"tready": 0}))
                told += (await block.step(**{**beat, **waits}))["bad"]
            told += (await block.step(**beat))["bad"]
        for _ in range(4):
            told += (await block.step(tready=1))["bad"]
        assert told <= 1, f"packet {number}: bad {told} times"
        if told:
            bad.append(number)
    return bad
