"""The dashboard on a card that is described by a file: its counters by name, why it froze, which clock stands still."""

from __future__ import annotations

import asyncio
from dataclasses import replace

from freezeframe.capture.card.elaborated import elaborate
from freezeframe.capture.card.reading import parse_card
from freezeframe.capture.counters.card import CardSource
from freezeframe.capture.counters.contract import Sample
from freezeframe.emulator.card_image import CardImage, empty_recording
from freezeframe.gui.dashboard.lines import LineView
from tests.capture.counters.played import PlayedReader, PlayedSource
from tests.capture.serving import serving
from tests.gui.dashboard.made import BASE_NS, dashboard, show

CARD = """\
schema = 1
[card]
name = "wide"
[clock.bus]
hz = 100_000_000
registers = true
[clock.rx]
hz = 200_000_000
[tap.wide]
kind = "axi-stream"
clock = "rx"
bits = 128
ready = true
[cause.late]
check = "no-ready"
tap = "wide"
cycles = 100
[counter.drops]
wire = "drop"
unit = "packets"
"""


def read_once() -> tuple[CardSource, Sample]:
    """Return a source over a frozen card whose clock rx stands still, and one reading of it."""
    empty = empty_recording(elaborate(parse_card(CARD)))
    bus, rx = empty.clocks
    made = replace(
        empty,
        clocks=[bus, replace(rx, alive=False)],
        counters={"drops": 7},
        causes=1 << 3,
        cause_cycle=916,
    )
    with serving(CardImage([made])) as url:
        source = CardSource(url)
        sample = source.read()
        source.close()
    return source, sample


def test_lanes_of_one_tap_are_counted_once() -> None:
    source, sample = read_once()
    assert list(source.counters) == ["A.drops", "A.memory.wide.stored"]
    assert sample.values == {"A.drops": 7, "A.memory.wide.stored": 0}


def test_the_card_its_cause_and_its_clocks_are_shown() -> None:
    source, sample = read_once()
    reader = PlayedReader(
        PlayedSource([], list(source.counters.values()), url="etherbone://192.0.2.7")
    )
    reader.play(replace(sample, t_ns=BASE_NS))

    async def run() -> dict[str, list[str]]:
        app = dashboard(reader)
        async with app.run_test(size=(100, 24)) as pilot:
            await show(pilot)
            return {view.id or "": view.texts for view in app.screen_stack[0].query(LineView)}

    shown = [line.rstrip() for lines in asyncio.run(run()).values() for line in lines]
    assert any("FROZEN  A: late at bus cycle 916  etherbone://192.0.2.7" in line for line in shown)
    at = shown.index("  card recorder    gen  clocks")
    assert shown[at + 1] == "  A    FROZEN        1  bus rx stands still"
    assert not any("credit" in line for line in shown)
    assert any("A.drops" in line and "7" in line and "packets" in line for line in shown)
