"""What ours and sigrok's own give to a decoder on top: buses to decode, and the objects that arrive."""

from __future__ import annotations

import random
import re

import pyarrow as pa

from freezeframe.capture.files.edges import EdgeReducer, Edges
from freezeframe.decoders.registry import Registry
from freezeframe.decoders.run import StackRun
from freezeframe.decoders.spec import parse_spec
from tests.decoders.srd.sigrok_side import table_lines
from tests.decoders.srd.test_stream import cut

RATE_HZ = 1_000_000

# The same bus: ours, and sigrok's.
SPI = ("spi:clk=CLK,miso=MISO,mosi=MOSI,cs=CS", "srd-spi:clk=CLK,miso=MISO,mosi=MOSI,cs=CS")
I2C = ("i2c:scl=SCL,sda=SDA", "srd-i2c:scl=SCL,sda=SDA")


def edges_of(samples: bytes, *channels: str) -> Edges:
    sample, value = EdgeReducer(1, range(len(channels))).feed(samples)
    return Edges(sample, value, channels, RATE_HZ, 0, len(samples))


def said(registry: Registry, spec: str, edges: Edges, at: list[int] | None = None) -> list[str]:
    return table_lines(rows(registry, spec, edges, at))


def rows(registry: Registry, spec: str, edges: Edges, at: list[int] | None = None) -> pa.Table:
    stack = parse_spec(spec, registry)
    probes = stack.steps[0].probes
    run = StackRun(stack)
    try:
        for piece, last in cut(edges, at or []):
            chosen = [probes.get(channel.id) for channel in stack.steps[0].decoder.channels]
            run.feed(run.wanted(piece, chosen), last=last)
    finally:
        run.close()
    return run.tables()[0].table


def held(levels: list[int], samples: int = 2) -> bytes:
    return bytes(level for level in levels for _ in range(samples))


def spi_bus(rng: random.Random, mode: int, word_bits: int) -> bytes:
    """CLK, MISO, MOSI, CS: transfers with whole words, one that is cut now and then."""
    idle = mode >> 1
    levels = [idle | 8]
    for _ in range(6):
        levels += [idle | 8, idle]
        for _ in range(word_bits * rng.randrange(4) + (rng.random() < 0.3) * rng.randrange(8)):
            data = rng.randrange(4) << 1
            halves = (idle, 1 - idle) if mode & 1 == 0 else (1 - idle, idle)
            levels += [data | half for half in halves for _ in range(rng.randrange(1, 4))]
        levels += [idle, idle | 8] if rng.random() < 0.8 else [idle | 8]
    return held(levels)


def i2c_bus(rng: random.Random) -> bytes:
    """SCL, SDA: transfers of whole bytes, with repeated STARTs, NACKs and stretched clocks."""
    levels = [3]

    def bit(level: int) -> None:
        sda = level << 1
        levels.extend([levels[-1] & 2, sda, *[sda] * rng.randrange(4), sda | 1, sda | 1, sda])

    for _ in range(8):
        levels += [3, 1, 1, 0]
        for again in range(rng.randrange(1, 3)):
            if again:
                levels += [levels[-1] & 2, 2, 3, 1, 0]
            for _ in range(rng.randrange(1, 5)):
                for _ in range(8):
                    bit(rng.randrange(2))
                bit(int(rng.random() < 0.3))
        levels += [0, 1, 3, 3]
    return held(levels)


def uart_line(
    rng: random.Random, width: int, bits: int, parity: bool, *, faults: bool = True
) -> bytes:
    """A line of characters, some with a wrong parity or stop bit, breaks, spikes and idle times."""
    line = bytearray([1] * rng.randrange(3 * width))
    for _ in range(60):
        frame = [0, *(rng.randrange(2) for _ in range(bits + parity)), 1]
        if faults and rng.random() < 0.1:
            frame[-1] = 0
        if faults and rng.random() < 0.1:
            frame = [0] * (len(frame) + rng.randrange(8))
        line += bytes(level for level in [*frame, 1] for _ in range(width))
        if faults and rng.random() < 0.1:
            line += bytes(max(1, width // 4)) + bytes([1] * width)
        line += bytes([1] * (rng.choice((0, 0, 3, 12, 40)) * width + rng.randrange(width)))
    return bytes(line)


def agreed(lines: list[str]) -> list[str]:
    """Return objects without what sigrok makes up (docs/sigrok-decoders.md): the value of a frame that
    has only a bad start bit, the bits of a parity error, and idle times that begin inside a break."""
    out: list[str] = []
    after_bad_stop = False
    for given in lines:
        line = given
        if "INVALID STOPBIT" in line:
            after_bad_stop = True
        elif "STARTBIT" in line:
            after_bad_stop = False
        if out and "INVALID STARTBIT" in out[-1]:
            line = re.sub(r"\(\d+, False\)", "(?, False)", line)
        if "PARITY ERROR" in line:
            line = re.sub(r"\(\d, \d\)", "(?, ?)", line)
        if not ("IDLE" in line and after_bad_stop):
            out.append(line)
    return out
