"""The story of a finding, told step by step: the first finding by itself, then the step that is asked for."""

from __future__ import annotations

from freezeframe.gui.desktop.choosing import Choosing
from freezeframe.gui.desktop.inspection import Field, Inspection
from freezeframe.gui.desktop.panes import Panes
from freezeframe.gui.desktop.sources.opened import Place
from freezeframe.gui.tracks.story import Step


class Telling:
    """What is told of the finding that is shown. ``at_ps``: where the first source is to be looked at, until it is."""

    def __init__(self, panes: Panes, choosing: Choosing, at_ps: int | None) -> None:
        self._panes = panes
        self._choosing = choosing
        self._at_ps = at_ps
        self._told = ""  # the source of the finding whose story is told
        self._step_cursor = ""  # the cursor that marks the time of a step without a row

    def begin(self, key: str) -> None:
        """Look at the place that was asked for, in a source that is there now."""
        opened = self._panes.workspace.sources[key]
        if self._at_ps is not None:
            at_ps = self._at_ps + opened.offset_ps
            self._panes.timeline.set_range(at_ps - opened.around_ps, at_ps + opened.around_ps)
            self._panes.timeline.add_cursor(at_ps)

    def guide(self, key: str) -> None:
        """Show the first finding by itself, where the user has not begun to look at something."""
        if self._at_ps is not None:
            near = [f.t_ps for f in self._panes.workspace.sources[key].findings]
            if self._at_ps in near:
                self._panes.findings.select(key, near.index(self._at_ps), tell=True)
                self._at_ps = None
            return
        untouched = self._choosing.place is None and self._panes.timeline.selection() is None
        if self._choosing.guided or not (untouched and self._panes.timeline.shows_all):
            return
        if self._panes.workspace.sources[key].findings:
            self._panes.findings.select(key, 0, tell=True)

    def finding_shown(self, source: str, number: int) -> None:
        opened = self._panes.workspace.sources.get(source)
        known = opened is not None and 0 <= number < len(opened.findings)
        finding = opened.findings[number] if opened and known else None
        self._panes.proof.set_finding(opened, finding)
        steps = [] if opened is None or finding is None else opened.story(finding)
        if steps != self._panes.story.steps:
            self._unmark_step()
        self._panes.story.set_steps(steps)
        self._told = source

    def step_asked(self, step: Step) -> None:
        """Show a step of the story: its row in all views, then its time, as large as it can be read."""
        opened = self._panes.workspace.sources.get(self._told)
        if opened is None:
            return
        self._unmark_step()
        if step.place is not None:
            self._choosing.choose(Place(self._told, *step.place), "findings")
        elif step.span_ps is not None:
            self._mark_step(step.span_ps[0] + opened.offset_ps)
        if step.span_ps is not None:
            begin, end = (t_ps + opened.offset_ps for t_ps in step.span_ps)
            beside = max((end - begin) // 2, opened.around_ps // 2)
            self._panes.timeline.set_range(begin - beside, end + beside)

    def _mark_step(self, t_ps: int) -> None:
        """Set a cursor to the time of a step that no row shows; what was chosen before is of another step."""
        self._step_cursor = name = f"step {self._panes.story.at + 1}"
        if name in (cursor.name for cursor in self._panes.timeline.cursors.all()):  # of a kept view
            self._panes.timeline.cursors.move(name, t_ps)
        else:
            self._panes.timeline.add_cursor(t_ps, name)
        selection = self._panes.timeline.selection()
        if selection is not None:
            self._panes.timeline.select(selection.key, None)
        self._choosing.place = None
        self._panes.table.choose_none()
        fields = Field("row", "none shows it"), Field("cursor", name)
        self._panes.inspector.show_inspection(
            Inspection(self._panes.story.text_of(self._panes.story.at), fields=fields)
        )

    def _unmark_step(self) -> None:
        if self._step_cursor in (cursor.name for cursor in self._panes.timeline.cursors.all()):
            self._panes.timeline.cursors.remove(self._step_cursor)
        self._step_cursor = ""
