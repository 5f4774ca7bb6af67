"""Two captures side by side: the second is moved so that its packets stand where the first has them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from freezeframe.gui.desktop.pairing import Pairs, pair_packets, pairs_track
from freezeframe.gui.desktop.sources.opened import Opened, Part, Table
from freezeframe.gui.plots.axis import format_ps

if TYPE_CHECKING:
    from freezeframe.gui.desktop.progress import Progress
    from freezeframe.gui.desktop.window import MainWindow

__all__ = ["Compare"]


class Compare:
    """What a window does with two captures."""

    def __init__(self, window: MainWindow) -> None:
        self._window = window

    def align(self, key: str) -> None:
        """Move a capture so that its packets stand where the first other capture has them."""
        captures = self._captures()
        mine = next((one for one in captures if one.key == key), None)
        first = next((one for one in captures if one.key != key), None)
        if mine is None or first is None:
            self._window.say("aligning by packets needs two recordings of cards; open another")
            return
        self._pair(first, mine, table=False)

    def compare(self) -> None:
        """Align the second capture to the first, and list the packets of both."""
        captures = self._captures()
        if len(captures) < 2:
            self._window.say("comparing needs two recordings of cards; open another")
            return
        self._pair(captures[0], captures[1], table=True)

    def _captures(self) -> list[Opened]:
        found = self._window.workspace.sources.values()
        return [one for one in found if one.kind == "capture" and one.trace is not None]

    def _pair(self, first: Opened, second: Opened, *, table: bool) -> None:
        def work(progress: Progress) -> tuple[Pairs, Part]:
            progress.report(0, 0, "packets of both")
            assert first.trace is not None and second.trace is not None
            pairs = pair_packets(first.trace, second.trace)
            title = f"compared with {second.name}"
            track = pairs_track(
                f"{first.key}/compare/{second.key}", first.name, title, pairs, first.trace
            )
            doc = "packets of both captures, by tap, flow and sequence number"
            return pairs, Part(tables=[Table(title, pairs.table, doc=doc)], tracks=[(track, title)])

        def done(made: tuple[Pairs, Part]) -> None:
            pairs, part = made
            window = self._window
            if not pairs.paired:
                window.say_trouble(
                    f"{first.name} and {second.name} have no packet in common: no tap, flow and "
                    "sequence number is in both; nothing was moved"
                )
                return
            window.workspace.set_offset(second.key, first.offset_ps + pairs.offset_ps)
            counts = pairs.table["kind"].value_counts()
            said = ", ".join(f"{count:,} {kind}" for kind, count in counts.items())
            window.say(f"{second.name} moved by {format_ps(pairs.offset_ps)}; packets: {said}")
            if table:
                window.workspace.add_part(first.key, part)
                window.table.show_table(first.key, part.tables[0].key)
                window.show_panel("Events")

        job = self._window.workspace.jobs.start(f"compare {first.name} and {second.name}", work)
        job.done.connect(done)
        job.failed.connect(self._window.say_trouble)
