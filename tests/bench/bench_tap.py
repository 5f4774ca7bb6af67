"""Speed of a card's tap: records of 64 bits to Ethernet frames with times, headers and FCS verdicts.

Memories are of 65,536 records, the largest a card has, one after another; a copy of memory far larger than any cache
stands beside. What is asked is 100 Mrecord/s of a core on which that copy runs at 20 GB/s, so it is asked as a ratio.
"""

from __future__ import annotations

import random
import time
import zlib
from functools import partial

import numpy as np

from freezeframe.capture.card.elaborated import elaborate
from freezeframe.capture.card.reading import read_card
from freezeframe.capture.card.recording import RecordedTap
from freezeframe.capture.card.shipped import shipped_cards
from freezeframe.decoders.tap.checked import GOOD, check_packets
from freezeframe.decoders.tap.stream import Workspace, decode_tap
from tests.bench.common import FAST_COPY_B_S, BenchResult, copied_B_s, main, median_s
from tests.campaign.card_model import frame

DEPTH = 65_536
MEMORIES = 24
MEGA = 1e6
ASKED = 100e6 * 9 / FAST_COPY_B_S  # records of 9 B a second, of the copy's bytes a second
core_s = partial(median_s, clock=time.process_time)


def memory(
    chance: random.Random, sizes: tuple[int, int]
) -> tuple[np.ndarray[tuple[int, ...], np.dtype[np.uint8]], int]:
    """Return a full memory of whole frames back to back, closed by TIME, and how many there are."""
    rows: list[bytes] = []
    frames = 0
    while True:
        data = frame(chance, frames, chance.randint(*sizes))
        words = [data[at : at + 8] for at in range(0, len(data), 8)]
        if len(rows) + len(words) >= DEPTH:
            break
        for number, word in enumerate(words):
            kind, shown = (1 if number == 0 else 2), word
            if number == len(words) - 1:
                kind = 3
                if len(word) < 8:
                    kind, shown = 5, word.ljust(7, b"\0") + bytes([(1 << len(word)) - 1])
            rows.append(shown + bytes([kind | 1 << 4]))
        frames += 1
    for cycle in range(1 << 30, (1 << 30) + DEPTH - len(rows)):
        rows.append(cycle.to_bytes(8, "little") + b"\x1f")
    return np.frombuffer(b"".join(rows), np.uint8).reshape(-1, 9).copy(), frames


def bench_ethernet(name: str, sizes: tuple[int, int], asked: float | None) -> BenchResult:
    """Frames with verdicts, headers and times of many memories, beside a copy of them."""
    card = elaborate(read_card(shipped_cards()["ethernet-axis-64"]))
    chance = random.Random(4)
    made = [memory(chance, sizes) for _ in range(4)]
    taps = [RecordedTap(card.taps[0], (records,), 0, wrapped=True) for records, _ in made]
    space = Workspace()

    def ours() -> int:
        good = 0
        for n in range(MEMORIES):
            checked = check_packets(card.said, decode_tap(taps[n % 4], space))
            good += int((checked.verdict == GOOD).sum())
        return good

    # The first frame of a wrapped memory is not known to begin there, except by its HEAD.
    if ours() != sum(made[n % 4][1] for n in range(MEMORIES)):
        raise AssertionError("frames were lost, or found bad")
    one = check_packets(card.said, decode_tap(taps[0]))
    data = one.content(1)
    if zlib.crc32(data[:-4]).to_bytes(4, "little") != data[-4:]:
        raise AssertionError("zlib finds another FCS")
    rate, copied = MEMORIES * DEPTH / core_s(ours), copied_B_s()
    against = f"memory copy, {copied / 1e9:.1f} GB/s (limit)"
    return BenchResult(name, rate / MEGA, "Mrecord/s", 9 * rate / copied, against, asked)


def run() -> list[BenchResult]:
    """Run all; a few seconds."""
    return [
        bench_ethernet("Ethernet of a 64-bit tap, 1,000-1,518 B", (1000, 1518), ASKED),
        bench_ethernet("Ethernet of a 64-bit tap, 64-1,518 B", (64, 1518), ASKED),
        bench_ethernet("Ethernet of a 64-bit tap, 64-128 B", (64, 128), None),
    ]


if __name__ == "__main__":
    main(run)
