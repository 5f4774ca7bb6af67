"""Decode a file with decoders as the user writes them, and keep the tables.

Samples are read in pieces and each piece goes through all stacks before the next is read, so the
memory is that of the tables, whatever the length of the capture.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from freezeframe.capture.errors import InputError
from freezeframe.capture.files.choice import SourceChoice
from freezeframe.capture.files.open import is_samples
from freezeframe.capture.files.sigrok_sr import DEFAULT_MAX_SAMPLES
from freezeframe.capture.files.source import ReadSettings
from freezeframe.decoders.blame import blamed
from freezeframe.decoders.contract import CAPTURE, EDGES, Decoder
from freezeframe.decoders.registry import Registry, load_decoders, shortened
from freezeframe.decoders.spec import Stack, Step, match_channels, parse_spec

if TYPE_CHECKING:
    from concurrent.futures import Future, ThreadPoolExecutor

    import pyarrow as pa

    from freezeframe.capture.files.edges import Edges
    from freezeframe.capture.files.samples import Samples
    from freezeframe.capture.files.source import CaptureHeader
    from freezeframe.decoders.srd.stream import SrdStream

__all__ = ["Decoded", "StackRun", "decode_file"]

_SIGROK = "srd-"  # what the ids of its decoders begin with
_EDGES_AT_ONCE = 1 << 16  # calling a decoder costs as much as some thousand edges
_SAMPLES_AT_ONCE = 1 << 26  # a worker goes through all samples; it must not wait for many edges


class Decoded(NamedTuple):
    """A table and its name: that of the stack, with the kind where a decoder makes several."""

    name: str
    table: pa.Table


class StackRun:
    """A stack with the states of its decoders: fed with pieces, it collects the tables on top."""

    def __init__(self, stack: Stack) -> None:
        self._name = stack.name
        self._stack, self._states, self._streams = _prepared(stack)
        stack = self._stack
        self._tables: dict[str, list[pa.Table]] = {
            output.kind: [] for output in stack.steps[-1].decoder.produces
        }

    def feed(self, piece: Any, *, last: bool) -> None:
        """Put a piece through all decoders.

        Raises:
            InputError: a decoder gives something else than it declares.
        """
        from freezeframe.capture.files.samples import Samples

        top = len(self._states) - 1
        for level, (step, state) in enumerate(zip(self._stack.steps, self._states, strict=True)):
            decode = step.decoder.decode
            if isinstance(piece, Samples) and step.decoder.decode_samples is not None:
                decode = step.decoder.decode_samples
            with blamed(step.decoder, decode):
                made = _made(step, decode(piece, step.options, state, last))
            if level < top:
                piece = made[self._stack.steps[level + 1].decoder.consumes]
        for kind, table in made.items():
            self._tables[kind].append(table)

    def wanted(self, piece: Edges | Samples, probes: Sequence[str | None]) -> Edges | Samples:
        """Return what `feed` takes of a piece: these channels, and edges unless samples will do."""
        from freezeframe.capture.files.edges import Edges

        if not isinstance(piece, Edges) and self._stack.steps[0].decoder.decode_samples is None:
            piece = piece.edges()
        return piece.select(probes)

    @property
    def in_worker(self) -> bool:
        """Whether a process of its own does the work, so that others can go on meanwhile."""
        return bool(self._streams)

    @property
    def takes_samples(self) -> bool:
        """Whether a worker goes through all samples, also those where nothing changes."""
        return any(stream.takes_samples for stream in self._streams)

    def stop(self) -> None:
        """Let a `feed` that is under way in another thread fail soon."""
        for stream in self._streams:
            stream.stop()

    def close(self) -> None:
        """End what works for this run; after an error nothing must be left."""
        for stream in self._streams:
            stream.close()

    def tables(self) -> list[Decoded]:
        """Hand over all rows so far, one table for each kind that the decoder on top makes.

        They are no longer kept here: a billion samples can give more than fits twice.
        """
        name = self._name
        prefix = f"{self._stack.steps[-1].decoder.id}."
        return [
            Decoded(
                name if len(self._tables) == 1 else f"{name}.{kind.removeprefix(prefix)}",
                _in_one(tables),
            )
            for kind, tables in self._tables.items()
            if tables
        ]


def decode_file(
    path: str | Path,
    specs: Sequence[str],
    *,
    max_samples: int | None = None,
    samplerate_hz: int | None = None,
    progress: Callable[[int, int], None] | None = None,
    registry: Registry | None = None,
    source: SourceChoice | None = None,
) -> list[Decoded]:
    """Decode a capture folder (``NAME.ff``) or a capture of any format that `capture.files` reads.

    Args:
        specs: at least one ``NAME[:option=value,channel=PROBE...][+NAME...]``.
        max_samples: more samples than this are refused; None for the reader's default.
        samplerate_hz: used instead of the file's.
        progress: called with samples done and samples promised.
        registry: the decoders; by default all that are installed.
        source: format, channel names, thresholds and cut, where the file does not say.
    Returns:
        The tables in the order of ``specs``; names are made different with ``#2``, ``#3``.
    Raises:
        InputError: the file or a spec cannot be used, or they do not fit each other; also its
            subclasses CaptureFormatError and CaptureVersionError.
    """
    known = registry or load_decoders()
    stacks = [parse_spec(spec, known) for spec in specs]
    if not stacks:
        raise InputError("no decoder is named; `freezeframe decoders` lists them")
    file = Path(path)
    if not file.exists():
        raise InputError(f"{path}: there is no such file or folder")
    is_folder = file.is_dir() and not is_samples(file)
    _check_fit(file, CAPTURE if is_folder else EDGES, stacks, known)
    runs = [StackRun(stack) for stack in stacks]
    try:
        if is_folder:
            from freezeframe.capture.folder import CaptureFolder

            folder = CaptureFolder.open(file)
            for run in runs:
                run.feed(folder, last=True)
        else:
            _run_edges(
                file,
                stacks,
                runs,
                source or SourceChoice(),
                ReadSettings(
                    samplerate_hz=samplerate_hz, max_samples=max_samples, progress=progress
                ),
            )
    finally:
        for run in runs:
            run.close()
    return _different([decoded for run in runs for decoded in run.tables()])


def _run_edges(
    path: Path,
    stacks: Sequence[Stack],
    runs: Sequence[StackRun],
    source: SourceChoice,
    settings: ReadSettings,
) -> None:
    workers = [run for run in runs if run.in_worker]
    if any(run.takes_samples for run in workers) and settings.max_samples is None:
        # A worker goes through all samples, also where the file holds only changes.
        settings = replace(settings, max_samples=DEFAULT_MAX_SAMPLES)
    if not workers:
        settings = replace(settings, few_changes=_EDGES_AT_ONCE)
    chosen_source = source.open(path, settings)
    there = chosen_source.header.channels
    probes = [_probes(stack, chosen_source.header) for stack in stacks]
    wanted = {probe for chosen in probes for probe in chosen}
    # At least one: a decoder all of whose channels are optional and absent still gets time.
    names = [name for name in there if name in wanted] or there[:1]
    straight = any(stack.steps[0].decoder.decode_samples is not None for stack in stacks)
    pieces: Iterator[Edges] | Iterator[Samples | Edges] = (
        chosen_source.read_samples(names) if straight else None
    ) or chosen_source.read(names)
    at_once = _SAMPLES_AT_ONCE if workers else None
    # The workers run beside each other, and while the next piece is read.
    with _pool(len(workers)) as pool:
        begun: list[Future[None]] = []
        try:
            for piece, last in _gathered(pieces, at_once):
                fed = [
                    (run, run.wanted(piece, chosen))
                    for run, chosen in zip(runs, probes, strict=True)
                ]
                for done in begun:
                    done.result()
                begun = [
                    pool.submit(run.feed, part, last=last)
                    for run, part in fed
                    if pool is not None and run.in_worker
                ]
                for run, part in fed:
                    if not run.in_worker:
                        run.feed(part, last=last)
            for done in begun:
                done.result()
        except BaseException:
            # Else the pool would wait until they are through.
            for run in workers:
                run.stop()
            raise


def _pool(workers: int) -> AbstractContextManager[ThreadPoolExecutor | None]:
    """Return a thread for each worker; what has none need not wait until threads are loaded."""
    if not workers:
        return nullcontext()
    from concurrent.futures import ThreadPoolExecutor

    return ThreadPoolExecutor(workers)


def _probes(stack: Stack, header: CaptureHeader) -> tuple[str | None, ...]:
    """Return the probes of a stack.

    Raises:
        InputError: as `match_channels`; with what is in the file and cannot be read.
    """
    step = stack.steps[0]
    try:
        return match_channels(step.decoder, step.probes, header.channels)
    except InputError as error:
        refused = list(header.refused.items())[:3]
        if not refused:
            raise
        why = "; ".join(f"{name} cannot be read: {reason}" for name, reason in refused)
        raise InputError(f"{error}; {why}") from None


def _gathered(
    pieces: Iterator[Edges] | Iterator[Samples | Edges], samples_at_once: int | None
) -> Iterator[tuple[Edges | Samples, bool]]:
    """Join small pieces, of not many more samples than that, and add an empty last one.

    Samples stay samples where they change often, so that calling a decoder costs little beside
    going through them; else they become edges.
    """
    from freezeframe.capture.files.edges import Edges, join

    held: list[Edges] = []
    count = samples = 0
    first = True
    for piece in pieces:
        often = (
            not isinstance(piece, Edges)
            and samples_at_once is None
            and piece.changes(_EDGES_AT_ONCE) >= _EDGES_AT_ONCE
        )
        if often:
            if held:
                yield join(held), False
                held, count, samples = [], 0, 0
            yield piece, False
            continue
        held.append(piece if isinstance(piece, Edges) else piece.edges())
        count += len(held[-1])
        samples += held[-1].total_samples
        # The first at once: while its decoder loads its kernels, others go on to unpack.
        early = first and samples_at_once is None
        if early or count >= _EDGES_AT_ONCE or samples >= (samples_at_once or samples + 1):
            yield join(held), False
            held, count, samples, first = [], 0, 0, False
    # A reader gives at least one piece, so `piece` is bound.
    yield (join(held) if held else piece.after()), True


def _check_fit(path: Path, kind: str, stacks: Sequence[Stack], registry: Registry) -> None:
    what = "a capture folder" if kind == CAPTURE else "a file of samples"
    for stack in stacks:
        if stack.consumes == kind:
            continue
        fitting = sorted(name for name, d in registry.decoders.items() if d.consumes == kind)
        below = sorted(
            decoder.id
            for decoder in registry.decoders.values()
            if stack.consumes in decoder.stackable
        )
        hint = f"; stack it: {below[0]}+{stack.name}" if below else ""
        raise InputError(
            f"{path} is {what}, but {stack.steps[0].decoder.id} takes {stack.consumes}{hint}; "
            f"decoders for {what}: {shortened(fitting)}"
        )


def _prepared(stack: Stack) -> tuple[Stack, list[Any], list[SrdStream]]:
    """Return the stack with sigrok's decoders in one worker, its states, and those of workers."""
    if not any(step.decoder.id.startswith(_SIGROK) for step in stack.steps):
        return stack, [_new_state(step) for step in stack.steps], []
    # Only here: what drives the workers takes a while to import.
    from freezeframe.decoders.srd.stacking import joined
    from freezeframe.decoders.srd.stream import SrdStream

    stack = joined(stack)
    states = [_new_state(step) for step in stack.steps]
    return stack, states, [state for state in states if isinstance(state, SrdStream)]


def _new_state(step: Step) -> Any:
    with blamed(step.decoder, step.decoder.new_state):
        return step.decoder.new_state(step.options)


def _made(step: Step, made: Any) -> Mapping[str, pa.Table]:
    """Check what a decoder gave against what it declares."""
    import pyarrow as pa

    decoder = step.decoder
    kinds = [output.kind for output in decoder.produces]
    if not isinstance(made, Mapping):
        made = {kinds[0]: made}
    if sorted(made) != sorted(kinds):
        raise _broken(decoder, f"made {', '.join(sorted(made))}, but declares {', '.join(kinds)}")
    tables = {}
    for output in decoder.produces:
        table = made[output.kind]
        if isinstance(table, pa.RecordBatch):
            table = pa.Table.from_batches([table])
        if not isinstance(table, pa.Table):
            raise _broken(
                decoder, f"{output.kind} is a {type(table).__name__}, not a pyarrow Table"
            )
        want = output.schema()
        if not table.schema.equals(want):
            raise _broken(
                decoder, f"{output.kind} has columns {_columns(table.schema)}, not {_columns(want)}"
            )
        tables[output.kind] = table
    return tables


def _in_one(parts: list[pa.Table]) -> pa.Table:
    """Join tables column by column and empty ``parts``, so that only one column is there twice."""
    import pyarrow as pa

    parts[:] = [part for part in parts if len(part)] or parts[:1]
    if len(parts) == 1 and all(column.num_chunks == 1 for column in parts[0].columns):
        return parts.pop()  # to copy it takes as long as to make it
    whole = pa.concat_tables(parts)
    parts.clear()
    if not all(map(_one_dictionary, whole.columns)):
        whole = whole.unify_dictionaries()  # what it needs takes 0.01 s to load
    schema = whole.schema
    columns = []
    for _ in range(len(schema)):
        columns.append(whole.column(0).combine_chunks())
        whole = whole.remove_column(0)
    return pa.Table.from_arrays(columns, schema=schema)


def _one_dictionary(column: pa.ChunkedArray) -> bool:
    import pyarrow.types as kinds

    if not kinds.is_dictionary(column.type):
        return True
    return all(a.dictionary.equals(b.dictionary) for a, b in pairwise(column.chunks))


def _columns(schema: pa.Schema) -> str:
    return ", ".join(f"{field.name} {field.type}" for field in schema)


def _broken(decoder: Decoder, what: str) -> InputError:
    return InputError(f"decoder {decoder.id} is wrong: {what}; tell its author")


def _different(decoded: list[Decoded]) -> list[Decoded]:
    seen: dict[str, int] = {}
    result = []
    for name, table in decoded:
        seen[name] = seen.get(name, 0) + 1
        result.append(Decoded(name if seen[name] == 1 else f"{name}#{seen[name]}", table))
    return result
