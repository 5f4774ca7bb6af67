"""Reads of a transmit DMA engine from its event log: request, split wait, data, retries, disconnects.

A message is one read, or several where the bus retries or disconnects it. The engine works on one message at a
time, so what stands between two DESC ``done`` belongs to the second of them.

Source: docs/formats.md section 4; PCI-X Addendum 1.0b for Split Transactions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from freezeframe.analyzers.dma.interrupts import LogRow
from freezeframe.capture.registers.layouts import (
    DESC_VALUE_FLAGS_LSB,
    DESC_VALUE_FLAGS_MASK,
    DESC_VALUE_LENGTH_MASK,
    DESC_VALUE_SEQ_LSB,
    DESC_VALUE_SEQ_MASK,
    MACHINE_STATE_NAMES,
    STATE_VALUE_NEW_LSB,
    STATE_VALUE_NEW_MASK,
    Kind,
    PacketFlag,
)

_ENGINE = "tx_dma"
_LENGTH = DESC_VALUE_LENGTH_MASK
_HEADS = 2  # words that enter the FIFO before the first word of data


@dataclass(frozen=True, slots=True)
class Read:
    """How one message was fetched; bus cycles, None where the log does not hold it.

    Attributes:
        fetch: the engine took the descriptor and asked for room and the bus.
        request: the (first) read was accepted: the split wait began.
        data: the first word of data crossed the bus.
        done: the packet stood whole in the outgoing FIFO.
        split_cycles: each split wait, from the accepted request to the completion on the bus.
        overlapped: another read was asked for before this one was answered; its own times are not known.
        certain: no event of it was lost.
    """

    row: int
    t_ps: int
    seq: int
    flow: int
    length_words: int
    flags: int
    fetch: int | None
    request: int | None
    data: int | None
    done: int
    split_cycles: tuple[int, ...]
    retries: int
    disconnects: int
    overlapped: bool
    certain: bool

    @property
    def from_host(self) -> bool:
        """It was read over the bus: patterns and injected packets are made in the card."""
        return bool(self.length_words) and not self.flags & (
            PacketFlag.PATTERN | PacketFlag.INJECTED
        )

    @property
    def is_smooth(self) -> bool:
        """One read brought all data."""
        return (
            self.from_host
            and self.certain
            and not self.retries
            and not self.disconnects
            and not self.overlapped
            and len(self.split_cycles) == 1
        )

    @property
    def arbitration_cycles(self) -> int | None:
        """From the descriptor being taken to the accepted request: arbitration, protocol, and any wait for
        room in the FIFO or for the bus."""
        return _between(self.fetch, self.request)

    @property
    def first_word_cycles(self) -> int | None:
        """From the accepted request to the first word of data."""
        return _between(self.request, self.data)

    @property
    def start_cycles(self) -> int | None:
        """From the descriptor being taken to the first word of data."""
        return _between(self.fetch, self.data)

    @property
    def cycles(self) -> int | None:
        """From the descriptor being taken to the last word of data, of a smooth read: a word a cycle."""
        start = self.start_cycles
        return None if start is None or not self.is_smooth else start + self.length_words


def reads_in(rows: Sequence[LogRow]) -> tuple[Read, ...]:
    """Return the reads of one device's event log, LOSS among its rows; those that its ends cut are left out."""
    done = [at for at, row in enumerate(rows) if _is_done(row)]
    return tuple(_judge(rows[a : b + 1]) for a, b in pairwise(done))


def _is_done(row: LogRow) -> bool:
    return row.kind == Kind.DESC.name and row.code == "done"


def _judge(rows: Sequence[LogRow]) -> Read:
    """Return the read that ends with the last of the rows; the first is the ``done`` before it."""
    done = rows[-1]
    fetch: int | None = None
    request: int | None = None
    data: int | None = None
    splits: list[int] = []
    asked: int | None = None
    retries = disconnects = 0
    certain, overlapped = True, False
    # A log of one cycle is in the order of the machine: its state changes before the event is told.
    for row in rows[1:]:
        if row.kind == Kind.LOSS.name:
            certain = False
        elif row.kind == Kind.STATE.name and row.code == _ENGINE:
            state = _new_state(row)
            if state == "fetch" and fetch is None:
                fetch = row.cycle
            elif state == "split_wait":
                overlapped = (
                    overlapped or asked is not None or (data is not None and not disconnects)
                )
                asked = row.cycle
                request = row.cycle if request is None else request
            elif state == "data" and asked is not None:
                splits.append(row.cycle - asked)
                asked = None
        elif row.kind == Kind.DESC.name:
            if row.code == "started":
                data = row.cycle + _HEADS
            elif row.code == "retried":
                retries += 1
            elif row.code == "disconnected":
                disconnects += 1
    # A read that was asked for while another was under way has its request in that one's piece.
    overlapped = overlapped or (data is not None and request is None and done.value & _LENGTH > 0)
    return Read(
        row=done.row,
        t_ps=done.t_ps,
        seq=done.value >> DESC_VALUE_SEQ_LSB & DESC_VALUE_SEQ_MASK,
        flow=done.flow,
        length_words=done.value & _LENGTH,
        flags=done.value >> DESC_VALUE_FLAGS_LSB & DESC_VALUE_FLAGS_MASK,
        fetch=None if overlapped else fetch,
        request=None if overlapped else request,
        data=data,
        done=done.cycle,
        split_cycles=() if overlapped else tuple(splits),
        retries=retries,
        disconnects=disconnects,
        overlapped=overlapped,
        certain=certain,
    )


def _new_state(row: LogRow) -> str:
    return _state_name(row.value >> STATE_VALUE_NEW_LSB & STATE_VALUE_NEW_MASK)


def _state_name(number: int) -> str:
    return MACHINE_STATE_NAMES[number] if number < len(MACHINE_STATE_NAMES) else ""


def _between(begin: int | None, end: int | None) -> int | None:
    return None if begin is None or end is None else end - begin
