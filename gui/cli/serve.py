"""``freezeframe serve``: live counters for Prometheus, and as JSON."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from freezeframe.gui.cli.options import option
from freezeframe.gui.cli.usage import seconds
from freezeframe.gui.cli.watch import RecordKeepOption, RecordOption, RootOption, SourcesArgument

ListenOption = Annotated[
    str,
    typer.Option("--listen", metavar="HOST:PORT", help="Where to listen; port 0 takes a free one."),
]
TokenOption = Annotated[
    Path | None,
    option(
        "--token-file",
        "FILE",
        "Answer only who sends the token in FILE; needed away from 127.0.0.1.",
    ),
]
EveryOption = Annotated[
    float,
    typer.Option("--every", metavar="SECONDS", parser=seconds, help="Time between two readings."),
]


def run(
    sources: SourcesArgument,
    *,
    listen: ListenOption = "127.0.0.1:9464",
    token_file: TokenOption = None,
    every: EveryOption = 1.0,
    record: RecordOption = None,
    record_keep: RecordKeepOption = None,
    root: RootOption = None,
) -> None:
    """Offer live counters over HTTP: /metrics for Prometheus, /json for other programs.

    Reads only, at its own pace however often it is asked. Runs until interrupted.

    \b
    Examples:
      freezeframe serve etherbone://192.0.2.7 netdev:eth0
      freezeframe serve netdev:eth0 --every 0.05 --record night.ffrec --record-keep 2GB
      freezeframe serve netdev:eth0 --listen 192.0.2.9:9464 --token-file token
    """
    from freezeframe.gui.cli.work.serve import serve

    serve(sources, listen, token_file, every, root, record, record_keep)
