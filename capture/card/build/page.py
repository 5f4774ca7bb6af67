"""The page of a card's device (HTML, one file that loads nothing): drawing, features, registers, memories, numbers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from freezeframe.capture.card.build.drawing import drawing, shown
from freezeframe.capture.card.elaborated import ElaboratedCard
from freezeframe.capture.card.recording import Feature, built_features
from freezeframe.capture.card.registers import card_map, memories_of_card
from freezeframe.capture.registers.layout import RegisterInfo

_STYLE = """
:root { color-scheme: light dark; }
body { font: 15px/1.45 system-ui, sans-serif; margin: 2rem auto; max-width: 72rem; padding: 0 1rem; }
.drawing { overflow-x: auto; } table { border-collapse: collapse; } .wide { overflow-x: auto; }
th, td { text-align: left; vertical-align: top; padding: 2px 12px 2px 0; border-bottom: 1px solid #88888866; }
code, td:first-child { font-family: 'DejaVu Sans Mono', Menlo, Consolas, monospace; font-size: 13px; }
"""
_FEATURES = {
    Feature.ARM_KEY: "the arm key names the generation and the boot nonce",
    Feature.CRC_TABLE: "a CRC of each 256 records, which the host compares",
    Feature.ROM: "the card's text, compressed",
    Feature.TRIGGER: "a trigger at any tap",
    Feature.COUNTERS: "counters: two snapshots, and the values at the freeze",
    Feature.BANK: "wires as they stood at the freeze",
    Feature.EVENT_LOG: "a log of events",
    Feature.HISTOGRAMS: "histograms",
    Feature.HOLD: "the card can be held while it is frozen",
    Feature.TIME_PAIRS: "pairs that relate each clock to the bus clock",
    Feature.TRIGGER_STEPS: "a trigger of several terms and steps, a timer, a pin",
}
_ACCESS = {"r": "read", "w": "write", "rw": "read, write"}


def register_page(card: ElaboratedCard) -> str:
    """Return the text of the page."""
    features = built_features(card)
    registers = card_map(card, features)
    parts = [
        f"<h1>{card.name} {shown(card.said.card.version)}</h1>",
        f"<p>{shown(card.said.card.doc)}</p>" if card.said.card.doc else "",
        f"<p>Card hash <code>{card.hash:016x}</code>; {registers.size_B:,} bytes from the device's base address, "
        "words of 32 bits, little-endian. What each register means stands in docs/card-map.md of Freezeframe.</p>",
        f'<div class="drawing">{drawing(card)}</div>',
        "<h2>Features</h2>",
        _table(("bit", "feature", ""), (
            (str(feature.value.bit_length() - 1), str(feature.name).lower(),
             text if feature in features else f"not built: {text}") for feature, text in _FEATURES.items()
        )),
        "<h2>Registers</h2>",
        _table(("address", "register", "elements", "access", "fields"), map(_register, registers.registers)),
        "<h2>Windows</h2>",
        _table(("address", "window", "words", "what it holds"), (
            (f"0x{window.address:05x}", window.name, f"{window.words:,}", window.doc)
            for window in registers.windows
        )),
        "<h2>Numbers</h2>",
        _table(("number", "what", "name", ""), _numbers(card)),
    ]  # fmt: skip
    body = "\n".join(part for part in parts if part)
    return (
        f'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><title>{card.name}: registers</title>\n'
        f'<meta name="viewport" content="width=device-width"><style>{_STYLE}</style></head>\n'
        f"<body>\n{body}\n</body></html>\n"
    )


def _register(info: RegisterInfo) -> tuple[str, ...]:
    elements = ", ".join(f"{count} each {stride_B} B" for count, stride_B in info.dims)
    fields = ", ".join(
        f"{field.name} [{field.lsb + field.width - 1}:{field.lsb}]"
        for field in info.fields
        if field.width < 32
    )
    return f"0x{info.address:05x}", info.name, elements, _ACCESS[info.access], fields


def _numbers(card: ElaboratedCard) -> Iterable[tuple[str, ...]]:
    for clock in card.clocks:
        yield str(clock.number), "clock", clock.name, f"{clock.said.hz:,} Hz"
    for tap in card.taps:
        yield str(tap.number), "tap", tap.name, f"{tap.said.bits} bits, clock {tap.clock.name}"
    for memory in memories_of_card(card):
        yield (
            str(memory.number),
            "memory",
            memory.name,
            f"{memory.depth:,} records of 16 bytes at 0x{memory.address:x}",
        )
    for cause in card.causes:
        said = cause.said
        what = (
            "of every card"
            if said is None
            else f"wire {said.wire}"
            if said.wire
            else f"{said.check} at {said.tap}"
        )
        yield str(cause.bit), "cause", cause.name, what
    for number, (name, counter) in enumerate(card.counters):
        yield (
            str(number),
            "counter",
            name,
            f"{counter.counts} at {counter.tap}" if counter.counts else f"wire {counter.wire}",
        )
    for number, (name, bank) in enumerate(card.said.bank.items()):
        yield str(number), "bank", name, f"wire {bank.wire}, {bank.bits} bits"


def _table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    head = "".join(f"<th>{shown(text)}</th>" for text in heads)
    body = "".join(
        f"<tr>{''.join(f'<td>{shown(text)}</td>' for text in row)}</tr>\n" for row in rows
    )
    return f'<div class="wide"><table>\n<tr>{head}</tr>\n{body}</table></div>'
