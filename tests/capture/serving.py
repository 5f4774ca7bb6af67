"""A target behind a real UDP Etherbone server for the length of a ``with``."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from freezeframe.capture.targets.base import Target
from freezeframe.capture.targets.server import EtherboneServer


@contextmanager
def serving(target: Target) -> Iterator[str]:
    """Answer Etherbone for ``target`` on a free loopback port, in a thread; gives the URL."""
    server = EtherboneServer(target, "127.0.0.1", 0)
    stop = threading.Event()
    thread = threading.Thread(target=server.serve_forever, args=(stop.is_set,), daemon=True)
    thread.start()
    try:
        yield f"etherbone://127.0.0.1:{server.port}"
    finally:
        stop.set()
        thread.join(10)
        server.close()
