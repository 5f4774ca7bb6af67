"""The main window: the views, with menus and commands."""

from __future__ import annotations

from pathlib import Path

from freezeframe.gui.desktop.commands import Commands
from freezeframe.gui.desktop.menus import Menus
from freezeframe.gui.desktop.theme import Theme
from freezeframe.gui.desktop.toolbar import ToolBar
from freezeframe.gui.desktop.views import Views
from freezeframe.gui.desktop.workspace import Workspace


class MainWindow(Views):
    """The desktop."""

    def __init__(
        self,
        workspace: Workspace,
        *,
        allow_write: bool = False,
        theme: Theme | None = None,
        settings: Path | None = None,
        at_ps: int | None = None,
    ) -> None:
        super().__init__(
            workspace, allow_write=allow_write, theme=theme, settings=settings, at_ps=at_ps
        )
        self.commands = Commands(self)
        self.menus = Menus(self, self.commands)
        self.toolbar = ToolBar(self, self.menus)
        self.welcome.browse.connect(lambda name: getattr(self.commands, name)())
        self.timeline.mark_requested.connect(self.commands.add_note_at)
        self.timeline.context_requested.connect(self.commands.context)
        self.sources.asked.connect(self.commands.source_asked)
        self.live.asked.connect(self.commands.live_asked)
