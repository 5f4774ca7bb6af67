"""What all tests share: no property test passes or fails on an absolute time; where time goes; what is quick."""

from __future__ import annotations

import gc
import os
import shutil
import signal
from itertools import count
from pathlib import Path

import pytest
from hypothesis import settings

from tests.time_table import TimeTable, room_of

_TESTS = count()
ROOT = Path(__file__).parents[1]
KERNELS = ROOT / "out" / "checked-kernels"

settings.register_profile("freezeframe", deadline=None, print_blob=True)
settings.load_profile("freezeframe")


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("freezeframe")
    group.addoption(
        "--quick", action="store_true", help="only tests that neither compile nor start a program"
    )
    group.addoption("--times", metavar="FILE", help="write every test's CPU seconds to FILE (JSON)")


def pytest_configure(config: pytest.Config) -> None:
    # A shell starts its background jobs with SIGINT ignored, and programs that tests start would inherit that.
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if shutil.which(
        "ccache"
    ):  # a third of what Verilator has compiled is its library, anew each time
        os.environ.setdefault("OBJCACHE", "ccache")
    # What Verilator compiled runs for seconds: g++ is to take no longer over it, and to read the library's headers
    # once or twice, not for each of a dozen files: half the time. And nothing of a make around us.
    once = "VM_PARALLEL_BUILDS=0"
    os.environ["MAKEFLAGS"] = f"-- OPT_FAST=-O1 OPT_SLOW=-O0 OPT_GLOBAL=-O0 {once}"
    if os.environ.get("NUMBA_DISABLE_JIT") != "1":
        # In all tests every kernel has numba's check of every index; users' kernels, without it, stand elsewhere.
        os.environ["NUMBA_BOUNDSCHECK"] = "1"
        os.environ["NUMBA_CACHE_DIR"] = str(KERNELS)
        if hasattr(config, "workerinput"):  # a worker of pytest-xdist
            from tests.kernel_locks import lock_kernels  # loads numba

            lock_kernels(KERNELS / "locks")
    config.pluginmanager.register(TimeTable(config.getoption("--times")), "time_table")
    if config.getoption("--quick"):
        from tests.quick import Quick  # loads numba

        config.pluginmanager.register(Quick(config), "quick")
    if os.environ.get("NUMBA_DISABLE_JIT") == "1":
        from tests.plain_kernels import PlainKernels

        config.pluginmanager.register(PlainKernels(), "plain_kernels")


@pytest.fixture(autouse=True)
def own_state(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """What one test keeps of a card is no knowledge of the next: their made cards are all of one boot."""
    monkeypatch.setenv(
        "XDG_STATE_HOME", str(tmp_path_factory.getbasetemp() / f"state-{next(_TESTS)}")
    )


def pytest_collection_finish() -> None:
    """Keep what was imported and collected out of Python's search for cycles, and search less often.

    Numba's compiler and the emulator make millions of small objects; each search through all modules and
    tests beside them is slow. Together they cost a twentieth of the processor time.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 50)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Spread the files of each room over the run: files that follow each other, and run at the same time, rarely wait
    for the same kernel to be compiled, and one worker simulates while the other compiles.
    """
    rooms: dict[str, dict[Path, None]] = {}
    for item in items:
        rooms.setdefault(room_of(item.nodeid), {})[item.path] = None
    place = {file: n / len(files) for files in rooms.values() for n, file in enumerate(files)}
    items.sort(key=lambda item: place[item.path])
