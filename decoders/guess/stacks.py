"""What stands on a bus that is proposed: parts whose commands or pages its transfers make sense as."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from freezeframe.decoders.contract import Decoder
from freezeframe.decoders.guess.candidate import Candidate, Evidence
from freezeframe.decoders.guess.trial import Trial, try_spec

_QUALITY = 0.9  # of what is put on top
_IDENTIFIERS = {"sfp": 0x03, "xfp": 0x06}  # SFF-8472 table 5-1, INF-8077i table 47: byte 0
# The first byte that RDID answers, of those who make such chips (JEP106, bank 1), and log2 of the
# size in bytes, which is the third: 64 KiB to 256 MiB.
_FLASH_MAKERS = frozenset(bytes.fromhex("01 1c 1f 20 37 62 68 85 89 8c 9d a1 bf c2 c8 ef f8"))
_FLASH_SIZES = range(16, 29)
_FLASH_READS = ("READ", "FAST_READ", "READ4", "FAST_READ4")
_DOUBT = "others fit as well: which chip it is, the signal does not say"


def stacks(candidate: Candidate, evidence: Evidence) -> Iterator[Candidate]:
    """Yield what can be decoded on top of a proposal with hardly an error."""
    name = candidate.spec.partition(":")[0]
    kinds = {output.kind for output in evidence.registry.decoders[name].produces}
    stacked = []
    for decoder in evidence.registry.decoders.values():
        if decoder.consumes not in kinds:
            continue
        spec = f"{candidate.spec}+{decoder.id}"
        trial = try_spec(spec, evidence.edges, evidence.registry, whole=evidence.whole)
        identified = _identified(decoder, trial)
        few = not trial.bad and (bool(identified) or _few_will_do(decoder, trial))
        counted = trial.counted()
        if identified is False or counted is None or not (trial.quality >= _QUALITY or few):
            continue
        why = [f"on {name}: {counted.text('event', 'events')}"]
        if identified:
            why.append(_identity(decoder, trial))
        score = candidate.score * trial.quality
        told = Candidate(spec, score, candidate.probes, tuple(why), counted=counted)
        stacked.append((bool(identified), told))
    stacked.sort(key=lambda each: (not each[0], -each[1].score))
    if stacked and stacked[0][0]:
        # It cannot be the other kind of module too.
        others = {f"{candidate.spec}+{kind}" for kind in _IDENTIFIERS}
        stacked = [(known, each) for known, each in stacked if known or each.spec not in others]
    for known, each in stacked:
        sure = known or len(stacked) == 1
        yield each if sure else replace(each, against=(*each.against, _DOUBT))


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
    return rows["op"].nunique() >= 2 or bool(reads.any())
