"""``freezeframe counters``: a snapshot of all counters, or two and their difference."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from freezeframe.capture.count_text import plural
from freezeframe.capture.errors import InputError
from freezeframe.capture.registers.access import Recorder
from freezeframe.capture.registers.register_map import CounterInfo
from freezeframe.gui.cli.output import count_text, emit_json, table
from freezeframe.gui.cli.work.session import open_recorders
from freezeframe.gui.text import shell_path


def show_counters(
    target: str, over_s: float | None, log: Path | None, *, all_counters: bool, json: bool
) -> None:
    """Print every counter of a target, with its growth where ``over_s`` is given.

    Raises:
        InputError: the target is a recording.
    """
    _refuse_recording(target)
    with open_recorders(target, log) as devices:
        counters = {name: info for device in devices for name, info in device.map.counters.items()}
        first = _snapshots(devices)
        if over_s is None:
            last, growth = first, None
        else:
            time.sleep(over_s)
            last = _snapshots(devices)
            growth = {
                name: {
                    key: last[name]["values"][key] - value for key, value in snap["values"].items()
                }
                for name, snap in first.items()
            }
    if json:
        _print_json(target, last, growth, counters)
    else:
        _print_table(last, growth, counters, all_counters)


def _refuse_recording(target: str) -> None:
    scheme, _, path = target.partition(":")
    if scheme == "file":
        raise InputError(
            f"{target}: is a recording and holds no live counters; the report shows those of the "
            f"freeze: freezeframe report {shell_path(path)} -o report.html"
        )


def _snapshots(devices: Sequence[Recorder]) -> dict[str, dict[str, Any]]:
    snapshots = {}
    for device in devices:
        snapshot = device.counters()
        snapshots[device.name] = {"seq": snapshot.seq, "values": dict(snapshot.values)}
    return snapshots


def _print_json(
    target: str,
    last: dict[str, dict[str, Any]],
    growth: dict[str, dict[str, int]] | None,
    counters: Mapping[str, CounterInfo],
) -> None:
    devices = [{"name": name, **snap} for name, snap in last.items()]
    if growth is not None:
        for device in devices:
            device["growth"] = growth[device["name"]]
    meaning = {name: {"unit": info.unit, "help": info.doc} for name, info in counters.items()}
    emit_json({"target": target, "devices": devices, "counters": meaning})


def _print_table(
    last: dict[str, dict[str, Any]],
    growth: dict[str, dict[str, int]] | None,
    counters: Mapping[str, CounterInfo],
    all_counters: bool,
) -> None:
    headers = ["counter"]
    for device in last:
        headers += [device] if growth is None else [device, f"+{device}"]
    rows: list[list[str]] = []
    hidden = 0
    for name, info in counters.items():
        if not all_counters and not any(snap["values"].get(name) for snap in last.values()):
            hidden += 1
            continue
        row = [name]
        for device, snap in last.items():
            has = (
                name in snap["values"]
            )  # cards of two kinds behind one target count different things
            row.append(count_text(snap["values"][name]) if has else "")
            if growth is not None:
                row.append(count_text(growth[device][name]) if has else "")
        rows.append([*row, info.unit, info.doc])
    if hidden and not rows:
        print(f"All {plural(hidden, 'counter')} are 0 on {_of(last)} (--all shows them).")
        return
    print(table([*headers, "unit", "meaning"], rows, right=range(1, len(headers))))
    if hidden:
        are = "is" if hidden == 1 else "are"
        print(f"\n{plural(hidden, 'more counter')} {are} 0 on {_of(last)} (--all shows them).")


def _of(devices: Mapping[str, Any]) -> str:
    return f"device {next(iter(devices))}" if len(devices) == 1 else "every device"
