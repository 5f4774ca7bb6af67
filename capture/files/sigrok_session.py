"""Sigrok sessions (``.sr``) in the form of all formats: logic as it stands there, analog by thresholds."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from freezeframe.capture.files import sigrok_analog, sigrok_sr
from freezeframe.capture.files.edges import NO_RATE, Edges
from freezeframe.capture.files.levels import has_threshold, no_threshold
from freezeframe.capture.files.merge import Alignment, merge
from freezeframe.capture.files.samples import Samples, edges_of
from freezeframe.capture.files.source import CaptureHeader, ReadSettings, check_probes


def read_header(path: str | Path, settings: ReadSettings) -> CaptureHeader:
    """Return what a session says of itself; analog channels with a threshold are among its channels."""
    header = sigrok_sr.read_header(path)
    analog = [n for n, parts in header.analog.items() if parts and has_threshold(n, settings)]
    return CaptureHeader(
        "sr",
        (*header.channels, *analog),
        settings.samplerate_hz or header.samplerate_hz,
        refused={
            name: no_threshold(name) if parts else "it is analog, and there is no voltage of it"
            for name, parts in header.analog.items()
            if name not in analog
        },
        analog=tuple(analog),
    )


def read_edges(
    path: str | Path, probes: Sequence[str] | None, settings: ReadSettings
) -> Iterator[Edges]:
    """Yield these channels as edges; all where none are named."""
    pieces = read_samples(path, probes, replace(settings, few_changes=0))
    if pieces is None:
        return _with_analog(path, probes, settings)
    return edges_of(piece for piece in pieces if isinstance(piece, Samples))


def _with_analog(
    path: str | Path, probes: Sequence[str] | None, settings: ReadSettings
) -> Iterator[Edges]:
    """Yield logic and thresholded channels, each read for itself and laid over the others."""
    whole = read_header(path, settings)
    chosen = check_probes(path, whole, probes)
    header = sigrok_sr.read_header(path)
    most = settings.max_samples or sigrok_sr.DEFAULT_MAX_SAMPLES
    logic = [name for name in chosen if name in header.channels]
    streams = [
        sigrok_analog.read_analog(
            path, header, name, whole.samplerate_hz or NO_RATE, settings, most
        )
        for name in chosen
        if name in header.analog
    ]
    if logic:
        streams.insert(0, read_edges(path, logic, settings))
    merged = streams[0]
    for stream in streams[1:]:
        merged = merge(merged, stream, Alignment(0))
    for piece in merged:
        yield piece.select(chosen)


def read_samples(
    path: str | Path, probes: Sequence[str] | None, settings: ReadSettings
) -> Iterator[Samples | Edges] | None:
    """Yield the logic samples; None where an analog channel is asked for."""
    settings.only("sr", ())
    chosen = check_probes(path, read_header(path, settings), probes)
    if set(chosen) - set(sigrok_sr.read_header(path).channels):
        return None
    return sigrok_sr.read_pieces(
        path,
        probes=chosen,
        samplerate_hz=settings.samplerate_hz,
        max_samples=settings.max_samples or sigrok_sr.DEFAULT_MAX_SAMPLES,
        progress=settings.progress,
        few_changes=settings.few_changes,
    )
