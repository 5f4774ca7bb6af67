"""A card of one AXI stream tap, 64 bits wide where nothing else is said."""

from __future__ import annotations

from freezeframe.capture.card.elaborated import ElaboratedCard, elaborate
from freezeframe.capture.card.reading import parse_card

KEEP = 'keep = "tail"\n'


def one_tap(form: str, tap: str = KEEP) -> ElaboratedCard:
    """Return the card whose tap has these lines beside its format's."""
    return elaborate(
        parse_card(f"""\
schema = 1
[card]
name = "one"
[clock.bus]
hz = 100_000_000
registers = true
[tap.t]
kind = "axi-stream"
clock = "bus"
format = "f"
{tap}
[format.f]
{form}
""")
    )
