"""What a source of counters is: something that is read once a tick and gives all its values at once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol

from freezeframe.capture.recorder.recorder_state import RecorderState

Kind = Literal["counter", "gauge"]
"""A counter only grows, until its device starts again from zero; a gauge goes up and down."""

Labels = tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Counter:
    """One value of a source: how it is shown, and how a metrics system calls it.

    ``key`` is unique within the source. ``metric`` and ``labels`` name it for machines and never change: what a
    driver made up is a label there, so that one family of metrics holds it on every machine.
    """

    key: str
    kind: Kind
    unit: str
    help: str
    metric: str
    labels: Labels = ()


@dataclass(frozen=True, slots=True)
class Sample:
    """All values of a source at one time.

    ``t_ns`` is the machine's monotonic clock. ``facts`` are texts worth a line (link state and the like), in the
    order in which they are shown. ``recorders`` is what a card's recorders do; empty for other sources. ``own_ns``:
    when values were counted by the clock of the device itself, by their keys; those without are as of ``t_ns``.
    """

    t_ns: int
    values: Mapping[str, int]
    facts: Mapping[str, str] = field(default_factory=dict)
    recorders: tuple[RecorderState, ...] = ()
    own_ns: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Law:
    """``least <= sum(into) - sum(out_of) <= most``, all of them counters of one sample."""

    name: str
    into: tuple[str, ...]
    out_of: tuple[str, ...]
    least: int
    most: int

    def balance(self, values: Mapping[str, int]) -> int | None:
        """Return ``sum(into) - sum(out_of)``, None where a counter is not in the sample."""
        try:
            return sum(values[key] for key in self.into) - sum(values[key] for key in self.out_of)
        except KeyError:
            return None


class CounterSource(Protocol):
    """A thing with counters. For one thread at a time; reading changes nothing in it."""

    @property
    def url(self) -> str:
        """What opens this source again."""

    @property
    def counters(self) -> Mapping[str, Counter]:
        """What each key of a sample means; a later sample may bring more."""

    @property
    def laws(self) -> Sequence[Law]:
        """What must add up in every sample; empty where nothing is known to."""

    def read(self) -> Sample:
        """Read everything once.

        Raises:
            TargetError: the source is gone, or does not answer. Opening it again may help.
        """

    def close(self) -> None:
        """Free what the source holds; closing twice is harmless."""
