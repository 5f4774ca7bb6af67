"""A target behind a real UDP Etherbone server for the length of a ``with``, and a line for a serial one."""

from __future__ import annotations

import os
import pty
import tty
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from functools import partial

from freezeframe.capture.targets.base import Target
from freezeframe.capture.targets.server import EtherboneServer
from tests.threads import beside


@contextmanager
def serving(
    target: Target,
    between: Callable[[], None] | None = None,
    poll_s: float = 0.05,
) -> Iterator[str]:
    """Answer Etherbone for ``target`` on a free loopback port, in a thread; gives the URL."""
    server = EtherboneServer(target, "127.0.0.1")
    with closing(server), beside(partial(server.serve_forever, between=between, poll_s=poll_s)):
        yield f"etherbone://127.0.0.1:{server.port}"


@contextmanager
def line() -> Iterator[tuple[int, str]]:
    """A pseudo-terminal: the far end as a descriptor, the near end as a path."""
    master, slave = pty.openpty()
    tty.setraw(slave)
    try:
        yield master, os.ttyname(slave)
    finally:
        os.close(slave)
        os.close(master)
