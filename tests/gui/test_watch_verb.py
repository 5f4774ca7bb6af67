"""watch as a command: what it refuses, that it runs on a terminal, and how light it stays."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from freezeframe.capture.counters.recorded import Recorded
from tests.bench import bench_watch
from tests.capture.counters.made_tree import made_tree
from tests.capture.recorder.fake_recorder import FakeRecorder
from tests.capture.serving import serving
from tests.gui.cli import run_inside
from tests.processes import run_program


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        (("netdev:nope",), 2, "there are eth9, tun0"),
        (("netdev:eth9",), 2, "needs a terminal"),
        (("netdev:eth9", "--alarm", "rx"), 2, "write NAME>RATE"),
        (("netdev:eth9", "--every", "0.001"), 2, "at least 0.02 seconds"),
        (("netdev:eth9", "--into", "/no/such/folder"), 2, "is not a folder"),
        (
            ("netdev:eth9", "--serve", "8000", "--allow-write"),
            2,
            "a dashboard in a browser only reads",
        ),
        (("netdev:eth9", "--serve", "8000", "--record", "x.ffrec"), 2, "every page would record"),
        (("etherbone://127.0.0.1:1?timeout=0.2",), 3, "127.0.0.1"),
        (("nonsense",), 2, "not a source of counters"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else None,
)
def test_what_cannot_be_watched_is_one_line_with_its_exit_code(
    tmp_path: Path, arguments: tuple[str, ...], code: int, says: str
) -> None:
    done = run_inside("watch", *arguments, "--root", str(made_tree(tmp_path)))
    assert (done.code, done.out) == (code, "")
    assert says in done.err
    assert done.err.count("\n") == 1


def test_a_capture_folder_is_no_place_for_a_recording(tmp_path: Path) -> None:
    """Through a terminal, because that is asked for first."""
    code = (
        "import os, pty, sys\n"
        "watch = [sys.executable, '-m', 'freezeframe', 'watch', 'netdev:eth9', *sys.argv[1:]]\n"
        "status = pty.spawn(watch, lambda fd: os.read(fd, 4096))\n"
        "sys.exit(os.waitstatus_to_exitcode(status))\n"
    )
    capture = tmp_path / "x.ff"
    (capture / "raw").mkdir(parents=True)
    (capture / "manifest.json").write_text("{}")
    arguments = [
        "--root",
        str(made_tree(tmp_path / "tree")),
        "--record",
        str(capture / "run.ffrec"),
    ]
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments],
        capture_output=True,
        text=True,
        timeout=60,
        stdin=subprocess.DEVNULL,
        check=False,
    )
    assert done.returncode == 2
    assert "which is evidence and is only read" in " ".join(done.stdout.split())


def test_on_a_terminal_it_draws_and_q_ends_it_and_the_recording_is_there(tmp_path: Path) -> None:
    files = bench_watch.made_tree(tmp_path)
    record = tmp_path / "run.ffrec"
    process, terminal = bench_watch.started(
        "rdma:made0/1", "--root", str(tmp_path), "--record", str(record)
    )
    shown = b""
    while b"made_counter_007" not in shown:
        shown += os.read(terminal, 1 << 16)
    bench_watch.feed(files, terminal, 0.5)
    os.write(terminal, b"q")
    while True:
        try:
            shown += os.read(terminal, 1 << 16)
        except OSError:  # the other side has closed the terminal
            break
    assert process.wait(30) == 0
    assert b"run.ffrec: " in shown
    assert b"\x1b[?1049l" in shown  # the terminal is as it was
    samples = list(Recorded(record).events())
    assert {len(sample.values) for sample in samples} == {bench_watch.COUNTERS}
    os.close(terminal)
    for file in files:
        os.close(file)


def test_watching_a_card_imports_neither_tables_nor_compiled_kernels() -> None:
    code = (
        "import asyncio, sys\n"
        "from pathlib import Path\n"
        "from freezeframe.capture.counters.monitor import Monitor\n"
        "from freezeframe.gui.cli.work.sources import opened_readers\n"
        "from freezeframe.gui.dashboard.app import Dashboard, DashboardOptions\n"
        "async def run(app):\n"
        "    async with app.run_test() as pilot:\n"
        "        while app.monitor.sources[0].sample is None:\n"
        "            await asyncio.sleep(0.05); app.tick()\n"
        "with opened_readers(sys.argv[1:], None, 0.1) as readers:\n"
        "    asyncio.run(run(Dashboard(Monitor(readers), DashboardOptions(0.1))))\n"
        "print(*[name for name in ('pandas', 'numba', 'pyarrow', 'simpy') if name in sys.modules])\n"
    )
    with serving(FakeRecorder()) as url:
        done = run_program([sys.executable, "-c", code, url], check=True)
    assert done.stdout.split() == []
