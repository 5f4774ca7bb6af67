"""Where a run's time goes: a table by room at its end, and every test's CPU time in a file for whoever cuts.

CPU time, the test's own and that of the processes it waited for, because wall time is another
program's as much as the test's.
"""

from __future__ import annotations

import json
import os
from collections import defaultdict
from collections.abc import Generator
from pathlib import Path

import pytest

from tests.bench.common import FAST_COPY_B_S, copied_B_s

_MANY = 5000  # tests


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
        self._cpu_s: defaultdict[str, float] = defaultdict(float)
        self._wall_s: defaultdict[str, float] = defaultdict(float)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(
        self,
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        report = yield
        now_s = _cpu_s()
        # xdist sends all attributes of a report to the process that prints.
        report.cpu_s, self._last_s = now_s - self._last_s, now_s  # type: ignore[attr-defined]
        return report

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self._cpu_s[report.nodeid] += getattr(report, "cpu_s", 0.0)
        self._wall_s[report.nodeid] += report.duration

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        rooms: defaultdict[str, list[str]] = defaultdict(list)
        for node_id in self._cpu_s:
            rooms[room_of(node_id)].append(node_id)
        terminalreporter.section("time by room")
        terminalreporter.write_line(f"{'room':12}{'tests':>7}{'CPU s':>8}{'wall s':>8}")
        for room, tests in sorted(rooms.items(), key=lambda item: -self._sum(item[1])[0]):
            self._print(terminalreporter, room, tests)
        self._print(terminalreporter, "all", list(self._cpu_s))
        if len(self._cpu_s) >= _MANY:  # what a run of the whole may take is asked of a machine, too
            terminalreporter.write_line(
                f"numpy copies {copied_B_s() / 1e9:.1f} GB/s here; "
                f"times are asked of a machine with {FAST_COPY_B_S / 1e9:.0f}"
            )
        if self._into:
            Path(self._into).write_text(json.dumps(self._cpu_s, indent=0), "utf-8")

    def _sum(self, tests: list[str]) -> tuple[float, float]:
        return sum(self._cpu_s[test] for test in tests), sum(self._wall_s[test] for test in tests)

    def _print(self, reporter: pytest.TerminalReporter, room: str, tests: list[str]) -> None:
        cpu_s, wall_s = self._sum(tests)
        reporter.write_line(f"{room:12}{len(tests):7}{cpu_s:8.1f}{wall_s:8.1f}")
