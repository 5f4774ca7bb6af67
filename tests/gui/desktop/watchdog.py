"""How long each turn of the window's event loop holds its thread."""

from __future__ import annotations

from PyQt6.QtCore import QAbstractEventDispatcher, QCoreApplication, QEvent, QObject

from tests.gui.desktop.thread_time import Moment, spent_s


class Watchdog(QObject):
    """Measures each turn of the event loop: from the first event until there is none left."""

    def __init__(self) -> None:
        super().__init__()
        self.turns_s: list[float] = []
        self._begun: Moment | None = None
        dispatcher = QAbstractEventDispatcher.instance()
        application = QCoreApplication.instance()
        assert dispatcher is not None and application is not None
        dispatcher.aboutToBlock.connect(self._asleep)
        application.installEventFilter(self)
        self.dispatcher, self.application = dispatcher, application

    def eventFilter(self, watched: QObject | None, event: QEvent | None) -> bool:
        """Begin a turn with its first event; every event goes on to where it belongs."""
        if self._begun is None:
            self._begun = Moment.now()
        return False

    def _asleep(self) -> None:
        if self._begun is not None:
            self.turns_s.append(spent_s(self._begun, Moment.now()))
            self._begun = None

    def stop(self) -> None:
        self.dispatcher.aboutToBlock.disconnect(self._asleep)
        self.application.removeEventFilter(self)
