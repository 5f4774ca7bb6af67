"""Two captures side by side: the second is moved in time so that its packets are where those of the first are."""

from __future__ import annotations

from typing import TYPE_CHECKING

from freezeframe.capture.code import code
from freezeframe.capture.time_text import format_ps
from freezeframe.gui.desktop.progress import Progress
from freezeframe.gui.desktop.sources.opened import Opened, Part, Place, Table
from freezeframe.gui.desktop.views import Views

if TYPE_CHECKING:
    from freezeframe.analyzers.view import CaptureView
    from freezeframe.gui.desktop.pairing import Pairs

# Loaded by the worker that compares: most windows never do.
capture_view = code("freezeframe.analyzers.view:CaptureView")
diff_cards = code("freezeframe.analyzers.card.runs:diff_cards")
diff_runs = code("freezeframe.analyzers.run_diff.compare:diff_runs")
align_taps = code("freezeframe.analyzers.run_diff.packets:align_taps")
pair_packets = code("freezeframe.gui.desktop.pairing:pair_packets")
pair_tracks = code("freezeframe.gui.desktop.pairing:pair_tracks")
run_tables = code("freezeframe.gui.desktop.run_tables:run_tables")
run_remarks = code("freezeframe.gui.desktop.run_tables:run_remarks")

_BESIDE_PS = 5_000_000  # on both sides of the first divergence: some packets before and after it


def _views(*captures: Opened) -> list[CaptureView]:
    """Return captures as analyses read them, without decoding them again."""
    views = []
    for opened in captures:
        assert opened.folder is not None and opened.trace is not None
        views.append(capture_view(opened.folder, trace=opened.trace))
    return views


class Compare:
    """What a window does with two captures."""

    def __init__(self, window: Views) -> None:
        self._window = window

    def align(self, key: str) -> None:
        """Move a capture in time so that its packets are where those of the first other capture are."""
        captures = self._captures()
        mine = next((opened for opened in captures if opened.key == key), None)
        first = next((opened for opened in captures if opened.key != key), None)
        if mine is None or first is None:
            self._window.say("aligning by packets needs two recordings of cards; open another")
            return
        self._pair(first, mine, table=False)

    def compare(self) -> None:
        """Align the second capture to the first, and list the packets of both."""
        captures = self._captures()
        cards = [s for s in self._window.workspace.sources.values() if s.cards is not None]
        if len(captures) < 2 <= len(cards):
            self._compare_cards(cards[0], cards[1])
            return
        if len(captures) < 2:
            self._window.say("comparing needs two recordings of cards; open another")
            return
        self._pair(captures[0], captures[1], table=True)

    def _captures(self) -> list[Opened]:
        sources = self._window.workspace.sources.values()
        return [s for s in sources if s.kind == "capture" and s.trace is not None]

    def _compare_cards(self, first: Opened, second: Opened) -> None:
        """List what differs between two captures of one described card; neither is moved in time."""
        title = f"compared with {second.name}"

        def work(progress: Progress) -> Part:
            progress.report(0, 0, "packets of both")
            assert first.cards is not None and second.cards is not None
            runs = diff_cards(first.cards, second.cards)
            return Part(tables=list(run_tables(runs, title)), remarks=run_remarks(runs, title))

        def done(part: Part) -> None:
            self._list(first, part)
            self._window.say("; ".join(part.remarks[:2]))

        name = f"compare {first.name} and {second.name}"
        self._window.workspace.jobs.start(name, work, done, self._window.say_trouble)

    def _list(self, first: Opened, part: Part) -> None:
        """Show the tables of a comparison beside those of the first capture."""
        self._window.workspace.add_part(first.key, part)
        self._window.table.show_table(first.key, part.tables[0].key)
        self._window.show_panel("Events")

    def _pair(self, first: Opened, second: Opened, *, table: bool) -> None:
        title = f"compared with {second.name}"

        def work(progress: Progress) -> tuple[Pairs, Part]:
            progress.report(0, 0, "packets of both")
            assert first.trace is not None and second.trace is not None
            views = _views(first, second)
            runs = diff_runs(*views) if table else None
            taps = align_taps(*views) if runs is None else runs.taps
            pairs = pair_packets(taps, first.trace, second.trace)
            doc = (
                "packets of both captures, as diff aligns them: by what they carry, then by number"
            )
            part = Part(tables=[Table(title, pairs.table, doc=doc, partner=second.key)])
            key = f"{first.key}/compare/{second.key}"
            part.tracks += [
                (track, title)
                for track in pair_tracks(
                    key, first.name, second.name, pairs, first.trace, second.trace
                )
            ]
            if runs is not None:
                part.tables += run_tables(runs, title)
                part.remarks += run_remarks(runs, title)
            return pairs, part

        def done(result: tuple[Pairs, Part]) -> None:
            pairs, part = result
            window = self._window
            if not pairs.paired:
                window.say_trouble(
                    f"{first.name} and {second.name} have no packet in common: none carries what one "
                    "of the other does at the same tap; nothing was moved"
                )
                return
            window.workspace.set_offset(second.key, first.offset_ps + pairs.offset_ps)
            counts = pairs.table["kind"].value_counts()
            kinds = ", ".join(f"{count:,} {kind}" for kind, count in counts.items() if count)
            text = f"{second.name} moved by {format_ps(pairs.offset_ps)}; packets: {kinds}"
            window.say("; ".join([text, *part.remarks[1:2]]))
            if table:
                self._list(first, part)
                if pairs.first is not None:
                    window.choosing.choose(Place(first.key, title, pairs.first), "comparison")
                    chosen = window.timeline.selection()
                    if chosen is not None:  # no filter hides it
                        beside = max(4 * (chosen.t_end_ps - chosen.t_ps), _BESIDE_PS)
                        window.timeline.set_range(chosen.t_ps - beside, chosen.t_end_ps + beside)

        name = f"compare {first.name} and {second.name}"
        self._window.workspace.jobs.start(name, work, done, self._window.say_trouble)
