"""The encoder beside the SWD decoder: transfers, resets and switches to edges, for round trips and simulated ports.

Source: Arm IHI 0031, ADIv5.2, B4.2.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from freezeframe.capture.files.edges import Edges
from freezeframe.decoders.sent_levels import edges_of_levels

_RESET_CLOCKS = 52


@dataclass(frozen=True, slots=True)
class SwdTransfer:
    """A transfer; ``ack`` is 1 ok, 2 wait, 4 fault, 7 nobody.

    ``bad_request``, ``bad_data``: that parity is wrong. ``with_data``: data follow whatever the acknowledge is, as
    with overrun detection.
    """

    ap: bool
    read: bool
    address: int
    data: int = 0
    ack: int = 1
    bad_request: bool = False
    bad_data: bool = False
    with_data: bool = False


class _Clocks:
    """The data line in the low and in the high half of each clock."""

    def __init__(self) -> None:
        self.halves: list[int] = []
        self._held: int | None = None  # what the target drives until the next rising edge

    def host(self, bits: Iterable[int]) -> None:
        """Bits that change as the clock falls."""
        for bit in bits:
            self.halves += [bit if self._held is None else self._held, bit]
            self._held = None

    def target(self, bits: Iterable[int]) -> None:
        """Bits that change as the clock rises."""
        for bit in bits:
            self.halves += [1 if self._held is None else self._held, bit]
            self._held = bit


def encode_swd(
    sent: Iterable[SwdTransfer | str | int],
    *,
    samplerate_hz: int,
    half_period_samples: int = 4,
    idle_clocks: int = 2,
) -> Edges:
    """Return the edges of SWCLK and SWDIO.

    Args:
        sent: transfers; ``reset`` for a line reset; a number for the 16 bits of a switch.
    """
    clocks = _Clocks()
    clocks.host([0] * (idle_clocks + 1))
    was_transfer = True
    for item in sent:
        if isinstance(item, SwdTransfer):
            # After a reset the line has to be low for two clocks (B4.3.3).
            clocks.host([0] * (0 if was_transfer else 2))
            _transfer(item, clocks)
            clocks.host([0] * idle_clocks)
        else:
            clocks.host(_bits(item, 16) if isinstance(item, int) else [1] * _RESET_CLOCKS)
        was_transfer = isinstance(item, SwdTransfer)
    clocks.host([0, 0])
    data = np.array(clocks.halves, dtype=np.uint64)
    clock = np.arange(len(data), dtype=np.uint64) % np.uint64(2)
    return edges_of_levels(
        data << np.uint64(1) | clock, half_period_samples, ("SWCLK", "SWDIO"), samplerate_hz
    )


def _transfer(transfer: SwdTransfer, clocks: _Clocks) -> None:
    head = [int(transfer.ap), int(transfer.read), *_bits(transfer.address >> 2, 2)]
    clocks.host([1, *head, sum(head) % 2 ^ transfer.bad_request, 0, 1])
    if transfer.bad_request:
        return
    # The clock of the turnaround is the first in which the target may drive.
    clocks.target(_bits(transfer.ack, 3))
    data = _bits(transfer.data, 32)
    data.append(sum(data) % 2 ^ transfer.bad_data)
    if transfer.ack == 1 or transfer.with_data:
        if transfer.read:
            clocks.target(data)
            clocks.host([1])
        else:
            clocks.host([1, 1, *data])
    elif transfer.ack != 7:
        clocks.host([1])


def _bits(number: int, width: int) -> list[int]:
    return [number >> place & 1 for place in range(width)]
