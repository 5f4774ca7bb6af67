"""The analysis ``crc`` of a described card: the verdict of each tap's format on its packets."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from freezeframe.analyzers.analysis import AnalysisResult, Figure
from freezeframe.analyzers.card.arrivals import bad_arrivals
from freezeframe.analyzers.card.claims import findings_of, said_of
from freezeframe.analyzers.card.view import CardView
from freezeframe.decoders.tap.checked import BAD, GOOD, UNKNOWN, CheckedStream


def run(card: CardView) -> AnalysisResult:
    """Return how many packets pass the checks of each tap, which do not and why."""
    figures: list[Figure] = []
    notes = []
    rows: list[dict[str, Any]] = []
    for end in card.streams.values():
        source = card.source(end.tap)
        notes += [f"could not be asked: {line}" for line in end.unasked]
        checks = checks_of(end)
        if not checks:
            notes.append(f"{source}: could not be asked: needs a format with checks")
            continue
        if not end.is_checked:
            notes.append(
                f"{source}: no packet in its memory is there as its checks need it ({checks})"
            )
            continue
        counts = {key: int((end.verdict == key).sum()) for key in (GOOD, BAD, UNKNOWN)}
        figures.append(
            Figure(f"{source}.good", f"{source}, packets that pass", counts[GOOD], note=checks)
        )
        figures.append(Figure(f"{source}.bad", f"{source}, packets that fail", counts[BAD]))
        figures.append(
            Figure(f"{source}.unknown", f"{source}, packets without a verdict", counts[UNKNOWN],
                   note="cut by the end of the memory or a gap" if counts[UNKNOWN] else "")
        )  # fmt: skip
        rows += _bad(card, end) if card.placed(end.tap) else []
    claims = card.unfit or [
        claim for end in card.firsts for claim in bad_arrivals(card, end, card.stretches)
    ]
    tables = {"bad": pd.DataFrame(rows)} if rows else {}
    found = tuple(findings_of(claims, card.device))
    return AnalysisResult("crc", tuple(figures), findings=found, tables=tables, notes=tuple(notes))


def checks_of(end: CheckedStream) -> str:
    """Return what a packet of a tap has to pass, in words; empty where nothing is checked."""
    said = end.said
    if said is None or said.is_ == "raw":
        return ""
    parts = []
    if said.is_ == "ethernet":
        if said.preamble:
            parts.append("preamble")
        if said.fcs == "present":
            parts.append("FCS, CRC-32/ISO-HDLC over the frame")
        if end.tap.said.user is not None and end.tap.said.user.bad_frame is not None:
            parts.append(f"user bit {end.tap.said.user.bad_frame} at its end")
        parts.append("shortest and longest length")
    elif said.is_ == "link":
        parts += ["header CRC", "payload CRC", "length"]
    else:
        parts += [
            f"{name}: {c.crc or f'CRC of width {c.width}, poly {c.poly:#x}'}"
            for name, c in said.check.items()
        ]
        parts += [f"field {said.length}"] if said.length else []
        parts += [
            f"{name} is {f.constant:#x}" for name, f in said.field.items() if f.constant is not None
        ]
        parts += ["shortest and longest length"] if said.shortest_B or said.longest_B else []
    return "; ".join(parts)


def _bad(card: CardView, end: CheckedStream) -> list[dict[str, Any]]:
    packets = np.flatnonzero(end.verdict == BAD)
    columns = end.stream.packets
    t_ps, unc_ps = card.times_ps(end.tap, columns.begin[packets])
    t_end_ps, _ = card.times_ps(end.tap, columns.end[packets] + 1)
    return [
        {
            "t_ps": int(t_ps[at]),
            "t_end_ps": int(t_end_ps[at]),
            "t_unc_ps": int(unc_ps[at]),
            "source": card.source(end.tap),
            "packet": int(packet),
            "length_B": int(end.length_B[packet]),
            "text": said_of(int(end.wrong[packet])),
        }
        for at, packet in enumerate(packets.tolist())
    ]
