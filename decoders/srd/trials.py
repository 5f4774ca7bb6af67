"""Run many of sigrok's decoders on one short stretch, in one worker that stays for the next stretch."""

from __future__ import annotations

import mmap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from freezeframe.capture.files.edges import Edges
from freezeframe.decoders.srd.expand import fill, packed
from freezeframe.decoders.srd.location import SrdLocation
from freezeframe.decoders.srd.process import SrdWorker

_MEMORY_B = 1 << 22
_MOST_SAMPLES = 1 << 21
_LIMIT_S = 1.0  # of CPU for one decoder
_COLUMNS = 3  # start, end, class


@dataclass(frozen=True, slots=True)
class SrdTrial:
    """A decoder by its name in sigrok, with all its options and the channel of the stretch for each of its
    own."""

    id: str
    options: Mapping[str, Any]
    channels: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class TrialRows:
    """What a decoder gave: ``(n,)`` begin and end in samples of the stretch, class numbers; or its error."""

    begin: npt.NDArray[np.int64]
    end: npt.NDArray[np.int64]
    ann_class: npt.NDArray[np.int64]
    error: str


class SrdTrials:
    """The worker; it starts with the first stretch."""

    def __init__(self, location: SrdLocation) -> None:
        self._location = location
        self._worker: SrdWorker | None = None
        self._memory: mmap.mmap | None = None

    def run(self, edges: Edges, trials: Sequence[SrdTrial]) -> list[TrialRows]:
        """Return what each decoder makes of a stretch that begins at sample 0, of at most 2 M samples.

        Raises:
            FreezeframeError: the worker failed; it is gone, and the next call starts another.
        """
        used = [c for c in edges.channels if any(c in trial.channels.values() for trial in trials)]
        bits = tuple(edges.channels.index(channel) for channel in used)
        unitsize_B = next(width for width in (1, 2, 4, 8) if 8 * width >= len(used))
        worker, memory = self._started()
        samples = min(edges.end_sample, _MOST_SAMPLES, _MEMORY_B // unitsize_B)
        out = np.frombuffer(memory, dtype=f"<u{unitsize_B}", count=samples)
        fill(out, 0, edges.sample, packed(edges.value, bits), np.uint64(0))
        del out
        try:
            worker.ask(
                {
                    "do": "trials",
                    "memory_fd": worker.memory_fd,
                    "memory_B": _MEMORY_B,
                    "unitsize_B": unitsize_B,
                    "samplerate_hz": edges.samplerate_hz,
                    "samples": samples,
                    "limit_s": _LIMIT_S,
                    "trials": [
                        {
                            "id": trial.id,
                            "options": dict(trial.options),
                            "channels": {
                                name: used.index(channel)
                                for name, channel in trial.channels.items()
                            },
                        }
                        for trial in trials
                    ],
                },
                "trial runs",
            )
            header, payload = worker.answer()
        except BaseException:
            self.close()
            raise
        found = []
        numbers = np.frombuffer(payload, dtype="<i8").reshape(-1, _COLUMNS)
        at = 0
        for count, error in zip(header["rows"], header["errors"], strict=True):
            rows = numbers[at : at + count]
            at += count
            found.append(TrialRows(rows[:, 0], rows[:, 1], rows[:, 2], error))
        return found

    def close(self) -> None:
        """End the worker; nothing happens where there is none."""
        if self._worker is not None:
            self._worker.close()
            self._worker = None
            self._memory = None

    def _started(self) -> tuple[SrdWorker, mmap.mmap]:
        if self._worker is None or self._memory is None:
            self._worker = SrdWorker(self._location, "sigrok decoders", memory_B=_MEMORY_B)
            self._memory = mmap.mmap(self._worker.memory_fd, _MEMORY_B)
        return self._worker, self._memory
