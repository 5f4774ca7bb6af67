"""64 samples at once: which of them have a bit set, which changed, and what one line says at those.

A plane is a uint64 whose bit i belongs to sample i of 64. numba has no such operations, so they are
written here as LLVM's own vector instructions, which every processor has in some form. Nothing is
checked: the caller keeps ``[at, at + 64)`` inside the array, also under NUMBA_BOUNDSCHECK.
"""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
from llvmlite import ir  # type: ignore[import-untyped]  # it ships no type information
from llvmlite.binding import (  # type: ignore[import-untyped]  # it ships no type information
    get_host_cpu_features,
)
from numba.core import config, types
from numba.extending import intrinsic

__all__ = [
    "LANES",
    "bits_of",
    "count_ones",
    "differs",
    "fetch",
    "has_feature",
    "lowest",
    "moves",
    "nth_one",
    "reverse",
    "unit_at",
]

LANES = 64

_operation: Any = intrinsic  # for mypy: its callers do not pass the context of the compiler
_settings: Any = config  # its names are made when it is imported

_LINE_B = 64  # of the processor's cache
_I64 = ir.IntType(64)
_ONE = np.uint64(1)


def has_feature(name: str) -> bool:
    """Return whether numba makes code for a processor with such instructions, by LLVM's name of them."""
    if _settings.CPU_FEATURES is not None:
        return f"+{name}" in _settings.CPU_FEATURES.split(",")
    if _settings.CPU_NAME not in (None, "", "host"):
        return False
    return bool(get_host_cpu_features().get(name, False))


def _splat(builder: Any, value: Any, kind: Any) -> Any:
    one = builder.trunc(value, kind) if kind.width < 64 else value
    vector = builder.insert_element(
        ir.Constant(ir.VectorType(kind, LANES), ir.Undefined), one, ir.Constant(ir.IntType(32), 0)
    )
    zeros = ir.Constant(ir.VectorType(ir.IntType(32), LANES), None)
    return builder.shuffle_vector(vector, vector, zeros)


def _load(context: Any, builder: Any, kinds: Any, array: Any, at: Any) -> tuple[Any, Any]:
    kind = context.get_data_type(kinds.dtype)
    data = context.make_array(kinds)(context, builder, array).data
    pointer = builder.bitcast(builder.gep(data, [at]), ir.VectorType(kind, LANES).as_pointer())
    vector = builder.load(pointer)
    vector.align = kind.width // 8
    return vector, kind


def _checked(data: Any, *others: Any) -> bool:
    return (
        isinstance(data, types.Array)
        and data.ndim == 1
        and data.layout == "C"
        and data.dtype in (types.uint8, types.uint16, types.uint32, types.uint64)
        and all(isinstance(other, types.Integer) for other in others)
    )


@_operation
def _differs(typing: Any, data: Any, at: Any, mask: Any, value: Any) -> Any:
    if not _checked(data, at, mask, value):
        return None

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        array, where, mask, value = arguments
        samples, kind = _load(context, builder, signature.args[0], array, where)
        masked = builder.and_(samples, _splat(builder, mask, kind))
        other = builder.icmp_unsigned("!=", masked, _splat(builder, value, kind))
        return builder.bitcast(other, _I64)

    return types.uint64(data, types.int64, types.uint64, types.uint64), generate


@_operation
def _moves(typing: Any, data: Any, at: Any, mask: Any) -> Any:
    if not _checked(data, at, mask):
        return None

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        array, where, mask = arguments
        one = ir.Constant(_I64, 1)
        before, _ = _load(context, builder, signature.args[0], array, builder.sub(where, one))
        samples, kind = _load(context, builder, signature.args[0], array, where)
        changed = builder.and_(builder.xor(samples, before), _splat(builder, mask, kind))
        zeros = ir.Constant(changed.type, None)
        return builder.bitcast(builder.icmp_unsigned("!=", changed, zeros), _I64)

    return types.uint64(data, types.int64, types.uint64), generate


@_operation
def _fetch(typing: Any, data: Any, at: Any) -> Any:
    if not _checked(data, at):
        return None

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        array, where = arguments
        place, number = ir.IntType(8).as_pointer(), ir.IntType(32)
        name = "llvm.prefetch.p0"
        function = builder.module.globals.get(name) or ir.Function(
            builder.module, ir.FunctionType(ir.VoidType(), [place, number, number, number]), name
        )
        samples = context.make_array(signature.args[0])(context, builder, array).data
        item_B = context.get_data_type(signature.args[0].dtype).width // 8
        hints = [ir.Constant(number, hint) for hint in (0, 3, 1)]  # to read, nearest cache, data
        for first in range(0, LANES, _LINE_B // item_B):
            line = builder.gep(samples, [builder.add(where, ir.Constant(_I64, first))])
            builder.call(function, [builder.bitcast(line, place), *hints])
        return context.get_dummy_value()

    return types.none(data, types.int64), generate


def _call(name: str, extra: tuple[Any, ...] = ()) -> Any:
    """Make an intrinsic of LLVM's instruction ``name`` on one or two uint64."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        kinds = [_I64] * len(arguments) + [kind for kind, _ in extra]
        function = builder.module.globals.get(name) or ir.Function(
            builder.module, ir.FunctionType(_I64, kinds), name
        )
        constants = [ir.Constant(kind, value) for kind, value in extra]
        return builder.call(function, [*arguments, *constants])

    return generate


@_operation
def count_ones(typing: Any, plane: Any) -> Any:
    """Return the number of ones as int64."""
    return types.int64(types.uint64), _call("llvm.ctpop.i64")


@_operation
def lowest(typing: Any, plane: Any) -> Any:
    """Return the place of the lowest one as int64; 64 when there is none."""
    return types.int64(types.uint64), _call("llvm.cttz.i64", ((ir.IntType(1), 0),))


@_operation
def reverse(typing: Any, plane: Any) -> Any:
    """Return the bits in the opposite order."""
    return types.uint64(types.uint64), _call("llvm.bitreverse.i64")


@_operation
def _gather(typing: Any, plane: Any, mask: Any) -> Any:
    return types.uint64(types.uint64, types.uint64), _call("llvm.x86.bmi.pext.64")


@_operation
def _scatter(typing: Any, bits: Any, mask: Any) -> Any:
    return types.uint64(types.uint64, types.uint64), _call("llvm.x86.bmi.pdep.64")


@numba.njit(inline="always")
def differs(data: Any, at: int, mask: Any, value: Any) -> Any:
    """Return the plane of samples ``at .. at + 63`` that are not ``value`` under ``mask``."""
    return _differs(data, np.int64(at), np.uint64(mask), np.uint64(value))


@numba.njit(inline="always")
def moves(data: Any, at: int, mask: Any) -> Any:
    """Return the plane of samples that differ under ``mask`` from the one before; ``at`` >= 1."""
    return _moves(data, np.int64(at), np.uint64(mask))


@numba.njit(inline="always")
def fetch(data: Any, at: int) -> None:
    """Ask the processor for samples ``at .. at + 63``, which may be beyond the end of ``data``."""
    _fetch(data, np.int64(at))


@numba.njit(cache=True, nogil=True)
def unit_at(units: Any, i: int) -> Any:
    """Return sample ``i`` of ``Samples.units`` as uint64, whatever their form."""
    if units.ndim == 2:
        unit = np.uint64(0)
        for byte in range(units.shape[1]):
            unit |= np.uint64(units[i, byte]) << np.uint64(8 * byte)
        return unit
    return np.uint64(units[i])


if has_feature("bmi2"):  # gathers and scatters bits

    @numba.njit(inline="always")
    def bits_of(plane: Any, mask: Any) -> Any:
        """Return the bits of ``plane`` at the ones of ``mask``, side by side, the first lowest."""
        return _gather(np.uint64(plane), np.uint64(mask))

    @numba.njit(inline="always")
    def nth_one(plane: Any, n: int) -> int:
        """Return the place of the one that has ``n`` others below it; 64 when there is none."""
        return lowest(_scatter(_ONE << np.uint64(n), np.uint64(plane)))  # type: ignore[no-any-return]

else:

    @numba.njit(cache=True, nogil=True)
    def bits_of(plane: Any, mask: Any) -> Any:
        """Return the bits of ``plane`` at the ones of ``mask``, side by side, the first lowest."""
        gathered = np.uint64(0)
        place = _ONE
        while mask:
            low = mask & (~mask + _ONE)
            if plane & low:
                gathered |= place
            place <<= _ONE
            mask ^= low
        return gathered

    @numba.njit(cache=True, nogil=True)
    def nth_one(plane: Any, n: int) -> int:
        """Return the place of the one that has ``n`` others below it; 64 when there is none."""
        for _ in range(n):
            plane &= plane - _ONE
        return lowest(plane)  # type: ignore[no-any-return]
