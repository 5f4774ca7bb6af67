"""The records of a described card as the emulator writes them, against a model written from docs/card-map.md alone."""

from __future__ import annotations

import random

import numpy as np
import pytest

from freezeframe.capture.card.elaborated import ElaboratedCard, elaborate
from freezeframe.capture.card.reading import parse_card
from freezeframe.emulator.card_memory import LogMemory, TapMemory
from tests.decoders.tap.model import TapModel, frame_beats

CARD = """\
schema = 1
[card]
name = "one"
[clock.bus]
hz = 100_000_000
registers = true
[tap.a]
kind = "axi-stream"
clock = "bus"
depth = {depth}
[event.seen]
wire = "seen"
value = "what"
bits = 8
"""


def card(depth: int) -> ElaboratedCard:
    return elaborate(parse_card(CARD.format(depth=depth)))


@pytest.mark.parametrize("seed", range(20))
def test_packets_at_any_distance_give_the_memory_that_the_model_gives(seed: int) -> None:
    chance = random.Random(seed)
    depth = chance.choice([16, 64, 256])
    memory, model = TapMemory(card(depth).taps[0]), TapModel(8)
    at = chance.randrange(1, 40)
    for _ in range(chance.randrange(1, 30)):
        data = chance.randbytes(8 * chance.randrange(1, 12))
        memory.packet(at, data)
        model.feed(frame_beats(data, at, 8))
        at += len(data) // 8 + chance.choice([0, 1, 3, 12, 13, 14, 15, 40])
    closed = at + chance.randrange(2, 40)
    recorded = memory.close(closed, 1, 5)
    lanes, pointer, wrapped, stored = model.memories(depth, closed, 1, 5)
    assert np.array_equal(recorded.lanes[0], lanes[0])
    assert (recorded.write_ptr, recorded.wrapped, recorded.stored) == (pointer, wrapped, stored)


def test_the_log_has_the_golden_bytes_of_an_event() -> None:
    """docs/card-map.md section 6: wire in 103, recorded in cycle 105 where nothing waits before it."""
    log = card(16).log
    assert log is not None
    memory = LogMemory(log)
    assert memory.entry(103, 0, 12, 0x5A, 200)  # type: ignore[arg-type]
    recorded = memory.close(115, 1, 0)
    assert recorded.lanes[0][0].tobytes().hex(" ") == "5a 00 00 00 00 68 00 00 fc"


def test_entries_of_one_cycle_stand_one_behind_the_other_and_those_behind_the_closing_are_not_there() -> (
    None
):
    log = card(16).log
    assert log is not None
    memory = LogMemory(log)
    assert [memory.entry(10, 0, 12, n, 14) for n in range(3)] == [True, True, False]  # type: ignore[arg-type]


def test_a_packet_of_broken_words_is_refused() -> None:
    with pytest.raises(ValueError, match="a packet of 12 B; whole words of 8 B"):
        TapMemory(card(16).taps[0]).packet(5, bytes(12))
