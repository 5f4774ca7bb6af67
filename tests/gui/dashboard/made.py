"""A dashboard over prepared samples: what it shows depends on nothing but them."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path

from textual.pilot import Pilot

from freezeframe.capture.card.map_1 import card_of_map
from freezeframe.capture.card.roles import roles_of
from freezeframe.capture.counters.alarms import parse_alarm
from freezeframe.capture.counters.contract import Sample
from freezeframe.capture.counters.monitor import Monitor
from freezeframe.capture.recorder.state import RecorderState
from freezeframe.gui.dashboard.app import Dashboard, DashboardOptions
from tests.capture.counters.played import SECOND_NS, PlayedReader, PlayedSource, counter, gauge

BASE_NS = (time.monotonic_ns() // SECOND_NS - 20) * SECOND_NS
_WALL_NS = 1_800_000_000 * SECOND_NS  # 2027-01-15, 08:00:00 UTC
HOSTILE = "[bold red]x[/] \x1b[2J"


def recorder(
    device: str, state: str, *causes: str, generation: int = 1, nonce: int = 7
) -> RecorderState:
    roles = roles_of(card_of_map().card)
    return RecorderState(
        device, state, causes, generation, nonce, 23_555, False, {}, peer_cause="cross", roles=roles
    )


def netdev_reader(seconds: int = 12) -> PlayedReader:
    """Packets in a steady stream with a pause, errors once, a gauge, a counter at 0, and a hostile name."""
    counters = [
        counter("rx_packets"), counter("rx_crc_errors"), counter("tx_packets"), counter("irq.total", "interrupts"),
        gauge("level"), counter(HOSTILE, "[u]"),
    ]  # fmt: skip
    reader = PlayedReader(PlayedSource([], counters, url="netdev:eth9"))
    packets = 123_456
    for second in range(seconds):
        packets += 0 if second == 5 else 1000 * (1 + second % 3)
        values = {"rx_packets": packets, "rx_crc_errors": int(second > 8), "tx_packets": 0,
                  "irq.total": packets // 4, "level": 3 + second % 2, HOSTILE: 7 * second}  # fmt: skip
        reader.play(
            Sample(BASE_NS + second * SECOND_NS, values, {"link": "up, 25000 Mbit/s, full duplex"})
        )
    return reader


def card_reader(
    *states: RecorderState, seconds: int = 12, facts: dict[str, str] | None = None
) -> PlayedReader:
    """Two cards: A sends to B; the last sample has these states, those before are armed."""
    names = ("tx_deq_words", "rx_enq_words", "header_errors", "payload_errors", "length_errors", "parity_errors",
             "credits_sent", "credits_taken", "credits_refused", "pressure_cycles")  # fmt: skip
    counters = [counter(f"{device}.{name}", "words") for device in "AB" for name in names]
    reader = PlayedReader(PlayedSource([], counters, url="etherbone://192.0.2.7"))
    for second in range(seconds):
        values = {f"{device}.{name}": 0 for device in "AB" for name in names}
        values |= {"A.tx_deq_words": 12_300 * second, "B.rx_enq_words": 12_300 * second}
        values |= {
            "B.credits_sent": 190 * second,
            "A.credits_taken": 190 * second,
            "A.pressure_cycles": 700 * second,
        }
        last = second == seconds - 1
        now = states if last and states else (recorder("A", "armed"), recorder("B", "armed"))
        reader.play(Sample(BASE_NS + second * SECOND_NS, values, facts or {} if last else {}, now))
    return reader


def dashboard(
    *readers: PlayedReader,
    alarms: Sequence[str] = (),
    allow_write: bool = False,
    folder: Path = Path(),
) -> Dashboard:
    monitor = Monitor(readers, [parse_alarm(text) for text in alarms])
    app = Dashboard(monitor, DashboardOptions(0.5, allow_write, folder))
    app.wall_ns = _WALL_NS - BASE_NS
    return app


async def show(pilot: Pilot[None]) -> Dashboard:
    """Let the dashboard take what was read; return it."""
    app = pilot.app
    assert isinstance(app, Dashboard)
    app.tick()
    await pilot.pause()
    return app
