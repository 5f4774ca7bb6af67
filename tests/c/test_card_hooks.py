"""A card of C hooks alone: its file's numbers reach the program by the header, and come back as its names."""

from __future__ import annotations

import re
import subprocess
from functools import cache
from pathlib import Path
from tempfile import mkdtemp

import pytest

from freezeframe.capture.card.build.outputs import outputs
from freezeframe.capture.card.elaborated import elaborate
from freezeframe.capture.card.reading import parse_card, read_card
from freezeframe.capture.card.shipped import shipped_cards
from freezeframe.capture.card.time_base import card_time_base
from freezeframe.capture.device_side import hooks_folder
from freezeframe.capture.folder.card_folder import CardFolder
from freezeframe.decoders.tap.event_log import Logged, decode_log
from tests.c.hooks import SOURCES, WARNINGS
from tests.gui.cli import run_inside

EXAMPLE = hooks_folder() / "examples" / "embedded"
CARD = """\
schema = 1
[card]
name = "my-nic"
[clock.cpu]
hz = 100_000_000
registers = true
[event.reset]
[event.dma_error]
value = "address"
bits = 40
[states.link]
names = ["down", "training", "up"]
[cause.dma]
[cause.watchdog]
"""
# Two records in one cycle, an event of a cycle before the one before it, and silence for more than 65,536 cycles.
PROGRAM = """\
#include <stdio.h>
#include "ff_console.h"
#include "my_nic_freezeframe.h"
static void put(void *context, char character) { (void)context; putchar(character); }
int main(void)
{
    static uint8_t memory[32 * FF_RING_RECORD_B];
    static const ff_console console = {put, NULL};
    static const ff_identity identity = {1, 2, MY_NIC_CLK_HZ, 1, MY_NIC_CARD_HASH, MY_NIC_CAUSES};
    ff_ring ring;
    ff_ring_init(&ring, memory, 32);
    ring.post = 3;
    ff_ring_arm(&ring, 100);
    ff_ring_log(&ring, 110, MY_NIC_EVENT_RESET, 0);
    ff_ring_state(&ring, 110, MY_NIC_MACHINE_LINK, MY_NIC_STATE_LINK_DOWN, MY_NIC_STATE_LINK_TRAINING);
    ff_ring_state(&ring, 200000, MY_NIC_MACHINE_LINK, MY_NIC_STATE_LINK_TRAINING, MY_NIC_STATE_LINK_UP);
    ff_ring_log(&ring, 199990, MY_NIC_EVENT_DMA_ERROR, UINT64_C(0x123456789A));
    ff_ring_cause(&ring, 200005, 1u << MY_NIC_CAUSE_WATCHDOG);
    ff_ring_log(&ring, 200007, MY_NIC_EVENT_DMA_ERROR, 7);
    ff_ring_advance(&ring, 300000);
    return !ff_console_dump(&console, &ring, &identity);
}
"""


@cache
def printed() -> str:
    """Compile the program with the header of its card, and return what it prints."""
    folder = Path(mkdtemp(prefix="ff-card-hooks-"))
    for place, text in outputs(elaborate(parse_card(CARD))).items():
        (folder / place).write_text(text)
    (folder / "main.c").write_text(PROGRAM)
    hooks = hooks_folder()
    include = [f"-I{folder}", f"-I{hooks / 'c'}", "-isystem", str(hooks / "registers" / "generated")]  # fmt: skip
    sanitizers = ["-fsanitize=address,undefined", "-fno-sanitize-recover=all"]
    files = [folder / "main.c", *(hooks / "c" / name for name in SOURCES)]
    command: list[str | Path] = [
        "gcc",
        "-std=c99",
        *WARNINGS,
        *sanitizers,
        *include,
        "-o",
        folder / "program",
    ]
    subprocess.run([*command, *files], check=True)
    return subprocess.run([folder / "program"], capture_output=True, text=True, check=True).stdout


@pytest.fixture
def files(tmp_path: Path) -> tuple[str, str, Path]:
    """Return the places of the card file, of what the program printed, and of a capture to be."""
    (tmp_path / "my-nic.toml").write_text(CARD)
    (tmp_path / "console.txt").write_text(printed())
    return str(tmp_path / "my-nic.toml"), str(tmp_path / "console.txt"), tmp_path / "ring.ff"


def logged(folder: Path) -> list[Logged]:
    (device,) = CardFolder.open(folder).devices
    recording = device.recording()
    log = decode_log(recording, card_time_base(recording))
    assert log.problems == ()
    return list(log.entries)


def test_what_the_program_recorded_has_the_names_of_the_card_file(
    files: tuple[str, str, Path],
) -> None:
    card, console, folder = files
    done = run_inside("console", console, "-o", str(folder), "--card", card)
    assert (done.code, done.err) == (0, "")
    assert [
        (entry.kind, entry.name, entry.cycle, entry.value, entry.was, entry.state)
        for entry in logged(folder)
    ] == [
        ("event", "reset", 110, -1, "", ""),
        ("state", "link", 110, 1, "down", "training"),
        ("state", "link", 200000, 2, "training", "up"),
        ("event", "dma_error", 200000, 0x123456789A, "", ""),  # time never runs backwards in a ring
        ("event", "dma_error", 200007, 7, "", ""),
    ]
    (device,) = CardFolder.open(folder).devices
    assert device.recording().cause_names == ("watchdog",)
    told = run_inside("explain", str(folder))
    assert told.code == 0
    assert "(my-nic): nothing found, and not all could be looked at, frozen by watchdog" in told.out
    assert "link in up, since 50 ns before the cause, from training" in told.out
    assert "verdicts on packets: need a [tap]; C hooks record events alone" in told.out


def test_a_program_whose_card_is_not_known_is_refused_with_its_hash(
    files: tuple[str, str, Path],
) -> None:
    _, console, folder = files
    done = run_inside("console", console, "-o", str(folder))
    assert done.code == 2
    assert f"{elaborate(parse_card(CARD)).hash:016x}" in done.err
    assert "or name it (--card FILE)" in done.err
    other = str(shipped_cards()["switch-c"])
    done = run_inside("console", console, "-o", str(folder), "--card", other)
    assert "this card (switch-c) has hash" in done.err
    assert not folder.exists()


def test_a_line_that_is_lost_is_a_gap_and_a_register_that_is_lost_is_named(
    files: tuple[str, str, Path],
) -> None:
    card, console, folder = files
    lines = [line for line in printed().splitlines(keepends=True) if "reg 808 " not in line]
    lines = [line for line in lines if "rec 1 " not in line]
    Path(console).write_text("".join(lines))
    done = run_inside("console", console, "-o", str(folder), "--card", card)
    assert done.code == 3
    (device,) = CardFolder.open(folder).devices
    gaps = device.memories["event_log"].gaps
    assert [(gap.first_slot, gap.slots) for gap in gaps] == [(1, 1)]
    assert device.not_read == ["tap.stored"]
    recording = device.recording()
    names = [entry.name for entry in decode_log(recording, card_time_base(recording)).entries]
    assert names.count("dma_error") == 2


def test_the_header_of_the_example_is_that_of_the_card_that_ships_and_the_example_has_no_number_of_its_own() -> (
    None
):
    texts = outputs(elaborate(read_card(shipped_cards()["switch-c"])))
    kept = EXAMPLE / "switch_c_freezeframe.h"
    assert kept.read_text() == texts[kept.name], "freezeframe card build again, and keep the header"
    numbers = dict(re.findall(r"#define SWITCH_C_(EVENT_\w+|CAUSE_BAD\w+) (\d+)u", kept.read_text()))  # fmt: skip
    assert numbers == {"EVENT_FORWARDED": "0", "EVENT_BAD": "1", "CAUSE_BAD_PACKET": "3"}
    program = (EXAMPLE / "main.c").read_text()
    for call in ("ff_ring_log(", "ff_ring_cause("):
        for arguments in re.findall(re.escape(call) + r"(.*?);", program, re.DOTALL):
            assert "SWITCH_C_" in arguments
