"""A card of one AXI stream tap, 64 bits wide where nothing else is said."""

from __future__ import annotations

from freezeframe.capture.card.elaborated import ElaboratedCard, ElaboratedTap, elaborate
from freezeframe.capture.card.reading import parse_card

KEEP = 'keep = "tail"\n'


def one_tap(form: str, tap: str = KEEP) -> ElaboratedCard:
    """Return the card whose tap has these lines beside its format's."""
    return _card(f'format = "f"\n{tap}\n[format.f]\n{form}\n')


def formless_tap(bits: int, more: str = "") -> ElaboratedTap:
    """Return a tap of so many bits with more lines, its packets of no format."""
    return _card(f"bits = {bits}\n{more}\n").taps[0]


def _card(tap: str) -> ElaboratedCard:
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
{tap}""")
    )
