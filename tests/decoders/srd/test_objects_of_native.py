"""A decoder on a native one gets the objects that it gets on sigrok's own: each, and where it is."""

from __future__ import annotations

import random
import re

import pytest

from freezeframe.capture.errors import InputError
from freezeframe.decoders.registry import Registry
from freezeframe.decoders.srd.fed_stream import FEEDERS
from tests.decoders.srd.native_side import (
    I2C,
    RATE_HZ,
    SPI,
    agreed,
    edges_of,
    held,
    i2c_bus,
    rows,
    said,
    spi_bus,
    uart_line,
)


@pytest.mark.parametrize("mode", range(4))
@pytest.mark.parametrize(
    ("bits", "order"), [(8, "msb-first"), (8, "lsb-first"), (5, "lsb-first"), (32, "msb-first")]
)
def test_every_object_of_spi_is_sigroks(
    registry: Registry, mode: int, bits: int, order: str
) -> None:
    rng = random.Random(mode * 1000 + bits)
    edges = edges_of(spi_bus(rng, mode, bits), "CLK", "MISO", "MOSI", "CS")
    ours = f"{SPI[0]},mode={mode},word_bits={bits},order={order}+srd-ff_seen_spi"
    theirs = f"{SPI[1]},cpol={mode >> 1},cpha={mode & 1},wordsize={bits},bitorder={order}+srd-ff_seen_spi"
    want = said(registry, theirs, edges)
    assert said(registry, ours, edges) == want
    places = sorted(rng.sample(range(1, edges.end_sample), 12))
    assert said(registry, ours, edges, places) == want
    assert sum("TRANSFER" in line for line in want) == 6
    assert any("BITS" in line for line in want)


@pytest.mark.parametrize("without", ["MISO", "MOSI", "CS"])
@pytest.mark.parametrize("seed", range(3))
def test_a_line_that_is_not_there_is_none_as_in_sigrok(
    registry: Registry, without: str, seed: int
) -> None:
    edges = edges_of(spi_bus(random.Random(seed), 0, 8), "CLK", "MISO", "MOSI", "CS")
    channels = ",".join(f"{c.lower()}={c}" for c in ("CLK", "MISO", "MOSI", "CS") if c != without)
    want = said(registry, f"srd-spi:{channels}+srd-ff_seen_spi", edges)
    assert said(registry, f"spi:{channels}+srd-ff_seen_spi", edges) == want
    assert any("None" in line for line in want)


@pytest.mark.parametrize("seed", range(8))
def test_noise_on_spi_gives_the_same_objects(registry: Registry, seed: int) -> None:
    rng = random.Random(seed)
    level, levels = 8, []
    for _ in range(4000):
        level ^= 1 << rng.choices(range(4), (60, 20, 20, 1))[0]
        if rng.random() < 0.05:
            level ^= 1 << rng.randrange(4)  # two lines in one sample
        levels += [level] * rng.randrange(1, 4)
    edges = edges_of(bytes(levels), "CLK", "MISO", "MOSI", "CS")
    polarity = ("active-low", "active-high")[seed & 1]
    ours = f"{SPI[0]},select={polarity},mode={seed & 3}+srd-ff_seen_spi"
    mode = f"cpol={seed >> 1 & 1},cpha={seed & 1}"
    want = said(registry, f"{SPI[1]},cs_polarity={polarity},{mode}+srd-ff_seen_spi", edges)
    assert said(registry, ours, edges) == want
    assert said(registry, ours, edges, sorted(rng.sample(range(1, len(levels)), 20))) == want
    assert len(want) > 100


@pytest.mark.parametrize("seed", range(8))
def test_every_object_of_i2c_is_sigroks(registry: Registry, seed: int) -> None:
    rng = random.Random(seed)
    samples = i2c_bus(rng)
    samples = samples[: len(samples) - rng.randrange(200) * (seed & 1)]  # cut anywhere
    edges = edges_of(samples, "SCL", "SDA")
    want = said(registry, f"{I2C[1]}+srd-ff_seen_i2c", edges)
    assert said(registry, f"{I2C[0]},address_bits=7+srd-ff_seen_i2c", edges) == want
    places = sorted(rng.sample(range(1, edges.end_sample), 12))
    assert said(registry, f"{I2C[0]}+srd-ff_seen_i2c", edges, places) == want
    assert any("START REPEAT" in line for line in want)


@pytest.mark.parametrize("bits", [5, 8, 9])
@pytest.mark.parametrize("parity", ["none", "odd", "zero", "ignore"])
@pytest.mark.parametrize("order", ["lsb-first", "msb-first"])
def test_every_object_of_a_uart_is_sigroks(
    registry: Registry, bits: int, parity: str, order: str
) -> None:
    rng = random.Random(bits * 100 + len(parity))
    width = (16, 25)[bits & 1]
    samples = uart_line(rng, width, bits, parity != "none")
    samples = samples[: len(samples) - rng.randrange(30 * width)]
    edges = edges_of(samples, "rx")
    baud = RATE_HZ // width
    ours = f"uart:rx=rx,baud={baud},bits={bits},parity={parity},order={order}+srd-ff_seen_uart"
    theirs = (
        f"srd-uart:rx=rx,baudrate={baud},data_bits={bits},parity={parity},bit_order={order}"
        "+srd-ff_seen_uart"
    )
    want = said(registry, theirs, edges)
    found = said(registry, ours, edges)
    assert agreed(found) == agreed(want)
    assert said(registry, ours, edges, sorted(rng.sample(range(1, len(samples)), 12))) == found
    for word in ("IDLE", "BREAK", "INVALID STOPBIT", "INVALID STARTBIT"):
        assert any(word in line for line in agreed(want))


@pytest.mark.parametrize("seed", range(6))
def test_an_idle_line_was_high_for_a_whole_frame(registry: Registry, seed: int) -> None:
    samples = uart_line(random.Random(seed), 16, 8, False)
    spec = f"uart:rx=rx,baud={RATE_HZ // 16}+srd-ff_seen_uart"
    lines = said(registry, spec, edges_of(samples, "rx"))
    idle = [tuple(map(int, line.partition(" ")[0].split("-"))) for line in lines if "IDLE" in line]
    assert len(idle) > 40
    for begin, end in idle:
        assert end - begin == 160
        # At the end of an idle time the line is still looked at, so it is high there too.
        assert samples[begin : end + 1] == bytes([1]) * 161
    # No other time of 160 high samples without a frame: what is between two changes holds no two
    # lengths that are not idle.
    for high in re.finditer(rb"\x01+", samples[samples.index(0) :]):
        begin, end = (at + samples.index(0) for at in high.span())
        inside = sum(begin <= at and until < end for at, until in idle)
        assert (end - begin - 1) // 160 - 1 <= inside <= (end - begin - 1) // 160


def test_a_parity_error_says_what_was_expected_and_what_was_seen(registry: Registry) -> None:
    # 0x01 with even parity: the bit should be 1, and is 0.
    samples = held([1, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1], 10)
    spec = f"uart:rx=rx,baud={RATE_HZ // 10},parity=even+srd-ff_seen_uart"
    lines = said(registry, spec, edges_of(samples, "rx"))
    assert [line for line in lines if "PARITY" in line] == [
        "100-110 ff_seen_uart-1: bit: \"['PARITY ERROR', 0, (1, 0)]\""
    ]
    assert lines[-1].endswith("\"['FRAME', 0, (1, False)]\"")


def test_a_rate_that_is_measured_is_that_of_the_objects(registry: Registry) -> None:
    rng = random.Random(5)
    samples = uart_line(rng, 20, 8, False, faults=False)
    edges = edges_of(samples, "rx")
    measured = rows(registry, "uart:rx=rx,baud=0", edges).column("baud")[0].as_py()
    assert abs(measured - RATE_HZ // 20) < 0.01 * measured
    want = said(registry, f"uart:rx=rx,baud={measured}+srd-ff_seen_uart", edges)
    places = sorted(rng.sample(range(1, len(samples)), 12))
    for at in ([], places):
        assert said(registry, "uart:rx=rx,baud=0+srd-ff_seen_uart", edges, at) == want


def test_a_rate_that_cannot_be_measured_is_an_error(registry: Registry) -> None:
    edges = edges_of(held([1, 0, 1], 100), "rx")
    with pytest.raises(InputError, match=r"^decoder uart: rx: few-pulses: .*; say baud=$"):
        said(registry, "uart:rx=rx,baud=0+srd-ff_seen_uart", edges)


def clocked(value: int, bits: int) -> list[int]:
    """SCL, SDA: bits with the highest first."""
    data = [(value >> bit & 1) << 1 for bit in reversed(range(bits))]
    return [level for sda in data for level in (sda, sda | 1, sda | 1, sda)]


def kinds(lines: list[str]) -> list[str]:
    return [line.partition('"')[2].rstrip('"') for line in lines if "BITS" not in line]


def test_a_stop_inside_an_address_is_seen_though_sigrok_takes_its_clock_edge_for_a_bit(
    registry: Registry,
) -> None:
    # UM10204 3.1.4: SDA rises while SCL is high. START, 101, STOP; START, 0x50 write, ACK, STOP.
    levels = [3, 1, 0, *clocked(0b101, 3), 0, 1, 3, 3, 1, 0]
    levels += [*clocked(0xA0, 8), *clocked(0, 1), 0, 1, 3]
    edges = edges_of(held(levels), "SCL", "SDA")
    assert kinds(said(registry, f"{I2C[0]}+srd-ff_seen_i2c", edges)) == [
        "['START', None]",
        "['STOP', None]",
        "['START', None]",
        "['ADDRESS WRITE', 80]",
        "['ACK', None]",
        "['STOP', None]",
    ]
    assert kinds(said(registry, f"{I2C[1]}+srd-ff_seen_i2c", edges))[1] == "['ADDRESS WRITE', 85]"


def test_a_break_inside_a_frame_begins_where_the_line_falls(registry: Registry) -> None:
    # Start, 1111 0000, stop 0, ten more 0; ten samples a bit.
    samples = held([1, 1, 0, 1, 1, 1, 1, *[0] * 15, 1], 10)
    lines = said(registry, "uart:rx=rx,baud=100000+srd-ff_seen_uart", edges_of(samples, "rx"))
    assert [line.partition(" ")[0] for line in lines if "BREAK" in line] == ["70-220"]


@pytest.mark.parametrize("seed", range(4))
def test_a_bit_of_no_whole_number_of_samples_is_where_sigrok_has_it(
    registry: Registry, seed: int
) -> None:
    rng = random.Random(seed)
    edges = edges_of(uart_line(rng, 9, 8, False, faults=False), "rx")
    baud = rng.randrange(108_000, 116_000)  # 8.6 to 9.3 samples a bit
    want = said(registry, f"srd-uart:rx=rx,baudrate={baud}+srd-ff_seen_uart", edges)
    found = said(registry, f"uart:rx=rx,baud={baud}+srd-ff_seen_uart", edges)
    assert agreed(found) == agreed(want)


def test_the_first_chip_that_has_a_probe_is_the_one_that_sigrok_sees(
    registry: Registry,
) -> None:
    # Two chips: words 0xff for cs1, 0x00 for cs2.
    levels = [0b11000]
    for select, mosi in ((0b10000, 4), (0b01000, 0)):
        levels += [select, *(level | select for _ in range(8) for level in (mosi, mosi | 1))]
        levels += [0b11000]
    edges = edges_of(held(levels), "CLK", "MISO", "MOSI", "A", "B")
    lines = said(registry, "spi:clk=CLK,mosi=MOSI,cs1=A,cs2=B+srd-ff_seen_spi", edges)
    assert [line for line in lines if "DATA" in line] == [
        line for line in lines if "['DATA', 255, None]" in line
    ]
    assert sum("CS-CHANGE" in line for line in lines) == 3


def test_a_pause_ends_a_word_without_a_chip_select_and_makes_no_object_of_its_own(
    registry: Registry,
) -> None:
    # Three bits, 30 samples of pause, the word 0xa5; 4 samples a bit.
    word = [level for bit in (1, 0, 1, 0, 0, 1, 0, 1) for level in (bit << 2, bit << 2 | 1)]
    samples = held([0, *[4, 5] * 3, *[0] * 15, *word, 0, 0])
    edges = edges_of(samples, "CLK", "MISO", "MOSI")
    lines = said(registry, "spi:clk=CLK,mosi=MOSI,gap_us=20+srd-ff_seen_spi", edges)
    assert kinds(lines) == ["['CS-CHANGE', None, None]", "['DATA', 165, None]"]
    assert lines[-1].startswith("46-78 ")


def test_what_is_filtered_on_i2c_is_no_bit_on_top_either(registry: Registry) -> None:
    rng = random.Random(1)
    clean = b"".join(bytes([level]) * 4 for level in i2c_bus(rng))
    dirty = bytearray(clean)
    for place in range(6, len(clean) - 6, 24):
        if len(set(clean[place - 5 : place + 6])) == 1:  # away from edges
            dirty[place] ^= 1
    want = said(registry, f"{I2C[0]}+srd-ff_seen_i2c", edges_of(clean, "SCL", "SDA"))
    edges = edges_of(bytes(dirty), "SCL", "SDA")
    filtered = f"{I2C[0]},glitch_ns=2000+srd-ff_seen_i2c"  # two samples
    assert said(registry, filtered, edges) == want
    assert said(registry, filtered, edges, [1000, 1003, 5000]) == want
    assert said(registry, f"{I2C[0]}+srd-ff_seen_i2c", edges) != want


def test_every_object_that_a_feeder_declares_is_made(registry: Registry) -> None:
    rng = random.Random(3)
    uart = uart_line(rng, 16, 8, True, faults=True) + held([1, 0, 1, 1], 40)
    lines = {
        "srd.spi": said(registry, f"{SPI[0]}+srd-ff_seen_spi", edges_of(
            spi_bus(rng, 0, 8), "CLK", "MISO", "MOSI", "CS")),
        "srd.i2c": said(registry, f"{I2C[0]}+srd-ff_seen_i2c", edges_of(
            b"".join(i2c_bus(rng) for _ in range(4)), "SCL", "SDA")),
        "srd.uart": said(registry, f"uart:rx=rx,baud={RATE_HZ // 16},parity=odd+srd-ff_seen_uart",
                         edges_of(uart, "rx")),
    }  # fmt: skip
    for kind, feeder in FEEDERS.items():
        made = {match[1] for line in lines[kind] if (match := re.search(r"\"\['([^']+)'", line))}
        assert made == set(feeder.objects), kind
