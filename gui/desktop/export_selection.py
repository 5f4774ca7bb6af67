"""Export of a stretch of time: the tables of a recording, or samples, in every format there is.

Packets that reach into the stretch are exported whole, with all their words, so that nothing that was
recorded looks cut. Row numbers are those of what is exported.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from freezeframe.capture.errors import InputError
from freezeframe.capture.files.choice import SourceChoice
from freezeframe.decoders.blame import texts_of
from freezeframe.decoders.registry import Registry, load_decoders
from freezeframe.decoders.run import Decoded
from freezeframe.gui.desktop.progress import Progress
from freezeframe.gui.desktop.sources.opened import Opened
from freezeframe.gui.export.capture_tracks import capture_tracks, with_tables
from freezeframe.gui.export.material import Material
from freezeframe.gui.export.run import Exported, card_packets, export_file, write_material
from freezeframe.gui.tracks.recording import Made


def export_stretch(
    opened: Opened,
    form: str,
    place: Path,
    stretch_ps: tuple[int, int] | None,
    progress: Progress,
    *,
    registry: Registry | None = None,
    specs: tuple[str, ...] = (),
    choice: SourceChoice | None = None,
    force: bool = True,
) -> Exported:
    """Export what a source holds in ``[t0, t1)`` of its time; None for all of it.

    Args:
        specs: of samples, the decoders whose tables are exported; none for the samples themselves.
        force: whether a file that is there may be replaced.
    Raises:
        InputError: the place cannot be written, or there is nothing to export in that format.
    """
    if opened.path is None:
        raise InputError(f"{opened.where}: is live; pull it into a capture, and export that")
    progress.report(0, 0, f"exporting as {form}")
    if opened.kind == "samples":
        if stretch_ps is not None:
            first, last = max(stretch_ps[0], 0), max(stretch_ps[1], 0)
            given = choice or SourceChoice()
            begin = 0 if given.cut_ps is None else given.cut_ps[0]
            choice = SourceChoice(
                given.format, given.channels, given.thresholds, (begin + first, begin + last)
            )
        return export_file(
            opened.path, form, place, specs=specs, force=force, progress=progress.counted,
            registry=registry, choice=choice,
        )  # fmt: skip
    if opened.cards is not None:
        if form == "perfetto" and stretch_ps is None:
            return export_file(opened.path, form, place, force=force)
        material = card_packets(opened.path, form)
        if stretch_ps is not None:
            kept = [
                Decoded(name, table.filter(pa.array(_reaching(table, *stretch_ps))))
                for name, table in material.tables
            ]
            material = replace(material, tables=kept)
        return write_material(material, form, place, force=force)
    trace = opened.trace
    if trace is None:
        raise InputError(f"{opened.where}: is not decoded yet")
    tables = trace.tables()
    if stretch_ps is not None:
        tables = _cut(tables, *stretch_ps)
    made: list[Made] = []
    if form == "perfetto" and opened.folder is not None:
        if stretch_ps is None:
            made = list(
                capture_tracks(
                    opened.folder, trace, opened.findings, list(opened.analyses.values())
                )
            )
        else:
            made = list(capture_tracks(opened.folder, with_tables(trace, tables)))
    return _write(opened.path, form, place, tables, made, force)


def _write(
    source: Path,
    form: str,
    place: Path,
    tables: dict[str, Any],
    tracks: list[Made],
    force: bool,
) -> Exported:
    words = texts_of(load_decoders().find("trace"))

    def texts(name: str) -> Callable[[dict[str, object]], str]:
        return words or (lambda row: str(row["kind"]))

    material = Material(
        source,
        tables=[Decoded(f"trace.{name}", table) for name, table in tables.items()],
        texts=texts,
        tracks=tracks,
    )
    return write_material(material, form, place, force=force)


def _cut(tables: dict[str, pa.Table], t0_ps: int, t1_ps: int) -> dict[str, pa.Table]:
    """Return the rows that reach into a stretch; words and packets still count each other's rows."""
    packets, words = tables["packets"], tables["words"]
    kept_packets = _reaching(packets, t0_ps, t1_ps)
    first, end = _column(packets, "first_row"), _column(packets, "end_row")
    kept_words = _reaching(words, t0_ps, t1_ps)
    owner = _column(words, "packet")
    # A word outside of every packet stands for itself; all others go with their packet.
    owned = owner >= 0
    kept_words[owned] = kept_packets[owner[owned]]
    before = np.concatenate([[0], np.cumsum(kept_words)])
    place = np.cumsum(kept_packets) - 1
    made = {
        name: table.filter(pa.array(_reaching(table, t0_ps, t1_ps)))
        for name, table in tables.items()
        if name not in ("packets", "words")
    }
    new_packets = packets.filter(pa.array(kept_packets))
    new_words = words.filter(pa.array(kept_words))
    new_owner = np.where(owner >= 0, place[owner], -1)[kept_words]
    new_packets = _with(new_packets, "first_row", before[first[kept_packets]])
    new_packets = _with(new_packets, "end_row", before[end[kept_packets]])
    made |= {"packets": new_packets, "words": _with(new_words, "packet", new_owner)}
    return {name: made[name] for name in tables}


def _reaching(table: pa.Table, t0_ps: int, t1_ps: int) -> npt.NDArray[np.bool_]:
    start = _column(table, "t_ps")
    if "t_end_ps" not in table.column_names:
        return (start >= t0_ps) & (start < t1_ps)
    return (start < t1_ps) & (np.maximum(_column(table, "t_end_ps"), start + 1) > t0_ps)


def _column(table: pa.Table, name: str) -> npt.NDArray[np.int64]:
    return np.asarray(table.column(name).to_numpy(), dtype=np.int64)


def _with(table: pa.Table, name: str, values: npt.NDArray[np.int64]) -> pa.Table:
    field = table.schema.field(name)
    return table.set_column(
        table.schema.get_field_index(name), field, pa.array(values).cast(field.type)
    )
