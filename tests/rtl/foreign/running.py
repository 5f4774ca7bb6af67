"""A design of other people's blocks under Verilator, with the recorder of its card file: built once, run with faults.

The bench serves the recorder's registers over UDP; what is done with it is what a user does.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from freezeframe.capture.card.build.outputs import outputs
from freezeframe.capture.card.device import open_any
from freezeframe.capture.card.elaborated import elaborate
from freezeframe.capture.card.reading import parse_card
from freezeframe.capture.card.recording import CardRecording
from freezeframe.capture.folder.card_folder import CardFolder
from freezeframe.capture.recorder.case import pull_case
from freezeframe.capture.recorder.control import arm, freeze
from freezeframe.capture.targets.base import open_target
from tests.processes import run_program
from tests.rtl.simulation import REPOSITORY, tool

HERE = Path(__file__).parent
SIMULATION = REPOSITORY / "firmware-hooks" / "simulation"
_LITEETH = {
    "MARK": "_payload_last_be", "BAD": "_payload_error", "ONE_HOT": "true", "LINE_B": "1", "LINE_WAITS": "true",
    "GEN_IN_SYS": "1", "WITH_FCS": "0", "SYS_PS": "7520", "LINE_PS": "8000",
}  # fmt: skip
_AXIS = {
    "MARK": "_payload_keep", "BAD": "_param_user", "ONE_HOT": "false", "LINE_B": "64", "LINE_WAITS": "false",
    "GEN_IN_SYS": "0", "WITH_FCS": "1", "SYS_PS": "4000", "LINE_PS": "3104",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Design:
    """A design, and how its bench sees it.

    Attributes:
        name: of its card file.
        bits: of the stream in the clock sys; of LiteEth the line has 8.
        defines: constants of the bench.
    """

    name: str
    bits: int
    defines: Mapping[str, str]

    @property
    def is_axis(self) -> bool:
        return self.name == "axis"

    @property
    def card_text(self) -> str:
        """The card file; of LiteEth the file says 32 bits."""
        text = (HERE / "cards" / f"{self.name}.toml").read_text()
        if self.is_axis:
            return text
        wide = 'bits = 32\nkeep = "tail"\n'
        assert wide in text
        return text.replace(wide, "bits = 8\n") if self.bits == 8 else text


DESIGNS = {
    "liteeth-8": Design("liteeth", 8, _LITEETH),
    "liteeth-32": Design("liteeth", 32, _LITEETH),
    "axis-512": Design("axis", 512, _AXIS),
}


def build(design: Design, folder: Path) -> Path:
    """Write the card's device and the design around it, and verilate them; return the bench."""
    for place, text in outputs(elaborate(parse_card(design.card_text))).items():
        (folder / place).parent.mkdir(parents=True, exist_ok=True)
        (folder / place).write_text(text, "utf-8")
    done = run_program(
        [sys.executable, "-m", "tests.rtl.foreign.design", folder, design.name, str(design.bits)], cwd=REPOSITORY
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    defines = {**design.defines, "CORE_B": str(design.bits // 8)}
    flags = " ".join(
        [f"-std=c++17 -I{SIMULATION} -I{HERE}", *(f"-D{k}={v}" for k, v in defines.items())]
    )
    done = run_program(
        [tool("verilator"), "--cc", "--exe", "--build", "-j", "2", "-O3", "--x-assign", "fast",
         "--x-initial", "fast", "--noassert", "-Wno-fatal", "--prefix", "Vtop",
         "--top-module", "top", "-CFLAGS", flags, "top.v", "-f", f"{design.name}_freezeframe.f", HERE / "bench.cpp",
         SIMULATION / "etherbone.cpp", "-Mdir", "obj", "-o", "bench"], cwd=folder,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    return folder / "obj" / "bench"


@dataclass(frozen=True, slots=True)
class Ran:
    """A run: what the host recorded, and what the bench knows of it.

    Attributes:
        froze: the card froze by itself.
        struck: the frame that was hit and the next, as they passed the first tap.
        dropped: frames for which the design itself had no room.
    """

    recording: CardRecording
    froze: bool
    struck: tuple[bytes, ...]
    dropped: tuple[bytes, ...]
    told: Mapping[str, int]


def run(bench: Path, plan: Sequence[str], capture: Path) -> Ran:
    """Arm, let the traffic of a plan pass, and pull; the host freezes a card that did not do so by itself."""
    with subprocess.Popen(
        [str(bench), *plan], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None and process.stdin is not None
        try:
            target = open_target(process.stdout.readline().strip())
            (device,) = open_any(target)
            arm(device)
            process.stdin.write("run\n")
            process.stdin.flush()
            told = json.loads(process.stdout.readline())
            freeze(device)  # unless it has a cause already
            report = pull_case([target], capture, freeze=True, overwrite=True)
            target.close()
        finally:
            process.kill()
    assert report.complete, report.lost
    (pulled,) = CardFolder.open(capture).devices
    frames = {key: tuple(map(bytes.fromhex, told.pop(key))) for key in ("struck", "dropped")}
    return Ran(
        pulled.recording(), bool(told.pop("frozen")), frames["struck"], frames["dropped"], told
    )
