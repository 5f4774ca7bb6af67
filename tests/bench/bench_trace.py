"""Speed of the trace kernels: unpacking, dating, packets with CRC verdicts, CRC-32 alone.

Every peer gives the same answer first. The records are far larger than any cache.
"""

from __future__ import annotations

import random
import time
import zlib
from functools import partial

import numpy as np
import numpy.typing as npt

from freezeframe.capture.registers.layouts import Kind
from freezeframe.decoders.trace import encode
from freezeframe.decoders.trace.crc_kernels import crc32
from freezeframe.decoders.trace.framing import TRUE, frame_records
from freezeframe.decoders.trace.kernels import Bytes, Unpacked, date_records, unpack_records
from tests.bench.common import BenchResult, main, median_s

RECORDS = 12_000_000
MEGA = 1e6
core_s = partial(median_s, clock=time.process_time)


def traffic(lengths: tuple[int, ...], packets: int = 400) -> tuple[Bytes, list[int]]:
    """Return over `RECORDS` records of good packets, and the payload lengths in their order.

    A block of ``packets`` different packets, repeated; the payload is random.
    """
    generator = random.Random(1)
    chosen = [generator.choice(lengths) for _ in range(packets)]
    rows = []
    for seq, length in enumerate(chosen):
        payload = [generator.getrandbits(64) for _ in range(length)]
        rows += [(w, k, 1) for k, w in encode.packet_words(1, 3, seq, 0x1000 * seq, payload)]
    block = np.frombuffer(encode.records(rows), np.uint8).reshape(-1, 9)
    times = -(-RECORDS // len(block) // 8) * 8  # a multiple of 8 blocks: no padded copy
    return np.tile(block, (times, 1)), chosen * times


def numpy_unpack(records: Bytes) -> Unpacked:
    """Unpack with numpy's own means: the peer."""
    data = np.ascontiguousarray(records[:, :8]).view(np.int64)[:, 0]
    last = records[:, 8]
    return Unpacked(data, np.bitwise_and(last, 15), np.right_shift(last, 4))


def bench_unpack(records: Bytes) -> list[BenchResult]:
    ours, theirs = unpack_records(records), numpy_unpack(records)
    if not (
        np.array_equal(ours.data, theirs.data)
        and np.array_equal(ours.kind, theirs.kind)
        and np.array_equal(ours.dt, theirs.dt)
    ):
        raise AssertionError("numpy unpacks the records to something else")
    del theirs
    n = len(records)
    target = np.empty_like(records)
    own_s = core_s(lambda: unpack_records(records, ours), repeats=9)
    fresh_s = core_s(lambda: unpack_records(records))
    peer_s = core_s(lambda: numpy_unpack(records))
    copy_s = core_s(lambda: np.copyto(target, records))
    rate = n / own_s / MEGA
    name, new = "72-bit records to columns", "72-bit records to columns in new memory"
    fresh = n / fresh_s / MEGA
    return [
        BenchResult(name, rate, "Mrecord/s", copy_s / own_s, "memory copy (limit)", 500, "value"),
        BenchResult(new, fresh, "Mrecord/s", peer_s / fresh_s, "numpy slices"),
    ]


def bench_frames(name: str, lengths: tuple[int, ...], asked: float | None) -> BenchResult:
    """Packets and verdicts, against zlib over payloads that are already found and contiguous."""
    records, expected = traffic(lengths)
    packets = frame_records(records)
    payload = np.ascontiguousarray(records[:, :8]).view(np.int64)[:, 0]
    kind = records[:, 8] & 15
    starts = packets["first_word"] + 2
    ends = starts + packets["body_words"]
    if packets["body_words"].tolist() != expected:
        raise AssertionError("packets were lost or cut in the wrong place")
    if not all((packets[v] == TRUE).all() for v in ("header_ok", "payload_ok", "length_ok")):
        raise AssertionError("a good packet failed a check")
    pieces = [payload[a:b].data for a, b in zip(starts.tolist(), ends.tolist(), strict=True)]
    tails = payload[kind == int(Kind.TAIL)]
    if [zlib.crc32(piece) for piece in pieces] != tails.tolist():
        raise AssertionError("zlib finds other CRCs")
    own_s = core_s(lambda: frame_records(records))
    peer_s = core_s(lambda: [zlib.crc32(piece) for piece in pieces])
    rate = len(records) / own_s / MEGA
    against = "zlib.crc32 of ready payloads, nothing else"
    return BenchResult(name, rate, "Mrecord/s", peer_s / own_s, against, asked, "value")


def bench_dates() -> BenchResult:
    """Dating, against a reversed cumulative sum (which knows no gap, TIME or dt of 15)."""
    generator = np.random.default_rng(2)
    dt = generator.integers(1, 15, RECORDS, dtype=np.uint8)
    kind = np.full(RECORDS, int(Kind.BODY), dtype=np.uint8)
    data = np.zeros(RECORDS, dtype=np.int64)
    kind[-1], data[-1] = int(Kind.TIME), 1 << 40
    columns, missing = Unpacked(data, kind, dt), np.zeros(RECORDS, dtype=np.int64)

    def peer() -> npt.NDArray[np.int64]:
        total = np.cumsum(dt, dtype=np.int64)
        total += (1 << 40) - int(total[-1])
        return total

    if not np.array_equal(date_records(columns, missing).cycle, peer()):
        raise AssertionError("numpy dates the records otherwise")
    own_s = core_s(lambda: date_records(columns, missing))
    peer_s = core_s(peer)
    rate = RECORDS / own_s / MEGA
    return BenchResult("dating records", rate, "Mrecord/s", peer_s / own_s, "numpy cumsum of dt")


def bench_crc() -> BenchResult:
    words = np.random.default_rng(3).integers(0, 1 << 64, 512, dtype=np.uint64)
    data = words.data
    if int(crc32(words)) != zlib.crc32(data):
        raise AssertionError("zlib finds another CRC")
    rounds = range(4000)
    own_s = core_s(lambda: [crc32(words) for _ in rounds])
    peer_s = core_s(lambda: [zlib.crc32(data) for _ in rounds])
    rate = words.nbytes * len(rounds) / own_s / 1e9
    return BenchResult("CRC-32 of 4 KiB", rate, "GB/s", peer_s / own_s, "zlib.crc32")


def run() -> list[BenchResult]:
    """Run all; about half a minute and 2 GB."""
    records, _ = traffic((512,))
    return [
        *bench_unpack(records),
        bench_frames("packets and verdicts, 4 KiB payloads", (512,), 100),
        bench_frames("packets and verdicts, 0-512 words mixed", (0, 1, 2, 8, 64, 512), 100),
        bench_frames("packets and verdicts, 1-word payloads", (1,), None),
        bench_dates(),
        bench_crc(),
    ]


if __name__ == "__main__":
    main(run)
