"""Capture waveforms from an oscilloscope or logic analyzer, as its bytes were, with their preambles.

What stands in the folder is what the instrument said: one file of bytes a trace, and ``waveform.json``
with its identity, the preamble as text, and the rule that makes voltages of bytes.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from freezeframe.capture.errors import TargetError
from freezeframe.capture.files.waveform import WAVEFORM, WAVEFORM_FORMAT
from freezeframe.capture.instruments.blocks import read_block
from freezeframe.capture.instruments.dialect import Dialect, dialect_for, shipped_dialects
from freezeframe.capture.instruments.visa import VisaLink

MOST_POINTS = 1 << 27
"""Points of a trace that are believed; the deepest memories have some hundred million."""

_SETTLE_S = 5.0  # for an answer that needs no transfer


@dataclass(frozen=True, slots=True)
class WaveformRequest:
    """Which channels; ``single`` records once more, else what is on the screen is taken.

    ``wait_s`` is how long one transfer, or the wait for the trigger, may take. ``max_points`` of a
    trace are refused beyond.
    """

    channels: Sequence[str]
    single: bool = False
    wait_s: float = 30.0
    max_points: int = MOST_POINTS


def capture_waveforms(
    link: VisaLink,
    request: WaveformRequest,
    folder: Path,
    *,
    dialect: Dialect | None = None,
    progress: Callable[[int, int, str], None] | None = None,
) -> dict[str, Any]:
    """Transfer the channels into ``folder``, which is the caller's, and return what was asked.

    Args:
        dialect: by default the one that fits what the instrument says it is.
    Returns:
        Identity, dialect and channels, for the manifest.
    Raises:
        InputError: no dialect fits, or it has no such channel.
        TargetError: the instrument reports an error, answers nonsense, or lies about a length.
        TargetTimeout: it stops.
    """
    link.limit(_SETTLE_S)
    idn = link.query("*IDN?")
    spoken = dialect or dialect_for(idn, list(shipped_dialects().values()))
    sources: dict[str, tuple[str, ...]] = {}
    for channel in request.channels:
        group = spoken.group_of(channel)
        sources[group.source_of(channel)] = group.members(channel)
    _forget_errors(link, spoken)
    for command in spoken.single if request.single else spoken.hold:
        link.write(command.format(sources=",".join(sources)))
    link.limit(request.wait_s)
    link.query(spoken.done)
    traces = []
    for number, (source, members) in enumerate(sources.items()):
        note = f"{source}, {number + 1} of {len(sources)}"

        def update(done: int, total: int, note: str = note) -> None:
            if progress is not None:
                progress(done, total, note)

        bits = spoken.group_of(members[0]).bits_per_byte
        preamble, data = _transfer(link, spoken, source, request, update)
        file = f"{members[0] if len(members) == 1 else source.strip(':')}.bin"
        (folder / file).write_bytes(data)
        traces.append(
            {
                "source": source,
                "channels": list(members),
                "bits_per_byte": bits,
                "file": file,
                "preamble": preamble,
            }
        )
    said: dict[str, Any] = {
        "format": list(WAVEFORM_FORMAT),
        "identity": idn,
        "dialect": spoken.name,
        "fields": list(spoken.fields),
        "volts": spoken.volts,
        "traces": traces,
    }
    (folder / WAVEFORM).write_text(json.dumps(said, indent=1) + "\n")
    return {"identity": idn, "dialect": spoken.name, "single": request.single}


def _transfer(
    link: VisaLink,
    dialect: Dialect,
    source: str,
    request: WaveformRequest,
    progress: Callable[[int, int], None],
) -> tuple[str, bytes]:
    where = f"{link.name}: {source}"
    link.limit(_SETTLE_S)
    for command in dialect.setup:
        link.write(command.format(source=source))
    _check_errors(link, dialect, where)
    preamble = link.query(dialect.preamble)
    points = _points(where, preamble, dialect, request.max_points)
    link.limit(request.wait_s)
    link.write(dialect.data)
    data = read_block(
        lambda size_B: link.read(size_B, f"{source}, block of {points} B"),
        where,
        points,
        lambda done: progress(done, points),
    )
    _check_errors(link, dialect, where)
    return preamble, data


def _points(where: str, preamble: str, dialect: Dialect, max_points: int) -> int:
    parts = preamble.split(",")
    try:
        numbers = dict(zip(dialect.fields, map(float, parts), strict=True))
        if not all(map(math.isfinite, numbers.values())):
            raise ValueError("a number is not finite")
    except ValueError:
        raise TargetError(
            f"{where}: preamble {preamble[:100]!r} is not {len(dialect.fields)} numbers "
            f"({', '.join(dialect.fields)})"
        ) from None
    if int(numbers.get("format", dialect.byte_format)) != dialect.byte_format:
        raise TargetError(
            f"{where}: preamble says format {numbers['format']:g}, and bytes are "
            f"{dialect.byte_format}; it did not take the setup"
        )
    points = numbers["points"]
    if not points.is_integer() or points < 1:
        raise TargetError(f"{where}: preamble says {points:g} points; was anything recorded?")
    if points > max_points:
        raise TargetError(
            f"{where}: {points:.0f} points, more than the {max_points} allowed; if that is right, "
            f"say --max-samples {points:.0f}"
        )
    if not 1e-12 <= numbers["x_increment_s"] <= 1.0:
        raise TargetError(
            f"{where}: preamble says a point each {numbers['x_increment_s']:g} s; 1 ps to 1 s are "
            "possible"
        )
    return int(points)


def _forget_errors(link: VisaLink, dialect: Dialect) -> None:
    """Read old errors away, of which there are at most some dozen."""
    for _ in range(100):
        if _error(link, dialect) is None:
            return


def _check_errors(link: VisaLink, dialect: Dialect, where: str) -> None:
    error = _error(link, dialect)
    if error is not None:
        raise TargetError(f"{where}: the instrument says: {error}")


def _error(link: VisaLink, dialect: Dialect) -> str | None:
    answer = link.query(dialect.error_query)
    code = answer.partition(",")[0].strip()
    try:
        return None if int(code) == dialect.error_none else answer
    except ValueError:
        raise TargetError(
            f"{link.name}: {dialect.error_query} answers {answer[:60]!r}, not a number and a text"
        ) from None
