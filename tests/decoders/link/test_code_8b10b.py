"""The 8b/10b tables: literal rows of the standard, its rules, and two other writings of the same code."""

from __future__ import annotations

import pytest

from freezeframe.decoders.link.code_8b10b import (
    CODE_ERROR,
    DISPARITY_ERROR,
    ERROR_LSB,
    POSITIVE,
    K,
    decode_table,
    encode_table,
    group_name,
    is_comma,
)
from tests.decoders.link.line_model import COLUMNS, K_CODES, after, encode

# IEEE 802.3-2018 tables 36-1a to 36-1e and 36-2: name, byte, K, current RD -, current RD +.
ROWS = [
    ("D0.0", 0x00, False, "1001110100", "0110001011"),
    ("D3.0", 0x03, False, "1100011011", "1100010100"),
    ("D7.0", 0x07, False, "1110001011", "0001110100"),
    ("D21.5", 0xB5, False, "1010101010", "1010101010"),
    ("D16.2", 0x50, False, "0110110101", "1001000101"),
    ("D5.6", 0xC5, False, "1010010110", "1010010110"),
    ("D17.7", 0xF1, False, "1000110111", "1000110001"),
    ("D11.7", 0xEB, False, "1101001110", "1101001000"),
    ("D31.7", 0xFF, False, "1010110001", "0101001110"),
    ("K28.5", 0xBC, True, "0011111010", "1100000101"),
    ("K28.1", 0x3C, True, "0011111001", "1100000110"),
    ("K28.7", 0xFC, True, "0011111000", "1100000111"),
    ("K27.7", 0xFB, True, "1101101000", "0010010111"),
    ("K29.7", 0xFD, True, "1011101000", "0100010111"),
    ("K23.7", 0xF7, True, "1110101000", "0001010111"),
]


@pytest.mark.parametrize(("name", "byte", "k", "negative", "positive"), ROWS)
def test_rows_of_the_standard(name: str, byte: int, k: bool, negative: str, positive: str) -> None:
    assert group_name(byte, k) == name
    assert [f"{encode_table()[rd, K * k | byte]:010b}" for rd in (0, 1)] == [negative, positive]


def test_encoding_is_that_of_the_sub_block_tables() -> None:
    for rd in (0, 1):
        for symbol in range(512):
            x, y, k = symbol & 31, symbol >> 5 & 7, symbol >= K
            group = int(encode_table()[rd, symbol])
            if k and (x, y) not in K_CODES:
                assert group == -1
            else:
                assert f"{group:010b}" == encode(x, y, k, rd)[0]


def test_every_group_is_legal_a_disparity_error_or_a_code_error() -> None:
    for rd in (0, 1):
        for group in range(1024):
            bits = f"{group:010b}"
            entry = int(decode_table()[rd, group])
            where = COLUMNS[rd].get(bits) or COLUMNS[1 - rd].get(bits)
            x, y, k = where or (0, 0, False)
            error = 0 if bits in COLUMNS[rd] else DISPARITY_ERROR if where else CODE_ERROR
            assert (entry & 0xFF, bool(entry & K)) == (x | y << 5, k)
            assert entry >> ERROR_LSB & 3 == error
            assert bool(entry & POSITIVE) == bool(after(bits[6:], after(bits[:6], rd)))


def test_there_are_268_groups_in_each_column() -> None:
    # 256 data and 12 special ones; 36.2.4.3.
    assert [len(column) for column in COLUMNS] == [268, 268]
    good = [(int(entry) >> ERROR_LSB & 3) == 0 for entry in decode_table().reshape(-1)]
    assert sum(good) == 536


def test_commas_are_in_k28_1_k28_5_and_k28_7_alone() -> None:
    found = {
        group_name(symbol & 0xFF, symbol >= K)
        for rd in (0, 1)
        for symbol in range(512)
        if (group := int(encode_table()[rd, symbol])) >= 0 and group >> 3 in (0b0011111, 0b1100000)
    }
    assert found == {"K28.1", "K28.5", "K28.7"}
    named = {group_name(byte, k) for byte in range(256) for k in (False, True) if is_comma(byte, k)}
    assert named == found


def test_litex_decodes_every_data_group_to_the_same_byte() -> None:
    litex = pytest.importorskip("litex.soc.cores.code_8b10b", reason="litex is not installed")
    for byte in range(256):
        for rd in (0, 1):
            group = int(encode_table()[rd, byte])
            assert litex.table_6b5b[group >> 4] | litex.table_4b3b[group & 0xF] << 5 == byte
