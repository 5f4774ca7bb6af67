"""The rows of a table in the order of one of its columns; no Qt."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from freezeframe.gui.desktop.inspection import is_unknown

Int64 = npt.NDArray[np.int64]


def order_of(frame: pd.DataFrame, column: str, *, descending: bool = False) -> Int64:
    """Return all rows by the values of a column; equal ones stay in their order, unknown ones come last.

    Numbers by size, opaque 64-bit words as unsigned, texts by their letters, small and capital alike.
    """
    values = frame[column]
    unknown = is_unknown(column, values)
    known = np.flatnonzero(~unknown).astype(np.int64)
    keys = _keys(values.iloc[known], column)
    ranks = np.unique(keys, return_inverse=True)[1]
    order = np.argsort(-ranks if descending else ranks, kind="stable")
    return np.concatenate([known[order], np.flatnonzero(unknown)]).astype(np.int64)


def _keys(values: pd.Series[Any], column: str) -> npt.NDArray[Any]:
    if isinstance(values.dtype, pd.CategoricalDtype):
        names = np.array([str(name).casefold() for name in values.cat.categories], dtype=np.str_)
        return np.unique(names, return_inverse=True)[1][values.cat.codes.to_numpy()]
    if pd.api.types.is_bool_dtype(values.dtype):
        return values.to_numpy(dtype=np.bool_)
    if pd.api.types.is_integer_dtype(values.dtype):
        whole = values.to_numpy(dtype=np.int64)
        return whole.view(np.uint64) if column in ("data", "word") else whole
    if pd.api.types.is_float_dtype(values.dtype):
        return values.to_numpy(dtype=np.float64)
    held = values.tolist()
    if all(isinstance(one, int | float) for one in held):
        return np.array(held)
    return np.array([str(one).casefold() for one in held], dtype=np.str_)
