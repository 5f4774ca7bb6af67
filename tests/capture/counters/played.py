"""A source that gives prepared samples, and a reader that has them at once, without a thread."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from freezeframe.capture.counters.contract import Counter, Sample
from freezeframe.capture.counters.laws import Law
from freezeframe.capture.counters.reader import SourceReader
from freezeframe.capture.errors import TargetError

SECOND_NS = 1_000_000_000


def counter(key: str, unit: str = "packets") -> Counter:
    return Counter(key, "counter", unit, f"What {key} counts", "made_" + key.replace(".", "_"))


def gauge(key: str, unit: str = "words") -> Counter:
    return Counter(key, "gauge", unit, f"What {key} is", "made_" + key.replace(".", "_"))


class PlayedSource:
    """Gives its samples one after the other, then fails; an exception among them is raised."""

    def __init__(
        self,
        samples: Sequence[Sample | TargetError],
        counters: Sequence[Counter] = (),
        *,
        url: str = "made:a",
        laws: Sequence[Law] = (),
    ) -> None:
        self.url = url
        self.counters: Mapping[str, Counter] = {one.key: one for one in counters}
        self.laws = laws
        self.closed = 0
        self._left = list(samples)

    def read(self) -> Sample:
        if not self._left:
            raise TargetError(f"{self.url}: has ended")
        sample = self._left.pop(0)
        if isinstance(sample, TargetError):
            raise sample
        return sample

    def close(self) -> None:
        self.closed += 1


class PlayedReader(SourceReader):
    """Reads nothing by itself: ``play`` hands over samples as the thread would."""

    def __init__(self, source: PlayedSource, period_s: float = 1000.0) -> None:
        super().__init__(source, lambda: source, period_s)

    def start(self) -> None:
        """No thread."""

    def play(self, *samples: Sample) -> None:
        for sample in samples:
            self._keep(sample)
