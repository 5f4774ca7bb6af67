"""What the host sees beside the cards: rules looked at, counters kept for a while, in a thread of its own.

The thread looks every few milliseconds at what the readers have read, at logs and at programs; who freezes cards waits
for it with `HostWatch.wait`.
"""

from __future__ import annotations

import json
import threading
import time
from collections import deque
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from freezeframe.capture.counters.alarms import Alarm
from freezeframe.capture.counters.contract import Sample
from freezeframe.capture.counters.monitor import Monitor
from freezeframe.capture.counters.reader import SourceReader
from freezeframe.capture.custody.host_rules import Fired, Rule
from freezeframe.capture.errors import InputError

_LOOK_S = 0.004
_KEPT_NS = 60_000_000_000  # of samples, before a capture
_MOST_FIRED = 64


class HostWatch:
    """Rules over sources, logs and programs; what fired, and the newest samples."""

    def __init__(self, readers: Sequence[SourceReader], rules: Sequence[Rule]) -> None:
        """Hold readers that were not started, and rules; ``start`` begins."""
        self._readers = readers
        self._monitor = Monitor(readers, [rule for rule in rules if isinstance(rule, Alarm)])
        self._others = [rule for rule in rules if not isinstance(rule, Alarm)]
        self._before: dict[str, int] = {}  # source -> time of its sample before the newest
        self._samples: deque[tuple[str, Sample]] = deque()
        self._fired: deque[Fired] = deque(maxlen=_MOST_FIRED)
        self._troubles: deque[str] = deque(maxlen=_MOST_FIRED)
        self._told = [""] * len(self._others)
        self._lock = threading.Lock()
        self._event = threading.Event()
        self._ending = False
        self._thread = threading.Thread(target=self._run, name="host watch", daemon=True)

    def start(self) -> None:
        """Begin to read and to look.

        Raises:
            InputError: the program of a rule cannot be begun; the others are ended.
        """
        try:
            for rule in self._others:
                rule.begin()
        except InputError:
            for rule in self._others:
                rule.close()
            raise
        for reader in self._readers:
            reader.start()
        self._thread.start()

    def stop(self) -> None:
        """End; programs of rules are ended, too."""
        self._ending = True
        self._thread.join(2.0)
        for rule in self._others:
            rule.close()

    def wait(self, timeout_s: float) -> bool:
        """Wait until something has fired, at most so long; return whether it has."""
        return self._event.wait(timeout_s)

    def fired(self) -> list[Fired]:
        """Return what has fired since the last call."""
        self._event.clear()
        found = []
        while self._fired:
            found.append(self._fired.popleft())
        return found

    def troubles(self) -> list[str]:
        """Return what has come to be wrong with rules, or is well again, since the last call, a line each."""
        found = []
        while self._troubles:
            found.append(self._troubles.popleft())
        return found

    def write_beside(self, path: Path) -> None:
        """Write the samples of the last minute, a line of JSON each: the first of a source whole, then what changed.

        Raises:
            OSError: the file cannot be written.
        """
        with self._lock:
            samples = list(self._samples)
        wall_ns = time.time_ns() - time.monotonic_ns()
        last: dict[str, dict[str, int]] = {}
        lines = []
        for url, sample in samples:
            before = last.get(url, {})
            changed = {k: v for k, v in sample.values.items() if before.get(k) != v}
            last[url] = dict(sample.values)
            moment = datetime.fromtimestamp((sample.t_ns + wall_ns) / 1e9, UTC)
            entry = {
                "source": url,
                "when": moment.isoformat(timespec="milliseconds"),
                "t_ns": sample.t_ns,
                "whole": not before,
                "values": changed,
            }
            lines.append(json.dumps(entry) + "\n")
        path.write_text("".join(lines), encoding="utf-8")

    def _run(self) -> None:
        try:
            self._look()
        except BaseException as error:
            # Nobody else would see that no rule can fire any more.
            why = f"{type(error).__name__}: {error}"
            self._troubles.append(f"no rule of --freeze-on is looked at any more: {why}")
            raise

    def _look(self) -> None:
        while not self._ending:
            samples, events = self._monitor.poll(time.monotonic_ns())
            self._keep([(self._readers[number].url, sample) for number, sample in samples])
            for event in events:
                if event.kind == "alarm" and event.begins:
                    after_ns = self._before.get(event.source, event.t_ns)
                    self._fire(Fired(f"{event.source}: {event.text}", after_ns, event.t_ns))
            for number, sample in samples:
                self._before[self._readers[number].url] = sample.t_ns
            for number, rule in enumerate(self._others):
                for fired in rule.look():
                    self._fire(fired)
                self._tell(number, rule.trouble)
            time.sleep(_LOOK_S)

    def _keep(self, samples: Sequence[tuple[str, Sample]]) -> None:
        with self._lock:
            self._samples += samples
            while self._samples and (
                self._samples[-1][1].t_ns - self._samples[0][1].t_ns > _KEPT_NS
            ):
                self._samples.popleft()

    def _tell(self, number: int, trouble: str) -> None:
        """Note a trouble of a rule once while it lasts, and its end."""
        before, self._told[number] = self._told[number], trouble
        if trouble and not before:
            self._troubles.append(trouble)
        elif before and not trouble:
            self._troubles.append(f"{before.partition(': ')[0]}: can be read")

    def _fire(self, fired: Fired) -> None:
        self._fired.append(fired)
        self._event.set()
