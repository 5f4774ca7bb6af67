"""Work in a thread for the length of a ``with``."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def beside(run: Callable[[Callable[[], bool]], object]) -> Iterator[None]:
    """Call ``run(ended)`` in a thread; it returns when ``ended()`` is true, as it is at the end of the ``with``."""
    end = threading.Event()
    thread = threading.Thread(target=run, args=(end.is_set,), daemon=True)
    thread.start()
    try:
        yield
    finally:
        end.set()
        thread.join(10)
    assert not thread.is_alive()
