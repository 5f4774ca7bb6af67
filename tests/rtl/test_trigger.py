"""ff_trigger and ff_trigger_steps: the truth table of docs/trigger.md, followed word by word."""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from typing import Any

import cocotb

from tests.rtl.cycles import Block
from tests.rtl.simulation import in_icarus

INPUTS = (
    "restart", "cfg_enable", "cfg_edge", "cfg_sequence", "cfg_count", "cfg_limit", "cfg_value", "cfg_mask", "cfg_kinds",
    "word_valid", "word_kind", "word_data",
)  # fmt: skip
OUTPUTS = ("step", "fire")
HEAD, BODY, TAIL = 1, 2, 3

Word = tuple[int, int]  # kind, data


test_the_trigger_follows_its_truth_table = in_icarus(
    "ff_trigger",
    __name__,
    {"TERMS": 2, "WITH_EDGE": 1, "COUNT_W": 32, "LIMIT_W": 32},
    {"TERMS": 2, "WITH_EDGE": 1, "COUNT_W": 1, "LIMIT_W": 1},
    {"TERMS": 1, "WITH_EDGE": 0, "COUNT_W": 1, "LIMIT_W": 1},
)


@dataclass
class Setting:
    terms: tuple[tuple[int, int, int], tuple[int, int, int]]  # value, mask, kinds
    edge: int = 0
    sequence: int = 0
    count: int = 0
    limit: int = 0

    def inputs(self) -> dict[str, int]:
        value, mask, kinds = (
            sum(term[part] << width * number for number, term in enumerate(self.terms))
            for part, width in ((0, 64), (1, 64), (2, 16))
        )
        return {
            "cfg_enable": 1, "cfg_edge": self.edge, "cfg_sequence": self.sequence, "cfg_count": self.count,
            "cfg_limit": self.limit, "cfg_value": value, "cfg_mask": mask, "cfg_kinds": kinds,
        }  # fmt: skip


@dataclass
class Followed:
    """The truth table, one word at a time."""

    setting: Setting
    fired: int | None = None
    steps: list[int] = field(default_factory=list)
    before: tuple[bool, bool] = (False, False)
    begun: int | None = None
    matches: int = 0

    def word(self, cycle: int, kind: int, data: int) -> None:
        if self.fired is not None:
            return
        setting = self.setting
        same = tuple(
            kinds >> kind & 1 == 1 and (data ^ value) & mask == 0
            for value, mask, kinds in setting.terms
        )
        match = tuple(
            now and not (setting.edge and then) for now, then in zip(same, self.before, strict=True)
        )
        self.before = (same[0], same[1])
        if setting.sequence:
            if self.begun is not None and setting.limit and cycle - self.begun > setting.limit:
                self.begun = None
            if self.begun is None:
                if match[0]:
                    self.begun, self.matches = cycle, 0
                    self.steps.append(cycle)
                return
        self.matches += match[1 if setting.sequence else 0]
        if match[1 if setting.sequence else 0] and self.matches >= max(1, setting.count):
            self.fired = cycle


async def _watch(
    dut: Any, setting: Setting, words: dict[int, Word], cycles: int
) -> tuple[list[int], list[int]]:
    """Return the cycles in which step and fire were up."""
    block = await Block(dut, INPUTS, OUTPUTS).start(**setting.inputs())
    steps, fires = [], []
    await block.step(restart=1)
    for cycle in range(1, cycles):
        kind, data = words.get(cycle, (0, 0))
        told = await block.step(word_valid=int(cycle in words), word_kind=kind, word_data=data)
        if told["step"]:
            steps.append(cycle)
        if told["fire"]:
            fires.append(cycle)
    return steps, fires


@cocotb.test()
async def it_fires_once_on_a_word_whose_kind_and_masked_data_agree(dut: Any) -> None:
    setting = Setting(((0x1200, 0xFF00, 1 << HEAD), (0, 0, 0)))
    words = {3: (BODY, 0x1234), 5: (HEAD, 0x1334), 7: (HEAD, 0xAB1234), 8: (HEAD, 0x1200)}
    assert await _watch(dut, setting, words, 12) == ([], [7])


@cocotb.test()
async def nothing_matches_a_term_without_kinds_and_nothing_fires_that_is_not_enabled(
    dut: Any,
) -> None:
    words = dict.fromkeys(range(2, 10), (HEAD, 0))
    assert await _watch(dut, Setting(((0, 0, 0), (0, 0, 0))), words, 12) == ([], [])
    block = await Block(dut, INPUTS, OUTPUTS).start(
        **{**Setting(((0, 0, 0xFFFF), (0, 0, 0))).inputs(), "cfg_enable": 0}
    )
    for _ in range(5):
        assert (await block.step(word_valid=1, word_kind=HEAD))["fire"] == 0


@cocotb.test()
async def every_bit_of_value_mask_and_kind_counts(dut: Any) -> None:
    for bit in range(64):
        setting = Setting(((1 << bit, 1 << bit, 1 << BODY), (0, 0, 0)))
        words = {2: (BODY, ((1 << 64) - 1) ^ 1 << bit), 3: (BODY, 1 << bit)}
        assert await _watch(dut, setting, words, 5) == ([], [3]), bit
    for kind in range(16):
        words = {2 + other: (other, 0) for other in range(16)}
        assert await _watch(dut, Setting(((5, 0, 1 << kind), (0, 0, 0))), words, 20) == (
            [],
            [2 + kind],
        )


@cocotb.test()
async def random_settings_and_words_follow_the_truth_table(dut: Any) -> None:
    count_w, limit_w = int(dut.COUNT_W.value), int(dut.LIMIT_W.value)
    fired = 0
    for seed in range(120):
        draw = random.Random(seed)
        terms = tuple(
            (draw.randrange(4), draw.choice([0, 1, 3]), draw.choice([0b1110, 0b0100, 0xFFFF]))
            for _ in range(2)
        )
        setting = Setting(
            (terms[0], terms[1]), edge=draw.randrange(2) & int(dut.WITH_EDGE.value),
            sequence=draw.randrange(2) & int(dut.TERMS.value) - 1,
            count=draw.choice([0, 1, 2, 3, 9]) & (1 << count_w) - 1,
            limit=draw.choice([0, 1, 2, 3, 20]) & (1 << limit_w) - 1,
        )  # fmt: skip
        words = {
            c: (draw.randrange(1, 4), draw.randrange(4))
            for c in range(1, 60)
            if draw.random() < 0.6
        }
        followed = Followed(setting)
        for cycle, (kind, data) in sorted(words.items()):
            followed.word(cycle, kind, data)
        expected = (followed.steps, [] if followed.fired is None else [followed.fired])
        assert await _watch(dut, setting, words, 62) == expected, seed
        fired += followed.fired is not None
    assert fired > 30


@cocotb.test()
async def a_restart_forgets_what_was_seen_and_the_words_of_its_cycle(dut: Any) -> None:
    if int(dut.COUNT_W.value) < 2:
        return
    block = await Block(dut, INPUTS, OUTPUTS).start(
        **Setting(((0, 0, 0xFFFF), (0, 0, 0)), count=2).inputs()
    )
    await block.step(restart=1)
    assert (await block.step(word_valid=1, word_kind=1))["fire"] == 0
    assert (await block.step(restart=1, word_valid=1, word_kind=1))["fire"] == 0
    assert (await block.step(word_valid=1, word_kind=1))["fire"] == 0
    assert (await block.step(word_valid=1, word_kind=1))["fire"] == 1
    assert (await block.step(word_valid=1, word_kind=1))["fire"] == 0
