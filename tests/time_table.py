"""Where a run's time goes: a table by room at its end, and every test's CPU time in a file for whoever cuts.

CPU time, the test's own and that of the processes it waited for, because wall time is another
program's as much as the test's.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

__all__ = ["TimeTable", "room_of"]


def room_of(node_id: str) -> str:
    """Return the room of a test: the folder below ``tests``, or the file where it stands in none."""
    parts = node_id.split("::", maxsplit=1)[0].split("/")
    return parts[1] if len(parts) > 1 else parts[0]


def _cpu_s() -> float:
    return sum(os.times()[:4])


class TimeTable:
    """A plug-in of pytest: notes each test's time where it runs, and prints the sums where reports arrive."""

    def __init__(self, into: str | None) -> None:
        self._last_s = _cpu_s()
        self._into = into
        self.cpu_s: Counter[str] = Counter()
        self.wall_s: Counter[str] = Counter()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(
        self,
    ) -> Iterator[None]:
        report = yield
        now_s = _cpu_s()
        report.cpu_s, self._last_s = now_s - self._last_s, now_s
        return report

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self.cpu_s[report.nodeid] += getattr(report, "cpu_s", 0.0)
        self.wall_s[report.nodeid] += report.duration

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        rooms: Counter[str] = Counter()
        wall: Counter[str] = Counter()
        count: Counter[str] = Counter()
        for node_id, seconds in self.cpu_s.items():
            rooms[room_of(node_id)] += seconds
            wall[room_of(node_id)] += self.wall_s[node_id]
            count[room_of(node_id)] += 1
        terminalreporter.section("time by room")
        line = terminalreporter.write_line
        line(f"{'room':12}{'tests':>7}{'CPU s':>8}{'wall s':>8}")
        for room, seconds in rooms.most_common():
            line(f"{room:12}{count[room]:7}{seconds:8.1f}{wall[room]:8.1f}")
        total = sum(rooms.values()), sum(wall.values())
        line(f"{'all':12}{sum(count.values()):7}{total[0]:8.1f}{total[1]:8.1f}")
        if self._into:
            Path(self._into).write_text(json.dumps(self.cpu_s, indent=0), "utf-8")
