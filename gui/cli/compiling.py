"""Say why nothing happens: the first use of a kernel on a machine compiles it, which takes a while."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

_NOTICE = "compiling for this machine, once; this takes up to a minute"


@contextmanager
def compile_notice() -> Iterator[None]:
    """Print one line on standard error, where that is a terminal, when numba compiles anything.

    A kernel that comes out of numba's cache on disk is not compiled, and nothing is printed.
    """
    if not sys.stderr.isatty():
        yield
        return
    from numba.core import event

    class Notice(event.Listener):
        said = False

        def on_start(self, event: event.Event) -> None:
            if not self.said:
                self.said = True
                print(_NOTICE, file=sys.stderr, flush=True)

        def on_end(self, event: event.Event) -> None:
            """Nothing: the result says that it has ended."""

    with event.install_listener("numba:compile", Notice()):
        yield
