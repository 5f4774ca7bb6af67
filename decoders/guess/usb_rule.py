"""Rule for USB: packets on a pair of wires, most of them with check sums, which are right.

Source: USB 2.0, 8.3.5 (CRC of tokens and data).
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import permutations

from freezeframe.decoders.contract import Decoder
from freezeframe.decoders.guess.candidate import Evidence, Finding

_MOST_LINES = 8  # of which pairs are tried that are named so
_ANY = 4  # and of which all are
_PACKETS = ("token", "data", "handshake", "special")
_MANY = 4  # right check sums, from which chance is out of the question
_CHECKED = -2.0  # bits by which such packets are likelier to be meant


def usb(evidence: Evidence, decoder: Decoder) -> Iterator[Finding]:
    """Try pairs that are named so, and of few lines all whose names speak not against it."""
    few = len(evidence.lines) <= _ANY
    for dp, dm in permutations(evidence.lines[:_MOST_LINES], 2):
        probes = {"dp": dp.name, "dm": dm.name}
        named = all(evidence.fits(decoder, role, probe) for role, probe in probes.items())
        foreign = evidence.book.judge(decoder, probes).bits_against
        if not dp.samplerate_hz or not (named or (few and not foreign)):
            continue
        spec, trial = evidence.trial(decoder, probes, {})
        good = trial.count("usb.packets", *_PACKETS)
        if not good:
            continue
        right = int(trial.rows("usb.packets")["crc_ok"].eq(True).sum())
        yield Finding(
            decoder,
            spec,
            probes,
            good,
            trial.errors("usb.packets"),
            trial.explained_by("usb.packets"),
            trial.counted("usb.packets", *_PACKETS),
            ("packet", "packets"),
            _CHECKED if right >= _MANY else 0.0,
            why=[f"{right} right check sums"] if right else [],
        )
