"""Captures of a pair of cards, written word by word: every tap's words are lists that a test may alter.

Knows nothing of the emulated cards. Records, dates and packets are made here from docs/formats.md, with
the standard library's CRCs.
"""

from __future__ import annotations

import binascii
import random
import zlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from freezeframe.capture.folder import (
    CaptureFolder,
    CaptureWriter,
    DeviceCapture,
    Gap,
    MemoryImage,
    RegisterImage,
)
from freezeframe.capture.registers.identity import Identity
from freezeframe.capture.registers.map_table import MAP_HASH

HEAD, BODY, TAIL = 1, 2, 3
TAPS = ("tx_enq", "tx_deq", "rx_enq", "rx_deq")
KINDS = {"CREDIT": 4, "DESC": 5, "NOTE": 6, "IRQ": 7, "STATE": 8, "PRESSURE": 9, "LINK": 10, "LOSS": 14}  # fmt: skip
CODES = {
    "CREDIT": {"sent": 1, "taken": 2, "refused_parity": 3, "refused_crc": 4},
    "PRESSURE": {"begin": 1, "end": 2},
    "STATE": {"tx_dma": 0, "rx_dma": 1, "tx_link": 2, "rx_link": 3},
    "DESC": {
        "posted": 1,
        "started": 2,
        "done": 3,
        "retried": 4,
        "disconnected": 5,
        "posting": 6,
        "requested": 7,
    },
    "NOTE": {"local": 1, "remote": 2},
    "IRQ": {"raised": 1, "masked": 2, "enabled": 3},
    "LINK": {"idle_inserted": 1, "trained": 5, "underflow": 6, "overflow": 7},
    "LOSS": {"": 0},
}
CAUSES: tuple[str, ...] = ("host", "trigger", "hdr-crc", "pay-crc", "length", "credit-parity")
CAUSES += ("credit-stall", "rx-ovf", "tx-ovf", "sync-unf", "sequence", "cross")
BUS_PS, LINK_PS = 10_000, 12_800
MASK64 = (1 << 64) - 1

Word = tuple[int, int]
"""Kind and data."""


def header(flow: int, length: int, seq: int, dest: int, type: int = 1, flags: int = 0) -> int:
    """Return a header word with the right CRC-16 over its bytes 0-5 and the address."""
    word = type | flags << 4 | flow << 8 | length << 16 | seq << 32
    covered = word.to_bytes(8, "little")[:6] + dest.to_bytes(8, "little")
    return word | binascii.crc_hqx(covered, 0xFFFF) << 48


def tail(payload: Sequence[int]) -> int:
    """Return the TAIL word of a payload."""
    return zlib.crc32(b"".join(word.to_bytes(8, "little") for word in payload))


def words_of(flow: int, seq: int, payload: Sequence[int], dest: int, type: int = 1) -> list[Word]:
    """Return a whole packet as it crosses a tap."""
    return [
        (HEAD, header(flow, len(payload), seq, dest, type)),
        (HEAD, dest),
        *((BODY, word) for word in payload),
        (TAIL, tail(payload)),
    ]


@dataclass
class Crossing:
    """One packet and what each of the four taps saw of it; a test alters the lists.

    ``lag_ps``: how long it waited in the receiver's FIFO.
    """

    sender: str
    flow: int
    seq: int
    tx_enq: list[Word]
    tx_deq: list[Word]
    rx_enq: list[Word]
    rx_deq: list[Word]
    gap_ps: int = 0
    lag_ps: int = 200_000

    def from_tap(self, tap: str) -> list[list[Word]]:
        """Return the lists of a tap and all after it, to be altered alike."""
        return [getattr(self, name) for name in TAPS[TAPS.index(tap) :]]


@dataclass
class _Event:
    t_ps: int
    kind: str
    data: int


@dataclass
class Pair:
    """Two cards A and B and what was recorded of them. Depths in records, FIFOs in words."""

    seed: int = 1
    depth: int = 2048
    rx_fifo: int = 2048
    credit_unit: int = 64
    crossings: list[Crossing] = field(default_factory=list)
    registers: dict[str, dict[str | tuple[str | int, ...], int]] = field(default_factory=dict)
    causes: dict[str, list[str]] = field(default_factory=dict)
    cause_cycle: dict[str, int] = field(default_factory=dict)
    keep: dict[tuple[str, str], slice] = field(default_factory=dict)
    gaps: dict[tuple[str, str], list[tuple[int, int]]] = field(default_factory=dict)
    unread: set[tuple[str | int, ...]] = field(default_factory=set)
    upsets: dict[tuple[str, str], list[tuple[int, int, int]]] = field(default_factory=dict)
    """Bits that are turned over when all is stored: a kind, which record of it, and the bit of that, 0-71."""
    post_ps: int = 2_000_000
    source: str = "emu:"
    apart: bool = False
    """Each is a target of its own, of one device."""
    link_ps: int = 400_000
    """How long a packet is on the link."""

    def __post_init__(self) -> None:
        self.random = random.Random(self.seed)
        self.events: dict[str, list[_Event]] = {"A": [], "B": []}
        self.times: dict[tuple[int, str], int] = {}
        self._seq = {"A": 100, "B": 5000}
        self._clock_ps = {"A": 50_000_000, "B": 50_400_000}

    def payload(self, length: int) -> list[int]:
        """Return random words."""
        return [self.random.getrandbits(64) for _ in range(length)]

    def next_number(self, sender: str, seq: int) -> None:
        """Number what the card sends from here on from ``seq``."""
        self._seq[sender] = seq

    def send(
        self,
        sender: str = "A",
        *,
        flow: int = 0,
        payload: Sequence[int] | None = None,
        length: int = 20,
        type: int = 1,
    ) -> Crossing:
        """Send a packet that crosses all four taps unharmed."""
        seq = self._seq[sender]
        self._seq[sender] = seq + 1 & 0xFFFF
        body = self.payload(length) if payload is None else payload
        words = words_of(flow, seq, body, self.random.getrandbits(40), type)
        crossing = Crossing(sender, flow, seq, list(words), list(words), list(words), list(words))
        self.crossings.append(crossing)
        return crossing

    def traffic(self, count: int, sender: str = "A", flow: int = 0) -> list[Crossing]:
        """Send several packets of random lengths."""
        return [
            self.send(sender, flow=flow, length=self.random.randrange(1, 60)) for _ in range(count)
        ]

    def event(
        self,
        device: str,
        t_ps: int,
        kind: str,
        code: str,
        value: int = 0,
        flow: int = 0,
        source: int = 2,
    ) -> None:
        """Put an event into a device's log."""
        data = value | flow << 40 | source << 48 | CODES[kind][code] << 56
        self.events[device].append(_Event(t_ps, kind, value if kind == "LOSS" else data))

    def credit(
        self,
        t_ps: int,
        freed: int,
        *,
        sender: str = "A",
        flow: int = 0,
        arrives: bool = True,
        flip: int = 0,
    ) -> None:
        """Return a credit to the sender of a flow; ``flip`` are bits damaged on the way."""
        receiver = "B" if sender == "A" else "A"
        word = 4 | flow << 8 | freed << 16
        word |= (1 - word.bit_count() % 2) << 15
        self.event(receiver, t_ps, "CREDIT", "sent", word, flow)
        if arrives:
            got = word ^ flip
            code = "refused_parity" if flip.bit_count() % 2 else "taken"
            self.event(sender, t_ps + 500_000, "CREDIT", code, got, got >> 8 & 0x7F, 3)

    def set(self, device: str, name: str, *indices: int, value: int) -> None:
        """Give a register of the freeze bank."""
        self.registers.setdefault(device, {})[name, *indices] = value

    def account(self, sender: str, flow: int, **counts: int) -> None:
        """Give the freeze banks of a flow: sent, credited, limit; received, freed, reported."""
        receiver = "B" if sender == "A" else "A"
        for name, value in counts.items():
            owner = sender if name in ("sent", "credited", "limit") else receiver
            self.set(owner, f"frozen_flow.{name}", flow, value=value)

    def counter(self, device: str, name: str, value: int) -> None:
        """Give a frozen counter."""
        self.set(device, f"frozen_counters.{name}.lo", value=value)
        self.set(device, f"frozen_counters.{name}.hi", value=0)

    def write(self, path: Path, devices: str = "AB") -> CaptureFolder:
        """Write the capture folder and open it."""
        streams, end_ps = self._streams()
        writer = CaptureWriter(path, source=self.source)
        for device in devices:
            writer.add_device(self._device(device, streams, end_ps))
        return CaptureFolder.open(writer.commit())

    def write_times(self) -> None:
        """Fill ``times`` (crossing number and tap -> begin, ps) without writing a capture."""
        self._streams()

    def _streams(self) -> tuple[dict[tuple[str, str], list[tuple[int, int, int]]], int]:
        """Return ``(cycle, kind, data)`` of every tap, and the time of the last word."""
        streams: dict[tuple[str, str], list[tuple[int, int, int]]] = {
            (device, tap): [] for device in "AB" for tap in TAPS
        }
        last: dict[tuple[str, str], int] = {}
        clock_ps = dict(self._clock_ps)
        end_ps = 60_000_000
        for number, crossing in enumerate(self.crossings):
            receiver = "B" if crossing.sender == "A" else "A"
            begin_ps = clock_ps[crossing.sender] + crossing.gap_ps
            length_ps = len(crossing.tx_enq) * LINK_PS
            starts = {
                "tx_enq": (crossing.sender, begin_ps, BUS_PS),
                "tx_deq": (crossing.sender, begin_ps + length_ps, LINK_PS),
                "rx_enq": (receiver, begin_ps + length_ps + self.link_ps, LINK_PS),
                "rx_deq": (receiver, begin_ps + length_ps + self.link_ps + crossing.lag_ps, BUS_PS),
            }
            for tap, (device, start_ps, period_ps) in starts.items():
                cycle = max(start_ps // period_ps, last.get((device, tap), 0) + 2)
                self.times[number, tap] = cycle * period_ps
                for kind, data in getattr(crossing, tap):
                    streams[device, tap].append((cycle, kind, data))
                    cycle += 1
                last[device, tap] = cycle
                end_ps = max(end_ps, cycle * period_ps)
            clock_ps[crossing.sender] = begin_ps + length_ps + 40_000
        return streams, end_ps

    def _device(
        self,
        device: str,
        streams: dict[tuple[str, str], list[tuple[int, int, int]]],
        end_ps: int,
    ) -> DeviceCapture:
        for events in self.events.values():
            end_ps = max([end_ps, *(event.t_ps for event in events)])
        end_ps += self.post_ps
        causes = sum(1 << CAUSES.index(name) for name in self.causes.get(device, ["host"]))
        memories = {}
        for tap in TAPS:
            words = streams[device, tap][self.keep.get((device, tap), slice(None))]
            period_ps = LINK_PS if tap in ("tx_deq", "rx_enq") else BUS_PS
            memories[tap] = self._memory(device, tap, words, end_ps // period_ps, causes)
        log = sorted(
            (event.t_ps // BUS_PS, KINDS[event.kind], event.data) for event in self.events[device]
        )
        log = log[self.keep.get((device, "event_log"), slice(None))]
        memories["event_log"] = self._memory(device, "event_log", log, end_ps // BUS_PS, causes)
        index = "AB".index(device)
        identity = self._identity(index)
        values = self._base_registers(device, causes, end_ps)
        values.update(self.registers.get(device, {}))
        for _, *register in [key for key in self.unread if key[0] == device]:
            del values[tuple(register)]
        for memory, name in enumerate((*TAPS, "event_log")):
            values["memory.write_ptr", memory] = memories[name].write_ptr
        return DeviceCapture(
            index=index,
            base=index << 24,
            identity=identity,
            registers=RegisterImage.from_values(values),
            memories=memories,
        )

    def _memory(
        self,
        device: str,
        name: str,
        words: Iterable[tuple[int, int, int]],
        end: int,
        causes: int,
    ) -> MemoryImage:
        """Return a memory whose records follow rules 1, 2, 5 and 7 of docs/formats.md section 2."""
        least = 0 if name == "event_log" else 1
        records: list[tuple[int, int, int]] = []
        last: int | None = None
        for cycle, kind, data in words:
            if last is not None and cycle - last > 14:
                records.append((last + 14, 15, 14))
                last += 14
            dt = 15 if last is None else min(15, cycle - last)
            assert dt >= least, "a tap stores one word a cycle"
            records.append((data, kind, dt))
            last = cycle
        if last is not None and end - last > 14:
            records.append((last + 14, 15, 14))
            last += 14
        end = end if last is None else max(end, last + 1)
        records.append((causes, 13, 15 if last is None else min(15, end - last)))
        records.append((end + 1, 15, 1))
        raw = np.zeros((self.depth, 9), np.uint8)
        first = max(0, len(records) - self.depth)
        for i, (data, kind, dt) in enumerate(records):
            if i >= first:
                word = data & MASK64 | kind << 64 | dt << 68
                raw[i % self.depth] = np.frombuffer(word.to_bytes(9, "little"), np.uint8)
        for wanted, number, bit in self.upsets.get((device, name), []):
            slot = np.flatnonzero(raw[:, 8] & 15 == wanted)[number]
            raw[slot, bit // 8] ^= 1 << bit % 8
        wrapped = len(records) >= self.depth
        gaps = []
        for start, count in self.gaps.get((device, name), []):
            raw[start : start + count] = 0
            gaps.append(Gap(start, count, "not read"))
        return MemoryImage(name, raw, len(records) % self.depth, wrapped, gaps)

    def _identity(self, index: int) -> Identity:
        return Identity(
            magic=0x46525A46,
            format_major=1,
            format_minor=0,
            map_hash=MAP_HASH,
            build_hash=0x1234,
            boot_nonce=0xABCD0000 + index,
            devices_count=1 if self.apart else 2,
            devices_index=0 if self.apart else index,
            devices_stride_log2=24,
            devices_time_master=1 - index,
            trace_mode=1,
            trace_taps=4,
            trace_data_w=64,
            trace_kind_w=4,
            trace_dt_w=4,
            tap_depth=self.depth,
            event_depth=self.depth,
            chunk=256,
            max_burst=255,
            clk_bus=100_000_000,
            clk_link=78_125_000,
            sampler_depth=0,
            counters_count=32,
            counters_width=48,
            flows_count=8,
            flows_credit_w=(self.rx_fifo - 1).bit_length() + 2,
            tx_fifo=1024,
            rx_fifo=self.rx_fifo,
            credit_unit=self.credit_unit,
            cross_latency=32,
            sync_period=4096,
            event_fifo=32,
            post_drain=1024,
        )

    def _base_registers(
        self, device: str, causes: int, end_ps: int
    ) -> dict[str | tuple[str | int, ...], int]:
        cause_cycle = self.cause_cycle.get(device, end_ps // BUS_PS)
        values: dict[str | tuple[str | int, ...], int] = {
            "ctl.generation": 1,
            "ctl.state": 3,
            "ctl.causes": causes,
            "ctl.cause_cycle_lo": cause_cycle,
            "ctl.cause_cycle_hi": 0,
            "frozen.freeze_cycle_lo": end_ps // BUS_PS,
            "frozen.freeze_cycle_hi": 0,
            "frozen.rx_level": 0,
            "frozen.stalled_flows": 0,
        }
        last_toggle = end_ps // (4096 * BUS_PS)
        for domain, period_ps in ((0, BUS_PS), (1, LINK_PS)):
            for which, number in (("first", 1), ("last", last_toggle)):
                cycle = number * 4096 * BUS_PS // period_ps
                cycle += 0 if (device, domain) == ("A", 0) else 2
                values[f"pair.{which}_number", domain] = number
                values[f"pair.{which}_lo", domain] = cycle
                values[f"pair.{which}_hi", domain] = 0
            values["pair.status", domain] = 3
        for memory in range(5):
            values["ctl.kinds", memory] = 0xFFFF
        for lane in (0, 1):
            for name in ("sync_level", "underflows", "overflows", "comma_phase"):
                values[f"frozen.lane.{name}", lane] = 4 if name == "sync_level" else 0
        return values
