"""``freezeframe decode`` of packets: rows are printed or written block by block, in the memory of one."""

from __future__ import annotations

import json as json_module
import shutil
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, Any, Protocol

from freezeframe.capture.code import code
from freezeframe.capture.count_text import plural
from freezeframe.capture.errors import InputError
from freezeframe.capture.packets.block import PacketBlock
from freezeframe.capture.packets.recognise import is_live
from freezeframe.capture.packets.source import packet_blocks
from freezeframe.capture.time_text import times_like
from freezeframe.decoders.contract import PACKETS
from freezeframe.decoders.plugin import load_with_plugins
from freezeframe.decoders.registry import Registry
from freezeframe.decoders.run import Decoded, StackRun, check_fit, with_different_names
from freezeframe.decoders.spec import parse_spec
from freezeframe.gui.cli.compiling import compile_notice
from freezeframe.gui.cli.lean import decode_lean, give_back_code
from freezeframe.gui.cli.output import progress_bar
from freezeframe.gui.cli.reading import Reading
from freezeframe.gui.cli.work.events import json_row, names_in, print_rows, rows_of, texts_by_name
from freezeframe.gui.cli.work.reading import print_notes
from freezeframe.gui.cli.work.save_tables import check_place, places_of
from freezeframe.gui.export.place import check_output, new_files
from freezeframe.gui.text import printable

_TableWriter = code("freezeframe.capture.parquet:TableWriter")  # what only prints needs no Parquet
_joined = code("freezeframe.capture.parquet:joined")
_Selection = code("freezeframe.decoders.query.rows:Selection")  # pandas, only where rows are chosen
_LIKE_PS = 10**12  # times in seconds: how late the last is, nobody knows yet
_ROW_GROUP, _HELD_B, _PART = 1 << 14, 1 << 22, 1 << 13


class _Sink(Protocol):
    """What becomes of the tables of a block; each time the same ones, in the same order."""

    def take(self, tables: Sequence[Decoded]) -> None: ...


def decode_packets(
    source: Path,
    specs: Sequence[str],
    reading: Reading,
    output: Path | None,
    plugins: Sequence[Path],
    where: str | None = None,
    *,
    force: bool,
    json: bool,
) -> None:
    """Print or write the rows of all decoders, or those ``where`` chooses, while the packets are read.

    Raises:
        InputError: the source cannot be read, or an option does not fit it.
        TargetError: an interface cannot be listened to.
    """
    refuse_options(source, reading)
    registry = load_with_plugins(plugins)
    stacks = [parse_spec(spec, registry) for spec in specs]
    check_fit(source, PACKETS, stacks, registry)
    if output is not None:
        check_place(output, source, specs, force=force, registry=registry)
    decode_lean(keep_memory=False)  # its buffers are used again
    runs = [StackRun(stack) for stack in stacks]
    notes: list[str] = []
    selection = None if where is None else _Selection(where, notes.append)
    quiet = output is not None or not sys.stdout.isatty()
    rows: dict[str, int] = {}
    try:
        with ExitStack() as stack:
            sinks: list[_Sink] = []
            if output is not None:
                sinks.append(stack.enter_context(_files(output, source, force=force)))
            if json:
                sinks.append(stack.enter_context(_json(source)))
            elif output is None:
                sinks.append(TextRows(registry))
            stack.enter_context(compile_notice())
            update = stack.enter_context(progress_bar("decode", "B")) if quiet else None
            progress = None if update is None else _progress(update)
            for number, (block, last) in enumerate(
                packet_blocks(source, progress, notes.append), 1
            ):
                if number & (number - 1) == 0:  # kernels are loaded when they are first needed
                    give_back_code()
                for found in _tables(runs, block, last):
                    tables = with_different_names(found)
                    if selection is not None:
                        tables = selection.rows(tables)
                    for name, table in tables:
                        rows[name] = rows.get(name, 0) + len(table)
                    for sink in sinks:
                        sink.take(tables)
    finally:
        for run in runs:
            run.close()
    if selection is not None:
        selection.note_never()
    print_notes(notes)
    if output is not None and not json:
        for path, name in zip(places_of(output, list(rows)), rows, strict=True):
            print(f"{printable(path)}: {printable(name)}, {plural(rows[name], 'row')}")
    if not any(rows.values()):
        if where is not None:
            print(f"0 rows match {printable(where)}", file=sys.stderr)
            return
        print("0 events: nothing that these decoders know is in the packets", file=sys.stderr)


def _tables(runs: Sequence[StackRun], block: PacketBlock, last: bool) -> Iterator[list[Decoded]]:
    """Yield the tables of a block: once, and behind the last as often as a decoder has more."""
    yield [table for run in runs for table in run.step(block, last=last)]
    while last and any(run.left for run in runs):
        block = block.after()
        yield [table for run in runs for table in run.step(block, last=run.left)]


def refuse_options(source: Path, reading: Reading) -> None:
    """Refuse what has no sense for packets.

    Raises:
        InputError: such an option is given.
    """
    words = reading.words()
    if words:
        raise InputError(f"{words[0]}: is for samples, and {source} is a source of packets")


def _progress(update: Callable[[int, int, str], None]) -> Callable[[int, int], None]:
    return lambda done, total: update(done, total, "")


class TextRows:
    """Lines for people, as the packets come."""

    def __init__(self, registry: Registry) -> None:
        self._registry = registry
        self._texts: dict[str, Callable[[dict[str, Any]], str]] = {}
        self._sources: set[str] = set()
        self._time_of = times_like(_LIKE_PS)

    def take(self, tables: Sequence[Decoded]) -> None:
        for name, table in tables:
            if not len(table):
                continue
            text_of = self._texts.setdefault(name, texts_by_name(name, self._registry))
            self._sources |= names_in(table, "source")
            before = f"{name.rpartition('.')[2]:<12}  " if len(tables) > 1 else ""
            print_rows(table, text_of, self._time_of, sources=len(self._sources) > 1, before=before)
        sys.stdout.flush()


@contextmanager
def _json(source: Path) -> Iterator[_Sink]:
    """Print the document of `print_json`: the first table as it comes, the others from temporary files at the end."""
    sink = _Json(source)
    with ExitStack() as stack:
        sink.stack = stack
        yield sink
        sink.end()


class _Json:
    stack: ExitStack

    def __init__(self, source: Path) -> None:
        self._source = source
        self._begun: list[bool] = []
        self._places: list[IO[str]] = []
        self._names: list[str] = []

    def take(self, tables: Sequence[Decoded]) -> None:
        if not self._names:
            print(f'{{"file": {json_module.dumps(str(self._source))}, "tables": [')
            for name, _ in tables:
                place: IO[str] = sys.stdout
                if self._names:
                    place = self.stack.enter_context(TemporaryFile("w+", encoding="ascii"))  # noqa: SIM115 - it closes it
                self._names.append(name)
                self._places.append(place)
                self._begun.append(False)
                place.write(f'{{"name": {json_module.dumps(name)}, "rows": [\n')
        for number, (_, table) in enumerate(tables):
            place = self._places[number]
            for row in rows_of(table):
                place.write((",\n " if self._begun[number] else "") + json_row(row))
                self._begun[number] = True
        sys.stdout.flush()

    def end(self) -> None:
        for number, place in enumerate(self._places):
            if place is not sys.stdout:
                print(",")
                place.seek(0)
                shutil.copyfileobj(place, sys.stdout)
            print("\n]}", end="")
            if number == len(self._places) - 1:
                print()
        print("]}")


@contextmanager
def _files(output: Path, source: Path, *, force: bool) -> Iterator[_Sink]:
    """Write Parquet files, all of them or none."""
    with ExitStack() as stack:
        sink = _Files(output, source, stack, force=force)
        yield sink
        sink.end()


class _Files:
    def __init__(self, output: Path, source: Path, stack: ExitStack, *, force: bool) -> None:
        self._output, self._source, self._stack, self._force = output, source, stack, force
        self._writers: list[Any] = []
        self._held: list[list[Any]] = []

    def take(self, tables: Sequence[Decoded]) -> None:
        if not self._writers:
            places = places_of(self._output, [name for name, _ in tables])
            if not is_live(self._source):
                for place in places:
                    check_output(place, self._source, force=self._force)
            temporary = self._stack.enter_context(new_files(places, force=self._force))
            self._writers = [
                self._stack.enter_context(_TableWriter(path, table.schema))
                for path, (_, table) in zip(temporary, tables, strict=True)
            ]
            self._held = [[] for _ in tables]
        for held, (_, table), writer in zip(self._held, tables, self._writers, strict=True):
            for begin in range(0, len(table), _PART):  # a block may end all connections
                held.append(table.slice(begin, _PART))
                if sum(map(len, held)) >= _ROW_GROUP or sum(t.nbytes for t in held) >= _HELD_B:
                    self._write(writer, held)

    def end(self) -> None:
        for held, writer in zip(self._held, self._writers, strict=True):
            if held:
                self._write(writer, held)

    def _write(self, writer: Any, held: list[Any]) -> None:
        """Write small tables as one: a row group for each block of a pipe would cost ten times the space."""
        writer.write(_joined(held))
        held.clear()
