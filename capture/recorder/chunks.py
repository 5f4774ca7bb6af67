"""Trace memories, chunk by chunk, each held against the CRC that the device itself computed.

Of a device without a CRC table a chunk is held against another reading of it: what is altered on its way is found
so, what the device reads wrong twice is not, and the capture says so.

A chunk counts when its records have the CRC-32 of the device's table, the bits that no CRC covers
are zero, and the device still holds the same recording after it was read. A chunk that does not is
read again, a limited number of times; then it is a gap.

Source: docs/formats.md, sections 1 and 2.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from freezeframe.capture.errors import BusError
from freezeframe.capture.folder.content import Gap
from freezeframe.capture.folder.records import (
    RECORD_B,
    WINDOW_WORDS,
    Records,
    chunk_crc,
    records_from_window,
    unused_bits_set,
)
from freezeframe.capture.recorder.agreed import Recording, RecordingLost
from freezeframe.capture.recorder.plan import Chunk, ChunksDone, MemoryPlan
from freezeframe.capture.recorder.progress import Tally
from freezeframe.capture.targets.base import Target, Words

_TRIES = 10
_FIRST_BATCH = 8
_LARGEST_BATCH = 64
_SHORT_S = 0.05  # a batch read faster than this may grow
_ONCE = "was read once"
_LONG_S = 0.3  # one slower than this shrinks: it is lost as a whole when the target vanishes


@dataclass(slots=True)
class MemoryReader:
    """Reads the memories of all devices; what it has verified so far is always at hand.

    Attributes:
        records: by (device, memory): ``(slots, 9)`` uint8, zero where nothing was verified.
        tally: counts the window words of verified chunks, and the chunks that were read again.
    """

    target: Target
    recording: Recording
    plans: Sequence[MemoryPlan]
    tally: Tally
    records: dict[tuple[int, int], Records] = field(default_factory=dict)
    _missing: dict[tuple[int, int, int], tuple[Chunk, str]] = field(default_factory=dict)
    _batch: int = _FIRST_BATCH
    _before: dict[tuple[int, int, int], Words] = field(default_factory=dict)  # without a CRC

    def __post_init__(self) -> None:
        for plan in self.plans:
            self.records[plan.device, plan.memory] = np.zeros((plan.slots, RECORD_B), np.uint8)
            for chunk in plan.chunks:
                self._missing[_key(chunk)] = (chunk, "the pull ended before")

    def read(self, chunks_done: ChunksDone) -> None:
        """Read every chunk that is not verified yet.

        Args:
            chunks_done: of which the devices have the CRC; the others become gaps.
        Raises:
            RecordingLost: the rest is out of reach; the gaps say why.
            RecorderStateError: the recording was replaced.
        """
        tries: dict[tuple[int, int, int], int] = {}
        waiting: deque[Chunk] = deque()
        for key, (chunk, _) in self._missing.items():
            if chunk.number < chunks_done[chunk.device, chunk.memory]:
                waiting.append(chunk)
            else:
                self._missing[key] = (chunk, "the device has not computed its CRC")
        try:
            while waiting:
                batch = [waiting.popleft() for _ in range(min(self._batch, len(waiting)))]
                for chunk, reason in self._read_batch(batch):
                    key = _key(chunk)
                    if reason == _ONCE:
                        waiting.append(chunk)
                        continue
                    tries[key] = tries.get(key, 0) + 1
                    if tries[key] < _TRIES:
                        self.tally.retries += 1
                        waiting.append(chunk)
                    else:
                        self._missing[key] = (chunk, f"{reason} in {_TRIES} readings")
                self.tally.tell()
        except RecordingLost as lost:
            for key, (chunk, _) in self._missing.items():
                has_crc = chunk.number < chunks_done[chunk.device, chunk.memory]
                if tries.get(key, 0) < _TRIES and has_crc:
                    self._missing[key] = (chunk, lost.reason)
            raise

    def gaps(self) -> dict[tuple[int, int], list[Gap]]:
        """Return by (device, memory) what is not verified, neighbours with one reason joined."""
        gaps: dict[tuple[int, int], list[Gap]] = {key: [] for key in self.records}
        for (device, memory, _), (chunk, reason) in sorted(self._missing.items()):
            known = gaps[device, memory]
            last = known[-1] if known else None
            joins = last and last.first_slot + last.slots == chunk.first_slot
            if last and joins and last.reason == reason:
                known[-1] = Gap(last.first_slot, last.slots + chunk.slots, reason)
            else:
                known.append(Gap(chunk.first_slot, chunk.slots, reason))
        return gaps

    def _read_batch(self, batch: Sequence[Chunk]) -> list[tuple[Chunk, str]]:
        """Read chunks in one call; keep the good ones; return the others and what was wrong."""
        started_s = time.monotonic()
        try:
            words = self.target.read(np.concatenate([_addresses(chunk) for chunk in batch]))
        except BusError:
            self.recording.confirm(self.target)
            if len(batch) > 1:
                self._batch = 1  # so that one refused word does not cost the others
                return [part for chunk in batch for part in self._read_batch([chunk])]
            return [(batch[0], "the device answered with an error")]
        took_s = time.monotonic() - started_s
        good, bad = [], []
        at = 0
        for chunk in batch:
            size = WINDOW_WORDS * chunk.slots + (chunk.crc is not None)
            found = words[at : at + size]
            at += size
            records = self._agreed(chunk, found) if chunk.crc is None else _verify(found)
            if isinstance(records, str):
                bad.append((chunk, records))
            else:
                good.append((chunk, records))
        self.recording.confirm(self.target)
        for chunk, records in good:
            memory = self.records[chunk.device, chunk.memory]
            memory[chunk.first_slot : chunk.first_slot + chunk.slots] = records
            del self._missing[_key(chunk)]
            self.tally.words_done += WINDOW_WORDS * chunk.slots
        if took_s < _SHORT_S and all(reason == _ONCE for _, reason in bad):
            self._batch = min(2 * self._batch, _LARGEST_BATCH)
        elif took_s > _LONG_S:
            self._batch = max(self._batch // 2, 1)
        return bad

    def _agreed(self, chunk: Chunk, words: Words) -> Records | str:
        """Return a chunk's records where its last reading was the same, or what is wrong."""
        before = self._before.pop(_key(chunk), None)
        if unused_bits_set(words):
            return "bits were set that are always 0"
        if before is not None and np.array_equal(before, words):
            return records_from_window(words)
        self._before[_key(chunk)] = words
        return _ONCE if before is None else "two readings differed"


def _key(chunk: Chunk) -> tuple[int, int, int]:
    return chunk.device, chunk.memory, chunk.number


def _addresses(chunk: Chunk) -> Words:
    """Return the addresses of the chunk's window words, then that of its CRC, where the device has one."""
    words = WINDOW_WORDS * chunk.slots
    if chunk.crc is None:
        return np.arange(chunk.window, chunk.window + 4 * words, 4, dtype=np.uint32)
    addresses = np.arange(chunk.window, chunk.window + 4 * (words + 1), 4, dtype=np.uint32)
    addresses[-1] = chunk.crc
    return addresses


def _verify(words: Words) -> Records | str:
    """Return the records of a chunk's window words, or what is wrong; the last word is the device's CRC."""
    window = words[:-1]
    if not unused_bits_set(window):
        records = records_from_window(window)
        if chunk_crc(records) == int(words[-1]):
            return records
    return "CRC-32 did not match"
