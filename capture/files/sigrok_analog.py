"""Analog channels of sigrok session files as logic: 32-bit voltages in chunks, through a threshold.

Each channel N of device 1 has chunks ``analog-1-N-1``, ``analog-1-N-2`` and so on of little-endian
single-precision numbers, one a sample, at the rate of the logic.

Source: sigrok wiki, File format:Sigrok/v2; files that sigrok-cli 0.7.2 writes.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from freezeframe.capture.errors import CaptureFormatError
from freezeframe.capture.files._zip_members import ZipMembers
from freezeframe.capture.files.edges import Edges
from freezeframe.capture.files.sigrok_sr import SrHeader
from freezeframe.capture.files.source import ReadSettings, check_samples
from freezeframe.capture.files.threshold import Thresholder

_SAMPLE_B = 4
_PIECE_B = 1 << 20


def read_analog(
    path: str | Path,
    header: SrHeader,
    channel: str,
    rate_hz: int,
    settings: ReadSettings,
    max_samples: int,
) -> Iterator[Edges]:
    """Yield one channel as edges, in pieces that follow each other; at least one.

    Raises:
        InputError: it has more than ``max_samples``.
        CaptureFormatError: a chunk is damaged or cut, or there is none; for the values this comes
            when they are reached, so take no result before the last piece.
    """
    threshold = settings.thresholds.get(channel) or settings.thresholds[""]
    level = Thresholder(threshold)
    done = 0
    held: int | None = None
    rest = b""
    with ZipMembers(path) as members:
        for data in members.stream(header.analog[channel]):
            for at in range(0, len(data), _PIECE_B):
                raw = rest + data[at : at + _PIECE_B]
                whole_B = len(raw) // _SAMPLE_B * _SAMPLE_B
                rest = raw[whole_B:]
                if not whole_B:
                    continue
                levels = level.feed(np.frombuffer(raw[:whole_B], "<f4"))
                keep = np.ones(len(levels), dtype=np.bool_)
                keep[1:] = levels[1:] != levels[:-1]
                keep[0] = held is None or int(levels[0]) != held
                held = int(levels[-1])
                sample = np.flatnonzero(keep) + done
                begin, done = done, done + len(levels)
                check_samples(path, done, max_samples)
                yield Edges(sample, levels[keep], (channel,), rate_hz, begin, done)
    if rest:
        raise CaptureFormatError(
            f"{path}: {channel}: the voltages end with {len(rest)} B of {_SAMPLE_B}; the last "
            "chunk is cut"
        )
    if not done:
        raise CaptureFormatError(f"{path}: {channel}: there is no voltage in it; capture again")
    if level.not_numbers:
        settings.say(f"{path}: {channel}: {level.not_numbers} voltages are no numbers")
