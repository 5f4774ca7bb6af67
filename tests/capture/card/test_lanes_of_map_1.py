"""Map 1 for links of more than two lanes: the registers, the hash, and the card that ships with four."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

import pytest

from freezeframe.capture.card.elaborated import elaborate
from freezeframe.capture.card.map_1 import card_of_map, check_map_1, register_map_of
from freezeframe.capture.card.reading import parse_card
from freezeframe.capture.card.roles import roles_of
from freezeframe.capture.card.shipped import shipped_cards
from freezeframe.capture.errors import InputError
from freezeframe.capture.registers.map_forms import LANE_COUNTS, Form, map_hash_for, registers_for
from freezeframe.capture.registers.map_table import MAP_HASH
from freezeframe.capture.registers.names import MAP_1

GENERATED = Path(__file__).parents[3] / "firmware-hooks" / "registers" / "generated" / "map.txt"
FOUR = shipped_cards()["forth-x4"].read_text("utf-8")


@pytest.mark.parametrize("lanes", LANE_COUNTS)
def test_the_hash_of_more_lanes_is_that_of_the_generated_text_with_longer_arrays(
    lanes: int,
) -> None:
    text = GENERATED.read_text("ascii")
    longer = re.sub(r"(?m)^(\S+ frozen\.lane\.\w+ )\[2\*16\]", rf"\1[{lanes}*16]", text)
    assert longer.count(f"[{lanes}*16]") - text.count(f"[{lanes}*16]") in (0, 4)
    assert map_hash_for(Form(lanes)) == int(hashlib.sha256(longer.encode()).hexdigest()[:8], 16)


def test_two_lanes_are_the_map_itself() -> None:
    assert map_hash_for(Form()) == MAP_HASH
    assert registers_for(Form()) == tuple(MAP_1.registers)
    with pytest.raises(ValueError, match="3 lanes; a link has 2, 4, 8"):
        registers_for(Form(3))


@pytest.mark.parametrize("lanes", LANE_COUNTS)
def test_no_two_registers_of_a_longer_map_stand_at_one_address(lanes: int) -> None:
    places = [
        register.address + step
        for register in registers_for(Form(lanes))
        for step in _steps(register.dims)
    ]
    assert len(places) == len(set(places))


def _steps(dims: tuple[tuple[int, int], ...]) -> list[int]:
    steps = [0]
    for count, stride in dims:
        steps = [step + i * stride for step in steps for i in range(count)]
    return steps


def test_a_device_of_four_lanes_is_known_as_the_card_of_four_lanes() -> None:
    found = card_of_map(map_hash_for(Form(4)))
    assert (found.card.name, roles_of(found.card).lanes) == ("forth-x4", 4)
    mine = register_map_of(found.card)
    assert mine.offset("frozen.lane.comma_phase", 3) == 0x460 + 3 * 0x10 + 0xC
    assert mine.offset("provoke.rx_dma") == MAP_1.offset("provoke.rx_dma")
    assert roles_of(card_of_map(MAP_HASH).card).lanes == 2


def test_a_card_of_map_1_with_a_hash_of_no_number_of_lanes_is_refused() -> None:
    other = elaborate(parse_card(FOUR.replace("0x20a26bd1", "0x20a26bd2"), "mine.toml"))
    with pytest.raises(InputError, match=r"mine: map_hash 0x20a26bd2 is no form of map 1; .*"):
        check_map_1(other, "mine")
