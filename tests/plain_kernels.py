"""Kernels run as plain Python (``NUMBA_DISABLE_JIT=1``), so that coverage sees their lines: ``make cover``.

Numba gives fields of structured arrays as attributes, NumPy only of record arrays: what a kernel is
given is seen as such. A test that takes too long in this way is skipped; it runs compiled in the
other half of ``make cover``.
"""

from __future__ import annotations

import ctypes
import functools
import signal
from collections.abc import Callable, Generator
from typing import Any, NoReturn

import numba
import numpy as np
import pytest

LIMIT_S = 10


def _with_fields(value: Any) -> Any:
    if isinstance(value, np.ndarray) and value.dtype.names:
        return value.view(np.recarray)
    if isinstance(value, np.void) and value.dtype.names:
        place = np.frombuffer(
            value, value.dtype
        ).ctypes.data  # the array's own memory, which kernels write
        memory = (ctypes.c_char * value.nbytes).from_address(place)
        return np.frombuffer(memoryview(memory), value.dtype).view(np.recarray)[0]
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*map(_with_fields, value))
    return tuple(map(_with_fields, value)) if isinstance(value, tuple) else value


def _plain(function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def call(*values: Any, **named: Any) -> Any:
        with np.errstate(over="ignore"):  # integers of a kernel wrap round
            return function(*map(_with_fields, values), **named)

    call.py_func = function  # type: ignore[attr-defined]
    return call


def _njit(*signature: Any, **_: Any) -> Callable[..., Any]:
    return _plain(signature[0]) if signature and callable(signature[0]) else _plain


class PlainKernels:
    """A plug-in of pytest, registered where numba compiles nothing."""

    def __init__(self) -> None:
        for name in ("njit", "jit"):  # before any kernel is declared
            setattr(numba, name, _njit)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self) -> Generator[None]:
        def late(*_: object) -> NoReturn:
            pytest.skip(f"takes more than {LIMIT_S} s without compiling")

        before = signal.signal(signal.SIGALRM, late)
        signal.alarm(LIMIT_S)
        try:
            return (yield)
        finally:
            signal.alarm(0)
            signal.signal(signal.SIGALRM, before)
