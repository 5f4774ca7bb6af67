"""A stretch out of a capture: the samples of it, and the value that it begins with."""

from __future__ import annotations

import numpy as np
import pytest

from freezeframe.capture.errors import InputError
from freezeframe.capture.files.cut import cut, ps_to_sample
from freezeframe.capture.files.edges import Edges, join
from freezeframe.capture.time_text import parse_span, plain_time
from tests.capture.files.test_vcd import pairs

US = 1_000_000  # picoseconds; a sample of these captures


def piece(found: list[tuple[int, int]], begin: int, end: int) -> Edges:
    return Edges(
        np.array([sample for sample, _ in found], dtype=np.int64),
        np.array([value for _, value in found], dtype=np.uint64),
        ("A", "B"),
        1_000_000,
        begin,
        end,
    )


CAPTURE = [
    piece([(0, 1), (4, 2)], 0, 10),
    piece([], 10, 20),
    piece([(20, 3), (25, 0), (29, 1)], 20, 30),
]


@pytest.mark.parametrize(
    ("t0", "t1", "want", "end"),
    [
        (0, None, [(0, 1), (4, 2), (20, 3), (25, 0), (29, 1)], 30),
        (4, 20, [(0, 2)], 16),
        (5, 21, [(0, 2), (15, 3)], 16),
        (3, 5, [(0, 1), (1, 2)], 2),
        (10, 12, [(0, 2)], 2),
        (15, 26, [(0, 2), (5, 3), (10, 0)], 11),
        (20, 25, [(0, 3)], 5),
        (29, None, [(0, 1)], 1),
        (29, 99, [(0, 1)], 1),
    ],
)
def test_a_cut_begins_with_its_value_and_ends_before_its_end(
    t0: int, t1: int | None, want: list[tuple[int, int]], end: int
) -> None:
    found = join(list(cut(CAPTURE, t0 * US, None if t1 is None else t1 * US)))
    assert pairs(found) == want
    assert (found.begin_sample, found.end_sample) == (0, end)


def test_every_cut_is_what_the_samples_say() -> None:
    samples = np.repeat([1, 2, 3, 0, 1], [4, 16, 5, 4, 1])
    for t0 in range(30):
        for t1 in range(t0 + 1, 31):
            found = join(list(cut(CAPTURE, t0 * US, t1 * US)))
            at = np.searchsorted(found.sample, np.arange(t1 - t0), side="right") - 1
            assert found.value[at].tolist() == samples[t0:t1].tolist(), (t0, t1)


def test_a_time_between_two_samples_means_the_next() -> None:
    assert [ps_to_sample(t_ps, 1_000_000) for t_ps in (0, 1, US, US + 1)] == [0, 1, 1, 2]
    assert ps_to_sample(10**12, 3) == 3


@pytest.mark.parametrize(("t0", "t1"), [(-1, 5), (5, 5), (6, 5)])
def test_a_cut_of_nothing_is_refused(t0: int, t1: int) -> None:
    with pytest.raises(InputError, match="it must begin at 0 or later, and end later"):
        list(cut(CAPTURE, t0, t1))


def test_a_cut_after_the_end_is_refused_with_the_end() -> None:
    with pytest.raises(InputError, match="the capture ends at 30 us"):
        list(cut(CAPTURE, 30 * US))


@pytest.mark.parametrize(
    ("text", "span"),
    [
        ("1.5ms..2ms", (1_500_000_000, 2_000_000_000)),
        ("..3us", (0, 3_000_000)),
        ("1 s ..", (10**12, None)),
        ("0.001ns..7ps", (1, 7)),
    ],
)
def test_a_span_is_written_with_units(text: str, span: tuple[int, int | None]) -> None:
    assert parse_span(text) == span


@pytest.mark.parametrize("text", ["1ms", "1..2", "a..b", "1ms..2parsec", "-1s..", "0.5ps..1ps"])
def test_what_is_no_span_is_refused(text: str) -> None:
    with pytest.raises(InputError, match="--cut '"):
        parse_span(text)


def test_a_begin_of_nothing_needs_no_unit() -> None:
    assert parse_span("0..2ms") == (0, 2 * 10**9)


@pytest.mark.parametrize(
    ("t_ps", "text"),
    [
        (0, "0 ps"),
        (999, "999 ps"),
        (-1_250_000, "-1.25 us"),
        (10**12 + 1, "1.000000000001 s"),
        (86_400 * 10**12, "86400 s"),
    ],
)
def test_a_time_is_shown_exactly_in_its_largest_unit(t_ps: int, text: str) -> None:
    assert plain_time(t_ps) == text
