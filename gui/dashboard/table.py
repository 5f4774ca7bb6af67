"""The table of counters: value, rate, unit and spark line of every counter that is shown."""

from __future__ import annotations

from fnmatch import fnmatchcase

from freezeframe.capture.counters.history import History
from freezeframe.capture.counters.monitor import Monitor, Watched
from freezeframe.gui.dashboard.lines import Line
from freezeframe.gui.dashboard.numbers import count_cell, fit, rate_cell, spark
from freezeframe.gui.dashboard.palette import ALARM, FAINT, HEAD, PLAIN, SPARK, WARN
from freezeframe.gui.text import printable

_VALUE_W, _RATE_W, _UNIT_W = 16, 8, 10
_LEAST_NAME_W, _LEAST_SPARK_W = 22, 12
_FIXED_W = 3 + 1 + _VALUE_W + 1 + _RATE_W + 2 + _UNIT_W + 1
_QUIET_NS = 10_000_000_000  # how long a counter of errors is marked after it grew


def _widths(width: int, longest: int) -> tuple[int, int]:
    """Return the widths of name and spark line, in a line of ``width`` whose longest name is ``longest``."""
    left = max(_LEAST_NAME_W + _LEAST_SPARK_W, width - _FIXED_W)
    name = max(_LEAST_NAME_W, min(longest, left - _LEAST_SPARK_W))
    return name, left - name


def heading(width: int, longest: int, hidden: int) -> Line:
    """Return the line above the table."""
    name_w, spark_w = _widths(width, longest)
    zeros = f" ({hidden} at 0: z)" if hidden else ""
    return (
        (
            "   " + fit("counter" + zeros, name_w) + " " + "value".rjust(_VALUE_W) + " " + "a second".rjust(_RATE_W)
            + "  " + fit("unit", _UNIT_W) + " " + "by second".rjust(spark_w),
            HEAD,
        ),
    )  # fmt: skip


def _place(watched: Watched, key: str, history: History) -> int:
    """Return how far up a counter belongs: alarms, errors that grew, what grew lately, the rest."""
    if key in watched.ringing:
        return 0
    if key in watched.grows_wrong:
        return 1
    return 2 if history.is_gauge or any(history.bins) else 3


class CounterRows:
    """Which counters are shown, and their lines."""

    def __init__(self) -> None:
        self.filter = ""
        self.show_zeros = False
        self.hidden = 0
        self.longest = 0  # name that is shown, characters
        self._rows: list[tuple[Watched, str, History | None]] = []

    def choose(self, monitor: Monitor) -> int:
        """Choose the rows to show, a heading for each source where there are several; return how many."""
        self.hidden = 0
        self._rows = []
        for watched in monitor.sources:
            shown = [each for each in watched.histories.items() if self._shown(watched, *each)]
            shown.sort(key=lambda each: _place(watched, *each))
            rows = [(watched, key, history) for key, history in shown]
            if len(monitor.sources) > 1 and rows:
                self._rows.append((watched, "", None))
            self._rows += rows
        self.longest = max((len(key) for _, key, _ in self._rows), default=0)
        return len(self._rows)

    def line(self, number: int, width: int, now_ns: int) -> Line:
        """Return the line of a row that ``choose`` has chosen."""
        watched, key, history = self._rows[number]
        if history is None:
            return ((watched.url, FAINT if not watched.stale else WARN),)
        return self._line(watched, key, history, _widths(width, self.longest), now_ns)

    def _shown(self, watched: Watched, key: str, history: History) -> bool:
        if self.filter and not self._matches(watched.url, key):
            return False
        if (
            not self.show_zeros
            and not history.value
            and not any(history.bins)
            and key not in watched.ringing
        ):
            self.hidden += 1
            return False
        return True

    def _matches(self, url: str, key: str) -> bool:
        wanted, whole = self.filter.lower(), f"{url}/{key}".lower()
        return wanted in whole or fnmatchcase(key.lower(), wanted)

    @staticmethod
    def _line(
        watched: Watched, key: str, history: History, widths: tuple[int, int], now_ns: int
    ) -> Line:
        counter = watched.reader.source.counters.get(key)
        rings = key in watched.ringing
        grew = watched.grows_wrong.get(key)
        grows_wrong = grew is not None and now_ns - grew < _QUIET_NS
        mark, style = ("!! ", ALARM) if rings else ("!  ", WARN) if grows_wrong else ("   ", PLAIN)
        if watched.stale:
            mark, style = ("?  ", FAINT)
        value = (
            "-".rjust(_VALUE_W) if history.value is None else count_cell(history.value, _VALUE_W)
        )
        rate = "" if history.is_gauge else rate_cell(history.rate)
        unit = counter.unit if counter is not None else ""
        text = (
            mark
            + fit(printable(key), widths[0])
            + " "
            + value
            + " "
            + rate.rjust(_RATE_W)
            + "  "
            + fit(printable(unit), _UNIT_W)
            + " "
        )
        return (
            (text, style),
            (spark(history.bins, widths[1]), SPARK if not watched.stale else FAINT),
        )
