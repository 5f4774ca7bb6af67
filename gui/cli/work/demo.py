"""``freezeframe demo``: a fault is injected, caught, pulled over UDP, explained, step by step."""

from __future__ import annotations

import os
import shutil
import tempfile
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from freezeframe.analyzers.explain import Explanation, explain
from freezeframe.capture.card.roles import Roles
from freezeframe.capture.errors import InputError, TargetError
from freezeframe.capture.folder import CaptureFolder
from freezeframe.capture.recorder.control import freeze, wait_for
from freezeframe.capture.recorder.state import read_state
from freezeframe.capture.registers.access import CounterSnapshot, Device
from freezeframe.emulator.board import board_program
from freezeframe.gui.cli.card_process import card_process
from freezeframe.gui.cli.explanation_text import explanation_text
from freezeframe.gui.cli.output import count_text, table
from freezeframe.gui.cli.work.pull import pull_with_bar, report_lines
from freezeframe.gui.cli.work.session import first_cause, open_logged, open_session
from freezeframe.gui.cli.work.truth import compare_to_truth, read_truth
from freezeframe.gui.places import is_capture, refuse_evidence
from freezeframe.gui.report.write import report_capture
from freezeframe.gui.text import printable, shell_path

_CAPTURE, _REPORT, _TRUTH = "capture.ff", "report.html", "truth.json"
_RESULTS = (_CAPTURE, _REPORT, _TRUTH)
_SPEED = 2e-4  # simulated seconds a second: slow enough to watch, fast enough not to wait
_SNAPSHOT_S = 5.0  # how long the first counter snapshot may take
_FREEZE_S = 60.0
_SILENT_S = 20.0  # after which a fault is taken for one that no check of the hardware finds
_LOOK_S = 0.02
_CLEAN_S = 2.0  # how long traffic runs when no fault is injected


def demonstrate(
    fault: str, seed: int, output: Path, *, board: bool, keep: bool, force: bool
) -> bool:
    """Run the demo and return whether the explanation was right.

    Raises:
        InputError: the results cannot be written there, or there is no such fault.
        TargetError: the card cannot be reached, or its program ended.
    """
    base = _base(output, force)
    if board:
        # Now, for whoever waits for the card must not wait for a compiler.
        board_program(lambda line: print(line, flush=True))
    started = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="freezeframe-demo-") as hidden:
        truth = Path(hidden) / _TRUTH
        verb, what = ("sim-board", "verilated") if board else ("emulate", "emulated")
        more = ["--freeze-when-evident"] if board else []
        with card_process(verb, fault, seed, truth, _SPEED, more) as (url, pid):
            _step(1, f"A pair of {what} network cards runs as process {pid} at {url}.")
            _say("They are under traffic, and armed. What will go wrong, only that process knows.")
            with open_session(url) as devices:
                _show_traffic(devices)
                _wait_for_freeze(devices, fault)
            with tempfile.TemporaryDirectory(prefix=".freezeframe-demo-", dir=base) as beside:
                # Under the name it will have, because the report names the folder of the capture.
                made = Path(beside) / output.resolve().name
                made.mkdir()
                _pull(url, made / _CAPTURE, output / _CAPTURE)
                folder, explanation = _explain(made, output)
                right = _check(truth, made, folder, explanation)
                _publish(made, output, Path(beside))
            print(f"\n{time.monotonic() - started:.1f} s from start to answer.")
            if keep:
                _stay(url)
    return right


def _base(output: Path, force: bool) -> Path:
    """Check the place and return the folder in which the results are made before they move there.

    Raises:
        InputError: a file or the results of an earlier demo are there, or it is in a capture.
    """
    refuse_evidence(output)
    # The nearest folder that is there: on the same disk, so that moving is one step.
    base = next(path for path in (output, *output.absolute().parents) if os.path.lexists(path))
    if not base.is_dir():
        raise InputError(
            f"{base}: is a file; -o names the directory for capture and report, for instance "
            f"{shell_path(str(base.with_suffix('.demo')))}"
        )
    there = [output / name for name in _RESULTS if os.path.lexists(output / name)]
    if there and not force:
        raise InputError(f"{there[0]}: stands there from an earlier run; --force replaces it")
    for path in there:
        if path.is_dir() and not path.is_symlink() and not is_capture(path) and any(path.iterdir()):
            raise InputError(f"{path}: is not of a demo, so it is not replaced; choose another -o")
    return base


def _publish(made: Path, output: Path, aside: Path) -> None:
    """Move the results to their place; where that fails, what was there is put back."""
    missing = [path for path in (output, *output.absolute().parents) if not path.exists()]
    moved: list[tuple[Path, Path]] = []
    try:
        output.mkdir(parents=True, exist_ok=True)
        for name in _RESULTS:
            if os.path.lexists(output / name):
                old = aside / f"old-{name}"
                (output / name).rename(old)
                moved.append((old, output / name))
            (made / name).rename(output / name)
            moved.append((output / name, made / name))
    except OSError:
        for here, back in reversed(moved):
            here.rename(back)
        for folder in missing:
            with suppress(OSError):
                folder.rmdir()
        raise


def _show_traffic(devices: Sequence[Device]) -> None:
    first = _next_snapshots(devices, [0] * len(devices))
    second = _next_snapshots(devices, [snapshot.seq for snapshot in first])
    rows = []
    for name in _shown(devices[0].roles):
        row = [name]
        for before, after in zip(first, second, strict=True):
            grown = after.values[name] - before.values[name]
            row += [count_text(after.values[name]), f"+{grown:,}"]
        rows.append(row)
    headers = ["counter"]
    for device in devices:
        headers += [device.name, "since"]
    _step(2, "Live counters, two snapshots of the cards, read without disturbing them:")
    _say(table(headers, rows, right=range(1, len(headers))))


def _shown(roles: Roles) -> tuple[str, ...]:
    """Return the counters that say most of traffic and its damage."""
    return (
        roles.counter("packets", roles.tx.entry),
        roles.counter("words", roles.tx.exit),
        roles.counter("words", roles.rx.exit),
        *map(roles.counter, ("credits-taken", "bad-header", "bad-payload")),
    )


def _next_snapshots(devices: Sequence[Device], seen: Sequence[int]) -> list[CounterSnapshot]:
    """Return the counters once each card has made a newer snapshot; at the latest when all froze."""
    end = time.monotonic() + _SNAPSHOT_S
    while time.monotonic() < end:
        snapshots = [device.counters() for device in devices]
        if all(snapshot.seq > seq for snapshot, seq in zip(snapshots, seen, strict=True)):
            return snapshots
        if all(read_state(device).state == "frozen" for device in devices):
            break
        time.sleep(0.01)
    return [device.counters() for device in devices]


def _wait_for_freeze(devices: Sequence[Device], fault: str) -> None:
    started = time.monotonic()
    patience_s = _CLEAN_S if fault == "none" else _SILENT_S
    while time.monotonic() - started < patience_s:
        if all(read_state(device).state == "frozen" for device in devices):
            break
        time.sleep(_LOOK_S)
    else:
        if fault != "none":
            _say("No check of the cards has found anything; the host freezes them.")
        for device in devices:
            freeze(device)
    for device in devices:
        wait_for(device, "frozen", _FREEZE_S)
    states = [read_state(device) for device in devices]
    _step(3, f"Frozen after {time.monotonic() - started:.1f} s more: {first_cause(states)}.")
    for state in states:
        stored = sum(memory.stored for memory in state.memories.values())
        cycle = count_text(state.cause_cycle)
        _say(f"{state.device}: {', '.join(state.causes)} at bus cycle {cycle}")
        _say(f"   {count_text(stored)} records were stored since it was armed")


def _pull(url: str, path: Path, shown: Path) -> None:
    with open_logged(url) as target:
        report = pull_with_bar(target, path, freeze=False, outage_s=30.0, overwrite=True)
    _step(4, "The recording, pulled over UDP and checked against the card's own checksums:")
    for line in report_lines(replace(report, path=shown)):
        _say(line)
    if not report.complete:
        raise TargetError(f"{url}: the pull brought home only a part; see above")


def _explain(made: Path, output: Path) -> tuple[CaptureFolder, Explanation]:
    folder = CaptureFolder.open(made / _CAPTURE)
    explanation = explain(folder)
    _step(5, "The explanation, from the capture folder alone:")
    print()
    _say(explanation_text(folder, explanation))
    report_capture(folder, made / _REPORT, with_analyses=True, explanation=explanation)
    _step(6, f"The same as a page: {output / _REPORT}")
    return folder, explanation


def _check(truth_path: Path, made: Path, folder: CaptureFolder, explanation: Explanation) -> bool:
    _step(7, "Only now the truth file of the injection is opened:")
    truth = read_truth(truth_path)
    shutil.copyfile(truth_path, made / _TRUTH)
    generation = folder.devices[0].registers.value("ctl.generation")
    findings = [finding.to_json() for finding in explanation.findings]
    verdict = compare_to_truth(truth, generation, findings)
    rows = [(name, a, b, "" if agrees else "<- wrong") for name, a, b, agrees in verdict.rows]
    _say(table(("", "injected", "explained", ""), rows))
    print(f"\n   The explanation is {'right' if verdict.right else 'WRONG'}.")
    return verdict.right


def _stay(url: str) -> None:
    print(
        f"The card stays frozen at {url} until Ctrl-C: try 'freezeframe status {url}'.", flush=True
    )
    with suppress(KeyboardInterrupt):
        while True:
            time.sleep(1)


def _step(number: int, text: str) -> None:
    print(f"\n{number}. {printable(text)}", flush=True)


def _say(text: str) -> None:
    for line in text.split("\n"):
        print(f"   {line}".rstrip(), flush=True)
