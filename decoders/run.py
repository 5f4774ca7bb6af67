"""Decode a file with decoders as the user writes them, and keep the tables.

Samples are read in pieces and each piece goes through all stacks before the next is read, so the
memory is that of the tables, whatever the length of the capture.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

from freezeframe.capture.code import code
from freezeframe.capture.errors import InputError
from freezeframe.capture.files.bytes_of import refuse_empty
from freezeframe.capture.files.choice import SourceChoice
from freezeframe.capture.files.edges import Edges, join
from freezeframe.capture.files.open import is_samples
from freezeframe.capture.files.samples import Samples
from freezeframe.capture.files.sigrok_sr import DEFAULT_MAX_SAMPLES
from freezeframe.capture.files.source import CaptureHeader, ReadSettings
from freezeframe.capture.folder.one_file import place_of
from freezeframe.capture.packets.recognise import is_live, is_packets
from freezeframe.capture.targets.given_as_file import missing
from freezeframe.decoders.columns import table_in_samples
from freezeframe.decoders.contract import CAPTURE, EDGES, PACKETS
from freezeframe.decoders.registry import Registry, load_decoders, shortened
from freezeframe.decoders.spec import Stack, Step, match_channels, parse_spec
from freezeframe.decoders.stack_run import Decoded, StackRun

__all__ = ["Decoded", "StackRun", "decode_file"]

_open_folder = code("freezeframe.capture.folder.reader:as_recording")  # not for samples
_is_card_folder = code("freezeframe.capture.folder.of_cards:is_card_folder")
_packet_blocks = code("freezeframe.capture.packets.source:packet_blocks")
_WHAT = {CAPTURE: "a capture folder", EDGES: "a file of samples", PACKETS: "a source of packets"}
_EDGES_AT_ONCE = 1 << 16  # calling a decoder costs as much as some thousand edges
_SAMPLES_AT_ONCE = 1 << 26  # a worker goes through all samples; it must not wait for many edges


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
    """Decode a capture folder (``NAME.ff``), a capture of any format that `capture.files` reads, or packets.

    All rows of all tables are kept; `freezeframe.decoders.packet_run` hands those of packets on block by block.

    Args:
        specs: at least one ``NAME[:option=value,channel=PROBE...][+NAME...]``.
        max_samples: more samples than this are refused; None for the reader's default.
        samplerate_hz: used instead of the file's.
        progress: called with samples done and samples promised.
        registry: the decoders; by default all that are installed.
        source: format, channel names, thresholds and cut, where the file does not say.
    Returns:
        The tables in the order of ``specs``; names are made different with ``#2``, ``#3``. Of a
        capture without sample rate, ``t_ps`` is a number of samples, and the table says so
        (`columns.is_in_samples`).
    Raises:
        InputError: the file or a spec cannot be used, or they do not fit each other; also its
            subclasses CaptureFormatError and CaptureVersionError.
    """
    known = registry or load_decoders()
    stacks = [parse_spec(spec, known) for spec in specs]
    if not stacks:
        raise InputError("no decoder is named; `freezeframe decoders` lists them")
    file = Path(path)
    if not is_live(path) and not file.exists():
        raise InputError(missing(path))
    if is_packets(path):
        check_fit(path, PACKETS, stacks, known)
        return _decode_packets(path, stacks, progress, None if source is None else source.note)
    refuse_empty(file)
    file = place_of(file)
    is_folder = file.is_dir() and not is_samples(file)
    if is_folder and _is_card_folder(file):
        raise InputError(
            f"{path}: is the recording of a card that is described by a file, which no decoder of -d reads: "
            f"freezeframe decode {path}, without -d, prints its packets and events; explain, check and analyze "
            "say what they mean"
        )
    check_fit(file, CAPTURE if is_folder else EDGES, stacks, known)
    runs = [StackRun(stack) for stack in stacks]
    in_samples = False
    try:
        if is_folder:
            folder = _open_folder(file)
            for run in runs:
                run.feed(folder, last=True)
        else:
            settings = ReadSettings(
                samplerate_hz=samplerate_hz, max_samples=max_samples, progress=progress
            )
            in_samples = not _decode_samples(file, stacks, runs, source or SourceChoice(), settings)
    finally:
        for run in runs:
            run.close()
    tables = [decoded for run in runs for decoded in run.tables()]
    if in_samples:
        tables = [Decoded(name, table_in_samples(table)) for name, table in tables]
    return with_different_names(tables)


def _decode_packets(
    path: str | Path,
    stacks: Sequence[Stack],
    progress: Callable[[int, int], None] | None,
    note: Callable[[str], None] | None,
) -> list[Decoded]:
    runs = [StackRun(stack) for stack in stacks]
    for block, last in _packet_blocks(path, progress, note):
        for run in runs:
            run.feed(block, last=last)
    return with_different_names([decoded for run in runs for decoded in run.tables()])


def check_fit(path: object, kind: str, stacks: Sequence[Stack], registry: Registry) -> None:
    """Refuse decoders that do not take what is in a file.

    Raises:
        InputError: one does not.
    """
    what = _WHAT[kind]
    for stack in stacks:
        if stack.consumes == kind:
            continue
        decoders = registry.decoders.values()
        fitting = [decoder.id for decoder in decoders if decoder.consumes == kind]
        below = sorted(decoder.id for decoder in decoders if stack.consumes in decoder.stackable)
        hint = f"; stack it: {below[0]}+{stack.name}" if below else ""
        raise InputError(
            f"{path} is {what}, but {stack.steps[0].decoder.id} takes {stack.consumes}{hint}; "
            f"decoders for {what}: {shortened(fitting)}"
        )


def _decode_samples(
    path: Path,
    stacks: Sequence[Stack],
    runs: Sequence[StackRun],
    choice: SourceChoice,
    settings: ReadSettings,
) -> bool:
    """Read the file once and feed all runs with it; workers run beside each other, and while the
    next piece is read. Returns whether it has a sample rate."""
    workers = [run for run in runs if run.in_worker]
    if any(run.takes_samples for run in workers) and settings.max_samples is None:
        # A worker goes through all samples, also where the file holds only changes.
        settings = replace(settings, max_samples=DEFAULT_MAX_SAMPLES)
    if not workers:
        settings = replace(settings, few_changes=_EDGES_AT_ONCE)
    source = choice.open(path, settings)
    probes = [_probes(stack, source.header) for stack in stacks]
    wanted = {probe for chosen in probes for probe in chosen}
    channels = source.header.channels
    # At least one: a decoder all of whose channels are optional and absent still gets time.
    names = [name for name in channels if name in wanted] or channels[:1]
    take_samples = any(stack.steps[0].decoder.decode_samples is not None for stack in stacks)
    pieces: Iterable[Samples | Edges] = (
        source.read_samples(names) if take_samples else None
    ) or source.read(names)
    with ThreadPoolExecutor(max(1, len(workers))) as pool:
        working: list[Future[None]] = []
        try:
            for piece, last in _gathered(pieces, _SAMPLES_AT_ONCE if workers else None):
                fed = [
                    (run, run.wanted(piece, chosen))
                    for run, chosen in zip(runs, probes, strict=True)
                ]
                for future in working:
                    future.result()
                working = [
                    pool.submit(run.feed, part, last=last) for run, part in fed if run.in_worker
                ]
                for run, part in fed:
                    if not run.in_worker:
                        run.feed(part, last=last)
            for future in working:
                future.result()
        except BaseException:
            for run in workers:  # else the pool would wait until they are through
                run.stop()
            raise
    return source.header.samplerate_hz is not None


def _probes(stack: Stack, header: CaptureHeader) -> tuple[str | None, ...]:
    """Return the probes of a stack.

    Raises:
        InputError: as `match_channels`; with what is in the file and cannot be read.
    """
    step = stack.steps[0]
    try:
        return match_channels(step.decoder, step_probes(step, header), header.channels)
    except InputError as error:
        refused = list(header.refused.items())[:3]
        if not refused:
            raise
        why = "; ".join(f"{name} cannot be read: {reason}" for name, reason in refused)
        raise InputError(f"{error}; {why}") from None


def step_probes(step: Step, header: CaptureHeader) -> dict[str, str]:
    """Return what the user said of a step's channels, with the names that the capture shows."""
    return {channel: header.channel_of(probe) for channel, probe in step.probes.items()}


def _gathered(
    pieces: Iterable[Samples | Edges], samples_at_once: int | None
) -> Iterator[tuple[Edges | Samples, bool]]:
    """Join small pieces, of not many more samples than that, and add an empty last one.

    Samples stay samples where they change often, so that calling a decoder costs little beside
    going through them; else they become edges.
    """
    held: list[Edges] = []
    held_edges = held_samples = 0
    first = True
    for piece in pieces:
        if isinstance(piece, Samples):
            if samples_at_once is None and piece.changes(_EDGES_AT_ONCE) >= _EDGES_AT_ONCE:
                if held:
                    yield join(held), False
                    held, held_edges, held_samples = [], 0, 0
                yield piece, False
                continue
            held.append(piece.edges())
        else:
            held.append(piece)
        held_edges += len(held[-1])
        held_samples += held[-1].total_samples
        # The first at once: while its decoder loads its kernels, others go on to unpack.
        early = first and samples_at_once is None
        full = samples_at_once is not None and held_samples >= samples_at_once
        if early or full or held_edges >= _EDGES_AT_ONCE:
            yield join(held), False
            held, held_edges, held_samples, first = [], 0, 0, False
    # A reader gives at least one piece, so `piece` is bound.
    yield (join(held) if held else piece.after()), True


def with_different_names(decoded: Sequence[Decoded]) -> list[Decoded]:
    """Return the tables with ``#2``, ``#3`` behind names that came before."""
    times: Counter[str] = Counter()
    named = []
    for name, table in decoded:
        times[name] += 1
        named.append(Decoded(name if times[name] == 1 else f"{name}#{times[name]}", table))
    return named
