"""What a card did on its PCI-X bus, by the decoder ``pcix``, and what the card's own recorder says of the same.

Source: PCI-X Addendum 1.0b, chapter 2; docs/formats.md sections 5 and 8; docs/pcix-card.md.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import freezeframe as ff
from freezeframe.decoders.trace.decode import Trace

BASE0, BASE1 = 1 << 40, (1 << 40) + (1 << 24)
NOTES = 0x7F_0000_0000
CARD, BRIDGE = "01:04.0", "00:00.0"
MASK64 = (1 << 64) - 1
Row = dict[Hashable, Any]


@dataclass
class Bus:
    """One bus: its transactions, what is wrong with them, and what they carried to and from the card.

    ``read`` and ``written`` have (address, word of 64 bits) in the order of the bus, ``clock`` of each the clock of its
    data phase; ``asked`` the codes of docs/formats.md that the card's log should hold of its reads.
    """

    rows: list[Row]
    errors: list[Row]
    splits: list[Row]
    read: list[tuple[int, int]] = field(default_factory=list)
    read_clock: list[int] = field(default_factory=list)
    written: list[tuple[int, int]] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)
    descriptors: list[tuple[int, int, int, int]] = field(default_factory=list)
    """Source, destination, words, type of each that was posted."""


def decode_bus(path: Path) -> Bus:
    """Decode the waveform of a bus."""
    tables = ff.decode(str(path), "pcix")
    rows = tables["pcix.transactions"].to_dict("records")
    splits = tables["pcix.splits"].to_dict("records")
    starts = _clock_starts(path)
    phases = tables["pcix.phases"]
    clocks = np.searchsorted(starts, phases["sample"].to_numpy())
    of_data = phases[phases["kind"] == "data"]
    by_transaction = {
        number: list(group)
        for number, group in pd.Series(clocks[of_data.index], index=of_data["transaction"]).groupby(
            level=0
        )
    }
    bus = Bus(
        [row for row in rows if row["kind"] == "transaction"],
        [row for row in (*rows, *splits) if row["kind"] == "error"],
        splits,
    )
    at: dict[int, int] = {}  # where the data of an open read goes on
    for row in bus.rows:
        _follow(bus, row, by_transaction.get(row["transaction"], []), at)
    return bus


def _clock_starts(path: Path) -> Any:
    """Return the time in ps of each rising edge: what a phase's ``sample`` counts in such a file."""
    rises, now = [], 0
    with path.open() as file:
        for line in file:
            if line[0] == "#":
                now = int(line[1:])
            elif line == "1c\n":
                rises.append(now)
    return np.array(rises)


def _words(row: Row) -> list[tuple[int, int, int]]:
    """Return (place in 32-bit words, word of 32 bits, number of its data phase) of what a transaction carried."""
    words = []
    place = int(row["address"]) >> 2 & 1 if row["wide"] else 0
    skip = place
    count = 0
    for number, value in enumerate(map(int, row["data"])):
        halves = (
            [value & 0xFFFFFFFF, value >> 32 & 0xFFFFFFFF] if row["wide"] else [value & 0xFFFFFFFF]
        )
        for half in halves:
            if skip:
                skip -= 1
                continue
            if 4 * count < row["size_B"]:
                words.append((count, half, number))
            count += 1
    return words


def _follow(bus: Bus, row: Row, clocks: Sequence[int], at: dict[int, int]) -> None:
    command, address = row["command"], int(row["address"]) & MASK64
    words = [] if row["data"] is None else _words(row)
    if command == "memory-read-block" and row["requester"] == CARD:
        bus.asked.append("requested")
        if row["termination"] == "retry":
            bus.asked.append("retried")
        elif row["termination"] == "split":
            at[row["tag"]] = address
        elif words:
            _put(bus.read, bus.read_clock, address, words, clocks)
            if row["size_B"] < row["byte_count"]:
                bus.asked.append("disconnected")
    elif command == "split-completion" and row["requester"] == CARD and not row["status"]:
        begin = at[row["tag"]]
        _put(bus.read, bus.read_clock, begin, words, clocks)
        at[row["tag"]] = begin + row["size_B"]
    elif command == "memory-write-block" and row["requester"] == CARD:
        _put(bus.written, [], address, words, clocks)
    elif command == "memory-write-block" and BASE1 <= address < BASE1 + 0x100 and len(words) == 4:
        low, high, dest, last = (word for _, word, _ in words)
        bus.descriptors.append((high << 32 | low, dest, last & 0x3FF, address >> 4 & 15))


def _put(
    out: list[tuple[int, int]], when: list[int], begin: int, words: Sequence[tuple[int, int, int]],
    clocks: Sequence[int],
) -> None:  # fmt: skip
    """Add words of 64 bits, of which a half may have come in the transaction before."""
    for place, half, number in words:
        address = begin + 4 * place
        if address & 4:
            (low_at, low) = out.pop()
            assert low_at == address - 4, "the upper half of a word without its lower one"
            out.append((low_at, half << 32 | low))
        else:
            out.append((address, half))
            when.append(clocks[number])


def tap_words(trace: Trace, tap: str, kind: str = "BODY") -> list[int]:
    """Return the words of a kind at a tap, in order."""
    words = trace.words[(trace.words["source"] == tap) & (trace.words["kind"] == kind)]
    return [int(value) & MASK64 for value in words["data"]]


def tap_cycles(trace: Trace, tap: str) -> list[int]:
    """Return the bus cycles of the payload words at a tap."""
    words = trace.words[(trace.words["source"] == tap) & (trace.words["kind"] == "BODY")]
    return [int(value) for value in words["cycle"]]


def read_codes(trace: Trace, device: str) -> list[str]:
    """Return what a card's log says of the reads of its transmit DMA."""
    events = trace.events[(trace.events["device"] == device) & (trace.events["kind"] == "DESC")]
    return [code for code in events["code"] if code in ("requested", "retried", "disconnected")]


def place_of(part: Sequence[Any], whole: Sequence[Any]) -> int:
    """Return where a sequence stands in another whole and unbroken, the last place of several; -1: nowhere."""
    for place in range(len(whole) - len(part), -1, -1):
        if list(whole[place : place + len(part)]) == list(part):
            return place
    return -1
