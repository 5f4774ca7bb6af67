"""Copy bytes in a kernel as the processor does it best, which numba has no Python for.

A slice of numba copies a byte at a time, and so does a loop where the compiler cannot see that no place is negative.
Measured: 1,460 bytes in 0.1 us against 1.8. Without numba's compiler (``NUMBA_DISABLE_JIT=1``) a slice does it.
"""

from __future__ import annotations

import os
from typing import Any

from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

if os.environ.get("NUMBA_DISABLE_JIT") == "1":

    def copy(source: Any, at: Any, target: Any, to: Any, size: Any) -> None:
        target[to : to + size] = source[at : at + size]

else:

    @intrinsic
    def copy(_typing, source, at, target, to, size):  # type: ignore[no-untyped-def]
        """Copy ``size`` bytes between C arrays that do not overlap; the caller keeps both places inside them."""

        def generate(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
            places = [
                builder.gep(
                    context.make_array(signature.args[i])(context, builder, arguments[i]).data,
                    [arguments[i + 1]],
                )
                for i in (0, 2)
            ]
            cgutils.raw_memcpy(builder, places[1], places[0], arguments[4], 1)  # type: ignore[no-untyped-call]
            return context.get_dummy_value()

        return types.void(source, types.int64, target, types.int64, types.int64), generate
