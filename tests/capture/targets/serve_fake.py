"""Serves the fake recorders until standard input closes; prints the URL when ready.

Run as ``python -m tests.capture.targets.serve_fake etherbone|uart [option=value...]``, the options
being whole-number arguments of FakeTarget; ``spawned`` does so for the length of a ``with``.
"""

from __future__ import annotations

import os
import pty
import select
import subprocess
import sys
import tty
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from freezeframe.capture.targets.server import EtherboneServer
from freezeframe.capture.targets.uart_server import UartBoneServer
from tests.capture.targets.fake_device import FakeTarget

ROOT = Path(__file__).parents[3]


@contextmanager
def spawned(kind: str, **options: int) -> Iterator[str]:
    """Serve ``FakeTarget(**options)`` from a process of its own; gives the URL."""
    words = [f"{name}={value}" for name, value in options.items()]
    with python_module("tests.capture.targets.serve_fake", kind, *words) as line:
        yield line


@contextmanager
def python_module(module: str, *arguments: str) -> Iterator[str]:
    """Run a module that prints one line when ready and ends when its input closes."""
    process = subprocess.Popen(
        [sys.executable, "-m", module, *arguments],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        ready, _, _ = select.select([process.stdout], [], [], 60)
        line = process.stdout.readline().strip() if ready else ""
        assert line, f"{module} {arguments} did not come up (exit code {process.poll()})"
        yield line
    finally:
        process.stdin.close()
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        process.stdout.close()


def _input_closed() -> bool:
    readable, _, _ = select.select([0], [], [], 0)
    return bool(readable) and not os.read(0, 4096)


def main(kind: str, *options: str) -> None:
    pairs = (option.split("=") for option in options)
    target = FakeTarget(**{name: int(value) for name, value in pairs})  # type: ignore[arg-type]  # bools too
    if kind == "etherbone":
        server = EtherboneServer(target, "127.0.0.1")
        print(f"etherbone://127.0.0.1:{server.port}", flush=True)
        server.serve_forever(_input_closed)
        server.close()
    else:
        master, slave = pty.openpty()
        tty.setraw(slave)
        # 115200 baud costs nothing on a pty; a higher rate lets the client ask for full bursts.
        print(f"uart:{os.ttyname(slave)}@921600", flush=True)
        UartBoneServer(target, master).serve_forever(_input_closed)


if __name__ == "__main__":
    main(*sys.argv[1:])
