"""Propose decoders for a capture, the best first, each with its reasons."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from freezeframe.capture.files.choice import OpenSource
from freezeframe.decoders.contract import EDGES, Decoder
from freezeframe.decoders.guess import serial_rules, uart_rule
from freezeframe.decoders.guess.candidate import Candidate, Evidence, named_share, sentence
from freezeframe.decoders.guess.lines import Line, lines_of, sampled
from freezeframe.decoders.guess.names import fitting_probes
from freezeframe.decoders.guess.trial import Trial, try_spec
from freezeframe.decoders.registry import Registry

_MOST_CHANNELS = 64
_LEAST = 0.35  # below, a proposal is as likely noise
_SURE = 0.6
_USED_BEFORE = 0.4  # what a proposal is worth whose lines a better one explains
_STACKED = 0.9  # quality of what is put on top
_IDENTIFIERS = {"sfp": 0x03, "xfp": 0x06}  # SFF-8472 table 5-1, INF-8077i table 47: byte 0
# The first byte that RDID answers, of those who make such chips (JEP106, bank 1), and log2 of the
# size in bytes, which is the third: 64 KiB to 256 MiB.
_FLASH_MAKERS = frozenset(bytes.fromhex("01 1c 1f 20 37 62 68 85 89 8c 9d a1 bf c2 c8 ef f8"))
_FLASH_SIZES = range(16, 29)
_FLASH_READS = ("READ", "FAST_READ", "READ4", "FAST_READ4")
_DOUBT = "others fit as well: which chip it is, the signal does not say"
_RULES: Mapping[str, Callable[[Evidence, Decoder], Iterator[Candidate]]] = {
    "i2c": serial_rules.i2c,
    "mdio": serial_rules.mdio,
    "spi": serial_rules.spi,
    "jtag": serial_rules.jtag,
    "parallel": serial_rules.parallel,
    "uart": uart_rule.uart,
}


@dataclass(frozen=True, slots=True)
class Guess:
    """Proposals, the best first, and the lines they rest on; ``whole``: no edge was left out."""

    proposals: tuple[Candidate, ...]
    lines: tuple[Line, ...]
    edges: int
    whole: bool


def guess(source: OpenSource, registry: Registry) -> Guess:
    """Look at the first edges of a capture and say which of our decoders fit it.

    Sigrok's decoders are not proposed: nothing in them says when they have understood a signal.

    Raises:
        InputError: the capture cannot be read, or has no channel.
    """
    probes = source.header.channels
    native = registry.native
    named = _named_first(probes, list(native.values()))[:_MOST_CHANNELS]
    edges, whole = sampled(source.read(named))
    lines = lines_of(edges, named)
    moving = sorted((line for line in lines if len(line)), key=lambda line: -len(line))
    evidence = Evidence(edges, moving, tuple(probes), Registry(native))
    candidates = [
        candidate
        for name, rule in _RULES.items()
        if name in native
        for candidate in rule(evidence, native[name])
    ]
    candidates += _by_name(evidence)
    chosen = _ranked(candidates)
    return Guess(tuple(_with_stacks(chosen, evidence)), tuple(lines), len(edges), whole)


def _named_first(probes: Sequence[str], decoders: Sequence[Decoder]) -> list[str]:
    """Return the probes, those first that are called as a channel of some decoder."""
    wanted = {channel.id for decoder in decoders for channel in decoder.channels}
    return sorted(probes, key=lambda probe: probe.lower() not in wanted)


def _by_name(evidence: Evidence) -> Iterator[Candidate]:
    """Try every decoder without a rule of its own whose channels are all there by name."""
    there = evidence.edges.channels
    for decoder in evidence.registry.decoders.values():
        if decoder.consumes != EDGES or decoder.id in _RULES:
            continue
        probes = fitting_probes(decoder, there)
        if probes is None or named_share(decoder, probes)[0] < 1:
            continue
        spec, trial = evidence.trial(decoder, probes, {})
        if trial.good:
            reasons = [sentence(trial.good, "events", trial.bad)]
            yield evidence.candidate(decoder, spec, probes, trial.quality, reasons)


def _ranked(candidates: Sequence[Candidate]) -> list[Candidate]:
    """Return the best first; what uses lines that a better one explains counts for less."""
    left = sorted(candidates, key=lambda candidate: -candidate.score)
    chosen: list[Candidate] = []
    explained: set[str] = set()
    while left:
        best = left.pop(0)
        if best.score < _LEAST:
            break
        chosen.append(best)
        if best.score >= _SURE:
            explained |= set(best.probes)
            left = [
                replace(each, score=each.score * _USED_BEFORE)
                if explained & set(each.probes)
                else each
                for each in left
            ]
            left.sort(key=lambda candidate: -candidate.score)
    return chosen


def _with_stacks(chosen: Sequence[Candidate], evidence: Evidence) -> Iterator[Candidate]:
    """Add after each sure proposal what can be decoded on top of it with hardly an error."""
    for candidate in chosen:
        yield candidate
        if candidate.score < _SURE:
            continue
        name = candidate.spec.partition(":")[0]
        kinds = {output.kind for output in evidence.registry.decoders[name].produces}
        above = [d for d in evidence.registry.decoders.values() if d.consumes in kinds]
        stacked = []
        for decoder in above:
            spec = f"{candidate.spec}+{decoder.id}"
            trial = try_spec(spec, evidence.edges, evidence.registry)
            identified = _identified(decoder, trial)
            few = not trial.bad and (bool(identified) or _few_will_do(decoder, trial))
            if identified is False or not (trial.quality >= _STACKED or few):
                continue
            why = [f"on top of {name}: {sentence(trial.good, 'events', trial.bad)}"]
            if identified:
                why.append(_identity(decoder, trial))
            score = candidate.score * trial.quality
            stacked.append((bool(identified), Candidate(spec, score, candidate.probes, tuple(why))))
        stacked.sort(key=lambda each: (not each[0], -each[1].score))
        if stacked and stacked[0][0]:
            # It cannot be the other kind of module too.
            others = {f"{candidate.spec}+{kind}" for kind in _IDENTIFIERS}
            stacked = [(known, each) for known, each in stacked if known or each.spec not in others]
        for known, each in stacked:
            sure = known or len(stacked) == 1
            yield each if sure else replace(each, reasons=(*each.reasons, _DOUBT))


def _identified(decoder: Decoder, trial: Trial) -> bool | None:
    """Return whether a part says that it is of this decoder's kind; None where nothing is said."""
    if decoder.id == "spiflash" and trial.tables:
        answers = _flash_answers(trial)
        return all(map(_is_flash, answers)) if answers else None
    wanted = _IDENTIFIERS.get(decoder.id)
    if wanted is None or not trial.tables:
        return None
    fields = trial.rows(f"{decoder.id}.fields")
    read = fields.loc[(fields["name"] == "identifier") & (fields["kind"] == "field"), "value"]
    return bool((read == wanted).all()) if len(read) else None


def _identity(decoder: Decoder, trial: Trial) -> str:
    if decoder.id == "spiflash":
        return f"the chip answers RDID with {_flash_answers(trial)[0]:06x}, as a flash does"
    return f"the identifier byte is that of it, {_IDENTIFIERS[decoder.id]:02X}h"


def _flash_answers(trial: Trial) -> list[int]:
    rows = trial.rows("spiflash")
    return [int(value) for value in rows.loc[rows["op"] == "RDID", "value"] if value >= 0]


def _is_flash(answer: int) -> bool:
    return answer >> 16 in _FLASH_MAKERS and answer & 0xFF in _FLASH_SIZES


def _few_will_do(decoder: Decoder, trial: Trial) -> bool:
    """Return whether few events are enough: commands of a flash, each of the length that it has.

    One in five first bytes is such a command, so a single one is believed only if it reads.
    """
    if decoder.id != "spiflash" or not trial.tables:
        return False
    rows = trial.rows("spiflash")
    reads = rows["op"].isin(_FLASH_READS) & (rows["length_B"] > 0)
    return trial.good >= 2 or bool(reads.any())
