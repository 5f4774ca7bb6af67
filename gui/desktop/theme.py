"""Light and dark: the palette of the window's own controls. The time line has its own of the same names."""

from __future__ import annotations

from typing import Literal

from PyQt6.QtGui import QColor, QPalette
from PyQt6.QtWidgets import QApplication

Theme = Literal["dark", "light"]
THEMES: tuple[Theme, ...] = ("dark", "light")

_ROLES = QPalette.ColorRole
# Texts on their grounds have a contrast of 7:1 and more (WCAG 2.1, 1.4.6).
_COLOURS: dict[Theme, dict[QPalette.ColorRole, str]] = {
    "dark": {
        _ROLES.Window: "#1c1f24",
        _ROLES.WindowText: "#e8eaed",
        _ROLES.Base: "#14161a",
        _ROLES.AlternateBase: "#1c1f24",
        _ROLES.Text: "#e8eaed",
        _ROLES.Button: "#2a2e35",
        _ROLES.ButtonText: "#e8eaed",
        _ROLES.ToolTipBase: "#2a2e35",
        _ROLES.ToolTipText: "#e8eaed",
        _ROLES.Highlight: "#2f5d8a",
        _ROLES.HighlightedText: "#ffffff",
        _ROLES.PlaceholderText: "#a9b0ba",
        _ROLES.Link: "#8ec5ff",
        _ROLES.Light: "#3a3f48",
        _ROLES.Midlight: "#33373f",
        _ROLES.Mid: "#23262c",
        _ROLES.Dark: "#101216",
        _ROLES.Shadow: "#000000",
    },
    "light": {
        _ROLES.Window: "#f3f4f6",
        _ROLES.WindowText: "#15181c",
        _ROLES.Base: "#ffffff",
        _ROLES.AlternateBase: "#f3f4f6",
        _ROLES.Text: "#15181c",
        _ROLES.Button: "#e4e7eb",
        _ROLES.ButtonText: "#15181c",
        _ROLES.ToolTipBase: "#ffffff",
        _ROLES.ToolTipText: "#15181c",
        _ROLES.Highlight: "#b8d8f8",
        _ROLES.HighlightedText: "#0b1a2a",
        _ROLES.PlaceholderText: "#565d66",
        _ROLES.Link: "#0b4f8a",
        _ROLES.Light: "#ffffff",
        _ROLES.Midlight: "#eceef1",
        _ROLES.Mid: "#c6cbd2",
        _ROLES.Dark: "#9aa1ab",
        _ROLES.Shadow: "#6b7280",
    },
}
_FAINT: dict[Theme, str] = {"dark": "#8b929c", "light": "#6b727b"}


def apply_theme(theme: Theme) -> None:
    """Give all windows of the application the colours of a theme."""
    palette = QPalette()
    for role, colour in _COLOURS[theme].items():
        palette.setColor(role, QColor(colour))
    for role in (_ROLES.Text, _ROLES.WindowText, _ROLES.ButtonText):
        palette.setColor(QPalette.ColorGroup.Disabled, role, QColor(_FAINT[theme]))
    app = QApplication.instance()
    if isinstance(app, QApplication):
        app.setStyle("Fusion")  # the one style that follows a palette on every platform
        app.setPalette(palette)
