"""A trace of a host without a capture, printed line by line or written as a table."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa

from freezeframe.capture.count_text import plural
from freezeframe.capture.errors import InputError
from freezeframe.decoders.host.table import events_alone
from freezeframe.decoders.run import Decoded
from freezeframe.gui.cli.work.events import print_json, print_text
from freezeframe.gui.cli.work.reading import print_notes
from freezeframe.gui.cli.work.save_tables import save_all
from freezeframe.gui.text import printable


def show_host_trace(file: Path, output: Path | None, *, force: bool, json: bool) -> None:
    """Print or write the events of a host.

    Raises:
        InputError: the file cannot be read, or the table not be written.
    """
    try:
        events = events_alone(file.read_bytes(), file.stem)
    except OSError as error:
        raise InputError(f"{file}: cannot be read: {error.strerror}") from None
    decoded = [Decoded("host", pa.Table.from_pandas(events.table, preserve_index=False))]
    print_notes([f"{file}: {note}" for note in events.notes])
    if output is not None:
        (path,) = save_all(decoded, output, file, force=force)
        print(f"{printable(path)}: host, {plural(len(events.table), 'row')}")
    elif json:
        print_json(file, decoded)
    else:
        print_text(decoded, words=lambda row: f"{row['kind']:<16} {row['task']:<16} {row['text']}")
