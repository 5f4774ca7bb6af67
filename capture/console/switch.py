"""What the monitor of a switch reports of it on a serial console, report by report.

A report is whole when all of its lines name one cycle and none was damaged; "fwd" ends it.

Source: firmware-hooks/c/ff_console.h and ff_switch.h.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from freezeframe.capture.console.lines import Damaged, Line, LineSplitter, parse
from freezeframe.capture.console.port import Console
from freezeframe.capture.errors import TargetError

_OF_REPORT = ("flow", "xpt", "port", "fwd")
_PAUSE_S = 0.002


class PortCounts(NamedTuple):
    """What a port has counted since power-up, packets and credits; a packet when its last word passed.

    Attributes:
        told: words of which the node at this port was told that they have left the crosspoints of its input.
    """

    words_in: int = 0
    packets_in: int = 0
    bad_in: int = 0
    told: int = 0
    words_out: int = 0
    packets_out: int = 0
    bad_out: int = 0

    def since(self, before: PortCounts) -> PortCounts:
        """Return what was counted after another reading."""
        return PortCounts(*(now - was for now, was in zip(self, before, strict=True)))


@dataclass(frozen=True, slots=True)
class SwitchReport:
    """One report: the cycle of the monitor's processor, words of each flow and crosspoint, counts of each port.

    What the monitor leaves out is 0.
    """

    cycle: int
    flows: dict[int, int] = field(default_factory=dict)
    crosspoints: dict[tuple[int, int], int] = field(default_factory=dict)
    ports: dict[int, PortCounts] = field(default_factory=dict)
    packets: int = 0

    def port(self, number: int) -> PortCounts:
        """Return the counts of a port."""
        return self.ports.get(number, PortCounts())


class ReportReader:
    """Collects the lines of reports."""

    def __init__(self) -> None:
        self._report: SwitchReport | None = None
        self._broken = False

    def feed(self, line: Line | Damaged) -> SwitchReport | None:
        """Take a line; return the report that it ends, if that is whole."""
        if isinstance(line, Damaged):
            self._broken = True
            return None
        if line.what not in _OF_REPORT:
            return None
        cycle, *numbers = line.numbers
        report = self._report
        if report is None:
            report = self._report = SwitchReport(cycle)
        self._broken |= report.cycle != cycle
        if line.what == "flow":
            report.flows[numbers[0]] = numbers[1]
        elif line.what == "xpt":
            report.crosspoints[numbers[0], numbers[1]] = numbers[2]
        elif line.what == "port":
            report.ports[numbers[0]] = PortCounts(*numbers[1:])
        else:
            whole, self._report, self._broken = not self._broken, None, False
            return (
                SwitchReport(cycle, report.flows, report.crosspoints, report.ports, numbers[0])
                if whole
                else None
            )
        return None


class SwitchMonitor:
    """The monitor at the other end of a console."""

    def __init__(self, console: Console, name: str) -> None:
        """Take an open console; ``name`` is for messages."""
        self.name = name
        self._console = console

    def hear(self, limit_s: float, meanwhile: Callable[[], object] = lambda: None) -> bool:
        """Wait for a line of a monitor that comes after this call; return whether one came.

        Args:
            limit_s: how long to wait for it.
            meanwhile: called between looks at the console.
        Raises:
            TargetError: the port went away.
        """
        lines = self._lines(limit_s, meanwhile)
        return any(isinstance(line, Line) and line.what in _OF_REPORT for line in lines)

    def report(
        self, limit_s: float, meanwhile: Callable[[], object] = lambda: None
    ) -> SwitchReport:
        """Return a report that began after this call: the first whole one behind the end of another.

        Args:
            limit_s: how long to wait for it.
            meanwhile: called between looks at the console.
        Raises:
            TargetError: none came, or the port went away.
        """
        reader = ReportReader()
        behind, ours, damaged = False, 0, 0
        for line in self._lines(limit_s, meanwhile):
            ours += 1
            damaged += isinstance(line, Damaged)
            if behind and (report := reader.feed(line)) is not None:
                return report
            behind = behind or (isinstance(line, Line) and line.what == "fwd")
        what = (
            f"{ours} of its lines, {damaged} damaged, and no whole report"
            if ours
            else "nothing of it"
        )
        raise TargetError(
            f"{self.name}: {what} in {limit_s:g} s; a switch's monitor prints one now and then (ff_console_switch)"
        )

    def _lines(self, limit_s: float, meanwhile: Callable[[], object]) -> Iterator[Line | Damaged]:
        """Yield the monitor's lines that come after this call, as long as it may take."""
        splitter = LineSplitter()
        self._console.discard()
        end_s = time.monotonic() + limit_s
        while time.monotonic() < end_s:
            data = self._console.now()
            if not data:
                meanwhile()
                time.sleep(_PAUSE_S)
            yield from filter(None, map(parse, splitter.feed(data)))
