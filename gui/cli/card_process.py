"""Cards that exist only in software, in a process of their own, ended in every case."""

from __future__ import annotations

import selectors
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import IO, NoReturn, cast

from freezeframe.capture.errors import InputError, TargetError

_START_S = 180.0  # the first start after an installation compiles kernels


@contextmanager
def card_process(
    verb: str, fault: str, seed: int, truth: Path, speed: float, options: Sequence[str] = ()
) -> Iterator[tuple[str, int]]:
    """Run ``freezeframe emulate`` or ``sim-board`` on a free port; yield its URL and process number.

    ``options`` are further options of that verb.
    The process is ended when the block is left, also by an error, Ctrl-C, or a signal that ends us.

    Raises:
        InputError: it refuses the fault or seed; the message is its own.
        TargetError: it ended or was silent before it was ready.
    """
    command = [sys.executable, "-m", "freezeframe", verb, "--listen", "127.0.0.1:0"]
    command += ["--fault", fault, "--seed", str(seed), "--truth", str(truth)]
    command += ["--speed", str(speed), "--until-stdin-ends", *options]
    with (
        tempfile.TemporaryFile("w+", encoding="utf-8") as errors,
        _signals_as_exit(),
        subprocess.Popen(
            command,
            # never written to: it ends when we do, also by SIGKILL, and the card ends with it
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
            # its own process group: Ctrl-C reaches us alone, and we end it when we are ready
            start_new_session=True,
        ) as process,
    ):
        try:
            yield _ready_url(process, errors), process.pid
        except TargetError as error:
            if process.poll() is None:
                raise
            # It died under our hands: its own last words say more than our missing answer.
            raise TargetError(f"the card's process died: {_said(errors)}") from error
        finally:
            _end(process)


def _ready_url(process: subprocess.Popen[str], errors: IO[str]) -> str:
    stdout = cast("IO[str]", process.stdout)  # stdout=PIPE above
    end = time.monotonic() + _START_S
    with selectors.DefaultSelector() as selector:
        selector.register(stdout, selectors.EVENT_READ)
        if not selector.select(end - time.monotonic()):
            raise TargetError(
                f"the card's process was silent for {_START_S:g} s; is the machine busy?"
            )
    words = stdout.readline().split()
    if words[:1] == ["ready"] and len(words) > 1:
        return words[1]
    code = process.wait(10)
    said = _said(errors)
    if code == InputError.exit_code:
        raise InputError(said)
    raise TargetError(f"the card's process ended with exit code {code} before it was ready: {said}")


def _said(errors: IO[str]) -> str:
    """Return the last line that the emulator wrote on standard error."""
    errors.seek(0)
    lines = errors.read().strip().splitlines()
    return lines[-1].removeprefix("freezeframe: ") if lines else "it said nothing"


def _end(process: subprocess.Popen[str]) -> None:
    if process.poll() is not None:
        return
    process.terminate()
    try:
        process.wait(5)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


@contextmanager
def _signals_as_exit() -> Iterator[None]:
    """Let signals that would end this process at once unwind it, so that blocks are left."""

    def unwind(number: int, frame: FrameType | None) -> NoReturn:
        sys.exit(128 + number)

    before = {number: signal.signal(number, unwind) for number in (signal.SIGTERM, signal.SIGHUP)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
