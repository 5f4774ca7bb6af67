"""A host's clock against its card's, from traces of the emulated computer: `freezeframe.decoders.host`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from freezeframe.analyzers.analysis import AnalysisResult
from freezeframe.analyzers.declarations import HOST
from freezeframe.analyzers.view import CaptureView
from freezeframe.capture.folder import CaptureFolder, HostTrace
from freezeframe.capture.recorder.case import pull_case
from freezeframe.decoders.host.table import HostEvents, host_events
from freezeframe.decoders.trace.decode import Trace, decode_capture
from freezeframe.emulator.host_trace import HostTraceFile
from freezeframe.emulator.target import EmulatorTarget

Edit = Callable[[bytes], bytes]


def case(
    tmp_path: Path, seed: int, edit: Edit = lambda text: text
) -> tuple[EmulatorTarget, CaptureFolder]:
    """Pull a pair after 500 us of a load, with the trace of B's computer."""
    file = tmp_path / "b.txt"
    target = EmulatorTarget("forth", "none", seed, load="medium", host_traces={"B": file})
    target.run_until_frozen(500_000_000)
    pull_case(
        [target],
        tmp_path / "case.ff",
        freeze=True,
        host=lambda: [HostTrace("b.txt", "B", edit(file.read_bytes()))],
    )
    return target, CaptureFolder.open(tmp_path / "case.ff")


def decoded(folder: CaptureFolder) -> tuple[Trace, HostEvents]:
    trace = decode_capture(folder)
    return trace, host_events(folder, trace)


def of(result: AnalysisResult, name: str) -> int | None:
    value = result.figure(f"B.interrupts.{name}").value
    return None if value is None else int(value)


@pytest.mark.parametrize("seed", [2, 3, 5, 7])
def test_times_of_the_host_agree_with_the_simulation_within_what_is_stated(
    tmp_path: Path, seed: int
) -> None:
    target, folder = case(tmp_path, seed)
    trace, host = decoded(folder)
    relation = host.clocks["B"].relation
    assert relation is not None and host.clocks["B"].irq == 45, host.notes
    log, clock = target.pair.host_logs[1], target.pair.nics[0].bus.clock
    assert isinstance(log, HostTraceFile)
    for now_ps in range(50_000_000, 500_000_000, 50_000_000):
        # The axis is A's nominal clock: where A's counter stood at this simulated time.
        axis_ps = trace.timebase.instant_ps("A", "bus", clock.cycle_at(now_ps))
        distance = np.array([log.own_ps(now_ps) - relation.around_ps], np.int64)
        t_ps, unc_ps = relation.place_all(distance, 0)
        error_ps = abs(int(t_ps[0]) - (axis_ps - trace.timebase.origin_ps))
        assert error_ps <= int(unc_ps[0]) + 10_000
        assert int(unc_ps[0]) < 3_000_000


def test_every_line_of_the_trace_is_a_row_and_rows_are_in_the_order_of_time(tmp_path: Path) -> None:
    _, folder = case(tmp_path, 3)
    _, host = decoded(folder)
    lines = [line for line in folder.host[0].text.splitlines() if not line.startswith(b"cpus")]
    assert len(host.table) == len(lines) > 100
    assert host.table["t_ps"].is_monotonic_increasing


def test_each_interrupt_has_the_handler_that_ran_for_it(tmp_path: Path) -> None:
    _, folder = case(tmp_path, 3)
    result = HOST.run(CaptureView(folder))
    raised = result.figure("B.interrupts").value
    unknown = of(result, "unknown")
    # Of one in the last moments before the freeze the trace may not tell any more.
    assert raised and unknown in (0, 1) and of(result, "handled") == raised - unknown
    assert of(result, "never") == 0
    lag = result.figure("B.entry.median")
    assert lag.value is not None and lag.uncertainty
    # The emulated handler is entered 2 us after the interrupt.
    assert abs(lag.value - 2_000_000) <= lag.uncertainty
    rows = result.tables["interrupts.B"]
    ran = rows[rows["outcome"] == "ran"]
    assert ran["host_row"].is_unique
    assert (ran["entered_ps"] + ran["unc_ps"] >= ran["t_ps"]).all()


def test_a_handler_that_the_tracer_says_it_lost_is_unknown_and_not_missing(tmp_path: Path) -> None:
    def edit(text: bytes) -> bytes:
        lines = text.splitlines(keepends=True)
        entry = [i for i, line in enumerate(lines) if b"irq_handler_entry" in line][-2]
        lines[entry] = b"CPU:1 [LOST 2 EVENTS]\n"
        return b"".join(lines)

    _, folder = case(tmp_path, 3, edit)
    result = HOST.run(CaptureView(folder))
    if of(result, "handled") is not None:
        assert of(result, "never") == 0
    assert any("lost events" in note for note in result.notes)


def test_without_any_order_that_fits_the_clocks_are_not_related_and_it_is_said(
    tmp_path: Path,
) -> None:
    _, folder = case(tmp_path, 3, lambda text: text.replace(b"irq_handler", b"softirq_other"))
    _, host = decoded(folder)
    assert host.clocks["B"].relation is None
    assert (host.table["t_unc_ps"] == -1).all()
    assert any("is not related to the card's" in note for note in host.notes)
    result = HOST.run(CaptureView(folder))
    assert result.figure("B.interrupts.handled").value is None


def test_too_few_handlers_are_said_to_be_too_few(tmp_path: Path) -> None:
    def one_entry(text: bytes) -> bytes:
        lines = text.splitlines(keepends=True)
        entries = [i for i, line in enumerate(lines) if b"irq_handler_entry" in line]
        return b"".join(line for i, line in enumerate(lines) if i not in entries[1:])

    _, folder = case(tmp_path, 3, one_entry)
    clock = decoded(folder)[1].clocks["B"]
    assert clock.relation is None
    assert "the trace holds 1 and B recorded " in clock.note
    assert "of the 3 interrupts with their handlers" in clock.note


def test_a_trace_of_another_boot_contradicts_and_relates_nothing(tmp_path: Path) -> None:
    foreign = tmp_path / "other"
    foreign.mkdir()
    _, other = case(foreign, 11)
    _, folder = case(tmp_path, 3, lambda text: other.host[0].text)
    _, host = decoded(folder)
    assert host.clocks["B"].relation is None


def test_a_capture_without_a_host_says_how_to_get_one(tmp_path: Path) -> None:
    target = EmulatorTarget("forth", "none", 1)
    pull_case([target], tmp_path / "none.ff", freeze=True)
    result = HOST.run(CaptureView(CaptureFolder.open(tmp_path / "none.ff")))
    assert not result.figures and "--host-trace" in result.notes[0]
