"""The map of a card: places as docs/card-map.md gives them, and only those of parts that were built."""

from __future__ import annotations

from itertools import pairwise

import pytest

from freezeframe.capture.card.elaborated import elaborate
from freezeframe.capture.card.reading import parse_card
from freezeframe.capture.card.recording import Feature
from freezeframe.capture.card.registers import card_map, memories_of_card, stride_log2
from tests.capture.card.test_elaborated import WIDE
from tests.capture.card.test_reading import MAC

_MAC = elaborate(parse_card(MAC))
_WIDE = elaborate(parse_card(WIDE))


@pytest.mark.parametrize(
    ("name", "indices", "address"),
    [
        ("id.magic", (), 0x000),
        ("id.generation", (), 0x01C),
        ("id.clk_hz", (1,), 0x084),
        ("ctl.arm", (), 0x104),
        ("ctl.crc_done", (), 0x130),
        ("trigger.kinds", (), 0x154),
        ("pair.status", (1,), 0x438),
        ("tap.offered", (1,), 0x82C),
        ("snapshot.rx_dropped.hi", (1,), 0x4404),
        ("frozen_counters.rx_dropped.lo", (), 0x4800),
    ],
)
def test_registers_stand_where_the_contract_says(
    name: str, indices: tuple[int, ...], address: int
) -> None:
    assert card_map(_MAC).offset(name, *indices) == address
    assert card_map(_MAC).describe(address).startswith(name)


def test_lanes_are_memories_of_their_own_each_at_a_multiple_of_its_size() -> None:
    memories = memories_of_card(_WIDE)
    assert [memory.name for memory in memories][:8] == [f"in.{lane}" for lane in range(8)]
    assert [memory.number for memory in memories] == list(range(_WIDE.memories))
    assert memories[0].address == 0x100000
    for memory in memories:
        assert memory.address % (16 * memory.depth) == 0
    for before, after in pairwise(memories):
        assert after.address >= before.address + 16 * before.depth
    assert stride_log2(_WIDE) == 24


def test_a_register_of_a_part_that_was_not_built_is_not_in_the_map() -> None:
    bare = card_map(_MAC, Feature.ARM_KEY)
    for name in ("trigger.config", "pair.status", "snapshot.rx_dropped.lo"):
        assert card_map(_MAC).has(name)
        assert not bare.has(name)
    assert bare.counters == {}
    assert [window.name for window in bare.windows] == ["trace.rx_in", "trace.rx_out"]


def test_a_name_that_is_not_there_is_answered_with_the_nearest() -> None:
    with pytest.raises(ValueError, match=r"no register 'tap.store'; did you mean tap.stored"):
        card_map(_MAC).offset("tap.store")
    with pytest.raises(
        ValueError, match=r"tap\.status has no field 'close'; it has wrapped, closed"
    ):
        card_map(_MAC).field("tap.status", "close")
