"""The identity of a device as an object: from registers, to JSON and back."""

from __future__ import annotations

from dataclasses import fields

import pytest

from freezeframe.capture.registers.identity import IDENTITY_REGISTERS, Identity
from freezeframe.capture.registers.map_table import REGISTERS

NUMBERED = {field.name: number for number, field in enumerate(fields(Identity))}


def test_every_register_of_the_identity_is_in_it_but_the_two_that_count_accesses() -> None:
    of_map = {info.name for info in REGISTERS if info.name.startswith("id.")}
    assert of_map - {info.name for info in IDENTITY_REGISTERS} == {
        "id.bus_errors",
        "id.bus_error_addr",
    }


def test_every_field_of_every_register_has_its_own_value() -> None:
    words = {
        info.name: sum((lsb + 1) << field.lsb for field in info.fields for lsb in [field.lsb % 7])
        for info in IDENTITY_REGISTERS
    }
    identity = Identity.from_registers(words.__getitem__)
    for info in IDENTITY_REGISTERS:
        for field in info.fields:
            name = info.name.removeprefix("id.")
            name = name if len(info.fields) == 1 else f"{name}_{field.name}"
            mask = (1 << field.width) - 1
            assert getattr(identity, name) == field.lsb % 7 + 1 & mask, name


def test_json_and_back_gives_the_same() -> None:
    identity = Identity(**NUMBERED)
    assert Identity.from_json(identity.to_json()) == identity


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"magic": None}, "'magic' is missing"),
        ({"colour": 1}, "'colour' is unknown"),
        ({"chunk": "256"}, "chunk is '256', not a word"),
        ({"chunk": True}, "chunk is True, not a word"),
        ({"chunk": 256.0}, "chunk is 256.0, not a word"),
    ],
)
def test_json_that_is_no_identity_is_refused(change: dict[str, object], why: str) -> None:
    values: dict[str, object] = {**NUMBERED, **change}
    values = {name: value for name, value in values.items() if value is not None}
    with pytest.raises(ValueError, match=why):
        Identity.from_json(values)
