"""What the names of probes say for a decoder, and against it, in bits.

A name counts by how few protocols use it: ``mosi`` is SPI's alone, ``data`` says next to nothing. The names
are those of the declarations (ids and aliases of channels, and the decoder's own); there is no other list.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import log2
from typing import NamedTuple

from freezeframe.decoders.channel_names import plain
from freezeframe.decoders.contract import EDGES, Decoder
from freezeframe.decoders.registry import SIGROK

_SURE, _PART = 1.0, 0.7  # of the bits of a name: the whole name, and a word of it
_OWN = 0.7  # a probe that has the decoder's name, not the channel's
_MOST_BITS = 5.0
_MOST_FITS = 1 << 17  # that are kept
# What analyzers call their inputs where the user says nothing: such a name says nothing.
_DEFAULT = re.compile(r"(d|ch|channel|probe|a|b|input|digital|logic|pin)?[0-9]+")


@dataclass(frozen=True, slots=True)
class Named:
    """Bits for and against, and the probes that they come from: ``MOSI (mosi)``, ``MISO (spi)``."""

    bits_for: float
    bits_against: float
    fitting: tuple[str, ...]
    foreign: tuple[str, ...]
    share: float  # of the channels in use that are named so
    best_bits: float = 0.0  # of the name that tells the most
    rival: str = ""  # a protocol that more names call for


class Claim(NamedTuple):
    """A protocol that names call for, the probes, and the bits of their names."""

    protocol: str
    probes: frozenset[str]
    bits: float


class NameBook:
    """The names of all decoders on lines, and which protocols each belongs to."""

    def __init__(self, decoders: Iterable[Decoder]) -> None:
        """Take the declarations; a decoder and its twin of sigrok are one protocol."""
        on_lines = [decoder for decoder in decoders if decoder.consumes == EDGES]
        self._family = {decoder.id: family(decoder, on_lines) for decoder in on_lines}
        self._users: dict[str, set[str]] = defaultdict(set)
        self._needy: dict[str, set[str]] = defaultdict(
            set
        )  # of those, that need another line beside
        self._names: dict[tuple[str, str], frozenset[str]] = {}
        self._own: dict[str, frozenset[str]] = {}
        self._fits: dict[tuple[str, str, str], float] = {}
        for decoder in on_lines:
            kin = self._family[decoder.id]
            own = {decoder.id.removeprefix(SIGROK), kin}
            own |= {name.partition("_")[0] for name in own}
            self._own[decoder.id] = frozenset(map(plain, own))
            for name in self._own[decoder.id]:
                self._users[name].add(kin)
            for channel in decoder.channels:
                names = frozenset({plain(channel.id), *map(plain, channel.aliases)})
                self._names[decoder.id, channel.id] = names
                beside = any(c is not channel and not c.optional for c in decoder.channels)
                for name in names:
                    self._users[name].add(kin)
                    if beside:
                        self._needy[name].add(kin)
        self._most = log2(max(2, len(set(self._family.values()))))

    def protocol(self, decoder: Decoder) -> str:
        """Return the protocol of a decoder: the id of ours, where there is one of ours."""
        return self._family[decoder.id]

    def own(self, decoder: Decoder, probes: Mapping[str, str]) -> bool:
        """Return whether a probe has the name of the decoder itself in its name."""
        own = self._own[decoder.id]
        return any(own & ({whole} | parts) for whole, parts in map(_words, probes.values()))

    def known(self, probe: str) -> bool:
        """Return whether a probe's name, or a word of it, is that of a channel."""
        whole, parts = _words(probe)
        return any(self.bits(name) for name in ({whole} | parts))

    def fit(self, decoder: Decoder, channel: str, probe: str) -> float:
        """Return how well a probe's name fits a channel, 0 to 1."""
        key = (decoder.id, channel, probe)
        known = self._fits.get(key)
        if known is None:
            if len(self._fits) > _MOST_FITS:  # names of thousands of captures
                self._fits.clear()
            known = self._fits[key] = self._fit(decoder, channel, probe)
        return known

    def _fit(self, decoder: Decoder, channel: str, probe: str) -> float:
        names = self._names[decoder.id, channel]
        whole, parts = _words(probe)
        if whole in names:
            return _SURE
        if _DEFAULT.fullmatch(whole):
            return 0.0
        if names & parts:
            return _PART
        if any(
            whole.startswith(own) and whole[len(own) :] in names for own in self._own[decoder.id]
        ):
            return _SURE
        required = [each for each in decoder.channels if not each.optional]
        if len(required) == 1 and required[0].id == channel:
            own = self._own[decoder.id]
            if whole in own or own & parts:
                return _OWN
        return 0.0

    def bits(self, name: str) -> float:
        """Return what a name tells: the fewer protocols use it the more."""
        users = len(self._users.get(name, ()))
        if not users or _DEFAULT.fullmatch(name):
            return 0.0
        return min(_MOST_BITS, self._most - log2(users))

    def claims(self, decoders: Iterable[Decoder], probes: Sequence[str]) -> list[Claim]:
        """Return which decoders the names of a capture's probes call for, with all that they need."""
        found = []
        for decoder in decoders:
            fit = fitting_probes(self, decoder, probes) if decoder.consumes == EDGES else None
            if fit:
                bits = self.judge(decoder, fit).bits_for
                found.append(Claim(self.protocol(decoder), frozenset(fit.values()), bits))
        return found

    def judge(self, decoder: Decoder, probes: Mapping[str, str], *, alone: bool = False) -> Named:
        """Return what the names of the probes say of this decoder on them.

        ``alone``: no other line of the capture changes, so that no name can mean a bus with a clock.
        """
        fitting, foreign = [], []
        bits_for = bits_against = best = 0.0
        for channel, probe in probes.items():
            fits = self.fit(decoder, channel, probe)
            if fits:
                told = fits * self._told(decoder, channel, probe)
                bits_for += told
                best = max(best, told)
                fitting.append(probe if plain(probe) == plain(channel) else f"{probe} ({channel})")
                # A name that another protocol has to itself speaks for that one, though a word fits.
                if fits < _SURE and self._elsewhere(decoder, probe)[0] >= _MOST_BITS - 1:
                    bits_against += 1.0
                continue
            bits, whose = self._elsewhere(decoder, probe, alone=alone)
            if bits >= 1:
                bits_against += bits
                foreign.append(f"{probe} ({whose})")
        share = len(fitting) / max(1, len(probes))
        return Named(bits_for, bits_against, tuple(fitting), tuple(foreign), share, best)

    def _told(self, decoder: Decoder, channel: str, probe: str) -> float:
        whole, parts = _words(probe)
        names = self._names[decoder.id, channel] | self._own[decoder.id]
        used = ({whole} | parts) & names
        return max(map(self.bits, used), default=self._most / 2)

    def _elsewhere(self, decoder: Decoder, probe: str, *, alone: bool = False) -> tuple[float, str]:
        """Return the bits of a name for other roles than the one it is given here, and one that has it."""
        whole, parts = _words(probe)
        if whole in self._users:
            found = [(self.bits(whole) * _SURE, whole)]
        else:
            found = [(self.bits(part) * _PART, part) for part in parts if part in self._users]
        if alone:
            found = [(bits, name) for bits, name in found if self._users[name] - self._needy[name]]
        bits, name = max(found, default=(0.0, ""))
        others = sorted(self._users[name] - {self._family[decoder.id]}) if name else []
        return bits, others[0] if others else self._family.get(decoder.id, "")


@lru_cache(maxsize=1 << 12)
def _words(probe: str) -> tuple[str, frozenset[str]]:
    """Return the whole name without its marks, and the words in it, also without their numbers."""
    parts = {plain(part) for part in re.split(r"[\s_./:|\\()\[\]-]+", probe) if part}
    parts |= {re.sub(r"^[0-9]+|[0-9]+$", "", part) for part in parts}
    return plain(probe), frozenset(part for part in parts if len(part) > 1)


def family(decoder: Decoder, others: Sequence[Decoder]) -> str:
    """Return the protocol of a decoder: one of sigrok's that does what a native one does is of it."""
    if not decoder.id.startswith(SIGROK):
        return decoder.id
    kinds = {output.kind for output in decoder.produces}
    first = decoder.id.removeprefix(SIGROK).partition("_")[0]
    channels = {channel.id for channel in decoder.channels}
    for native in others:
        if native.id.startswith(SIGROK):
            continue
        alike = {plain(n) for c in native.channels for n in (c.id, *c.aliases)} & channels
        if native.sigrok in kinds or (first == native.id and alike):
            return native.id
    return decoder.id.removeprefix(SIGROK)


def fitting_probes(
    book: NameBook, decoder: Decoder, probes: Sequence[str]
) -> dict[str, str] | None:
    """Return a probe for each channel by name alone, the best fit first; None where a needed one has none."""
    found = [
        (-fit, place, number)
        for place, channel in enumerate(decoder.channels)
        for number, probe in enumerate(probes)
        if (fit := book.fit(decoder, channel.id, probe))
    ]
    chosen: dict[str, str] = {}
    used: set[int] = set()
    for _, place, number in sorted(found):
        channel = decoder.channels[place].id
        if channel not in chosen and number not in used:
            chosen[channel] = probes[number]
            used.add(number)
    needed = [channel.id for channel in decoder.channels if not channel.optional]
    if not chosen or any(channel not in chosen for channel in needed):
        return None
    return {c.id: chosen[c.id] for c in decoder.channels if c.id in chosen}
