"""``freezeframe what-if`` of a card down to its cycles: the emulated pair runs profile and change, captures tell."""

from __future__ import annotations

import tempfile
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from freezeframe.capture.errors import InputError
from freezeframe.emulator.profile import load_profile
from freezeframe.emulator.profile_files import ProfileFile
from freezeframe.emulator.workloads import check_workload
from freezeframe.gui.cli.output import emit_json, progress_bar, table
from freezeframe.gui.cli.work.reproduction import Experiment, figure, run_experiment, waits_per_ms
from freezeframe.gui.text import printable

_WORKLOAD = "stream-4KiB"
_PACKETS = 500


class CardPoint(NamedTuple):
    """A run of the pair: what reaches B, and how often A waited for credit in each millisecond of its event log."""

    settings: dict[str, Any]
    throughput_MBps: float
    waits_per_ms: float


def card_points(
    file: ProfileFile, points: list[dict[str, Any]], *, json: bool, swept: Collection[str] = ()
) -> None:
    """Print a line for each point; the first has no settings and is what the others are compared with.

    Args:
        swept: the keys that were given as ``--sweep``, for a message.
    Raises:
        InputError: a setting is none of the profile's, or out of its range.
        TargetError: the pair could not be run.
    """
    found: list[CardPoint] = []
    with tempfile.TemporaryDirectory(prefix="freezeframe-what-if-") as hidden:
        folder = Path(hidden)
        texts = [_changed(file, point, folder / str(n), swept) for n, point in enumerate(points)]
        with progress_bar(file.name, "runs") as update:
            for number, (path, workload) in enumerate(texts):
                update(number, len(points), "")
                found.append(_run(points[number], path, workload, folder / f"{number}.ff"))
    if json:
        emit_json({"profile": file.name, "points": [point._asdict() for point in found]})
        return
    rows = [
        (
            ", ".join(f"{key}={value}" for key, value in point.settings.items()) or "profile",
            f"{point.throughput_MBps:,.1f} MB/s",
            f"{100 * (point.throughput_MBps / found[0].throughput_MBps - 1):+z.1f} %",
            f"{point.waits_per_ms:,.1f} /ms",
        )
        for point in found
    ]
    print(
        printable(
            f"{file.name}: {file.said.get('description', '')}; A sends to B, MB is 2^20 bytes"
        )
    )
    print(table(("", "throughput at B", "change", "waits for credit"), rows, right=(1, 2, 3)))


def _changed(
    file: ProfileFile, settings: Mapping[str, Any], folder: Path, swept: Collection[str]
) -> tuple[Path, str]:
    """Write a profile that extends another; return its path and the workload to run it with."""
    sections: dict[str, list[str]] = {}
    workload = str(settings.get("workload", _WORKLOAD))
    try:
        check_workload(workload)
    except InputError as error:
        raise InputError(f"{'--sweep' if 'workload' in swept else '--set'}: {error}") from None
    for key, value in settings.items():
        section, dot, name = key.partition(".")
        if key == "workload":
            continue
        if not dot or not isinstance(value, (int, str)):
            option = "--sweep" if key in swept else "--set"
            raise InputError(
                f"{option} {key}={value}: a card's profile has keys section.name, whole numbers or words"
            )
        text = f'"{value}"' if isinstance(value, str) else str(value)
        sections.setdefault(section, []).append(f"{name} = {text}")
    lines = [f'extends = "{file.path.resolve()}"']
    for section, keys in sections.items():
        lines += [f"[{section}]", *keys]
    folder.mkdir()
    path = folder / f"{file.name}.toml"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    try:
        load_profile(str(path))
    except InputError as error:
        # The file is ours: who typed --set knows the profile.
        said = str(error).removeprefix(str(path)).lstrip(":0123456789")
        raise InputError(f"profile {file.name}:{said}" if said != str(error) else said) from None
    return path, workload


def _run(settings: dict[str, Any], path: Path, workload: str, capture: Path) -> CardPoint:
    options = ("--profile", str(path), "--workload", workload)
    run = run_experiment(
        Experiment("what-if", workload, options, "tx_deq_packets", _PACKETS), capture
    )
    try:
        throughput = figure(run, "throughput", "B.in.throughput.mean").value
        return CardPoint(settings, throughput, waits_per_ms(run))
    except LookupError as error:
        raise InputError(f"{workload}: {error}") from None
