"""Parallel bus: levels drawn by hand in, literal items out, and two readers of one capture agree."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from freezeframe.capture.errors import InputError
from freezeframe.capture.files.edges import EdgeReducer, Edges
from freezeframe.capture.files.samples import Samples
from freezeframe.capture.files.sigrok_sr import read_samples
from freezeframe.capture.files.sigrok_sr_writer import write_sr
from freezeframe.capture.files.units import UnitReader
from freezeframe.decoders.bus.parallel import PARALLEL
from freezeframe.decoders.bus.parallel_tables import parallel_texts
from freezeframe.decoders.registry import Registry
from freezeframe.decoders.run import decode_file
from tests.decoders.pieces import assert_same_in_pieces, cut, rows_of
from tests.decoders.serial.sigrok_reference import Annotation, sigrok_annotations

RATE_HZ = 1_000_000
REGISTRY = Registry({"parallel": PARALLEL})
CLK, ENABLE = 1, 2

Rows = list[dict[str, Any]]
Drawn = list[tuple[int, int, int]]  # clock, enable and data of each sample


def edges_of(drawn: Drawn, bits: int = 8) -> Edges:
    """Reduce drawn samples to edges with all channels of the decoder."""
    words = [clk | enable << 1 | data << 2 for clk, enable, data in drawn]
    kept = [at for at, word in enumerate(words) if at == 0 or word != words[at - 1]]
    low = np.array([words[at] & (1 << 64) - 1 for at in kept], dtype=np.uint64)
    high = np.array([words[at] >> 64 for at in kept], dtype=np.uint64)
    names = ["CLK", "EN", *(f"D{bit}" if bit < bits else "" for bit in range(64))]
    return Edges(
        np.array(kept, dtype=np.int64),
        low,
        tuple(names),
        RATE_HZ,
        0,
        len(words),
        high=high if bits > 62 else None,
    )


def without(edges: Edges, *channels: str) -> Edges:
    return edges.select(
        [name if name and name not in channels else None for name in edges.channels]
    )


def decode(edges: Edges, **options: Any) -> list[Rows]:
    """Return items and words."""
    return rows_of(PARALLEL, edges, **options)


def places(rows: Rows) -> list[tuple[int, int, int]]:
    return [(row["sample"], row["end_sample"], row["value"]) for row in rows]


# Two samples low, two high; the data changes with the falling edge.
THREE: Drawn = [(clk, 1, data) for data in (0x12, 0x34, 0xA5) for clk in (0, 0, 1, 1)]


def test_an_item_stands_from_its_clock_to_the_next() -> None:
    items, words = decode(edges_of(THREE))
    assert items[0] == {
        "t_ps": 2_000_000,
        "source": "CLK",
        "kind": "item",
        "t_end_ps": 6_000_000,
        "error": "",
        "value": 0x12,
        "bits": 8,
        "sample": 2,
        "end_sample": 6,
    }
    # The last one stands until the capture ends.
    assert places(items) == [(2, 6, 0x12), (6, 10, 0x34), (10, 12, 0xA5)]
    assert words == []


def test_the_falling_edge_and_both_edges_can_count() -> None:
    # With the falling edge at 4 the next data is there already.
    items, _ = decode(edges_of(THREE), clock_edge="falling")
    assert places(items) == [(4, 8, 0x34), (8, 12, 0xA5)]
    items, _ = decode(edges_of(THREE), clock_edge="both")
    assert [row["sample"] for row in items] == [2, 4, 6, 8, 10]


def test_data_can_be_taken_from_before_the_edge() -> None:
    items, _ = decode(edges_of(THREE), clock_edge="falling", take="before")
    assert places(items) == [(4, 8, 0x12), (8, 12, 0x34)]


@pytest.mark.parametrize("level", ["high", "low"])
def test_only_enabled_clocks_count_and_others_end_an_item(level: str) -> None:
    active = int(level == "high")
    drawn = [
        (clk, active ^ skip, data)
        for data, skip in ((1, 0), (2, 1), (3, 1), (4, 0))
        for clk in (0, 1)
    ]
    items, _ = decode(edges_of(drawn), enable_level=level)
    assert places(items) == [(1, 3, 1), (7, 8, 4)]


def test_without_an_enable_every_clock_counts() -> None:
    drawn = [(clk, 0, data) for data in (1, 2) for clk in (0, 1)]
    assert decode(edges_of(drawn))[0] == []
    assert places(decode(without(edges_of(drawn), "EN"))[0]) == [(1, 3, 1), (3, 4, 2)]


def test_without_a_clock_every_change_of_data_counts() -> None:
    drawn = [(0, 1, 5), (1, 1, 5), (0, 1, 6), (1, 1, 6), (1, 1, 7)]
    assert places(decode(without(edges_of(drawn), "CLK"))[0]) == [(2, 4, 6), (4, 5, 7)]


def test_items_join_to_words_lowest_or_highest_first() -> None:
    _, words = decode(without(edges_of(THREE[:8]), "EN"), word_items=2)
    assert [(row["kind"], row["value"], row["bits"]) for row in words] == [("word", 0x3412, 16)]
    assert (words[0]["sample"], words[0]["end_sample"]) == (2, 8)
    _, words = decode(edges_of(THREE[:8]), word_items=2, endianness="big")
    assert [row["value"] for row in words] == [0x1234]


def test_a_word_that_ends_early_is_an_error_with_its_items() -> None:
    _, words = decode(edges_of(THREE), word_items=2)
    assert [(row["kind"], row["error"], row["items"]) for row in words] == [
        ("word", "", 2),
        ("error", "cut-word", 1),
    ]
    drawn = [(clk, on, data) for data, on in ((1, 1), (2, 0), (3, 1), (4, 1)) for clk in (0, 1)]
    _, words = decode(edges_of(drawn), word_items=2)
    assert [(row["kind"], row["value"]) for row in words] == [("error", 1), ("word", 0x0403)]


def test_data_that_changes_too_near_to_the_clock_is_told_when_asked() -> None:
    # Data changes one sample before the clock at 4 and one after the clock at 10.
    drawn = [(0, 1, 0)] * 3 + [(0, 1, 1)] + [(1, 1, 1)] * 3 + [(0, 1, 1)] * 3
    drawn += [(1, 1, 1)] + [(1, 1, 2)] * 3
    assert decode(edges_of(drawn))[0] == decode(edges_of(drawn), setup_samples=1)[0]
    items, _ = decode(edges_of(drawn), setup_samples=2, hold_samples=2)
    errors = [row for row in items if row["kind"] == "error"]
    assert [(row["error"], row["sample"], row["end_sample"]) for row in errors] == [
        ("setup", 3, 4),
        ("hold", 10, 11),
    ]


def test_a_clock_in_the_same_sample_as_the_data_has_no_setup_time() -> None:
    drawn = [(0, 1, 0)] * 4 + [(1, 1, 9)] * 4
    items, _ = decode(edges_of(drawn), setup_samples=1)
    assert [row["error"] for row in items if row["kind"] == "error"] == ["setup"]
    # Taken from before the edge, that is a change after it.
    items, _ = decode(edges_of(drawn), hold_samples=1, take="before")
    assert [row["error"] for row in items if row["kind"] == "error"] == ["hold"]


@pytest.mark.parametrize("bits", [1, 7, 32, 61, 62, 63, 64])
def test_a_bus_may_have_any_width_up_to_64(bits: int) -> None:
    rng = random.Random(bits)
    sent = [rng.getrandbits(bits) for _ in range(50)] + [(1 << bits) - 1]
    edges = edges_of([(clk, 1, data) for data in sent for clk in (0, 1)], bits)
    items, _ = decode(edges)
    assert [row["value"] % (1 << 64) for row in items] == sent
    assert items[-1]["bits"] == bits
    assert parallel_texts(items[-1]).short == f"{(1 << bits) - 1:0{-(-bits // 4)}x}"


def test_a_line_that_is_not_there_is_0() -> None:
    items, _ = decode(without(edges_of([(0, 1, 0xFF), (1, 1, 0xFF)]), "D3"))
    assert (items[0]["value"], items[0]["bits"]) == (0xF7, 8)


def test_what_cannot_be_decoded_is_refused() -> None:
    with pytest.raises(InputError, match="no data line has a probe"):
        decode(without(edges_of(THREE), *(f"D{bit}" for bit in range(8))))
    with pytest.raises(InputError, match="9 items of 8 bits are more than the 64 bits of a word"):
        decode(edges_of(THREE), word_items=9)


@given(
    st.lists(st.tuples(st.integers(0, 1), st.integers(0, 1), st.integers(0, 3)), min_size=1),
    st.lists(st.integers(1, 20), max_size=6),
    st.sampled_from(["rising", "falling", "both"]),
    st.sampled_from(["with", "before"]),
    st.booleans(),
)
@settings(max_examples=150, deadline=None)
def test_rows_do_not_depend_on_where_pieces_end(
    drawn: Drawn, cuts: list[int], edge: str, take: str, wide: bool
) -> None:
    bits = 64 if wide else 2
    if wide:
        drawn = [(clk, enable, data << 61) for clk, enable, data in drawn]
    edges = edges_of(drawn, bits)
    words = 0 if wide else 3
    options = {"clock_edge": edge, "take": take, "word_items": words, "setup_samples": 2}
    assert_same_in_pieces(PARALLEL, edges, cuts, hold_samples=2, **options)


def generated(rng: random.Random) -> Edges:
    """Return a bus with glitches, an odd idle level and ends anywhere: CLK and D0 to D7."""
    samples = bytearray()
    level = rng.getrandbits(1)
    data = rng.getrandbits(8)
    words = []
    for _ in range(rng.randint(20, 120)):
        level ^= 1
        if rng.random() < 0.6:
            data = rng.getrandbits(8)
        words += [level | data << 1] * rng.randint(1, 4)
        if rng.random() < 0.1:  # a glitch on any line, the clock too
            words.append(words[-1] ^ 1 << rng.randrange(9))
    cut = rng.randint(0, 5)
    for word in words[cut : len(words) - rng.randint(0, 5)]:
        samples += word.to_bytes(2, "little")
    sample, value = EdgeReducer(2, range(9)).feed(bytes(samples))
    names = ("CLK", *(f"D{bit}" for bit in range(8)))
    return Edges(sample, value, names, RATE_HZ, 0, len(samples) // 2)


@pytest.mark.parametrize(
    ("edge", "size", "endianness"),
    [
        ("rising", 2, "little"),
        ("falling", 3, "little"),
        ("rising", 4, "big"),
        ("falling", 8, "big"),
    ],
)
def test_on_50_captures_items_and_words_are_those_of_sigrok(
    edge: str, size: int, endianness: str, tmp_path: Path
) -> None:
    ours_settings = f"parallel:clock_edge={edge},word_items={size},endianness={endianness}"
    theirs = f"parallel:clk=CLK:clock_edge={edge}:wordsize={size}:endianness={endianness}"
    theirs += "".join(f":d{bit}=D{bit}" for bit in range(8))
    compared = 0
    for seed in range(50):
        path = tmp_path / f"{seed}.sr"
        edges = generated(random.Random(f"{seed} {edge} {size}"))
        write_sr(edges, path)
        items, words = (
            decoded.table.to_pylist()
            for decoded in decode_file(path, [ours_settings], registry=REGISTRY)
        )
        # sigrok says nothing of what stands until the capture ends.
        ours = [
            Annotation(row["sample"], row["end_sample"], f"{row['value'] % (1 << 64):0{digits}x}")
            for rows, digits in ((items[:-1], 2), (words, 2 * size))
            for row in rows
            if row["kind"] != "error" and row["end_sample"] <= items[-1]["sample"]
        ]
        assert sorted(ours) == sorted(sigrok_annotations(path, theirs, "parallel")), seed
        compared += len(ours)
    assert compared > 1000


@pytest.mark.parametrize("take", ["with", "before"])
@pytest.mark.parametrize("edge", ["rising", "falling", "both"])
@pytest.mark.parametrize("enabled", [True, False])
@pytest.mark.parametrize("unit_B", [8, 5, 1])
def test_items_of_samples_do_not_depend_on_how_many_there_were_before(
    edge: str, take: str, enabled: bool, unit_B: int
) -> None:
    """A long silence, then a clock with each sample, and silence again: room is made as it is needed."""
    rng = np.random.default_rng(8)
    quiet = np.zeros(2_000, dtype=np.uint64)
    busy = np.arange(8_000, dtype=np.uint64) & np.uint64(1)
    clock = np.concatenate([quiet, busy, quiet, busy[:63], quiet[:1]])
    lines = min(32, 8 * unit_B - 2)
    data = rng.integers(0, 1 << lines, len(clock), dtype=np.uint64)
    enable = rng.integers(0, 2, len(clock), dtype=np.uint64) if enabled else np.zeros_like(clock)
    levels = clock | enable << np.uint64(1) | data << np.uint64(2)
    there = (f"D{bit}" if bit < lines else "" for bit in range(64))
    names = ("CLK", "EN" if enabled else "", *there)
    bits = tuple(bit if name else -1 for bit, name in enumerate(names))
    rising = np.flatnonzero((clock[1:] == 1) & (clock[:-1] == 0)) + 1
    falling = np.flatnonzero((clock[1:] == 0) & (clock[:-1] == 1)) + 1
    at = {"rising": rising, "falling": falling, "both": np.union1d(rising, falling)}[edge]
    taken = at - (take == "before")
    wanted = [
        (int(sample), int(end), int(data[place]))
        for sample, end, place in zip(at, [*at[1:], len(clock)], taken, strict=True)
        if not enabled or enable[place]
    ]
    for sizes in ([len(clock)], [2_000, 1, 64, 5_000], [63]):
        stored = levels.view(np.uint8).reshape(-1, 8)[:, :unit_B].tobytes()
        units = UnitReader(unit_B).units(stored)
        whole = Samples(units, names, bits, RATE_HZ, 0)
        pieces = cut(whole, np.cumsum(sizes * (len(whole) // sum(sizes) + 1)).tolist())
        items, _ = rows_of(PARALLEL, *pieces, clock_edge=edge, take=take)
        assert [(r["sample"], r["end_sample"], r["value"]) for r in items] == wanted
        assert all(r["t_ps"] == r["sample"] * 10**6 for r in items)
        assert {r["bits"] for r in items} == {lines}


def test_33_lines_of_a_file_are_5_bytes_a_sample_and_give_the_same_as_their_edges(
    tmp_path: Path,
) -> None:
    rng = np.random.default_rng(9)
    put = rng.integers(0, 1 << 32, 70_000, dtype=np.uint64)
    # A word with each falling edge, as dense as clocks can be: straight from samples.
    value = np.stack([put << np.uint64(1), put << np.uint64(1) | np.uint64(1)], axis=1).reshape(-1)
    names = ("CLK", *(f"D{line}" for line in range(32)))
    edges = Edges(np.arange(len(value)), value, names, RATE_HZ, 0, len(value))
    path = tmp_path / "wide.sr"
    write_sr(edges, path)
    (piece, *_) = read_samples(path)
    assert (piece.unit_B, piece.units.shape[1]) == (5, 5)
    decoded = decode_file(path, ["parallel:clk=CLK,clock_edge=falling"], registry=REGISTRY)
    rows = dict(decoded)["parallel.items"]
    assert rows["value"].to_pylist() == put[1:].tolist()
    assert rows["sample"].to_pylist() == list(range(2, len(value), 2))
