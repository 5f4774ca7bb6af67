"""The time line: tracks (no Qt), and the widget `freezeframe.gui.desktop.timeline.view.TimelineView`.

Importing this package imports no Qt: plots and reports use `tracks` and `palette` without a window.
"""
