"""Register names to addresses and back."""

from __future__ import annotations

import pytest

from freezeframe.capture.registers import names
from freezeframe.capture.registers.map_table import REGISTERS, WINDOWS


@pytest.mark.parametrize(
    ("name", "indices", "offset"),
    [
        ("id.magic", (), 0x0),
        ("id.bus_error_addr", (), 0x60),
        ("ctl.state", (), 0x104),
        ("ctl.post", (4,), 0x14C),
        ("trigger.term.kinds", (1,), 0x1C0),
        ("memory.stored", (4,), 0x288),
        ("pair.status", (1,), 0x338),
        ("frozen.lane.comma_phase", (1,), 0x47C),
        ("snapshot.tx_enq_words.hi", (1,), 0x1404),
        ("frozen_flow.reported", (127,), 0x2FFC),
    ],
)
def test_a_name_has_its_address(name: str, indices: tuple[int, ...], offset: int) -> None:
    # by hand from freezeframe.rdl
    assert names.offset(name, *indices) == offset
    assert names.describe(offset) == names.label(name, indices)


@pytest.mark.parametrize(
    ("offset", "what"),
    [
        (0x40000, "trace_tx_enq+0x0000"),
        (0x7FFFC, "trace_tx_enq+0x3fffc"),
        (0x80000, "trace_tx_deq+0x0000"),
        (0x17FFFC, "trace_event_log+0x3fffc"),
        (0x180000, "nothing"),
        (0x3FFFC, "nothing"),
        (0x01000000, "nothing (outside the map)"),
    ],
)
def test_an_address_without_a_register_has_its_window_or_nothing(offset: int, what: str) -> None:
    assert names.describe(offset) == what


def test_no_two_registers_and_no_window_share_an_address() -> None:
    taken: dict[int, str] = {}
    for info in REGISTERS:
        for indices in names.elements(info):
            at = names.offset(info.name, *indices)
            assert at not in taken, (info.name, indices, taken[at])
            taken[at] = info.name
    for window in WINDOWS:
        span = range(window.address, window.address + 4 * window.words)
        assert not [name for at, name in taken.items() if at in span]
