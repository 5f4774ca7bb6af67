"""The dashboard: a picture of a Monitor, and keys."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from textual.app import App, ComposeResult
from textual.binding import BindingType
from textual.events import Resize
from textual.timer import Timer
from textual.widgets import Input

from freezeframe.capture.code import code
from freezeframe.capture.counters.contract import Sample
from freezeframe.capture.counters.monitor import Event, Monitor, Watched
from freezeframe.capture.errors import FreezeframeError
from freezeframe.gui.dashboard.help_screen import HelpScreen
from freezeframe.gui.dashboard.lines import Line, LineView, hanging
from freezeframe.gui.dashboard.palette import ALARM, BANNER, CALM, FAINT, PLAIN, SELECTED, WARN
from freezeframe.gui.dashboard.panels import banner_text, panel_lines
from freezeframe.gui.dashboard.snapshot import save_snapshot
from freezeframe.gui.dashboard.table import CounterRows, heading
from freezeframe.gui.dashboard.terminal import terminal_driver
from freezeframe.gui.told_freeze import explained_apart

if TYPE_CHECKING:
    from freezeframe.capture.counters.recording import (
        Recording,  # pyarrow, where nothing may be recorded
    )


LEAST_SIZE = (60, 16)
"""Columns and rows below which nothing useful fits."""

ROOMY_ROWS = 30
"""Rows from which on the banner and the log may be larger."""

PERIODS_S = (0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0)
# Loaded by the first key that acts on a card: numpy would double the memory where there is none.
_ARM = code("freezeframe.gui.card_actions:arm")
_FREEZE = code("freezeframe.gui.card_actions:freeze")
_PULL = code("freezeframe.gui.card_actions:pull_into")
_CONFIRM_NS = 5_000_000_000
_NS_A_S = 1_000_000_000


@dataclass(frozen=True, slots=True)
class DashboardOptions:
    """``folder``: for snapshots and captures; ``allow_write`` lets keys arm and freeze; ``pull`` every freeze."""

    period_s: float
    allow_write: bool = False
    folder: Path = Path()
    pull: bool = False


class Dashboard(App[None]):
    """Live counters in a terminal."""

    ENABLE_COMMAND_PALETTE = False
    TITLE = "freezeframe watch"
    CSS = """
    Screen { layout: vertical; background: ansi_default; color: ansi_default; }
    LineView { background: ansi_default; color: ansi_default; scrollbar-size: 1 1; overflow-x: hidden; }
    #title, #heading, #keys { height: 1; overflow-y: hidden; }
    #banner { height: auto; max-height: 6; overflow-y: hidden; display: none; }
    #panel { height: auto; max-height: 45%; }
    #table { height: 1fr; min-height: 3; }
    #log { height: 4; border-top: solid ansi_default; }
    #filter { height: 1; border: none; padding: 0; display: none; background: ansi_default; color: ansi_default; }
    #small { display: none; height: 1fr; }
    .tall #log { height: 9; }
    .small LineView, .small Input { display: none; }
    .small #small { display: block; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        ("q,ctrl+c", "quit", "Quit"),
        ("question_mark,h", "help", "Help"),
        ("slash", "filter", "Filter"),
        ("escape", "clear_filter", "No filter"),
        ("z", "zeros", "Zeros"),
        ("space", "pause", "Pause"),
        ("plus,equals_sign", "pace(-1)", "Faster"),
        ("minus", "pace(1)", "Slower"),
        ("n", "next", "Next source"),
        ("s", "snapshot", "Snapshot"),
        ("p", "pull", "Pull"),
        ("a", "arm", "Arm"),
        ("f", "freeze", "Freeze"),
    ]

    def __init__(
        self, monitor: Monitor, options: DashboardOptions, recording: Recording | None = None
    ) -> None:
        # The terminal's own colours: few bytes, and nothing but attributes where NO_COLOR is set.
        super().__init__(ansi_color=True, driver_class=terminal_driver())
        self.monitor = monitor
        self.options = options
        self.recording = recording
        self._explained: deque[tuple[str, str]] = deque()  # source and line, from threads
        self._pulled: dict[str, tuple[tuple[str, int, int], ...]] = {}
        self._without_room = False
        self.period_s = options.period_s
        self.paused = False
        self.selected = 0
        self._rows = CounterRows()
        self._shown = (-1, 0)  # lines of the log that are on the screen, and for which width
        self._banner: list[str] = []
        self._arm_again_ns = 0
        self._timer: Timer | None = None  # runs while there is something to draw on
        self._views: dict[str, LineView] = {}
        self.wall_ns = time.time_ns() - time.monotonic_ns()  # to the clock of the log, UTC

    def compose(self) -> ComposeResult:
        """From top to bottom."""
        yield LineView(id="title", name="Title")
        yield LineView(id="banner", name="Freeze")
        yield LineView(id="panel", name="Sources")
        yield LineView(id="heading", name="Columns")
        yield LineView(id="table", name="Counters")
        yield LineView(id="log", name="Log")
        yield Input(
            id="filter", placeholder="part of a name, or a pattern such as *err*", compact=True
        )
        yield LineView(id="keys", name="Keys")
        yield LineView(id="small", name="Too small")

    def on_mount(self) -> None:
        """Begin."""
        self._views = {view.id: view for view in self.query(LineView) if view.id}
        for name in ("title", "banner", "panel", "heading", "keys", "small"):
            self._view(name).can_focus = False
        self._view("table").focus()
        for watched in self.monitor.sources:
            watched.reader.start()
        self._timer = self.set_interval(self.period_s, self.tick)
        self.tick()

    def on_unmount(self) -> None:
        """End the readers."""
        if self._timer is not None:
            self._timer.stop()
            self._timer = None
        for watched in self.monitor.sources:
            watched.reader.stop()

    def on_resize(self, event: Resize) -> None:
        """Say so where the terminal is too small."""
        columns, rows = event.size
        self.set_class(columns < LEAST_SIZE[0] or rows < LEAST_SIZE[1], "small")
        self.set_class(rows >= ROOMY_ROWS, "tall")
        least = f"{LEAST_SIZE[0]} x {LEAST_SIZE[1]}"
        if not self._views:
            return
        text = f"The terminal is {columns} x {rows}; the dashboard needs {least}."
        self._view("small").show(hanging(("", PLAIN), text, PLAIN, columns))
        self._redraw()

    def tick(self) -> None:
        """Take what was read, and show it."""
        samples, events = self.monitor.poll(time.monotonic_ns())
        if self.recording is not None and samples:
            self._record(self.recording, samples)
        if any(event.kind == "freeze" for event in events):
            self.bell()
        if self.options.pull:
            self._pull_what_froze()
        told = bool(self._explained)
        while self._explained:
            self.monitor.tell(*self._explained.popleft(), time.monotonic_ns())
        if not self.paused or events or told:
            self._redraw(only_news=self.paused)

    def action_help(self) -> None:
        """Show the keys."""
        self.push_screen(HelpScreen())

    def action_filter(self) -> None:
        """Ask for a filter."""
        entry = self.query_one("#filter", Input)
        entry.display = True
        entry.focus()

    def action_clear_filter(self) -> None:
        """Show everything."""
        entry = self.query_one("#filter", Input)
        entry.value = ""
        self._filter_done("")

    def on_input_changed(self, event: Input.Changed) -> None:
        """Filter while it is typed."""
        self._rows.filter = event.value.strip()
        self._redraw()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Keep the filter."""
        self._filter_done(event.value)

    def action_zeros(self) -> None:
        """Show or hide counters that are 0."""
        self._rows.show_zeros = not self._rows.show_zeros
        self._redraw()

    def action_pause(self) -> None:
        """Hold the picture, or let it go on."""
        self.paused = not self.paused
        self._redraw()

    def action_pace(self, step: int) -> None:
        """Read more or less often."""
        near = min(range(len(PERIODS_S)), key=lambda n: abs(PERIODS_S[n] - self.period_s))
        self.period_s = PERIODS_S[min(max(0, near + step), len(PERIODS_S) - 1)]
        for watched in self.monitor.sources:
            watched.reader.period_s = self.period_s
        if self._timer is not None:
            self._timer.stop()
        self._timer = self.set_interval(self.period_s, self.tick)
        self._redraw()

    def action_next(self) -> None:
        """Select the next source."""
        self.selected = (self.selected + 1) % len(self.monitor.sources)
        self._redraw()

    def action_snapshot(self) -> None:
        """Write all counters to a file."""
        try:
            self._note(save_snapshot(self.monitor.sources, self.options.folder))
        except (FreezeframeError, OSError) as error:
            self._note(f"failed: no snapshot: {error}")

    def action_pull(self) -> None:
        """Pull the selected card."""
        self._pull(self.monitor.sources[self.selected])

    def _pull(self, watched: Watched) -> None:
        """Pull a card between two readings; what it holds is explained meanwhile, and told in place of its freeze."""

        def pulled(path: Path) -> None:
            def explain() -> None:
                self._explained.append((watched.url, explained_apart(path)))

            threading.Thread(target=explain, name=f"explain {path}", daemon=True).start()

        watched.reader.ask(partial(_PULL, self.options.folder, "watch", pulled))
        self._note("pulling ...")

    def _pull_what_froze(self) -> None:
        """Pull each card once for each freeze, when all behind its target have frozen."""
        for watched in self.monitor.sources:
            states = watched.recorders
            if states and all(state.state == "frozen" for state in states):
                freeze = tuple((state.device, state.nonce, state.generation) for state in states)
                if self._pulled.get(watched.url) != freeze:
                    self._pulled[watched.url] = freeze
                    self._pull(watched)

    def action_arm(self) -> None:
        """Arm the selected card; where a recording would be lost, only when asked twice."""
        if not self._may_write():
            return
        watched = self.monitor.sources[self.selected]
        now_ns = time.monotonic_ns()
        frozen = any(state.state in ("triggered", "frozen") for state in watched.recorders)
        discard = frozen and now_ns <= self._arm_again_ns
        self._arm_again_ns = now_ns + _CONFIRM_NS if frozen and not discard else 0
        watched.reader.ask(partial(_ARM, discard=discard))
        if frozen and not discard:
            self._note("where it is kept nowhere it would be lost; a once more arms, p pulls")

    def action_freeze(self) -> None:
        """Freeze the selected card."""
        if self._may_write():
            self.monitor.sources[self.selected].reader.ask(_FREEZE)

    def _may_write(self) -> bool:
        if not self.options.allow_write:
            self._note("nothing was written: started without --allow-write")
        return self.options.allow_write

    def _note(self, text: str) -> None:
        url = self.monitor.sources[self.selected].url
        self.monitor.note(Event(time.monotonic_ns(), url, "note", text))
        self._redraw()

    def _record(self, recording: Recording, samples: Sequence[tuple[int, Sample]]) -> None:
        try:
            for number, sample in samples:
                watched = self.monitor.sources[number]
                recording.add(watched.url, watched.reader.source.counters, sample)
            for watched in self.monitor.sources:
                recording.missed(watched.url, watched.reader.missed)
            recording.sync()
        except OSError as error:
            self.recording = None
            self._note(f"failed: the recording has ended: {error.strerror}")
            return
        if recording.lost and not self._without_room:
            self._note("failed: no room on the disk; samples are lost until there is")
        self._without_room = bool(recording.lost)

    def _filter_done(self, text: str) -> None:
        self._rows.filter = text.strip()
        self.query_one("#filter", Input).display = False
        self._view("table").focus()
        self._redraw()

    def _view(self, name: str) -> LineView:
        return self._views[name]

    def _redraw(self, *, only_news: bool = False) -> None:
        if self._timer is None or self.has_class("small"):
            return
        now_ns = time.monotonic_ns()
        self._show_banner()
        self._show_log()
        self._view("title").show([self._title()])
        if only_news:
            return
        width = self.size.width - 1  # beside the scroll bar, whether it is there or not
        self._view("panel").show(panel_lines(self.monitor, self.selected, now_ns))
        count = self._rows.choose(self.monitor)
        self._view("table").show_made(count, lambda at: self._rows.line(at, width, now_ns))
        self._view("heading").show([heading(width, self._rows.longest, self._rows.hidden)])
        self._view("keys").show([self._keys()])

    def _show_banner(self) -> None:
        lines = banner_text(self.monitor)
        if lines == self._banner:
            return
        self._banner = lines
        banner = self._view("banner")
        blank = [""] if self.size.height >= ROOMY_ROWS else []
        texts = [*blank, *(f"  {line}" for line in lines), *blank] if lines else []
        banner.show([((text.ljust(self.size.width), BANNER),) for text in texts])
        banner.display = bool(lines)

    def _show_log(self) -> None:
        now = (self.monitor.logged, self.size.width)
        if self._shown == now:
            return
        self._shown = now
        lines = [line for event in self.monitor.log for line in self._log_lines(event)]
        self._view("log").show(lines, follow=True)

    def _log_lines(self, event: Event) -> list[Line]:
        wall = time.gmtime((event.t_ns + self.wall_ns) // _NS_A_S)
        style = PLAIN
        if event.begins and event.kind in ("freeze", "alarm", "law", "errors", "stale"):
            style = WARN
        elif not event.begins:
            style = CALM
        source = (f"  {event.source}", FAINT) if len(self.monitor.sources) > 1 else None
        head = (time.strftime("%H:%M:%SZ ", wall), FAINT)
        return hanging(head, event.text, style, self.size.width - 1, source)

    def _title(self) -> Line:
        rate = f"{1 / self.period_s:g} Hz" if self.period_s <= 1 else f"every {self.period_s:g} s"
        pieces = [("freezeframe watch", SELECTED), (f"  {rate}", PLAIN)]
        pieces.append(("  may write" if self.options.allow_write else "  read-only", FAINT))
        # In the order of what matters: a narrow terminal cuts the end.
        ringing = sum(len(watched.ringing) for watched in self.monitor.sources)
        if ringing:
            pieces += [("  ", PLAIN), (f" {ringing} ALARM{'S' if ringing > 1 else ''} ", ALARM)]
        if self.paused:
            pieces += [("  ", PLAIN), (" PAUSED ", ALARM)]
        if self._rows.filter:
            pieces.append((f"  filter: {self._rows.filter}", WARN))
        if self.recording is not None:
            pieces.append((f"  recording {self.recording.samples:,} samples", CALM))
        return tuple(pieces)

    def _keys(self) -> Line:
        keys = "? help  / filter  space pause  +- rate  s save  p pull  "
        return (
            (
                keys + ("a arm  f freeze" if self.options.allow_write else "n next") + "  q quit",
                FAINT,
            ),
        )
