"""Opening a target by its URL, and what all of them check."""

from __future__ import annotations

import numpy as np
import pytest

from freezeframe.capture.errors import InputError
from freezeframe.capture.targets._checks import checked_addresses, checked_write, runs
from freezeframe.capture.targets.base import Target, open_target, target_schemes
from tests.capture.targets.fake_device import FakeTarget


@pytest.mark.parametrize("url", ["", "nonsense", "udp://host", "127.0.0.1:1234", "emu"])
def test_a_url_of_no_known_kind_lists_those_there_are(url: str) -> None:
    with pytest.raises(
        InputError, match=r"begins with emu:, etherbone:, file:, litex:, pci:, uart:"
    ):
        open_target(url)


def test_the_six_transports_are_registered() -> None:
    assert set(target_schemes()) >= {"emu", "etherbone", "file", "litex", "pci", "uart"}


def test_anything_with_the_methods_is_a_target() -> None:
    assert isinstance(FakeTarget(depth=64), Target)
    assert not isinstance(object(), Target)


@pytest.mark.parametrize(
    ("addresses", "why"),
    [
        ([0, 4, 9], r"address 0x9 \(number 2 of the list\) is not a multiple of 4"),
        ([-4], r"address -4 \(number 0 of the list\) is negative"),
        ([1 << 32], r"address 0x100000000 .* does not fit 32 bits \(0\.\.0xfffffffc\)"),
        ([1 << 70], "must be a list of whole numbers"),
        ([0.0], "must be a list of whole numbers"),
        (np.array([1 << 63], np.uint64), "does not fit 32 bits"),
        (np.zeros((2, 2), np.uint32), "must be a list of whole numbers"),
    ],
)
def test_a_wrong_address_is_named_with_its_place(addresses: list[int], why: str) -> None:
    with pytest.raises(ValueError, match=why):
        checked_addresses(addresses)


def test_addresses_become_a_new_array_with_the_base_added() -> None:
    given = np.array([0, 4], np.uint32)
    found = checked_addresses(given, 0x10)
    assert found.dtype == np.uint32
    assert (found.tolist(), given.tolist()) == ([0x10, 0x14], [0, 4])
    assert checked_addresses([]).shape == (0,)


@pytest.mark.parametrize(
    ("address", "words", "why"),
    [
        (2, [0], "0x2 .* is not a multiple of 4"),
        (-4, [0], "is negative"),
        (0xFFFFFFFC, [0, 0], r"0x100000000 \(number 1 of the list\) does not fit"),
        (0, [1 << 32], "word 4294967296 does not fit 32 bits"),
        (0, [-1], "word -1 does not fit 32 bits"),
    ],
)
def test_a_wrong_write_is_refused(address: int, words: list[int], why: str) -> None:
    with pytest.raises(ValueError, match=why):
        checked_write(address, words)


def test_a_word_that_is_no_whole_number_is_refused() -> None:
    with pytest.raises(TypeError):
        checked_write(0, [1.5])  # type: ignore[list-item]  # the point of the test


@pytest.mark.parametrize(
    ("addresses", "longest", "found"),
    [
        ([], 4, []),
        ([8], 4, [(0, 1)]),
        ([0, 4, 8, 16, 20], 4, [(0, 3), (3, 5)]),
        ([0, 4, 8, 12, 16], 2, [(0, 2), (2, 4), (4, 5)]),
        ([8, 4, 0], 4, [(0, 1), (1, 2), (2, 3)]),
        ([0xFFFFFFFC, 0], 4, [(0, 1), (1, 2)]),
        ([4, 4], 4, [(0, 1), (1, 2)]),
    ],
)
def test_neighbours_are_found(
    addresses: list[int], longest: int, found: list[tuple[int, int]]
) -> None:
    assert runs(np.array(addresses, np.uint32), longest) == found
