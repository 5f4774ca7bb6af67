"""The freeze bank: what one card latches in the moment its recorder freezes; it stays readable until the next.

Source: register files ``frozen``, ``frozen_counters``, ``frozen_flow`` of firmware-hooks/registers/freezeframe.rdl.
"""

from __future__ import annotations

import zlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from freezeframe.emulator.counters import counter_values

if TYPE_CHECKING:
    from freezeframe.emulator.nic import Nic

__all__ = ["Bank", "latch"]

_LOW = 0xFFFFFFFF

Values = dict[tuple[str, tuple[int, ...]], int]


@dataclass(slots=True)
class Bank:
    """What is latched when the recorder freezes.

    Attributes:
        values: every ``frozen.*`` and ``frozen_flow.*`` register by name and indices.
        counters: every counter.
        images: ``(depth, 9)`` uint8 in slot order, None where there is no memory.
        crc: ``(memory, chunk)`` to CRC-32.
        samples: ``(n, 2)`` uint32.
        lengths: the length histogram.
    """

    values: Values
    counters: dict[str, int]
    images: list[npt.NDArray[np.uint8] | None]
    crc: dict[tuple[int, int], int]
    samples: npt.NDArray[np.uint32]
    lengths: list[int]


def latch(nic: Nic, t_ps: int) -> Bank:
    """Take everything as it stands at ``t_ps``, when all memories are closed."""
    for memory, recorder in enumerate(nic.memories):
        if recorder is not None:
            recorder.advance(nic.clock(nic.memory_domain(memory)).cycle_at(t_ps) - 1)
    images = [
        None if recorder is None else recorder.memory.image().copy() for recorder in nic.memories
    ]
    chunk = nic.profile.trace_chunk_records
    crc = {
        (memory, number): zlib.crc32(image[number * chunk : (number + 1) * chunk].tobytes())
        for memory, image in enumerate(images)
        if image is not None
        for number in range(len(image) // chunk)
    }
    return Bank(
        _state(nic, t_ps) | _lanes(nic) | _flows(nic, t_ps),
        counter_values(nic, t_ps),
        images,
        crc,
        nic.sampler.slots.copy(),
        nic.length_histogram.copy(),
    )


def _state(nic: Nic, t_ps: int) -> Values:
    bus = nic.bus.clock.cycle_at(t_ps)
    working, remaining = nic.tx_dma.working, nic.tx_dma.remaining(t_ps)
    length = 0 if working is None else len(working.words)
    address = 0 if working is None else working.source + 8 * (length - remaining)
    plain = {
        "tx_level": max(0, nic.tx_fifo.level(t_ps)),
        "rx_level": max(0, nic.rx_fifo.level(t_ps)),
        "dma_address_lo": address & _LOW,
        "dma_address_hi": address >> 32,
        "dma_remaining": remaining,
        "descriptor_length": length,
        "descriptors_waiting": len(nic.tx_dma.queue),
        "interrupt_mask": int(nic.host.masked),
        "completions_waiting": nic.host.completions,
        "next_seq_out": nic.tx_dma.started_seq,
        "next_seq_in": nic.rx_link.next_seq,
        "freeze_cycle_lo": bus & _LOW,
        "freeze_cycle_hi": bus >> 32,
        "stalled_flows": nic.tx_link.stalled_flows(t_ps),
    }
    values: Values = {(f"frozen.{name}", ()): value for name, value in plain.items()}
    for machine, state in enumerate(nic.states):
        values["frozen.machine", (machine,)] = state
    return values


def _lanes(nic: Nic) -> Values:
    values: Values = {}
    for lane in (0, 1):
        values["frozen.lane.sync_level", (lane,)] = nic.rx_link.sync_level(lane)
        values["frozen.lane.underflows", (lane,)] = nic.rx_link.sync_underflows[lane]
        values["frozen.lane.overflows", (lane,)] = nic.rx_link.sync_overflows[lane]
        values["frozen.lane.comma_phase", (lane,)] = nic.comma_phase[lane]
    return values


def _flows(nic: Nic, t_ps: int) -> Values:
    bus, link = nic.bus.clock.cycle_at(t_ps), nic.link.cycle_at(t_ps)
    values: Values = {}
    for flow in nic.flows:
        sent, received = flow.sent.at(link), flow.received.at(link)
        for name, value in (
            ("sent", sent & flow.mask),
            ("credited", flow.credited),
            ("limit", flow.limit),
            ("received", received & flow.mask),
            ("freed", flow.freed.at(bus) & flow.mask),
            ("words_sent", sent & _LOW),
            ("words_received", received & _LOW),
            ("reported", flow.reported),
        ):
            values[f"frozen_flow.{name}", (flow.number,)] = value
    return values
