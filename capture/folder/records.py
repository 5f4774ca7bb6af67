"""Records as a trace window shows them (four words) and as ``raw/`` keeps them (nine bytes).

Source: docs/formats.md, section 2.
"""

from __future__ import annotations

import zlib

import numpy as np
import numpy.typing as npt

RECORD_B = 9
WINDOW_WORDS = 4
_KIND_DT_MASK = 0xFF

Records = npt.NDArray[np.uint8]


def records_from_window(words: npt.NDArray[np.uint32]) -> Records:
    """Return the 9-byte records in window words.

    Args:
        words: ``(4 n,)`` or ``(n, 4)`` uint32: data 0-31, data 32-63, kind | dt << 4, 0.
    Returns:
        ``(n, 9)`` uint8, a copy, little-endian.
    Raises:
        ValueError: the number of words is not a multiple of 4.
    """
    if words.size % WINDOW_WORDS:
        raise ValueError(f"{words.size} window words are not a multiple of {WINDOW_WORDS}")
    flat = np.ascontiguousarray(words, dtype="<u4").reshape(-1, WINDOW_WORDS)
    return flat.view(np.uint8)[:, :RECORD_B].copy()


def unused_bits_set(words: npt.NDArray[np.uint32]) -> bool:
    """Return whether a window word has a bit set that a device always answers as 0.

    No CRC covers these bits, and error answers (all ones) set them.
    """
    quads = words.reshape(-1, WINDOW_WORDS)
    return bool((quads[:, 2] > _KIND_DT_MASK).any() or quads[:, 3].any())


def window_from_records(records: Records) -> npt.NDArray[np.uint32]:
    """Return the words a window shows for ``(n, 9)`` records: ``(4 n,)`` uint32."""
    padded = np.zeros((len(records), 4 * WINDOW_WORDS), np.uint8)
    padded[:, :RECORD_B] = records
    return padded.view("<u4").astype(np.uint32).reshape(-1)


def chunk_crc(records: Records) -> int:
    """Return the CRC-32/ISO-HDLC over the records of a chunk, as the device's table holds it."""
    return zlib.crc32(np.ascontiguousarray(records).data)
