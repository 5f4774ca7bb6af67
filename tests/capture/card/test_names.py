"""A wire of a card is a port of its device: a name that is taken there is refused in one line."""

from __future__ import annotations

import re

import pytest

from freezeframe.capture.card.build.names import refuse_taken
from freezeframe.capture.card.build.outputs import outputs
from freezeframe.capture.card.build.verilog import verilog_top
from freezeframe.capture.card.elaborated import ElaboratedCard, elaborate
from freezeframe.capture.card.reading import parse_card
from freezeframe.capture.errors import InputError


def card(wire: str, more: str = "") -> ElaboratedCard:
    return elaborate(
        parse_card(f"""\
schema = 1
[card]
name = "names"
[clock.bus]
hz = 100_000_000
registers = true
[clock.rx]
hz = 156_250_000
[tap.rx_in]
kind = "axi-stream"
clock = "rx"
[counter.frames]
counts = "packets"
tap = "rx_in"
[histogram.gaps]
of = "gaps"
tap = "rx_in"
[event.alarm]
wire = "{wire}"
{more}
""")
    )


@pytest.mark.parametrize(
    ("wire", "why"),
    [
        ("reg", "is a word of SystemVerilog"),
        ("inside", "is a word of SystemVerilog"),
        ("accept_on", "is a word of SystemVerilog"),
        ("rst", "is another port of the device"),
        ("clk_rx", "is another port of the device"),
        ("rx_in_tvalid", "is another port of the device"),
        ("frozen", "is another port of the device"),
        ("level", "is a net inside the device"),
        ("rx_in_closed", "is a net inside the device"),
        ("i_rom", "is a net inside the device"),
        ("CAUSES", "is a net inside the device"),
        ("BUILD_HASH", "is a net inside the device"),
    ],
)
def test_a_name_that_is_taken_is_refused_with_what_has_it(wire: str, why: str) -> None:
    with pytest.raises(InputError) as refused:
        outputs(card(wire))
    assert str(refused.value) == (
        f"card names: [event.alarm]: wire {wire} {why}; give the port another name, for instance my_{wire}"
    )


def test_every_name_that_the_top_declares_is_taken_and_the_cards_own_is_not() -> None:
    top = verilog_top(card("alarm"))
    refuse_taken(card("alarm"), top)
    declared = set(re.findall(r"^    wire (?:\[[^\]]*\] )?(\w+)", top, re.MULTILINE))
    assert len(declared) > 50
    for name in sorted(declared):
        with pytest.raises(InputError, match=f"wire {name} is a net inside"):
            outputs(card(name))


def test_names_that_would_be_one_macro_of_the_header_are_refused() -> None:
    states = '[states.a]\nwire = "s"\nnames = ["b_c", "d"]\n[states.a_b]\nwire = "t"\nnames = ["d", "c"]\n'
    with pytest.raises(InputError, match="one macro, NAMES_STATE_A_B_C; change one of them"):
        outputs(card("alarm", states))
