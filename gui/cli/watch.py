"""``freezeframe watch``: live counters in the terminal."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from freezeframe.gui.cli.completing import targets
from freezeframe.gui.cli.options import ForceOption, argument, option
from freezeframe.gui.cli.usage import seconds, size_B

SourcesArgument = Annotated[
    list[str],
    argument(
        "SOURCE...",
        "A card (etherbone://192.0.2.7), netdev:eth0, rdma:mlx5_0/1; several are shown together.",
        autocompletion=targets,
    ),
]
RootOption = Annotated[
    Path | None,
    option(
        "--root", "FOLDER", "Read sys and proc of netdev: and rdma: below FOLDER: a recorded tree."
    ),
]
EveryOption = Annotated[
    float,
    typer.Option("--every", metavar="SECONDS", parser=seconds, help="Time between two readings."),
]
AlarmOption = Annotated[
    list[str] | None,
    option(
        "--alarm",
        "NAME>RATE",
        "Ring when a counter grows faster than RATE a second; NAME may hold *. May be given again.",
    ),
]
RecordOption = Annotated[
    Path | None, option("--record", "NAME.ffrec", "Keep every sample; see 'recording'.")
]
RecordKeepOption = Annotated[
    int | None,
    option(
        "--record-keep", "SIZE", "Keep this much of the recording, 2GB for instance; the oldest goes.",
        parser=size_B,
    ),
]  # fmt: skip
WriteOption = Annotated[bool, typer.Option("--allow-write", help="Let keys arm and freeze a card.")]
IntoOption = Annotated[Path, option("--into", "FOLDER", "Where snapshots and pulled captures go.")]
PullOption = Annotated[
    bool, typer.Option("--pull", help="Pull and explain each freeze as it comes, into --into.")
]
ServeOption = Annotated[
    int | None, option("--serve", "PORT", "Show it in a browser of this machine.", min=1, max=65535)
]


def run(
    sources: SourcesArgument,
    *,
    every: EveryOption = 0.5,
    alarm: AlarmOption = None,
    record: RecordOption = None,
    record_keep: RecordKeepOption = None,
    into: IntoOption = Path(),
    pull: PullOption = False,
    allow_write: WriteOption = False,
    serve: ServeOption = None,
    root: RootOption = None,
    force: ForceOption = False,
) -> None:
    """Show live counters in the terminal: cards, network interfaces, RDMA ports.

    Reads only, unless --allow-write is given. A source that vanishes is shown as stale and comes
    back by itself. '?' shows the keys.

    \b
    Examples:
      freezeframe watch etherbone://192.0.2.7
      freezeframe watch netdev:eth0 rdma:mlx5_0/1 --alarm 'rx_dropped>0'
      freezeframe watch netdev:eth0 --every 0.1 --record night.ffrec
    """
    from freezeframe.gui.cli.work.watch import WatchOptions, watch

    watch(
        WatchOptions(
            sources=sources, every=every, alarm=alarm or (), record=record,
            record_keep=record_keep, into=into, pull=pull,
            allow_write=allow_write, serve=serve, root=root, force=force,
        )
    )  # fmt: skip
