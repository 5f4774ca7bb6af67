"""The C functions that the kernels call, without the interpreter's lock: of the system, and google-crc32c's sum.

Kernels name them and hold no addresses, so that their compiled form is true in other processes too. Where kernels run
as plain Python (``NUMBA_DISABLE_JIT=1``), they are called through ctypes. Addresses are ``uintp``.

Source: recvmsg(2), sendmsg(2), memmove(3), errno(3).
"""

from __future__ import annotations

import ctypes
import os
import sys
from typing import Any

import llvmlite.binding
import numpy as np
from numba import types

import freezeframe.decoders.iwarp.crc32c  # noqa: F401  # loads the library of crc32c_extend

_C_TYPES = {
    types.intc: (ctypes.c_int, np.intc),
    types.uint32: (ctypes.c_uint32, np.uint32),
    types.intp: (ctypes.c_ssize_t, np.intp),
    types.uintp: (ctypes.c_size_t, np.uintp),
}


def _function(name: str, result: Any, *arguments: Any) -> Any:
    if os.environ.get("NUMBA_DISABLE_JIT") != "1":
        return types.ExternalFunction(name, result(*arguments))
    address = llvmlite.binding.address_of_symbol(name)
    prototype = ctypes.CFUNCTYPE(_C_TYPES[result][0], *(_C_TYPES[a][0] for a in arguments))
    function, make = prototype(address), _C_TYPES[result][1]
    return lambda *values: make(function(*map(int, values)))


# The CRC of what the first is the CRC of (0: of nothing), and then of so many octets at an address.
extend = _function("crc32c_extend", types.uint32, types.uint32, types.uintp, types.uintp)
recvmsg = _function("recvmsg", types.intp, types.intc, types.uintp, types.intc)
sendmsg = _function("sendmsg", types.intp, types.intc, types.uintp, types.intc)
memmove = _function("memmove", types.uintp, types.uintp, types.uintp, types.uintp)
# Where the errno of the calling thread is.
errno_at = _function("__error" if sys.platform == "darwin" else "__errno_location", types.uintp)
