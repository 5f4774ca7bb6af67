"""``freezeframe capture``: from a logic analyzer or a bench instrument into a capture folder."""

from __future__ import annotations

from typing import Annotated

import typer

from freezeframe.gui.cli.import_files import OutputOption
from freezeframe.gui.cli.options import ForceOption, JsonOption, option
from freezeframe.gui.cli.reading import ChannelOption, Reading, SamplesOption, ThresholdOption
from freezeframe.gui.cli.usage import seconds

DriverOption = Annotated[
    str | None,
    option(
        "--driver",
        "NAME[:option=value...]",
        "Driver of libsigrok; sigrok-cli finds devices. demo is a test pattern, no device.",
    ),
]
LiveOption = Annotated[
    list[str] | None,
    option(
        "--decoder",
        "SPEC",
        "Print the rows of a decoder while the samples come; as for decode, may be given again.",
        short="-d",
    ),
]
ConfigOption = Annotated[
    list[str] | None,
    option("--config", "KEY=VALUE", "Setting of the device, as samplerate=1m; may be given again."),
]
ChannelsOption = Annotated[
    str | None,
    option(
        "--channels",
        "NAME,...",
        "Channels to capture; of an analyzer all without it, of an instrument needed.",
    ),
]
TriggerOption = Annotated[
    list[str] | None,
    option(
        "--trigger",
        "CHANNEL=WHAT",
        "Begin at 0, 1, r (rise), f (fall), e (edge) of a channel; may be given again.",
    ),
]
CountOption = Annotated[int | None, option("--samples", "N", "So many samples.", min=1)]
TimeOption = Annotated[str | None, option("--time", "TIME", "So long: 100ms, 2s.")]
InstrumentOption = Annotated[
    str | None,
    option(
        "--instrument", "RESOURCE", "VISA name of an instrument: TCPIP::192.0.2.9::5025::SOCKET."
    ),
]
DialectOption = Annotated[
    str | None,
    option(
        "--dialect",
        "NAME|FILE.toml",
        "How the instrument is spoken to; found by what it says it is.",
    ),
]
SingleOption = Annotated[
    bool,
    typer.Option("--single", help="Let the instrument record anew; else what it shows is taken."),
]
VisaOption = Annotated[
    str, typer.Option("--visa", metavar="LIBRARY", help="VISA library; @py is pyvisa-py.")
]
WaitOption = Annotated[
    float | None,
    option(
        "--wait",
        "SECONDS",
        "How long it may take in all, with the trigger. Default: 60 s beyond the samples themselves.",
        parser=seconds,
    ),
]


def run(
    output: OutputOption,
    *,
    driver: DriverOption = None,
    decoder: LiveOption = None,
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
        freezeframe capture --driver demo --samples 100000 --config samplerate=1m -o pattern.ff
        freezeframe capture --driver fx2lafw --channels D0,D1 --config samplerate=24m --time 2s -o bus.ff
        freezeframe capture --driver fx2lafw --channels D0 --config samplerate=1m --time 60s
      -d uart:rx=D0,baud=115200 -o console.ff
    freezeframe capture --instrument TCPIP::192.0.2.9::5025::SOCKET --channels CHAN1,D0,D1
          --threshold CHAN1=1.4/0.8 -o scope.ff
    """
    from freezeframe.gui.cli.work.capture import capture_analyzer, capture_instrument, check_options

    names = [name.strip() for name in (channels or "").split(",") if name.strip()]
    reading = Reading(max_samples, channel=channel, threshold=threshold)
    check_options(
        {"--driver": driver, "--decoder": decoder, "--config": config,
         "--trigger": trigger, "--samples": samples, "--time": time},
        {"--dialect": dialect, "--single": single or None},
        of_instrument=instrument is not None,
    )  # fmt: skip
    if instrument is None:
        capture_analyzer(
            driver, config or (), names, trigger or (), samples, time, wait, decoder or (), reading, output,
            force=force, json=json,
        )  # fmt: skip
    else:
        capture_instrument(
            instrument, dialect, visa, names, wait, reading, output, single=single, force=force, json=json
        )  # fmt: skip
