"""The freeze bank: what one card latches in the moment its recorder freezes; it stays readable until the next.

Source: register files ``frozen``, ``frozen_counters``, ``frozen_flow`` of firmware-hooks/registers/freezeframe.rdl.
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from freezeframe.emulator.clocks import Clocks
from freezeframe.emulator.credit import Flow

_LOW = 0xFFFFFFFF

Values = dict[tuple[str, tuple[int, ...]], int]
"""Registers of the freeze bank by name and indices."""

Image = npt.NDArray[np.uint8]
"""A memory's records: ``(depth, 9)`` uint8 in slot order."""


@dataclass(slots=True)
class Bank:
    """What is latched when the recorder freezes.

    Attributes:
        values: every ``frozen.*`` and ``frozen_flow.*`` register by name and indices.
        counters: every counter.
        images: the memories, None where there is none.
        crc: ``(memory, chunk)`` to CRC-32.
        samples: ``(n, 2)`` uint32.
        lengths: the length histogram.
    """

    values: Values
    counters: dict[str, int]
    images: list[Image | None]
    crc: dict[tuple[int, int], int]
    samples: npt.NDArray[np.uint32]
    lengths: list[int]


def chunk_crcs(images: Sequence[Image | None], chunk: int) -> dict[tuple[int, int], int]:
    """Return the CRC-32 of each whole chunk of ``chunk`` records, by memory and chunk."""
    return {
        (memory, number): zlib.crc32(image[number * chunk : (number + 1) * chunk].tobytes())
        for memory, image in enumerate(images)
        if image is not None
        for number in range(len(image) // chunk)
    }


def flow_values(flow: Flow, clocks: Clocks, t_ps: int) -> Values:
    """Return the registers of a flow as they stand at ``t_ps``."""
    link = clocks.link.cycle_at(t_ps)
    sent, received = flow.sent.at(link), flow.received.at(link)
    registers = {
        "sent": sent & flow.mask,
        "credited": flow.credited,
        "limit": flow.limit,
        "received": received & flow.mask,
        "freed": flow.freed.at(clocks.bus.cycle_at(t_ps)) & flow.mask,
        "words_sent": sent & _LOW,
        "words_received": received & _LOW,
        "reported": flow.reported,
    }
    return {(f"frozen_flow.{name}", (flow.number,)): value for name, value in registers.items()}
