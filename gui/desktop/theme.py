"""The palette of the window's own controls, of the one in `gui.palette`."""

from __future__ import annotations

from PyQt6.QtGui import QColor, QPalette
from PyQt6.QtWidgets import QApplication

from freezeframe.gui.palette import THEMES, ThemeName, mixed

_ROLES = QPalette.ColorRole


def apply_theme(name: ThemeName) -> None:
    """Give all windows of the application the colours of a theme."""
    theme, palette = THEMES[name], QPalette()
    plate = mixed(theme.gutter, theme.text, 0.06)
    colours = {
        (_ROLES.Window, _ROLES.ToolTipBase): theme.gutter,
        (_ROLES.WindowText, _ROLES.Text, _ROLES.ButtonText, _ROLES.ToolTipText): theme.text,
        (_ROLES.Base,): theme.background,
        (_ROLES.AlternateBase,): theme.stripe,
        (_ROLES.Button, _ROLES.Midlight): plate,
        (_ROLES.Highlight,): theme.chosen,
        (_ROLES.HighlightedText,): theme.on(theme.chosen),
        (_ROLES.PlaceholderText,): theme.dim,
        (_ROLES.Link,): theme.role("a"),
        (_ROLES.Light,): mixed(theme.gutter, 0xFFFFFF, 0.1 if name == "dark" else 1),
        (_ROLES.Mid,): mixed(theme.gutter, 0x000000, 0.15),
        (_ROLES.Dark,): mixed(theme.gutter, 0x000000, 0.35),
        (_ROLES.Shadow,): 0x000000,
    }
    for roles, colour in colours.items():
        for role in roles:
            palette.setColor(role, QColor(colour))
    for role in (_ROLES.Text, _ROLES.WindowText, _ROLES.ButtonText):
        palette.setColor(QPalette.ColorGroup.Disabled, role, QColor(theme.dim))
    app = QApplication.instance()
    if isinstance(app, QApplication):
        app.setStyle("Fusion")  # the one style that follows a palette on every platform
        app.setPalette(palette)
