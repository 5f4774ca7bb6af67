"""Window words and stored records are the same 72 bits: docs/formats.md, section 2."""

from __future__ import annotations

import numpy as np
import pytest

from freezeframe.capture.folder.records import (
    chunk_crc,
    records_from_window,
    unused_bits_set,
    window_from_records,
)

# HEAD with dt 15 and data 0x1122334455667788, then TIME with dt 14 and data 1.
WINDOW = [0x55667788, 0x11223344, 0xF1, 0, 0x00000001, 0, 0xEF, 0]
STORED = "8877665544332211f1" + "0100000000000000ef"


def test_four_window_words_become_nine_bytes() -> None:
    records = records_from_window(np.array(WINDOW, np.uint32))
    assert (records.shape, records.tobytes().hex()) == ((2, 9), STORED)


def test_nine_bytes_become_four_window_words() -> None:
    records = np.frombuffer(bytes.fromhex(STORED), np.uint8).reshape(-1, 9)
    assert window_from_records(records).tolist() == WINDOW


def test_a_chunks_crc_is_crc_32_over_the_bytes_as_stored() -> None:
    # The check value of CRC-32/ISO-HDLC: CBF43926 over the nine digits.
    digits = np.frombuffer(b"123456789", np.uint8).reshape(1, 9)
    assert chunk_crc(digits) == 0xCBF43926
    assert chunk_crc(np.zeros((0, 9), np.uint8)) == 0


@pytest.mark.parametrize(
    ("third", "fourth", "is_set"),
    [(0xFF, 0, False), (0x100, 0, True), (0, 1, True), (0xFFFFFFFF, 0xFFFFFFFF, True)],
)
def test_bits_that_a_device_always_answers_as_zero(third: int, fourth: int, is_set: bool) -> None:
    assert unused_bits_set(np.array([1, 2, third, fourth], np.uint32)) is is_set


def test_a_window_that_is_cut_in_a_record_is_refused() -> None:
    with pytest.raises(ValueError, match="7 window words are not a multiple of 4"):
        records_from_window(np.array(WINDOW[:7], np.uint32))
