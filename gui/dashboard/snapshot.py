"""The newest values of all sources as a JSON file."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from freezeframe.capture.counters.monitor import Watched
from freezeframe.gui.places import free_name, refuse_evidence


def save_snapshot(watched: Sequence[Watched], folder: Path) -> str:
    """Write the newest values of all sources as JSON to a new file below ``folder``; return the line for the log.

    Raises:
        InputError: the folder is inside of a capture folder.
        OSError: the file cannot be written.
    """
    refuse_evidence(folder)
    path = free_name(folder, "counters", ".json")
    with path.open("x", encoding="utf-8") as file:
        json.dump({"sources": [_document(source) for source in watched]}, file, indent=1)
        file.write("\n")
    return f"all counters are in {path}"


def _document(source: Watched) -> dict[str, Any]:
    return {
        "source": source.url,
        "stale": source.stale,
        "facts": source.facts,
        "recorders": [state.to_json() for state in source.recorders],
        "counters": dict(source.sample.values) if source.sample else {},
    }
