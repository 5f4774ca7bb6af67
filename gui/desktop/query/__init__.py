"""Finding rows of a table by an expression: parsed with the place of every error, evaluated column by column."""

from __future__ import annotations

from freezeframe.gui.desktop.query.evaluate import matching
from freezeframe.gui.desktop.query.parse import ExpressionError, parse

__all__ = ["ExpressionError", "matching", "parse"]
