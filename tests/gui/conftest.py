"""What the tests of the faces share."""

from __future__ import annotations

import signal

import pytest


@pytest.fixture(scope="session", autouse=True)
def ctrl_c_reaches_programs() -> None:
    """Where the shell that started pytest ignores Ctrl-C, each program that a test starts would ignore it too."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
