"""Packets beside the recording of a card: on one axis by their wall clocks, with what that is sure to."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pytestqt.qtbot import QtBot

from freezeframe.analyzers.wall_clock import WallClock, wall_clock_of
from freezeframe.gui.desktop.sources.beside import place_by_clock
from freezeframe.gui.desktop.sources.opened import Opened, SourceKind
from freezeframe.gui.desktop.window import MainWindow
from tests.capture.packets import build
from tests.gui.desktop.conftest import wait_loaded

History = list[dict[str, Any]]

AT_S = 1_700_000_000  # 2023-11-14 22:13:20 UTC
AT = "2023-11-14T22:13:20+00:00"
LATER = "2023-11-14T22:13:26+00:00"


def _opened(kind: SourceKind, clock: WallClock | None) -> Opened:
    return Opened("1", f"a {kind}", "x", kind, wall_clock=clock)


def test_a_freeze_that_the_host_made_is_dated_to_a_second() -> None:
    history: History = [{"what": "armed", "when": None}, {"what": "frozen", "when": AT, "seen": AT}]
    assert wall_clock_of(history, 5_000_000) == WallClock(AT_S * 10**9 - 5_000, 10**9)


def test_a_freeze_of_the_card_itself_lies_between_arming_and_being_seen() -> None:
    history: History = [
        {"what": "armed", "when": AT},
        {"what": "frozen", "when": None, "seen": LATER},
    ]
    assert wall_clock_of(history, 0) == WallClock(AT_S * 10**9 + 3_500_000_000, 3_500_000_000)


@pytest.mark.parametrize("armed", [None, "no time", 7])
def test_a_freeze_that_has_no_earliest_time_has_no_wall_clock(armed: object) -> None:
    history: History = [
        {"what": "armed", "when": armed},
        {"what": "frozen", "when": None, "seen": LATER},
    ]
    assert wall_clock_of(history, 0) is None
    assert wall_clock_of([], 0) is None


def test_packets_stand_where_both_clocks_say_with_the_uncertainty() -> None:
    card, packets = (
        _opened("capture", WallClock(10**18, 10**9)),
        _opened("packets", WallClock(10**18 + 5, 0)),
    )
    card.offset_ps = 100
    place_by_clock(packets, [card])
    assert packets.offset_ps == 100 + 5_000
    assert packets.remarks == [
        "placed beside a capture by their wall clocks, right to 1 s if both machines' clocks agree; "
        "Ctrl+Shift+T gives it an offset"
    ]


def test_what_has_no_clock_or_is_days_away_is_not_placed_and_that_is_said() -> None:
    packets = _opened("packets", WallClock(10**18, 0))
    card = _opened("capture", None)
    place_by_clock(card, [packets])
    far = _opened("capture", WallClock(10**18 + 3 * 86_400 * 10**9, 0))
    place_by_clock(far, [packets])
    assert (card.offset_ps, far.offset_ps) == (0, 0)
    assert "no wall clock says when time 0 of a capture was" in card.remarks[0]
    assert "3.0 days apart" in far.remarks[0]


def test_two_recordings_of_cards_begin_at_their_own_zeros_as_before() -> None:
    one, other = _opened("capture", WallClock(5, 0)), _opened("capture", WallClock(9, 0))
    place_by_clock(other, [one])
    assert (other.offset_ps, other.remarks) == (0, [])


def test_the_window_puts_both_on_one_axis(qtbot: QtBot, window: MainWindow, tmp_path: Path) -> None:
    ends = ("10.0.0.1", 7000), ("10.0.0.2", 80)
    keys = []
    for name, second in (("first.pcap", AT_S), ("second.pcap", AT_S + 2)):
        sent = [
            (second * 10**9 + k * 10**6, build.ethernet(build.tcp(*ends, 10 * k, b"a" * 10)))
            for k in range(3)
        ]
        (tmp_path / name).write_bytes(build.pcap(sent))
        keys.append(wait_loaded(qtbot, window, tmp_path / name))
    first, second_one = (window.workspace.sources[key] for key in keys)
    assert (first.offset_ps, second_one.offset_ps) == (0, 2 * 10**12)
    rates = [track for track in window.timeline.tracks() if track.name == "there rate"]
    assert [int(track.t_ps[0]) for track in rates] == [0, 2 * 10**12]
