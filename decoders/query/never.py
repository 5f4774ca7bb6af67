"""Texts that an expression asks a column for and that the column can never have: a slip of the finger.

A column of a dictionary (Arrow), or of categories (pandas), says which texts it can have; of others nothing is known.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from freezeframe.capture.nearest import meant
from freezeframe.decoders.query.evaluate import rows_of
from freezeframe.decoders.query.parse import (
    And,
    Comparison,
    Node,
    Not,
    Or,
    Text,
    Word,
    parse,
)

_MOST_TEXTS = 12  # of a column, in a message
_ASKS = {
    "==": "==",
    "!=": "==",
    "~": "~",
    "!~": "~",
}  # what is asked for, also where it is not to be


class Never:
    """The comparisons of an expression with texts, held against the tables that it is put to, block after block."""

    def __init__(self, expression: str) -> None:
        """Take the expression.

        Raises:
            ExpressionError: it is malformed.
        """
        self._comparisons = [*comparisons(parse(expression))]
        # By column, sign and text: the texts that the column can have.
        self._seen: dict[tuple[str, str, str], set[str] | None] = {}

    def see(self, table: pa.Table | pd.DataFrame) -> None:
        """Keep which texts the columns can have that are compared with one; None where they can have any."""
        names = list(table.columns) if isinstance(table, pd.DataFrame) else table.column_names
        by_lower = {str(name).lower(): str(name) for name in reversed(names)}
        for each in self._comparisons:
            asked = _column_and_text(each, by_lower)
            if asked is not None:
                key = (asked[0], _ASKS[each.sign], asked[1])
                texts = _vocabulary(table[asked[0]])
                known = self._seen.setdefault(key, set())
                self._seen[key] = None if known is None or texts is None else known | texts

    def told(self) -> Iterator[str]:
        """Yield a line for each comparison for which no text is that the column can have."""
        for (column, sign, value), texts in self._seen.items():
            if not texts:
                continue
            asked = Comparison(Word(0, 0, column), sign, Text(0, 0, value))
            if rows_of(asked, pd.DataFrame({column: pd.Categorical(sorted(texts))})).any():
                continue
            there = sorted(texts)[:_MOST_TEXTS]
            more = f" and {len(texts) - len(there)} more" if len(texts) > len(there) else ""
            hint = meant(value, sorted(texts), f"it has {', '.join(there)}{more}")
            yield f"{column} is never {'like ' if sign == '~' else ''}{value!r}; {hint}"


def never(expression: str, tables: Iterable[pa.Table | pd.DataFrame]) -> list[str]:
    """Return a line for each text that an expression asks these tables for and that they can never have.

    Raises:
        ExpressionError: it is malformed.
    """
    asked = Never(expression)
    for table in tables:
        asked.see(table)
    return list(asked.told())


def comparisons(node: Node) -> Iterator[Comparison]:
    """Yield the comparisons of an expression."""
    if isinstance(node, Not):
        yield from comparisons(node.of)
    elif isinstance(node, And | Or):
        for part in node.of:
            yield from comparisons(part)
    else:
        yield node


def _column_and_text(comparison: Comparison, by_lower: Mapping[str, str]) -> tuple[str, str] | None:
    """Return the column that is compared with a text, on either side, and the text; None of any other comparison."""
    if comparison.sign not in _ASKS:
        return None
    sides = (comparison.left, comparison.right)
    columns = [
        by_lower.get(side.name.lower()) if isinstance(side, Word) else None for side in sides
    ]
    for column, here, other in zip(columns, reversed(columns), reversed(sides), strict=True):
        if column is not None and here is None and isinstance(other, Word | Text):
            return column, other.name if isinstance(other, Word) else other.value
    return None


def _vocabulary(column: Any) -> set[str] | None:
    """Return the texts that a column can have; None where it can have any."""
    if isinstance(column, pa.ChunkedArray):
        if not pa.types.is_dictionary(column.type):
            return None
        return {str(text) for chunk in column.chunks for text in chunk.dictionary.to_pylist()}
    if isinstance(column, pd.Series) and isinstance(column.dtype, pd.CategoricalDtype):
        categories = column.cat.categories
        return None if categories.dtype.kind in "biuf" else set(np.asarray(categories, dtype=str))
    return None
