"""What ``make quick`` leaves out: whatever compiles, starts a program, shows a window, or takes long.

Nobody keeps a list of tests. One that asks for a compiled kernel or another program, or emulates a card
for long, is skipped at that moment; all run in ``make test``. Which these were, and which took longer than
`LIMIT_S`, is remembered (in pytest's cache), so that the next run leaves them out at once, until their file
changes or with ``--cache-clear``.
What stands here by name is only what is not worth looking at.
"""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
from collections.abc import Generator
from pathlib import Path
from types import FrameType
from typing import NoReturn

import pytest
import simpy
from hypothesis import settings
from numba.core.dispatcher import Dispatcher

# In these every test needs a simulator, a window or another program.
LEFT_OUT = ("board", "decoders/srd", "gui/desktop", "peers", "rtl")
EVENTS = 2_500  # of an emulated card: a fortieth of a second
LIMIT_S = 0.2  # of CPU time, so that a busy machine leaves out no more than an idle one; longer ones run once
CUT_S = 1.0  # to here at most: over what a test leaves half done, a thread or half a module, the next may fall


_CACHE = "freezeframe/not-quick"
_MARK = "not quick: "


def _changed(test: str) -> int:
    """Return when the file of a test was changed, 0 where it is gone."""
    path = Path(__file__).parents[1] / test.partition("::")[0]
    return path.stat().st_mtime_ns if path.is_file() else 0


def _looping() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


class Quick:
    """A plug-in of pytest, registered by ``--quick``."""

    def __init__(self, config: pytest.Config) -> None:
        self._cache = getattr(config, "cache", None)  # none with -p no:cacheprovider
        self._is_worker = hasattr(config, "workerinput")
        self._patch = pytest.MonkeyPatch()
        self._events = 0
        self._asked = ""
        self._is_late = False
        known: dict[str, int] = self._cache.get(_CACHE, {}) if self._cache else {}
        self._skipped = {test: time for test, time in known.items() if time == _changed(test)}

    def _stop(self, asked: str) -> NoReturn:
        self._asked = _MARK + asked
        pytest.skip(self._asked)

    def _too_long(self, _: int, frame: FrameType | None) -> None:
        """Note a test, or cut it; but not within an import, which happens once in a run, whichever test asks first, nor
        in an event loop: the task at hand would keep the skip to itself, and the others wait for it for good.
        """
        if _looping():
            self._is_late = True
            return
        while frame is not None:
            if frame.f_code.co_filename.startswith("<frozen importlib"):
                signal.setitimer(signal.ITIMER_PROF, LIMIT_S)
                return
            frame = frame.f_back
        if self._is_late:
            self._stop(f"takes more than {CUT_S:g} s")
        self._is_late = True
        signal.setitimer(signal.ITIMER_PROF, CUT_S - LIMIT_S)

    def pytest_sessionstart(self) -> None:
        # What a kernel does when it is called with types for the first time: load it from the cache, or compile it.
        self._patch.setattr(
            Dispatcher, "_compile_for_args", lambda *_, **__: self._stop("needs a compiled kernel")
        )
        signal.signal(signal.SIGPROF, self._too_long)
        settings.register_profile("quick", settings.get_profile("freezeframe"), max_examples=10)
        settings.load_profile("quick")
        step = simpy.Environment.step

        def counted(environment: simpy.Environment) -> None:
            self._events += 1
            if self._events > EVENTS:
                self._stop("emulates a card for long")
            step(environment)

        self._patch.setattr(simpy.Environment, "step", counted)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_setup(self) -> Generator[None, object, object]:
        self._is_late = False
        return (yield from self._limited())

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self) -> Generator[None, object, object]:
        return (yield from self._limited())

    def _limited(self) -> Generator[None, object, object]:
        self._events, self._asked = 0, ""
        with pytest.MonkeyPatch.context() as patch:
            # Only here: pytest itself asks programs. A child of a test that is cut short would outlive it.
            for module, name in ((subprocess, "Popen"), (os, "fork")):
                patch.setattr(module, name, lambda *_, **__: self._stop("starts another program"))
            signal.setitimer(signal.ITIMER_PROF, LIMIT_S)
            try:
                return (yield)
            except Exception:
                if self._asked:  # the code under test took the skip for an error of its own
                    pytest.skip(self._asked)
                raise
            finally:
                signal.setitimer(signal.ITIMER_PROF, 0)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        report = yield
        report.is_late = self._is_late  # type: ignore[attr-defined]
        return report

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        asked = (
            report.skipped and isinstance(report.longrepr, tuple) and _MARK in report.longrepr[2]
        )
        if asked or getattr(report, "is_late", False):
            self._skipped[report.nodeid] = _changed(report.nodeid)

    def pytest_sessionfinish(self) -> None:
        self._patch.undo()
        if self._cache and not self._is_worker:
            self._cache.set(_CACHE, self._skipped)

    def pytest_ignore_collect(self, collection_path: Path) -> bool | None:
        tests = Path(__file__).parent
        left_out = any(collection_path.is_relative_to(tests / folder) for folder in LEFT_OUT)
        return True if left_out else None

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        items[:] = [
            item
            for item in items
            if item.nodeid not in self._skipped and item.get_closest_marker("slow") is None
        ]
