"""ff_card_trigger_sequence in Verilator: the truth table of docs/trigger.md, followed by a model of its own.

The same stimulus then goes through the emulator's model, which has to say the same.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import pytest

from freezeframe.capture.card.trigger_steps import Mode, Step, StepTrigger
from freezeframe.emulator.card_trigger import TakenWord, played
from tests.processes import run_program
from tests.rtl.recorded import sources_of
from tests.rtl.simulation import tool

TAPS = 4
ANY, WITHIN, AFTER, NOT_WITHIN = range(4)
ARMED = 3  # cycle of the arm
A, B, NOT_A = 0xAAAA, 0xCCCC, 0x5555  # combinations in which term a is, b is, a is not


class Word(NamedTuple):
    """``offered``: from this cycle on; ``cycle``: that it tells."""

    offered: int
    tap: int
    terms: int
    cycle: int


@dataclass(frozen=True)
class Setting:
    steps: Sequence[tuple[int, int, int]]  # when, count, mode
    timer: int = 0
    enable: int = 1
    pin_enable: int = 0
    pin_falling: int = 0


@dataclass
class Told:
    """What a simulation showed: the cycle of each fire, and at its end the steps' words and the register fired."""

    fires: list[int] = field(default_factory=list)
    pin_fires: list[int] = field(default_factory=list)
    taken: list[tuple[int, int]] = field(default_factory=list)  # cycle, tap
    fired: int = 0
    words: list[tuple[int, int]] = field(default_factory=list)


Run = Callable[..., Told]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Build the bench; return what lets it run over words for so many cycles."""
    folder = tmp_path_factory.mktemp("steps")
    bench = Path(__file__).with_name("bench_steps.cpp")
    built = run_program(
        [tool("verilator"), "--cc", "--exe", "--build", "-O3", "-Wall", "--prefix", "Vtop", "--top-module",
         "ff_card_trigger_sequence", f"-GTAPS={TAPS}", "-CFLAGS", "-O1 -std=c++17",
         *sources_of("ff_card_trigger_sequence"), bench, "-Mdir", "obj", "-o", "bench"], cwd=folder,
    )  # fmt: skip
    assert built.returncode == 0, built.stdout + built.stderr

    def simulate(
        setting: Setting,
        words: Sequence[Word],
        cycles: int,
        *,
        armed: Sequence[int] = (ARMED,),
        triggered: int | None = None,
        pin: Sequence[int] = (),
        pin_off: Sequence[int] = (),
        outside: int | None = None,
    ) -> Told:
        steps = [*setting.steps, *[(0, 0, 0)] * (3 - len(setting.steps))]
        head = [
            setting.enable,
            len(setting.steps) - 1,
            *(s[0] for s in steps),
            *(s[2] for s in steps),
        ]
        head += [*(s[1] for s in steps), setting.timer, setting.pin_enable, setting.pin_falling]
        # A tap offers its words in order, each until it is taken; what the bench takes decides what it is offered
        # next, so the order in which the block takes words is told to it: lowest tap first, one a cycle.
        queues = {tap: [w for w in words if w.tap == tap] for tap in range(TAPS)}
        lines, told = [], Told()
        shown: list[list[int]] = []
        blocked = _Blocked(setting)
        for now in range(cycles):
            arm = now in armed
            line = [
                int(arm),
                int(triggered is not None and now >= triggered),
                int(now == outside),
                int(now in pin) | int(now in pin_off) << 1,
            ]
            front = [
                queues[tap][0] if queues[tap] and queues[tap][0].offered <= now else None
                for tap in range(TAPS)
            ]
            for word in front:
                epoch = sum(at < word.offered for at in armed) & 1 if word else 0
                line += [1, epoch, word.terms, word.cycle] if word else [0, 0, 0, 0]
            lines.append(" ".join(map(str, line)))
            first = next((tap for tap, word in enumerate(front) if word), None)
            if (
                blocked.takes(now, arm, None if first is None else front[first], armed)
                and first is not None
            ):
                queues[first].pop(0)
                told.taken.append((now, first))
        given = " ".join(map(str, head)) + "\n" + "\n".join(lines) + "\n"
        done = run_program([folder / "obj" / "bench"], cwd=folder, input=given)
        assert done.returncode == 0, done.stderr
        shown = [list(map(int, line.split())) for line in done.stdout.splitlines()]
        assert len(shown) == cycles
        assert [
            (now, ready.bit_length() - 1) for now, (ready, *_) in enumerate(shown) if ready
        ] == told.taken
        told.fires = [now for now, row in enumerate(shown) if row[1]]
        told.pin_fires = [now for now, row in enumerate(shown) if row[2]]
        told.fired = shown[-1][3]
        told.words = [(shown[-1][4 + 2 * n], shown[-1][5 + 2 * n]) for n in range(3)]
        return told

    return simulate


@dataclass
class _Blocked:
    """The truth table, cycle by cycle: a word waits in one register, and is taken unless a time is over."""

    setting: Setting
    waits: Word | None = None
    epoch_ok: bool = False
    step: int = 0
    matches: int = 0
    age: int = 1
    fired: int | None = None
    fires: list[int] = field(default_factory=list)
    kept: dict[int, tuple[int, int]] = field(default_factory=dict)

    def takes(self, now: int, arm: bool, offered: Word | None, armed: Sequence[int]) -> bool:
        """Let a cycle pass; return whether what is offered goes into the register."""
        timer = self.setting.timer
        waits, ok = self.waits, self.epoch_ok
        over = self.age > timer
        when, count, mode = self.setting.steps[self.step]
        early = mode == AFTER and not over
        looks = not arm and self.fired is None and bool(self.setting.enable)
        enter, target = arm or not self.setting.enable, 0
        ended = looks and over and mode in (WITHIN, NOT_WITHIN)
        if ended and mode == NOT_WITHIN:
            enter, target = True, self._reached((1 << 31, now), now)
        elif ended:
            enter = True
        elif looks and waits is not None and ok and when >> waits.terms & 1 and not early:
            self.matches += 1
            if self.matches >= max(1, count):
                enter = True
                if mode != NOT_WITHIN:
                    target = self._reached((waits.tap << 8 | waits.terms, waits.cycle), now)
        self.age += 1
        if enter:
            self.step, self.matches, self.age = target, 0, 1
            if arm:
                self.fired = None
        if waits is not None and ended:
            return False
        self.waits = offered
        # the epoch is compared when the word is looked at, in the next cycle
        self.epoch_ok = offered is not None and (
            sum(at < offered.offered for at in armed) == sum(at <= now for at in armed)
        )
        return True

    def _reached(self, word: tuple[int, int], now: int) -> int:
        self.kept[self.step] = word
        if self.step + 1 < len(self.setting.steps):
            return self.step + 1
        self.fired = now
        self.fires.append(now)
        return self.step

    @property
    def reached(self) -> int:
        return len(self.setting.steps) if self.fired is not None else self.step


def follow(
    setting: Setting, words: Sequence[Word], cycles: int
) -> tuple[_Blocked, list[tuple[int, Word]]]:
    """Follow the truth table; return its end, and the words with the cycle in which each was looked at."""
    model = _Blocked(setting)
    queues = [[w for w in words if w.tap == tap] for tap in range(TAPS)]
    entered: list[tuple[int, Word]] = []
    for now in range(cycles):
        front = next((q[0] for q in queues if q and q[0].offered <= now), None)
        if model.takes(now, now == ARMED, front, (ARMED,)) and front is not None:
            queues[front.tap].pop(0)
            entered.append((now + 1, front))
    return model, entered


def drawn(seed: int) -> tuple[Setting, list[Word], int]:
    draw = random.Random(seed)
    steps = [
        (draw.choice([A, B, A | B, A & B, NOT_A, draw.getrandbits(16)]), draw.choice([0, 1, 1, 2, 3, 7]),
         draw.choice([ANY, ANY, WITHIN, AFTER, NOT_WITHIN]))
        for _ in range(draw.randint(1, 3))
    ]  # fmt: skip
    setting = Setting(steps, draw.choice([0, 1, 2, 5, 20, 60]))
    dense, cycles = draw.choice([0.05, 0.2, 0.5]), 240
    words = [
        Word(now, tap, draw.randrange(16), now * 7 + tap)
        for tap in range(draw.randint(1, TAPS))
        for now in range(cycles)
        if draw.random() < dense
    ]
    return setting, words, cycles


def test_random_steps_over_random_words_follow_the_truth_table_and_the_emulator_says_the_same(
    run: Run,
) -> None:
    fired = reached = 0
    for seed in range(250):
        setting, words, cycles = drawn(seed)
        told = run(setting, words, cycles)
        model, entered = follow(setting, words, cycles - 1)  # what stands in the last cycle
        assert told.fires == [at + 1 for at in model.fires], seed
        assert told.fired == (model.fired is not None) | model.reached << 4, seed
        for step in range(model.reached):
            assert told.words[step] == model.kept[step], (seed, step)
        # the emulator takes the words in the order in which they came
        trigger = StepTrigger(
            (),
            tuple(Step(when, count, Mode(mode)) for when, count, mode in setting.steps),
            setting.timer,
        )
        since = [
            (offered + 1, TakenWord(word.tap, word.terms, word.cycle))
            for offered, word in ((at - 1, word) for at, word in entered)
            if word.offered > ARMED
        ]
        machine = played(trigger, ARMED, since, cycles - 2)
        assert machine.fired == model.fired, seed
        assert len(machine.reached) == model.reached, seed
        for step, (word, cycle) in enumerate(machine.reached):
            kept = 1 << 31 if word is None else word.tap << 8 | word.terms
            assert (kept, cycle) == told.words[step], (seed, step)
        fired += model.fired is not None
        reached += model.reached > 1
    assert fired > 100 and reached > 40


def test_a_count_a_time_within_and_a_combination_of_terms(run: Run) -> None:
    setting = Setting([(A, 2, ANY), (A & B, 1, WITHIN)], timer=10)
    words = [Word(10, 0, 1, 100), Word(12, 1, 1, 101), Word(16, 0, 1, 102), Word(17, 2, 3, 103)]
    told = run(setting, words, 40)
    assert told.fires == [19]  # looked at in 18, out of a register
    assert told.fired == 1 | 2 << 4
    assert told.words[:2] == [(1 << 8 | 1, 101), (2 << 8 | 3, 103)]


def test_a_step_that_comes_too_late_begins_anew(run: Run) -> None:
    setting = Setting([(A, 1, ANY), (B, 1, WITHIN)], timer=5)
    words = [Word(10, 0, 1, 0), Word(17, 0, 2, 1), Word(30, 0, 1, 2), Word(34, 0, 2, 3)]
    told = run(setting, words, 50)
    assert told.fires == [36]
    assert told.words[:2] == [(1, 2), (2, 3)]


def test_a_word_that_does_not_come_fires_at_the_end_of_the_time_and_one_that_comes_does_not(
    run: Run,
) -> None:
    setting = Setting([(A, 1, ANY), (B, 1, NOT_WITHIN)], timer=8)
    late = run(setting, [Word(10, 0, 1, 77)], 40)
    assert late.fires == [11 + 8 + 2]  # entered in 11, over in 11 + 9, in a register
    assert late.words[:2] == [(1, 77), (1 << 31, 20)]
    assert run(setting, [Word(10, 0, 1, 77), Word(18, 0, 2, 78)], 40).fires == []


def test_words_before_the_arm_and_behind_the_cause_are_not_seen(run: Run) -> None:
    setting = Setting([(A, 1, ANY)])
    assert run(setting, [Word(2, 0, 1, 0)], 20).fires == []
    assert run(setting, [Word(10, 0, 1, 0)], 20, triggered=9).fires == []
    assert run(setting, [Word(10, 0, 1, 0)], 20).fires == [12]
    assert run(Setting([(A, 1, ANY)], enable=0), [Word(10, 0, 1, 0)], 20).fires == []


def test_it_fires_once_an_arm_and_again_behind_the_next_one(run: Run) -> None:
    words = [Word(at, 0, 1, at) for at in (10, 20, 30)]
    assert run(Setting([(A, 1, ANY)]), words, 50).fires == [12]
    assert run(Setting([(A, 1, ANY)]), words, 50, armed=(ARMED, 15)).fires == [12, 22]


@pytest.mark.parametrize(("falling", "edges"), [(0, [12]), (1, [16])])
def test_the_pin_fires_on_the_edge_it_is_asked_for_and_the_card_s_own_wire_is_told(
    run: Run, falling: int, edges: list[int]
) -> None:
    high = range(10, 14)
    told = run(Setting([(0, 1, ANY)], pin_enable=1, pin_falling=falling), [], 30, pin=high)
    assert told.pin_fires == edges
    assert told.fired == 0b010
    assert run(Setting([(0, 1, ANY)]), [], 30, pin=high).pin_fires == []
    assert run(Setting([(0, 1, ANY)]), [], 30, outside=20).fired == 0b100


PIN = Setting([(0, 1, ANY)], pin_enable=1)


def test_an_edge_before_the_first_arm_is_none(run: Run) -> None:
    told = run(PIN, [], 30, armed=(), pin=range(10, 14))
    assert (told.pin_fires, told.fired) == ([], 0)


def test_an_edge_between_the_setting_of_the_pin_and_the_next_arm_is_none(run: Run) -> None:
    """It is set in cycle 8, while the card records, and armed in cycle 20."""
    high = (*range(10, 14), *range(30, 34))
    told = run(PIN, [], 40, armed=(ARMED, 20), pin=high, pin_off=range(8))
    assert (told.pin_fires, told.fired) == ([32], 0b010)
    told = run(PIN, [], 40, armed=(ARMED,), pin=high, pin_off=range(8))
    assert (told.pin_fires, told.fired) == ([], 0)


@pytest.mark.parametrize(
    ("edge", "fires", "fired"),
    [(16, [18], 0), (17, [19], 0), (18, [], 0), (19, [], 0), (20, [], 0), (21, [23], 2)],
)
def test_an_edge_counts_for_the_recording_in_which_it_comes_also_beside_an_arm(
    run: Run, edge: int, fires: list[int], fired: int
) -> None:
    """The arm is in cycle 20; an edge is seen two cycles on, and is then one of before it or of behind it."""
    told = run(PIN, [], 40, armed=(ARMED, 20), pin=range(edge, edge + 5))
    assert (told.pin_fires, told.fired) == (fires, fired)


def test_a_pin_that_is_switched_off_is_off_at_once_and_on_again_with_the_next_arm(run: Run) -> None:
    high = (*range(10, 13), *range(20, 23), *range(40, 43))
    told = run(PIN, [], 60, armed=(ARMED, 30), pin=high, pin_off=range(8, 16))
    assert told.pin_fires == [42]
