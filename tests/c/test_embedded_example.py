"""The third worked example of docs/add-to-your-nic.md: the switch monitor as a program of the workstation with
sanitizers, and as a RISC-V program on a core in Python; `freezeframe console` reads what either prints.
"""

from __future__ import annotations

import random
import shutil
import subprocess
from functools import cache
from pathlib import Path
from tempfile import mkdtemp

import pytest

from freezeframe.capture.card.time_base import card_time_base
from freezeframe.capture.folder.card_folder import CardFolder
from freezeframe.decoders.tap.event_log import decode_log
from tests.c.hooks import SOURCES, WARNINGS
from tests.c.riscv import Core
from tests.gui.cli import run_inside

HOOKS = Path(__file__).resolve().parents[2] / "firmware-hooks"
EXAMPLE = HOOKS / "examples" / "embedded"
INCLUDE = [f"-I{HOOKS / 'c'}", "-isystem", str(HOOKS / "registers" / "generated")]
POST = 32  # records after the cause, in main.c

Packet = tuple[int, int, int, int, int]  # flow, input, output, words, bad
UART, SWITCH = 0x1000_0000, 0x1001_0000
MOST_INSTRUCTIONS = {
    "ff_ring_log": 500, "ff_ring_advance": 320, "ff_switch_forwarded": 40, "ff_switch_occupied": 16,
}  # fmt: skip


def assert_capture_tells(folder: Path, printed: Path, packets: list[Packet]) -> None:
    """Read the console's text into a capture and hold its events against the packets the switch forwarded."""
    done = run_inside("console", str(printed), "-o", str(folder))
    assert (done.code, done.err) == (0, "")
    capture = CardFolder.open(folder)
    assert capture.lost == []
    recording = capture.devices[0].recording()
    assert recording.cause_names == ("bad_packet",)
    log = decode_log(recording, card_time_base(recording))
    assert log.problems == ()
    told = [
        (value >> 32, value >> 16 & 0xFF, value >> 24 & 0xFF, value & 0xFFFF)
        for value in (entry.value for entry in log.entries)
    ]
    sent = [packet[:4] for packet in packets]
    bad = [at for at, packet in enumerate(packets) if packet[4]]
    end = next(at for at in range(len(sent) + 1) if sent[at - len(told) : at] == told)
    assert len(told) > 100
    assert bad[0] < end <= bad[0] + 1 + POST  # TIME records count as records behind the cause
    names = [entry.name for entry in log.entries]
    assert names == [
        "bad" if packet[4] else "forwarded" for packet in packets[end - len(told) : end]
    ]


def test_the_example_on_a_workstation_prints_what_the_host_reads(tmp_path: Path) -> None:
    sanitizers = ["-fsanitize=address,undefined", "-fno-sanitize-recover=all"]
    program = tmp_path / "monitor"
    files = [EXAMPLE / "main.c", EXAMPLE / "board_host.c", *(HOOKS / "c" / name for name in SOURCES)]  # fmt: skip
    command = ["gcc", "-std=c99", *WARNINGS, "-g", "-O1", *sanitizers, *INCLUDE]
    subprocess.run([*command, "-o", program, *files], check=True)
    done = subprocess.run([program], capture_output=True, text=True, check=True)
    rows = [line.split() for line in done.stderr.splitlines()]
    packets: list[Packet] = [(int(f), int(i), int(o), int(w), int(b)) for f, i, o, w, b in rows]
    assert (len(packets), sum(packet[4] for packet in packets)) == (400, 1)
    printed = tmp_path / "console.txt"
    printed.write_text(done.stdout)
    assert_capture_tells(tmp_path / "ring.ff", printed, packets)
    live = run_inside("console", str(printed))
    assert "400 packets forwarded" in live.out
    for flow in {packet[0] for packet in packets}:
        words = sum(packet[3] for packet in packets if packet[0] == flow)
        assert f"flow {flow:<3} {words:,} words" in live.out


@cache
def elf() -> Path:
    """Return the example, compiled and linked for RV32IM without any library but the compiler's own."""
    compiler = shutil.which("riscv64-unknown-elf-gcc")
    if compiler is None:
        pytest.skip("riscv64-unknown-elf-gcc is not installed (Debian: gcc-riscv64-unknown-elf)")
    program = Path(mkdtemp(prefix="ff-monitor-")) / "monitor.elf"
    files: list[Path] = [EXAMPLE / name for name in ("start.S", "main.c", "board_riscv.c")]
    files += [HOOKS / "c" / name for name in SOURCES]
    machine = ["-march=rv32im", "-mabi=ilp32", "-mcmodel=medany"]
    flags = ["-std=c99", "-Os", "-ffreestanding", "-nostdlib", *WARNINGS, *INCLUDE]
    link: list[str | Path] = ["-T", EXAMPLE / "link.ld", "-o", program]
    subprocess.run([compiler, *machine, *flags, *link, *files, "-lgcc"], check=True)
    return program


class Board:
    """The UART and the switch's report port of board_riscv.c."""

    def __init__(self, packets: list[Packet]) -> None:
        self.waiting = list(packets)
        self.polls = 0
        self.printed = bytearray()

    def load(self, address: int, size: int) -> int:
        if (address, size) == (UART + 5, 1):
            return 0x20  # the transmitter is empty
        assert address - SWITCH in range(0, 24, 4)
        assert size == 4
        flow, into, out, words, bad = self.waiting[0] if self.waiting else (0, 0, 0, 0, 0)
        self.polls += address == SWITCH
        stands = bool(self.waiting) and self.polls % 3 == 0  # now and then a loop finds no packet
        report = (int(stands), flow | into << 8 | out << 16 | bad << 24, words, words + 9, 5, 0xB007)  # fmt: skip
        return report[(address - SWITCH) // 4]

    def store(self, address: int, size: int, value: int) -> None:
        if (address, size) == (UART, 1):
            self.printed.append(value)
        else:
            assert (address, size) == (SWITCH, 4)
            del self.waiting[0]


def drawn(count: int, bad: int) -> list[Packet]:
    draw = random.Random(5)
    return [
        (draw.randrange(8), draw.randrange(4), draw.randrange(4), draw.randrange(3, 515), int(at == bad))
        for at in range(count)
    ]  # fmt: skip


def test_the_example_on_a_riscv_core_prints_what_the_host_reads(tmp_path: Path) -> None:
    packets = drawn(180, 130)
    image = tmp_path / "monitor.bin"
    subprocess.run(["riscv64-unknown-elf-objcopy", "-O", "binary", elf(), image], check=True)
    board = Board(packets)
    core = Core(image.read_bytes(), board.load, board.store)
    while b"ff:end" not in board.printed or not board.printed.endswith(b"\n"):
        core.step()
        assert core.cycles < 3_000_000, bytes(board.printed[-80:])
    printed = tmp_path / "console.txt"
    printed.write_bytes(board.printed)
    assert_capture_tells(tmp_path / "ring.ff", printed, packets)


def symbols(program: Path) -> dict[str, int]:
    listed = subprocess.check_output(["riscv64-unknown-elf-nm", program], text=True)
    rows = [line.split() for line in listed.splitlines()]
    return {name: int(address, 16) for address, _, name in rows}


def test_a_call_of_the_hooks_costs_what_the_documentation_says(tmp_path: Path) -> None:
    """docs/c-hooks.md, "What it costs": instructions of a call, from its first to its return, on RV32IM with -Os."""
    image = tmp_path / "monitor.bin"
    subprocess.run(["riscv64-unknown-elf-objcopy", "-O", "binary", elf(), image], check=True)
    where = symbols(elf())
    watched = {where[name]: name for name in MOST_INSTRUCTIONS}
    board = Board(drawn(180, 130))
    core = Core(image.read_bytes(), board.load, board.store)
    most = dict.fromkeys(MOST_INSTRUCTIONS, 0)
    inside: dict[str, tuple[int, int]] = {}  # where it returns to, and when it began
    while b"ff:begin" not in board.printed:
        if core.pc in watched:
            inside.setdefault(watched[core.pc], (core.x[1], core.cycles))
        for name, (back, since) in list(inside.items()):
            if core.pc == back:
                most[name] = max(most[name], core.cycles - since)
                del inside[name]
        core.step()
    table = {row[0]: int(row[1]) for row in cost_rows()}
    for name, instructions in most.items():
        assert 0 < instructions <= MOST_INSTRUCTIONS[name], (name, instructions)
        assert table[name] == MOST_INSTRUCTIONS[name]


def cost_rows() -> list[list[str]]:
    """Return the rows ``| `name` | number |`` of the table of costs."""
    text = (HOOKS.parent / "docs" / "c-hooks.md").read_text("utf-8")
    rows = [
        line.strip("| ").split(" | ") for line in text.splitlines() if line.startswith("| `ff_")
    ]
    return [[row[0].strip("`"), row[1]] for row in rows if row[1].isdigit()]
