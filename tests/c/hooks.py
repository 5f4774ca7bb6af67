"""The driver of the C hooks, compiled with sanitizers, and one run of it."""

from __future__ import annotations

import subprocess
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from tempfile import mkdtemp

from freezeframe.capture.device_side import hooks_folder
from tests.processes import run_program

SOURCES = ("ff_ring.c", "ff_switch.c", "ff_console.c")
WARNINGS = ("-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Werror")


@dataclass(frozen=True)
class RingState:
    """A ring as the driver's ``?`` prints it."""

    state: int
    write_ptr: int
    wrapped: int
    stored: int
    offered: int
    late: int
    causes: int
    cause_cycle: int
    generation: int
    image: bytes


@cache
def driver() -> Path:
    """Build the driver once for a run of the tests."""
    built = Path(mkdtemp(prefix="ff-hooks-")) / "drive"
    hooks = hooks_folder()
    include = [f"-I{hooks / 'c'}", "-isystem", str(hooks / "registers" / "generated")]
    sources = [hooks / "c" / name for name in SOURCES]
    sanitizers = ["-fsanitize=address,undefined", "-fno-sanitize-recover=all"]
    flags = ["-std=c99", *WARNINGS, "-g", "-O1", *sanitizers, *include]
    main = Path(__file__).parent / "drive_hooks.c"
    subprocess.run(["gcc", *flags, "-o", built, *sources, main], check=True)
    return built


def drive(commands: list[str]) -> str:
    """Return what the driver prints to these commands."""
    done = run_program([driver()], input="\n".join(commands) + "\n", check=True)
    return done.stdout


def ring_states(commands: list[str]) -> list[RingState]:
    """Return the ring as it was at each ``?``."""
    states = []
    for line in drive(commands).splitlines():
        *numbers, image = line.split(" ")
        a, b, c, d, e, f, g, h, i = (int(number) for number in numbers)
        states.append(RingState(a, b, c, d, e, f, g, h, i, bytes.fromhex(image)))
    return states
