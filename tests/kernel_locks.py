"""A kernel is compiled by one worker of pytest-xdist at a time; the other waits, and loads what the first has kept.

Without this both compile what both need first; and numba's cache has no lock: of what two processes save for one
kernel at once it may lose one, or find the code of the other.
"""

from __future__ import annotations

import fcntl
from pathlib import Path
from typing import Any

import pytest
from numba.core.caching import FunctionCache
from numba.core.compiler_lock import global_compiler_lock
from numba.core.dispatcher import Dispatcher


def lock_kernels(folder: Path) -> None:
    """Have each compilation of a kernel that is cached hold a lock file in ``folder``, which is made."""
    folder.mkdir(parents=True, exist_ok=True)
    compile_ = Dispatcher.compile
    held: set[Path] = set()

    def alone(kernel: Any, signature: Any) -> Any:
        # A way in for callers in C, which nobody uses, is a twelfth of what compiling costs.
        kernel.targetoptions.setdefault("no_cfunc_wrapper", True)
        # Numba's own lock first: no thread waits for a file that another thread of this process holds.
        with global_compiler_lock:
            code = kernel.py_func.__code__
            file = Path(code.co_filename)
            path = (
                folder / f"{file.parent.name}.{file.stem}.{code.co_qualname}.{code.co_firstlineno}"
            )
            there = tuple(getattr(signature, "args", signature)) in kernel.overloads
            if there or path in held or not isinstance(kernel._cache, FunctionCache):
                return compile_(kernel, signature)
            held.add(path)
            try:
                with path.open("w") as lock:
                    fcntl.flock(lock, fcntl.LOCK_EX)  # until the file is closed
                    return compile_(kernel, signature)
            finally:
                held.remove(path)

    pytest.MonkeyPatch().setattr(Dispatcher, "compile", alone)  # for as long as the worker lives
