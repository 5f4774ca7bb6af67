"""Two captures side by side: the second is moved so that its packets stand where the first has them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from freezeframe.gui.desktop.pairing import Pairs, pair_packets, pairs_track
from freezeframe.gui.desktop.run_tables import run_remarks, run_tables
from freezeframe.gui.desktop.sources.opened import Opened, Part, Table
from freezeframe.gui.desktop.timeline.lanes import split_lanes
from freezeframe.gui.plots.axis import format_ps

if TYPE_CHECKING:
    from freezeframe.analyzers.run_diff.compare import RunDiff
    from freezeframe.gui.desktop.progress import Progress
    from freezeframe.gui.desktop.window import MainWindow

__all__ = ["Compare"]


def _diff(first: Opened, second: Opened) -> RunDiff:
    """Compare two runs as the verb ``diff`` does, without decoding them again."""
    from freezeframe.analyzers.analysis import Material
    from freezeframe.analyzers.run_diff.compare import diff_runs

    materials = []
    for opened in (first, second):
        assert opened.folder is not None and opened.trace is not None
        material = Material(opened.folder)
        material.__dict__["trace"] = opened.trace
        materials.append(material)
    return diff_runs(*materials)


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
            part = Part(tables=[Table(title, pairs.table, doc=doc)])
            part.tracks += [(lane, title) for lane in split_lanes(track)]
            if table:
                progress.report(0, 0, "what differs")
                found = _diff(first, second)
                part.tables += run_tables(found, title)
                part.remarks += run_remarks(found, title)
            return pairs, part

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
            text = f"{second.name} moved by {format_ps(pairs.offset_ps)}; packets: {said}"
            window.say("; ".join([text, *part.remarks[1:2]]))
            if table:
                window.workspace.add_part(first.key, part)
                window.table.show_table(first.key, part.tables[0].key)
                window.show_panel("Events")

        job = self._window.workspace.jobs.start(f"compare {first.name} and {second.name}", work)
        job.done.connect(done)
        job.failed.connect(self._window.say_trouble)
