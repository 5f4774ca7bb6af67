"""Packets that the card makes itself when told to: pattern traffic and the injected packet.

Source: register file ``provoke``; docs/formats.md section 3.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from freezeframe.capture.registers.layouts import DescCode, PacketFlag, PacketType
from freezeframe.decoders.trace.encode import pattern_payload
from freezeframe.emulator.dma import Descriptor, empty_payload
from freezeframe.emulator.packet import header_of
from freezeframe.emulator.stages import Process, Signal

if TYPE_CHECKING:
    from freezeframe.emulator.nic import Nic

__all__ = ["PatternSource", "inject"]


class PatternSource:
    """Sends pattern packets while ``provoke.traffic`` is on; packet numbers begin at 0 whenever it is switched on."""

    def __init__(self, nic: Nic) -> None:
        self.nic = nic
        self.number = 0
        self._changed = Signal(nic.env)

    def switched_on(self) -> None:
        """The register was written and is on: begin with packet 0."""
        self.number = 0
        self._changed.give()

    def run(self) -> Process:
        """Post a packet every ``traffic_gap`` bus cycles, no more than the descriptor ring holds."""
        nic = self.nic
        while True:
            while not nic.config.traffic_on:
                yield self._changed.wait()
            while len(nic.tx_dma.queue) >= nic.profile.host_ring_descriptors:
                yield nic.tx_dma.taken.wait()
            config = nic.config
            length = min(config.traffic_length, nic.profile.fifo_message_words)
            payload = pattern_payload(config.traffic_seed, self.number, length)
            descriptor = Descriptor(
                PacketType.RDMA_WRITE, PacketFlag.PATTERN, config.traffic_flow, 0, 0,
                np.array(payload, dtype=np.uint64), from_host=False,
            )  # fmt: skip
            nic.tx_dma.post(descriptor)
            nic.tx_dma.tell(DescCode.POSTED, descriptor)
            self.number += 1
            yield nic.bus.until(nic.bus.next_cycle() + max(1, config.traffic_gap))


def inject(nic: Nic, token: int, words: int) -> None:
    """Send the inject buffer as it stands; a token that does not match, or no words, changes nothing."""
    if token != nic.inject_count + 1 & 0xFFFF or not words or nic.held:
        return
    halves = nic.config.inject_buffer[: 2 * words].astype(np.uint64)
    data = (halves[0::2] | halves[1::2] << np.uint64(32)).tolist()
    nic.inject_count = nic.inject_count + 1 & 0xFFFFFFFF
    header = header_of(data[0], 0)
    nic.tx_dma.post(
        Descriptor(
            header.type, header.flags, header.flow, 0, 0, empty_payload(), header.seq,
            from_host=False, raw=data,
        )
    )  # fmt: skip
