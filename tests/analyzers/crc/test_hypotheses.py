"""Flipped bits and repeats found by the CRC of one payload."""

from __future__ import annotations

import random
import zlib

import numpy as np
import pytest

from freezeframe.analyzers.crc.lone_payload import Flip, crc32_words, find_flips, find_repeats


def payload(n: int, seed: int = 3) -> np.ndarray[tuple[int], np.dtype[np.uint64]]:
    generator = random.Random(seed)
    return np.array([generator.getrandbits(64) for _ in range(n)], np.uint64)


def test_the_crc_is_that_of_zip_over_little_endian_words() -> None:
    words = np.frombuffer(b"12345678", "<u8").astype(np.uint64)
    assert crc32_words(words) == zlib.crc32(b"12345678") == 0x9AE0DAAF


def test_a_right_payload_has_no_flip() -> None:
    words = payload(8)
    assert find_flips(words, crc32_words(words)) == []


@pytest.mark.parametrize(
    ("length", "word", "bit"), [(1, 0, 0), (1, 0, 63), (512, 0, 17), (512, 511, 40)]
)
def test_one_flipped_bit_is_found(length: int, word: int, bit: int) -> None:
    words = payload(length)
    tail = crc32_words(words)
    words[word] ^= np.uint64(1 << bit)
    assert find_flips(words, tail) == [Flip(word, 1 << bit)]


def test_a_flipped_bit_of_the_tail_is_no_flip_of_the_payload() -> None:
    words = payload(64)
    assert find_flips(words, crc32_words(words) ^ 0x400) == [Flip(None, 0x400)]


def test_two_flipped_bits_of_one_word_are_found() -> None:
    words = payload(100)
    tail = crc32_words(words)
    words[42] ^= np.uint64(1 << 3 | 1 << 60)
    assert Flip(42, 1 << 3 | 1 << 60) in find_flips(words, tail)


def test_damage_of_a_whole_half_seldom_passes_for_flips() -> None:
    found = 0
    for seed in range(60):
        words = payload(512, seed)
        tail = crc32_words(words)
        words[100] ^= np.uint64(random.Random(seed).getrandbits(32) | 7)
        found += bool(find_flips(words, tail))
    assert found <= 1  # each passes with a chance of 2.4e-4


def test_the_upper_half_of_the_tail_is_not_part_of_the_crc() -> None:
    words = payload(4)
    assert find_flips(words, crc32_words(words) | 0xFF << 40) == []


def test_a_repeated_word_is_found_by_its_second_copy() -> None:
    words = payload(50)
    tail = crc32_words(words)
    assert find_repeats(np.insert(words, 21, words[20]), tail) == [(21, 22)]


def test_equal_neighbours_of_a_good_payload_are_no_repeat() -> None:
    words = payload(50)
    words[8] = words[7]
    tail = crc32_words(words)
    assert find_repeats(np.insert(words, 31, words[30]), tail) == [(31, 32)]


def test_a_repeat_within_a_run_is_one_of_its_places() -> None:
    words = payload(20)
    words[5] = words[6] = words[4]
    tail = crc32_words(words)
    assert find_repeats(np.insert(words, 5, words[4]), tail) == [(5, 8)]


def test_an_omitted_word_is_not_called_a_repeat() -> None:
    words = payload(20)
    assert find_repeats(np.delete(words, 7), crc32_words(words)) == []
