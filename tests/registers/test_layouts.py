"""Layouts: the bits that cross between a device and a host, by name (docs/formats.md, 2 to 5)."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from freezeframe.capture.registers import layouts
from freezeframe.capture.registers.layout import Layout
from tests.registers.sources import REGISTERS

ALL = tuple(value for value in vars(layouts).values() if isinstance(value, Layout))

# Bytes as they travel, first byte first, worked out by hand from docs/formats.md.
GOLDEN: tuple[tuple[Layout, Mapping[str, int], str], ...] = (
    (
        layouts.RECORD,
        {"data": 0x1122334455667788, "kind": 3, "dt": 14},
        "88 77 66 55 44 33 22 11 e3",
    ),
    (
        layouts.HEADER,
        {"type": 1, "flags": 2, "flow": 5, "length": 512, "seq": 0xBEEF, "crc": 0x1234},
        "21 05 00 02 ef be 34 12",
    ),
    (layouts.ADDRESS, {"dest": 0x00000001F00DCAFE}, "fe ca 0d f0 01 00 00 00"),
    (layouts.TAIL, {"crc": 0xCBF43926}, "26 39 f4 cb 00 00 00 00"),
    (
        layouts.CREDIT,
        {"type": 4, "flags": 0, "flow": 1, "parity": 1, "freed": 0xABCDEF, "crc": 0x5A5A},
        "04 81 ef cd ab 00 5a 5a",
    ),
    (
        layouts.DESCRIPTOR,
        {"src": 0x0102030405060708, "dest": 0x11223344, "length": 341, "flags": 3, "flow": 127},
        "08 07 06 05 04 03 02 01 44 33 22 11 55 31 7f 00",
    ),
    (
        layouts.EVENT,
        {"value": 0x123456789A, "flow": 0x55, "source": 2, "code": 3},
        "9a 78 56 34 12 55 02 03",
    ),
    (
        layouts.DESC_VALUE,
        {"length": 512, "type": 2, "flags": 1, "seq": 0xFFFF},
        "00 0a f1 ff 0f",
    ),
    (layouts.STATE_VALUE, {"new": 3, "old": 2}, "03 02 00 00 00"),
    (layouts.MARK, {"causes": 0x0804, "since_cycles": 0xDEADBEEF}, "04 08 ef be ad de 00 00"),
    (layouts.LOSS, {"lost": 7}, "07 00 00 00 00 00 00 00"),
    (layouts.TIME, {"cycle": 0x0000000100000002}, "02 00 00 00 01 00 00 00"),
)
BY_NAME = [pytest.param(*row, id=row[0].name) for row in GOLDEN]


def test_every_layout_has_golden_bytes() -> None:
    assert {layout.name for layout, _, _ in GOLDEN} == {layout.name for layout in ALL}


@pytest.mark.parametrize(("layout", "fields", "golden"), BY_NAME)
def test_fields_in_golden_bytes_out(layout: Layout, fields: dict[str, int], golden: str) -> None:
    assert layout.pack(**fields).to_bytes(layout.bits // 8, "little").hex(" ") == golden


@pytest.mark.parametrize(("layout", "fields", "golden"), BY_NAME)
def test_golden_bytes_in_fields_out(layout: Layout, fields: dict[str, int], golden: str) -> None:
    assert layout.unpack(int.from_bytes(bytes.fromhex(golden), "little")) == fields


def test_reserved_bits_are_sent_as_zero_and_ignored_on_receipt() -> None:
    # Bits 15 and 26-31 of a header have no name.
    assert layouts.HEADER.pack() == 0
    assert set(layouts.HEADER.unpack(1 << 15 | 0x3F << 26).values()) == {0}


@pytest.mark.parametrize("layout", ALL, ids=lambda layout: layout.name)
def test_a_value_too_wide_for_its_field_is_refused_with_the_range(layout: Layout) -> None:
    for field, (_, width) in layout.fields.items():
        largest = (1 << width) - 1
        assert layout.unpack(layout.pack(**{field: largest}))[field] == largest
        message = (
            rf"{layout.name}\.{field}: {largest + 1} does not fit {width} bits \(0\.\.{largest}\)"
        )
        with pytest.raises(ValueError, match=message):
            layout.pack(**{field: largest + 1})


def test_a_negative_value_is_refused() -> None:
    with pytest.raises(ValueError, match=r"header\.seq: -1 does not fit 16 bits \(0\.\.65535\)"):
        layouts.HEADER.pack(seq=-1)


def test_a_field_that_does_not_exist_is_refused_and_those_that_do_are_named() -> None:
    with pytest.raises(ValueError, match="mark: no field 'cause'; it has causes, since_cycles"):
        layouts.MARK.pack(cause=1)


def test_a_fraction_is_no_field_value() -> None:
    with pytest.raises(TypeError):
        layouts.TAIL.pack(crc=1.0)  # type: ignore[arg-type]  # the point of the test


@pytest.mark.parametrize("word", [-1, 1 << 64])
def test_a_word_that_is_not_of_the_layouts_width_is_refused(word: int) -> None:
    with pytest.raises(ValueError, match=r"header: .* does not fit the layout's 64 bits"):
        layouts.HEADER.unpack(word)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"a": (0, 8), "b": (7, 2)}, "fields a and b both claim bit 7"),
        ({"a": (12, 8)}, r"field a \[12, 8\] lies outside the 16 bits"),
        ({"a": (0, 0)}, r"field a \[0, 0\] lies outside"),
        ({"a": (-1, 4)}, r"field a \[-1, 4\] lies outside"),
    ],
)
def test_a_layout_that_contradicts_itself_cannot_be_made(
    fields: dict[str, tuple[int, int]], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        Layout("broken", 16, fields)


@given(st.data())
def test_what_is_packed_comes_back(data: st.DataObject) -> None:
    layout = data.draw(st.sampled_from(ALL))
    fields = {
        name: data.draw(st.integers(0, (1 << width) - 1), label=name)
        for name, (_, width) in layout.fields.items()
    }
    assert layout.unpack(layout.pack(**fields)) == fields


def test_the_layouts_are_those_of_formats_toml() -> None:
    source = tomllib.loads((REGISTERS / "formats.toml").read_text(encoding="utf-8"))["layout"]
    wanted = {
        name: (
            body["bits"],
            {key: tuple(value) for key, value in body.items() if key not in ("bits", "doc")},
        )
        for name, body in source.items()
    }
    assert {layout.name: (layout.bits, dict(layout.fields)) for layout in ALL} == wanted


def test_kernels_get_the_same_places_of_a_word_as_plain_integers() -> None:
    for layout in (layout for layout in ALL if layout.bits <= 64):
        for field, (lsb, width) in layout.fields.items():
            stem = f"{layout.name}_{field}".upper()
            assert getattr(layouts, f"{stem}_LSB") == lsb
            assert getattr(layouts, f"{stem}_MASK") == (1 << width) - 1


def test_the_kinds_of_a_record_are_numbered_as_section_2_says() -> None:
    assert {kind.name: int(kind) for kind in layouts.Kind} == {
        "HEAD": 1, "BODY": 2, "TAIL": 3, "CREDIT": 4, "DESC": 5, "NOTE": 6, "IRQ": 7, "STATE": 8,
        "PRESSURE": 9, "LINK": 10, "USER": 12, "MARK": 13, "LOSS": 14, "TIME": 15,
    }  # fmt: skip


def test_the_causes_are_numbered_by_bit_and_named_with_dashes() -> None:
    assert layouts.CAUSE_NAMES == (
        "host", "trigger", "hdr-crc", "pay-crc", "length", "credit-parity", "credit-stall",
        "rx-ovf", "tx-ovf", "sync-unf", "sequence", "cross",
    )  # fmt: skip
    for cause in layouts.Cause:
        assert layouts.CAUSE_NAMES[cause] == cause.name.lower().replace("_", "-")


def test_the_memories_stand_in_the_order_of_every_array_of_the_map() -> None:
    assert layouts.MEMORY_NAMES == ("tx_enq", "tx_deq", "rx_enq", "rx_deq", "event_log")
    assert [int(memory) for memory in layouts.Memory] == [0, 1, 2, 3, 4]
