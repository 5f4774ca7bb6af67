"""Capture from any device that libsigrok drives, by ``sigrok-cli`` in a process of its own.

Source: sigrok-cli(1), 0.7.2.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event

from freezeframe.capture.errors import InputError, TargetError, TargetTimeout

_POLL_S = 0.05
_END_S = 5.0  # to end by itself after a signal
_TEST_PATTERN = "demo"  # the driver of no device
_SAID_B = 4000  # of what it prints, for the message


@dataclass(frozen=True, slots=True)
class SigrokRequest:
    """What to capture: exactly one of ``samples`` and ``time_ms``.

    ``driver`` is sigrok's, with options as it takes them (``fx2lafw:conn=1.13``); ``config`` are
    its keys (``samplerate``: ``1m``); ``triggers`` are ``D0=r`` and so on.
    """

    driver: str
    config: Mapping[str, str] = field(default_factory=dict)
    channels: Sequence[str] = ()
    triggers: Sequence[str] = ()
    samples: int | None = None
    time_ms: int | None = None

    @property
    def is_test_pattern(self) -> bool:
        """Whether sigrok makes the samples up instead of measuring them."""
        return self.driver.partition(":")[0] == _TEST_PATTERN

    def arguments(self, output: Path, form: str = "srzip") -> list[str]:
        """Return the command line; ``form`` is sigrok's output format.

        Raises:
            InputError: not exactly one of samples and time, or a text that would be an option.
        """
        if (self.samples is None) == (self.time_ms is None):
            raise InputError("capture: say how much, by --samples N or by --time TIME, one of them")
        for text in (self.driver, *self.config, *self.config.values(), *self.channels):
            if not text or text.startswith("-"):
                raise InputError(f"capture: {text!r} is no driver, setting or channel")
        given = ["sigrok-cli", "--driver", self.driver, "--output-format", form]
        given += ["--output-file", str(output)]
        if self.config:
            given += ["--config", ":".join(f"{key}={text}" for key, text in self.config.items())]
        if self.channels:
            given += ["--channels", ",".join(self.channels)]
        if self.triggers:
            given += ["--triggers", ",".join(self.triggers), "--wait-trigger"]
        if self.samples is not None:
            return [*given, "--samples", str(self.samples)]
        return [*given, "--time", str(self.time_ms)]


def sigrok_version() -> str:
    """Return the first line of ``sigrok-cli --version``.

    Raises:
        InputError: it is not installed.
    """
    done = subprocess.run(
        [sigrok_program(), "--version"], capture_output=True, text=True, timeout=30, check=False
    )
    return done.stdout.partition("\n")[0].strip()


def capture_sigrok(
    request: SigrokRequest,
    output: Path,
    *,
    wait_s: float,
    progress: Callable[[float, int], None] | None = None,
    form: str = "srzip",
    stop: Event | None = None,
) -> None:
    """Let sigrok-cli write a session file, or one of another form; nothing of it runs on when this returns or raises.

    Args:
        output: the file, in a folder of the caller's.
        wait_s: how long it may take altogether, with the wait for a trigger.
        progress: called with the seconds gone and the bytes that stand in the file.
        stop: once it is set, sigrok-cli is asked to end, and what there is stays.
    Raises:
        InputError: sigrok-cli is not installed, or the request makes no sense.
        TargetError: it failed; the message is its own.
        TargetTimeout: it took too long.
    """
    command = [sigrok_program(), *request.arguments(output, form)[1:]]
    said = output.with_name(output.name + ".said")
    begin = time.monotonic()
    with (
        said.open("wb") as text,
        subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=text, stderr=text, start_new_session=True
        ) as process,
    ):
        try:
            while process.poll() is None and not (stop is not None and stop.is_set()):
                gone_s = time.monotonic() - begin
                if progress is not None:
                    progress(gone_s, output.stat().st_size if output.exists() else 0)
                if gone_s > wait_s:
                    why = " does the trigger come?" if request.triggers else ""
                    raise TargetTimeout(
                        f"sigrok-cli, driver {request.driver}: no end after {wait_s:g} s;{why} "
                        f"--wait SECONDS gives it longer{_so_far(said)}"
                    )
                with contextlib.suppress(subprocess.TimeoutExpired):
                    process.wait(_POLL_S)
        finally:
            _end(process)
    why = _said(said) or "it says nothing"
    if process.returncode and not (stop is not None and stop.is_set()):
        raise TargetError(f"sigrok-cli, driver {request.driver}: {why}")
    if not output.exists():
        raise TargetError(f"sigrok-cli, driver {request.driver}: made no capture: {why}")


def _said(path: Path) -> str:
    return " ".join(path.read_text("utf-8", "replace")[-_SAID_B:].split())


def _so_far(path: Path) -> str:
    """Return what it has said, which is why it does not end where it cannot go on."""
    text = _said(path)
    return f"; so far it says: {text}" if text else ""


def sigrok_program() -> str:
    """Return where sigrok-cli is.

    Raises:
        InputError: it is not installed.
    """
    found = shutil.which("sigrok-cli")
    if found is None:
        raise InputError("sigrok-cli is not installed; apt-get install sigrok-cli")
    return found


def _end(process: subprocess.Popen[bytes]) -> None:
    """End a process that still runs, with everything it started."""
    for kind in (signal.SIGINT, signal.SIGKILL):
        if process.poll() is not None:
            return
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, kind)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(_END_S)
