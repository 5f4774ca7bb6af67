"""64 samples in one comparison of the vector unit, and memory asked for ahead: numba has no Python for these two.

LLVM turns a loop over 64 samples that sets a bit each into 64 shifts; here it is told that the 64 are one vector and
the bits its comparison. `plane_kernels` alone uses this.
Measured: 64 samples of 8 bits in 1.4 ns against 5.6 of the plain loop, of 5 bytes in 5 against 33; samples to edges 1.5
to 2 times as fast, parallel buses of 8 and of 32 bits 1.3 times, one of 8 bytes a sample 1.15 times by `fetch`. Without
numba's compiler (``NUMBA_DISABLE_JIT=1``) the same is done in Python.
"""

from __future__ import annotations

import os
from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

LANES = 64


def _loaded(
    context: Any, builder: Any, array_type: Any, array: Any, index: Any, count: int = LANES
) -> Any:
    """Return so many items from an index on as one vector."""
    item = ir.IntType(array_type.dtype.bitwidth)
    data = context.make_array(array_type)(context, builder, array).data
    place = builder.bitcast(builder.gep(data, [index]), ir.VectorType(item, count).as_pointer())
    return builder.load(place, align=1)


def _splat(builder: Any, value: Any, bits: int) -> Any:
    """Return 64 times the low bits of a value."""
    item = ir.IntType(bits)
    vector = ir.VectorType(item, LANES)
    low = value if bits == 64 else builder.trunc(value, item)
    one = builder.insert_element(ir.Constant(vector, ir.Undefined), low, ir.IntType(32)(0))
    everywhere = ir.Constant(ir.VectorType(ir.IntType(32), LANES), [0] * LANES)
    return builder.shuffle_vector(one, ir.Constant(vector, ir.Undefined), everywhere)


def _plane(builder: Any, vector: Any, other: Any) -> Any:
    return builder.bitcast(builder.icmp_unsigned("!=", vector, other), ir.IntType(64))


if os.environ.get("NUMBA_DISABLE_JIT") == "1":

    def differs(data: Any, at: Any, mask: Any, value: Any) -> Any:
        return sum(
            int(int(data[at + lane]) & int(mask) != int(value)) << lane for lane in range(LANES)
        )

    def moves(data: Any, at: Any, mask: Any) -> Any:
        changed = (int(data[at + n]) ^ int(data[at + n - 1]) for n in range(LANES))
        return sum(int(change & int(mask) != 0) << lane for lane, change in enumerate(changed))

    def every(data: Any, at: Any, step: Any, mask: Any) -> Any:
        return differs(data[at : at + step * LANES : step], 0, mask, 0)

    def fetch(data: Any, at: Any) -> None:
        pass

else:

    @intrinsic
    def differs(_typing, data, at, mask, value):  # type: ignore[no-untyped-def]
        """Return the plane of items ``at .. at + 63`` of a C array that are not ``value`` under ``mask``."""

        def generate(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
            bits = signature.args[0].dtype.bitwidth
            array, index, mask_value, wanted = arguments
            items = _loaded(context, builder, signature.args[0], array, index)
            masked = builder.and_(items, _splat(builder, mask_value, bits))
            return _plane(builder, masked, _splat(builder, wanted, bits))

        return types.uint64(data, types.int64, types.uint64, types.uint64), generate

    @intrinsic
    def moves(_typing, data, at, mask):  # type: ignore[no-untyped-def]
        """Return the plane of items ``at .. at + 63`` that differ under ``mask`` from the one before each."""

        def generate(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
            bits = signature.args[0].dtype.bitwidth
            array, index, mask_value = arguments
            before = builder.sub(index, index.type(1))
            items = _loaded(context, builder, signature.args[0], array, index)
            others = _loaded(context, builder, signature.args[0], array, before)
            changed = builder.and_(builder.xor(items, others), _splat(builder, mask_value, bits))
            return _plane(builder, changed, ir.Constant(changed.type, None))

        return types.uint64(data, types.int64, types.uint64), generate

    @intrinsic
    def every(_typing, data, at, step, mask):  # type: ignore[no-untyped-def]
        """Return the plane of each ``step``-th of the 64 ``step`` items of a C array from ``at`` on that is not 0 under
        ``mask``; ``step`` is a number in the source."""
        if not isinstance(step, types.IntegerLiteral):
            return None  # numba tries it as one then
        places = [lane * step.literal_value for lane in range(LANES)]

        def generate(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
            kinds = signature.args
            array, index, _, mask_value = arguments
            items = _loaded(context, builder, kinds[0], array, index, LANES * step.literal_value)
            which = ir.Constant(ir.VectorType(ir.IntType(32), LANES), places)
            some = builder.shuffle_vector(items, ir.Constant(items.type, ir.Undefined), which)
            masked = builder.and_(some, _splat(builder, mask_value, kinds[0].dtype.bitwidth))
            return _plane(builder, masked, ir.Constant(masked.type, None))

        return types.uint64(data, types.int64, step, types.uint64), generate

    @intrinsic
    def fetch(_typing, data, at):  # type: ignore[no-untyped-def]
        """Ask the processor for item ``at`` of a C array, which may be beyond its end."""

        def generate(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
            array, index = arguments
            data = context.make_array(signature.args[0])(context, builder, array).data
            byte, number = ir.IntType(8).as_pointer(), ir.IntType(32)
            kind = ir.FunctionType(ir.VoidType(), [byte, number, number, number])
            name = "llvm.prefetch.p0"
            ask = builder.module.globals.get(name) or ir.Function(builder.module, kind, name)
            place = builder.bitcast(builder.gep(data, [index]), byte)
            builder.call(ask, [place, number(0), number(3), number(1)])
            return context.get_dummy_value()

        return types.none(data, types.int64), generate
