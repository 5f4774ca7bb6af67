"""Finding rows of a table by an expression: parsed with the place of every error, evaluated column by column."""

from __future__ import annotations

from freezeframe.gui.desktop.query.evaluate import matching, text_column
from freezeframe.gui.desktop.query.parse import ExpressionError, parse

__all__ = ["ExpressionError", "matching", "parse", "text_column"]
