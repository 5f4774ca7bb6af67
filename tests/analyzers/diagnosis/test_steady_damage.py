"""Words that a link changes always in the same way, words in and sentence out."""

import numpy as np
import numpy.typing as npt
import pytest

from freezeframe.analyzers.diagnosis.lanes import steady_damage

SENT = np.arange(1, 41, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
ODD_BYTES = np.uint64(0xFF00FF00FF00FF00)  # of two lanes those of lane 1


def changed_from(first: int, by: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
    return np.concatenate([SENT[:first], by[first:]])


@pytest.mark.parametrize(
    ("arrived", "lanes", "said"),
    [
        (SENT ^ ODD_BYTES, 2, "every bit of lane 1 is turned over in each of the 30 words"),
        (
            SENT ^ np.uint64(0xFF000000FF000000),
            4,
            "every bit of lane 3 is turned over in each of the 30 words",
        ),
        (SENT ^ np.uint64(1 << 44), 2, "bit 44 is turned over in each of the 30 words"),
        (
            SENT ^ np.uint64(0x11),
            2,
            "2 bits (0x0000000000000011) are turned over in each of the 30 words",
        ),
    ],
)
def test_bits_that_are_turned_over_in_every_word_are_told(
    arrived: npt.NDArray[np.uint64], lanes: int, said: str
) -> None:
    assert steady_damage(SENT, changed_from(10, arrived), 10, lanes) == f"{said} from there on"


def test_bits_with_one_value_are_told_with_it() -> None:
    arrived = SENT | np.uint64(1 << 44)
    first = int(np.flatnonzero(arrived != SENT)[0])
    many = len(SENT) - first
    expected = f"bit 44 is 1 in each of the {many} words from there on, whatever was sent"
    assert steady_damage(SENT, arrived, first, 2) == expected


@pytest.mark.parametrize(
    "arrived",
    [
        np.roll(SENT, 1),
        SENT << np.uint64(1),
        np.where(np.arange(40) == 12, SENT ^ np.uint64(1), SENT),
        changed_from(12, np.where(np.arange(40) % 2, SENT ^ np.uint64(32), SENT)),
    ],
    ids=["one word late", "one bit late", "one bit of one word", "every other word"],
)
def test_what_has_no_steady_form_is_not_told(arrived: npt.NDArray[np.uint64]) -> None:
    first = int(np.flatnonzero(arrived != SENT)[0])
    assert steady_damage(SENT, arrived, first, 2) == ""


def test_fewer_than_eight_words_say_nothing() -> None:
    assert steady_damage(SENT[:7], SENT[:7] ^ ODD_BYTES, 0, 2) == ""
    assert steady_damage(SENT[:0], SENT[:0], 0, 2) == ""


def test_one_bit_of_one_word_before_words_that_have_it_anyway_is_no_habit() -> None:
    sent = np.full(40, 7, np.uint64)
    sent[10] = 6
    arrived = sent | np.uint64(1)
    assert steady_damage(sent, arrived, 10, 2) == ""
