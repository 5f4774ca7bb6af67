"""``freezeframe what-if``: an adapter described by its stages, changed, and what that buys."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from freezeframe.capture.errors import InputError
from freezeframe.gui.cli.options import ForceOption, JsonOption, argument, option
from freezeframe.gui.places import refuse_evidence, refuse_taken

ProfileArgument = Annotated[
    str,
    argument(
        "PROFILE|CAPTURE.ff", "A name ('list' shows those of stages), a TOML file, or a capture."
    ),
]
SetOption = Annotated[
    list[str] | None,
    option("--set", "KEY=VALUE", "Change a parameter, or table.name.key; may be given again."),
]
SweepOption = Annotated[
    list[str] | None,
    option(
        "--sweep",
        "KEY=A..B",
        "Every value: A..B, A..B/N (N evenly), A..B*F (by the factor F), or A,B,C; again: all pairs.",
    ),
]
SchedulerOption = Annotated[
    str | None,
    option(
        "--scheduler", "ADDRESS", "Run the sweep on a Dask scheduler's machines: tcp://HOST:8786."
    ),
]
LanesOption = Annotated[
    bool,
    typer.Option(
        "--lanes",
        help="Of a card down to its cycles: where its link's synchronization FIFOs run empty or full.",
    ),
]
PlotOption = Annotated[
    Path | None,
    option("--output", "FILE.svg", "Draw throughput and bound over the first sweep.", short="-o"),
]

DeliveriesOption = Annotated[
    Path | None,
    option(
        "--deliveries",
        "FILE.csv",
        "Write each message of the run, or of its change, as it arrived.",
    ),
]


def run(
    profile: ProfileArgument,
    *,
    set_: SetOption = None,
    sweep: SweepOption = None,
    output: PlotOption = None,
    scheduler: SchedulerOption = None,
    lanes: LanesOption = False,
    deliveries: DeliveriesOption = None,
    force: ForceOption = False,
    json: JsonOption = False,
) -> None:
    """Run messages through an adapter that is described by stages, change it, and see what that buys.

    Prints throughput, latency, what each resource was occupied for, the exact bound beside the
    simulation, what makes it, and what 1 % of speed of each part is worth. With --set the profile stands
    beside its change. With --sweep there is a line for each point; sweeps use all cores, or the
    machines of a Dask scheduler. A card down to its
    cycles, such as forth, is run as the emulated pair instead; with --lanes its synchronization FIFOs are run over
    idle_every, ppm and fill, or what --sweep says. From a capture, a profile is fitted to it as
    calibrate does, and the capture's own messages run through it and its change; gains have 90 % intervals.

    \b
    Examples:
      freezeframe what-if list
      freezeframe what-if cim250 --set depth=2
      freezeframe what-if cim250 --set depth=2 --set stage.fc.uses='[second]'
      freezeframe what-if cim250 --sweep size_B=64..65536 --sweep depth=1,2,3 -o cim250.svg
      freezeframe what-if cim250-both --set M_o_us=1000 --json
      freezeframe what-if forth-coarse --set flows.credit_unit_words=64
      freezeframe what-if forth --lanes -o lanes.svg
      freezeframe what-if run.ff --set bus_MHz=133
      freezeframe what-if switch --deliveries switch.csv
    """
    if scheduler and not sweep:
        raise InputError("--scheduler: one point is run here; add --sweep KEY=A..B")
    if output is not None:
        if not sweep and not lanes:
            raise InputError("-o: a drawing is made of a sweep; add --sweep KEY=A..B")
        if output.suffix != ".svg":
            raise InputError(f"{output}: a drawing is written as .svg")
        refuse_evidence(output)
        refuse_taken(output, force, "what-if.svg")
    if deliveries is not None:
        if sweep or lanes:
            raise InputError("--deliveries: of one run; leave --sweep and --lanes out")
        refuse_evidence(deliveries)
        refuse_taken(deliveries, force, "switch.csv")
    from freezeframe.gui.cli.work.what_if import (
        list_profiles,
        one_point,
        runnable,
        settings_of,
        sweep_points,
    )

    if profile == "list":
        list_profiles(json=json)
        return
    if lanes:
        if scheduler:
            raise InputError("--scheduler: a map of lanes is run here")
        from freezeframe.gui.cli.work.what_if_lanes import lanes_map

        lanes_map(profile, settings_of(set_ or []), sweep or [], output, json=json)
        return
    with runnable(profile) as name:
        if sweep:
            sweep_points(name, set_ or [], sweep, output, scheduler or "", json=json)
        else:
            one_point(name, set_ or [], deliveries, json=json)
