"""The emulator's recorder and the RTL's are the same device: same stimulus, same bits.

Random stimuli of words, events, causes, register writes and triggers, in two clock domains of four ratios, among them
equal clocks and coinciding edges. What differs between real runs because of the crossing of clocks is fixed in
simulation, but for the freedoms that docs/formats.md section 2.1 lists: those stimuli are left out here.

Source: docs/formats.md sections 1.1, 2 and 6.
"""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from freezeframe.capture.registers.layouts import Domain
from freezeframe.emulator.clocks import Clock
from freezeframe.emulator.trigger import Term, Trigger
from tests.rtl.equivalence import Board, Stimulus, build, follow, simulate
from tests.rtl.recorded import ANEW

BOARDS = {
    "card": Board(),
    "equal-clocks": Board(link_ps=10_000, places=4, drain=16, cross_latency=1, tap_depth=16),
    "fast-link": Board(link_ps=4_000, link_phase_ps=1_300, places=32, event_depth=64, drain=16),
    "slow-link": Board(
        bus_ps=4_000, link_ps=12_800, bus_phase_ps=700, places=6, event_depth=16, cross_latency=40
    ),
}
SEEDS = 40 if ANEW else 10
Bench = tuple[Board, Path, Path, tuple[int, int]]  # and what runs it, where, times of cycle 0


@pytest.fixture(scope="module", params=list(BOARDS))
def bench(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Bench:
    board = BOARDS[request.param]
    folder = tmp_path_factory.mktemp("bench")
    vvp = build(board, folder)
    zero_ps = simulate(vvp, board, Stimulus(), folder).zero_ps
    return board, vvp, folder, zero_ps


def test_random_stimuli_leave_identical_memories_counts_causes_times_and_pairs(
    bench: Bench,
) -> None:
    board, vvp, folder, zero_ps = bench
    freezes = 0
    for seed in range(SEEDS):
        stimulus = _stimulus(random.Random(f"{board}/{seed}"), board, zero_ps)
        freezes += _same(board, vvp, folder, stimulus, f"seed {seed}")
    assert freezes >= SEEDS  # the stimuli are such that there is something to compare


def _same(board: Board, vvp: Path, folder: Path, stimulus: Stimulus, what: str) -> int:
    rtl = simulate(vvp, board, stimulus, folder)
    emulator = follow(board, stimulus, rtl.zero_ps)
    link_tap = stimulus.trigger.tap in (1, 2)
    period_ps = board.link_ps if link_tap else board.bus_ps
    end = (rtl.zero_ps[0] + (board.cycles - 4) * board.bus_ps - rtl.zero_ps[link_tap]) // period_ps
    on_the_way = {arm - back for arm in rtl.arms_link for back in range(4)} if link_tap else set()
    assert [c for c in rtl.steps if c < end and c not in on_the_way] == [
        c for c in emulator.steps if c < end
    ], what
    for run in (rtl, emulator):  # the bench ends in the middle of its last cycles
        run.freezes = [freeze for freeze in run.freezes if freeze.cycle < board.cycles - 4]
        run.crosses = [cycle for cycle in run.crosses if cycle < board.cycles - 4]
    assert rtl.arms == emulator.arms, what
    assert rtl.arms_link == emulator.arms_link, what
    assert rtl.crosses == emulator.crosses, what
    assert [freeze.cycle for freeze in rtl.freezes] == [
        freeze.cycle for freeze in emulator.freezes
    ], what
    for number, (one, other) in enumerate(zip(rtl.freezes, emulator.freezes, strict=True)):
        where = f"{what}, freeze {number}"
        for name in ("generation", "causes", "cause_cycle", "pairs"):
            assert getattr(one, name) == getattr(other, name), f"{where}: {name}"
        whole = board.event_depth + board.tap_depth + 4
        later = [arm for arm in rtl.arms if arm >= one.cycle]
        read_whole = min(later, default=board.cycles - 1) - one.cycle > whole
        for memory in range(5):
            spot = f"{where}: memory {memory}"
            if read_whole:
                assert one.memories[memory] == other.memories[memory], spot
                assert one.slots[memory] == other.slots[memory], spot
            else:  # an arm cut the reading short: what was read is right
                read = one.slots[memory]
                assert read == {slot: other.slots[memory][slot] for slot in read}, spot
    return len(rtl.freezes)


def _stimulus(draw: random.Random, board: Board, zero_ps: tuple[int, int]) -> Stimulus:
    bus, link = (
        Clock("", 10**12 // period, 0, zero * 1000)
        for period, zero in zip((board.bus_ps, board.link_ps), zero_ps, strict=True)
    )
    last = board.cycles - 1
    last_link = max(2, min(last, link.cycle_at(bus.edge_ps(last))))
    made = Stimulus()
    cycle = draw.randrange(5, 40)
    while cycle < last * 3 // 4:
        made.arms.append(cycle)
        cycle += draw.choice([draw.randrange(30, 90), draw.randrange(200, 700)])
    taken = set(made.arms)
    for _ in range(draw.randrange(3)):
        if (at := draw.randrange(2, last)) not in taken:
            made.freezes.append(at)
            taken.add(at)
    for _ in range(draw.randrange(4)):
        if (at := draw.randrange(2, last)) not in taken:
            key = draw.choice([0x4152, 0x465A, draw.getrandbits(16)])
            made.writes.append((at, draw.random() < 0.5, key << 16 | draw.randrange(100, 1 << 16)))
            taken.add(at)
    made.crosses = sorted(draw.sample(range(2, last, 4), draw.choice([0, 0, 1, 3])))
    for domain, until in ((Domain.BUS, last), (Domain.LINK, last_link)):
        for _ in range(draw.randrange(4)):
            first = draw.randrange(2, until)
            for at in range(first, min(until, first + draw.randrange(1, 4))):
                made.causes[domain][at] = draw.getrandbits(10) << 1
    for arm in made.arms:  # the freedom of an arm on its way to the link domain
        here = link.cycle_at(bus.edge_ps(arm))
        for at in range(here, link.crossed(bus.edge_ps(arm)) + 2):
            made.causes[Domain.LINK].pop(at, None)
    for memory, until in enumerate((last, last_link, last_link, last)):
        made.words[memory] = _words(draw, until)
    made.events = _events(draw, last, board.places)
    if draw.random() < 0.4:
        made.kinds = [draw.choice([0xFFFF, draw.getrandbits(16)]) for _ in range(5)]
    made.post = [draw.choice([0, 1, 2, draw.randrange(12), draw.randrange(40)]) for _ in range(5)]
    if draw.random() < 0.5:
        made.cause_mask = draw.getrandbits(12)
    if draw.random() < 0.6:
        made.trigger = _trigger(draw)
    return made


def _words(draw: random.Random, until: int) -> dict[int, tuple[int, int]]:
    words, cycle = {}, draw.randrange(1, 30)
    while cycle < until:
        run = draw.choice([1, 1, 2, draw.randrange(1, 40)])
        for at in range(cycle, min(until, cycle + run)):
            words[at] = (
                draw.randrange(1, 4),
                draw.choice([draw.getrandbits(64), draw.randrange(4)]),
            )
        cycle += run + draw.choice([1, 1, 12, 13, 14, 15, 16, draw.randrange(1, 120)])
    return words


def _events(
    draw: random.Random, until: int, places: int
) -> dict[int, dict[int, tuple[int, int, int, int]]]:
    events: dict[int, dict[int, tuple[int, int, int, int]]] = {}
    cycle = draw.randrange(1, 30)
    while cycle < until:
        storm = draw.choice([1, 1, 2, draw.randrange(1, 3 * places)])
        crowd = draw.choice([0.2, 0.5, 1.0])
        for at in range(cycle, min(until, cycle + storm)):
            lanes = {
                source: (
                    draw.randrange(4, 13),
                    draw.getrandbits(8),
                    draw.getrandbits(7),
                    draw.getrandbits(40),
                )
                for source in range(6)
                if draw.random() < crowd
            }
            if lanes:
                events[at] = lanes
        cycle += storm + draw.choice([1, 13, 14, 15, 16, draw.randrange(1, 100)])
    return events


def _trigger(draw: random.Random) -> Trigger:
    terms = tuple(
        Term(
            draw.randrange(4),
            draw.choice([0, 1, 3, (1 << 64) - 4]),
            draw.choice([0b1110, 0b0100, 0xFFFF, 0]),
        )
        for _ in range(2)
    )
    return Trigger(
        enable=True, tap=draw.randrange(4), edge=draw.random() < 0.4, sequence=draw.random() < 0.5,
        count=draw.choice([0, 1, 2, 3, 20]), limit=draw.choice([0, 0, 1, 2, 3, 30]), terms=(terms[0], terms[1]),
    )  # fmt: skip
