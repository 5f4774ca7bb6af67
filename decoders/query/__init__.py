"""Finding rows of a table by an expression: parsed with the place of every error, evaluated column by column."""

from __future__ import annotations

from freezeframe.decoders.query.evaluate import matching
from freezeframe.decoders.query.parse import ExpressionError, parse
from freezeframe.decoders.query.rows import Selection, matching_rows

__all__ = ["ExpressionError", "Selection", "matching", "matching_rows", "parse"]
