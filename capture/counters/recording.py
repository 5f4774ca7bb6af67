"""Samples kept as a table: a journal while it runs, one Parquet file at its end.

The Parquet writer costs 60 MB of memory, so while a dashboard runs only lines of text are appended to
``.FILE.journal`` beside the file. They become the table when the recording is closed; after a crash, the next
recording to the same file makes the table from what is there, and is refused.

Rows: ``t_ps`` from the first sample, ``source``, ``kind`` (counter or gauge), ``counter``, ``unit``, ``value`` (int64
bit pattern), ``changed`` (its value is another than one sample before). Every value of every sample is a row.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from freezeframe.capture.code import code
from freezeframe.capture.counters.contract import Counter, Sample
from freezeframe.capture.errors import InputError

finish: Callable[[Path], int] = code("freezeframe.capture.counters.recording_table:finish")
"""`recording_table.finish`: makes the table of a journal and returns its rows."""


def journal_of(path: Path) -> Path:
    """Return where the journal of a recording stands until it is finished."""
    return path.with_name(f".{path.name}.journal")


class Recording:
    """A recording in progress."""

    def __init__(self, path: Path, *, overwrite: bool = False) -> None:
        """Begin.

        Raises:
            InputError: the file is there already, or its folder is not; or an earlier recording was cut short.
            That one is made a table then.
        """
        if not path.parent.is_dir():
            raise InputError(f"{path}: there is no folder {path.parent}")
        if path.is_dir() or (path.exists() and not overwrite):
            raise InputError(f"{path}: exists already; choose another name, or give --force")
        self.path = path
        self.samples = 0
        if journal_of(path).exists():
            raise InputError(
                f"{path}: an earlier recording of that name was cut short; its {finish(path):,} rows stand there "
                "now; choose another name for the new one"
            )
        self._file = journal_of(path).open("x", encoding="utf-8")
        self._keys: dict[str, list[str]] = {}  # source -> the columns of its lines

    def add(self, source: str, counters: Mapping[str, Counter], sample: Sample) -> None:
        """Append a sample.

        Raises:
            OSError: the disk is full.
        """
        keys = self._keys.get(source)
        if (
            keys is None
            or len(keys) != len(sample.values)
            or any(map(str.__ne__, keys, sample.values))
        ):
            keys = self._keys[source] = list(sample.values)
            columns = [
                (key, counters[key].kind, counters[key].unit)
                if key in counters
                else (key, "gauge", "")
                for key in keys
            ]
            self._write({"source": source, "columns": columns})
        self._write([source, sample.t_ns, list(sample.values.values())])
        self.samples += 1

    def close(self) -> int:
        """End the recording; return its rows. The journal goes when the table stands."""
        self._file.close()
        return finish(self.path)

    def _write(self, line: Any) -> None:
        self._file.write(json.dumps(line, separators=(",", ":")) + "\n")
        self._file.flush()
