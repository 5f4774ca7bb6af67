"""The main window: the views, with menus and commands."""

from __future__ import annotations

from pathlib import Path

from PyQt6.QtGui import QCloseEvent

from freezeframe.gui.desktop.commands import Commands
from freezeframe.gui.desktop.kept import Kept
from freezeframe.gui.desktop.menus import Menus
from freezeframe.gui.desktop.toolbar import ToolBar
from freezeframe.gui.desktop.views import Views
from freezeframe.gui.desktop.workspace import Workspace
from freezeframe.gui.palette import ThemeName


class MainWindow(Views):
    """The desktop."""

    def __init__(
        self,
        workspace: Workspace,
        *,
        allow_write: bool = False,
        theme: ThemeName | None = None,
        settings: Path | None = None,
        at_ps: int | None = None,
    ) -> None:
        """``theme``: None for the one that was kept in ``settings``; ``at_ps``: where the first source is looked at."""
        super().__init__(workspace, allow_write=allow_write, theme=theme or "dark", at_ps=at_ps)
        self.commands = Commands(self)
        self.menus = Menus(self, self.commands)
        self.toolbar = ToolBar(self, self.menus)
        self.welcome.browse.connect(lambda name: getattr(self.commands, name)())
        self.kept = Kept(self, settings)
        self.kept.bring()
        self.opened.connect(self.kept.opened)
        if theme is None and self.kept.settings.theme != self.theme:
            self.set_theme(self.kept.settings.theme)
        self.timeline.mark_requested.connect(self.commands.add_note_at)
        self.timeline.context_requested.connect(self.commands.context)
        self.sources.asked.connect(self.commands.source_asked)
        self.live.asked.connect(self.commands.live_asked)

    def closeEvent(self, event: QCloseEvent | None) -> None:
        """Keep the settings; then all work ends."""
        self.kept.keep()
        super().closeEvent(event)
