"""Opening a capture folder: the recording first; `explained` goes on with what went wrong, and each analysis."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from freezeframe.analyzers.registry import AnalysisRegistry
from freezeframe.analyzers.wall_clock import wall_clock_of
from freezeframe.capture.code import code
from freezeframe.capture.folder import CaptureFolder
from freezeframe.decoders.trace.decode import Trace, decode_capture
from freezeframe.gui.desktop.progress import Progress
from freezeframe.gui.desktop.sources.opened import Opened, Part, Table
from freezeframe.gui.moments import first_freeze
from freezeframe.gui.text import folder_title
from freezeframe.gui.tracks.recording import recording_tracks

if TYPE_CHECKING:
    from freezeframe.capture.folder.card_folder import (
        CardFolder,  # described cards: not of this capture
    )

_go_on = code("freezeframe.gui.desktop.sources.explained:go_on")  # not of the first picture

_DOCS = {
    "packets": "packets as they crossed each tap",
    "words": "every word that was recorded",
    "events": "the event logs, and what is wrong with the recording itself",
    "intervals": "when a flow waited for credit",
    "descriptors": "what became of each descriptor",
    "credits": "credits sent, taken and refused",
    "states": "changes of the state machines",
}


def load_capture(
    key: str, path: Path, progress: Progress, registry: AnalysisRegistry | None = None
) -> Opened:
    """Return a capture as it can be shown at once; findings and analyses follow as `Part`.

    Args:
        progress: gets the `Opened` as soon as it is decoded, then a `Part` for each step.
        registry: the analyses; by default all that are installed.
    Raises:
        CaptureFormatError, CaptureVersionError: as `CaptureFolder.open`.
        Cancelled: it is no longer wanted.
    """
    progress.report(0, 0, "checking the evidence")
    folder = CaptureFolder.open(path)
    progress.report(0, 0, "decoding")
    trace = decode_capture(folder)
    progress.check()
    name = folder_title(path)
    freeze = first_freeze(folder, trace)
    opened = Opened(
        key,
        name,
        str(path),
        "capture",
        path,
        tables={table.key: table for table in _tables(trace)},
        remarks=[*folder.lost, *trace.notes, *(str(problem) for problem in trace.problems)],
        facts=facts_of(folder),
        folder=folder,
        trace=trace,
        wall_clock=wall_clock_of(
            folder.manifest.get("history", []), None if freeze is None else freeze.t_ps
        ),
    )
    opened.absorb(Part(tracks=list(recording_tracks(key, name, folder, trace))))
    progress.give(opened)
    _go_on(opened, progress, registry)
    return opened


def _tables(trace: Trace) -> list[Table]:
    frames = {
        "packets": trace.packets,
        "events": trace.events,
        "words": _numbered(trace),
        "intervals": trace.intervals,
        "descriptors": trace.descriptors(),
        "credits": trace.credits(),
        "states": trace.states(),
    }
    return [
        Table(key, frame.reset_index(drop=True), doc=_DOCS[key])
        for key, frame in frames.items()
        if len(frame) or key in ("packets", "events", "words")
    ]


def _numbered(trace: Trace) -> pd.DataFrame:
    """Return the words with their packet's sequence number, the one number that packets have in the window.

    The row of their packet, ``packet`` in the table's file, is called ``packets_row`` as in all tables here.
    """
    rows = trace.words["packet"].to_numpy(dtype=np.int64)
    seq = np.append(trace.packets["seq"].to_numpy(dtype=np.int64), -1)[rows]  # -1: of no packet
    frame = trace.words.rename(columns={"packet": "packets_row"})
    frame.insert(list(frame.columns).index("packets_row"), "seq", seq)
    return frame


def facts_of(folder: CaptureFolder | CardFolder) -> dict[str, str]:
    """Return where a capture comes from, and what each device has recorded."""
    manifest = folder.manifest
    said = {"source": manifest.get("source"), "pulled by": manifest.get("tool")}
    facts = {name: str(value) for name, value in said.items() if value}
    for device in folder.devices:
        memories = ", ".join(
            f"{name} {len(memory.records)} records" for name, memory in device.memories.items()
        )
        facts[f"device {device.name}"] = memories
    return facts
