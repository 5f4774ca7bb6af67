"""Samples to edges: every change and nothing else, however the samples are cut into pieces."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from freezeframe.capture.files.changes import ChangeMerger
from freezeframe.capture.files.edges import Bus, EdgeReducer, Edges, join, samples_to_ps


def plain_edges(samples: list[int], bits: list[int]) -> list[tuple[int, int]]:
    """Reduce one sample at a time, as the definition says."""
    found: list[tuple[int, int]] = []
    for index, sample in enumerate(samples):
        value = sum((sample >> bit & 1) << place for place, bit in enumerate(bits))
        if not found or found[-1][1] != value:
            found.append((index, value))
    return found


def reduce(data: bytes, unitsize_B: int, bits: list[int], cut_B: int) -> list[tuple[int, int]]:
    reducer = EdgeReducer(unitsize_B, bits)
    found: list[tuple[int, int]] = []
    for at in range(0, len(data), cut_B):
        sample, value = reducer.feed(data[at : at + cut_B])
        found += zip(sample.tolist(), value.tolist(), strict=True)
    return found


def edges(pairs: list[tuple[int, int]], channels: tuple[str, ...], end: int) -> Edges:
    return Edges(
        np.array([sample for sample, _ in pairs], dtype=np.int64),
        np.array([value for _, value in pairs], dtype=np.uint64),
        channels,
        1_000_000,
        0,
        end,
    )


def test_the_first_sample_and_each_change_are_edges() -> None:
    assert reduce(bytes([2, 2, 3, 3, 3, 0, 2]), 1, [0, 1], 100) == [(0, 2), (2, 3), (5, 0), (6, 2)]


def test_a_capture_that_is_all_zero_has_one_edge() -> None:
    assert reduce(bytes(1000), 1, list(range(8)), 77) == [(0, 0)]


def test_a_bit_that_is_no_channel_makes_no_edge() -> None:
    assert reduce(bytes([0x80, 0x00, 0x81, 0x01, 0x00]), 1, [0], 100) == [(0, 0), (2, 1), (4, 0)]


def test_channels_stand_in_the_order_that_is_asked_for() -> None:
    # Samples of two bytes, least significant first: bits 9 and 0.
    assert reduce(bytes.fromhex("0000 0100 0002 0102"), 2, [9, 0], 3) == [
        (0, 0b00),
        (1, 0b10),
        (2, 0b01),
        (3, 0b11),
    ]


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_any_samples_in_any_pieces_give_the_edges_of_the_definition(data: st.DataObject) -> None:
    unitsize_B = data.draw(st.integers(1, 8))
    bits = data.draw(
        st.lists(st.integers(0, 8 * unitsize_B - 1), min_size=1, max_size=9, unique=True)
    )
    runs = data.draw(
        st.lists(
            st.tuples(st.integers(0, (1 << 8 * unitsize_B) - 1), st.integers(1, 400)), max_size=12
        )
    )
    samples = [value for value, count in runs for _ in range(count)]
    raw = b"".join(sample.to_bytes(unitsize_B, "little") for sample in samples)
    cut_B = data.draw(st.integers(1, 700))
    assert reduce(raw, unitsize_B, bits, cut_B) == plain_edges(samples, bits)


def test_bytes_of_a_cut_sample_are_counted() -> None:
    reducer = EdgeReducer(4, [0])
    reducer.feed(bytes(10))
    assert (reducer.samples, reducer.rest_B) == (2, 2)


@pytest.mark.parametrize("unitsize_B", [0, 9])
def test_a_unit_size_outside_1_to_8_is_refused(unitsize_B: int) -> None:
    with pytest.raises(ValueError, match=f"unit size {unitsize_B} B; 1..8 are possible"):
        EdgeReducer(unitsize_B, [0])


def test_a_bit_outside_the_unit_is_refused() -> None:
    with pytest.raises(ValueError, match=r"bits \[0, 8\] of a unit of 1 B"):
        EdgeReducer(1, [0, 8])


def test_selecting_channels_keeps_only_their_changes() -> None:
    both = edges([(0, 0b11), (3, 0b01), (5, 0b00), (9, 0b10)], ("A", "B"), 20)
    only = both.select(["B"])
    assert list(zip(only.sample.tolist(), only.value.tolist(), strict=True)) == [
        (0, 1),
        (3, 0),
        (9, 1),
    ]
    assert (only.channels, only.end_sample) == (("B",), 20)


def test_a_channel_that_is_not_there_stays_0() -> None:
    both = edges([(0, 0b11), (3, 0b01)], ("A", "B"), 20)
    wide = both.select(["B", None, "A"])
    assert wide.value.tolist() == [0b101, 0b100]
    assert wide.channels == ("B", "", "A")


def test_selecting_a_channel_that_does_not_exist_is_refused() -> None:
    with pytest.raises(ValueError, match="no channel C; there is A, B"):
        edges([(0, 0)], ("A", "B"), 20).select(["C"])


def test_pieces_that_do_not_follow_each_other_are_not_joined() -> None:
    piece = edges([(0, 0)], ("A",), 20)
    with pytest.raises(ValueError, match="ends at sample 20 is followed by one that begins at 0"):
        join([piece, piece])


@pytest.mark.parametrize(
    ("sample", "rate_hz", "t_ps"),
    [
        (0, 12_000_000, 0),
        (1, 12_000_000, 83_333),
        (12_000_000, 12_000_000, 10**12),
        (1, 1, 10**12),
        (7, 10**12, 7),
        (2**53 + 1, 10**12, 2**53 + 1),
        (10**15 + 1, 999_999_999, 1_000_000_001_000_001_001),
    ],
)
def test_a_sample_is_dated_exactly_and_rounded_down(sample: int, rate_hz: int, t_ps: int) -> None:
    assert samples_to_ps(np.array([sample], dtype=np.int64), rate_hz).tolist() == [t_ps]


def test_a_time_beyond_106_days_is_refused() -> None:
    with pytest.raises(ValueError, match="is later than 9223372 s, the last time that fits t_ps"):
        samples_to_ps(np.array([9_223_372], dtype=np.int64), 1)


@given(st.integers(0, 9 * 10**6), st.integers(1, 10**12), st.integers(0, 10**12))
def test_dating_equals_exact_arithmetic(seconds: int, rate_hz: int, rest: int) -> None:
    sample = min(seconds * rate_hz + rest % rate_hz, 2**63 - 1)
    got = samples_to_ps(np.array([sample], dtype=np.int64), rate_hz)
    assert got.tolist() == [sample * 10**12 // rate_hz]


@pytest.mark.parametrize("rate_hz", [-1, 10**12 + 1])
def test_a_sample_rate_that_cannot_be_is_refused(rate_hz: int) -> None:
    with pytest.raises(ValueError, match=f"sample rate {rate_hz} Hz"):
        samples_to_ps(np.zeros(1, dtype=np.int64), rate_hz)


def test_a_bus_is_the_number_of_its_channels_and_goes_with_them() -> None:
    piece = replace(
        edges([(0, 0b0100), (3, 0b1101), (5, 0b1111)], ("c", "d[1]", "d[0]", "e"), 9),
        buses=(Bus("d", ("d[0]", "d[1]")),),
    )
    assert piece.bus("d").tolist() == [1, 1, 3]
    chosen = piece.select(["d[1]", "d[0]"])
    assert chosen.bus("d").tolist() == [1, 3]
    assert piece.select(["d[1]", "e"]).buses == ()
    with pytest.raises(ValueError, match="no bus x; there is d"):
        piece.bus("x")


def test_changes_of_signals_become_edges_wherever_they_are_cut() -> None:
    at = [7, 7, 9, 9, 9, 12, 15]
    mask = [1, 2, 1, 1, 2, 1, 2]
    value = [1, 0, 0, 1, 2, 0, 0]
    # At 9 the lowest bit falls and rises: no edge of it. The first edge stands at 0.
    for step in (1, 2, 3, 7):
        merger = ChangeMerger(["A", "B"], 1_000_000)
        pieces: list[Edges] = []
        for i in range(0, len(at), step):
            pieces += merger.feed(
                np.array(at[i : i + step], dtype=np.int64),
                np.array(mask[i : i + step], dtype=np.uint64),
                np.array(value[i : i + step], dtype=np.uint64),
            )
        pieces += merger.finish(20)
        whole = join(pieces)
        found = list(zip(whole.sample.tolist(), whole.value.tolist(), strict=True))
        assert found == [(0, 1), (9, 3), (12, 2), (15, 0)]
        assert whole.end_sample == 20


def test_a_change_that_is_earlier_than_the_one_before_is_named() -> None:
    merger = ChangeMerger(["A"], 1)
    ones = np.ones(3, dtype=np.uint64)
    with pytest.raises(ValueError, match="time goes back") as caught:
        list(merger.feed(np.array([4, 9, 8]), ones, ones))
    assert caught.value.args[1] == 2


def test_a_piece_without_a_sample_has_no_few_edges() -> None:
    assert EdgeReducer(1, [0]).few(np.zeros(0, dtype="<u1"), 10) is None


def test_bits_that_are_not_asked_for_may_change_with_every_sample() -> None:
    samples = np.tile(np.array([0, 4], dtype="<u1"), 50)
    samples[60:] |= 2
    edges = EdgeReducer(1, [1]).few(samples, 5)
    assert edges is not None
    assert (edges[0].tolist(), edges[1].tolist()) == ([0, 60], [0, 1])
    assert EdgeReducer(1, [2]).few(samples, 5) is None
    assert EdgeReducer(1, [1]).few(samples, 2) is None, "as many as the limit are too many"


def test_channels_in_another_order_than_their_bits_are_put_in_order() -> None:
    samples = np.array([0b001, 0b001, 0b100, 0b110], dtype="<u1")
    edges = EdgeReducer(1, [2, 0]).few(samples, 9)
    assert edges is not None
    # Bit 1 is not chosen: its change at sample 3 is none.
    assert (edges[0].tolist(), edges[1].tolist()) == ([0, 2], [0b10, 0b01])
