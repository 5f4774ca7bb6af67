"""Reports of a switch's monitor: whole ones alone, and only those that began after they were asked for."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from freezeframe.capture.console.lines import LineSplitter, parse
from freezeframe.capture.console.switch import (
    PortCounts,
    ReportReader,
    SwitchMonitor,
    SwitchReport,
)
from freezeframe.capture.errors import TargetError
from tests.capture.console.printed import line

REPORT = ["flow 10 3 40", "xpt 10 0 1 2 e", "port 10 0 50 4 1 4e 30 2 0", "fwd 10 6 100 9 80 0"]
READ = SwitchReport(16, {3: 64}, {(0, 1): 2}, {0: PortCounts(80, 4, 1, 78, 48, 2, 0)}, 6)


def printed(lines: list[str], cycle: str = "10") -> bytes:
    return b"".join(line(text.replace(" 10 ", f" {cycle} ", 1)) for text in lines)


def reports(stream: bytes) -> list[SwitchReport]:
    reader, found = ReportReader(), []
    for text in LineSplitter().feed(stream):
        parsed = parse(text)
        whole = None if parsed is None else reader.feed(parsed)
        found += [] if whole is None else [whole]
    return found


class Played:
    """A console on which a piece comes at each look; what came before the call is passed over."""

    def __init__(self, before: bytes, *pieces: bytes) -> None:
        self._pieces = [before, *pieces]

    def now(self) -> bytes:
        return self._pieces.pop(0) if self._pieces else b""

    def discard(self) -> None:
        self._pieces.pop(0)

    def __iter__(self) -> Iterator[bytes]:
        while data := self.now():
            yield data


def test_a_report_has_what_its_lines_say_and_0_for_what_they_leave_out() -> None:
    assert reports(printed(REPORT)) == [READ]
    assert READ.port(5) == PortCounts(0, 0, 0, 0, 0, 0, 0)


def test_counts_since_another_reading_are_differences() -> None:
    assert READ.port(0).since(PortCounts(70, 3, 1, 70, 40, 1, 0)) == (10, 1, 0, 8, 8, 1, 0)


@pytest.mark.parametrize("spoil", [b"port 10 0 50", b"fwd 10 6"])
def test_a_report_with_a_damaged_line_is_none_and_the_next_one_is_whole(spoil: bytes) -> None:
    damaged = printed(REPORT).replace(spoil, spoil[:-1] + b"7")
    later = printed(REPORT, "20")
    found = reports(damaged + later + later)
    assert [report.cycle for report in found][-1] == 32
    assert 16 not in [report.cycle for report in found]


def test_lines_of_two_reports_are_not_one() -> None:
    mixed = printed(REPORT[:2]) + printed(REPORT[2:], "20")
    assert reports(mixed) == []


def test_a_report_that_had_begun_before_it_was_asked_for_is_passed_over() -> None:
    old, torn, new = printed(REPORT), printed(REPORT, "20"), printed(REPORT, "30")
    played = Played(old, torn[40:], new[:30], b"", new[30:])
    looks = []
    monitor = SwitchMonitor(played, "x")
    assert monitor.report(5.0, lambda: looks.append(1)).cycle == 0x30
    assert looks == [1]


def test_a_monitor_is_heard_by_a_line_that_comes_after_the_call() -> None:
    old, new = printed(REPORT), printed(REPORT[:1], "20")
    looks: list[int] = []
    assert SwitchMonitor(Played(old, b"", new), "x").hear(5.0, lambda: looks.append(1))
    assert looks == [1]


@pytest.mark.parametrize("after", [b"", b"login:\n", line("begin 1"), b"ff:flow 10 3 40 *0000\n"])
def test_what_was_there_before_or_is_no_whole_line_of_a_monitor_is_not_one(after: bytes) -> None:
    assert not SwitchMonitor(Played(printed(REPORT), after), "x").hear(0.05)


def test_a_silent_console_is_one_line_that_says_what_came() -> None:
    with pytest.raises(
        TargetError, match=r"^x: nothing of it in 0\.05 s; a switch's monitor prints"
    ):
        SwitchMonitor(Played(b"", b"login:\n"), "x").report(0.05)
    spoilt = Played(b"", printed(REPORT).replace(b"*", b"+"))
    with pytest.raises(TargetError, match="4 of its lines, 4 damaged, and no whole report in"):
        SwitchMonitor(spoilt, "x").report(0.05)
