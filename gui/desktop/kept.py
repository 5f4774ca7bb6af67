"""The settings of a window while it is open: brought to it at its start, taken from it at its end."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from PyQt6.QtCore import QByteArray, QObject

from freezeframe.capture.errors import FreezeframeError
from freezeframe.gui.desktop.settings import Settings, read_settings, set_aside, write_settings
from freezeframe.gui.desktop.views import Views


class Kept(QObject):
    """The settings of one window and their file; without a path nothing is read or written."""

    def __init__(self, window: Views, path: Path | None) -> None:
        super().__init__(window)
        self._window = window
        self._path = path
        self.settings = Settings()

    def bring(self) -> None:
        """Read the file and make the window as it says; what is wrong with it is said once."""
        window = self._window
        if self._path is not None:
            try:
                self.settings = read_settings(self._path)
            except FreezeframeError as error:
                window.report_error(error)
                self._try(set_aside)
        now = self.settings
        if now.geometry:
            window.restoreGeometry(QByteArray(now.geometry))
        if now.parts:
            window.panels_kept = window.restoreState(QByteArray(now.parts))
        if now.gutter_px:
            window.timeline.set_gutter(now.gutter_px)
        window.table.hidden_columns = {name: set(one) for name, one in now.hidden_columns.items()}
        window.control.take_preset(now.preset)
        window.show_legend(now.legend)
        window.welcome.set_recent(now.recent)

    def opened(self, what: str) -> None:
        """Remember what was opened: a path whole, so that it is found from another folder."""
        path = Path(what)
        self.settings = self.settings.opened(str(path.resolve()) if path.exists() else what)
        self._window.welcome.set_recent(self.settings.recent)

    def keep(self) -> None:
        """Write what the window is like now."""
        window = self._window
        self.settings = replace(
            self.settings,
            theme=window.theme,
            geometry=bytes(window.saveGeometry().data()),
            parts=window.panels_state(),
            gutter_px=window.timeline.gutter_px,
            preset=window.control.own_preset,
            legend=window.legend_on,
            hidden_columns={
                name: tuple(sorted(one)) for name, one in window.table.hidden_columns.items() if one
            },
        )
        self._try(lambda path: write_settings(path, self.settings))

    def _try(self, act: Callable[[Path], None]) -> None:
        if self._path is None:
            return
        try:
            act(self._path)
        except FreezeframeError as error:
            self._window.report_error(error)
