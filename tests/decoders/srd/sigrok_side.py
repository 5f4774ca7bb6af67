"""The other reader of the same file, decoders written for the tests, and who is still running."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import Any

import pyarrow as pa

from freezeframe.decoders.run import decode_file
from tests.processes import run_program

_ALL = ("--protocol-decoder-samplenum", "-l", "4")


def sigrok_lines(path: Path, stack: str, top: str) -> list[str]:
    """Return what sigrok-cli prints: samples, instance, class, and every wording in quotes."""
    done = run_program(["sigrok-cli", "-i", path, "-P", stack, "-A", top, *_ALL])
    # SIGABRT: libsigrokdecode 0.5.3 can abort at its end, after complete output.
    assert done.returncode in (0, -signal.SIGABRT), done.stderr
    return done.stdout.splitlines()


def our_lines(path: Path, spec: str) -> list[str]:
    """Return our table in the words of sigrok-cli."""
    ((_, table),) = decode_file(path, [spec])
    return table_lines(table)


def table_lines(table: pa.Table) -> list[str]:
    """Return one of our tables in the words of sigrok-cli."""
    return "\n".join(map(_line, table.to_pylist())).splitlines()


def _line(row: dict[str, Any]) -> str:
    texts = " ".join(f'"{text}"' for text in row["texts"])
    return f"{row['sample']}-{row['end_sample']} {row['source']}: {row['class']}: {texts}"


def add_decoder(folder: Path, name: str, body: str, *, inputs: str = "['logic']") -> Path:
    """Write a decoder of one channel ``d`` and one annotation class; return ``folder``.

    ``body`` is that of ``decode``, which gets ``packet`` when the decoder stands on another.
    """
    home = folder / name
    home.mkdir(parents=True)
    (home / "__init__.py").write_text("from .pd import Decoder\n")
    arguments = "self" if "logic" in inputs else "self, ss, es, packet"
    channels = "({'id': 'd', 'name': 'D', 'desc': 'data'},)" if "logic" in inputs else "()"
    lines = "\n".join(f"        {line}" for line in body.splitlines())
    (home / "pd.py").write_text(
        f"""import os, time
import sigrokdecode as srd


class Decoder(srd.Decoder):
    api_version = 3
    id = {name!r}
    name = longname = desc = 'written for a test'
    license = 'gplv2+'
    inputs = {inputs}
    outputs = ['test']
    tags = ['Util']
    channels = {channels}
    annotations = (('bit', 'Bit'),)
    options = ({{'id': 'count', 'desc': 'a number', 'default': 3}},)

    def reset(self):
        pass

    def start(self):
        self.ann = self.register(srd.OUTPUT_ANN)
        self.py = self.register(srd.OUTPUT_PYTHON)

    def decode({arguments}):
{lines}
"""
    )
    return folder


def workers_of(pid: int | None = None) -> list[int]:
    """Return the worker processes that a process, by default this one, has started."""
    parent = os.getpid() if pid is None else pid
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            ppid = int(stat.read_text().rpartition(")")[2].split()[1])
            command = (stat.parent / "cmdline").read_bytes()
        except (FileNotFoundError, ProcessLookupError):
            continue  # it ended while we looked
        if ppid == parent and (b"worker_main" in command or not command):
            found.append(int(stat.parent.name))
    return found
