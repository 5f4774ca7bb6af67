"""An 8b/10b line in plain Python, bit by bit, from the standard's own tables; it shares no code with the decoder.

Written as IEEE 802.3-2018 36.2.4 has it: 5B/6B and 3B/4B sub-blocks with both columns, the rule of
running disparity for each sub-block, and the flow of the synchronization state diagram of figure 36-9.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np

from freezeframe.capture.files.edges import Edges

# Table of 5B/6B sub-blocks, abcdei: (current RD -, current RD +).
FIVE_SIX = {
    0: ("100111", "011000"), 1: ("011101", "100010"), 2: ("101101", "010010"),
    3: ("110001", "110001"), 4: ("110101", "001010"), 5: ("101001", "101001"),
    6: ("011001", "011001"), 7: ("111000", "000111"), 8: ("111001", "000110"),
    9: ("100101", "100101"), 10: ("010101", "010101"), 11: ("110100", "110100"),
    12: ("001101", "001101"), 13: ("101100", "101100"), 14: ("011100", "011100"),
    15: ("010111", "101000"), 16: ("011011", "100100"), 17: ("100011", "100011"),
    18: ("010011", "010011"), 19: ("110010", "110010"), 20: ("001011", "001011"),
    21: ("101010", "101010"), 22: ("011010", "011010"), 23: ("111010", "000101"),
    24: ("110011", "001100"), 25: ("100110", "100110"), 26: ("010110", "010110"),
    27: ("110110", "001001"), 28: ("001110", "001110"), 29: ("101110", "010001"),
    30: ("011110", "100001"), 31: ("101011", "010100"),
}  # fmt: skip
K28 = ("001111", "110000")
# Table of 3B/4B sub-blocks, fghj.
THREE_FOUR = {
    0: ("1011", "0100"), 1: ("1001", "1001"), 2: ("0101", "0101"), 3: ("1100", "0011"),
    4: ("1101", "0010"), 5: ("1010", "1010"), 6: ("0110", "0110"), 7: ("1110", "0001"),
}  # fmt: skip
SEVEN_ALTERNATE = ("0111", "1000")
# K.x.y takes other neutral forms, so that K28.1, .2, .5, .6 differ from D28 in both columns.
K_THREE_FOUR = {
    0: ("1011", "0100"), 1: ("0110", "1001"), 2: ("1010", "0101"), 3: ("1100", "0011"),
    4: ("1101", "0010"), 5: ("0101", "1010"), 6: ("1001", "0110"), 7: SEVEN_ALTERNATE,
}  # fmt: skip
K_CODES = (*((28, y) for y in range(8)), (23, 7), (27, 7), (29, 7), (30, 7))
COMMAS = ("0011111", "1100000")


def after(bits: str, rd: int) -> int:
    """Return the running disparity (0: negative, 1: positive) after a sub-block: 36.2.4.4."""
    ones, zeros = bits.count("1"), bits.count("0")
    if ones > zeros or bits in ("000111", "0011"):
        return 1
    if zeros > ones or bits in ("111000", "1100"):
        return 0
    return rd


def encode(x: int, y: int, k: bool, rd: int) -> tuple[str, int]:
    """Return the ten bits of Dx.y or Kx.y and the running disparity after them."""
    six = K28[rd] if k and x == 28 else FIVE_SIX[x][rd]
    middle = after(six, rd)
    if k:
        four = K_THREE_FOUR[y][middle]
    else:
        four = THREE_FOUR[y][middle]
        # The primary form would make a run of five with the last bits of the six.
        if y == 7 and (six + four).find("11111" if middle == 0 else "00000") >= 0:
            four = SEVEN_ALTERNATE[middle]
    return six + four, after(four, middle)


def legal(rd: int) -> dict[str, tuple[int, int, bool]]:
    """Return all groups of one column: bits -> (x, y, k)."""
    found = {encode(x, y, False, rd)[0]: (x, y, False) for x in range(32) for y in range(8)}
    found |= {encode(x, y, True, rd)[0]: (x, y, True) for x, y in K_CODES}
    return found


COLUMNS = (legal(0), legal(1))


def line_bits(symbols: Iterable[tuple[int, bool]], rd: int = 0) -> str:
    """Return the bits of symbols given as (byte, k)."""
    bits = []
    for byte, k in symbols:
        group, rd = encode(byte & 31, byte >> 5, k, rd)
        bits.append(group)
    return "".join(bits)


def draw(
    bits: str,
    samples_a_bit: float,
    *,
    samplerate_hz: int = 10**9,
    name: str = "D",
    phase: float = 0.0,
    drift: float = 0.0,
) -> Edges:
    """Sample a line that carries ``bits``: bit i ends at ``phase + (i + 1) * samples_a_bit``, which grows by
    ``drift`` of itself from the first bit to the last."""
    count = len(bits)
    lengths = samples_a_bit * (1 + drift * np.arange(count) / max(1, count))
    ends = np.ceil(np.cumsum(lengths) + phase).astype(np.int64)
    level = np.frombuffer(bits.encode(), np.uint8) - ord("0")
    sample = np.concatenate(([0], ends[:-1]))
    keep = np.concatenate(([True], level[1:] != level[:-1]))
    return Edges(
        sample[keep], level[keep].astype(np.uint64), (name, ""), samplerate_hz, 0, int(ends[-1])
    )


@dataclass
class Reader:
    """The decoder that the standard describes, on a string of bits. Rows: (first bit, name, error, rd, synced)."""

    sync_commas: int = 3
    always: bool = False
    rows: list[tuple[int, str, str, int, bool]] = field(default_factory=list)
    events: list[tuple[int, str, int]] = field(default_factory=list)

    def read(self, bits: str) -> Reader:
        start, rd = -1, 0  # where the next group begins; -1 before alignment
        self.synced, self.commas, self.bad, self.good = False, 0, 0, 0
        for at in range(7, len(bits) + 1):
            # Groups that are complete come before a comma that is complete at the same bit.
            if start >= 0 and at - start == 10:
                rd = self._group(bits[start:at], start, rd)
                start = at
            if bits[at - 7 : at] in COMMAS and start != at - 7:
                if start < 0:
                    self.events.append((at - 7, "aligned", 0))
                else:
                    shift = (at - 7 - start) % 10
                    if self.synced and not self.always:
                        self.events.append((at - 7, "misaligned-comma", shift))
                        self._judge(True, False, at - 7)
                        continue
                    self.events.append((at - 7, "realigned", shift))
                start, self.commas = at - 7, 0
                rd = 0 if bits[at - 1] == "1" else 1
        if start < 0:
            self.events.append((len(bits), "no-comma", 0))
        elif start < len(bits):
            self.events.append((start, "cut-symbol", len(bits) - start))
        return self

    def _group(self, group: str, at: int, rd: int) -> int:
        x, y, k = COLUMNS[rd].get(group) or COLUMNS[1 - rd].get(group) or (-1, -1, False)
        error = "" if group in COLUMNS[rd] else "disparity" if x >= 0 else "code"
        self._judge(bool(error), group[:7] in COMMAS, at)
        rd = after(group[6:], after(group[:6], rd))
        name = f"{'K' if k else 'D'}{x}.{y}" if x >= 0 else ""
        self.rows.append((at, name, error, rd, self.synced))
        return rd

    def _judge(self, bad: bool, comma: bool, at: int) -> None:
        if not self.synced:
            self.commas = 0 if bad else self.commas + comma
            if self.commas == self.sync_commas:
                self.synced, self.bad, self.good = True, 0, 0
                self.events.append((at, "sync_found", 0))
        elif bad:
            self.bad, self.good = self.bad + 1, 0
            if self.bad == 4:
                self.synced, self.commas = False, 0
                self.events.append((at, "sync_lost", 0))
        elif self.bad:
            self.good += 1
            if self.good == 4:
                self.bad, self.good = self.bad - 1, 0


def damaged(bits: str, rng: np.random.Generator, flips: int, slips: int) -> str:
    """Return the bits with some flipped, some left out and some doubled."""
    listed = list(bits)
    for at in rng.integers(0, len(listed), flips).tolist():
        listed[at] = "1" if listed[at] == "0" else "0"
    for at in sorted(rng.integers(0, len(listed), slips).tolist(), reverse=True):
        if rng.random() < 0.5:
            del listed[at]
        else:
            listed.insert(at, listed[at])
    return "".join(listed)


def random_symbols(
    rng: np.random.Generator, count: int, comma_every: int
) -> list[tuple[int, bool]]:
    """Return random data with K28.5 in every so many symbols, and a few other K."""
    others = [x | y << 5 for x, y in K_CODES if (x, y) != (28, 7)]
    made: list[tuple[int, bool]] = []
    for i in range(count):
        if i % comma_every == 0:
            made.append((0xBC, True))
        elif rng.random() < 0.02:
            made.append((others[int(rng.integers(len(others)))], True))
        else:
            made.append((int(rng.integers(256)), False))
    return made


def longest_run(bits: str) -> int:
    """Return the length of the longest run of equal bits."""
    return max(len(run) for level in "01" for run in bits.split("1" if level == "0" else "0"))


def pieces(edges: Edges, cuts: Sequence[int]) -> list[Edges]:
    """Cut a capture at these samples; an empty last piece ends it."""
    stops = sorted({0, edges.end_sample, *(cut for cut in cuts if 0 < cut < edges.end_sample)})
    cut = []
    for begin, end in zip(stops, [*stops[1:], stops[-1]], strict=True):
        low, high = np.searchsorted(edges.sample, [begin, end])
        cut.append(
            Edges(edges.sample[low:high], edges.value[low:high], edges.channels,
                  edges.samplerate_hz, begin, end)
        )  # fmt: skip
    return cut
