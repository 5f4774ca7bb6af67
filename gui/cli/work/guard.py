"""``freezeframe guard``: freezes waited for unattended, each pulled and explained."""

from __future__ import annotations

import json as json_text
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Event
from typing import Any

from freezeframe.analyzers.explain import explain
from freezeframe.capture.errors import FreezeframeError
from freezeframe.capture.folder import CaptureFolder
from freezeframe.capture.folder.card_folder import CardFolder, is_card_folder
from freezeframe.capture.recorder.guard import captures_in, guard
from freezeframe.capture.recorder.pull import PullReport
from freezeframe.gui.cli.explanation_text import explanation_document
from freezeframe.gui.cli.work.card_capture import card_document
from freezeframe.gui.cli.work.pull import refuse_recording
from freezeframe.gui.places import refuse_evidence
from freezeframe.gui.text import plural, printable, shell_path

_EXPLANATIONS = "explanations.jsonl"


def guard_target(target: str, output: Path, keep: int, count: int | None, *, json: bool) -> None:
    """Guard a card until interrupted, or until ``count`` captures are pulled.

    Raises:
        InputError: the target is a recording, or the directory cannot be used.
    """
    refuse_recording(target)
    refuse_evidence(output)
    stop = Event()
    seen = 0

    def explained(report: PullReport) -> None:
        nonlocal seen
        seen += 1
        if count is not None and seen >= count:
            stop.set()
        _tell(report.path, json=json)

    say = None if json else lambda line: print(printable(line), flush=True)
    with _stopped_by_signals(stop):
        for path in _never_explained(output):  # a guard was killed, or had no room for the line
            try:
                _tell(path, json=json)
            except FreezeframeError as error:
                print(printable(f"{path.name}: {error}"), file=sys.stderr)
        pulled = guard(
            target,
            keep,
            output,
            explained,
            stop.is_set,
            log=say,
        )
    if not json:
        print(f"{plural(pulled, 'capture')} pulled into {printable(output)}")


def _tell(path: Path, *, json: bool) -> None:
    """Explain a capture, as a line of `explanations.jsonl` beside it and on standard output.

    Raises:
        FreezeframeError: it cannot be explained, or the line not be written.
    """
    document = _explain(path)
    line = json_text.dumps(document)
    try:
        _append(path.with_name(_EXPLANATIONS), line)
    except OSError as error:
        raise FreezeframeError(f"{_EXPLANATIONS}: {error.strerror}; explained later") from error
    stamp = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    print(line if json else f"{stamp} {_summary(document)}", flush=True)


def _append(path: Path, line: str) -> None:
    """Add a line; one that a full disk or a crash has torn before is ended first."""
    with path.open("a+b") as file:
        end = file.seek(0, 2)
        if end:
            file.seek(end - 1)
            if file.read(1) != b"\n":
                file.write(b"\n")
        file.write(line.encode() + b"\n")


def _never_explained(directory: Path) -> list[Path]:
    """Return the captures of a guard here that have no whole line in `explanations.jsonl`, oldest first."""
    told = set()
    try:
        lines = (directory / _EXPLANATIONS).read_text("utf-8", "replace").splitlines()
    except OSError:
        lines = []
    for line in lines:
        try:
            told.add(json_text.loads(line)["capture"])
        except (ValueError, LookupError, TypeError):
            continue  # torn; its capture is explained again
    return [path for path in captures_in(directory) if path.name not in told]


def _explain(path: Path) -> dict[str, Any]:
    """Return the findings of a capture.

    Whatever goes wrong here must not end the guard: the capture is whole and can be explained
    again, so the failure goes into its log as one line.
    """
    try:
        if is_card_folder(path):
            card = card_document(CardFolder.open(path))
            findings = [finding for device in card["devices"] for finding in device["findings"]]
            return {**card, "capture": path.name, "findings": findings}
        folder = CaptureFolder.open(path)
        return {"capture": path.name, **explanation_document(folder, explain(folder))}
    except FreezeframeError:
        raise
    except Exception as error:
        raise FreezeframeError(
            f"could not be explained: {type(error).__name__}: {error}; "
            f"the capture is whole: freezeframe explain {shell_path(str(path))}"
        ) from error


def _summary(document: dict[str, Any]) -> str:
    findings = document["findings"]
    if not findings:
        answers = sorted({device.get("answer", "") for device in document.get("devices", ())})
        return f"{document['capture']}: {answers[-1] if answers else 'no fault found'}"
    first = findings[0]
    tap = f"{first['device']}.{first['tap']}" if first["tap"] else str(first["device"])
    parts = [f"{document['capture']}: {first['diagnosis']} at {tap}"]
    parts += [f"{key} {first[key]}" for key in ("flow", "packet", "word") if first[key] is not None]
    return printable(", ".join(parts))


@contextmanager
def _stopped_by_signals(stop: Event) -> Iterator[None]:
    """Let Ctrl-C and SIGTERM end the guard between two steps, never in the middle of a pull."""
    before = {
        number: signal.signal(number, lambda *_: stop.set())
        for number in (signal.SIGINT, signal.SIGTERM)
    }
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
