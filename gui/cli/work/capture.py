"""``freezeframe capture``: a device read into a file, and the file stored in a capture folder."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from freezeframe.capture.code import code
from freezeframe.capture.durable import check_place
from freezeframe.capture.errors import InputError
from freezeframe.capture.files.edges import PS_PER_S
from freezeframe.capture.files.importer import import_captures
from freezeframe.capture.files.sigrok_sr import DEFAULT_MAX_SAMPLES, parse_samplerate
from freezeframe.capture.files.source import ReadSettings
from freezeframe.capture.folder.manifest import MANIFEST
from freezeframe.capture.folder.samples import SampleSource
from freezeframe.capture.instruments.dialect import load_dialect
from freezeframe.capture.instruments.sigrok import SigrokRequest, capture_sigrok, sigrok_version
from freezeframe.capture.instruments.sigrok_stream import stream_layout
from freezeframe.capture.instruments.visa import open_visa
from freezeframe.capture.instruments.waveform import (
    MOST_POINTS,
    WaveformRequest,
    capture_waveforms,
)
from freezeframe.capture.time_text import parse_time
from freezeframe.gui.cli.output import count_text, emit_json, progress_bar
from freezeframe.gui.cli.reading import Reading
from freezeframe.gui.cli.work.import_files import folder_text
from freezeframe.gui.cli.work.reading import print_notes, source_choice
from freezeframe.gui.places import refuse_evidence
from freezeframe.gui.text import printable

_LiveDecoding = code("freezeframe.gui.cli.work.capture_live:LiveDecoding")  # only for -d
_WAIT_S = 60.0
_NO_DRIVER = (
    "capture: say from what, by --driver NAME or --instrument RESOURCE; `sigrok-cli --scan` finds the "
    "devices that are connected and names their drivers, `sigrok-cli --list-supported` lists all"
)


def check_options(
    analyzer: Mapping[str, object], instrument: Mapping[str, object], *, of_instrument: bool
) -> None:
    """Refuse options of the other kind of device.

    Raises:
        InputError: one is given.
    """
    for option, value in (analyzer if of_instrument else instrument).items():
        if value is not None:
            what = "is not for" if of_instrument else "needs"
            raise InputError(f"{option} {what} --instrument")


def capture_analyzer(
    driver: str | None,
    config: Sequence[str],
    channels: Sequence[str],
    triggers: Sequence[str],
    samples: int | None,
    time: str | None,
    wait_s: float | None,
    decoders: Sequence[str],
    reading: Reading,
    output: Path,
    *,
    force: bool,
    json: bool,
) -> None:
    """Capture from a device that sigrok drives; with ``decoders`` their rows are printed meanwhile.

    Raises:
        InputError: an option that cannot be used, or the folder cannot be written.
        TargetError: the device fails.
    """
    if driver is None:
        raise InputError(_NO_DRIVER)
    _check_output(output, force)
    settings: dict[str, str] = {}
    for text in config:
        key, equals, value = text.partition("=")
        if not equals or not key or not value or ":" in text:
            raise InputError(f"--config {text!r}: not KEY=VALUE")
        settings[key] = value
    time_ms = None
    if time is not None:
        time_ps = parse_time(f"--time {time!r}", time)
        time_ms = time_ps // 10**9
        if not time_ms or time_ms * 10**9 != time_ps:
            raise InputError(f"--time {time!r}: a whole number of milliseconds is needed")
    rate_hz = _device_rate(settings.get("samplerate"))
    if samples is None and time_ms is not None and rate_hz is not None:
        _check_amount(f"--time {time}", time_ms * rate_hz // 1000, rate_hz, reading.max_samples)
    elif samples is not None:
        _check_amount(f"--samples {samples}", samples, rate_hz, reading.max_samples)
    request = SigrokRequest(driver, settings, channels, triggers, samples, time_ms)
    takes_s = (time_ms or 0) / 1000 + (samples or 0) / (rate_hz or PS_PER_S)
    whole_s = takes_s + _WAIT_S if wait_s is None else wait_s
    live = None
    if decoders:
        _check_live(rate_hz, channels, json=json)
        live = _LiveDecoding(decoders)
    failed = None
    with tempfile.TemporaryDirectory(prefix="freezeframe-") as folder:
        source, format = Path(folder) / "capture.sr", None
        request.arguments(source)  # a wrong one is refused before the device is asked
        if live is None:
            with progress_bar("capture", "s") as update:
                capture_sigrok(
                    request,
                    source,
                    wait_s=whole_s,
                    progress=lambda gone_s, size_B: update(
                        int(gone_s), (time_ms or 0) // 1000, f"{count_text(size_B)} B"
                    ),
                )
        else:
            layout = stream_layout(request, rate_hz or 0, Path(folder), _WAIT_S)
            source, format = Path(folder) / "capture.bin", layout.format()
            failed = live.capture(request, layout, source, whole_s)
        origin = {
            "kind": "sigrok",
            "program": sigrok_version(),
            "driver": driver,
            "test_pattern": request.is_test_pattern,
            "config": settings,
            "channels": list(channels),
            "triggers": list(triggers),
            "samples": samples,
            "time_ms": time_ms,
        }
        _store(source, origin, reading, output, format, force=force, json=json)
    if failed is not None:
        raise failed


def _check_live(rate_hz: int | None, channels: Sequence[str], *, json: bool) -> None:
    """Refuse to decode where something is not told that it needs.

    Raises:
        InputError: that is so.
    """
    if json:
        raise InputError("--json: rows of -d are lines of text; decode the folder with --json")
    if rate_hz is None:
        raise InputError("-d: say how fast, for instance --config samplerate=1m")
    if not channels:
        raise InputError("-d: name the channels, for instance --channels D0,D1")


def capture_instrument(
    resource: str,
    dialect: str | None,
    visa: str,
    channels: Sequence[str],
    wait_s: float | None,
    reading: Reading,
    output: Path,
    *,
    single: bool,
    force: bool,
    json: bool,
) -> None:
    """Capture from an oscilloscope over VISA.

    Raises:
        InputError: an option that cannot be used, or the folder cannot be written.
        TargetError: the instrument fails.
    """
    _check_output(output, force)
    if not channels:
        raise InputError("--instrument: name the channels, for instance --channels CHAN1,D0")
    spoken = None if dialect is None else load_dialect(dialect)
    most = reading.max_samples or MOST_POINTS
    request = WaveformRequest(channels, single, _WAIT_S if wait_s is None else wait_s, most)
    with tempfile.TemporaryDirectory(prefix="freezeframe-") as folder:
        source = Path(folder) / "scope"
        source.mkdir()
        with open_visa(resource, visa) as link, progress_bar("capture", "B") as update:
            about = capture_waveforms(link, request, source, dialect=spoken, progress=update)
        origin = {"kind": "instrument", "resource": resource, **about}
        _store(source, origin, reading, output, force=force, json=json)


def _check_output(output: Path, force: bool) -> None:
    refuse_evidence(output.parent)
    check_place(output, force, MANIFEST)


def _store(
    source: Path,
    origin: dict[str, Any],
    reading: Reading,
    output: Path,
    format: str | None = None,
    *,
    force: bool,
    json: bool,
) -> None:
    notes: list[str] = []
    choice = source_choice(reading)
    file = SampleSource(str(source), format, tuple(choice.channels), tuple(choice.thresholds))
    settings = ReadSettings(max_samples=reading.max_samples, note=notes.append)
    done = import_captures([file], output, origin=origin, settings=settings, overwrite=force)
    print_notes(dict.fromkeys(notes))
    if json:
        emit_json(
            {
                "folder": str(output),
                "channels": list(done.header.channels),
                "samplerate_hz": done.header.samplerate_hz,
                "samples": done.end_sample,
                "edges": done.edges,
                "origin": origin,
            }
        )
        return
    made_up = ", a test pattern that sigrok made up" if origin.get("test_pattern") else ""
    print(printable(folder_text(output, done) + made_up))


def _device_rate(text: str | None) -> int | None:
    """Return the sample rate that is asked for; None where the device has its own, or knows better."""
    try:
        return None if text is None else parse_samplerate(text)
    except InputError:
        return None  # the message of sigrok-cli says what the device takes


def _check_amount(option: str, samples: int, rate_hz: int | None, max_samples: int | None) -> None:
    """Refuse before capturing what reading would refuse afterwards.

    Raises:
        InputError: it is more than ``max_samples``, or than the readers' default.
    """
    limit = max_samples or DEFAULT_MAX_SAMPLES
    if samples > limit:
        rate = "" if rate_hz is None else f", {samples // rate_hz:,} s at {rate_hz:,} Hz"
        raise InputError(
            f"{option}: {samples:,} samples{rate}, more than the {limit:,} allowed; capture less, or "
            f"if that is right, say --max-samples {samples}"
        )
