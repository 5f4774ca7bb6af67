"""Who is told of what a guard has caught: a program, a web hook, a mailbox. Nothing here ends the guard or waits long.

An event is a flat JSON object: ``event`` (``capture``, ``away``, ``back``, ``no-room``, ``room``, ``lost``, ``rule``),
``when``, ``host``, ``text`` in one line, and of a capture its ``path``, ``finding`` and the whole explanation.
"""

from __future__ import annotations

import errno
import json
import os
import shlex
import shutil
import signal
import subprocess
import threading
import time
import urllib.request
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from email.message import EmailMessage
from http.client import HTTPException
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from freezeframe.capture.errors import InputError

_PROGRAM_S = 60.0
_WEB_S = 10.0  # without a byte
_HOOK_S = 45.0  # for all tries
_TRIES = 3
_MOST_MAIL_B = 10 << 20
_MAIL_PLACES = "/usr/sbin:/usr/lib"  # where sendmail stands without being in PATH


@dataclass(frozen=True, slots=True)
class Tellers:
    """Whom a guard tells: command lines, URLs of web hooks, mail addresses."""

    programs: tuple[tuple[str, ...], ...] = ()
    hooks: tuple[str, ...] = ()
    mailboxes: tuple[str, ...] = ()

    def tell(self, event: dict[str, Any], bundle: Path | None = None) -> Iterator[str]:
        """Tell everybody; yield a line for each who could not be told.

        Args:
            bundle: one file with the capture in it: named to programs, attached to mail up to 10 MiB.
        """
        line = json.dumps(event)
        for program in self.programs:
            yield from _run(program, event, line, bundle)
        for url in self.hooks:
            yield from _post(url, line)
        for address in self.mailboxes:
            yield from _mail(address, event, bundle)

    def __bool__(self) -> bool:
        return bool(self.programs or self.hooks or self.mailboxes)


def tellers(programs: list[str], hooks: list[str], mailboxes: list[str]) -> Tellers:
    """Take the options apart, so that a wrong one is refused before the night begins.

    Raises:
        InputError: a program that is not there, a URL that is none of HTTP, no sendmail on this machine.
    """
    found = []
    for text in programs:
        try:
            words = tuple(shlex.split(text))
        except ValueError as error:
            raise InputError(f"--exec {text!r}: {error}") from None
        if not words or shutil.which(words[0]) is None:
            raise InputError(f"--exec {text!r}: there is no such program")
        found.append(words)
    for url in hooks:
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise InputError(f"--webhook {url!r}: write http://HOST/PATH or https://HOST/PATH")
    for address in mailboxes:
        if ("@" not in address and not address.isalnum()) or not address.isprintable():
            raise InputError(f"--mail {address!r}: is no mail address")
        if _sendmail() is None:
            raise InputError("--mail: there is no program sendmail on this machine")
    return Tellers(tuple(found), tuple(hooks), tuple(mailboxes))


def _run(
    program: tuple[str, ...], event: dict[str, Any], line: str, bundle: Path | None
) -> Iterator[str]:
    known = {
        "FREEZEFRAME_EVENT": str(event["event"]),
        "FREEZEFRAME_TEXT": str(event["text"]),
        "FREEZEFRAME_CAPTURE": str(event.get("path") or ""),
        "FREEZEFRAME_FINDING": str(event.get("finding") or ""),
        "FREEZEFRAME_BUNDLE": "" if bundle is None else str(bundle),
    }
    try:
        child = subprocess.Popen(
            program,
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            errors="replace",
            env={**os.environ, **known},
            start_new_session=True,  # Ctrl-C is for the guard; and what it has started ends with it
        )
    except OSError as error:
        hint = "; a script begins with #!" if error.errno == errno.ENOEXEC else ""
        yield f"--exec {program[0]}: {error.strerror}{hint}"
        return
    with child:
        try:
            _, errors = child.communicate(line + "\n", timeout=_PROGRAM_S)
        except subprocess.TimeoutExpired:
            end_with_all(child)
            yield f"--exec {program[0]}: took more than {_PROGRAM_S:g} s and was ended"
            return
    if child.returncode:
        said = errors.strip().splitlines()
        yield f"--exec {program[0]}: exit code {child.returncode}{': ' + said[-1] if said else ''}"


def end_with_all(child: subprocess.Popen[Any]) -> None:
    """Kill a program that leads a session of its own, with all that it has started."""
    with suppress(ProcessLookupError):  # it has just ended by itself
        os.killpg(child.pid, signal.SIGKILL)
    child.wait()


def _post(url: str, line: str) -> Iterator[str]:
    """Post in a thread of its own: a server that answers a byte now and then is at no time without an answer."""
    trouble = [f"no whole answer in {_HOOK_S:g} s"]
    thread = threading.Thread(target=_posted, args=(url, line, trouble), daemon=True)
    thread.start()
    thread.join(_HOOK_S)
    if trouble:
        yield f"--webhook {url.partition('?')[0]}: not told in {_TRIES} tries: {trouble[-1]}"


def _posted(url: str, line: str, trouble: list[str]) -> None:
    """Post, again where that fails; empty ``trouble`` once it is done, else add to it."""
    request = urllib.request.Request(
        url, line.encode(), {"Content-Type": "application/json"}, method="POST"
    )
    for left in reversed(range(_TRIES)):
        try:
            with urllib.request.urlopen(request, timeout=_WEB_S):
                trouble.clear()
                return
        except (OSError, ValueError, HTTPException) as error:
            said = str(getattr(error, "reason", error)) or type(error).__name__
            trouble.append(" ".join(said.split())[:200])
        if left:
            time.sleep(1.0)


def _mail(address: str, event: dict[str, Any], bundle: Path | None) -> Iterator[str]:
    program = _sendmail()
    if program is None:
        yield f"--mail {address}: there is no program sendmail any more"
        return
    message = EmailMessage()
    message["To"] = address
    message["Subject"] = f"freezeframe on {event['host']}: {event['text']}"[:200]
    message.set_content(json.dumps(event, indent=1))
    if bundle is not None and bundle.stat().st_size <= _MOST_MAIL_B:
        message.add_attachment(
            bundle.read_bytes(), maintype="application", subtype="zip", filename=bundle.name
        )
    try:
        done = subprocess.run(
            [program, "-t", "-i"],
            input=message.as_bytes(),
            capture_output=True,
            timeout=_PROGRAM_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        yield f"--mail {address}: sendmail: {error}"
        return
    if done.returncode:
        yield f"--mail {address}: sendmail ended with {done.returncode}"


def _sendmail() -> str | None:
    return shutil.which("sendmail") or shutil.which("sendmail", path=_MAIL_PLACES)
