"""The parsers and servers that ``make harden`` attacks: seeds, how one is fed, and inputs that keep its structure."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from freezeframe.capture.counters.alarms import parse_alarm
from freezeframe.capture.errors import FreezeframeError
from freezeframe.capture.recorder.trigger import parse_term
from freezeframe.capture.targets.etherbone_codec import Malformed
from freezeframe.decoders.query.words import ExpressionError
from tests.campaign import harden_cards as cards
from tests.campaign import harden_evidence as evidence
from tests.campaign import harden_files as made
from tests.campaign import harden_grammar as grammar
from tests.campaign import harden_oracles as oracles
from tests.campaign import harden_packets as packets
from tests.campaign import harden_records as records
from tests.campaign import harden_servers as servers
from tests.campaign import harden_sigrok as sigrok
from tests.campaign import harden_tables as tables
from tests.campaign import harden_texts as texts
from tests.campaign import harden_waves as waves
from tests.campaign.harden_files import samples
from tests.campaign.harden_texts import of_text

ALLOWED: tuple[type[Exception], ...] = (FreezeframeError, ExpressionError, Malformed)

Structured = Callable[[random.Random, bytes, made.Mutate], bytes]


def _nothing_s() -> float:
    return 0.0


def _without(rng: random.Random, data: bytes, mutate: made.Mutate) -> bytes:
    return mutate(data)


@dataclass(frozen=True, slots=True)
class Parser:
    """One parser.

    Attributes:
        seeds: inputs, most of which are read.
        run: takes an input and returns what it made of it, in a word.
        files: ends of the paths of its own modules, for coverage.
        structured: makes an input whose frame is right and whose content is not.
        cost: how many times as long an execution takes as that of a fast parser.
        heavy: compiles kernels or starts processes, so it is left out of the short form.
        others_s: seconds of the processor that other processes have taken for it so far.
    """

    name: str
    seeds: Callable[[], Sequence[bytes]]
    run: Callable[[bytes], object]
    files: tuple[str, ...]
    structured: Structured = _without
    cost: int = 1
    heavy: bool = False
    others_s: Callable[[], float] = _nothing_s


def _held(*seeds: bytes) -> Callable[[], Sequence[bytes]]:
    return lambda: seeds


def _file(
    name: str, seeds: Sequence[bytes], run: Callable[[bytes], object], files: str, structured: Structured,
    others_s: Callable[[], float] = _nothing_s,
) -> Parser:  # fmt: skip
    """Return a reader of files of samples; ``files``: of its folder."""
    own = tuple(f"capture/files/{file}.py" for file in files.split())
    return Parser(name, _held(*seeds), run, own, structured, 10, True, others_s)


_TIMES = 1 << 50
_PARSERS = (
    Parser("etherbone", _held(*texts.ETHERBONE), texts.etherbone, ("targets/etherbone_codec.py",), grammar.etherbone),
    Parser("uartbone", _held(*texts.UARTBONE), texts.commands, ("targets/uartbone_codec.py",), grammar.uartbone),
    Parser("console", _held(texts.CONSOLE), texts.console, ("console/lines.py", "console/dump.py"),
           grammar.console_lines, 10),
    Parser("trigger", _held(*texts.TERMS), of_text(parse_term), ("recorder/trigger.py", "registers/trigger_term.py"),
           grammar.term),
    Parser("filter", _held(*texts.FILTERS), of_text(texts.filtered), ("query/parse.py", "query/evaluate.py"),
           grammar.expression, 4),
    Parser("host trace", _held(texts.HOST), texts.host_trace, ("host/lines.py", "host/table.py"),
           texts.other_values, 8),
    Parser("card file", cards.seeds, cards.run, ("card/reading.py", "card/tables.py", "card/references.py",
           "card/sequences.py", "card/trigger_parts.py", "card/elaborated.py"), cards.changed, 20),
    Parser("recording", evidence.journal_seed, evidence.journal_run, ("capture/journal.py", "counters/recorded.py"),
           evidence.whole_frames, 8),
    Parser("ff.zip", evidence.archive_seeds, evidence.archive_run, ("folder/one_file.py", "_zip_members.py",
           "folder/salvage.py"), evidence.changed_archive, 40),
    Parser("http", _held(*texts.HTTP), servers.http, ("metrics/http.py",), grammar.request, 20),
    _file("sr", made.SR, samples("x.sr", values=oracles.sr), "sigrok_sr sigrok_header _zip_members", made.in_archive),
    _file("vcd", (texts.VCD,), samples("x.vcd"), "vcd", texts.other_values),
    _file("csv", (texts.CSV,), samples("x.csv", most=_TIMES), "csv_table csv_sniff", texts.other_values),
    _file("litescope", made.LITESCOPE, samples("x.dump", "litescope"), "litescope", made.litescope),
    _file("saleae", made.SALEAE, samples("one.bin", most=_TIMES), "saleae", made.saleae),
    _file("wav", made.WAV, samples("x.wav", values=oracles.wav), "wav levels", made.wav),
    _file("isf", made.ISF, samples("x.isf"), "isf levels", made.isf),
    _file("binary", (bytes(range(200)),), samples("x.bin", "binary:channels=9,rate=1000000", values=oracles.binary),
          "raw_binary", grammar.whole_samples),
    _file("fst", waves.FST, waves.run("x.fst"), "fst fst_sections wave_worker", waves.fst, waves.children_s),
    _file("ghw", waves.GHW, waves.run("x.ghw"), "fst wave_worker", waves.ghw, waves.children_s),
    Parser("manifest", evidence.manifest_seed, evidence.folder_run, ("folder/reader.py", "folder/raw_files.py"),
           evidence.changed_manifest, 100, True),
    Parser("records", records.seeds, records.read, ("trace/memory.py",), records.changed, 10, True),
    Parser("diagnosis", records.seeds, records.explained, ("trace/decode.py", "trace/words.py", "trace/events.py",
           "analyzers/explain.py"), records.changed, 400, True),
    Parser("tables", tables.seeds, tables.run, ("files/edge_table.py",), tables.changed, 40, True),
    Parser("sigrok", sigrok.seeds, sigrok.run, ("srd/trials.py", "srd/stream.py", "srd/expand.py", "srd/process.py",
           "decoders/worker_process.py"), sigrok.changed, 100, True, sigrok.others_s),
    Parser("etherbone server", _held(*texts.ETHERBONE), servers.etherbone, ("targets/server.py",),
           grammar.etherbone, 2),
    Parser("uart server", _held(*texts.UARTBONE), servers.uart, ("targets/uart_server.py",), grammar.uartbone, 2),
    Parser("target URL", _held(*texts.URLS), of_text(texts.target), ("targets/_url.py",), grammar.url),
    Parser("decoder spec", _held(*texts.SPECS), of_text(texts.stack), ("decoders/spec.py",), grammar.spec, 4),
    Parser("alarm", _held(*texts.ALARMS), of_text(parse_alarm), ("counters/alarms.py",), grammar.alarm),
    Parser("packets", _held(*packets.PACKETS), packets.run, ("packets/file.py", "packets/section.py"),
           packets.structured, 10, True),
    _file("dsl", (texts.DSL_FILE,), samples("x.dsl"), "dsl _zip_members", made.in_archive),
)  # fmt: skip
PARSERS: dict[str, Parser] = {parser.name: parser for parser in _PARSERS}
