"""Unpack a sigrok session file in a process of its own while this one is still loading what decodes it.

To load kernels and tables takes as long as to unpack a billion samples, and holds the interpreter, so that
a thread would wait for it. So the first thing a program does is to `begin`: a copy of the still small
process looks at the samples and leaves the changes where both can read them. The reader takes what is
there when it asks, ends the copy, and goes on itself. What is dense, damaged or not understood the copy
leaves alone: the reader meets it as if nothing had gone before, and words it.
"""

from __future__ import annotations

import mmap
import os
import select
import signal
import struct
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from freezeframe.capture.errors import FreezeframeError

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Changes = tuple[npt.NDArray[np.int64], npt.NDArray[np.unsignedinteger], int]

__all__ = ["FEW_CHANGES", "HeadStart", "begin", "begun", "end"]

FEW_CHANGES = 1 << 16
"""A piece with as many is dense, and left to the reader."""

_FIRST_S = 0.2  # for the first member, which a busy machine may delay
_LEAST_B = 1 << 17  # of a packed file; a smaller one is unpacked before a process is worth it
_ROOM_B = 1 << 25  # for changes; more are left to the reader
_RECORD = struct.Struct("<qq")  # of a member: where its pieces begin, and how many they are
_PIECE = struct.Struct("<qqq")  # of a piece: its samples, its changes, the bytes of a sample

_running: list[HeadStart] = []  # at most one


class HeadStart:
    """A process that unpacks ``path``, and what it has found so far."""

    def __init__(self, path: Path) -> None:
        """Start the process, a copy of this one, which must have no other thread.

        Raises:
            OSError: the file cannot be looked at, or there is no room for a process.
        """
        self.path = path
        self.taken = False
        self._file = _identity(path)
        self._room = mmap.mmap(-1, _ROOM_B)
        self._said, told = os.pipe()
        try:
            self.pid = os.fork()
        except OSError:
            os.close(self._said)
            os.close(told)
            raise
        if not self.pid:
            os.close(self._said)
            _child(path, told, self._room)
        os.close(told)
        self._ended = False

    def is_of(self, path: Path) -> bool:
        """Whether this is the head start of that file, and the file is still the same."""
        return path == self.path and _identity(path) == self._file

    def members(self) -> Iterator[list[Changes]]:
        """Yield what is there of one member of samples after the other, from the first; then end.

        A piece is where its samples change, ``(n,)`` int64 from its begin, the first being one; those
        samples, ``(n,)``, as they are; and how many samples it has.

        Raises:
            FreezeframeError: the process was killed or broke down.
        """
        try:
            patience_s = _FIRST_S
            while not self._ended and select.select([self._said], [], [], patience_s)[0]:
                patience_s = 0.0
                record = os.read(self._said, _RECORD.size)  # never cut: it is written as one
                if not record:
                    self._check_end()
                    return
                yield _pieces(self._room, *_RECORD.unpack(record))
        finally:
            self.stop()

    def stop(self) -> None:
        """End the process; nothing of it is left."""
        if not self._ended:
            os.kill(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)
            self._close()

    def _check_end(self) -> None:
        code = os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])
        self._close()
        if code:
            how = f"died of {signal.Signals(-code).name}" if code < 0 else f"ended with code {code}"
            raise FreezeframeError(
                f"{self.path}: the process that unpacks it {how}; was memory short? run it again, "
                "on one core (taskset -c 0) there is no such process"
            )

    def _close(self) -> None:
        self._ended = True
        os.close(self._said)


def begin(path: Path) -> None:
    """Begin to unpack a file, where that is worth a process and another core is free for it.

    Nothing happens where it is not; an error of the file is left to its reader. Call `end` at the end.
    """
    end()
    if not hasattr(os, "fork") or not hasattr(os, "sched_getaffinity"):
        return
    if len(os.sched_getaffinity(0)) < 2 or threading.active_count() > 1:
        return
    try:
        if not path.is_file() or path.stat().st_size < _LEAST_B:
            return
        with path.open("rb") as file:
            packed = file.read(4) == b"PK\x03\x04"
        if packed:
            _running.append(HeadStart(path))
    except OSError:
        return  # the reader of the file says what is wrong with it


def begun(path: Path) -> HeadStart | None:
    """Return the head start of this file, if there is one; it is handed out once."""
    for head in _running:
        if not head.taken and head.is_of(path):
            head.taken = True
            return head
    return None


def end() -> None:
    """End the process, if it is still there: its work was not asked for, or an error came between."""
    while _running:
        _running.pop().stop()


def _identity(path: Path) -> tuple[int, ...]:
    is_now = path.stat()
    return is_now.st_dev, is_now.st_ino, is_now.st_size, is_now.st_mtime_ns


def _child(path: Path, told: int, room: mmap.mmap) -> None:
    """Do the work and end the process, whatever happens: it must not run what belongs to its parent."""
    code = 1
    try:
        _unpack(path, told, room)
        code = 0
    except (FreezeframeError, OSError):
        code = 0  # the reader meets the same, and words it; or it is gone
    except KeyboardInterrupt:
        code = 0  # meant for the program as a whole
    except BaseException:
        import traceback

        traceback.print_exc()
        sys.stderr.flush()
    finally:
        os._exit(code)


def _unpack(path: Path, told: int, room: mmap.mmap) -> None:
    """Leave the changes of all samples in ``room``, member by member; stop where they do not fit."""
    import numpy as np
    from freezeframe.capture.files._zip_members import ZipMembers
    from freezeframe.capture.files.few_changes import few_changes
    from freezeframe.capture.files.sigrok_sr import read_header

    header = read_header(path)
    unit_B = header.unitsize_B
    if unit_B not in (1, 2, 4, 8):
        return
    at = 0
    with ZipMembers(path) as members:
        for name in header.members:
            begin_B, pieces = at, 0
            for data in members.stream_whole(name):
                if len(data) % unit_B:
                    return
                samples = np.frombuffer(data, dtype=f"<u{unit_B}")
                moves = few_changes(samples, FEW_CHANGES)
                if moves is None:
                    return
                values = samples[moves]
                size_B = _PIECE.size + moves.nbytes + -(-values.nbytes // 8) * 8
                if at + size_B > len(room):
                    return
                _PIECE.pack_into(room, at, len(samples), len(moves), unit_B)
                _put(room, at + _PIECE.size, moves.tobytes())
                _put(room, at + _PIECE.size + moves.nbytes, values.tobytes())
                at += size_B
                pieces += 1
            os.write(told, _RECORD.pack(begin_B, pieces))


def _put(room: mmap.mmap, at: int, data: bytes) -> None:
    room[at : at + len(data)] = data


def _pieces(room: mmap.mmap, at: int, count: int) -> list[Changes]:
    import numpy as np

    found = []
    for _ in range(count):
        samples, changes, unit_B = _PIECE.unpack_from(room, at)
        at += _PIECE.size
        moves = np.frombuffer(room, np.int64, changes, at)
        at += moves.nbytes
        values = np.frombuffer(room, f"<u{unit_B}", changes, at)
        at += -(-values.nbytes // 8) * 8
        found.append((moves, values, samples))
    return found
