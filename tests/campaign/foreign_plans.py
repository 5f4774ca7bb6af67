"""What is done to a foreign design in one run, drawn from a seed: the bench's arguments, and the truth."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass

from tests.campaign.card_model import FAULTS
from tests.rtl.foreign.running import DESIGNS, Design

PREAMBLE_B, FCS_B = 8, 4
_SIZES = ((64, 128), (64, 600), (300, 700), (64, 400))


@dataclass(frozen=True, slots=True)
class Truth:
    """What was done.

    Attributes:
        name: its general name; "" for nothing.
        first: the tap in front of it. At it stand the packets that were hit as the bench saw them.
        tap: where it shows: the tap behind it, or the one at which it came in.
        frames: how many packets were hit; 0: it is the tap that stands still.
        byte: of the packet, the first that was hit; -1: no byte in particular.
        beat_B: bytes of a beat where it was hit: beats that are alike cannot be told apart.
    """

    name: str = ""
    first: str = ""
    tap: str = ""
    frames: int = 0
    byte: int = -1
    beat_B: int = 0


def cannot(design: str, fault: str) -> str:
    """Return why a fault cannot exist in a design; empty where it can."""
    if fault == "lanes-crossed" and DESIGNS[design].bits == 8:
        return "a stream of one byte has no lanes that could be crossed"
    return ""


def plan(name: str, fault: str, seed: int) -> tuple[list[str], Truth]:
    """Return the arguments of the bench for one run, and what it does."""
    chance = random.Random(f"{name} {fault} {seed}")
    design = DESIGNS[name]
    sizes = chance.choice(_SIZES)
    said = {
        "seed": chance.randrange(1 << 30), "shortest": sizes[0], "longest": sizes[1],
        "pause": chance.choice([20, 60] if design.is_axis else [1, 12, 40]),
        "lazy": chance.choice([0, 20, 60]), "alike": chance.choice([0, 0, 5]),
        "hit": chance.randint(400, 500) if design.is_axis else chance.randint(60, 120),
        "after": chance.randint(3, 4), "drain": chance.randint(20, 80 if design.is_axis else 300),
    }  # fmt: skip
    if fault == "none":
        if seed % 20 == 0:
            said["alike"] = 1
        return _words(said), Truth()
    width = design.bits // 8
    # Frames of five beats and more, so that a beat has neighbours.
    said["hit_B"] = chance.randint(max(64, 5 * width + 1 + FCS_B), 900)
    faults, truth = _DRAW[fault](chance, design, said)
    return [*_words(said), *faults], truth


Said = dict[str, int]
Drawn = tuple[list[str], Truth]


def _words(said: Said) -> list[str]:
    return [f"{key}={value}" for key, value in said.items()]


def _first(design: Design) -> str:
    return "rx_in" if design.is_axis else "wire"


def _stretch(design: Design, site: int) -> tuple[str, str]:
    if not design.is_axis:
        return "wire", "mac"
    return ("rx_in", "stored") if site < 3 else ("stored", "rx_out")


def _site(chance: random.Random, design: Design) -> tuple[int, int, int]:
    """Return a place between two taps, the bytes of its beats, and those that stand there before the frame."""
    site = chance.choice([1, 2, 3] if design.is_axis else [2, 3])
    line = site < 3 and not design.is_axis
    return site, 1 if line else design.bits // 8, PREAMBLE_B * line


def _beats(design: Design, said: Said, width: int) -> int:
    """Return how many beats of what both taps have a frame has."""
    return -(-(said["hit_B"] - (0 if design.is_axis else FCS_B)) // width)


def _bad_fcs(chance: random.Random, design: Design, said: Said) -> Drawn:
    first = _first(design)
    truth = Truth(FAULTS["bad-fcs"], first, first, 1)
    bits = chance.randint(1, 3)
    if design.is_axis:
        said["bad"] = bits
        return [], truth
    places = chance.sample(range(8 * said["hit_B"]), bits)
    hits = [f"1:flip:{said['hit']}:{PREAMBLE_B + place // 8}:0:{place % 8}" for place in places]
    return hits, truth


def _runt(chance: random.Random, design: Design, said: Said) -> Drawn:
    first = _first(design)
    truth = Truth(FAULTS["runt"], first, first, 1)
    length, good = chance.randint(18, 63), chance.randrange(2)
    if design.is_axis:
        said["hit_B"], said["bad"] = length, 0 if good else 2
        return [], truth
    cut = PREAMBLE_B + length - 1
    return [f"1:cut:{said['hit']}:{cut}:{PREAMBLE_B}:{good}"], truth


def _fifo_drop(chance: random.Random, design: Design, said: Said) -> Drawn:
    site, _, _ = _site(chance, design)
    if design.is_axis and chance.random() < 0.5:
        # Its own FIFO has no room, and counts what it drops; then the receiver takes what waits there, so long that
        # only the pauses between frames keep the dropped one in the first tap's memory.
        # Frames that fill it before the card's checker calls the receiver stuck.
        said |= {"block": said["hit"], "hit": -1, "hit_B": 0, "lazy": 0, "pause": 60, "drain": 500}
        said |= {"shortest": 300, "longest": 700}
        return [], Truth(FAULTS["fifo-drop"], "rx_in", "stored", 1)
    first, tap = _stretch(design, site)
    return [f"{site}:drop:{said['hit']}"], Truth(FAULTS["fifo-drop"], first, tap, 1)


def _one_beat(what: str, name: str) -> Callable[[random.Random, Design, Said], Drawn]:
    def drawn(chance: random.Random, design: Design, said: Said) -> Drawn:
        site, width, before = _site(chance, design)
        beats = _beats(design, said, width)
        # On LiteEth's line four bytes of FCS follow: without the last byte before them the packet is cut.
        beat = chance.randrange(beats - (before > 0))
        first, tap = _stretch(design, site)
        byte = beat * width
        arguments = ""
        if what == "flip":
            size = said["hit_B"] - (0 if design.is_axis else FCS_B)
            inside = chance.randrange(min(width, size - byte))
            byte += inside
            arguments = f":{inside}:{chance.randrange(8)}"
        hit = f"{site}:{what}:{said['hit']}:{before // width + beat}{arguments}"
        return [hit], Truth(FAULTS[name], first, tap, 1, byte, 0 if what == "flip" else width)

    return drawn


def _lanes_crossed(chance: random.Random, design: Design, said: Said) -> Drawn:
    site = chance.choice([1, 2, 3]) if design.is_axis else 3
    a, b = chance.sample(range(design.bits // 8), 2)
    what = chance.choice(["cross", "crossed"])
    first, tap = _stretch(design, site)
    return [f"{site}:{what}:{said['hit']}:0:{a}:{b}"], Truth(FAULTS["lanes-crossed"], first, tap, 1)


def _tlast_lost(chance: random.Random, design: Design, said: Said) -> Drawn:
    site = chance.choice([1, 2, 3]) if design.is_axis else 3
    first, tap = _stretch(design, site)
    return [f"{site}:nolast:{said['hit']}"], Truth(FAULTS["tlast-lost"], first, tap, 1)


def _swapped(chance: random.Random, design: Design, said: Said) -> Drawn:
    site, _, _ = _site(chance, design)
    first, tap = _stretch(design, site)
    return [f"{site}:swap:{said['hit']}"], Truth(FAULTS["swapped"], first, tap, 2)


def _stall(chance: random.Random, design: Design, said: Said) -> Drawn:
    last = "rx_out" if design.is_axis else "mac"
    if chance.random() < 0.5:
        said["stuck"], said["wait"] = said["hit"], 60_000
        return [], Truth(FAULTS["stall"], _stretch(design, 3)[0], last)
    site, width, before = _site(chance, design)
    said["wait"] = chance.randint(20_000, 40_000)
    beat = before // width + chance.randrange(_beats(design, said, width))
    first, tap = _stretch(design, site)
    said["after"] = 1 << 30
    return [f"{site}:stop:{said['hit']}:{beat}"], Truth(FAULTS["stall"], first, tap)


def _gap(chance: random.Random, design: Design, said: Said) -> Drawn:
    first = _first(design)
    # The recorder goes on for 64 records: on a line of 8 bits 512 B, fewer where the receiver waits, in which the frame
    # must end to be there whole.
    said["hit_B"] = min(said["hit_B"], 300) if not design.is_axis else said["hit_B"]
    before = 0 if design.is_axis else PREAMBLE_B
    width = 64 if design.is_axis else 1
    beat = chance.randrange(1, before + said["hit_B"] // width)
    site = 0 if design.is_axis else 1
    byte = beat * width if design.is_axis else -1
    hit = f"{site}:gap:{said['hit']}:{beat}:{chance.randint(1, 40)}"
    return [hit], Truth(FAULTS["gap"], first, first, 1, byte)


_DRAW = {
    "bad-fcs": _bad_fcs,
    "runt": _runt,
    "fifo-drop": _fifo_drop,
    "beat-omitted": _one_beat("omit", "beat-omitted"),
    "beat-duplicated": _one_beat("twice", "beat-duplicated"),
    "bits-flipped": _one_beat("flip", "bits-flipped"),
    "lanes-crossed": _lanes_crossed,
    "tlast-lost": _tlast_lost,
    "swapped": _swapped,
    "stall": _stall,
    "gap": _gap,
}
