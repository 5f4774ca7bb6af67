"""Several sources watched together: rates, alarms, laws, freezes, and a log of what changed when.

No thread of its own and no picture: whoever shows it calls ``poll`` as often as it likes.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from freezeframe.capture.counters.alarms import Alarm
from freezeframe.capture.counters.contract import CounterSource, Sample
from freezeframe.capture.counters.history import History
from freezeframe.capture.counters.laws import LawWatch
from freezeframe.capture.counters.reader import SourceReader
from freezeframe.capture.recorder.recorder_state import RecorderState

EventKind = Literal["freeze", "alarm", "law", "stale", "state", "errors", "note"]

_QUIET_NS = 10_000_000_000  # an error counter that rests this long is reported again when it grows
# A word of a counter's name that begins like this: what it counts ought not to happen.
_WRONG = re.compile(
    r"(?:^|[^a-z])(?:err|drop|overflow|underflow|overrun|lost|refused|discard|missed|downed|aer\.|out_of_|carrier_changes)",
    re.IGNORECASE,
)
_RATIOS = (("interrupts per packet", "irq.total", ("rx_packets", "tx_packets")),)


@dataclass(frozen=True, slots=True)
class Event:
    """A line of the log. ``t_ns`` as of samples; ``begins`` is false where something has ended well."""

    t_ns: int
    source: str
    kind: EventKind
    text: str
    begins: bool = True


class Watched:
    """One source: its histories, and what is wrong with it at the moment."""

    def __init__(self, reader: SourceReader, alarms: Sequence[Alarm], depth: int) -> None:
        self.reader = reader
        self.url = reader.url
        self.histories: dict[str, History] = {}
        self.sample: Sample | None = None
        self.recorders: tuple[RecorderState, ...] = ()
        self.facts: dict[str, str] = {}
        self.ringing: dict[str, set[str]] = {}  # key -> texts of its alarms
        self.broken: dict[str, str] = {}
        self.told = ""  # what became of its freeze: that it was pulled, and what explains it
        self.stale = False
        self.grows_wrong: dict[str, int] = {}  # error counter -> when it grew last
        self._alarms = alarms
        self._watching: dict[str, list[Alarm]] = {}
        self._depth = depth
        self._source: CounterSource | None = None
        self._laws = LawWatch(())

    def rate(self, key: str) -> float | None:
        """Return the rate of a counter a second, None where it is not known."""
        history = self.histories.get(key)
        return None if history is None else history.rate

    def ratios(self) -> dict[str, float]:
        """Return the ratios of two counters, for instance interrupts per packet."""
        found = {}
        for name, above, below in _RATIOS:
            top = self.rate(above)
            bottom = sum(self.rate(key) or 0.0 for key in below)
            if top is not None and bottom:
                found[name] = top / bottom
        return found

    def take(self, sample: Sample) -> list[Event]:
        """Take a sample; return what changed with it."""
        events = []
        source = self.reader.source
        if source is not self._source:
            self._source = source
            self._laws = LawWatch(source.laws)
        if self.stale:
            self.stale = False
            events.append(Event(sample.t_ns, self.url, "stale", "answers again", begins=False))
        self.sample = sample
        events += self._counts(sample) + self._states(sample) + self._law_events(sample)
        return events

    def look_for_age(self, now_ns: int) -> list[Event]:
        """Return the event that the source has become stale, when it has."""
        if self.stale or not self.reader.is_stale(now_ns):
            return []
        self.stale = True
        for history in self.histories.values():
            history.gap()
        self.ringing.clear()
        why = self.reader.trouble or "no answer"
        return [Event(now_ns, self.url, "stale", f"stale: {why}")]

    def _counts(self, sample: Sample) -> list[Event]:
        events = []
        restarted = []
        for key, value in sample.values.items():
            history = self.histories.get(key)
            if history is None:
                history = self._begin(key)
            before, restarts = history.value, history.restarts
            history.add(sample.t_ns, value, sample.own_ns.get(key))
            if history.restarts != restarts:
                restarted.append(key)
            elif before is not None and value > before and key in self.grows_wrong:
                if sample.t_ns - self.grows_wrong[key] > _QUIET_NS:
                    events.append(
                        Event(
                            sample.t_ns,
                            self.url,
                            "errors",
                            f"{key} grew by {value - before:,} to {value:,}",
                        )
                    )
                self.grows_wrong[key] = sample.t_ns
            if key in self._watching:
                events += self._alarm_events(key, history)
        if restarted:
            more = f" and {len(restarted) - 1} more" if len(restarted) > 1 else ""
            text = (
                f"{restarted[0]}{more} went back: the device was restarted, or the counter wrapped"
            )
            events.append(Event(sample.t_ns, self.url, "state", text))
        return events

    def _begin(self, key: str) -> History:
        counter = self.reader.source.counters.get(key)
        history = History(counter is not None and counter.kind == "gauge", self._depth)
        self.histories[key] = history
        watching = [alarm for alarm in self._alarms if alarm.matches(self.url, key)]
        if watching:
            self._watching[key] = watching
        if not history.is_gauge and _WRONG.search(key):
            self.grows_wrong[key] = -_QUIET_NS
        return history

    def _alarm_events(self, key: str, history: History) -> list[Event]:
        rings = {alarm.text for alarm in self._watching[key] if alarm.rings(history.amount)}
        before = self.ringing.get(key, set())
        amount = 0 if history.amount is None else history.amount
        shown = f"{amount:,.0f}" if amount >= 100 or history.is_gauge else f"{amount:,.3g}"
        unit = "" if history.is_gauge else " a second"
        events = [
            Event(history.t_ns, self.url, "alarm", f"{key}: {shown}{unit} ({text})")
            for text in sorted(rings - before)
        ]
        events += [
            Event(history.t_ns, self.url, "alarm", f"{key}: no longer ({text})", begins=False)
            for text in sorted(before - rings)
        ]
        if rings:
            self.ringing[key] = rings
        else:
            self.ringing.pop(key, None)
        return events

    def _states(self, sample: Sample) -> list[Event]:
        events = []
        known = {state.device: state for state in self.recorders}
        for state in sample.recorders:
            before = known.get(state.device)
            if before is not None and before.nonce != state.nonce:
                events.append(
                    Event(
                        sample.t_ns,
                        self.url,
                        "state",
                        f"{state.device} was powered up or configured anew",
                    )
                )
            if before is None or (before.state, before.generation) != (
                state.state,
                state.generation,
            ):
                frozen = state.state in ("triggered", "frozen")
                self.told = self.told if frozen else ""
                cause = (
                    f", cause {', '.join(state.causes)} at bus cycle {state.cause_cycle:,}"
                    if state.causes
                    else ""
                )
                text = f"{state.device} is {state.state}{cause}, generation {state.generation}"
                events.append(Event(sample.t_ns, self.url, "freeze" if frozen else "state", text))
        self.recorders = sample.recorders
        for name, text in sample.facts.items():
            if self.facts and self.facts.get(name) not in (None, text):
                events.append(
                    Event(sample.t_ns, self.url, "state", f"{name}: {self.facts[name]} -> {text}")
                )
        self.facts = dict(sample.facts)
        return events

    def _law_events(self, sample: Sample) -> list[Event]:
        broken = self._laws.broken(sample)
        events = [
            Event(sample.t_ns, self.url, "law", f"{name}: {text}")
            for name, text in broken.items()
            if name not in self.broken
        ]
        events += [
            Event(sample.t_ns, self.url, "law", f"{name}: adds up again", begins=False)
            for name in self.broken
            if name not in broken
        ]
        self.broken = broken
        return events


class Monitor:
    """All sources, and the log over them."""

    def __init__(
        self,
        readers: Sequence[SourceReader],
        alarms: Sequence[Alarm] = (),
        *,
        depth: int = 120,
        kept: int = 1000,
    ) -> None:
        """``depth``: bins of the spark lines; ``kept``: lines of the log."""
        self.sources = [Watched(reader, alarms, depth) for reader in readers]
        self.log: deque[Event] = deque(maxlen=kept)
        self.logged = 0  # lines ever

    def poll(self, now_ns: int) -> tuple[list[tuple[int, Sample]], list[Event]]:
        """Take what the readers have read since the last call.

        Returns:
            the new samples with the number of their source, in order of time; and what changed.
        """
        samples = [
            (n, sample)
            for n, watched in enumerate(self.sources)
            for sample in watched.reader.take()
        ]
        samples.sort(key=lambda pair: pair[1].t_ns)
        events = []
        for number, sample in samples:
            events += self.sources[number].take(sample)
        for watched in self.sources:
            events += watched.look_for_age(now_ns)
            for answer in watched.reader.answers():
                events.append(
                    Event(
                        now_ns,
                        watched.url,
                        "note",
                        ("failed: " if answer.failed else "") + answer.text,
                    )
                )
        for event in events:
            self.note(event)
        return samples, events

    def tell(self, url: str, text: str, now_ns: int) -> None:
        """Say what became of a source's freeze, in place of it and in the log, until it is armed again."""
        for watched in self.sources:
            if watched.url == url:
                watched.told = text
                self.note(Event(now_ns, url, "note", text))

    def note(self, event: Event) -> None:
        """Add a line to the log."""
        self.log.append(event)
        self.logged += 1
