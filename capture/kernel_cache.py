"""Where compiled kernels are kept by who has no folder for them: no home that may be written, a program of root's.

``freezeframe/__init__.py`` names this class to numba there, behind numba's own places, and numba imports it. Kernels
are code that is loaded and run, so a folder that somebody else could have filled is never used.

Source: numba 0.68, numba/core/caching.py, ``CacheImpl`` and ``NUMBA_CACHE_LOCATOR_CLASSES``.
"""

from __future__ import annotations

import atexit
import functools
import os
import shutil
import stat
import tempfile
import warnings
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from numba.core.caching import UserWideCacheLocator

from freezeframe.capture.errors import FreezeframeWarning, InputError


class PrivateCacheLocator(UserWideCacheLocator):
    """Keeps kernels in a folder of this user's among the temporary files; says so once."""

    def __init__(self, py_func: Callable[..., Any], py_file: str) -> None:
        super().__init__(py_func, py_file)  # type: ignore[no-untyped-call]  # numba has no types
        name = self.get_suitable_cache_subpath(py_file)  # type: ignore[no-untyped-call]
        self._cache_path = str(private_folder() / name)


@functools.cache
def private_folder() -> Path:
    """Return the folder, which processes that this one starts use as well.

    Raises:
        InputError: nothing can be written among the temporary files either.
    """
    try:
        folder = Path(tempfile.gettempdir()) / f"freezeframe-kernels-{os.geteuid()}"
        with suppress(FileExistsError):
            folder.mkdir(mode=0o700)
        if not _ours_alone(folder):
            folder = Path(tempfile.mkdtemp(prefix="freezeframe-kernels-"))
            atexit.register(_remove, folder, os.getpid())
    except OSError as error:
        raise InputError(
            f"no folder for compiled kernels can be written ({error.strerror}); "
            "set NUMBA_CACHE_DIR to one that can"
        ) from None
    os.environ["NUMBA_CACHE_DIR"] = str(folder)
    warnings.warn(
        f"no cache folder can be written, so compiled kernels are kept in {folder}; set NUMBA_CACHE_DIR to a folder "
        "that stays, or they are compiled again when that is gone",
        FreezeframeWarning,
        stacklevel=1,
    )
    return folder


def _ours_alone(folder: Path) -> bool:
    found = folder.lstat()
    alone = not stat.S_IMODE(found.st_mode) & 0o077
    return stat.S_ISDIR(found.st_mode) and found.st_uid == os.geteuid() and alone


def _remove(folder: Path, pid: int) -> None:
    if os.getpid() == pid:  # a fork has the same list of what is done at the end
        shutil.rmtree(folder, ignore_errors=True)
