"""watch without typer: the same options as typer reads, and what is not plain goes to typer."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from freezeframe.gui.cli import watching
from freezeframe.gui.cli.watching import WatchOptions, plain_options
from tests.bench import bench_watch
from tests.capture.counters.made_tree import made_tree
from tests.gui.cli import run_inside, run_process

PLAIN = [
    ("netdev:eth0",),
    ("netdev:eth0", "rdma:mlx5_0/1", "--every", "0.1"),
    ("--every=2", "netdev:eth0", "--alarm", "rx>0", "emu:", "--alarm=tx*>5"),
    ("emu:", "--allow-write", "--into", "/tmp", "--root", "tree", "--force"),
    ("emu:", "--record", "x.parquet", "--serve", "8000"),
]


@pytest.fixture
def seen(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[WatchOptions]]:
    found: list[WatchOptions] = []
    monkeypatch.setattr(watching, "watch", found.append)
    yield found


@pytest.mark.parametrize("arguments", PLAIN, ids=" ".join)
def test_typer_reads_the_same_options(arguments: tuple[str, ...], seen: list[WatchOptions]) -> None:
    assert run_inside("watch", *arguments).code == 0
    assert seen == [plain_options(arguments)]


@pytest.mark.parametrize(
    "arguments",
    [
        (), ("--", "-odd"), ("--help",), ("-h",), ("emu:", "--ever", "1"), ("emu:", "--every", "soon"),
        ("emu:", "--every", "nan"), ("emu:", "--serve", "0"), ("emu:", "--serve", "65536"),
        ("emu:", "--alarm"), ("emu:", "--nonsense"), ("emu:", "--force=yes"),
    ],
    ids=" ".join,
)  # fmt: skip
def test_what_is_not_plain_is_left_to_typer(arguments: tuple[str, ...]) -> None:
    assert plain_options(arguments) is None


def test_a_mistake_is_worded_by_typer_and_a_failure_is_one_line(tmp_path: Path) -> None:
    wrong = run_process("watch", "emu:", "--every", "soon")
    assert wrong.code == 2
    assert "is not a number of seconds" in wrong.err
    failed = run_process("watch", "netdev:nope", "--root", str(made_tree(tmp_path)))
    assert (failed.code, failed.err.count("\n")) == (2, 1)
    assert "there are eth9, tun0" in failed.err


def test_the_dashboard_on_a_terminal_has_not_loaded_typer(tmp_path: Path) -> None:
    """Seen from outside: no file of pydantic's compiled part is mapped into the process."""
    files = bench_watch.made_tree(tmp_path)
    process, terminal = bench_watch.started("rdma:made0/1", "--root", str(tmp_path))
    shown = b""
    while b"made_counter_007" not in shown:
        shown += os.read(terminal, 1 << 16)
    maps = Path(f"/proc/{process.pid}/maps").read_text()
    os.write(terminal, b"q")
    bench_watch.feed([], terminal, 0.5)
    process.wait(30)
    os.close(terminal)
    for file in files:
        os.close(file)
    assert "libpython" in maps or "python" in maps
    assert "pydantic" not in maps
