"""The main window: the views, with menus and commands."""

from __future__ import annotations

from freezeframe.gui.desktop.commands import Commands
from freezeframe.gui.desktop.menus import Menus
from freezeframe.gui.desktop.theme import Theme
from freezeframe.gui.desktop.views import Views
from freezeframe.gui.desktop.workspace import Workspace


class MainWindow(Views):
    """The desktop."""

    def __init__(
        self, workspace: Workspace, *, allow_write: bool = False, theme: Theme = "dark"
    ) -> None:
        super().__init__(workspace, allow_write=allow_write, theme=theme)
        self.commands = Commands(self)
        self.menus = Menus(self, self.commands)
        self.timeline.mark_requested.connect(self.commands.add_note_at)
        self.timeline.context_requested.connect(self.commands.context)
        self.sources.asked.connect(self.commands.source_asked)
        self.live.asked.connect(self.commands.live_asked)
