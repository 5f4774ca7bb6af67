"""Console lines made in Python, from the description in ff_console.h alone: the C hooks and this share no code."""

from __future__ import annotations

import struct
import zlib

from freezeframe.capture.registers import names
from freezeframe.capture.registers.map_table import MAP_HASH


def crc16(data: bytes) -> int:
    """CRC-16/IBM-3740, bit by bit as the catalogue describes it."""
    crc = 0xFFFF
    for byte in data:
        for bit in range(8):
            top = crc >> 15 ^ byte >> 7 - bit & 1
            crc = crc << 1 & 0xFFFF ^ 0x1021 * top
    return crc


def line(text: str) -> bytes:
    return b"ff:" + text.encode() + b" *%04x\r\n" % crc16(text.encode())


def record(data: int, kind: int, dt: int) -> bytes:
    return struct.pack("<QB", data, kind | dt << 4)


def dump(
    records: list[bytes], depth: int = 16, wrapped: bool = False, **changed: int
) -> list[bytes]:
    """The lines of a dump; ``changed`` registers by name with ``__`` for the dot."""
    values = {
        "id.magic": 0x46525A46, "id.format": 1 << 16, "id.map_hash": MAP_HASH, "id.build_hash": 1,
        "id.boot_nonce": 2, "id.devices": 1 | 24 << 16, "id.trace": 1, "id.tap_depth": 0, "id.event_depth": depth,
        "id.chunk": depth, "id.max_burst": 1, "id.clk_bus": 50_000_000, "id.clk_link": 50_000_000,
        "id.sampler_depth": 0, "id.counters": 0, "id.flows": 8, "id.tx_fifo": 0, "id.rx_fifo": 0,
        "id.credit_unit": 0, "id.cross_latency": 0, "id.sync_period": 1, "id.event_fifo": 0, "id.post_drain": 1024,
        "ctl.generation": 1, "ctl.state": 3, "ctl.causes": 1,
    }  # fmt: skip
    values |= {name.replace("__", "."): value for name, value in changed.items()}
    registers = [line(f"reg {names.offset(name):x} {value:x}") for name, value in values.items()]
    registers.append(line(f"reg {names.offset('memory.write_ptr', 4):x} {len(records) % depth:x}"))
    registers.append(line(f"reg {names.offset('memory.status', 4):x} {int(wrapped):x}"))
    body = [line(f"rec {slot:x} {data.hex()}") for slot, data in enumerate(records)]
    crc = zlib.crc32(b"".join(records))
    return [line("begin 1"), *registers, *body, line(f"end {len(records):x} {crc:x}")]
