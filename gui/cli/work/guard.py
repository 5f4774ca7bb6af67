"""``freezeframe guard``: freezes waited for unattended, each pulled, explained, and told."""

from __future__ import annotations

import errno
import json as json_text
import os
import signal
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from threading import Event
from typing import Any

from freezeframe.capture.count_text import plural
from freezeframe.capture.counters.alarms import Alarm
from freezeframe.capture.custody.guard_log import LOG, GuardLog
from freezeframe.capture.custody.host_rules import Rule, parse_rule, refuse_unknown
from freezeframe.capture.custody.host_watch import HostWatch
from freezeframe.capture.custody.store import BESIDE, Keep, captures_in, parse_size
from freezeframe.capture.custody.telling import tellers
from freezeframe.capture.errors import InputError
from freezeframe.capture.folder import HostTrace
from freezeframe.capture.recorder.guard import Extras, guard
from freezeframe.capture.recorder.pull import PullReport
from freezeframe.gui.cli.output import forget_stdout
from freezeframe.gui.cli.work.night_watch import NightWatch, summary
from freezeframe.gui.cli.work.pull import refuse_recording, split_host_trace
from freezeframe.gui.cli.work.sources import check_period, opened_readers
from freezeframe.gui.places import refuse_evidence
from freezeframe.gui.text import printable

_TRACE_B = 16 << 20  # of the end of a trace that grows for weeks


@dataclass(frozen=True, slots=True)
class GuardOptions:
    """The options of ``freezeframe guard``; its help says what they mean."""

    targets: list[str]
    output: Path
    keep: int
    keep_first: int
    keep_bytes: str | None
    keep_kinds: bool
    keep_log: str | None
    count: int | None
    poll_s: float
    outage_s: float
    host_traces: list[str]
    beside: list[str]
    every_s: float
    rules: list[str]
    programs: list[str]
    hooks: list[str]
    mailboxes: list[str]
    bundle: bool
    json: bool


def guard_targets(options: GuardOptions) -> None:
    """Guard cards until interrupted, or until so many captures are pulled.

    Raises:
        InputError: a target is a recording, an option cannot be used, or the directory cannot be.
    """
    for url in options.targets:
        refuse_recording(url)
        if options.targets.count(url) > 1:
            raise InputError(f"{url}: is given twice; each target goes into a capture once")
    refuse_evidence(options.output)
    whom = tellers(options.programs, options.hooks, options.mailboxes)
    most_B, log_B = (
        None if size is None else parse_size(size)
        for size in (options.keep_bytes, options.keep_log)
    )
    keep = Keep(options.keep, options.keep_first, most_B, options.keep_kinds, log_B)
    traces = [split_host_trace(text) for text in options.host_traces]
    rules = [parse_rule(text) for text in options.rules]
    stop = Event()
    seen = 0
    out = _Output(json=options.json)
    with ExitStack() as stack:
        watch = stack.enter_context(host_watch(options.beside, rules, options.every_s))
        work = NightWatch(whom, out.explained, bundle=options.bundle)

        def captured(report: PullReport) -> None:
            nonlocal seen
            seen += 1
            if options.count is not None and seen >= options.count:
                stop.set()
            work.explain(report.path)

        def beside(path: Path) -> None:
            if options.beside:
                try:
                    watch.write_beside(path.with_suffix(BESIDE))
                except OSError as error:
                    raise InputError(f"counters beside it: {error.strerror}") from error

        notes: list[str] = []  # of traces, until they are logged

        def lines() -> list[str]:
            found, notes[:] = [*notes, *out.notes()], []
            for trouble in watch.troubles():
                work.trouble("rule", trouble)
                found.append(trouble)
            return found

        interrupted = stack.enter_context(_stopped_by_signals(stop))
        pulled = guard(
            options.targets,
            keep,
            options.output,
            captured,
            stop.is_set,
            poll_s=options.poll_s,
            wait_s=options.outage_s,
            log=out.say,
            extras=Extras(
                host=(lambda: _read_traces(traces, notes.append)) if traces else tuple,
                traced=[device for device, _ in traces],
                beside=beside,
                fired=watch.fired,
                wait=watch.wait,
                lines=lines,
                trouble=work.trouble,
                unexplained=work.waiting,
                ended=lambda: work.finish(drop=interrupted()),
            ),
            begun=lambda log: _begin(work, log, options.output),
        )
    left = work.not_explained(options.output)
    rest = (
        f"; {plural(left, 'capture')} not explained yet, which the next start does" if left else ""
    )
    out.say(f"{plural(pulled, 'capture')} pulled into {options.output}{rest}")


class _Output:
    """Lines for people, or a line of JSON for each capture and nothing else; what cannot be printed ends nothing."""

    def __init__(self, *, json: bool) -> None:
        self._json = json
        self._trouble = ""
        self._notes: list[str] = []

    def say(self, line: str) -> None:
        if not self._json:
            self._print(printable(line))

    def explained(self, document: dict[str, Any]) -> None:
        if self._json:
            self._print(json_text.dumps(document))
        else:
            self._print(f"{document['explained'][:19]}Z {summary(document)}")

    def notes(self) -> list[str]:
        """Return what there is to log of the output itself; emptied by the call."""
        found, self._notes = self._notes, []
        return found

    def _print(self, line: str) -> None:
        try:
            print(line, flush=True)
            self._trouble = ""
        except OSError as error:
            if error.errno in (errno.EPIPE, errno.EBADF):
                forget_stdout()  # whoever read it has gone, or it was closed from the beginning
            trouble = str(error.strerror)
            if trouble != self._trouble:
                self._notes.append(
                    f"standard output: {trouble}; the guard goes on, and {LOG} has all"
                )
            self._trouble = trouble


def _begin(work: NightWatch, log: GuardLog, directory: Path) -> None:
    """Begin with what was never explained: a guard was killed, or had no room to write it down."""
    work.begin(log)
    for path in captures_in(directory):
        if path.name not in log.kinds:
            work.explain(path)


@contextmanager
def host_watch(
    sources: Sequence[str], rules: Sequence[Rule], every_s: float
) -> Iterator[HostWatch]:
    """Open sources, refuse rules that could never fire, and watch for the length of a block.

    Raises:
        InputError: a source that is not there, or an alarm on what none of them counts.
    """
    check_period(every_s)
    alarms = [rule for rule in rules if isinstance(rule, Alarm)]
    if alarms and not sources:
        raise InputError(
            f"{alarms[0].text!r}: is about a counter; name its source: --beside netdev:eth0"
        )
    with opened_readers(sources, None, every_s) as readers:
        refuse_unknown(alarms, [reader.source for reader in readers])
        watch = HostWatch(readers, rules)
        watch.start()
        try:
            yield watch
        finally:
            watch.stop()


def _read_traces(traces: Sequence[tuple[str, Path]], say: Callable[[str], None]) -> list[HostTrace]:
    """Return the end of each trace, from the beginning of a line; one that cannot be read is told and left out."""
    found = []
    for device, path in traces:
        try:
            with path.open("rb") as file:
                size_B = os.fstat(file.fileno()).st_size
                if size_B > _TRACE_B:
                    file.seek(size_B - _TRACE_B)
                    file.readline()
                text = file.read(_TRACE_B)
        except OSError as error:
            say(f"--host-trace {path}: {error.strerror}; a capture is without it")
            continue
        if text.strip():
            found.append(HostTrace(path.name, device, text))
        else:
            say(f"--host-trace {path}: is empty; a capture is without it")
    return found


@contextmanager
def _stopped_by_signals(stop: Event) -> Iterator[Callable[[], bool]]:
    """Let Ctrl-C, SIGTERM and SIGHUP end the guard between two steps; yields whether one came."""
    came = Event()

    def take(*_: object) -> None:
        came.set()
        stop.set()

    numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    before = {number: signal.signal(number, take) for number in numbers}
    try:
        yield came.is_set
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
