"""What a few recordings of a card show: do taps agree, does each bit of a memory move, do counts and levels fit."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt

from freezeframe.analyzers.bringup.takes import Take
from freezeframe.analyzers.conservation.terms import LATE_WORDS
from freezeframe.analyzers.witness.case import Case
from freezeframe.analyzers.witness.readings import LATE_CYCLES
from freezeframe.capture.card.roles import Way
from freezeframe.capture.qualification import Check
from freezeframe.capture.registers.layouts import Kind
from freezeframe.capture.timebase import PS_PER_S

_DATA_B = 8
_LEAST_WORDS = 256  # of which a bit that never changed is none of chance
_WORDS = (Kind.HEAD, Kind.BODY, Kind.TAIL)
_COUNTER = 1 << 32


def agreement(takes: Sequence[Take]) -> Iterator[Check]:
    """Yield, for every two taps that are neighbours, whether they hold the same packets."""
    words: dict[tuple[str, str], int] = defaultdict(int)
    packets: dict[tuple[str, str], int] = defaultdict(int)
    wrong: dict[tuple[str, str], int] = defaultdict(int)
    for each in takes:
        for _, _, _, diff in each.facts.differences():
            key = (diff.up.source, diff.down.source)
            words[key] += diff.words_compared
            packets[key] += len(diff.pairs)
            wrong[key] += (
                len(diff.differing) + len(diff.missing) + len(diff.extra) + len(diff.reordered)
            )
    for (up, down), compared in words.items():
        bad, of = wrong[up, down], packets[up, down]
        how = f"{of:,} packets, {compared:,} words" + (
            f"; {bad:,} packets differ" if bad else ", all equal"
        )
        device, _, tap = down.partition(".")
        yield Check("taps", device, tap, not bad, len(takes), f"{up} and {down}: {how}", bad)


def bits(takes: Sequence[Take]) -> Iterator[Check]:
    """Yield, for each tap's memory, which bits of the data were read as both 0 and 1; and how many cells were."""
    for device, tap in _taps(takes):
        ones, zeros, cells_1, cells_0, words = _seen(takes, device, tap)
        if words < _LEAST_WORDS:
            continue
        stuck = ~(ones & zeros) & (1 << 8 * _DATA_B) - 1
        both = int(np.unpackbits(cells_1 & cells_0).sum())
        share = both / (8 * cells_1.size)
        said = ", ".join(
            f"bit {bit} is always {ones >> bit & 1}"
            for bit in range(8 * _DATA_B)
            if stuck >> bit & 1
        )
        text = f"{device}.{tap}: {words:,} words, {said or 'each of 64 bits was 0 and 1'}; "
        text += f"{100 * share:.0f} % of its cells were read as both"
        yield Check("bits", device, tap, not stuck, len(takes), text, stuck)


def _seen(
    takes: Sequence[Take], device: str, tap: str
) -> tuple[int, int, npt.NDArray[np.uint8], npt.NDArray[np.uint8], int]:
    """Return the bits that were 1, those that were 0, both for each slot, and how many words were read."""
    images = [each.folder.device(device).memories[tap] for each in takes]
    ones = np.zeros((len(images[0].records), _DATA_B), np.uint8)
    zeros = np.zeros_like(ones)
    words = 0
    for image in images:
        slots = image.slots_in_order()
        slots = slots[np.isin(image.records[slots, _DATA_B] & 15, _WORDS)]
        data = image.records[slots, :_DATA_B]
        ones[slots] |= data
        zeros[slots] |= ~data
        words += len(slots)
    any_1, any_0 = (np.bitwise_or.reduce(each, axis=0).tobytes() for each in (ones, zeros))
    return int.from_bytes(any_1, "little"), int.from_bytes(any_0, "little"), ones, zeros, words


def pointers(takes: Sequence[Take]) -> Iterator[Check]:
    """Yield, for each memory, whether write pointer and wrapped follow from the count of stored records."""
    for device in takes[0].folder.devices:
        for memory, first in device.memories.items():
            number, depth = device.roles.memories.index(memory), len(first.records)
            bad = ""
            for each in takes:
                image = each.folder.device(device.name).memories[memory]
                stored = each.folder.device(device.name).registers.value("memory.stored", number)
                if stored is None or (image.write_ptr, bool(image.wrapped)) != (
                    stored % depth,
                    stored >= depth,
                ):
                    bad = f"; {stored} records stored, but pointer {image.write_ptr}, wrapped {image.wrapped}"
            text = f"{device.name}.{memory}: pointer and wrapped fit the records stored, depth {depth}{bad}"
            yield Check("pointer", device.name, memory, not bad, len(takes), text)


def counts(takes: Sequence[Take]) -> Iterator[Check]:
    """Yield, for each tap, whether its counter grew by no less than the words that its memory was offered."""
    for device, tap in _taps(takes):
        off = []
        for each in takes:
            capture = each.folder.device(device)
            grown = _grown(each.before, each, device, "words", tap)
            offered = capture.registers.value("memory.offered", capture.roles.memories.index(tap))
            if (
                grown is not None
                and offered is not None
                and each.before is not None
                and each.before.held
            ):
                off.append(grown - offered)
        if off:
            text = f"{device}.{tap}: the counter of words counts {_span(off)} beside those its memory was offered"
            yield Check("count", device, tap, min(off) >= 0, len(off), text, min(off))


def levels(takes: Sequence[Take]) -> Iterator[Check]:
    """Yield, for each FIFO, whether its level at a held freeze is what went in less what came out since the arm."""
    for device, way in _ways(takes[0]):
        off, most = [], 0
        for each in takes:
            missing = _missing(each.before, each, device, way)
            if each.before is not None and each.before.held and each.held and missing is not None:
                off.append(-missing)
                most = max(most, each.facts.view.value(device, f"frozen.{way.level}") or 0)
        if off:
            worst = max(off, key=abs)
            how = f"{_span(off)} words beside" if worst else "just"
            text = f"{device}.{way.level}: held, with up to {most} words in it, it is {how} what went in less what left"
            yield Check("level", device, way.level, not worst, len(off), text, worst)


def lateness(takes: Sequence[Take]) -> Iterator[Check]:
    """Yield, for each FIFO, by how many words its level is beside its taps' counters while words move through it.

    Args:
        takes: the first was made behind a held one; the others run on from it.
    """
    base = takes[0].before
    for device, way in _ways(takes[0]):
        off = [-m for each in takes if (m := _missing(base, each, device, way)) is not None]
        if off:
            worst = max(map(abs, off))
            text = (
                f"{device}.{way.level}: while words move it is {_span(off)} words beside the counters of its taps; "
                f"{LATE_WORDS} are allowed for"
            )
            yield Check("late", device, way.level, worst <= LATE_WORDS, len(off), text, worst)


def checker(each: Take, receiver: str, check: str) -> Iterator[Check]:
    """Yield whether an error that was sent on purpose is counted, and whether and how fast it freezes the card."""
    roles = each.facts.view.roles
    counter, cause = roles.counter(check), roles.cause(check)
    if counter:
        grown = _grown(each.before, each, receiver, check, "")
        text = f"{receiver}: a packet with {check} sent on purpose: {counter} counted {grown}"
        yield Check("checker", receiver, check, grown == 1, 1, text, grown)
    if cause:
        raised = cause in each.facts.view.causes(receiver)
        least, late = _late_cycles(each, receiver) if raised else (None, None)
        how = "did not freeze for it" if not raised else f"froze for {cause}"
        if late is not None:
            how += f" at most {late} bus cycles after its last word; {LATE_CYCLES} are allowed for"
        fine = raised and (least is None or least <= LATE_CYCLES)
        yield Check("cause", receiver, check, fine, 1, f"{receiver}: with {check}: {how}", late)


def _late_cycles(each: Take, receiver: str) -> tuple[int | None, int | None]:
    """Return how long after the bad packet's end its cause came at least and at most; None where it is not recorded."""
    stream = each.facts.view.stream(receiver, each.facts.view.roles.rx.entry)
    caused_ps, unc_ps = each.facts.caused(receiver)
    bad = [packet for packet in stream.packets if packet.bad] if stream is not None else []
    if stream is None or not bad or caused_ps is None or unc_ps is None:
        return None, None
    end_ps, end_unc = stream.when(bad[-1].end - 1)
    if end_unc is None:
        return None, None
    clk_hz = each.folder.device(receiver).identity.clk_bus
    late_ps, doubt_ps = caused_ps - end_ps, unc_ps + end_unc
    least_ps, most_ps = max(0, late_ps - doubt_ps), max(0, late_ps + doubt_ps)
    return least_ps * clk_hz // PS_PER_S, -(-most_ps * clk_hz // PS_PER_S)


def laws(takes: Sequence[Take]) -> Iterator[Check]:
    """Yield each law of the card that could be asked, and in how many recordings it held."""
    held: dict[tuple[str, str], list[bool]] = defaultdict(list)
    why: dict[tuple[str, str], str] = {}
    for each in takes:
        for law in Case(each.facts).laws:
            if law.state == "not checkable":
                continue
            key = (law.subject.device, law.law.name)
            held[key].append(law.state == "holds")
            if law.state == "broken":
                why[key] = f"{law.subject.text}: {law.why}"
    for (device, name), said in held.items():
        text = f"{device}: {name}: held {sum(said)} of {len(said)} times"
        if (device, name) in why:
            text += f"; {why[device, name]}"
        yield Check("law", device, name, all(said), len(said), text)


def _taps(takes: Sequence[Take]) -> Iterator[tuple[str, str]]:
    for device in takes[0].folder.devices:
        for tap in device.roles.taps:
            if all(tap in each.folder.device(device.name).memories for each in takes):
                yield device.name, tap


def _ways(each: Take) -> Iterator[tuple[str, Way]]:
    for device in each.folder.devices:
        for way in device.roles.ways:
            if way.level:
                yield device.name, way


def _span(off: Sequence[int]) -> str:
    return f"{min(off):+}" if min(off) == max(off) else f"{min(off):+} to {max(off):+}"


def _grown(before: Take | None, each: Take, device: str, counts: str, tap: str) -> int | None:
    """Return by how much a counter of a meaning grew since an earlier freeze; None where it was not read."""
    if before is None:
        return None
    name = each.facts.view.roles.counter(counts, tap)
    first, last = (taken.folder.device(device).counter(name) for taken in (before, each))
    return None if first is None or last is None else last - first


def _missing(before: Take | None, each: Take, device: str, way: Way) -> int | None:
    """Return how many words of those that a FIFO took in since a held freeze neither came out nor are in it."""
    entered, left = (_grown(before, each, device, "words", tap) for tap in way.taps)
    level = each.facts.view.value(device, f"frozen.{way.level}")
    if entered is None or left is None or level is None:
        return None
    return (entered - left - level + _COUNTER // 2) % _COUNTER - _COUNTER // 2
