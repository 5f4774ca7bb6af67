"""credit-corrupted: one bit of a credit word flips in B between the parity generator and the CRC.

A finds good CRC and bad parity and refuses it. B's event log holds the word as the parity generator made it.
"""

from __future__ import annotations

from freezeframe.decoders.trace.encode import crc16_ibm3740, words_to_bytes
from freezeframe.emulator.credit import Flow
from freezeframe.emulator.faults.base import B, Fault

_BITS = range(8, 40)  # flow, parity, freed: what the parity bit is there for


class CreditCorrupted(Fault):
    """One bit of one credit word."""

    name = "credit-corrupted"
    card = B

    def credit_leaving(self, word: int, flow: Flow) -> int | None:
        if not self.ready():
            return word
        bit = self.draw.choice(_BITS)
        low = (word ^ 1 << bit) & 0xFFFFFFFFFFFF
        self.strike(flow=flow.number, bit=bit)
        return low | crc16_ibm3740(words_to_bytes((low,))[:6]) << 48
