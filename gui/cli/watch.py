"""``freezeframe watch``: live counters in the terminal."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from freezeframe.gui.cli.options import ForceOption
from freezeframe.gui.cli.usage import seconds

__all__ = ["RootOption", "SourcesArgument", "run"]

SourcesArgument = Annotated[
    list[str],
    typer.Argument(
        metavar="SOURCE...",
        help="A card (etherbone://192.0.2.7), netdev:eth0, rdma:mlx5_0/1; several are shown together.",
        show_default=False,
    ),
]
RootOption = Annotated[
    Path | None,
    typer.Option(
        "--root",
        metavar="FOLDER",
        help="Read sys and proc of netdev: and rdma: below FOLDER: a recorded tree.",
        show_default=False,
    ),
]
EveryOption = Annotated[
    float,
    typer.Option("--every", metavar="SECONDS", parser=seconds, help="Time between two readings."),
]
AlarmOption = Annotated[
    list[str] | None,
    typer.Option(
        "--alarm",
        metavar="NAME>RATE",
        help="Ring when a counter grows faster than RATE a second; NAME may hold *. May be given again.",
        show_default=False,
    ),
]
RecordOption = Annotated[
    Path | None,
    typer.Option(
        "--record", metavar="FILE", help="Keep every sample, as Parquet.", show_default=False
    ),
]
WriteOption = Annotated[bool, typer.Option("--allow-write", help="Let keys arm and freeze a card.")]
IntoOption = Annotated[
    Path,
    typer.Option(
        "--into",
        metavar="FOLDER",
        help="Where snapshots and pulled captures go.",
        show_default=False,
    ),
]
ServeOption = Annotated[
    int | None,
    typer.Option(
        "--serve",
        metavar="PORT",
        min=1,
        max=65535,
        help="Show it in a browser of this machine.",
        show_default=False,
    ),
]


def run(
    sources: SourcesArgument,
    *,
    every: EveryOption = 0.5,
    alarm: AlarmOption = None,
    record: RecordOption = None,
    into: IntoOption = Path(),
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
      freezeframe watch netdev:eth0 --every 0.1 --record run.parquet
    """
    from freezeframe.gui.cli.work.watch import WatchOptions, watch

    watch(
        WatchOptions(
            sources=sources, every=every, alarm=alarm or (), record=record, into=into,
            allow_write=allow_write, serve=serve, root=root, force=force,
        )
    )  # fmt: skip
