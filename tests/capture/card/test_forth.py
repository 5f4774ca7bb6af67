"""``forth.toml``: the example card as a file, against the register map and layouts generated from their own source."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from freezeframe.capture.card.elaborated import ElaboratedCard, elaborate
from freezeframe.capture.card.map_1 import (
    card_of_map,
    check_map_1,
    map_1_card_of_file,
    register_map_of,
)
from freezeframe.capture.card.reading import parse_card
from freezeframe.capture.card.roles import EVENT_LOG, roles_of
from freezeframe.capture.card.shipped import shipped_cards
from freezeframe.capture.card.toml_text import CardError
from freezeframe.capture.errors import DeviceUnknownError, InputError
from freezeframe.capture.registers import layouts
from freezeframe.capture.registers.access import open_devices
from freezeframe.capture.registers.identity import IDENTITY_REGISTERS
from freezeframe.capture.registers.map_table import COUNTER_DOCS, MAP_HASH, REGISTERS
from freezeframe.capture.registers.names import MAP_1
from tests.capture.recorder.fake_recorder import FakeRecorder

TEXT = shipped_cards()["forth"].read_text("utf-8")
CARD = elaborate(parse_card(TEXT, "forth.toml"))
EVENT_CODES = {
    "desc": layouts.DescCode, "note": layouts.NoteCode, "irq": layouts.IrqCode, "credit": layouts.CreditCode,
    "pressure": layouts.PressureCode, "link": layouts.LinkCode,
}  # fmt: skip


def _changed(old: str, new: str) -> ElaboratedCard:
    assert old in TEXT
    return elaborate(parse_card(TEXT.replace(old, new), "forth.toml"))


def test_its_map_and_its_hash_are_those_of_the_register_map() -> None:
    assert (CARD.map, CARD.said.card.map_hash) == (1, MAP_HASH)


def test_its_taps_and_clocks_are_those_of_the_map_in_that_order() -> None:
    assert (*(tap.name for tap in CARD.taps), EVENT_LOG) == layouts.MEMORY_NAMES
    assert tuple(clock.name for clock in CARD.clocks) == layouts.DOMAIN_NAMES
    roles = roles_of(CARD)
    assert {m for m, d in roles.domain_of.items() if d == "link"} == {"tx_deq", "rx_enq"}
    assert all(tap.said.bits == layouts.RECORD.fields["data"][1] for tap in CARD.taps)


def test_its_causes_are_those_of_the_map_by_their_bits() -> None:
    assert tuple(cause.name for cause in CARD.causes) == layouts.CAUSE_NAMES
    assert [cause.bit for cause in CARD.causes] == list(map(int, layouts.Cause))
    assert CARD.peer_cause == layouts.CAUSE_NAMES[layouts.Cause.CROSS]


def test_its_counters_are_those_of_the_map_with_their_units_and_words() -> None:
    assert {name: (c.unit, c.doc) for name, c in CARD.counters} == {
        name: (MAP_1.counters[name].unit, doc) for name, doc in COUNTER_DOCS.items()
    }
    assert [name for name, _ in CARD.counters] == list(COUNTER_DOCS)


def test_its_bank_and_its_state_machines_are_all_that_is_latched_at_the_freeze() -> None:
    latched: dict[str, tuple[str, str]] = {}
    for register in REGISTERS:
        part, _, name = register.name.partition(".")
        if part == "frozen" and name != "machine":
            short = name.replace(".", "_")
            ends = [f"_{n}" for n in range(register.dims[0][0])] if register.dims else [""]
            latched |= {short + end: (register.fields[0].unit, register.doc) for end in ends}
    assert {name: (r.unit, r.doc) for name, r in CARD.said.bank.items()} == latched
    assert tuple(CARD.said.states) == layouts.MACHINE_NAMES
    for machine in CARD.said.states.values():
        assert tuple(machine.names) == layouts.MACHINE_STATE_NAMES


def test_its_events_are_the_codes_of_every_kind_of_the_log() -> None:
    codes = [f"{kind}_{code.name.lower()}" for kind, of in EVENT_CODES.items() for code in of]
    assert list(CARD.said.event) == codes


def test_its_fifos_state_their_capacity_in_the_identity_and_its_causes_and_counters_stand_at_taps() -> (
    None
):
    stated = {register.name.removeprefix("id.") for register in IDENTITY_REGISTERS}
    roles = roles_of(CARD)
    assert {way.capacity for way in roles.ways} <= stated
    assert roles.counter("overflow", roles.rx.entry) == "rx_fifo_overflows"
    assert roles.counter("words", roles.tx.exit) == "tx_deq_words"
    assert roles.cause("overflow", roles.tx.entry) == "tx-ovf"
    assert roles.counter("waits", roles.tx.exit) == ""


def test_an_analysis_that_asks_for_a_meaning_no_card_can_have_is_wrong() -> None:
    with pytest.raises(ValueError, match="'bad-heder' is no meaning"):
        roles_of(CARD).counter("bad-heder")


def test_a_law_that_is_written_stands_in_place_of_the_one_that_follows_from_the_path() -> None:
    assert not [law.name for law in CARD.laws if law.derived]
    begin = TEXT.index("[law.outgoing_fifo_packets]")
    end = TEXT.index("[law.", begin + 1)
    card = elaborate(parse_card(TEXT[:begin] + TEXT[end:], "forth.toml"))
    assert [law.name for law in card.laws if law.derived] == ["tx.tx_enq-tx_deq.packets"]


def test_a_device_of_map_1_is_known_by_its_register_map() -> None:
    assert card_of_map(MAP_HASH).card.hash == CARD.hash
    device, *_ = open_devices(FakeRecorder())
    assert device.found.card.name == "forth"
    with pytest.raises(DeviceUnknownError, match="register map 00000001: no known card lists it"):
        card_of_map(1)


def test_another_card_of_the_map_names_the_same_registers_otherwise(tmp_path: Path) -> None:
    named = re.sub(r"\b(drops|tx_deq)(?=\b|_words|_packets)", r"my_\1", TEXT)
    path = tmp_path / "mine.toml"
    path.write_text(named)
    found = map_1_card_of_file(path, MAP_HASH, "the device")
    mine = register_map_of(found.card)
    assert mine.offset("frozen_counters.my_drops.lo") == MAP_1.offset("frozen_counters.drops.lo")
    assert mine.window("trace_my_tx_deq").address == MAP_1.window("trace_tx_deq").address
    assert not mine.has("frozen_counters.drops.lo")
    device, *_ = open_devices(FakeRecorder(), card=path)
    assert "my_drops" in device.counters().values


def test_a_card_of_another_map_is_refused_for_a_device_of_map_1(tmp_path: Path) -> None:
    path = tmp_path / "other.toml"
    path.write_text(TEXT.replace(f"{MAP_HASH:#010x}", "0x12345678"))
    with pytest.raises(InputError, match=r"map_hash 0x12345678; emu: has map 1 with hash 0x"):
        map_1_card_of_file(path, MAP_HASH, "emu:")


def test_a_card_that_does_not_fit_the_map_is_one_line() -> None:
    without = re.sub(r"(?m)^events_lost = .*\n", "", TEXT)
    with pytest.raises(InputError, match="mine: has 31 counters, and map 1 has 32"):
        check_map_1(elaborate(parse_card(without, "mine")), "mine")
    other = _changed('taps = ["tx_enq", "tx_deq"]', 'taps = ["tx_deq", "tx_enq"]')
    with pytest.raises(InputError, match="the taps of the outgoing path first"):
        check_map_1(other, "mine")
    alone = _changed('far_end = "forth:rx"\n', "")
    with pytest.raises(InputError, match="far_end"):
        check_map_1(alone, "mine")
    level = _changed('level = "tx_level"\n', "")
    with pytest.raises(InputError, match="path tx: map 1 tells the words in its FIFO"):
        check_map_1(level, "mine")


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("map = 1\n", "map = 2\n", "card map_hash: it belongs to map = 1"),
        (f"map_hash = {MAP_HASH:#010x}\n", "", "map = 1 needs map_hash"),
        ('least = "-slack.tx_level"', 'least = "slack"', "law outgoing_fifo_words: least = 'slack'"),
        ('means = "dropped"', 'means = "droped"', "did you mean dropped?"),
        ('tap = "rx_deq", unit', 'tap = "rx_dequ", unit', "did you mean rx_deq?"),
    ],
)  # fmt: skip
def test_what_such_a_file_cannot_say_is_named_with_its_line(old: str, new: str, said: str) -> None:
    assert old in TEXT
    with pytest.raises(CardError) as error:
        parse_card(TEXT.replace(old, new), "forth.toml")
    assert said in str(error.value)
    assert re.match(r"forth\.toml:\d+: ", str(error.value))
