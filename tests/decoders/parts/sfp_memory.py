"""The memory of an SFP that does not exist, byte by byte from the tables of SFF-8472."""

from __future__ import annotations

import struct


def put(memory: bytearray, address: int, data: bytes) -> None:
    """Write bytes in place."""
    memory[address : address + len(data)] = data


def identification(monitoring: int = 0x68) -> bytes:
    """Return page A0h of a 10GBASE-SR module (table 4-1); byte 92 as given (table 8-5)."""
    a0 = bytearray(256)
    put(a0, 0, bytes([0x03, 0x04, 0x07]))
    put(a0, 3, bytes([0x10, 0, 0, 0x01, 0, 0, 0, 0]))  # 10GBASE-SR, 1000BASE-SX
    put(a0, 11, bytes([0x06, 103, 0, 0, 0, 8, 3, 0, 30]))
    put(a0, 20, b"EXAMPLE OPTICS  ")
    put(a0, 37, bytes([0x02, 0x00, 0x5E]))
    put(a0, 40, b"EX-SFP-10G-SR   ")
    put(a0, 56, b"A1  ")
    put(a0, 60, (850).to_bytes(2, "big"))
    a0[63] = sum(a0[:63]) & 0xFF
    put(a0, 64, bytes([0x00, 0x1A, 0, 0]))
    put(a0, 68, b"SN0123456789    ")
    put(a0, 84, b"240229B7")
    put(a0, 92, bytes([monitoring, 0xC0, 0x06]))
    a0[95] = sum(a0[64:95]) & 0xFF
    return bytes(a0)


def diagnostics() -> bytes:
    """Return page A2h (table 4-2): thresholds, constants of no effect, and a working point."""
    a2 = bytearray(256)
    put(a2, 0, struct.pack(">4h", 75 * 256, -5 * 256, 70 * 256, 0))
    put(a2, 8, struct.pack(">4H", 36_000, 30_000, 35_000, 31_000))
    put(a2, 16, struct.pack(">4H", 6_000, 1_000, 5_500, 1_500))
    put(a2, 24, struct.pack(">4H", 10_000, 1_000, 8_000, 1_500))
    put(a2, 32, struct.pack(">4H", 12_000, 100, 10_000, 200))
    put(a2, 56, struct.pack(">5f", 0, 0, 0, 1, 0))
    put(a2, 76, bytes([1, 0, 0, 0]) * 4)
    a2[95] = sum(a2[:95]) & 0xFF
    put(a2, 96, struct.pack(">hHHHH", 30 * 256, 33_000, 3_000, 5_000, 4_000))
    return bytes(a2)
