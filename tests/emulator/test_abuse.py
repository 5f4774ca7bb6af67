"""Whatever a host writes, and whenever: FIFOs stay within their depth and a frozen recording can always be dated."""

from __future__ import annotations

import random

import pytest

from freezeframe.capture.registers.layouts import Kind
from freezeframe.emulator.faults.registry import FAULTS
from tests.emulator.reading import Card, arm, freeze, pair

US = 1_000_000
FROZEN = 3


def _traffic(card: Card, draw: random.Random) -> None:
    flow, length = draw.choice((0, 0, 1, 9, 100)), draw.choice((0, 1, 64, 512, 1000))
    card.write("provoke.traffic_gap", draw.randrange(3000))
    card.write("provoke.traffic", draw.randrange(2) | flow << 8 | length << 16)


def _inject_garbage(card: Card, draw: random.Random) -> None:
    card.target.write(card.window("inject_buffer"), [draw.getrandbits(32) for _ in range(16)])
    token = card.read("provoke.inject_count") + 1 & 0xFFFF
    card.write("provoke.inject", token | draw.choice((1, 2, 3, 8, 600, 1023)) << 16)


def _trigger(card: Card, draw: random.Random) -> None:
    card.write("trigger.term.kinds", 0, draw.randrange(16))
    card.write("trigger.term.mask_lo", 0, draw.choice((0, 1, 3)))
    card.write("trigger.config", 1 | draw.randrange(8) << 4 | draw.randrange(4) << 8)


ACTIONS = (
    lambda card, draw: arm(card),
    lambda card, draw: freeze(card),
    lambda card, draw: card.write("ctl.options", draw.randrange(2)),
    lambda card, draw: card.write("provoke.rx_dma", draw.randrange(2)),
    _traffic,
    _inject_garbage,
    _trigger,
    lambda card, draw: card.write("ctl.post", draw.randrange(5), draw.choice((0, 1, 64, 1000))),
    lambda card, draw: card.write("ctl.kinds", draw.randrange(5), draw.getrandbits(16)),
    lambda card, draw: card.write("ctl.cause_mask", draw.choice((0, 0xFFF, draw.getrandbits(12)))),
    lambda card, draw: card.write("ctl.sample_period", draw.choice((0, 1000, 17_000))),
    lambda card, draw: card.write("ctl.snapshot_log2", draw.choice((0, 10, 20, 0xFFFFFFFF))),
    lambda card, draw: card.write("ctl.stall_limit", draw.choice((0, 100, 20_000))),
    lambda card, draw: card.write("ctl.arm", draw.getrandbits(32)),
)


@pytest.mark.parametrize("seed", range(12))
def test_no_sequence_of_writes_breaks_the_pair(seed: int) -> None:
    draw = random.Random(seed)
    target, *cards = pair(draw.choice(list(FAULTS)), draw.randrange(1000))
    for _ in range(draw.randrange(5, 30)):
        draw.choice(ACTIONS)(draw.choice(cards), draw)
        target.advance(draw.choice((0, 0, 10_000, 5 * US, 50 * US, 300 * US)))
        for nic in target.pair.nics:
            for fifo in (nic.tx_fifo, nic.rx_fifo):
                assert 0 <= fifo.level(target.now_ps) <= fifo.depth
        for card in cards:
            if card.state == FROZEN:
                for memory in range(5):
                    assert [r.kind for r in card.records(memory)[-2:]] == [Kind.MARK, Kind.TIME]
