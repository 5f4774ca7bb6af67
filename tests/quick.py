"""What ``make quick`` leaves out: whatever compiles, starts a program, or shows a window.

Nobody keeps a list. A test that asks for a compiled kernel or for another program is skipped at the
moment it asks, and runs in ``make test``; what stands here by name is only what is not worth looking at.
"""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import NoReturn

import pytest
from numba.core.dispatcher import Dispatcher

__all__ = ["Quick"]

# Folders in which every test needs a simulator, a window or another program.
LEFT_OUT = ("board", "decoders/srd", "gui/desktop", "peers", "rtl")


def _kernel(*_: object, **__: object) -> NoReturn:
    pytest.skip("needs a compiled kernel")


def _program(*_: object, **__: object) -> NoReturn:
    pytest.skip("starts another program")


class Quick:
    """A plug-in of pytest, registered by ``--quick``."""

    def __init__(self) -> None:
        self._patch = pytest.MonkeyPatch()

    def pytest_sessionstart(self) -> None:
        # What a kernel does when it is called with types for the first time: load it from the cache, or compile it.
        self._patch.setattr(Dispatcher, "_compile_for_args", _kernel)
        self._patch.setattr(subprocess, "Popen", _program)

    def pytest_sessionfinish(self) -> None:
        self._patch.undo()

    def pytest_ignore_collect(self, collection_path: Path) -> bool | None:
        tests = Path(__file__).parent
        left_out = any(collection_path.is_relative_to(tests / folder) for folder in LEFT_OUT)
        return True if left_out else None

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        items[:] = [item for item in items if item.get_closest_marker("slow") is None]
