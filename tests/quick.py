"""What ``make quick`` leaves out: whatever compiles, starts a program, shows a window, or takes long.

Nobody keeps a list of tests. One that asks for a compiled kernel or another program, or emulates a card
for long, is skipped at that moment; all run in ``make test``. What stands here by name is only what is
not worth looking at.
"""

from __future__ import annotations

import signal
import subprocess
from collections.abc import Generator
from pathlib import Path
from typing import NoReturn

import pytest
import simpy
from hypothesis import settings
from numba.core.dispatcher import Dispatcher

__all__ = ["Quick"]

# In these every test needs a simulator, a window or another program.
LEFT_OUT = ("board", "capture/files/test_ghw.py", "decoders/srd", "gui/desktop", "peers", "rtl")
EVENTS = 2_500  # of an emulated card: a fortieth of a second
LIMIT_S = 0.4  # of CPU time, so that a busy machine leaves out no more than an idle one


def _kernel(*_: object, **__: object) -> NoReturn:
    pytest.skip("needs a compiled kernel")


def _program(*_: object, **__: object) -> NoReturn:
    pytest.skip("starts another program")


def _late(*_: object) -> NoReturn:
    pytest.skip(f"takes more than {LIMIT_S:g} s")


class Quick:
    """A plug-in of pytest, registered by ``--quick``."""

    def __init__(self) -> None:
        self._patch = pytest.MonkeyPatch()
        self._events = 0

    def pytest_sessionstart(self) -> None:
        # What a kernel does when it is called with types for the first time: load it from the cache, or compile it.
        self._patch.setattr(Dispatcher, "_compile_for_args", _kernel)
        self._patch.setattr(subprocess, "Popen", _program)
        signal.signal(signal.SIGPROF, _late)
        settings.register_profile("quick", settings.get_profile("freezeframe"), max_examples=10)
        settings.load_profile("quick")
        step = simpy.Environment.step

        def counted(environment: simpy.Environment) -> None:
            self._events += 1
            if self._events > EVENTS:
                pytest.skip("emulates a card for long")
            step(environment)

        self._patch.setattr(simpy.Environment, "step", counted)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_setup(self) -> Generator[None, object, object]:
        return (yield from self._limited())

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self) -> Generator[None, object, object]:
        return (yield from self._limited())

    def _limited(self) -> Generator[None, object, object]:
        self._events = 0
        signal.setitimer(signal.ITIMER_PROF, LIMIT_S)
        try:
            return (yield)
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)

    def pytest_sessionfinish(self) -> None:
        self._patch.undo()

    def pytest_ignore_collect(self, collection_path: Path) -> bool | None:
        tests = Path(__file__).parent
        left_out = any(collection_path.is_relative_to(tests / folder) for folder in LEFT_OUT)
        return True if left_out else None

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        items[:] = [item for item in items if item.get_closest_marker("slow") is None]
