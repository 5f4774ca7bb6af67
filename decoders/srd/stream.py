"""A stack of sigrok decoders at work on a capture: edges in, annotations as columns out.

What goes into the lowest of them are samples here; `FedStream` (fed_stream.py) puts in the events of a
native decoder.
"""

from __future__ import annotations

import json
import mmap
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from freezeframe.capture.errors import FreezeframeError
from freezeframe.capture.files.edges import Edges
from freezeframe.decoders.srd.adapter import SrdStep
from freezeframe.decoders.srd.annotations import Annotations
from freezeframe.decoders.srd.expand import fill, packed
from freezeframe.decoders.srd.location import SrdLocation
from freezeframe.decoders.srd.process import SrdWorker
from freezeframe.decoders.worker import WorkerState

CHUNK_B = 1 << 20  # fits the cache of one core together with the next; larger is not faster
_COLUMNS = ("<i8", "<i8", "<i4", "<i4")  # start, end, class, number of the texts
CHUNKS = 4  # filled while the worker is busy with the one before


class SrdStream(WorkerState):
    """A stack with its worker, which starts with the first piece and ends with the last."""

    takes_samples = True

    def __init__(
        self,
        location: SrdLocation,
        steps: Sequence[SrdStep],
        channels: Sequence[str],
        *,
        timeout_s: float | None = None,
    ) -> None:
        """Prepare; ``channels`` are the ids of the lowest decoder, in the order of the edges."""
        self._location = location
        self._steps = steps
        self._channels = channels
        self._timeout_s = timeout_s
        self._what = f"sigrok decoder {'+'.join(step.id for step in steps)}"  # in messages
        self._worker: SrdWorker | None = None
        self._stopped = False
        self._bits: tuple[int, ...] = ()
        self._chunk: npt.NDArray[Any] | None = None  # (chunks, samples or numbers of one)
        self._held: Any = None
        self._filled = 0  # samples in the chunk that is being filled
        self._sent = 0  # chunks
        self._samples = 0  # samples in all chunks that were sent
        self._parts: list[tuple[npt.NDArray[Any], ...]] = []
        self._texts: list[str] = []  # wordings of all lists, one after the other
        self._ends: list[int] = []  # where in _texts each list ends
        self._base = 0  # of the worker's numbers of lists in _ends

    def feed(self, piece: Edges, *, last: bool) -> Annotations:
        """Decode a piece; what the decoder has found so far comes back, with ``last`` all of it.

        Raises:
            FreezeframeError: a decoder or its worker failed; the worker is gone.
            ValueError: the piece does not follow the one before.
        """
        try:
            if self._worker is None:
                self._open(piece)
            self._fill(piece, last=last)
            if last:
                self._send()
                while self._worker is not None and self._worker.waiting:
                    self._take()
                self.close()
        except BaseException:
            self.close()
            raise
        return self._found()

    def stop(self) -> None:
        """Kill the worker, also one that is just starting; a `feed` in another thread fails then."""
        self._stopped = True
        worker = self._worker
        if worker is not None:
            worker.kill()

    def close(self) -> None:
        """End the worker; nothing happens when there is none."""
        if self._worker is not None:
            # The view of the shared memory goes first: the worker's end closes its file.
            self._chunk = None
            self._worker.close()
            self._worker = None

    def _open(self, piece: Edges) -> None:
        self._bits = tuple(bit for bit, probe in enumerate(piece.channels) if probe)
        if not self._bits:
            raise FreezeframeError(
                f"sigrok decoder {self._steps[0].id}: no channel has a probe; "
                f"say one of {', '.join(self._channels)}"
            )
        unitsize_B = next(width for width in (1, 2, 4, 8) if 8 * width >= len(self._bits))
        self._held = np.uint64(0)
        channels = {self._channels[bit]: place for place, bit in enumerate(self._bits)}
        self._start(unitsize_B, piece.samplerate_hz, channels)

    def _start(self, unitsize_B: int, samplerate_hz: int, channels: Mapping[str, int]) -> None:
        """Start the worker and its stack; ``channels`` are the bits of the lowest decoder's."""
        self._worker = SrdWorker(
            self._location,
            self._what,
            memory_B=CHUNKS * CHUNK_B,
            timeout_s=self._timeout_s,
        )
        if self._stopped:  # before there was anything to kill
            self._worker.kill()
        memory = mmap.mmap(self._worker.memory_fd, CHUNKS * CHUNK_B)
        self._chunk = np.frombuffer(memory, dtype=f"<u{unitsize_B}").reshape(CHUNKS, -1)
        self._worker.ask(
            {
                "do": "open",
                "memory_fd": self._worker.memory_fd,
                "memory_B": CHUNKS * CHUNK_B,
                "unitsize_B": unitsize_B,
                "samplerate_hz": samplerate_hz,
                "stack": [
                    {
                        "id": step.id,
                        "options": dict(step.options),
                        "channels": dict(channels) if level == 0 else {},
                    }
                    for level, step in enumerate(self._steps)
                ],
            },
            "starting the decoders",
        )
        self._worker.answer()

    def _fill(self, piece: Edges, *, last: bool) -> None:
        _, chunk = self._working()
        size = chunk.shape[1]
        value = packed(piece.value, self._bits)
        done = 0
        at = self._samples + self._filled
        if at != piece.begin_sample:
            raise ValueError(f"a piece that begins at sample {piece.begin_sample}, not {at}")
        while at < piece.end_sample:
            count = min(size - self._filled, piece.end_sample - at)
            if not self._filled:
                self._wait_for_room()
            out = chunk[self._sent % CHUNKS, self._filled : self._filled + count]
            used, self._held = fill(out, at, piece.sample[done:], value[done:], self._held)
            done += used
            at += count
            self._filled += count
            if self._filled == size:
                self._send()

    def _send(self) -> None:
        if not self._filled:
            return
        worker, chunk = self._working()
        begin = self._samples
        self._samples += self._filled
        worker.ask(
            {
                "do": "samples",
                "begin_sample": begin,
                "end_sample": self._samples,
                "offset_B": self._sent % CHUNKS * chunk.strides[0],
            },
            f"samples {begin} to {self._samples}",
        )
        self._sent += 1
        self._filled = 0

    def _wait_for_room(self) -> None:
        worker, _ = self._working()
        while worker.waiting >= CHUNKS:
            self._take()

    def _working(self) -> tuple[SrdWorker, npt.NDArray[Any]]:
        if self._worker is None or self._chunk is None:
            raise ValueError("the stream has ended; a new capture needs a new one")
        return self._worker, self._chunk

    def _take(self) -> None:
        header, payload = self._working()[0].answer()
        count = header["rows"]
        columns = []
        at = 0
        for kind, size in (*((kind, count) for kind in _COLUMNS), ("<i4", header["texts"])):
            columns.append(np.frombuffer(payload, dtype=kind, count=size, offset=at))
            at += columns[-1].nbytes
        sizes = columns.pop()
        columns[3] = columns[3] + np.int32(self._base)
        self._ends += (np.cumsum(sizes) + len(self._texts)).tolist()
        self._texts += json.loads(payload[at:])
        if count:
            self._parts.append(tuple(columns))
        if header["texts_restart"]:
            self._base = len(self._ends)

    def _found(self) -> Annotations:
        empty = tuple(np.zeros(0, dtype=kind) for kind in _COLUMNS)
        start, end, ann_class, text = (
            np.concatenate(columns) for columns in zip(empty, *self._parts, strict=True)
        )
        ends = np.array(self._ends, dtype=np.int32)
        given = Annotations(start, end, ann_class, text, self._texts, ends)
        self._parts = []
        # Texts that the worker has forgotten are not named again.
        if self._base:
            forgotten = self._ends[self._base - 1]
            self._texts = self._texts[forgotten:]
            self._ends = [end - forgotten for end in self._ends[self._base :]]
        self._base = 0
        return given
