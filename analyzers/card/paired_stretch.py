"""The packets at both ends of a stretch of a path, paired: what of them is compared, and which packet is which."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from zlib import crc32

import numpy as np

from freezeframe.analyzers.card.pairing import Key, Pairing, pair_packets, single_pairs
from freezeframe.analyzers.card.places import Places
from freezeframe.capture.card.elaborated import ElaboratedStretch
from freezeframe.decoders.tap.checked import FCS_B, CheckedStream

_COLUMN_OF = {
    "type": "ethertype",
    "ip.id": "ip_id",
    "ip.src": "ip_src",
    "ip.dst": "ip_dst",
    "tcp.seq": "tcp_seq",
    "udp.dst": "dst_port",
}


@dataclass(frozen=True, eq=False)
class PairedStretch(Places):
    """The packets at both ends of a stretch, and which of them is which."""

    stretch: ElaboratedStretch
    first: CheckedStream
    second: CheckedStream

    @property
    def where(self) -> tuple[str, str]:
        return self.stretch.first.name, self.stretch.second.name

    @property
    def needs(self) -> str:
        """What keeps the packets of this stretch from being compared; empty where nothing does."""
        said = self.stretch.said
        name = f"{self.where[0]} -> {self.where[1]}"
        if said.rewrites and not self._fields:
            return f"{name}: it rewrites {', '.join(said.rewrites)}; needs [identity] by fields that it leaves alone"
        for end in (self.first, self.second):
            if end.stream.filtered:
                return f"{name}: {end.tap.name} did not record every kind of word; needs a tap with all kinds"
            if end.tap.said.kind == "words":
                return f"{name}: {end.tap.name} has no packets; needs two taps with packets"
        preambles = {end.said.preamble for end in (self.first, self.second) if end.said is not None}
        if self._summed and len(preambles) > 1:
            return f'{name}: a preamble at one tap and digests alone; needs store = "all" at both'
        if said.fcs != "kept" and self._summed:
            return f'{name}: the FCS is {said.fcs} and a tap keeps digests alone; needs store = "all" at both'
        return ""

    @property
    def _widths(self) -> tuple[int, int]:
        return self.first.tap.stream_bytes, self.second.tap.stream_bytes

    @cached_property
    def _summed(self) -> bool:
        return any(end.tap.said.store != "all" for end in (self.first, self.second))

    @cached_property
    def _fields(self) -> tuple[str, ...]:
        identity = self.recording.card.said.identity
        names = []
        for name in identity.fields if identity.by == "fields" else ():
            shape, _, rest = name.partition(".")
            column = _COLUMN_OF.get(rest, rest)
            ends = (self.first, self.second)
            if all(end.tap.said.format == shape and column in end.columns for end in ends):
                names.append(column)
        return tuple(names)

    @cached_property
    def _framed(self) -> bool:
        """Whether a preamble stands before the packets at both taps: then it is part of what is compared."""
        ends = (self.first, self.second)
        return all(end.said is not None and end.said.preamble for end in ends)

    def content(self, end: CheckedStream, packet: int) -> bytes:
        """Return the bytes of a packet that must be equal at both taps."""
        data = end.stream.data(packet) if self._framed else end.content(packet)
        fcs = self.stretch.said.fcs
        bare = (fcs == "stripped" and end is self.first) or (fcs == "added" and end is self.second)
        return data[:-FCS_B] if bare else data

    def _keys(self, end: CheckedStream) -> list[tuple[int, Key]]:
        if self._fields:
            columns = [end.columns[name] for name in self._fields]
            return [
                (n, tuple(int(column[n]) for column in columns))
                for n in np.flatnonzero(end.stream.whole).tolist()
            ]
        if self._summed:
            return self._digests(end)
        return [(n, self.content(end, n)) for n in np.flatnonzero(end.stream.whole).tolist()]

    def _digests(self, end: CheckedStream) -> list[tuple[int, Key]]:
        """Return length, digest and first bytes, as both taps keep them: all good frames with FCS have one digest."""
        stores = [each.tap.said.store for each in (self.first, self.second)]
        heads_B = min(
            0 if s == "summary" else 1 << 16 if isinstance(s, str) else s.first_bytes
            for s in stores
        )
        stream = end.stream
        keys: list[tuple[int, Key]] = []
        for n in np.flatnonzero(stream.told | stream.whole).tolist():
            data, digest = stream.data(n), int(stream.digests[n])
            if stream.whole[n]:
                digest = crc32(data)
            elif digest < 0 or len(data) < heads_B:
                continue  # nothing to compare; or the memory's oldest, whose words are gone
            keys.append((n, (int(stream.packets.length[n]), digest, data[:heads_B])))
        return keys

    @cached_property
    def _both_keys(self) -> tuple[list[tuple[int, Key]], list[tuple[int, Key]]]:
        return self._keys(self.first), self._keys(self.second)

    @cached_property
    def all_pairs(self) -> list[tuple[int, int]]:
        """Packets that are alone with their bytes at both taps, whenever they passed."""
        return single_pairs(*self._both_keys)

    @cached_property
    def impossible(self) -> list[tuple[int, int]]:
        """Those of `all_pairs` that stand at the second tap before they stand at the first, beyond any doubt."""
        return [
            (i, j)
            for (i, j), lead in zip(self.all_pairs, self._leads_ps, strict=True)
            if lead is not None and lead > 0
        ]

    @cached_property
    def _leads_ps(self) -> list[int | None]:
        """Return how much earlier each of `all_pairs` is at the second tap, at least; None where nobody knows."""
        return [self.lead_ps(self.first, i, self.second, j) for i, j in self.all_pairs]

    @cached_property
    def pairing(self) -> Pairing:
        """Which packet is which; nobody comes out before it came in."""
        return pair_packets(*self._both_keys, impossible=frozenset(self.impossible))

    @cached_property
    def unproven(self) -> str:
        """Why nothing that is said to be missing here would be proven; empty where it would be."""
        name = f"{self.where[0]} -> {self.where[1]}"
        for end in (self.first, self.second):
            if end.stream.broken:
                return f"{name}: packets that are missing: a part of a memory was not read"
            if self._summed and (end.stream.told & (end.stream.digests < 0)).any():
                return f"{name}: packets that are missing: some at {end.tap.name} have no digest to compare"
        return self.alien

    @cached_property
    def alien(self) -> str:
        """Why the memories may be of two times; empty where they are not.

        Without a common time, the same bytes may be two packets that were sent hours apart.
        """
        anchors = self.pairing.anchors
        if not anchors or any(lead is not None for lead in self._leads_ps):
            return ""
        (i0, j0), (i1, j1) = anchors[0], anchors[-1]
        inside = sum(i0 <= i <= i1 for i, _ in self.pairing.pairs)
        if 2 * inside > max(i1 - i0, j1 - j0) + 1:
            return ""
        return (
            f"{self.where[0]} -> {self.where[1]}: what became of packets: too few are the same to tell that both "
            "memories are of one time, and their clocks have none in common"
        )
