"""The host's side of a worker process: started, asked, timed, and always reaped.

Whatever happens in the worker, a crash, a loop without end, an exception, comes out here as one
`FreezeframeError`.
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
from pathlib import Path
from typing import IO, Any

from freezeframe.capture.errors import FreezeframeError
from freezeframe.decoders.srd.frames import FrameReader, frame
from freezeframe.decoders.srd.location import SrdLocation

TIMEOUT_VARIABLE = "FREEZEFRAME_SIGROK_TIMEOUT_S"
_TIMEOUT_S = 60.0  # for 1 MiB of samples: the slowest installed decoder takes 4 s for a dense one
_MEMORY_LIMIT_B = 1 << 31  # of the worker; 1 MiB of dense samples makes 600 MB of annotations
_END_S = 2.0
_IDLE_END_S = 0.2
_READ_B = 1 << 20
_KEPT_B = 4096  # of what the worker printed, for the message


def default_timeout_s() -> float:
    """Return how long a worker may take for one answer.

    Raises:
        FreezeframeError: the variable that says so is not a number of seconds.
    """
    text = os.environ.get(TIMEOUT_VARIABLE, "")
    try:
        seconds = float(text) if text else _TIMEOUT_S
    except ValueError:
        seconds = -1.0
    if not 0 < seconds < float("inf"):
        raise FreezeframeError(f"{TIMEOUT_VARIABLE}={text}: not a number of seconds above 0")
    return seconds


class SrdWorker:
    """A process that runs libsigrokdecode; ``what`` names its task in messages."""

    def __init__(
        self, location: SrdLocation, what: str, *, memory_B: int = 0, timeout_s: float | None = None
    ) -> None:
        """Start it and load the library.

        Args:
            memory_B: this much memory is shared with it, as ``memory_fd``.
            timeout_s: how long one answer may take; by default `default_timeout_s`.
        Raises:
            FreezeframeError: it does not start, or the library does not load.
        """
        self._what = what
        self._timeout_s = default_timeout_s() if timeout_s is None else timeout_s
        self._frames = FrameReader()
        self._asked: list[str] = []
        self._printed = _memory_file()
        self._memory = _memory_file() if memory_B else None
        pass_fds = []
        if self._memory is not None:
            os.ftruncate(self._memory.fileno(), memory_B)
            pass_fds.append(self._memory.fileno())
        worker = Path(__file__).with_name("worker_main.py")
        try:
            self._process = subprocess.Popen(
                [location.python, "-I", "-S", worker],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._printed,
                pass_fds=pass_fds,
                # Ctrl-C is for the host, which then ends the worker.
                start_new_session=True,
            )
        except OSError as error:
            raise FreezeframeError(f"{what}: {location.python} does not start: {error}") from error
        self._stdin, self._stdout = _pipes(self._process)
        _widen(self._stdout)
        files = (self._stdin, self._stdout, self._printed, self._memory)
        self._finalizer = weakref.finalize(self, _end, self._process, *files)
        self.ask(
            {
                "do": "load",
                "library": str(location.library),
                "folders": [str(folder) for folder in location.folders],
                "memory_limit_B": _MEMORY_LIMIT_B,
            },
            "loading the library",
        )
        self.version = str(self.answer()[0]["version"])

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

    def ask(self, command: dict[str, Any], doing: str) -> None:
        """Send a command; ``doing`` says in messages what it was about."""
        self._asked.append(doing)
        try:
            self._stdin.write(frame(command))
            self._stdin.flush()
        except BrokenPipeError:
            raise self._died() from None

    def answer(self) -> tuple[dict[str, Any], bytes]:
        """Return the answer to the oldest command that has none yet, and its payload.

        Raises:
            FreezeframeError: the decoder failed, the process died, or it took too long; the
                process is gone then.
        """
        header, payload = self._next()
        if "error" in header:
            message = f"{self._what}: {self._asked[0]}: {header['error']}"
            self.close()
            raise FreezeframeError(message)
        del self._asked[0]
        return header, payload

    def describe(self, name: str) -> dict[str, Any]:
        """Return what a decoder says of itself; ``{"error": why}`` when it does not load.

        Raises:
            FreezeframeError: the process died of it, or it took too long.
        """
        self.ask({"do": "describe", "name": name}, f"loading decoder {name}")
        header, _ = self._next()
        del self._asked[0]
        return header

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
                raise FreezeframeError(
                    f"{self._what}: the worker answers nonsense: {error}"
                ) from error
            if message is not None:
                return message
            left_s = deadline - time.monotonic()
            if left_s <= 0 or not select.select([fd], [], [], left_s)[0]:
                doing = self._asked[0]
                self.close()
                raise FreezeframeError(
                    f"{self._what}: {doing}: no answer within {self._timeout_s:g} s, so the worker was "
                    f"ended; the decoder hangs, or {TIMEOUT_VARIABLE} must allow more"
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
        return FreezeframeError(
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
