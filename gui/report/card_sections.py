"""The parts of the report on a described card: packets beside the finding, counters and laws, the card itself."""

from __future__ import annotations

from operator import itemgetter
from typing import Any

import numpy as np

from freezeframe.analyzers.card.claims import said_of
from freezeframe.analyzers.card.view import CardView
from freezeframe.analyzers.contract import Finding
from freezeframe.capture.folder.card_content import CardCapture
from freezeframe.capture.folder.card_folder import CardFolder
from freezeframe.capture.time_text import format_ps
from freezeframe.decoders.tap.checked import BAD, GOOD, CheckedStream
from freezeframe.decoders.tap.kinds import PARTIAL
from freezeframe.gui.report.capture_sections import beside_each_other, count_text, value_text
from freezeframe.gui.report.html import Html, element, join, listing, table

_NEAR_PACKETS = 3
_SHOWN_B = 24


def packets_around(card: CardView, finding: Finding | None) -> Html:
    """Return the packets before and after those that a finding's evidence names, at each tap of its path."""
    if finding is None:
        return Html("")
    rows = [row for row in finding.rows if row.table == "words" and row.row is not None]
    if not rows:
        return Html("")
    body: list[tuple[str, ...]] = []
    marked: list[int] = []
    for name in _taps(card, finding):
        end = card.streams[name]
        columns = end.stream.packets
        meant = [
            packet
            for row in rows
            if row.source == card.source(end.tap) and row.row is not None
            for packet in np.flatnonzero(
                (columns.first_row <= row.row) & (columns.end_row > row.row)
            ).tolist()
        ]
        middle = meant or _at(card, end, finding.t_ps)
        if not middle:
            continue
        shown = range(
            max(0, min(middle) - _NEAR_PACKETS),
            min(len(end), max(middle[0], middle[-1]) + _NEAR_PACKETS + 1),
        )
        for packet in shown[: 4 * _NEAR_PACKETS]:
            if packet in meant or end.verdict[packet] == BAD:
                marked.append(len(body))
            body.append(_packet(card, end, packet))
    if not body:
        return Html("")
    return join(
        element("h2", "Packets around it"),
        table(
            "In the order in which they crossed each tap. Marked: what the evidence names, and what is bad.",
            ("tap", "packet", "begins", "lasts", "bytes", "checks", "first bytes"),
            body,
            numbers=(1, 2, 3, 4),
            bad_rows=marked,
        ),
    )


def _taps(card: CardView, finding: Finding) -> list[str]:
    """Return the taps of the paths on which a finding lies, in their order; else its own."""
    own = (finding.direction or finding.tap or "").split(" -> ")
    on = [
        tap
        for path in card.recording.card.said.path.values()
        if set(own) <= set(path.taps)
        for tap in path.taps
    ]
    return [name for name in dict.fromkeys(on or own) if name in card.streams]


def _at(card: CardView, end: CheckedStream, t_ps: int | None) -> list[int]:
    """Return the packet that passed a tap at a time, or next."""
    if t_ps is None or not len(end):
        return []
    times, _ = card.times_ps(end.tap, end.stream.packets.begin)
    return [min(int(np.searchsorted(times, t_ps)), len(end) - 1)]


def _packet(card: CardView, end: CheckedStream, packet: int) -> tuple[str, ...]:
    columns = end.stream.packets
    cycles = np.array([columns.begin[packet], columns.end[packet] + 1], np.int64)
    t_ps, _ = card.times_ps(end.tap, cycles)
    verdict = {GOOD: "good", BAD: said_of(int(end.wrong[packet]))}.get(
        int(end.verdict[packet]), "no verdict"
    )
    if columns.flags[packet] & int(PARTIAL):
        verdict = "not all recorded"
    data = end.content(packet)
    shown = data[:_SHOWN_B].hex(" ") + (" ..." if len(data) > _SHOWN_B else "")
    known = columns.begin_slack[packet] >= 0
    return (
        card.source(end.tap),
        f"{packet:,}",
        format_ps(int(t_ps[0])) if known else "not known",
        format_ps(int(t_ps[1] - t_ps[0])) if known else "not known",
        f"{int(end.length_B[packet]):,}",
        verdict,
        element("span", shown, css="hex"),
    )


def card_state(card: CardView) -> Html:
    """Return the counters, the bank and the laws of a card at the freeze."""
    recording = card.recording
    said = recording.card.said
    states = {True: "holds", False: "broken", None: "not checkable"}
    laws = [(states[v.holds], v.text) for v in card.laws]
    parts = []
    for caption, named, of, kept, values in (
        ("Counters at the freeze", "counter", "counts", said.counter, recording.counters),
        ("Registers kept at the freeze", "register", "unit", said.bank, recording.bank),
    ):
        rows = [
            (name, count_text(values.get(name)), one.what, one.doc) for name, one in kept.items()
        ]
        columns = {h: itemgetter(n) for n, h in enumerate((named, "#value", of, "meaning"))}
        parts += [listing(caption, rows, columns)] if rows else []
    if laws:
        broken = [n for n, v in enumerate(card.laws) if v.holds is False]
        parts.append(table("Laws, own and derived", ("state", "law"), laws, bad_rows=broken))
    if not parts:
        parts.append(element("p", "The card file names no counter, no register and no law."))
    return join(*parts)


def cards_table(folder: CardFolder, cards: list[CardView]) -> Html:
    """Return who recorded, one column each, and the taps of each card."""
    devices = [folder.device(card.device) for card in cards]
    parts = [beside_each_other(folder, devices, _identity)]
    for card in cards:
        rows = [_tap(card, name) for name in card.recording.card.said.tap]
        heads = (
            "tap",
            "kind",
            "bits",
            "clock",
            "format",
            "stores",
            "packets",
            "covers",
            "records",
            "on paths",
        )
        parts.append(
            table(
                f"Taps of {card.device}, {card.recording.card.name}", heads, rows, numbers=(2, 6, 8)
            )
        )
        stretches = [
            (f"{s.first.name} → {s.second.name}", s.path, s.text)
            for s in card.recording.card.stretches
        ]
        if stretches:
            parts.append(
                table(
                    "What may happen between taps, by the card file",
                    ("stretch", "path", "may"),
                    stretches,
                )
            )
    return join(element("h2", "Devices", id="devices"), *parts)


def _identity(device: CardCapture, entry: dict[str, Any]) -> dict[str, str]:
    identity, said = device.identity, device.card.said
    clocks = [
        f"{c['name']} {c['hz']:,} Hz ± {c['ppm']} ppm{'' if c['alive'] else ', stood still'}"
        for c in entry["clocks"]
    ]
    return {
        "card": f"{said.card.name} {said.card.version}".strip(),
        "hash of the card": f"{identity.card_hash:016x}",
        "boot nonce": f"{identity.boot_nonce:#010x}",
        "generation": value_text(entry["generation"]),
        "first causes": ", ".join(entry["causes"] or ["none"]),
        "bus cycle of the first cause": count_text(entry["cause_cycle"]),
        "clocks": "; ".join(clocks),
        "build": f"{identity.build_hash:08x}",
    }


def _tap(card: CardView, name: str) -> tuple[str, ...]:
    tap = card.recording.card.tap(name)
    said = tap.said
    stores = said.store if isinstance(said.store, str) else f"first {said.store.first_bytes} B"
    paths = [path for path, p in card.recording.card.said.path.items() if name in p.taps]
    common = (name, said.kind, str(said.bits), said.clock, said.format or "raw", stores)
    end = card.streams.get(name)
    if end is None:
        return (*common, "not read", "", "", ", ".join(paths))
    span = end.stream.span
    covers = "nothing with a time"
    if span is not None:
        t_ps, _ = card.times_ps(tap, np.array(span, np.int64))
        covers = format_ps(int(t_ps[1] - t_ps[0]))
    wrapped = "" if end.stream.recorded.wrapped else f" of {said.depth:,}"
    return (
        *common,
        f"{len(end):,}",
        covers,
        f"{len(end.stream.slots):,}{wrapped}",
        ", ".join(paths),
    )
