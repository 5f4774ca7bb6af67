"""Rules by which the host freezes cards: a counter beyond a threshold, a line in a log, the end of a program.

``rx_crc_errors>0`` and ``netdev:eth0/rx_dropped>=10`` as alarms are written; ``log:FILE~REGEX``, of a file, a pipe or
``/dev/kmsg``; ``exit:COMMAND``, which is begun with the watch, and ``fails:COMMAND``, to which an end with 0 is none.

Source: docs/reliability.md.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import stat
import subprocess
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from freezeframe.capture.counters.alarms import Alarm, parse_alarm
from freezeframe.capture.counters.contract import CounterSource
from freezeframe.capture.errors import InputError
from freezeframe.capture.nearest import meant

_MOST_LINE_B = 1 << 16  # of a line that does not end
_MOST_AT_ONCE_B = 1 << 20
_MOST_READS = 256  # of a device in one look; /dev/kmsg gives one record a read
_MISSED_S = 10.0  # a log that is rotated is away for less
_WORD = re.compile(r"[^/*?]+$")


@dataclass(frozen=True, slots=True)
class Fired:
    """A rule that has become true.

    ``after_ns`` and ``seen_ns`` are monotonic: what it is about happened between the two, as far as the host can tell.
    """

    text: str
    after_ns: int
    seen_ns: int


class LogRule:
    """New lines of a file that match; a file that was rotated or cut is read from its beginning.

    Of a pipe or a device (``/dev/kmsg``) what comes is read, as it comes.
    """

    def __init__(self, text: str) -> None:
        name, tilde, pattern = text.removeprefix("log:").partition("~")
        if not tilde or not name or not pattern:
            raise InputError(
                f"{text!r}: write log:FILE~REGEX, for instance log:/var/log/kern.log~AER"
            )
        try:
            self._pattern = re.compile(pattern.encode())
        except re.error as error:
            raise InputError(f"{text!r}: {pattern!r} is no regular expression: {error}") from None
        self._path = Path(name)
        if self._path.is_dir():
            raise InputError(f"{text!r}: {name} is a directory, no file")
        if not self._path.parent.is_dir():
            raise InputError(f"{text!r}: there is no directory {self._path.parent}")
        self._descriptor = -1
        self._streams = False
        self._rest = b""
        self._why = ""  # it cannot be read
        self._well_s = float("-inf")  # when it last could
        self._looked_ns = time.monotonic_ns()
        self._open(at_end=True)

    def begin(self) -> None:
        """Nothing is to be begun: it was opened when the rule was made."""

    @property
    def trouble(self) -> str:
        """Why the log is not followed now, in a line; empty where it is, or is away for a moment."""
        if not self._why or time.monotonic() - self._well_s < _MISSED_S:
            return ""
        return f"log:{self._path}: {self._why}; no line of it is seen until it can be read"

    def look(self) -> list[Fired]:
        """Return what has come since the last look."""
        after_ns, self._looked_ns = self._looked_ns, time.monotonic_ns()
        found = []
        for line in self._lines():
            if self._pattern.search(line):
                text = line.decode(errors="replace")[:200].strip()
                found.append(Fired(f"{self._path}: {text}", after_ns, time.monotonic_ns()))
        return found

    def close(self) -> None:
        if self._descriptor >= 0:
            os.close(self._descriptor)
        self._descriptor = -1

    def _lines(self) -> Iterable[bytes]:
        if self._descriptor < 0:
            self._open(at_end=False)
            if self._descriptor < 0:
                return
        try:
            if self._streams:
                yield from self._streamed()
                return
            yield from self._cut(os.read(self._descriptor, _MOST_AT_ONCE_B))
            self._follow()
        except OSError as error:
            self._failed(error)

    def _streamed(self) -> Iterable[bytes]:
        for _ in range(_MOST_READS):
            try:
                data = os.read(self._descriptor, _MOST_AT_ONCE_B)
            except BlockingIOError:
                return  # nothing more for now
            except BrokenPipeError:
                continue  # the kernel has overwritten records that were not read yet; the next ones come
            if not data:
                return  # nobody writes to the pipe just now
            yield from self._cut(data)

    def _follow(self) -> None:
        """Let go of a file that was moved away, and begin anew in one that was cut."""
        try:
            there = self._path.stat()
        except FileNotFoundError as error:
            self._failed(error)  # the new one is read when it comes
            return
        here = os.fstat(self._descriptor)
        if (there.st_ino, there.st_dev) != (here.st_ino, here.st_dev):
            self.close()
        elif here.st_size < os.lseek(self._descriptor, 0, os.SEEK_CUR):
            os.lseek(self._descriptor, 0, os.SEEK_SET)

    def _cut(self, data: bytes) -> Iterable[bytes]:
        """Return the lines that have their end."""
        self._why, self._well_s = "", time.monotonic()
        *lines, rest = (self._rest + data).split(b"\n")
        self._rest = rest[-_MOST_LINE_B:]
        yield from lines

    def _open(self, *, at_end: bool) -> None:
        try:
            self._descriptor = os.open(self._path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
            self._rest = b""
            self._streams = not stat.S_ISREG(os.fstat(self._descriptor).st_mode)
            if at_end and not stat.S_ISFIFO(os.fstat(self._descriptor).st_mode):
                os.lseek(self._descriptor, 0, os.SEEK_END)
        except OSError as error:
            self._failed(error)
        else:
            self._why, self._well_s = "", time.monotonic()

    def _failed(self, error: OSError) -> None:
        self.close()
        self._why = error.strerror or str(error)


class ProgramRule:
    """The end of a program that is begun with the watch."""

    def __init__(self, text: str) -> None:
        kind, _, command = text.partition(":")
        try:
            self._words = shlex.split(command)
        except ValueError as error:
            raise InputError(f"{text!r}: {error}") from None
        if not self._words or shutil.which(self._words[0]) is None:
            raise InputError(f"{text!r}: there is no such program")
        self._only_failed = kind == "fails"
        self._child: subprocess.Popen[bytes] | None = None
        self._told = False
        self._looked_ns = time.monotonic_ns()

    def begin(self) -> None:
        """Begin the program.

        Raises:
            InputError: it cannot be begun.
        """
        self._looked_ns = time.monotonic_ns()
        try:
            self._child = subprocess.Popen(
                self._words,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
            )
        except OSError as error:
            raise InputError(
                f"{self._words[0]}: the program of a rule cannot be begun: {error.strerror}"
            ) from None

    @property
    def trouble(self) -> str:
        """Nothing: a program that has begun ends sooner or later."""
        return ""

    def look(self) -> list[Fired]:
        """Return that it has ended, once."""
        after_ns, self._looked_ns = self._looked_ns, time.monotonic_ns()
        if self._child is None:
            return []
        code = self._child.poll()
        if code is None or self._told or (self._only_failed and code == 0):
            return []
        self._told = True
        how = f"signal {-code}" if code < 0 else f"exit code {code}"
        text = f"{shlex.join(self._words)} ended: {how}"
        return [Fired(text, after_ns, time.monotonic_ns())]

    def close(self) -> None:
        if self._child is not None and self._child.poll() is None:
            self._child.terminate()
            self._child.wait(5)


Rule = Alarm | LogRule | ProgramRule


def parse_rule(text: str) -> Rule:
    """Take a rule apart; a log is opened, a program not begun yet.

    Raises:
        InputError: not of any form, or what it names is not there.
    """
    if text.startswith("log:"):
        return LogRule(text)
    if text.startswith(("exit:", "fails:")):
        return ProgramRule(text)
    return parse_alarm(text)


def refuse_unknown(alarms: Sequence[Alarm], sources: Sequence[CounterSource]) -> None:
    """Read each source once, and refuse an alarm that matches none of what they count.

    Raises:
        InputError: with the nearest name there is; an alarm like that would never ring.
        TargetError: a source does not answer.
    """
    if not alarms:
        return
    names = {source.url: list(source.read().values) for source in sources}
    for alarm in alarms:
        if any(alarm.matches(url, key) for url, keys in names.items() for key in keys):
            continue
        every = [key for keys in names.values() for key in keys]
        word = _WORD.search(alarm.name)
        counted = f"{len(every)} names are counted there"
        hint = meant(word[0] if word else alarm.name, every, counted)
        raise InputError(
            f"alarm {alarm.text!r}: would never ring: {', '.join(names) or 'no source'} has no counter "
            f"{alarm.name!r}; {hint}"
        )
