"""Samples: what a piece says of itself, and the same capture as edges; planes of 64 samples."""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from freezeframe.capture.files import plane_kernels
from freezeframe.capture.files.edges import join
from freezeframe.capture.files.samples import Samples, edges_of
from freezeframe.capture.files.units import UnitReader
from tests.capture.files.test_vcd import pairs

WIDTHS = ("u1", "u2", "u4", "u8")


def samples(values: list[int], names: str, bits: tuple[int, ...], begin: int = 0) -> Samples:
    return Samples(np.array(values, dtype=np.uint8), tuple(names), bits, 1_000_000, begin)


def test_the_first_sample_of_a_piece_is_an_edge_also_where_nothing_changes() -> None:
    piece = samples([1, 1, 3, 3], "AB", (0, 1), begin=10)
    assert pairs(piece.edges()) == [(10, 1), (12, 3)]
    assert (piece.edges().begin_sample, piece.edges().end_sample) == (10, 14)
    assert piece.changes() == 2


def test_bits_that_are_no_channel_of_it_are_not_looked_at() -> None:
    piece = samples([0x80, 0x00, 0x01, 0x81], "A", (0,))
    assert pairs(piece.edges()) == [(0, 0), (2, 1)]


def test_selected_channels_stand_in_the_order_that_is_asked_for_and_missing_ones_stay_0() -> None:
    piece = samples([0b01, 0b10], "AB", (0, 1)).select(["B", None, "A"])
    assert (piece.channels, piece.bits) == (("B", "", "A"), (1, -1, 0))
    assert pairs(piece.edges()) == [(0, 0b100), (1, 0b001)]
    assert piece.masks().tolist() == [2, 0, 1]


def test_a_channel_that_is_not_there_cannot_be_selected() -> None:
    with pytest.raises(ValueError, match="no channel C; there is A, B"):
        samples([0], "AB", (0, 1)).select(["C"])


@pytest.mark.parametrize(("bits", "names"), [((8,), "A"), ((-2,), "A"), ((0,), "AB")])
def test_a_bit_outside_the_unit_is_refused(bits: tuple[int, ...], names: str) -> None:
    with pytest.raises(ValueError, match=r"bits .* of 8 for channels"):
        samples([0], names, bits)


def test_a_piece_without_any_channel_still_has_time() -> None:
    piece = samples([5, 6], "A", (0,)).select([None])
    assert pairs(piece.edges()) == [(0, 0)]
    assert piece.changes() == 1


def test_channels_from_number_64_on_stand_in_the_high_plane_of_the_edges() -> None:
    names = ["A"] + [None] * 64 + ["B"]
    edges = samples([0b01, 0b10], "AB", (0, 1)).select(names).edges()
    assert edges.value.tolist() == [1, 0]
    assert edges.high is not None
    assert edges.high.tolist() == [0, 2]


def test_the_piece_after_one_is_empty_and_follows_it() -> None:
    piece = samples([1, 2, 3], "A", (0,), begin=7)
    assert (len(piece.after()), piece.after().begin_sample) == (0, 10)
    edges = piece.edges()
    assert (len(edges.after()), edges.after().begin_sample, edges.after().end_sample) == (0, 10, 10)
    assert len(piece.after().edges()) == 0


def test_units_of_3_bytes_that_are_cut_wait_for_the_rest() -> None:
    units = UnitReader(3)
    assert units.feed(bytes.fromhex("010000 0200")).tolist() == [1]
    assert units.rest_B == 2
    assert units.feed(bytes.fromhex("80 ffffff")).tolist() == [0x800002, 0xFFFFFF]


def test_units_of_3_bytes_stand_as_they_are_until_they_are_asked_for_as_numbers() -> None:
    units = UnitReader(3).units(bytes.fromhex("010000 020080 ffffff"))
    piece = Samples(units, ("A", "B"), (0, 23), 1_000_000, 10)
    assert (piece.unit_B, len(piece), piece.end_sample) == (3, 3, 13)
    assert piece.units.tolist() == [[1, 0, 0], [2, 0, 0x80], [0xFF, 0xFF, 0xFF]]
    assert (piece.data.tolist(), piece.data.dtype) == ([1, 0x800002, 0xFFFFFF], np.dtype("<u4"))
    assert pairs(piece.cut(1, 3).edges()) == [(11, 2), (12, 3)]


@pytest.mark.parametrize(
    ("shape", "kind"), [((4, 4), "u1"), ((4, 9), "u1"), ((4, 3), "u2"), ((2, 2, 3), "u1")]
)
def test_units_of_no_known_form_are_refused(shape: tuple[int, ...], kind: str) -> None:
    with pytest.raises(ValueError, match=r"samples of shape"):
        Samples(np.zeros(shape, dtype=kind), ("A",), (0,), 1_000_000, 0)


@pytest.mark.parametrize("unit_B", [1, 5])
def test_changes_are_counted_no_further_than_to_the_most_that_matter(unit_B: int) -> None:
    levels = np.arange(600_000, dtype=np.uint64) & np.uint64(1)
    units = levels.astype(np.uint8)
    if unit_B == 5:
        units = np.ascontiguousarray(levels.view(np.uint8).reshape(-1, 8)[:, :5])
    piece = Samples(units, ("A",), (0,), 1_000_000, 0)
    assert [piece.changes(most) for most in (None, 10, 599_999)] == [600_000, 10, 599_999]
    assert piece.changes(700_000) == 600_000


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_pieces_of_samples_have_the_edges_of_the_whole(data: st.DataObject) -> None:
    runs = data.draw(
        st.lists(st.tuples(st.integers(0, 7), st.integers(1, 200)), min_size=1, max_size=12)
    )
    values = [value for value, count in runs for _ in range(count)]
    cut = data.draw(st.integers(0, len(values)))
    whole = samples(values, "AB", (2, 0))
    parts = [whole.cut(0, cut), whole.cut(cut, len(values))]
    assert pairs(join(list(edges_of(parts)))) == pairs(whole.edges())
    assert whole.changes() == len(whole.edges())


@numba.njit
def planes(data: Any, at: int, mask: Any, value: Any) -> tuple[Any, Any]:
    return plane_kernels.differs(data, at, mask, value), plane_kernels.moves(data, at, mask)


@numba.njit
def bit_operations(plane: Any) -> tuple[Any, Any, Any]:
    count = plane_kernels.count_ones(plane)
    return count, plane_kernels.lowest(plane), plane_kernels.reverse(plane)


@pytest.mark.parametrize("width", WIDTHS)
def test_a_plane_has_a_bit_for_each_sample_that_differs_or_moves(width: str) -> None:
    rng = np.random.default_rng(1)
    data = rng.integers(0, 8, 200).astype(width)
    # One byte of each unit is noise that the mask hides.
    data |= (rng.integers(0, 16, 200) << 4).astype(width)
    for at in (1, 7, 136):
        part, before = data[at : at + 64] & 5, data[at - 1 : at + 63] & 5
        differs, moves = planes(data, at, np.uint64(5), np.uint64(4))
        assert int(differs) == sum(1 << i for i in range(64) if part[i] != 4)
        assert int(moves) == sum(1 << i for i in range(64) if part[i] != before[i])


@settings(max_examples=200, deadline=None)
@given(st.integers(0, 2**64 - 1))
def test_bit_operations_are_those_of_their_definitions(plane: int) -> None:
    count, low, turned = bit_operations(np.uint64(plane))
    assert count == plane.bit_count()
    assert low == next((place for place in range(64) if plane >> place & 1), 64)
    assert int(turned) == int(f"{plane:064b}"[::-1], 2)
