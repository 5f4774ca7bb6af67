"""The recorder's promises, proven for every stimulus by induction; and each proof fails where its promise is broken.

firmware-hooks/formal/ff_formal_device.v leaves everything from outside free; the assertions stand there and, under
FORMAL, in the modules. Yosys writes SMT-LIB 2 (async2sync and dffunmap first), yosys-smtbmc unrolls it for z3.
A base case as deep as the induction step completes each proof. Where the Verilog is as it was when
recorded.json was written, the answers stand there.

Source: docs/formats.md section 2, rules 1, 4, 6 and 7.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.processes import run_program
from tests.rtl.recorded import recorded, version
from tests.rtl.simulation import REPOSITORY, RTL, tool

TOP = "ff_formal_device"
SOURCES = (
    RTL / "ff_freeze.v", RTL / "ff_cause_latch.v", RTL / "ff_cdc_sync.v", RTL / "ff_cdc_edge.v", RTL / "ff_cdc_held.v",
    RTL / "ff_tap_recorder.v", RTL / "ff_event_log.v", RTL / "ff_trace_memory.v", RTL / "ff_node.v",
    REPOSITORY / "firmware-hooks" / "formal" / f"{TOP}.v",
)  # fmt: skip
STEPS = 4
_OUTCOME = re.compile(r"Status: |Temporal induction|Assert failed")
LEAN_TOP = "ff_formal_lean"
LEAN_SOURCES = (
    RTL / "ff_freeze_lean.v", RTL / "ff_cause_latch.v", RTL / "ff_cdc_sync.v", RTL / "ff_cdc_edge.v",
    RTL / "ff_tap_recorder.v", RTL / "ff_trace_memory_half.v", RTL / "ff_node.v",
    REPOSITORY / "firmware-hooks" / "formal" / f"{LEAN_TOP}.v",
)  # fmt: skip
LEAN_STEPS = 8  # an arm is on its way to the far domain and back for as long
SELECT_TOP = "ff_formal_select"
SELECT_SOURCES = (
    RTL / "ff_freeze_single.v", RTL / "ff_cause_latch.v", RTL / "ff_cdc_sync.v", RTL / "ff_cdc_edge.v",
    RTL / "ff_tap_recorder.v", RTL / "ff_trace_memory_half.v", RTL / "ff_node.v",
    REPOSITORY / "firmware-hooks" / "formal" / f"{SELECT_TOP}.v",
)  # fmt: skip
CARD_TOP = "ff_formal_card"
CARD_SOURCES = (
    RTL / "card" / "ff_card_tap.v", RTL / "card" / "ff_tap_beats.v", RTL / "card" / "ff_tap_summary.v",
    RTL / "card" / "ff_tap_first.v", RTL / "card" / "ff_card_recorder.v", RTL / "check" / "ff_crc32_step.v",
    RTL / "ff_cause_latch.v", RTL / "ff_trace_memory.v", RTL / "ff_node.v",
    REPOSITORY / "firmware-hooks" / "formal" / f"{CARD_TOP}.v",
)  # fmt: skip


@dataclass(frozen=True)
class Mutant:
    """One wrong line, and the file and the assertion that must not hold with it."""

    file: str
    right: str
    wrong: str
    broken: str  # what the failing assertion's line reads
    asserted_in: str


MUTANTS = {
    "a-frozen-tap-memory-is-written": Mutant(
        "ff_tap_recorder.v", "wire writes = recording && (", "wire writes = (", "if (stat_closed) assert (!wr_en);",
        "ff_tap_recorder.v",
    ),
    "a-frozen-event-memory-is-written": Mutant(
        "ff_event_log.v", "wire closing = recording_q && shut", "wire closing = shut",
        "if (stat_closed) assert (!wr_en", "ff_event_log.v",
    ),
    "a-memory-port-forgets-its-enable": Mutant(
        "ff_trace_memory.v", "if (wr_en) ram", "ram", "assert (tap_seen == $past(tap_seen));", f"{TOP}.v",
    ),
    "a-later-cause-replaces-the-first": Mutant(
        "ff_cause_latch.v", "armed_q && !hit", "armed_q", "assert (causes == $past(causes));", "ff_cause_latch.v",
    ),
    "a-freeze-write-leaves-frozen": Mutant(
        "ff_freeze.v", "assign frozen = stat_closed == MEMORIES;",
        "assign frozen = stat_closed == MEMORIES && !wr_freeze;",
        "if (still_q) assert (frozen);", f"{TOP}.v",
    ),
    "an-arm-without-its-key": Mutant(
        "ff_freeze.v", "wr_arm && wr_data == arm_word &&", "wr_arm &&", "if (arm) assert ($past(wr_arm)", "ff_freeze.v",
    ),
    "events-behind-the-end-count-as-lost": Mutant(
        "ff_event_log.v", "lost = open && !cut ?", "lost = open ?", "assert (stat_offered == events_q + stat_lost);",
        "ff_event_log.v",
    ),
    "a-record-of-the-fifo-is-dropped": Mutant(
        "ff_event_log.v", "{{COUNT_W-1{1'b0}}, tell_loss || tell_time}", "{{COUNT_W-1{1'b0}}, tell_time}",
        "assert (entered_q == popped_q", "ff_event_log.v",
    ),
    "no-time-behind-14-idle-cycles": Mutant(
        "ff_tap_recorder.v", "gap_q == 4'd14 && !after_none_q;", "gap_q == 4'd14 && after_none_q;",
        "gap_q == 4'd15) assert (after_none_q);", "ff_tap_recorder.v",
    ),
    "no-time-in-the-event-log": Mutant(
        "ff_event_log.v", "none && gap_q == 4'd14", "none && gap_q == 4'd15", "gap_q == 4'd15) assert (told_time_q);",
        "ff_event_log.v",
    ),
}  # fmt: skip


LEAN_MUTANTS = {
    "a-freeze-of-the-host-opens": Mutant(
        "ff_freeze_lean.v", "assign frozen = &stat_closed;", "assign frozen = &stat_closed && !pulse_freeze;",
        "if (still_q) assert (frozen);", f"{LEAN_TOP}.v",
    ),
    "a-memory-of-halves-forgets-its-enable": Mutant(
        "ff_trace_memory_half.v", "if (wr_en) begin", "begin", "assert (seen == $past(seen));", f"{LEAN_TOP}.v",
    ),
    "the-tap-register-is-not-emptied": Mutant(
        "ff_tap_recorder.v", "if (empty) {word_kind, word_data} <= {KIND_TIME, 64'd0};", "",
        "assert (wr_record[67:0] == (marks ?", "ff_tap_recorder.v",
    ),
}  # fmt: skip


SELECT_MUTANTS = {
    "another-device-or-the-host-opens": Mutant(
        "ff_freeze_single.v", "assign frozen = closed;", "assign frozen = closed && !pulse_freeze && !crossed;",
        "if (still_q && !rst) assert (frozen", f"{SELECT_TOP}.v",
    ),
    "an-arm-of-its-own": Mutant(
        "ff_freeze_single.v", "arm <= pulse_arm && !rst;", "arm <= (pulse_arm || crossed) && !rst;",
        "if (arm) assert ($past(pulse_arm));", "ff_freeze_single.v",
    ),
    "the-mask-is-not-asked": Mutant(
        "ff_freeze_single.v", "near_causes & cfg_cause_mask", "near_causes", "assert ((causes & ~(", f"{SELECT_TOP}.v",
    ),
}  # fmt: skip


CARD_MUTANTS = {
    "a-closed-memory-of-a-card-is-written": Mutant(
        "ff_card_recorder.v", "assign wr_en = recording && (", "assign wr_en = armed_q && (",
        "if (stat_closed) assert (!wr_en);", "ff_card_recorder.v",
    ),
    "a-card-s-tap-says-no-time-behind-14-idle-cycles": Mutant(
        "ff_card_recorder.v", "gap_q == 4'd13 && !after_none_q", "gap_q == 4'd13 && after_none_q",
        "assert (due_q == (gap_q == 4'd14", "ff_card_recorder.v",
    ),
    "a-word-gives-way-to-time": Mutant(
        "ff_card_recorder.v", ": word ? {word_kind, word_data} :", ": word && !due_q ? {word_kind, word_data} :",
        "if (recording && !shut_q && word) assert (wr_en", "ff_card_recorder.v",
    ),
    "the-fast-recorder-keeps-a-beat-from-before-the-arm": Mutant(
        "ff_card_tap.v", "valid_q <= beat_valid && !rst && !arm;", "valid_q <= beat_valid && !rst;",
        "earlier_q) assert (!word_valid", "ff_card_tap.v",
    ),
}  # fmt: skip


@pytest.mark.parametrize("fast", ["0", "1"])
def test_a_card_s_recorder_plain_and_fast_writes_each_word_as_it_is_and_nothing_once_it_is_closed(
    tmp_path: Path, fast: str
) -> None:
    narrow = f"chparam -set FAST {fast} {CARD_TOP}"
    _is_proven(_problem(tmp_path, None, CARD_TOP, CARD_SOURCES, narrow), STEPS, base=STEPS + 1)


@pytest.mark.parametrize("name", list(CARD_MUTANTS))
def test_the_proof_of_a_card_s_recorder_fails_on(tmp_path: Path, name: str) -> None:
    mutant = CARD_MUTANTS[name]
    narrow = f"chparam -set FAST 1 {CARD_TOP}"
    problem = _problem(tmp_path, mutant, CARD_TOP, CARD_SOURCES, narrow)
    _failed_at(_solve(problem, "-i", "-t", str(STEPS)), tmp_path, mutant)


@pytest.mark.parametrize("crossed", ["1", "0"])
def test_the_device_of_one_memory_keeps_it_while_frozen_and_freezes_by_an_enabled_cause_alone(
    tmp_path: Path, crossed: str
) -> None:
    problem = _problem(
        tmp_path,
        None,
        SELECT_TOP,
        SELECT_SOURCES,
        f"chparam -set WITH_CROSS {crossed} {SELECT_TOP}",
    )
    _is_proven(problem, STEPS, base=STEPS + 1)


@pytest.mark.parametrize("name", list(SELECT_MUTANTS))
def test_the_proof_of_the_device_of_one_memory_fails_on(tmp_path: Path, name: str) -> None:
    mutant = SELECT_MUTANTS[name]
    told = _solve(_problem(tmp_path, mutant, SELECT_TOP, SELECT_SOURCES), "-i", "-t", str(STEPS))
    _failed_at(told, tmp_path, mutant)


def test_the_small_device_keeps_a_frozen_memory_and_leaves_frozen_by_an_arm_alone(
    tmp_path: Path,
) -> None:
    problem = _problem(tmp_path, None, LEAN_TOP, LEAN_SOURCES)
    _is_proven(problem, LEAN_STEPS, base=LEAN_STEPS + 5)


@pytest.mark.parametrize("name", list(LEAN_MUTANTS))
def test_the_small_devices_proof_fails_on(tmp_path: Path, name: str) -> None:
    mutant = LEAN_MUTANTS[name]
    told = _solve(_problem(tmp_path, mutant, LEAN_TOP, LEAN_SOURCES), "-i", "-t", str(LEAN_STEPS))
    _failed_at(told, tmp_path, mutant)


def test_a_frozen_memory_the_first_cause_frozen_the_counts_and_dt_15_are_proven(
    tmp_path: Path,
) -> None:
    problem = _problem(tmp_path)
    _is_proven(problem, STEPS, base=STEPS + 1)


@pytest.mark.parametrize("name", list(MUTANTS))
def test_the_proof_fails_on(tmp_path: Path, name: str) -> None:
    mutant = MUTANTS[name]
    told = _solve(_problem(tmp_path, mutant), "-i", "-t", str(STEPS))
    _failed_at(told, tmp_path, mutant)


@dataclass(frozen=True)
class Problem:
    """Sources in a folder, and the script by which Yosys makes an SMT-LIB problem of them."""

    folder: Path
    script: str

    def write(self) -> Path:
        """Have Yosys write the problem, unless it has."""
        written = self.folder / "problem.smt2"
        if not written.exists():
            done = run_program(
                [tool("yosys"), "-q", "-p", f"{self.script}; write_smt2 -wires {written.name}"],
                cwd=self.folder,
            )
            assert done.returncode == 0, done.stdout + done.stderr
        return written


def _is_proven(problem: Problem, steps: int, base: int) -> None:
    told = _solve(problem, "-t", str(base))
    assert "Status: PASSED" in told, told[-2000:]
    told = _solve(problem, "-i", "-t", str(steps))
    assert "Temporal induction successful." in told, told[-2000:]


def _failed_at(told: str, folder: Path, mutant: Mutant) -> None:
    assert "Status: FAILED" in told, told[-2000:]
    lines = (folder / mutant.asserted_in).read_text("utf-8").splitlines()
    (at,) = (number for number, line in enumerate(lines, 1) if mutant.broken in line)
    places = re.findall(rf"{re.escape(mutant.asserted_in)}:(\d+)\.\d+-(\d+)\.\d+[| ]", told)
    assert any(int(first) <= at <= int(last) for first, last in places), (
        f"line {at} is not it:\n{told}"
    )


def _problem(
    folder: Path,
    mutant: Mutant | None = None,
    top: str = TOP,
    sources: Sequence[Path] = SOURCES,
    narrow: str = "",
) -> Problem:
    """Write the sources, one of them perhaps wrong."""
    for source in sources:
        text = source.read_text("utf-8")
        if mutant and source.name == mutant.file:
            assert text.count(mutant.right) == 1, (
                f"{source.name} does not read as the mutant expects"
            )
            text = text.replace(mutant.right, mutant.wrong)
        (folder / source.name).write_text(text, "utf-8")
    if mutant is not None and top == TOP:  # quicker, and enough for one mutant
        without = {"ff_tap_recorder.v": "LOG", "ff_event_log.v": "TAP"}.get(mutant.file, "LOG")
        narrow = f"chparam -set {without} 0 {top}"
    files = " ".join(source.name for source in sources)
    script = (
        f"read_verilog -formal {files}; {narrow}; prep -top {top} -flatten; async2sync; dffunmap"
    )
    return Problem(folder, script)


def _solve(problem: Problem, *options: str) -> str:
    """Return what the solver says of the outcome: its status, the induction's, and where an assertion fails."""
    texts = [path.read_text("utf-8") for path in sorted(problem.folder.glob("*.v"))]
    tools = [version("yosys", "-V"), version("z3", "--version")]

    def run() -> str:
        command = [tool("yosys-smtbmc"), "-s", "z3", "--unroll", *options, str(problem.write())]
        done = run_program(command, timeout=600)
        told = (done.stdout + done.stderr).splitlines()
        return "\n".join(line.partition("  ")[2] for line in told if _OUTCOME.search(line))

    test = os.environ["PYTEST_CURRENT_TEST"].partition("::")[2].partition(" ")[0]
    return recorded(f"{test} {' '.join(options)}", [*texts, problem.script, *options, *tools], run)
