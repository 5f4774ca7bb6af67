"""A capture gives the same tables as edges, as samples, and as any mix of both, however it is cut."""

from __future__ import annotations

import os
import random
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from freezeframe.capture.files.edges import Edges
from freezeframe.capture.files.samples import Samples
from freezeframe.decoders.bus.parallel import PARALLEL
from freezeframe.decoders.contract import Decoder
from freezeframe.decoders.serial import (
    i2c_encode,
    jtag_encode,
    mdio_encode,
    spi_encode,
    uart_encode,
)
from freezeframe.decoders.serial.i2c import I2C
from freezeframe.decoders.serial.jtag import JTAG
from freezeframe.decoders.serial.mdio import MDIO
from freezeframe.decoders.serial.spi import SPI
from freezeframe.decoders.serial.uart import UART
from tests.decoders.pieces import assert_same_tables, cut, decoded, in_any_form

RATE_HZ = 24_000_000  # whose period is no whole number of picoseconds
DECODERS = (SPI, UART, I2C, JTAG, MDIO, PARALLEL)
ODD_UNITS_B = (3, 5, 6, 7)  # no machine word
WIDTHS = (np.uint8, np.uint16, np.uint32, np.uint64)
SEEDS = int(os.environ.get("FREEZEFRAME_SEEDS", "30"))


def levels(edges: Edges) -> np.ndarray[Any, np.dtype[np.uint64]]:
    return np.repeat(edges.value, np.diff(np.append(edges.sample, edges.end_sample)))


def spi_signal(rng: random.Random, options: dict[str, Any]) -> Edges:
    options["mode"] = rng.randrange(4)
    options["word_bits"] = rng.choice((4, 5, 8, 8, 8, 9, 16, 31, 32))
    options["order"] = rng.choice(("msb-first", "lsb-first"))
    options["select"] = rng.choice(("active-low", "active-high"))
    top = 1 << options["word_bits"]
    sent = []
    for _ in range(rng.randrange(1, 6)):
        size = rng.choice((0, 1, 2, 3, 20, 60))
        words = [[rng.randrange(top) for _ in range(size)] for _ in range(2)]
        sent.append(spi_encode.SpiTransfer(*words))
    return spi_encode.encode_transfers(
        sent,
        samplerate_hz=RATE_HZ,
        mode=options["mode"],
        word_bits=options["word_bits"],
        lsb_first=options["order"] == "lsb-first",
        half_period_samples=rng.choice((1, 2, 2, 3, 7, 70)),
        idle_halves=rng.choice((1, 2, 40)),
        active_low=options["select"] == "active-low",
    )


def uart_signal(rng: random.Random, options: dict[str, Any]) -> Edges:
    options["baud"] = RATE_HZ // rng.choice((4, 5, 16, 16, 70)) + rng.choice((0, 0, 7001))
    options["bits"] = rng.randrange(5, 10)
    options["parity"] = rng.choice(("none", "none", "odd", "even", "zero", "one", "ignore"))
    options["stop"] = rng.choice((0.5, 1.0, 2.0))
    options["order"] = rng.choice(("lsb-first", "msb-first"))
    options["invert"] = rng.random() < 0.3
    sent_parity = options["parity"] if rng.random() < 0.8 else "even"
    baud = options["baud"]
    options["baud"] = rng.choice((baud, baud, 0))
    return uart_encode.encode_characters(
        [rng.choice((0, 1, rng.randrange(32))) for _ in range(rng.randrange(1, 40))],
        samplerate_hz=RATE_HZ,
        baud=baud,
        bits=options["bits"],
        parity="none" if sent_parity == "ignore" else sent_parity,
        stop_halves=rng.choice((1, 2, 2, 4)),
        idle_bits=rng.choice((0, 0, 1, 30)),
        invert=options["invert"],
    )


def i2c_signal(rng: random.Random, options: dict[str, Any]) -> Edges:
    options["address_bits"] = rng.choice(("auto", "7"))
    options["glitch_ns"] = rng.choice((0, 0, 0, 50))
    sent = [
        i2c_encode.I2cTransfer(
            rng.choice((rng.randrange(8, 0x70), 0x78)),
            rng.random() < 0.5,
            rng.randbytes(rng.choice((0, 1, 9, 30))),
        )
        for _ in range(rng.randrange(1, 6))
    ]
    return i2c_encode.encode_transfers(
        sent, samplerate_hz=RATE_HZ, quarter_samples=rng.choice((1, 2, 4, 30))
    )


def jtag_signal(rng: random.Random, options: dict[str, Any]) -> Edges:
    options["start"] = rng.choice(("run-test/idle", "test-logic-reset"))
    sent = []
    for _ in range(rng.randrange(1, 8)):
        bits = rng.choice((1, 2, 5, 8, 63, 64, 65, 300))
        sent.append(
            jtag_encode.JtagScan(
                rng.random() < 0.4, bits, rng.getrandbits(bits), rng.getrandbits(bits)
            )
        )
    return jtag_encode.encode_scans(
        sent, samplerate_hz=RATE_HZ, half_period_samples=rng.choice((1, 2, 2, 3, 40))
    )


def mdio_signal(rng: random.Random, options: dict[str, Any]) -> Edges:
    options["clause"] = rng.choice(("auto", "22", "45"))
    options["min_preamble"] = rng.choice((1, 17))
    sent = []
    for _ in range(rng.randrange(1, 12)):
        clause, op = rng.choice(((22, "read"), (22, "write"), (45, "address"), (45, "read")))
        sent.append(
            mdio_encode.MdioFrame(
                clause, op, rng.randrange(4), rng.randrange(4), rng.getrandbits(16),
                ta=rng.randrange(4), preamble=rng.choice((16, 31, 32, 40)),
            )
        )  # fmt: skip
    return mdio_encode.encode_frames(
        sent, samplerate_hz=RATE_HZ, half_period_samples=rng.choice((1, 2, 3, 40))
    )


def parallel_signal(rng: random.Random, options: dict[str, Any]) -> Edges:
    """A clock of uneven halves, an enable, and up to five data lines."""
    options["clock_edge"] = rng.choice(("rising", "falling", "both"))
    options["enable_level"] = rng.choice(("high", "low"))
    options["take"] = rng.choice(("with", "before"))
    options["word_items"] = rng.choice((0, 0, 1, 3))
    options["endianness"] = rng.choice(("little", "big"))
    options["setup_samples"] = rng.choice((0, 0, 1, 4, 150))
    options["hold_samples"] = rng.choice((0, 0, 1, 4, 150))
    names = ["clk", "enable", *(f"d{bit}" for bit in range(rng.randrange(1, 6)))]
    longest = rng.choice((2, 3, 9, 200))
    sample, value, at = [0], [0], 0
    still = rng.choice((0.0, 0.0, 0.7))  # of the steps, those that only the clock changes with
    for step in range(rng.randrange(4, 400)):
        at += rng.randrange(1, longest)
        sample.append(at)
        lines = value[-1] if rng.random() < still else rng.randrange(1 << len(names))
        value.append(lines & ~1 | step & 1)
    return Edges(
        np.array(sample), np.array(value, dtype=np.uint64), tuple(names), RATE_HZ, 0, at + 5
    )


SIGNALS: dict[str, Callable[[random.Random, dict[str, Any]], Edges]] = {
    "spi": spi_signal,
    "uart": uart_signal,
    "i2c": i2c_signal,
    "jtag": jtag_signal,
    "mdio": mdio_signal,
    "parallel": parallel_signal,
}


def disturbed(
    rng: random.Random, value: np.ndarray[Any, np.dtype[np.uint64]], channels: int
) -> np.ndarray[Any, np.dtype[np.uint64]]:
    """Cut the ends, and let glitches, stuck lines and noise hit a few places."""
    value = value[rng.choice((0, 0, rng.randrange(len(value)))) :].copy()
    for _ in range(rng.choice((0, 0, 1, 3, 10))):
        at = rng.randrange(len(value))
        size = rng.choice((1, 1, 2, 5, 100))
        lines = np.uint64(rng.randrange(1 << channels))
        if rng.random() < 0.7:
            value[at : at + size] ^= lines
        else:
            noise = [rng.getrandbits(64) for _ in range(len(value[at : at + size]))]
            value[at : at + size] ^= np.array(noise, dtype=np.uint64) & lines
    return value


def scattered(
    rng: random.Random,
    value: np.ndarray[Any, np.dtype[np.uint64]],
    names: list[str],
) -> Samples:
    """Put the channels on any bits of a unit of any width, the other bits being noise."""
    units_B = [*(width().itemsize for width in WIDTHS), *ODD_UNITS_B]
    unit_B = rng.choice(units_B)
    bits = tuple(rng.sample(range(8 * unit_B), len(names)))
    noise = np.random.default_rng(rng.getrandbits(32))
    data = noise.integers(0, 1 << 63, len(value), dtype=np.uint64)
    for channel, bit in enumerate(bits):
        data &= ~np.uint64(1 << bit)
        data |= (value >> np.uint64(channel) & np.uint64(1)) << np.uint64(bit)
    if unit_B in ODD_UNITS_B:
        units = np.ascontiguousarray(data.view(np.uint8).reshape(-1, 8)[:, :unit_B])
    else:
        units = data.astype(f"u{unit_B}")
    return Samples(units, tuple(names), bits, RATE_HZ, 0)


@pytest.mark.parametrize("decoder", DECODERS, ids=lambda decoder: decoder.id)
def test_samples_and_edges_in_any_pieces_give_the_same_rows(decoder: Decoder) -> None:
    rows = 0
    for seed in range(SEEDS):
        rng = random.Random(seed)
        options: dict[str, Any] = {}
        signal = SIGNALS[decoder.id](rng, options)
        value = disturbed(rng, levels(signal), len(signal.channels))
        there = scattered(rng, value, list(signal.channels))
        if decoder is SPI and rng.random() < 0.3:
            options["gap_us"] = rng.choice((0.0, 1.0))
            there = there.select(
                ("CLK", *rng.choice((("MISO", "MOSI"), (None, "MOSI"), ("MISO", None))), None)
            )
        if decoder is JTAG and rng.random() < 0.2:
            # TDI is the reset too: it comes often, in the middle of scans.
            there = replace(
                there, channels=(*there.channels, "NTRST"), bits=(*there.bits, there.bits[2])
            )
        if decoder is PARALLEL:
            # Some lines missing, one data line far up, sometimes no clock.
            names = [channel.id for channel in decoder.channels]
            far = rng.choice(("d7", "d61", "d63"))
            lines = {far if name == "d0" else name: name for name in there.channels}
            if rng.random() < 0.3:
                del lines["clk"]
            if far == "d63":
                options["word_items"] = min(1, options["word_items"])
            elif far == "d7":
                options["word_items"] = rng.choice((0, 3, 8))
            else:
                options["word_items"] = 0
            there = there.select([lines.get(name) for name in names])
        missing: list[str | None] = [None] * (len(decoder.channels) - len(there.channels))
        whole = there.select([name or None for name in there.channels] + missing)
        if decoder is SPI and "MOSI" in whole.channels and rng.random() < 0.2:
            # A second select on a line that changes often.
            whole = whole.select(
                [*(name or None for name in whole.channels[:4]), "MOSI", None, None]
            )
        cuts = [rng.randrange(len(whole) + 1) for _ in range(rng.choice((0, 1, 4)))]
        pieces = in_any_form(cut(whole, cuts), rng)
        want = decoded(decoder, whole.edges(), **options)
        assert_same_tables(decoded(decoder, *pieces, **options), want, (seed, options))
        rows += sum(map(len, want.values()))
    assert rows > 10 * SEEDS
