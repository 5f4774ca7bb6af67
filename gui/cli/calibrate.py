"""``freezeframe calibrate``: a profile of stages fitted to a capture."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from freezeframe.capture.errors import InputError
from freezeframe.gui.cli.options import ForceOption, JsonOption, argument, option
from freezeframe.gui.places import refuse_evidence, refuse_taken

CaptureArgument = Annotated[
    Path, argument("CAPTURE.ff", "Capture folder of two cards at one link.")
]
ProfileOption = Annotated[
    Path,
    option("--output", "FILE.toml", "The profile; its arrivals go beside it, as .csv.", short="-o"),
]


def run(
    capture: CaptureArgument,
    *,
    output: ProfileOption,
    force: ForceOption = False,
    json: JsonOption = False,
) -> None:
    """Fit a profile of stages to a capture: what each stage takes, with 90 % intervals, and what arrived when.

    What is fitted comes from the event logs and taps of both cards alone. The profile is for what-if, which
    runs the capture's own messages through it and through a changed one. A capture that cannot say is refused
    with the reason.

    \b
    Examples:
      freezeframe calibrate run.ff -o run.toml
      freezeframe what-if run.toml --set split_cycles=20
      freezeframe what-if run.ff --set bus_MHz=133
    """
    if output.suffix != ".toml":
        raise InputError(f"{output}: a profile is written as .toml")
    refuse_evidence(output)
    refuse_taken(output, force, "fitted.toml")
    from freezeframe.gui.cli.work.calibration import calibrate

    calibrate(capture, output, json=json)
