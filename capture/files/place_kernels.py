"""Columns from the ones of a plane, eight at once: numbers that follow from their places, words there.

A decoder that looked at 64 samples has a plane of those that count, and for each of them writes a row.
One by one that costs more than to look at all 64. As in `plane_kernels`, LLVM's vector instructions
are written here, and nothing is checked: the caller keeps all eight inside the arrays, also those
behind the last one.
"""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
from llvmlite import ir  # type: ignore[import-untyped]  # it ships no type information
from numba.core import types
from numba.extending import intrinsic

from freezeframe.capture.files.plane_kernels import LANES, count_ones, has_feature, lowest

__all__ = ["EIGHT", "new_places", "numbers_at", "places_into", "prepare", "words_at"]

EIGHT = 8

_operation: Any = intrinsic  # for mypy: its callers do not pass the context of the compiler

_I1, _I8, _I32, _I64 = (ir.IntType(bits) for bits in (1, 8, 32, 64))
_EIGHT = ir.VectorType(_I64, EIGHT)
_BYTES = ir.VectorType(_I8, LANES)


def new_places() -> np.ndarray[Any, np.dtype[np.uint8]]:
    """Return room for the places of a plane, ``(64,)``; what stands in it is always below 64."""
    return np.zeros(LANES, dtype=np.uint8)


def _element(context: Any, builder: Any, kind: Any, array: Any, at: Any, pointed: Any) -> Any:
    """Return the address of element ``at``, as that of a ``pointed``."""
    data = context.make_array(kind)(context, builder, array).data
    return builder.bitcast(builder.gep(data, [at]), pointed.as_pointer())


def _all_eight(builder: Any, value: Any) -> Any:
    first = builder.insert_element(ir.Constant(_EIGHT, ir.Undefined), value, ir.Constant(_I32, 0))
    return builder.shuffle_vector(first, first, ir.Constant(ir.VectorType(_I32, EIGHT), None))


def _function(builder: Any, name: str, kind: Any) -> Any:
    return builder.module.globals.get(name) or ir.Function(builder.module, kind, name)


def _eight_places(context: Any, builder: Any, kind: Any, places: Any, at: Any) -> Any:
    pointer = _element(context, builder, kind, places, at, ir.VectorType(_I8, EIGHT))
    small = builder.load(pointer)
    small.align = 1
    return builder.zext(small, _EIGHT)


def _put(context: Any, builder: Any, kind: Any, column: Any, at: Any, eight: Any) -> None:
    builder.store(eight, _element(context, builder, kind, column, at, _EIGHT)).align = 8


def _plain(array: Any, *kinds: Any) -> bool:
    plain = isinstance(array, types.Array) and array.ndim == 1 and array.layout == "C"
    return plain and array.dtype in kinds


@_operation
def _places_into(typing: Any, plane: Any, places: Any) -> Any:
    if not _plain(places, types.uint8):
        return None

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        plane, places = arguments
        which = ir.VectorType(_I1, LANES)
        kind = ir.FunctionType(_BYTES, [_BYTES, _BYTES, which])
        compress = _function(builder, "llvm.x86.avx512.mask.compress.v64i8", kind)
        every = ir.Constant(_BYTES, list(range(LANES)))
        none = ir.Constant(_BYTES, None)
        ones = builder.call(compress, [every, none, builder.bitcast(plane, which)])
        start = ir.Constant(_I64, 0)
        pointer = _element(context, builder, signature.args[1], places, start, _BYTES)
        builder.store(ones, pointer).align = 1
        return context.get_dummy_value()

    return types.none(types.uint64, places), generate


@_operation
def _numbers_at(
    typing: Any, places: Any, of: Any, first: Any, factor: Any, column: Any, at: Any
) -> Any:
    if not (_plain(places, types.uint8) and _plain(column, types.int64, types.uint64)):
        return None

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        places, of, first, factor, column, at = arguments
        kinds = signature.args
        numbers = _eight_places(context, builder, kinds[0], places, of)
        numbers = builder.add(numbers, _all_eight(builder, first))
        numbers = builder.mul(numbers, _all_eight(builder, factor))
        _put(context, builder, kinds[4], column, at, numbers)
        return context.get_dummy_value()

    word = types.uint64
    return types.none(places, word, word, word, column, word), generate


@_operation
def _words_at(
    typing: Any, places: Any, of: Any, units: Any, lift: Any, column: Any, at: Any
) -> Any:
    if not (_plain(places, types.uint8) and _plain(column, types.uint64)):
        return None

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        places, of, units, lift, column, at = arguments
        kinds = signature.args
        data, first_B, unit_B = (builder.extract_value(units, part) for part in range(3))
        right, mask = (builder.extract_value(lift, part) for part in range(2))
        first = _element(context, builder, kinds[2].types[0], data, first_B, _I8)
        addresses = builder.mul(
            _eight_places(context, builder, kinds[0], places, of), _all_eight(builder, unit_B)
        )
        addresses = builder.add(addresses, _all_eight(builder, builder.ptrtoint(first, _I64)))
        pointers = ir.VectorType(_I64.as_pointer(), EIGHT)
        which = ir.VectorType(_I1, EIGHT)
        kind = ir.FunctionType(_EIGHT, [pointers, _I32, which, _EIGHT])
        gather = _function(builder, "llvm.masked.gather.v8i64.v8p0", kind)
        every = ir.Constant(which, [1] * EIGHT)
        words = builder.call(
            gather,
            [
                builder.inttoptr(addresses, pointers),
                ir.Constant(_I32, 1),
                every,
                ir.Constant(_EIGHT, None),
            ],
        )
        words = builder.lshr(words, _all_eight(builder, right))
        words = builder.and_(words, _all_eight(builder, mask))
        _put(context, builder, kinds[4], column, at, words)
        return context.get_dummy_value()

    word = types.uint64
    return types.none(places, word, units, lift, column, word), generate


@_operation
def _prepare(typing: Any, column: Any, at: Any) -> Any:
    if not _plain(column, types.int64, types.uint64):
        return None

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        column, at = arguments
        place = _I8.as_pointer()
        kind = ir.FunctionType(ir.VoidType(), [place, _I32, _I32, _I32])
        address = _element(context, builder, signature.args[0], column, at, _I8)
        # To write, nearest cache, data.
        hints = [ir.Constant(_I32, hint) for hint in (1, 3, 1)]
        builder.call(_function(builder, "llvm.prefetch.p0", kind), [address, *hints])
        return context.get_dummy_value()

    return types.none(column, types.uint64), generate


@numba.njit(inline="always")
def numbers_at(places: Any, of: Any, first: Any, factor: Any, column: Any, at: Any) -> None:
    """Let ``column[at + k]`` be ``(first + places[of + k]) * factor`` for ``k`` from 0 to 7."""
    _numbers_at(places, np.uint64(of), np.uint64(first), np.uint64(factor), column, np.uint64(at))


@numba.njit(inline="always")
def words_at(places: Any, of: Any, units: Any, lift: Any, column: Any, at: Any) -> None:
    """Let ``column[at + k]`` be the eight bytes at place ``places[of + k]``, the first lowest, shifted
    and masked, for ``k`` from 0 to 7.

    Args:
        units: bytes, ``(n,)`` uint8, where in them place 0 is, and how far it is to the next one.
        lift: how far to the right, and the mask thereafter, both uint64.
    """
    data, first_B, unit_B = units
    right, mask = lift
    _words_at(
        places,
        np.uint64(of),
        (data, np.uint64(first_B), np.uint64(unit_B)),
        (np.uint64(right), np.uint64(mask)),
        column,
        np.uint64(at),
    )


@numba.njit(inline="always")
def prepare(column: Any, at: Any) -> None:
    """Ask the processor for element ``at``, to be written; it may be beyond the end of ``column``."""
    _prepare(column, np.uint64(at))


if has_feature("avx512vbmi2"):

    @numba.njit(inline="always")
    def places_into(plane: Any, places: Any) -> None:
        """Write the places of the ones to ``places``, of `new_places`, the lowest first."""
        _places_into(np.uint64(plane), places)

else:

    @numba.njit(cache=True, nogil=True)
    def places_into(plane: Any, places: Any) -> None:
        """Write the places of the ones to ``places``, of `new_places`, the lowest first."""
        for i in range(np.uint64(count_ones(plane))):
            places[i] = lowest(plane)
            plane &= plane - np.uint64(1)
