"""Which rows of a table an expression matches: one pass a comparison over whole columns.

A text column of few different texts is compared once a text. What is null matches no comparison
except with ``null``. Opaque words are compared as unsigned numbers, as they are shown.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable
from fnmatch import translate
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import pandas.api.types as kinds

from freezeframe.capture.nearest import no_such
from freezeframe.decoders.query.parse import (
    And,
    Comparison,
    Node,
    Not,
    Null,
    Number,
    Operand,
    Or,
    Text,
    Truth,
    Word,
    parse,
)
from freezeframe.decoders.query.words import OPAQUE, ExpressionError

Bools = npt.NDArray[np.bool_]
_ORDER: dict[str, Callable[[Any, Any], Any]] = {
    "==": operator.eq, "!=": operator.ne, "<": operator.lt,
    "<=": operator.le, ">": operator.gt, ">=": operator.ge,
}  # fmt: skip
_FLIPPED = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}


class MixedColumnsError(ExpressionError):
    """A column of texts is compared with a column of numbers or truths."""


def matching(table: pd.DataFrame, expression: str) -> Bools:
    """Return ``(n,)`` bool: whether each row matches.

    Raises:
        ExpressionError: the expression is malformed, names no column of the table, or compares
            what cannot be compared; it says where.
    """
    return rows_of(parse(expression), table)


def _is_text(column: pd.Series[Any]) -> bool:
    """Return whether a column holds texts, and no numbers or truths."""
    dtype = column.dtype
    return not (kinds.is_bool_dtype(dtype) or kinds.is_numeric_dtype(dtype))


def rows_of(node: Node, table: pd.DataFrame) -> Bools:
    """Return ``(n,)`` bool: whether each row matches an expression that was parsed; see `matching`."""
    if isinstance(node, Not):
        return ~rows_of(node.of, table)
    if isinstance(node, And | Or):
        # Every part is evaluated, also where the answer is known already: an error in it must be reported.
        parts = [rows_of(part, table) for part in node.of]
        join = np.logical_and if isinstance(node, And) else np.logical_or
        found: Bools = join.reduce(parts)
        return found
    return _compared(node, table)


def _compared(node: Comparison, table: pd.DataFrame) -> Bools:
    left, sign, right = node.left, node.sign, node.right
    if right is None:
        return _alone(left, table)
    if not _is_column(left, table):
        if not isinstance(left, Word) and _is_column(right, table) and sign not in ("~", "!~"):
            left, right, sign = right, left, _FLIPPED.get(sign, sign)
        else:
            raise _no_column(left, table)
    column = table[_column_name(left, table)]
    if sign in ("~", "!~"):
        found = _like(column, right)
        return ~found if sign == "!~" else found
    if isinstance(right, Null):
        missing: Bools = column.isna().to_numpy()
        return missing if sign == "==" else ~missing
    if _is_column(right, table):
        return _between(column, sign, table[_column_name(right, table)], right)
    if _is_text(column):
        return _text(column, sign, right)
    return _number(column, sign, right)


def _alone(operand: Operand, table: pd.DataFrame) -> Bools:
    """A column of truths, or a value that any column may hold."""
    if isinstance(operand, Truth):
        return np.full(len(table), operand.value)
    if isinstance(operand, Null):
        raise ExpressionError(
            "null alone asks nothing; column == null does", operand.at, operand.end
        )
    if _is_column(operand, table):
        column = table[_column_name(operand, table)]
        if not kinds.is_bool_dtype(column.dtype):
            raise ExpressionError(
                f"{column.name} is no yes or no; compare it: {column.name} == ...",
                operand.at, operand.end,
            )  # fmt: skip
        return _true(column)
    found = np.zeros(len(table), np.bool_)
    if isinstance(operand, Number):
        for name in table.columns:
            column = table[name]
            if not _is_text(column) and not kinds.is_bool_dtype(column.dtype):
                found |= _number(column, "==", operand)
        return found
    for name in table.columns:
        if _is_text(table[name]):
            found |= _like(table[name], operand)
    return found


def _like(column: pd.Series[Any], operand: Operand) -> Bools:
    """Text that contains another, capital and small letters being equal; ``*`` and ``?`` match any."""
    # A bracket is no pattern here: the names of bus bits have some.
    wanted = _shown(operand).replace("[", "[[]")
    match = re.compile(translate(f"*{wanted}*"), re.IGNORECASE).match
    return _by_text(column, lambda text: match(text) is not None)


def _text(column: pd.Series[Any], sign: str, operand: Operand) -> Bools:
    if isinstance(operand, Truth):
        raise ExpressionError(
            f"{column.name} holds texts, not true or false", operand.at, operand.end
        )
    wanted = _shown(operand)
    compare = _ORDER[sign]
    return _by_text(column, lambda text: bool(compare(text, wanted)))


def _shown(operand: Operand) -> str:
    if isinstance(operand, Word):
        return operand.name
    if isinstance(operand, Text):
        return operand.value
    if isinstance(operand, Number):
        return str(operand.value)
    return str(getattr(operand, "value", "")).lower()


def _by_text(column: pd.Series[Any], test: Callable[[str], bool]) -> Bools:
    """Apply a test once to each different text of a column; null never passes."""
    if isinstance(column.dtype, pd.CategoricalDtype):
        codes = column.cat.codes.to_numpy()
        texts = column.cat.categories
    else:
        codes, texts = pd.factorize(_hashable(column))
    passed = np.array([test(str(text)) for text in texts] + [False], np.bool_)
    return np.asarray(np.take(passed, codes, mode="wrap"), np.bool_)  # -1, null, is the last


def _hashable(column: pd.Series[Any]) -> Any:
    """Bytes and lists as the texts that a table shows."""
    if column.dtype != object:
        return column
    values = [
        None if value is None else value if isinstance(value, str) else _object_text(value)
        for value in column
    ]
    return pd.Series(values, dtype=object)


def _object_text(value: Any) -> str:
    if isinstance(value, bytes):
        return value.hex()
    if isinstance(value, np.ndarray | list | tuple):
        return " ".join(str(one) for one in value)
    return str(value)


def _number(column: pd.Series[Any], sign: str, operand: Operand) -> Bools:
    if kinds.is_bool_dtype(column.dtype):
        if not isinstance(operand, Truth) or sign not in ("==", "!="):
            raise ExpressionError(
                f"{column.name} is true or false; write {column.name} == true",
                operand.at,
                operand.end,
            )
        known: Bools = column.notna().to_numpy()
        return np.asarray(known & (_true(column) == (operand.value == (sign == "=="))), np.bool_)
    if not isinstance(operand, Number):
        raise ExpressionError(
            f"{column.name} holds numbers; {_shown(operand)!r} is none", operand.at, operand.end
        )
    values, known = _values(column)
    wanted = operand.value
    if column.name in OPAQUE or (operand.hexadecimal and wanted >= 1 << 63):
        values = values.view(np.uint64) if values.dtype == np.int64 else values
    if isinstance(wanted, Fraction) and values.dtype.kind in "iu":
        return known & _against_fraction(values, sign, wanted)
    if values.dtype.kind == "f":
        return known & np.asarray(_ORDER[sign](values, _as_float(wanted)), np.bool_)
    return known & np.asarray(_ORDER[sign](values, wanted), np.bool_)


def _as_float(wanted: int | Fraction) -> float:
    """Return the nearest double; beyond the largest one, infinity, which compares as the number would."""
    try:
        return float(wanted)
    except OverflowError:
        return np.inf if wanted > 0 else -np.inf


def _against_fraction(values: npt.NDArray[Any], sign: str, wanted: Fraction) -> Bools:
    """Compare whole numbers exactly with what is none."""
    below = wanted.numerator // wanted.denominator
    if sign in ("==", "!="):
        return np.full(len(values), sign == "!=")
    found = values <= below if sign in ("<", "<=") else values > below
    return np.asarray(found, np.bool_)


def _between(left: pd.Series[Any], sign: str, right: pd.Series[Any], place: Operand) -> Bools:
    """Compare two columns row by row."""
    if _is_text(left) != _is_text(right):
        hint = (
            f"; a text is put in quotes: {left.name} {sign} '{right.name}'"
            if _is_text(left)
            else ""
        )
        raise MixedColumnsError(
            f"{left.name} and {right.name} cannot be compared: one holds texts{hint}",
            place.at, place.end,
        )  # fmt: skip
    known: Bools = (left.notna() & right.notna()).to_numpy()
    one: npt.NDArray[Any]
    other: npt.NDArray[Any]
    if _is_text(left) or kinds.is_bool_dtype(left.dtype):
        one, other = left.astype(str).to_numpy(), right.astype(str).to_numpy()
    else:
        one, other = (
            values.view(np.uint64) if column.name in OPAQUE else values
            for column, values in ((left, _values(left)[0]), (right, _values(right)[0]))
        )
    found = np.zeros(len(known), np.bool_)
    found[known] = _ORDER[sign](one[known], other[known])  # what is not known has no order
    return found


def _values(column: pd.Series[Any]) -> tuple[npt.NDArray[Any], Bools]:
    """Return the numbers of a column and which are known; an integer is never made a float."""
    known: Bools = column.notna().to_numpy()
    if isinstance(column.dtype, np.dtype):
        return column.to_numpy(), known
    kind = np.int64 if "int" in str(column.dtype).lower() else np.float64
    return column.fillna(0).to_numpy(dtype=kind), known


def _true(column: pd.Series[Any]) -> Bools:
    if isinstance(column.dtype, np.dtype):
        return np.asarray(column.to_numpy(), np.bool_)
    found: Bools = column.fillna(False).to_numpy(dtype=np.bool_)
    return found


def _is_column(operand: Operand | None, table: pd.DataFrame) -> bool:
    return isinstance(operand, Word) and _find(operand.name, table) is not None


def _column_name(operand: Operand, table: pd.DataFrame) -> str:
    assert isinstance(operand, Word)
    found = _find(operand.name, table)
    assert found is not None
    return found


def _find(name: str, table: pd.DataFrame) -> str | None:
    if name in table.columns:
        return name
    return next((column for column in table.columns if str(column).lower() == name.lower()), None)


def _no_column(operand: Operand, table: pd.DataFrame) -> ExpressionError:
    names = [str(name) for name in table.columns]
    if not isinstance(operand, Word):
        return ExpressionError("a column should stand on one side of this", operand.at, operand.end)
    return ExpressionError(no_such("column", operand.name, names), operand.at, operand.end)
