# SPDX-FileCopyrightText: The Freezeframe authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""An 8b/10b lane without sigrok: edges to runs of bits, runs to symbols. Also used by ff_link.

Source: IEEE 802.3-2018 36.2.4 and 36.2.5.2.6; ANSI X3.230 (FC-PH) clause 11.
"""

from __future__ import annotations

from typing import Any

Run = tuple[int, int, int, int]  # level, bits, first sample, end sample
Item = tuple[Any, ...]

SILENCE = 21  # so many equal bits are no signal

_SIX = tuple(
    six
    for line in (
        "100111 011101 101101 110001 110101 101001 011001 111000",
        "111001 100101 010101 110100 001101 101100 011100 010111",
        "011011 100011 010011 110010 001011 101010 011010 111010",
        "110011 100110 010110 110110 001110 101110 011110 101011",
    )
    for six in line.split()
)
_FOUR = ("1011", "1001", "0101", "1100", "1101", "1010", "0110", "1110")
_K_NEGATIVE = {
    0x1C: 0x0F4, 0x3C: 0x0F9, 0x5C: 0x0F5, 0x7C: 0x0F3, 0x9C: 0x0F2, 0xBC: 0x0FA,
    0xDC: 0x0F6, 0xFC: 0x0F8, 0xF7: 0x3A8, 0xFB: 0x368, 0xFD: 0x2E8, 0xFE: 0x1E8,
}  # fmt: skip


def name(byte: int, k: bool) -> str:
    """Return the standard's name of a symbol."""
    return f"{'K' if k else 'D'}{byte & 31}.{byte >> 5}"


def _after(bits: str, rd: int) -> int:
    """Return the running disparity (0 negative, 1 positive) after a sub-block."""
    ones = bits.count("1")
    if 2 * ones != len(bits):
        return int(2 * ones > len(bits))
    return {"000111": 1, "0011": 1, "111000": 0, "1100": 0}.get(bits, rd)


def _inverse(bits: str) -> str:
    return "".join("10"[int(bit)] for bit in bits)


def _data(byte: int, rd: int) -> int:
    six, low = _SIX[byte & 31], byte & 31
    if rd and (six.count("1") != 3 or low == 7):
        six = _inverse(six)
    rd = _after(six, rd)
    four, high = _FOUR[byte >> 5], byte >> 5
    if high == 7 and low in ((11, 13, 14) if rd else (17, 18, 20)):
        four = "0111"
    if rd and (four.count("1") != 2 or high == 3):
        four = _inverse(four)
    return int(six + four, 2)


def _column(rd: int) -> dict[int, tuple[int, bool]]:
    column = {_data(byte, rd): (byte, False) for byte in range(256)}
    for byte, group in _K_NEGATIVE.items():
        column[group ^ (0x3FF if rd else 0)] = (byte, True)
    return column


COLUMNS = (_column(0), _column(1))


class Runs:
    """Edges to runs. A call gives the runs that are known now.

    ``period`` is that of a bit in samples; of a run without bits the end is where the next begins.
    """

    def __init__(self, period: float) -> None:
        self.period = round(period * (1 << 20))
        self.silence = SILENCE * self.period >> 20
        self.level: int | None = None
        self.edge = 0
        self.start: int | None = None  # of the run before, until the one after it is no glitch
        self.silent = False

    def bits(self, length: int) -> int:
        return ((length << 20) + (self.period >> 1)) // self.period

    def take(self, at: int, level: int) -> list[Run]:
        if level == self.level:
            return []
        if self.level is None:
            self.level, self.edge = level, at
            return [(level, 0, at, at)]
        runs = self.before(at)
        if self.silent:
            runs.append((self.level, 0, at, at))
            self.silent, self.start = False, None
        elif not self.bits(at - self.edge):
            if self.start is not None:
                at = self.start
            self.start = None
        else:
            runs += self._pending()
            self.start = self.edge
        self.level, self.edge = level, at
        return runs

    def before(self, at: int) -> list[Run]:
        """Give what is known at ``at`` although the level lasts: silence."""
        if self.silent or at - self.edge <= self.silence:
            return []
        runs = self._pending()
        self.start, self.silent = None, True
        return [*runs, (self.level or 0, SILENCE, self.edge, self.edge + self.silence)]

    def _pending(self) -> list[Run]:
        if self.start is None:
            return []
        return [(1 - (self.level or 0), self.bits(self.edge - self.start), self.start, self.edge)]


class Lane:
    """Runs to symbols and events, as tuples:

    ("symbol", first sample, end sample, byte, k, error, rd, fresh), error being "", "disparity" or "code";
    ("event", sample, sample, text, value).
    """

    def __init__(self, sync_commas: int = 3, always: bool = False) -> None:
        self.sync_commas, self.always = sync_commas, always
        self.latest = 0  # bits, the last one as bit 0
        self.held = 0
        self.aligned = self.synced = self.fresh = False
        self.start = self.commas = self.bad = self.good = self.rd = 0
        self.before = (0, 0, 0)  # bits, first and end sample of the run before

    def take(self, level: int, n: int, begin: int, end: int) -> list[Item]:
        out: list[Item] = []
        bits_before, start_before, end_before = self.before
        self.before = (n, begin, end)
        if n == 0:
            if bits_before == SILENCE:
                self.before = (SILENCE, end - (end_before - start_before), end)
            return out
        if n >= SILENCE:
            if self.aligned and self.held:
                missing = 10 - self.held
                self._shift(level, missing)
                self._symbols(begin, end, n, missing, out)
            if self.synced:
                out.append(("event", begin, begin, "sync_lost", 0))
            if self.aligned:
                out.append(("event", begin, begin, "no-signal", 0))
            self.aligned = self.synced = False
            self.commas = self.held = 0
            self.latest = 0x3FF if level else 0
            return out
        first = 0
        if n >= 5 and bits_before >= 2:
            first = 5
            self._shift(level, 5)
            self._symbols(begin, end, n, 5, out)
            if not self.aligned or self.held != 7:
                self._comma(level, begin - (begin - start_before) * 2 // bits_before, out)
        self._shift(level, n - first)
        self._symbols(begin, end, n, n, out)
        return out

    def _shift(self, level: int, n: int) -> None:
        self.latest = (self.latest << n | ((1 << n) - 1) * level) & 0xFFFFFFFF
        self.held += n

    def _comma(self, level: int, at: int, out: list[Item]) -> None:
        if self.aligned:
            shift = (self.held - 7) % 10
            if self.synced and not self.always:
                out.append(("event", at, at, "misaligned-comma", shift))
                self._judge(True, False, at, out)
                return
            out.append(("event", at, at, "realigned", shift))
        else:
            out.append(("event", at, at, "aligned", 0))
        self.aligned = self.fresh = True
        self.held, self.commas, self.start = 7, 0, at
        self.rd = 1 - level

    def _symbols(self, begin: int, end: int, n: int, taken: int, out: list[Item]) -> None:
        while self.aligned and self.held >= 10:
            self.held -= 10
            group = self.latest >> self.held & 0x3FF
            here, other = COLUMNS[self.rd].get(group), COLUMNS[1 - self.rd].get(group)
            error = "" if here else "disparity" if other else "code"
            byte, k = here or other or (0, False)
            bits = f"{group:010b}"
            self.rd = _after(bits[6:], _after(bits[:6], self.rd))
            self._judge(bool(error), group >> 3 in (0b0011111, 0b1100000), self.start, out)
            at = begin + (end - begin) * (taken - self.held) // n
            out.append(("symbol", self.start, at, byte, k, error, self.rd, self.fresh))
            self.start, self.fresh = at, False

    def _judge(self, bad: bool, comma: bool, at: int, out: list[Item]) -> None:
        if not self.synced:
            self.commas = 0 if bad else self.commas + comma
            if self.commas >= self.sync_commas:
                self.synced = True
                self.bad = self.good = self.commas = 0
                out.append(("event", at, at, "sync_found", 0))
        elif bad:
            self.bad, self.good = self.bad + 1, 0
            if self.bad == 4:
                self.synced = False
                self.commas = self.bad = 0
                out.append(("event", at, at, "sync_lost", 0))
        elif self.bad:
            self.good += 1
            if self.good == 4:
                self.bad, self.good = self.bad - 1, 0
