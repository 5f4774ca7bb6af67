"""Alignment of one packet's words at two taps."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from freezeframe.analyzers.taps.align import Alignment, Edit, Op, align, align_cut
from freezeframe.analyzers.taps.edit_script import edit_script


def ids(text: str) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    return np.array([ord(letter) for letter in text], np.int64)


def rebuilt(up: str, down: str, alignment: Alignment) -> str:
    """Apply the edits to ``up``; what they put in is taken from ``down``."""
    omitted = {e.up for e in alignment.edits if e.op is Op.OMITTED}
    altered = {e.up: e.down for e in alignment.edits if e.op is Op.ALTERED}
    put_in: dict[int, list[int]] = {}
    for e in alignment.edits:
        if e.op in (Op.DUPLICATED, Op.INSERTED):
            put_in.setdefault(e.up, []).append(e.down)
    out = []
    for i in range(len(up) + 1):
        out += [down[j] for j in put_in.get(i, [])]
        if i < len(up) and i not in omitted:
            out.append(down[altered[i]] if i in altered else up[i])
    return "".join(out)


@pytest.mark.parametrize(
    ("up", "down", "edits"),
    [
        ("abcdef", "abcdef", ()),
        ("abcdef", "abdef", (Edit(Op.OMITTED, 2, 2, 2),)),
        ("abcdef", "bcdef", (Edit(Op.OMITTED, 0, 0, 0),)),
        ("abcdef", "abcde", (Edit(Op.OMITTED, 5, 5, 5),)),
        ("abcdef", "abccdef", (Edit(Op.DUPLICATED, 3, 3, 3),)),
        ("abcdef", "abcxdef", (Edit(Op.INSERTED, 3, 3, 3),)),
        ("abcdef", "abxdef", (Edit(Op.ALTERED, 2, 2, 2),)),
        ("abcdef", "xbcdey", (Edit(Op.ALTERED, 0, 0, 0), Edit(Op.ALTERED, 5, 5, 5))),
    ],
    ids=["equal", "omitted", "first", "last", "twice", "put in", "altered", "both ends"],
)
def test_one_difference_is_said_with_its_place(up: str, down: str, edits: tuple[Edit, ...]) -> None:
    assert align(ids(up), ids(down)).edits == edits


def test_an_omitted_word_among_equal_ones_is_one_of_them() -> None:
    (edit,) = align(ids("abxxxcd"), ids("abxxcd")).edits
    assert (edit.op, edit.first, edit.places, edit.certain) == (Op.OMITTED, 2, 3, False)


def test_a_repeat_of_a_run_is_any_copy_but_the_first() -> None:
    (edit,) = align(ids("abxxcd"), ids("abxxxcd")).edits
    assert (edit.op, edit.first, edit.places) == (Op.DUPLICATED, 3, 2)


def test_a_second_difference_beside_the_first_is_not_swallowed() -> None:
    found = align(ids("abcdefgh"), ids("abdefXh")).edits
    assert [(e.op, e.up) for e in found] == [(Op.OMITTED, 2), (Op.ALTERED, 6)]


@given(st.text("abc", max_size=24), st.text("abc", max_size=24))
def test_the_edits_lead_from_one_list_to_the_other(up: str, down: str) -> None:
    assert rebuilt(up, down, align(ids(up), ids(down))) == down


@given(st.text("abcd", max_size=16), st.text("abcd", max_size=16))
def test_no_shorter_edit_script_exists(up: str, down: str) -> None:
    script = edit_script(ids(up), ids(down))
    longest = [[0] * (len(down) + 1) for _ in range(len(up) + 1)]
    for i in range(len(up) - 1, -1, -1):
        for j in range(len(down) - 1, -1, -1):
            longest[i][j] = (
                longest[i + 1][j + 1] + 1
                if up[i] == down[j]
                else max(longest[i + 1][j], longest[i][j + 1])
            )
    assert script[:, 0].sum() == len(up) - longest[0][0]
    assert script[:, 1].sum() == len(down) - longest[0][0]
    assert script[:, 2].sum() == longest[0][0]


def test_words_that_the_freeze_cut_off_are_no_difference() -> None:
    assert align_cut(ids("abcdefgh"), ids("abcde"), at_start=False).edits == ()
    assert align_cut(ids("defgh"), ids("abcdefgh"), at_start=True).edits == ()


def test_an_omission_is_seen_in_a_packet_without_its_end() -> None:
    (edit,) = align_cut(ids("abcdefgh"), ids("abdef"), at_start=False).edits
    assert (edit.op, edit.up, edit.first, edit.places) == (Op.OMITTED, 2, 2, 1)


def test_an_omission_is_seen_in_a_packet_without_its_beginning() -> None:
    (edit,) = align_cut(ids("cdefgh"), ids("abcdegh"), at_start=True).edits
    assert (edit.op, edit.up, edit.first, edit.places) == (Op.OMITTED, 3, 3, 1)


def test_a_repeat_is_seen_in_a_packet_without_its_beginning() -> None:
    (edit,) = align_cut(ids("cdefgh"), ids("abcdeefgh"), at_start=True).edits
    assert (edit.op, edit.first, edit.places) == (Op.DUPLICATED, 5, 1)


def test_an_altered_word_stays_altered_when_the_end_is_missing() -> None:
    (edit,) = align_cut(ids("abcdefgh"), ids("abXdef"), at_start=False).edits
    assert (edit.op, edit.up, edit.down) == (Op.ALTERED, 2, 2)


def test_nothing_follows_from_the_last_word_alone() -> None:
    (edit,) = align_cut(ids("abcdefgh"), ids("abcdX"), at_start=False).edits
    assert (edit.op, edit.up) == (Op.ALTERED, 4)
