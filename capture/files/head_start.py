"""Unpack a sigrok session file in a process of its own while this one is still loading what decodes it.

To load kernels and tables takes as long as to unpack a billion samples, and holds the interpreter, so that
a thread would wait for it. So the first thing a program does is to `begin`: a copy of the still small
process looks at the samples and leaves the changes where both can read them. When the reader comes, both
go on side by side: each takes the next member that nobody has taken, so that neither waits for the other
but for its last. The copy finds changes without numpy, which it would have to load itself; the first
member with many it leaves to the reader. What is dense, damaged or not understood the copy leaves alone
and ends: the reader meets it as if nothing had gone before, and words it.
"""

from __future__ import annotations

import mmap
import os
import select
import signal
import struct
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from freezeframe.capture.errors import FreezeframeError

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Changes = tuple[npt.NDArray[np.int64], npt.NDArray[np.unsignedinteger], int]

_T = TypeVar("_T")
_Find = Callable[[bytes, int], tuple[bytes, bytes] | None]

__all__ = ["FEW_CHANGES", "HeadStart", "begin", "begun", "end"]

FEW_CHANGES = 1 << 16
"""A piece with as many is dense, and left to the reader."""

_FEW = 1 << 13  # of a piece: that many are found in the bytes before numpy would be loaded
_LEFT = -1  # instead of a count of pieces: the member is the reader's
_LEAST_B = 1 << 17  # of a packed file; a smaller one is unpacked before a process is worth it
_MOVE_B = 8  # the place of a change
_ROOM_B = 1 << 25  # for changes; more are left to the reader
_AHEAD = 8  # members of which the reader has more than it can hand on yet: then it waits
_TAKING_S = 0.01  # for the other to count up, which takes it microseconds
_ALONE_S = 1.0  # after which the process looks whether there is still somebody to work for
_TURN = struct.Struct("<q")  # the next member that nobody has taken
_RECORD = struct.Struct(
    "<qqq"
)  # of a member: its number, where its pieces begin, their count or _LEFT
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
        self._turn = _Turn()
        here = os.getpid()
        try:
            self.pid = os.fork()
        except OSError:
            os.close(self._said)
            os.close(told)
            self._turn.close()
            raise
        if not self.pid:
            os.close(self._said)
            _child(path, here, self._turn, told, self._room)
        os.close(told)
        self._ended = False
        self._found: dict[int, list[Changes]] = {}
        self._left: deque[int] = deque()

    def is_of(self, path: Path) -> bool:
        """Whether this is the head start of that file, and the file is still the same."""
        return path == self.path and _identity(path) == self._file

    def members(
        self, count: int, own: Callable[[int], _T], found: Callable[[list[Changes]], _T]
    ) -> Iterator[_T]:
        """Yield what is made of the members of samples, from the first on, and go on beside the process.

        It ends before the last of them where the process has ended and nothing stands behind what was
        yielded: then there is nothing left to share.

        Args:
            count: the members of the file.
            own: what is made of member i, here and now; an error of it comes in its turn.
            found: what is made of a member that the process has looked at, piece by piece: where its
                samples change, ``(n,)`` int64 from its begin, the first being one; those samples,
                ``(n,)``, as they are; and how many samples it has.
        Raises:
            FreezeframeError: the process was killed or broke down.
        """
        mine: dict[int, _T | FreezeframeError] = {}
        try:
            at = 0
            while at < count:
                self._hear(0.0)
                if at in self._found:
                    yield found(self._found.pop(at))
                    at += 1
                elif at in mine:
                    made = mine.pop(at)
                    if isinstance(made, FreezeframeError):
                        raise made
                    yield made
                    at += 1
                elif self._ended and not mine and not self._found:
                    return
                elif self._ended:
                    yield own(at)  # taken by the process, which has left it
                    at += 1
                else:
                    self._share(count, own, mine)
        finally:
            self.stop()

    def _share(
        self, count: int, own: Callable[[int], _T], mine: dict[int, _T | FreezeframeError]
    ) -> None:
        """Do a member that is left to do, or wait for what the process has to say."""
        if self._left:
            number: int | None = self._left.popleft()
        else:
            number = self._turn.take(_TAKING_S) if len(mine) < _AHEAD else None
        if number is None or number >= count:
            self._hear(None)
            return
        try:
            mine[number] = own(number)
        except FreezeframeError as error:
            mine[number] = error

    def _hear(self, patience_s: float | None) -> None:
        """Take what the process has said so far; None waits until it says something or ends."""
        while not self._ended and select.select([self._said], [], [], patience_s)[0]:
            patience_s = 0.0
            record = os.read(self._said, _RECORD.size)  # never cut: it is written as one
            if not record:
                self._check_end()
                return
            number, at, count = _RECORD.unpack(record)
            if count == _LEFT:
                self._left.append(number)
            else:
                self._found[number] = _pieces(self._room, at, count)

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
        self._left.clear()  # from now on the reader does all that is missing
        os.close(self._said)
        self._turn.close()


class _Turn:
    """The number of the next member that nobody has taken; two processes count it up.

    Who reads it out of the pipe writes the one after it: nobody can get the same.
    """

    def __init__(self) -> None:
        self._read, self._write = os.pipe()
        os.set_blocking(self._read, False)
        os.write(self._write, _TURN.pack(0))

    def take(self, patience_s: float) -> int | None:
        """Return the number, which is taken now; None where the other has it for as long as that."""
        if not select.select([self._read], [], [], patience_s)[0]:
            return None
        try:
            (number,) = _TURN.unpack(os.read(self._read, _TURN.size))
        except BlockingIOError:
            return None  # the other was quicker
        os.write(self._write, _TURN.pack(number + 1))
        return int(number)

    def close(self) -> None:
        os.close(self._read)
        os.close(self._write)


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
            import_module("freezeframe.capture.files.sigrok_header")  # both need it: load it once
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


def _child(path: Path, parent: int, turn: _Turn, told: int, room: mmap.mmap) -> None:
    """Do the work and end the process, whatever happens: it must not run what belongs to its parent."""
    code = 1
    try:
        _unpack(path, parent, turn, told, room)
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


def _unpack(path: Path, parent: int, turn: _Turn, told: int, room: mmap.mmap) -> None:
    """Leave the changes of members in ``room``, one in its turn after the other; stop where they do
    not fit."""
    from freezeframe.capture.files._zip_members import ZipMembers
    from freezeframe.capture.files.sigrok_header import header_of

    at = 0
    find: _Find = _few_in_bytes
    left_one = False
    with ZipMembers(path) as members:
        header = header_of(members)
        unit_B = header.unitsize_B
        # Where a member ends inside a sample, the next cannot be read without it.
        if unit_B not in (1, 2, 4, 8) or any(
            members.declared_B(n) % unit_B for n in header.members
        ):
            return
        while os.getppid() == parent:
            number = turn.take(_ALONE_S)
            if number is None:
                continue
            if number >= len(header.members):
                return
            name = header.members[number]
            try:
                left = _leave(members.stream_whole(name), unit_B, find, room, at)
            except _ManyError:
                # One such member is no reason to load numpy, which the reader has; several are.
                if not left_one:
                    left_one = True
                    os.write(told, _RECORD.pack(number, 0, _LEFT))
                    continue
                find = _few_in_numpy
                left = _leave(members.stream_whole(name), unit_B, find, room, at)
            if left is None:
                return
            os.write(told, _RECORD.pack(number, at, left[0]))
            at = left[1]


class _ManyError(Exception):
    """There are more changes than it is worth to find without numpy."""


def _leave(
    pieces: Iterator[bytes], unit_B: int, find: _Find, room: mmap.mmap, at: int
) -> tuple[int, int] | None:
    """Write the changes of pieces from byte ``at`` on; return how many pieces, and the next byte.

    Returns:
        None where they are dense, do not fit, or a sample is cut.
    Raises:
        _ManyError: as ``find``.
    """
    count = 0
    for data in pieces:
        found = None if len(data) % unit_B else find(data, unit_B)
        if found is None:
            return None
        moves, values = found
        size_B = _PIECE.size + len(moves) + -(-len(values) // 8) * 8
        if at + size_B > len(room):
            return None
        _PIECE.pack_into(room, at, len(data) // unit_B, len(moves) // _MOVE_B, unit_B)
        _put(room, at + _PIECE.size, moves)
        _put(room, at + _PIECE.size + len(moves), values)
        at += size_B
        count += 1
    return count, at


def _few_in_bytes(data: bytes, unit_B: int) -> tuple[bytes, bytes]:
    """Return where samples change, as int64, and those samples.

    Raises:
        _ManyError: there are many.
    """
    from freezeframe.capture.files.runs import changes_in_bytes

    moves = changes_in_bytes(data, unit_B, _FEW)
    if moves is None:
        raise _ManyError
    return moves.tobytes(), b"".join([data[at * unit_B : (at + 1) * unit_B] for at in moves])


def _few_in_numpy(data: bytes, unit_B: int) -> tuple[bytes, bytes] | None:
    """Return the same, None where they are dense."""
    import numpy as np

    from freezeframe.capture.files.few_changes import few_changes

    samples = np.frombuffer(data, dtype=f"<u{unit_B}")
    moves = few_changes(samples, FEW_CHANGES)
    return None if moves is None else (moves.tobytes(), samples[moves].tobytes())


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
