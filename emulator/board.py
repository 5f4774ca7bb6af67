"""The simulated board: the example pair in Verilog, verilated with its Etherbone server into one program.

The program is built once for each state of its sources and kept in the user's cache folder.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from freezeframe.capture.device_side import hooks_folder
from freezeframe.capture.errors import InputError, TargetError
from freezeframe.capture.listen import listen_address

TOP, PCIX_TOP = "ff_example_pair", "ff_pcix_pair"
_VERILOG = ("rtl", "registers/generated")
_BOARD, _SIMULATION = "board", "simulation"
_DIRECT = ("direct_ports", "host_model")  # not behind PCI-X
_NEEDED = {"verilator": "verilator", "make": "make", "g++": "g++"}  # program: Debian package
_KEPT = 4  # builds of other sources that stay in the cache


def cache_folder() -> Path:
    """Return where programs are kept: ``$XDG_CACHE_HOME/freezeframe`` or ``~/.cache/freezeframe``."""
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "freezeframe" / "sim-board"


def board_program(say: Callable[[str], None] = lambda line: None, *, pcix: bool = False) -> Path:
    """Return the board's program, built now if its sources are new (about a minute).

    Args:
        say: called with a line before work that takes long.
        pcix: the pair with a PCI-X front end at each card, and a bridge as its host.
    Raises:
        InputError: a tool is missing, or the build fails; the message says which, or gives its reason.
    """
    hooks = hooks_folder()
    top = PCIX_TOP if pcix else TOP
    verilog, program = _sources(hooks, pcix)
    missing = [package for tool, package in _NEEDED.items() if shutil.which(tool) is None]
    if missing:
        raise InputError(
            f"the simulated board needs {', '.join(missing)} to be built: "
            f"apt-get install {' '.join(missing)}"
        )
    cache = cache_folder()
    folder = cache / _key(hooks, verilog + program)
    built = folder / top
    if built.is_file():
        return built
    try:
        cache.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(
            f"{cache}: {error.strerror}; set XDG_CACHE_HOME to a place that can be written"
        ) from None
    with _one_at_a_time(cache):
        if not built.is_file():
            say(
                f"building the simulated board with {_version('verilator')} (once; a minute or two)"
            )
            _build(hooks, verilog, program, folder, top)
            _forget_old(cache, folder)
    return built


def check_address(listen: str) -> None:
    """See that the board could answer at ``HOST:PORT`` now, in the program's own words where it could not.

    Raises:
        InputError: that is no address.
        TargetError: it cannot be served at, as it is taken or not of this machine.
    """
    host, port = listen_address(listen)
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_DGRAM, flags=socket.AI_PASSIVE
        )[0]
        with socket.socket(family, kind, protocol) as udp:
            udp.bind(address)
    except OSError as error:
        raise TargetError(
            f"cannot serve at {listen}: {error.strerror}; choose another port, or 0 for any free one"
        ) from None


def _sources(hooks: Path, pcix: bool) -> tuple[list[Path], list[Path]]:
    """Return the Verilog, and the C++: what stands at the cards' ports is one of two."""
    verilog = sorted(path for part in _VERILOG for path in (hooks / part).rglob("*.v"))
    program = sorted(
        path
        for part in (_BOARD, _SIMULATION)
        for path in (hooks / part).glob("*.cpp")
        if (path.stem not in _DIRECT if pcix else not path.stem.startswith("pcix_"))
    )
    return verilog, program


def _key(hooks: Path, sources: list[Path]) -> str:
    digest = hashlib.sha256()
    for tool in ("verilator", "g++"):
        digest.update(_version(tool).encode())
    headers = [path for part in (_BOARD, _SIMULATION) for path in (hooks / part).glob("*.h")]
    for path in sorted([*sources, *headers, hooks / _BOARD / "cells.vlt"]):
        digest.update(str(path.relative_to(hooks)).encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()[:16]


def _version(tool: str) -> str:
    answer = subprocess.run([tool, "--version"], capture_output=True, text=True, check=False).stdout
    return answer.splitlines()[0] if answer else tool


def _build(hooks: Path, verilog: list[Path], program: list[Path], folder: Path, top: str) -> None:
    """Build in a temporary folder and rename it at the end, so that an interrupted build leaves nothing."""
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix=".build-") as name:
        work = Path(name)
        modules = {path.stem for path in verilog}
        if top not in modules:
            raise InputError(f"{hooks}: there is no module {top}")
        define = " -DFREEZEFRAME_PCIX" if top == PCIX_TOP else ""
        command = [
            "verilator", "--cc", "--exe", "--build", "-j", "2", "-O3", "--x-assign", "fast", "--x-initial", "fast",
            "--noassert", "-Wno-fatal", "--top-module", top, "--Mdir", str(work / "build"), "-o", top,
            "-CFLAGS", f"-std=c++17 -O3 -march=native{define} -I{hooks / _BOARD} -I{hooks / _SIMULATION}",
            "-MAKEFLAGS", "OPT_FAST=-O3 OPT_SLOW=-O0",
            str(hooks / _BOARD / "cells.vlt"),
            *(str(path) for path in verilog if path.stem.startswith("ff_")),
            *(str(path) for path in program),
        ]  # fmt: skip
        done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=work)
        if done.returncode:
            lines = [line for line in (done.stderr + done.stdout).splitlines() if "rror" in line]
            raise InputError(
                f"the simulated board could not be built: {(lines or ['no reason given'])[0]}"
            )
        (work / "done").mkdir()
        shutil.move(work / "build" / top, work / "done" / top)
        (work / "done").rename(folder)


def _forget_old(cache: Path, keep: Path) -> None:
    builds = [path for path in cache.iterdir() if path.is_dir() and path.name[0] != "."]
    builds.sort(key=lambda path: path.stat().st_mtime, reverse=True)
    for path in builds[_KEPT + 1 :]:
        if path != keep:
            shutil.rmtree(path, ignore_errors=True)  # another program may be removing it, too


@contextmanager
def _one_at_a_time(cache: Path) -> Iterator[None]:
    with (cache / ".lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
