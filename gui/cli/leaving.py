"""End the program without taking the interpreter down, where nothing is left to do.

To throw away the modules one by one, and the compiled kernels with them, takes as long as to unpack
thirty million samples; the system takes it all back at once.
"""

from __future__ import annotations

import atexit
import os
import sys
import threading
from typing import NoReturn

__all__ = ["leave"]


def leave(code: int) -> NoReturn:
    """Run what is registered for the end, and end; standard output was flushed before.

    As `sys.exit` where another thread is to be waited for, or a profiler or debugger wants to see the end.
    """
    watched = sys.gettrace() is not None or sys.getprofile() is not None
    if watched or threading.active_count() > 1:
        sys.exit(code)
    atexit._run_exitfuncs()
    if sys.stderr is not None:  # None where the shell has closed it
        sys.stderr.flush()
    os._exit(code)
