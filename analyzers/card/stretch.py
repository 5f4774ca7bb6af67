"""What happened on one stretch of a path: every difference between its packets claimed, with its witnesses."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property

from freezeframe.analyzers.card.claims import Claim
from freezeframe.analyzers.card.differences import Difference, differences, joined, split
from freezeframe.analyzers.card.names import (
    BITS_ALTERED,
    BYTES_ROTATED,
    DROPPED,
    NONE_KNOWN,
    REORDERED,
)
from freezeframe.analyzers.card.paired_stretch import PairedStretch
from freezeframe.analyzers.card.pairing import Key, Region
from freezeframe.analyzers.contract import Says, Witness
from freezeframe.decoders.tap.checked import BAD, GOOD, PREAMBLE_B
from freezeframe.decoders.tap.kinds import Packet

_LOOK_AHEAD = 3
_OVERTAKEN = 2  # packets that must have come out since, before one is missing
_BOTH_SIDES_CAME_OUT = "packets on both sides of it stand at both taps"
_OLDER_CAME_OUT = (
    "good packets from before that tap's memory came out, and later ones, in their order"
)


@dataclass(frozen=True, eq=False)
class StretchView(PairedStretch):
    """What is claimed of the packets at both ends of a stretch."""

    def claims(self) -> list[Claim]:
        """Return what happened between the two taps.

        Where lanes are crossed, the last beat of a packet in which one of them is off shows as altered bytes.
        """
        return self._all_claims

    @cached_property
    def _all_claims(self) -> list[Claim]:
        claims = [] if self.alien else list(self._claims())
        crossed = next((claim for claim in claims if claim.name == BYTES_ROTATED), None)
        if crossed is None:
            return claims
        return [
            replace(claim, name=BYTES_ROTATED, lanes=crossed.lanes)
            if claim.name == BITS_ALTERED
            and {lane % crossed.width for lane in claim.lanes} <= set(crossed.lanes)
            else claim
            for claim in claims
        ]

    def _claims(self) -> Iterator[Claim]:
        if self._fields:
            for i, j in self.pairing.pairs:
                if not self.stretch.said.rewrites and self.content(self.first, i) != self.content(
                    self.second, j
                ):
                    yield self._changed(i, j)
        if not self.stretch.said.reorders:
            yield from self._reordered()
        for region in self.pairing.regions:
            found = list(self._region(region))
            open_ = any(claim.name == NONE_KNOWN for claim in found)
            for claim in found:
                # Beside what nothing accounts for, a packet may be missing or be in it.
                doubtful = open_ and claim.name == DROPPED
                yield replace(claim, candidates=(DROPPED, NONE_KNOWN)) if doubtful else claim

    def _reordered(self) -> Iterator[Claim]:
        for i, j in self.pairing.moved:
            text = f"Packet {i} of {self.where[0]} came out of {self.where[1]} in another order than it went in."
            seen = Witness(
                Says.FOR,
                "it is unlike every other packet, and stands at both taps whole",
                (self.row(self.first, i, f"packet {i}"), self.row(self.second, j, f"packet {j}")),
            )
            claim = self._claim(REORDERED, text, i, None, (seen,), "the same order at both taps")
            yield replace(claim, after=(j,))

    def _region(self, region: Region) -> Iterator[Claim]:
        a, b = list(region.first), list(region.second)
        if not (region.before or region.after):
            return  # nothing stands at both taps: nobody knows which is which
        if not region.before:
            # What is older than the first anchor is compared from there backwards.
            while a and b and self._fits(a[-1], b[-1]):
                yield self._changed(a.pop(), b.pop())
            if self._came_in_before(b[-_OVERTAKEN:], a):
                for i in a:
                    yield from self._dropped(i, _OLDER_CAME_OUT)
            return
        while a or b:
            if not b:
                for i in a:
                    if region.after:
                        yield from self._dropped(i)
                return
            if not a:
                if region.after and not self.unproven:
                    twice = self._came_out_twice(b[0])
                    if twice is not None or not self._overtaken_since(b[0]):
                        yield twice or self._extra(b[0])
                return
            step = self._step(a, b)
            if step is None:
                if region.after or len(self._choices(a[0], b[0])):
                    yield self._changed(a[0], b[0])
                if not region.after or (self._summed and len(a) != len(b)):
                    return  # digests do not say which of them became what
                a, b = a[1:], b[1:]
                continue
            claims, used_a, used_b = step
            yield from claims
            a, b = a[used_a:], b[used_b:]

    def _came_in_before(self, b: list[int], a: list[int]) -> bool:
        """Tell whether packets of the second tap went in before all of the first tap's memory, beyond any doubt.

        As they are good and unlike all that it holds, nothing there was changed into them. More than one is asked for:
        it may have been overtaken.
        """
        said = self.stretch.said
        if len(b) < _OVERTAKEN or self._summed or self._fields or said.reorders or said.rewrites:
            return False
        keys, _ = self._first_keys
        there = set(keys.values())
        return all(
            self.second.crc[j] == GOOD
            and self.content(self.second, j) not in there
            and not any(self._fits(i, j) for i in a[-_LOOK_AHEAD:])
            for j in b
        )

    def _step(self, a: list[int], b: list[int]) -> tuple[list[Claim], int, int] | None:
        """Return the claims of the first explanation that fits, and how many packets of each tap it uses."""
        skip = self._nearest(a, b[0])
        if skip == 0:
            return [self._changed(a[0], b[0])], 1, 1
        if self._summed:
            return None
        content = self.content
        if len(a) > 1:
            ahead = content(self.first, a[0]), content(self.first, a[1])
            one = joined(*ahead, after=content(self.second, b[0]), widths=self._widths)
            if one is not None:
                return [replace(self._named(one, a[0], b[0]), used=2)], 2, 1
        if len(b) > 1:
            behind = content(self.second, b[0]), content(self.second, b[1])
            one = split(content(self.first, a[0]), behind, self._widths)
            if one is not None:
                return [self._named(one, a[0], b[0], b[1])], 1, 2
        if skip is None:
            return None
        return [claim for n in a[:skip] for claim in self._dropped(n)], skip, 0

    def _nearest(self, a: list[int], j: int) -> int | None:
        """Return which of the next packets the one at the second tap is nearest to; None where to none.

        Packets that differ in a counter alone look like each other with some bits altered.
        """
        found = []
        for skip, i in enumerate(a[: _LOOK_AHEAD + 1]):
            choices = self._choices(i, j)
            if choices:
                found.append((choices[0].bits, skip))
        return min(found)[1] if found else None

    def _choices(self, i: int, j: int) -> list[Difference]:
        if self._summed:
            return []
        before, after = self.content(self.first, i), self.content(self.second, j)
        return differences(before, after, self._widths)

    def _fits(self, i: int, j: int) -> bool:
        return bool(self._choices(i, j))

    def _changed(self, i: int, j: int) -> Claim:
        choices = self._choices(i, j)
        if not choices:
            sizes = [int(end.length_B[n]) for end, n in ((self.first, i), (self.second, j))]
            what = (
                "only digests of them are there"
                if self._summed
                else "no general name accounts for the bytes"
            )
            text = (
                f"Packet {i} of {self.where[0]} ({sizes[0]} B) and what came out in its place "
                f"({sizes[1]} B) differ; {what}."
            )
            claim = self._claim(
                NONE_KNOWN, text, i, None, self._checks(i, j), "equal bytes at both taps"
            )
            return replace(claim, after=(j,))
        claim = self._named(choices[0], i, j)
        if len(choices) > 1:
            return replace(claim, candidates=tuple(choice.name for choice in choices))
        return claim

    def _named(self, choice: Difference, i: int, *after: int) -> Claim:
        text = f"Packet {i} of {self.where[0]}: on its way to {self.where[1]} {choice.text}."
        claim = self._claim(
            choice.name,
            text,
            i,
            self._beat(choice),
            self._checks(i, after[-1]),
            "equal bytes at both taps",
        )
        return replace(claim, lanes=choice.lanes, width=choice.width, after=after)

    def _beat(self, choice: Difference) -> int | None:
        """Return the beat at the first tap, which a preamble that is not compared may stand before."""
        said, width = self.first.said, self.first.tap.stream_bytes
        if said is None or not said.preamble or self._framed:
            return choice.beat
        return choice.beat + PREAMBLE_B // width if width <= PREAMBLE_B else None

    def _checks(self, i: int, j: int) -> tuple[Witness, ...]:
        """Return what the checks at both taps say of a packet that changed between them."""
        before, after = int(self.first.crc[i]), int(self.second.crc[j])
        rows = (self.row(self.first, i, f"packet {i}"), self.row(self.second, j, f"packet {j}"))
        seen = Witness(
            Says.FOR, "both taps hold the packet whole, and its neighbours are the same", rows
        )
        names = f"good at {self.where[0]}", f"at {self.where[1]}"
        if before == GOOD and after == BAD:
            check = Witness(Says.FOR, f"its CRC is {names[0]} and wrong {names[1]}")
        elif before == GOOD and after == GOOD:
            check = Witness(
                Says.AGAINST,
                f"its CRC is {names[0]} and good again {names[1]}: a block that changes "
                "packets and makes the CRC anew does so, and the card file does not say that it rewrites",
            )
        elif before == BAD and after == GOOD:
            check = Witness(
                Says.AGAINST,
                f"its CRC is wrong at {self.where[0]} and good {names[1]}: chance does not mend "
                f"packets, so what {self.where[0]} recorded is suspect",
            )
        else:
            check = Witness(Says.SILENT, "no CRC says at which of the two taps the packet is right")
        return seen, check

    def _dropped(self, i: int, others: str = _BOTH_SIDES_CAME_OUT) -> Iterator[Claim]:
        drops = self.stretch.said.drops
        if self.unproven or self._may_follow(i):
            return  # it may stand where the memory does not reach
        if drops is not None and self.first.verdict[i] == BAD:
            return  # it came in bad, and the card may drop it for that: a consequence
        length = int(self.first.length_B[i])
        alike = self._alike(i)
        which = f"Packet {i} of {self.where[0]}, {length} B,"
        if alike:
            numbers = ", ".join(map(str, alike[:8])) + ", ..." * (len(alike) > 8)
            which = f"One of the packets {numbers} of {self.where[0]}, {length} B each and alike,"
        text = f"{which} never came out of {self.where[1]}, where packets from before and after it did."
        seen = Witness(
            Says.FOR,
            f"it is whole at the first tap; {others}",
            (self.row(self.first, i, f"packet {i}"),),
        )
        falsifier = "the packet between its neighbours at the second tap, or a part of that memory that was not read"
        claim = self._claim(DROPPED, text, i, None, (seen, self._counted()), falsifier)
        yield replace(claim, packet=None) if alike else claim

    @cached_property
    def _first_keys(self) -> tuple[dict[int, Key], Counter[Key]]:
        keys = dict(self._both_keys[0])
        return keys, Counter(keys.values())

    def _alike(self, i: int) -> list[int]:
        """Return the packets of the same bytes between the anchors on both sides of one, if there are others."""
        keys, counts = self._first_keys
        if counts[keys[i]] == 1:
            return []
        low = max((n for n, _ in self.pairing.anchors if n < i), default=-1)
        high = min((n for n, _ in self.pairing.anchors if n > i), default=len(self.first))
        found = [n for n in range(low + 1, high) if keys.get(n) == keys[i]]
        return found if len(found) > 1 else []

    def _may_follow(self, i: int) -> bool:
        """Tell whether a packet that is missing may only be late: overtaken, and on its way out at the freeze."""
        later = [j for n, j in self.pairing.pairs if n > i]
        return len(later) < _OVERTAKEN or i == self._late

    @cached_property
    def _late(self) -> int | None:
        """The missing packet that may be on its way out: one alone is, so the youngest that may begin as that does."""
        last = len(self.second) - 1
        if self.second.stream.packets.flags[last] & int(Packet.CUT_END):
            begun = self.second.content(last)
        elif self.second.tap.said.store == "summary" and self.second.stream.pending:
            begun = b""
        else:
            return None
        came_out = {n for n, _ in self.pairing.pairs}
        newest = max(came_out)
        if any(self._begins(n, begun) for n in range(newest + 1, len(self.first))):
            return None  # one that is due, and no other
        missing = (n for n in range(newest - 1, -1, -1) if n not in came_out)
        return next((n for n in missing if self._begins(n, begun)), None)

    def _begins(self, i: int, begun: bytes) -> bool:
        """Tell whether a packet of the first tap may begin so, by as much of it as is there."""
        data = self.first.content(i)
        return data.startswith(begun[: len(data)] if self.first.stream.told[i] else begun)

    def _counted(self) -> Witness:
        drops = self.stretch.said.drops
        if drops is None:
            return Witness(Says.SILENT, "the card file names no counter of drops for this stretch")
        count = self.recording.counters.get(drops.counter)
        if count is None:
            return Witness(
                Says.SILENT,
                "the counter of drops was not read"
                if drops.counter
                else "nobody counts drops here",
            )
        if count:
            return Witness(Says.FOR, f"{drops.counter} stands at {count:,}")
        return Witness(
            Says.FOR, f"{drops.counter} stands at 0: the card lost it without counting it"
        )

    def _came_out_twice(self, j: int) -> Claim | None:
        """Return the claim that a packet is the last beat, with the end, of the packet in front of it once more."""
        i = next((i for i, other in self.pairing.pairs if other == j - 1), None)
        if i is None or self._summed:
            return None
        behind = self.content(self.second, j - 1), self.content(self.second, j)
        one = split(self.content(self.first, i), behind, self._widths)
        return None if one is None else self._named(one, i, j - 1, j)

    def _overtaken_since(self, j: int) -> bool:
        """Tell whether a packet may have gone in before the first tap's memory begins, on a way that reorders."""
        if not (self.stretch.said.reorders and self.first.stream.recorded.wrapped):
            return False
        return dict(self._both_keys[1])[j] not in self._first_keys[1]

    def _extra(self, j: int) -> Claim:
        text = f"Packet {j} of {self.where[1]} came out, and {self.where[0]} has none that it could be."
        seen = Witness(
            Says.FOR,
            "packets on both sides of it stand at both taps",
            (self.row(self.second, j, f"packet {j}"),),
        )
        t_ps, unc = self.at(self.second, j)
        falsifier = "the packet at the first tap"
        names = (REORDERED, NONE_KNOWN) if self._may_precede(j) else ()
        return Claim(
            NONE_KNOWN,
            text,
            self.where,
            None,
            None,
            t_ps,
            unc,
            (seen,),
            falsifier,
            names,
            after=(j,),
        )

    def _may_precede(self, j: int) -> bool:
        """Tell whether a packet may have gone in before the first tap's memory begins, and been overtaken."""
        if not len(self.first) or not self.first.stream.packets.flags[0] & int(Packet.CUT_BEGIN):
            return False
        left = self.content(self.first, 0)
        return bool(left) and self.content(self.second, j).endswith(left)

    def _claim(
        self,
        name: str,
        text: str,
        i: int,
        beat: int | None,
        witnesses: tuple[Witness, ...],
        falsifier: str,
    ) -> Claim:
        t_ps, unc = self.at(self.first, i)
        return Claim(name, text, self.where, i, beat, t_ps, unc, witnesses, falsifier)
