"""Packets that the card makes itself when told to: pattern traffic and the injected packet.

Source: register file ``provoke``; docs/formats.md section 3.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from freezeframe.capture.registers.layouts import DescCode, PacketFlag, PacketType
from freezeframe.decoders.trace.encode import pattern_payload
from freezeframe.emulator.descriptor import Descriptor
from freezeframe.emulator.packet import NO_WORDS, header_of
from freezeframe.emulator.parts import Process, Signal
from freezeframe.emulator.ports import Backplane, Descriptors, Stage


class PatternSource(Stage):
    """Sends pattern packets while ``provoke.traffic`` is on; packet numbers begin at 0 whenever it is switched on."""

    def __init__(self, plane: Backplane, sender: Descriptors) -> None:
        super().__init__(plane)
        self.number = 0
        self._sender = sender
        self._changed = Signal(self.time.env)

    def switched_on(self) -> None:
        """The register was written and is on: begin with packet 0."""
        self.number = 0
        self._changed.give()

    def run(self) -> Process:
        """Post a packet every ``traffic_gap`` bus cycles, no more than the descriptor ring holds."""
        bus, config, profile, sender = self.bus, self.config, self.profile, self._sender
        while True:
            while not config.traffic_on:
                yield self._changed.wait()
            while len(sender.queue) >= profile.host_ring_descriptors:
                yield sender.taken.wait()
            length = min(config.traffic_length, profile.fifo_message_words)
            payload = pattern_payload(config.traffic_seed, self.number, length)
            descriptor = Descriptor(
                PacketType.RDMA_WRITE, PacketFlag.PATTERN, config.traffic_flow, 0, 0,
                np.array(payload, dtype=np.uint64), from_host=False,
            )  # fmt: skip
            sender.post(descriptor)
            sender.tell(DescCode.POSTED, descriptor)
            self.number += 1
            yield bus.until(bus.next_cycle() + max(1, config.traffic_gap))


def injected(buffer: npt.NDArray[np.uint32], words: int) -> Descriptor:
    """Return a descriptor that sends ``words`` words (at least one) of the inject buffer as they stand."""
    halves = buffer[: 2 * words].astype(np.uint64)
    data = (halves[0::2] | halves[1::2] << np.uint64(32)).tolist()
    header = header_of(data[0], 0)
    return Descriptor(
        header.type,
        header.flags,
        header.flow,
        0,
        0,
        NO_WORDS,
        header.seq,
        from_host=False,
        raw=data,
    )
