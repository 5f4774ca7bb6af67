"""Rows of decoded tables that an expression matches; only the columns that it names leave Arrow."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from freezeframe.capture.errors import InputError
from freezeframe.decoders.query.evaluate import MixedColumnsError, matching
from freezeframe.decoders.query.never import Never, comparisons
from freezeframe.decoders.query.parse import (
    Node,
    Word,
    parse,
)
from freezeframe.decoders.query.words import ExpressionError
from freezeframe.decoders.stack_run import Decoded

_INTEGERS = {
    pa.int8(): pd.Int8Dtype(), pa.int16(): pd.Int16Dtype(), pa.int32(): pd.Int32Dtype(),
    pa.int64(): pd.Int64Dtype(), pa.uint8(): pd.UInt8Dtype(), pa.uint16(): pd.UInt16Dtype(),
    pa.uint32(): pd.UInt32Dtype(), pa.uint64(): pd.UInt64Dtype(), pa.bool_(): pd.BooleanDtype(),
}  # fmt: skip


def matching_rows(table: pa.Table, expression: str) -> npt.NDArray[np.bool_]:
    """Return ``(n,)`` bool: whether each row of an Arrow table matches.

    Raises:
        ExpressionError: as `matching`.
    """
    return matching(_frame(table, _columns(parse(expression), table.column_names)), expression)


class Selection:
    """An expression that chooses rows of decoded tables, the same ones block after block.

    A table without a column that it names is left out whole; ``note`` is told once.
    """

    def __init__(self, expression: str, note: Callable[[str], None]) -> None:
        """Take the expression.

        Raises:
            ExpressionError: it is malformed.
        """
        self._never = Never(expression)
        self._expression = expression
        self._note = note
        self._fits: dict[str, bool] = {}

    def rows(self, tables: Sequence[Decoded]) -> list[Decoded]:
        """Return the tables that have the columns, with the rows that match.

        Raises:
            InputError: no table has all the columns, or one cannot be compared so.
        """
        if any(name not in self._fits for name, _ in tables):
            self._look(tables)
        for name, table in tables:
            if self._fits[name]:
                self._never.see(table)
        return [
            Decoded(name, table.filter(pa.array(matching_rows(table, self._expression))))
            for name, table in tables
            if self._fits[name]
        ]

    def note_never(self) -> None:
        """Tell, behind the last block, each text that is compared with columns which never can have it."""
        for line in self._never.told():
            self._note(f"{self._expression}: {line}")

    def _look(self, tables: Sequence[Decoded]) -> None:
        errors: dict[str, ExpressionError] = {}
        for name, table in tables:
            try:
                matching(_frame(table.slice(0, 0), table.column_names), self._expression)
            except MixedColumnsError as error:
                # Most likely a text without quotes, as which a column happens to be called.
                raise InputError(f"{self._expression}: {name}: {error}") from None
            except ExpressionError as error:
                errors[name] = error
            self._fits[name] = name not in errors
        if len(errors) == len(tables):
            tables_of: dict[str, list[str]] = {}
            for name, why in errors.items():
                tables_of.setdefault(str(why), []).append(name)
            said = [f"{', '.join(names)}: {why}" for why, names in tables_of.items()]
            raise InputError(f"{self._expression}: {'; '.join(said[:3])}")
        for name, why in errors.items():
            self._note(f"{name} is left out: {why}")


def _frame(table: pa.Table, names: Sequence[str]) -> pd.DataFrame:
    return pd.DataFrame({name: _series(table[name]) for name in names})


def _columns(node: Node, there: Sequence[str]) -> list[str]:
    """Return the columns that an expression needs: those it names, all where it asks any column."""
    by_lower = {name.lower(): name for name in reversed(there)}
    needed: set[str] = set()
    for comparison in comparisons(node):
        words = [part for part in (comparison.left, comparison.right) if isinstance(part, Word)]
        named = {by_lower[word.name.lower()] for word in words if word.name.lower() in by_lower}
        if not named:
            return list(there)
        needed |= named
    return [name for name in there if name in needed]


def _series(column: pa.ChunkedArray) -> pd.Series[Any]:
    """Return a column for pandas; an integer or a truth is never made a float because another row has none."""
    if pa.types.is_dictionary(column.type):
        # A plug-in's names may repeat, which pandas refuses in a dictionary.
        parts = [chunk.dictionary for chunk in column.chunks]
        if any(len(pc.unique(texts)) != len(texts) for texts in parts):
            column = column.cast(column.type.value_type)
    mapper = _INTEGERS.get if column.null_count else None
    series: pd.Series[Any] = column.to_pandas(types_mapper=mapper)
    return series
