"""Real captures, and session files made byte by byte without the code under test."""

from __future__ import annotations

import os
import zipfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from freezeframe.capture.files.edges import join
from freezeframe.capture.files.open import read_edges


def captures_folder() -> Path:
    """Return where real captures are, if they are anywhere."""
    beside = Path(__file__).parents[4] / "shared" / "captures"
    return Path(os.environ.get("FREEZEFRAME_CAPTURES", beside))


def real_capture(name: str) -> Path:
    """Return a real capture, or skip the test where the folder of captures is not there."""
    path = captures_folder() / name
    if not path.exists():
        pytest.skip(f"{path} is not there; FREEZEFRAME_CAPTURES names the folder")
    return path


def without_idle(path: Path, into: Path, most: int = 64) -> Path:
    """Write a capture of up to 8 channels anew, nothing changing for at most so many samples; return ``into``.

    All levels and their order stay. Sigrok goes over each of a billion samples, nearly all of them idle, for 15 s.
    """
    edges = join(list(read_edges(path)))
    spans = np.diff(edges.sample, append=edges.end_sample)
    samples = np.repeat(edges.value.astype(np.uint8), np.minimum(spans, most))
    meta = metadata(edges.channels, rate=f"{edges.samplerate_hz} Hz", total=len(edges.channels))
    return write_session(into, [samples.tobytes()], meta)


def metadata(
    probes: Sequence[str],
    *,
    rate: str | None = "1 MHz",
    unitsize: int = 1,
    total: int | None = None,
) -> str:
    """Return session metadata as sigrok 0.5 writes it."""
    lines = ["[global]", "sigrok version=0.5.2", "", "[device 1]", "capturefile=logic-1"]
    lines.append(f"total probes={len(probes) if total is None else total}")
    if rate is not None:
        lines.append(f"samplerate={rate}")
    lines.append("total analog=0")
    lines += [f"probe{number}={name}" for number, name in enumerate(probes, start=1)]
    lines.append(f"unitsize={unitsize}")
    return "\n".join(lines) + "\n"


def write_session(
    path: Path,
    chunks: Sequence[bytes],
    meta: str,
    *,
    version: str = "2",
    names: Sequence[str] | None = None,
) -> Path:
    """Write a session file; ``names`` replaces ``logic-1-1``, ``logic-1-2`` and so on."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("version", version)
        archive.writestr("metadata", meta)
        for number, chunk in enumerate(chunks, start=1):
            archive.writestr(names[number - 1] if names else f"logic-1-{number}", chunk)
    return path
