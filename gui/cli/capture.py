"""``freezeframe capture``: from a logic analyzer or a bench instrument into a capture folder."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from freezeframe.capture.errors import InputError
from freezeframe.gui.cli.decode import ChannelOption, SamplesOption, ThresholdOption
from freezeframe.gui.cli.import_files import OutputOption
from freezeframe.gui.cli.options import ForceOption, JsonOption
from freezeframe.gui.cli.output import count_text, emit_json, printable, progress_bar
from freezeframe.gui.cli.usage import seconds
from freezeframe.gui.places import refuse_evidence

if TYPE_CHECKING:
    from freezeframe.capture.files.importer import Imported

__all__ = ["run"]

DriverOption = Annotated[
    str | None,
    typer.Option(
        "--driver",
        metavar="NAME[:option=value...]",
        help="Driver of libsigrok; its demo device without --driver and --instrument.",
        show_default=False,
    ),
]
ConfigOption = Annotated[
    list[str] | None,
    typer.Option(
        "--config",
        metavar="KEY=VALUE",
        help="Setting of the device, as samplerate=1m; may be given again.",
        show_default=False,
    ),
]
ChannelsOption = Annotated[
    str | None,
    typer.Option(
        "--channels",
        metavar="NAME,...",
        help="Channels to capture; of an analyzer all without it, of an instrument needed.",
        show_default=False,
    ),
]
TriggerOption = Annotated[
    list[str] | None,
    typer.Option(
        "--trigger",
        metavar="CHANNEL=WHAT",
        help="Begin at 0, 1, r (rise), f (fall), e (edge) of a channel; may be given again.",
        show_default=False,
    ),
]
CountOption = Annotated[
    int | None,
    typer.Option("--samples", metavar="N", min=1, help="So many samples.", show_default=False),
]
TimeOption = Annotated[
    str | None,
    typer.Option("--time", metavar="TIME", help="So long: 100ms, 2s.", show_default=False),
]
InstrumentOption = Annotated[
    str | None,
    typer.Option(
        "--instrument",
        metavar="RESOURCE",
        help="VISA name of an instrument: TCPIP::192.0.2.9::5025::SOCKET.",
        show_default=False,
    ),
]
DialectOption = Annotated[
    str | None,
    typer.Option(
        "--dialect",
        metavar="NAME|FILE.toml",
        help="How the instrument is spoken to; found by what it says it is.",
        show_default=False,
    ),
]
SingleOption = Annotated[
    bool,
    typer.Option("--single", help="Let the instrument record anew; else what it shows is taken."),
]
VisaOption = Annotated[
    str, typer.Option("--visa", metavar="LIBRARY", help="VISA library; @py is pyvisa-py.")
]
_WAIT_S = 60.0
WaitOption = Annotated[
    float | None,
    typer.Option(
        "--wait",
        metavar="SECONDS",
        parser=seconds,
        help="How long it may take in all, with the trigger. Default: 60 s beyond the samples themselves.",
        show_default=False,
    ),
]


def run(
    output: OutputOption,
    *,
    driver: DriverOption = None,
    config: ConfigOption = None,
    channels: ChannelsOption = None,
    trigger: TriggerOption = None,
    samples: CountOption = None,
    time: TimeOption = None,
    instrument: InstrumentOption = None,
    dialect: DialectOption = None,
    single: SingleOption = False,
    visa: VisaOption = "@py",
    wait: WaitOption = None,
    channel: ChannelOption = None,
    threshold: ThresholdOption = None,
    max_samples: SamplesOption = None,
    force: ForceOption = False,
    json: JsonOption = False,
) -> None:
    """Capture from a device that sigrok drives, or from an oscilloscope over VISA.

    What the device gave stands unaltered in a capture folder; decode, export and import take it.

    \b
    Examples:
      freezeframe capture --samples 100000 --config samplerate=1m -o demo.ff
      freezeframe capture --driver fx2lafw --channels D0,D1 --config samplerate=24m --time 2s -o bus.ff
      freezeframe capture --instrument TCPIP::192.0.2.9::5025::SOCKET --channels CHAN1,D0,D1
        --threshold CHAN1=1.4/0.8 -o scope.ff
    """
    from freezeframe.capture.files.importer import ImportFile, import_captures
    from freezeframe.capture.files.source import ReadSettings
    from freezeframe.capture.folder.durable import check_place
    from freezeframe.capture.folder.manifest import MANIFEST

    names = [name.strip() for name in (channels or "").split(",") if name.strip()]
    of_analyzer: dict[str, object] = {"--driver": driver, "--config": config, "--trigger": trigger}
    of_analyzer |= {"--samples": samples, "--time": time}
    of_instrument: dict[str, object] = {"--dialect": dialect, "--single": single or None}
    _only("--instrument", instrument is not None, of_analyzer, of_instrument)
    refuse_evidence(output.parent)
    check_place(output, force, MANIFEST)
    with tempfile.TemporaryDirectory(prefix="freezeframe-") as folder:
        if instrument is not None:
            source = Path(folder) / "scope"
            source.mkdir()
            origin = _from_instrument(
                instrument,
                dialect,
                visa,
                names,
                single,
                _WAIT_S if wait is None else wait,
                max_samples,
                source,
            )
        else:
            source = Path(folder) / "capture.sr"
            origin = _from_sigrok(
                driver or "demo",
                config or (),
                names,
                trigger or (),
                (samples, time),
                max_samples,
                wait,
                source,
            )
        notes: list[str] = []
        file = ImportFile(source, None, tuple(channel or ()), tuple(threshold or ()))
        settings = ReadSettings(max_samples=max_samples, note=notes.append)
        done = import_captures([file], output, origin=origin, settings=settings, overwrite=force)
    for note in dict.fromkeys(notes):
        print(f"note: {printable(note)}", file=sys.stderr)
    _say(output, done, origin, json=json)


def _only(name: str, chosen: bool, without: dict[str, object], with_it: dict[str, object]) -> None:
    """Refuse options of the other kind of device.

    Raises:
        InputError: one is given.
    """
    for option, value in (without if chosen else with_it).items():
        if value is not None:
            raise InputError(f"{option} is not for {name}" if chosen else f"{option} needs {name}")


def _from_sigrok(
    driver: str,
    config: Sequence[str],
    channels: Sequence[str],
    triggers: Sequence[str],
    much: tuple[int | None, str | None],
    max_samples: int | None,
    wait_s: float | None,
    output: Path,
) -> dict[str, Any]:
    from freezeframe.capture.files.cut import parse_time
    from freezeframe.capture.files.edges import PS_PER_S
    from freezeframe.capture.instruments.sigrok import (
        SigrokRequest,
        capture_sigrok,
        sigrok_version,
    )

    samples, time = much
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
        _check_amount(f"--time {time}", time_ms * rate_hz // 1000, rate_hz, max_samples)
    elif samples is not None:
        _check_amount(f"--samples {samples}", samples, rate_hz, max_samples)
    request = SigrokRequest(driver, settings, channels, triggers, samples, time_ms)
    takes_s = (time_ms or 0) / 1000 + (samples or 0) / (rate_hz or PS_PER_S)
    whole_s = takes_s + _WAIT_S if wait_s is None else wait_s
    with progress_bar("capture", "s") as update:
        capture_sigrok(
            request,
            output,
            wait_s=whole_s,
            progress=lambda gone_s, size_B: update(
                int(gone_s), (time_ms or 0) // 1000, f"{count_text(size_B)} B"
            ),
        )
    return {
        "kind": "sigrok",
        "program": sigrok_version(),
        "driver": driver,
        "config": settings,
        "channels": list(channels),
        "triggers": list(triggers),
        "samples": samples,
        "time_ms": time_ms,
    }


def _device_rate(text: str | None) -> int | None:
    """Return the sample rate that is asked for; None where the device has its own, or knows better."""
    from freezeframe.capture.files.sigrok_sr import parse_samplerate

    try:
        return None if text is None else parse_samplerate(text)
    except InputError:
        return None  # the message of sigrok-cli says what the device takes


def _check_amount(said: str, samples: int, rate_hz: int | None, max_samples: int | None) -> None:
    """Refuse before capturing what reading would refuse afterwards.

    Raises:
        InputError: it is more than ``max_samples``, or than the readers' default.
    """
    from freezeframe.capture.files.sigrok_sr import DEFAULT_MAX_SAMPLES

    limit = max_samples or DEFAULT_MAX_SAMPLES
    if samples > limit:
        rate = "" if rate_hz is None else f", {samples // rate_hz:,} s at {rate_hz:,} Hz"
        raise InputError(
            f"{said}: {samples:,} samples{rate}, more than the {limit:,} allowed; capture less, or "
            f"if that is right, say --max-samples {samples}"
        )


def _from_instrument(
    resource: str,
    dialect: str | None,
    visa: str,
    channels: Sequence[str],
    single: bool,
    wait_s: float,
    max_samples: int | None,
    folder: Path,
) -> dict[str, Any]:
    from freezeframe.capture.instruments.dialect import load_dialect
    from freezeframe.capture.instruments.visa import open_visa
    from freezeframe.capture.instruments.waveform import (
        MOST_POINTS,
        WaveformRequest,
        capture_waveforms,
    )

    if not channels:
        raise InputError("--instrument: name the channels, for instance --channels CHAN1,D0")
    spoken = None if dialect is None else load_dialect(dialect)
    request = WaveformRequest(channels, single, wait_s, max_samples or MOST_POINTS)
    with open_visa(resource, visa) as link, progress_bar("capture", "B") as update:
        said = capture_waveforms(link, request, folder, dialect=spoken, progress=update)
    return {"kind": "instrument", "resource": resource, **said}


def _say(output: Path, done: Imported, origin: dict[str, Any], *, json: bool) -> None:
    from freezeframe.gui.cli.import_files import folder_text

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
    print(printable(folder_text(output, done)))
