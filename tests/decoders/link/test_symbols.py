"""8b/10b: drawn lines in, literal symbols out; hundreds of damaged lines against a reader of bits."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from freezeframe.capture.errors import InputError
from freezeframe.capture.files.edges import Edges
from freezeframe.capture.files.sigrok_sr_writer import write_sr
from freezeframe.decoders.contract import Decoder, Output
from freezeframe.decoders.link.symbols import EIGHT_TEN
from freezeframe.decoders.link.symbols_code import symbol_schema, symbol_texts
from freezeframe.decoders.registry import Registry
from freezeframe.decoders.run import decode_file
from freezeframe.decoders.spec import parse_spec
from tests.decoders.link.line_model import (
    Reader,
    damaged,
    draw,
    line_bits,
    longest_run,
    pieces,
    random_symbols,
)
from tests.decoders.pieces import rows_of

Rows = list[dict[str, Any]]

IDLE = (0xBC, True), (0xB5, False), (0xB5, False), (0xB5, False)
RATE_HZ = 10**9


def decode(*cut: Edges, **options: Any) -> list[Rows]:
    """Decode a capture, given in pieces; return symbols and events."""
    return rows_of(EIGHT_TEN, *cut, **options)


def said(rows: Rows) -> list[tuple[str, int]]:
    return [(row["code"], row["value"]) for row in rows]


def test_an_idle_gives_its_groups_with_their_places() -> None:
    symbols, events = decode(draw(line_bits(IDLE * 3), 4), bitrate=250_000_000)
    assert symbols[0] == {
        "t_ps": 0,
        "source": "D",
        "kind": "control",
        "error": "",
        "symbol": "K28.5",
        "byte": 0xBC,
        "k": True,
        "rd": 1,
        "synced": False,
        "group": 0b0011111010,
        "sample": 0,
    }
    assert [(row["symbol"], row["sample"], row["rd"]) for row in symbols[1:6]] == [
        ("D21.5", 40, 1),
        ("D21.5", 80, 1),
        ("D21.5", 120, 1),
        ("K28.5", 160, -1),
        ("D21.5", 200, -1),
    ]
    assert said(events) == [("aligned", 0), ("sync_found", 0)]
    assert events[1]["sample"] == 320  # the third comma, figure 36-9
    assert [row["synced"] for row in symbols] == [False] * 8 + [True] * 4


def test_symbols_before_the_first_comma_are_not_there() -> None:
    symbols, events = decode(draw("0110" + line_bits(IDLE * 3), 4), bitrate=250_000_000)
    assert (events[0]["code"], events[0]["sample"]) == ("aligned", 16)
    assert len(symbols) == 12


def test_a_group_of_neither_column_is_a_code_error() -> None:
    bits = line_bits(IDLE * 4)
    bits = bits[:130] + "1111110000" + bits[140:]
    row = decode(draw(bits, 4), bitrate=250_000_000)[0][13]
    assert (row["kind"], row["error"], row["symbol"], row["byte"]) == ("error", "code", "", -1)
    assert row["group"] == 0b1111110000
    assert symbol_texts(row).normal == "code error 111111 0000"


def test_a_group_of_the_other_column_is_a_disparity_error_with_its_value() -> None:
    # K28.5 of negative disparity twice: after the first the disparity is positive (36.2.4.4).
    bits = line_bits(IDLE) + line_bits(IDLE)
    row = decode(draw(bits, 4), bitrate=250_000_000)[0][4]
    assert (row["kind"], row["error"], row["symbol"]) == ("error", "disparity", "K28.5")
    assert row["rd"] == 1


def test_synchronization_ends_with_the_fourth_bad_group_and_good_ones_outweigh_bad_ones() -> None:
    good = line_bits([(0xB5, False)])
    bad = "1010111100"  # of neither column, with as many ones as zeros it leaves no trace
    start = line_bits(IDLE * 3)[: -3 * 10]  # ends with the third comma, disparity positive again
    fill = line_bits([(0xB5, False)] * 4)
    lost = start + bad * 3 + bad
    assert ("sync_lost", 0) in said(decode(draw(lost + good, 4), bitrate=250_000_000)[1])
    kept = start + bad + fill + bad * 3 + good
    assert ("sync_lost", 0) not in said(decode(draw(kept, 4), bitrate=250_000_000)[1])


def test_a_slipped_bit_is_told_with_the_way_it_moved_the_symbols() -> None:
    bits = line_bits(random_symbols(np.random.default_rng(1), 40, 8))
    slipped = bits[:203] + bits[204:]
    events = decode(draw(slipped, 5), bitrate=200_000_000, realign="always")[1]
    assert ("realigned", 9) in said(events)


def test_a_comma_elsewhere_does_not_move_symbols_in_synchronization() -> None:
    # K28.7 and D24.x make a comma across symbols (36.2.4.9 warns of it).
    symbols = [*(IDLE * 3), (0xFC, True), (0x18, False), *IDLE]
    events = decode(draw(line_bits(symbols), 4), bitrate=250_000_000)[1]
    reference = Reader().read(line_bits(symbols)).events
    assert sorted(said(events)) == sorted((code, value) for _, code, value in reference)
    assert "realigned" not in {code for code, _ in said(events)}


def test_a_pulse_shorter_than_half_a_bit_is_left_out_and_told() -> None:
    edges = draw(line_bits(IDLE * 4), 10)
    samples = np.repeat(edges.value, np.diff(np.append(edges.sample, edges.end_sample)))
    samples[1243:1246] ^= np.uint64(1)
    keep = np.concatenate(([True], samples[1:] != samples[:-1]))
    glitchy = replace(edges, sample=np.flatnonzero(keep).astype(np.int64), value=samples[keep])
    clean, _ = decode(edges, bitrate=100_000_000)
    symbols, events = decode(glitchy, bitrate=100_000_000)
    assert symbols == clean
    assert [(e["code"], e["sample"], e["value"]) for e in events if e["kind"] == "error"] == [
        ("glitch", 1243, 3)
    ]


def test_a_line_that_stands_still_loses_everything_and_is_found_again() -> None:
    bits = line_bits(IDLE * 3) + "0" * 400 + line_bits(IDLE * 3)
    symbols, events = decode(draw(bits, 4), bitrate=250_000_000)
    assert [code for code, _ in said(events)] == [
        "aligned",
        "sync_found",
        "sync_lost",
        "no-signal",
        "aligned",
        "sync_found",
    ]
    good = [row["symbol"] for row in symbols if row["kind"] != "error"]
    assert good == (["K28.5"] + ["D21.5"] * 3) * 6


def test_the_bit_rate_is_found_and_a_drift_of_a_percent_followed() -> None:
    symbols = random_symbols(np.random.default_rng(2), 3000, 16)
    for samples_a_bit in (3, 3.2, 4, 7.7, 33.3):
        edges = draw(line_bits(symbols), samples_a_bit, drift=0.01)
        rows, events = decode(edges)
        assert [(row["byte"], row["k"]) for row in rows] == symbols
        assert [event["code"] for event in events if event["kind"] == "error"] == []


def test_both_wires_exchanged() -> None:
    bits = line_bits(random_symbols(np.random.default_rng(3), 60, 9))
    other = bits.translate({48: "1", 49: "0"})
    wanted = decode(draw(bits, 4), bitrate=250_000_000)
    assert decode(draw(other, 4), bitrate=250_000_000, invert=True) == wanted


@pytest.mark.parametrize("edge", ["rising", "falling", "both"])
def test_a_clock_tells_the_bits(edge: str) -> None:
    bits = line_bits(random_symbols(np.random.default_rng(4), 60, 9))
    rng = np.random.default_rng(5)
    data, clock, level = [], [], 0
    for bit in bits:  # the data changes before, the clock takes it; uneven steps
        for _ in range(int(rng.integers(1, 4))):
            data.append(int(bit))
            clock.append(level)
        level ^= 1
        for _ in range(int(rng.integers(1, 4))):
            data.append(int(bit))
            clock.append(level)
        if edge != "both":
            level ^= 1
    value = np.array(data, np.uint64) | np.array(clock, np.uint64) << np.uint64(1)
    if edge == "falling":
        value ^= np.uint64(2)
    keep = np.concatenate(([True], value[1:] != value[:-1]))
    edges = Edges(np.flatnonzero(keep), value[keep], ("D", "C"), RATE_HZ, 0, len(value))
    found = [row["symbol"] for row in decode(edges, clock_edge=edge)[0]]
    assert found == [name for _, name, _, _, _ in Reader().read(bits).rows]
    rng = np.random.default_rng(6)
    cut = pieces(edges, rng.integers(1, edges.end_sample, 20).tolist())
    assert decode(*cut, clock_edge=edge) == decode(edges, clock_edge=edge)


@pytest.mark.parametrize("block", range(8))
def test_hundreds_of_damaged_lines_read_as_the_standard_says(block: int) -> None:
    for seed in range(25 * block, 25 * block + 25):
        rng = np.random.default_rng(seed)
        bits = line_bits(random_symbols(rng, 150, int(rng.integers(2, 40))))
        bits = damaged(bits, rng, int(rng.integers(0, 20)), int(rng.integers(0, 6)))
        bits = bits[int(rng.integers(30)) : len(bits) - int(rng.integers(30))]
        assert longest_run(bits) <= 20
        always = bool(rng.integers(2))
        samples_a_bit = float(rng.choice([3, 4, 4.3, 5.7, 10]))
        edges = draw(bits, samples_a_bit, drift=float(rng.choice([0, 1e-4, 1e-2, -1e-2])))
        reader = Reader(always=always).read(bits)
        symbols, events = decode(
            edges,
            bitrate=round(RATE_HZ / samples_a_bit),
            realign="always" if always else "lost",
        )
        found = [(r["symbol"], r["error"], r["rd"] > 0, r["synced"]) for r in symbols]
        assert found == [(n, e, rd > 0, synced) for _, n, e, rd, synced in reader.rows], seed
        assert sorted(said(events)) == sorted((code, v) for _, code, v in reader.events), seed


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6), st.lists(st.integers(0, 12_000), max_size=12))
def test_rows_do_not_depend_on_where_pieces_end(seed: int, cuts: list[int]) -> None:
    rng = np.random.default_rng(seed)
    bits = line_bits(random_symbols(rng, 80, 11))
    bits = damaged(bits, rng, 10, 3)
    bits = bits[:300] + "1" * int(rng.integers(60)) + bits[300:]
    edges = draw(bits, float(rng.choice([3, 4.3, 10])))
    for options in ({"bitrate": 0}, {"bitrate": round(RATE_HZ / 4.3), "realign": "always"}):
        assert decode(*pieces(edges, cuts), **options) == decode(edges, **options)


def test_a_line_without_a_comma_or_a_bit_rate_says_so_at_the_end() -> None:
    data = line_bits([(0xB5, False)] * 50)
    assert said(decode(draw(data, 4), bitrate=250_000_000)[1]) == [("no-comma", 0)]
    rng = np.random.default_rng(7)
    lengths = rng.integers(3, 400, 500)
    noise = Edges(
        np.concatenate(([0], np.cumsum(lengths))), np.arange(501, dtype=np.uint64) & np.uint64(1),
        ("D", ""), RATE_HZ, 0, int(lengths.sum()) + 5,
    )  # fmt: skip
    symbols, events = decode(noise)
    assert (symbols, said(events)) == ([], [("no-bitrate", 0)])
    assert decode(*pieces(noise, list(range(0, noise.end_sample, 7000)))) == [symbols, events]
    quiet = Edges(np.zeros(1, np.int64), np.zeros(1, np.uint64), ("D", ""), RATE_HZ, 0, 10**12)
    assert said(decode(quiet)[1]) == [("no-bitrate", 0)]
    assert said(decode(quiet, bitrate=10**8)[1]) == [("no-comma", 0)]


def test_a_bit_rate_too_high_for_the_samples_is_refused() -> None:
    with pytest.raises(InputError, match=r"bitrate=500000000: .* are 2.00 a bit; at least 2.5"):
        decode(draw(line_bits(IDLE), 4), bitrate=500_000_000)


def test_the_name_begins_with_a_digit_in_specs_and_files(tmp_path: Any) -> None:
    registry = Registry({"8b10b": EIGHT_TEN})
    assert parse_spec("8b10b:data=RX,bitrate=1000", registry).name == "8b10b"
    edges = replace(draw(line_bits(IDLE * 20), 4), channels=("data",))
    write_sr(edges, tmp_path / "lane.sr")
    tables = decode_file(tmp_path / "lane.sr", ["8b10b:bitrate=250000000"], registry=registry)
    assert [(name, len(table)) for name, table in tables] == [
        ("8b10b.symbols", 80),
        ("8b10b.events", 2),
    ]


@pytest.mark.parametrize("name", ["10", "_x", "-x", "8B10B", "8.b", ""])
def test_an_id_of_digits_alone_or_other_characters_is_refused(name: str) -> None:
    output = Output("8b10b.symbols", symbol_schema)
    with pytest.raises(ValueError, match="decoder id"):
        Decoder(name, "x", "x", "y", (output,), lambda *_: None)
