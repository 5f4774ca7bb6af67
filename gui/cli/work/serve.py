"""``freezeframe serve``: sources read at their own pace, and a server for whoever asks."""

from __future__ import annotations

import signal
import threading
from collections.abc import Sequence
from pathlib import Path
from types import FrameType

from freezeframe.capture.listen import listen_address
from freezeframe.gui.cli.work.sources import check_period, opened_readers
from freezeframe.gui.metrics.http import MetricsServer, read_token
from freezeframe.gui.text import printable


def serve(
    sources: Sequence[str],
    listen: str,
    token_file: Path | None,
    every_s: float,
    root: Path | None,
) -> None:
    """Serve live counters until interrupted.

    Raises:
        InputError: an argument that cannot be used, or the address is taken.
        TargetError: a card cannot be reached.
    """
    host, port = listen_address(listen, name="--listen", hint="for instance 127.0.0.1:9464")
    check_period(every_s)
    token = None if token_file is None else read_token(token_file)
    with (
        opened_readers(sources, root, every_s) as readers,
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
