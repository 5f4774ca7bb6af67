"""Random valid cards by seed: clocks, taps of any width, formats, depths, what their stretches may do."""

from __future__ import annotations

import random
from dataclasses import dataclass

from freezeframe.capture.card.elaborated import ElaboratedCard, elaborate
from freezeframe.capture.card.reading import parse_card

_HZ = (100_000_000, 125_000_000, 156_250_000, 250_000_000, 322_265_625)
_BITS = (8, 16, 32, 64, 64, 128, 256, 512, 1024)
_SIZES = ((64, 130), (64, 400), (200, 500), (64, 1500))


@dataclass(frozen=True, slots=True)
class Geometry:
    """A card, and what its traffic has to respect.

    Attributes:
        strips: stretches of the path, by number, that take the FCS off.
        related: the time line reaches every clock.
        sizes: shortest and longest frame, FCS included.
        summed: taps keep a record a packet.
    """

    card: ElaboratedCard
    strips: frozenset[int]
    sizes: tuple[int, int]
    related: bool
    summed: bool

    @property
    def path(self) -> list[str]:
        return list(self.card.said.path["p"].taps)

    def bits(self, stage: int) -> int:
        return self.card.tap(self.path[stage]).said.bits

    @property
    def checked(self) -> bool:
        """Whether the first tap has a CRC to judge by."""
        return self.card.tap(self.path[0]).said.format != "r"


def geometry(seed: int) -> Geometry:
    """Return the card of a seed."""
    chance = random.Random(f"geometry {seed}")
    clocks = chance.sample(_HZ, chance.randint(1, 3))
    taps = chance.randint(2, 4)
    summed = chance.random() < 0.1
    form = chance.choices(["e", "pre", "own", "r"], [6, 1, 2, 1])[0]
    if summed:
        form = "e"
    strips = -1
    if form == "e" and not summed and chance.random() < 0.3:
        strips = chance.randrange(taps - 1)
    low, high = chance.choice(_SIZES)
    parts = [
        'schema = 1\n[card]\nname = "random"\n[clock.bus]\nhz = 100_000_000\nregisters = true\n'
    ]
    parts += [f"[clock.c{n}]\nhz = {hz}\nppm = 100\n" for n, hz in enumerate(clocks)]
    parts.append('[format.e]\nis = "ethernet"\n[format.bare]\nis = "ethernet"\nfcs = "stripped"\n')
    parts.append('[format.pre]\nis = "ethernet"\npreamble = true\n[format.r]\nis = "raw"\n')
    parts.append("""\
[format.own]
is = "fields"
shortest_B = 64
[format.own.field.type]
at_bit = 96
bits = 16
[format.own.check.fcs]
crc = "CRC-32/ISO-HDLC"
at = -4
end = -4
order = "little"
""")
    names = [f"t{n}" for n in range(taps)]
    for n, name in enumerate(names):
        bits = chance.choice(_BITS)
        here = "bare" if 0 <= strips < n else form
        loose = bits < 64 and n > 0 and chance.random() < 0.3
        records = -(-high // 8) if bits <= 64 else -(-8 * high // bits)
        depth = 64
        while depth < 24 * (records + 4):
            depth *= 2
        lines = [
            f'[tap.{name}]\nkind = "axi-stream"',
            f'clock = "c{chance.randrange(len(clocks))}"',
        ]
        lines += [f"bits = {bits}", f'format = "{here}"']
        lines.append(f"depth = {chance.choice([depth, 2 * depth])}")
        lines += [f'keep = "{chance.choice(["tail", "any"])}"'] if bits > 8 else []
        lines += ["ready = true"] if n else []
        lines.append(f'time = "{"loose" if loose else "exact"}"')
        lines.append(f'recorder = "{chance.choice(["plain", "fast"])}"')
        lines += ['store = "summary"'] if summed else []
        parts.append("\n".join(lines) + "\n")
    parts.append(f"[path.p]\ntaps = {names}\n".replace("'", '"'))
    counted = ""
    for n in range(taps - 1):
        lines = ["[[path.p.stretch]]"]
        if chance.random() < 0.5:
            lines.append(f'drops = {{ counter = "drops{n}", whole = true }}')
            counted += f'[counter.drops{n}]\nwire = "drop{n}"\nclock = "c0"\n'
        if n == strips:
            lines.append('fcs = "stripped"')
        lines.append(f'forwarding = "{chance.choice(["cut-through", "store-and-forward"])}"')
        parts.append("\n".join(lines) + "\n")
    if chance.random() < 0.3:  # another path, on which nothing happens
        parts.append(
            '[tap.u0]\nkind = "axi-stream"\nclock = "c0"\nformat = "e"\n'
            '[tap.u1]\nkind = "axi-stream"\nclock = "c0"\nformat = "e"\n[path.q]\ntaps = ["u0", "u1"]\n'
        )
    parts.append(counted)
    for name in names:
        parts.append(f'[counter.{name}_packets]\ncounts = "packets"\ntap = "{name}"\n')
    parts.append('[cause.gap]\ncheck = "gap"\ntap = "t0"\n')
    text = "\n".join(parts)
    stripped = frozenset() if strips < 0 else frozenset([strips])
    related = chance.random() < 0.9
    return Geometry(elaborate(parse_card(text)), stripped, (low, high), related, summed)
