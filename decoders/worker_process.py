"""The host's side of a worker process: started, asked, timed, and always reaped.

Whatever happens in the worker, a crash, a loop without end, an exception, comes out here as one error.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import select
import signal
import subprocess
import sys
import tempfile
import time
import weakref
from collections.abc import Sequence
from pathlib import Path
from typing import IO, Any

from freezeframe.capture.errors import FreezeframeError
from freezeframe.decoders.worker_frames import FrameReader, frame

_END_S = 2.0
_IDLE_END_S = 0.2
_READ_B = 1 << 20
_KEPT_B = 4096  # of what the worker printed, for the message


def number_of(variable: str, default: float, unit: str) -> float:
    """Return a limit that the user may set by an environment variable.

    Raises:
        FreezeframeError: what it says is no number above 0.
    """
    text = os.environ.get(variable, "")
    try:
        number = float(text) if text else default
    except ValueError:
        number = -1.0
    if not 0 < number < float("inf"):
        raise FreezeframeError(f"{variable}={text}: not a number of {unit} above 0")
    return number


class WorkerProcess:
    """A process that is asked, and answers in frames; ``what`` names its task in messages."""

    timeout_variable = ""
    """Which environment variable allows more time."""
    error: type[FreezeframeError] = FreezeframeError
    """What is raised where it fails."""

    def __init__(
        self, command: Sequence[str | Path], what: str, *, timeout_s: float, memory_B: int = 0
    ) -> None:
        """Start it.

        Args:
            memory_B: this much memory is shared with it, as ``memory_fd``.
            timeout_s: how long one answer may take.
        Raises:
            FreezeframeError: it does not start.
        """
        self._what = what
        self._timeout_s = timeout_s
        self._frames = FrameReader()
        self._asked: list[str] = []
        self._printed = _memory_file()
        self._memory = _memory_file() if memory_B else None
        pass_fds = []
        if self._memory is not None:
            os.ftruncate(self._memory.fileno(), memory_B)
            pass_fds.append(self._memory.fileno())
        try:
            self._process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._printed,
                pass_fds=pass_fds,
                # Ctrl-C is for the host, which then ends the worker.
                start_new_session=True,
            )
        except OSError as error:
            raise self.error(f"{what}: {command[0]} does not start: {error}") from error
        self._stdin, self._stdout = _pipes(self._process)
        for pipe in (self._stdin, self._stdout):
            _widen(pipe)
        files = (self._stdin, self._stdout, self._printed, self._memory)
        self._finalizer = weakref.finalize(self, _end, self._process, *files)

    @property
    def memory_fd(self) -> int:
        """The file of the shared memory; the same number in the worker."""
        if self._memory is None:
            raise ValueError("this worker shares no memory")
        return self._memory.fileno()

    @property
    def waiting(self) -> int:
        """How many answers are still to come."""
        return len(self._asked)

    def ask(self, command: dict[str, Any], doing: str, payload: bytes = b"") -> None:
        """Send a command; ``doing`` says in messages what it was about."""
        self._asked.append(doing)
        try:
            self._stdin.write(frame(command, payload))
            self._stdin.flush()
        except BrokenPipeError:
            raise self._died() from None

    def answer(self) -> tuple[dict[str, Any], bytes]:
        """Return the answer to the oldest command that has none yet, and its payload.

        Raises:
            FreezeframeError: the decoder failed, the process died, or it took too long; the
                process is gone then.
        """
        doing = self._asked[0]
        header, payload = self.reply()
        if "error" in header:
            self.close()
            raise self.error(f"{self._what}: {doing}: {header['error']}")
        return header, payload

    def reply(self) -> tuple[dict[str, Any], bytes]:
        """Return the answer as `answer` does, but an error that the worker has told is one, too: ``{"error": why}``.

        Raises:
            FreezeframeError: the process died, or it took too long.
        """
        answered = self._next()
        del self._asked[0]
        return answered

    def kill(self) -> None:
        """Kill the process; who waits for an answer of it gets an error."""
        self._process.kill()

    def close(self) -> None:
        """End the process; it is reaped when this returns."""
        self._finalizer()

    def _next(self) -> tuple[dict[str, Any], bytes]:
        fd = self._stdout.fileno()
        deadline = time.monotonic() + self._timeout_s
        while True:
            try:
                message = self._frames.next()
            except ValueError as error:
                self.close()
                raise self.error(f"{self._what}: the worker answers nonsense: {error}") from error
            if message is not None:
                return message
            left_s = deadline - time.monotonic()
            if left_s <= 0 or not select.select([fd], [], [], left_s)[0]:
                doing = self._asked[0]
                self.close()
                raise self.error(
                    f"{self._what}: {doing}: no answer within {self._timeout_s:g} s, so the worker was "
                    f"ended; the decoder hangs, or {self.timeout_variable} must allow more"
                )
            data = os.read(fd, _READ_B)
            if not data:
                raise self._died()
            self._frames.feed(data)

    def _died(self) -> FreezeframeError:
        try:
            code = self._process.wait(_END_S)
        except subprocess.TimeoutExpired:
            code = 0
        size_B = os.fstat(self._printed.fileno()).st_size
        begin = max(0, size_B - _KEPT_B)
        printed = os.pread(self._printed.fileno(), _KEPT_B, begin).decode("utf-8", "replace")
        doing = self._asked[0] if self._asked else "starting"
        self.close()
        how = f"died of {signal.Signals(-code).name}" if code < 0 else f"ended with code {code}"
        last = [line.strip() for line in printed.splitlines() if line.strip()][-1:]
        return self.error(
            f"{self._what}: {doing}: the worker process {how}"
            + (f"; it said last: {last[0][:300]}" if last else "")
        )


def _memory_file() -> IO[bytes]:
    if hasattr(os, "memfd_create"):
        return os.fdopen(os.memfd_create("freezeframe"), "w+b", buffering=0)
    return tempfile.TemporaryFile(buffering=0)


def _pipes(process: subprocess.Popen[bytes]) -> tuple[IO[bytes], IO[bytes]]:
    if process.stdin is None or process.stdout is None:
        raise ValueError("the worker was started without pipes")
    return process.stdin, process.stdout


def _widen(pipe: IO[bytes]) -> None:
    """Let a worker write much at once: else it waits for this process with every 64 KiB.

    Where all cores are busy, that is with decoders, each time may cost a turn of the scheduler.
    """
    if sys.platform == "linux":
        # A user may have too many such pipes; one that is narrow works too.
        with contextlib.suppress(OSError):
            fcntl.fcntl(pipe.fileno(), fcntl.F_SETPIPE_SZ, _READ_B)


def _end(
    process: subprocess.Popen[bytes],
    stdin: IO[bytes],
    stdout: IO[bytes],
    printed: IO[bytes],
    memory: IO[bytes] | None,
) -> None:
    """Close standard input, which ends a worker that is well; kill the others; reap."""
    with contextlib.suppress(BrokenPipeError):  # it has ended already
        stdin.close()
    # An idle worker ends at once; one that is busy has lost its reader, and nobody needs the rest.
    try:
        process.wait(_IDLE_END_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    for file in (stdout, printed, *([memory] if memory else [])):
        file.close()
