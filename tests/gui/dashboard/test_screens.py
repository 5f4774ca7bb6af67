"""Whole screens, compared with pictures that were looked at (``pytest --snapshot-update`` makes them anew)."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from textual.app import App
from textual.pilot import Pilot

from tests.gui.dashboard.made import card_reader, dashboard, netdev_reader, recorder, show

Compare = Callable[..., bool]


@pytest.fixture(autouse=True)
def with_colour(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)


async def shown(pilot: Pilot[None]) -> None:
    await show(pilot)


def picture(compare: Compare, app: App[None], size: tuple[int, int]) -> bool:
    return compare(app, run_before=shown, terminal_size=size)


def test_the_screen_of_a_frozen_card_in_80_by_24(snap_compare: Compare) -> None:
    facts = {"B froze in": "tx_dma idle, rx_dma data, tx_link data, rx_link idle"}
    reader = card_reader(
        recorder("A", "frozen", "cross"), recorder("B", "frozen", "pay-crc", "length"), facts=facts
    )
    assert picture(snap_compare, dashboard(reader, allow_write=True), (80, 24))


def test_the_screen_of_a_card_and_an_interface_with_alarms_in_120_by_40(
    snap_compare: Compare,
) -> None:
    app = dashboard(card_reader(), netdev_reader(), alarms=["rx_packets>2000"])
    assert picture(snap_compare, app, (120, 40))
