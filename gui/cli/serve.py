"""``freezeframe serve``: live counters for Prometheus, and as JSON."""

from __future__ import annotations

import signal
import threading
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Annotated

import typer

from freezeframe.capture.errors import InputError
from freezeframe.gui.cli.output import printable
from freezeframe.gui.cli.usage import seconds
from freezeframe.gui.cli.watch import LEAST_PERIOD_S, RootOption, SourcesArgument, opened_readers

if TYPE_CHECKING:
    from freezeframe.gui.metrics.http import MetricsServer

__all__ = ["run"]

ListenOption = Annotated[
    str,
    typer.Option("--listen", metavar="HOST:PORT", help="Where to listen; port 0 takes a free one."),
]
TokenOption = Annotated[
    Path | None,
    typer.Option(
        "--token-file",
        metavar="FILE",
        help="Answer only who sends the token in FILE; needed away from 127.0.0.1.",
        show_default=False,
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
    root: RootOption = None,
) -> None:
    """Offer live counters over HTTP: /metrics for Prometheus, /json for other programs.

    Reads only, at its own pace however often it is asked. Runs until interrupted.

    \b
    Examples:
      freezeframe serve etherbone://192.0.2.7 netdev:eth0
      freezeframe serve netdev:eth0 --listen 192.0.2.9:9464 --token-file token
    """
    host, port = _host_and_port(listen)
    if every < LEAST_PERIOD_S:
        raise InputError(f"--every {every:g}: at least {LEAST_PERIOD_S:g} seconds")
    from freezeframe.gui.metrics.http import MetricsServer, read_token

    token = None if token_file is None else read_token(token_file)
    with (
        opened_readers(sources, root, every) as readers,
        MetricsServer(host, port, readers, token) as server,
    ):
        for reader in readers:
            reader.start()
        shown = f"[{host}]" if ":" in host else host
        print(printable(f"ready http://{shown}:{server.server_port}/metrics and /json"), flush=True)
        _run_until_interrupted(server)


def _run_until_interrupted(server: MetricsServer) -> None:
    """Serve until SIGINT or SIGTERM; both are the normal end."""
    ended = threading.Event()

    def end(number: int, frame: FrameType | None) -> None:
        ended.set()

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, end)
    thread = threading.Thread(target=server.serve_forever, name="http", daemon=True)
    thread.start()
    ended.wait()
    server.shutdown()
    thread.join()


def _host_and_port(text: str) -> tuple[str, int]:
    host, colon, port = text.rpartition(":")
    host = host.removeprefix("[").removesuffix("]")
    if not (colon and host and port.isascii() and port.isdigit() and int(port) < 1 << 16):
        raise InputError(f"--listen {text!r}: write HOST:PORT, for instance 127.0.0.1:9464")
    return host, int(port)
