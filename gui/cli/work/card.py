"""``freezeframe card``: begin, check, show, build and compare card files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from freezeframe.capture.card.build.outputs import outputs, stale
from freezeframe.capture.card.build.ports import module_name
from freezeframe.capture.card.differences import differences
from freezeframe.capture.card.elaborated import (
    BLOCK_RAM_RECORDS,
    RECORD_BITS,
    ElaboratedCard,
    ElaboratedLaw,
    ElaboratedSource,
    elaborate,
)
from freezeframe.capture.card.reading import parse_card, read_card
from freezeframe.capture.card.shipped import card_schema, shipped_cards
from freezeframe.capture.card.tables import States
from freezeframe.capture.count_text import plural
from freezeframe.capture.errors import InputError
from freezeframe.capture.nearest import meant
from freezeframe.gui.cli.output import emit_json, table
from freezeframe.gui.places import refuse_taken, write_whole
from freezeframe.gui.text import printable

# The largest FPGAs of 2026 have less than 1 Gbit on the chip, block RAM and UltraRAM together: 29,127 of 36 Kbit.
_MOST_BLOCK_RAMS = (1 << 30) // (BLOCK_RAM_RECORDS * RECORD_BITS)


def act(
    action: str,
    file: Path | None,
    other: Path | None,
    output: Path | None,
    begin_from: str,
    *,
    check: bool,
    force: bool,
    json: bool,
) -> None:
    """Do what is asked with a card file.

    Raises:
        InputError: no file is named, it cannot be read or written, or it says what a card cannot be.
    """
    if action == "schema":
        emit_json(card_schema())
        return
    if file is None:
        raise InputError(
            f"card {action}: name the card file, for instance: freezeframe card {action} mac.toml"
        )
    if action == "new":
        _begin(file, begin_from, force)
        return
    card = elaborate(read_card(file))
    if action == "diff":
        _diff(card, file, other, json=json)
    elif action == "build":
        _build(card, output or Path(card.name), check=check, force=force, json=json)
    elif json:
        emit_json(_document(card))
    elif action == "check":
        if card.map != 1:
            outputs(card)  # what only the device's Verilog shows: names that are taken
        print(f"{printable(file)}: {_summary(card)}")
    else:
        print(_text(card))


def _begin(file: Path, begin_from: str, force: bool) -> None:
    shipped = shipped_cards()
    if begin_from not in shipped:
        hint = meant(begin_from, shipped)
        raise InputError(f"--from {begin_from}: no card of that name ships; {hint}")
    refuse_taken(file, force, "mac.toml")
    name = file.stem.lower().replace("_", "-")
    shipped_text = shipped[begin_from].read_text("utf-8")
    text = shipped_text.replace(f'name = "{begin_from}"', f'name = "{name}"', 1)
    text = text.replace(f'far_end = "{begin_from}:', f'far_end = "{name}:')
    card = elaborate(
        parse_card(text, f"{file} (not written)")
    )  # its name may be none that a card can have
    write_whole(file, text.encode())
    print(f"{printable(file)}: {_summary(card)}")
    print(f"Make it your card's, then: freezeframe card check {printable(file)}")


def _build(card: ElaboratedCard, folder: Path, *, check: bool, force: bool, json: bool) -> None:
    if card.map == 1:
        raise InputError(
            f"card build: {card.name} has map = 1: its device is ff_quad of firmware-hooks/rtl with the registers of "
            "firmware-hooks/registers, and nothing of it is generated; map = 2 gives a device of its own"
        )
    if check:
        old = stale(card, folder)
        if json:
            emit_json({"folder": str(folder), "hash": f"{card.hash:016x}", "stale": old})
        elif old:
            print(f"{printable(folder)}: stale: {', '.join(old)}; freezeframe card build again")
        else:
            print(f"{printable(folder)}: is what card {card.name}, hash {card.hash:016x}, gives")
        if old:
            raise SystemExit(1)
        return
    texts = outputs(card)
    taken = [
        place
        for place, text in texts.items()
        if (folder / place).exists() and (folder / place).read_text("utf-8") != text
    ]
    if taken and not force:
        raise InputError(
            f"{folder}: {plural(len(taken), 'file')} there would change, {taken[0]} first; --force replaces them"
        )
    for place, text in texts.items():
        (folder / place).parent.mkdir(parents=True, exist_ok=True)
        write_whole(folder / place, text.encode())
    if json:
        emit_json({"folder": str(folder), "hash": f"{card.hash:016x}", "files": list(texts)})
        return
    name = module_name(card)
    print(f"{printable(folder)}: {_summary(card)}")
    if card.of_hooks:
        print(f"{len(texts)} files; {name}.h for the program that records with the C hooks")
        return
    print(
        f"{len(texts)} files; top {name} in {name}.v, the list for a simulator or synthesis in {name}.f"
    )


def _diff(card: ElaboratedCard, file: Path, other: Path | None, *, json: bool) -> None:
    if other is None:
        raise InputError(
            f"card diff: name two card files, for instance: freezeframe card diff {file} other.toml"
        )
    rows = differences(card, elaborate(read_card(other)))
    if json:
        emit_json([{"what": what, "first": a, "second": b} for what, a, b in rows])
    elif rows:
        print(table(("what", printable(file), printable(other)), rows))
    else:
        print(
            f"{printable(file)} and {printable(other)} describe the same card, hash {card.hash:016x}"
        )
    if rows:
        raise SystemExit(1)


def _summary(card: ElaboratedCard) -> str:
    log = f"{plural(len(card.sources), 'logged source')}, " if card.sources else ""
    if card.of_hooks:
        return (
            f"{card.name} {card.said.card.version}: C hooks alone, {log}{plural(len(card.causes), 'cause')}; "
            f"hash {card.hash:016x}"
        )
    large = ""
    if card.block_rams > _MOST_BLOCK_RAMS:
        large = (
            f"; its trace memories take {card.block_rams:,} block RAMs of 36 Kbit, more than any FPGA has: "
            'give taps less depth, or store = "summary"'
        )
    return (
        f"{card.name} {card.said.card.version}: {plural(len(card.taps), 'tap')} in "
        f"{plural(len(card.clocks), 'clock domain')}, {plural(card.memories, 'trace memory', 'trace memories')} "
        f"of {card.memory_bits / 8192:,.0f} KiB in all, {plural(len(card.causes), 'cause')}, "
        f"{plural(len(card.counters), 'counter')}, {log}{plural(len(card.laws), 'law')}; hash {card.hash:016x}{large}"
    )


def _text(card: ElaboratedCard) -> str:
    parts = [_summary(card)]
    if card.said.card.doc:
        parts.append(card.said.card.doc)
    clocks = [
        (
            clock.name,
            f"{clock.said.hz:,}",
            f"{clock.said.ppm}",
            "registers" if clock.said.registers else "",
        )
        for clock in card.clocks
    ]
    parts.append(table(("clock", "Hz", "ppm", ""), clocks, right=(1, 2)))
    taps = [
        (
            tap.name, tap.said.kind, tap.clock.name, str(tap.said.bits), tap.said.keep,
            tap.said.format or "raw", tap.stores, f"{tap.said.depth:,}", _memories(tap.lanes),
            str(tap.latency_cycles),
        )
        for tap in card.taps
    ]  # fmt: skip
    heads = (
        "tap",
        "kind",
        "clock",
        "bits",
        "keep",
        "format",
        "stores",
        "records",
        "memories",
        "latency",
    )
    if taps:
        parts.append(table(heads, taps, right=(3, 7, 9)))
    rows = [(s.path, f"{s.first.name} -> {s.second.name}", s.text) for s in card.stretches]
    rows += [
        (name, f"{path.taps[-1]} -> {path.far_end}", "goes on on another card")
        for name, path in card.said.path.items()
        if path.far_end
    ]
    if rows:
        parts.append(table(("path", "stretch", "what may happen there"), rows))
    causes = [
        (str(cause.bit), cause.name, "of every card" if cause.said is None else _cause(cause.said))
        for cause in card.causes
    ]
    parts.append(table(("bit", "cause", ""), causes, right=(0,)))
    if card.counters:
        rows = [
            (name, f"{c.counts} at {c.tap}" if c.counts else f"wire {c.wire}", c.unit or c.counts)
            for name, c in card.counters
        ]
        parts.append(table(("counter", "counts", "unit"), rows))
    if card.sources:
        sources = [
            (str(source.number), source.name, source.clock.name, _source(source))
            for source in card.sources
        ]
        parts.append(table(("source", "logged", "clock", ""), sources, right=(0,)))
    if card.said.histogram:
        histograms = [(name, f"{h.of} at {h.tap}") for name, h in card.said.histogram.items()]
        parts.append(table(("histogram", "of"), histograms))
    if card.laws:
        laws = [
            (
                law.name,
                _sum(law.plus, law.minus),
                _bounds(law),
                "follows" if law.derived else "own",
            )
            for law in card.laws
        ]
        parts.append(table(("law", "sum", "bounds", ""), laws))
    return "\n\n".join(parts)


def _memories(lanes: range) -> str:
    return str(lanes.start) if len(lanes) == 1 else f"{lanes.start}-{lanes.stop - 1}"


def _cause(said: Any) -> str:
    if said.wire or not said.check:
        return f"wire {said.wire}" if said.wire else "the program's"
    cycles = f", {said.cycles:,} cycles" if said.cycles else ""
    return f"{said.check} at {said.tap}{cycles}" if said.tap else f"{said.check}{cycles}"


def _source(source: ElaboratedSource) -> str:
    said = source.said
    if isinstance(said, States):
        of = f" of {said.wire}" if said.wire else ""
        return f"{len(said.names)} states{of}: {', '.join(said.names)}"
    rises = f"rises of {said.wire}" if said.wire else "logged by the program"
    return rises + (f" with {said.value}" if said.value else "")


def _sum(plus: tuple[str, ...], minus: tuple[str, ...]) -> str:
    return " - ".join([" + ".join(plus), *minus])


def _bounds(law: ElaboratedLaw) -> str:
    least, most = (law.least, law.most) if law.said is None else (law.said.least, law.said.most)
    return "..".join(
        f"{bound:,}" if isinstance(bound, int) else bound or "" for bound in (least, most)
    )


def _document(card: ElaboratedCard) -> dict[str, Any]:
    return {
        "name": card.name,
        "version": card.said.card.version,
        "hash": f"{card.hash:016x}",
        "clocks": [
            {"number": c.number, "name": c.name, "hz": c.said.hz, "ppm": c.said.ppm} for c in card.clocks
        ],
        "taps": [
            {
                "number": tap.number, "name": tap.name, "clock": tap.clock.name, "bits": tap.said.bits,
                "format": tap.format, "memories": list(tap.lanes), "depth": tap.said.depth,
                "latency_cycles": tap.latency_cycles, "stores": tap.stores,
            }
            for tap in card.taps
        ],
        "stretches": [
            {"path": s.path, "first": s.first.name, "second": s.second.name, "identity": s.identity, "text": s.text}
            for s in card.stretches
        ],
        "causes": [{"bit": cause.bit, "name": cause.name} for cause in card.causes],
        "counters": [name for name, _ in card.counters],
        "logged": [
            {
                "number": s.number, "name": s.name, "clock": s.clock.name, "wire": s.said.wire, "bits": s.bits,
                "states": list(s.states),
            }
            for s in card.sources
        ],
        "histograms": [{"name": name, "of": h.of, "tap": h.tap} for name, h in card.said.histogram.items()],
        "laws": [
            {
                "name": law.name, "plus": list(law.plus), "minus": list(law.minus), "least": law.least,
                "most": law.most, "derived": law.derived,
            }
            for law in card.laws
        ],
    }  # fmt: skip
