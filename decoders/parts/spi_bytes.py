"""SPI transfers as bytes, for the parts that stand on them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from freezeframe.capture.errors import InputError
from freezeframe.decoders.columns import cut_octets

_LINES = ("mosi", "miso")
_PLACES = ("word_sample", "word_end_sample")


def byte_transfers(table: pa.Table, select: int, decoder: str) -> list[dict[str, Any]]:
    """Return SPI transfers as rows in which ``mosi`` and ``miso`` are bytes.

    The places of the words are left out, because a Python object for each costs more than all else;
    ``row`` is the row of ``table`` that has them.

    Args:
        select: only transfers of this chip select (and those without any); -1 for all.
    Raises:
        InputError: a line is not there, or a word has more than 8 bits; names ``decoder``.
    """
    plain = table.drop_columns([*_LINES, *_PLACES]).to_pylist()
    columns = {line: _bytes(table, line, decoder) for line in _LINES}
    rows = []
    for number, row in enumerate(plain):
        if select >= 0 and row["select"] not in (-1, select):
            continue
        row["row"] = number
        for line in _LINES:
            row[line] = columns[line][number]
            if len(row[line]) != row["words"]:
                raise InputError(f"decoder {decoder}: spi has no {line}; say spi:{line}=PROBE")
        rows.append(row)
    return rows


def _bytes(table: pa.Table, line: str, decoder: str) -> list[bytes]:
    lists = table.column(line).combine_chunks()
    if pa.types.is_binary(lists.type.value_type):
        raise InputError(f"decoder {decoder}: it takes words of 8 bits; say spi:word_bits=8")
    words = lists.flatten().to_numpy(zero_copy_only=False)
    if len(words) and words.max() > 0xFF:
        raise InputError(
            f"decoder {decoder}: a word of {words.max():#x} on {line} is longer than 8 bits; "
            "it takes spi:word_bits=8"
        )
    offsets = np.zeros(len(lists) + 1, dtype=np.int32)
    np.cumsum(lists.value_lengths().to_numpy(zero_copy_only=False), out=offsets[1:])
    texts: list[bytes] = cut_octets(words.astype(np.uint8), offsets).to_pylist()
    return texts
