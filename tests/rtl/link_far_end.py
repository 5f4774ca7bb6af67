"""A far end before ff_nic_rx_link, written from the format: words cut into lanes, commas in the gaps (docs/formats.md
section 3), and what the receiver tells, cycle by cycle.
"""

from __future__ import annotations

import random
from typing import Any

import cocotb
from cocotb.triggers import ClockCycles, FallingEdge, RisingEdge

from tests.rtl.clocks import Clock
from tests.rtl.link_packets import kinds, packet

Byte = tuple[int, int]  # octet, control symbol
IDLE: list[Byte] = [(0xBC, 1)] * 8
HALT: list[Byte] = [(0xFE, 1)] * 8
TRAIN: list[Byte] = [(0xBC, 1), (0xBC, 1), *[(0x4A, 0)] * 6]
FAULTS = (
    "fault_slip", "fault_flip", "fault_empty", "fault_lane", "fault_bytes", "fault_mask", "fault_count",
    "fault_min_length", "fault_word", "fault_drift",
)  # fmt: skip
STATUS = (
    "m_valid", "taken_valid", "stat_up", "stat_state", "stat_level", "stat_underflows", "stat_overflows",
    "stat_next_seq", "cause_header", "cause_payload", "cause_length", "cause_sequence", "cause_underflow",
    "cause_parity", "ev_credit", "count_inserted", "count_removed", "raw_struck", "empty_struck", "drift_struck",
)  # fmt: skip


def word(data: int) -> list[Byte]:
    return [(octet, 0) for octet in data.to_bytes(8, "little")]


class Link:
    """The block with a far end before it; what it tells is collected cycle by cycle."""

    def __init__(self, dut: Any, seed: int) -> None:
        self.dut, self.draw = dut, random.Random(seed)
        self.fill, self.width = int(dut.FILL.value), int(dut.CREDIT_W.value)
        self.phase = (0, 0)
        self.slots: list[list[Byte]] = []
        self.words: list[tuple[int, int, int, int]] = []  # first, last, kind, data
        self.verdicts: list[int] = []  # of each word, a cycle behind it
        self.taken: list[tuple[int, int]] = []
        self.events: list[tuple[int, int, int]] = []
        self.line: list[list[int]] = [[], []]  # codes of each lane's LINK events
        self.sequence: list[int] = []  # the word behind which a wrong number was seen
        self.counts = dict.fromkeys(STATUS, 0)
        self.states: list[int] = []
        self.tasks: list[Any] = []

    async def start(self, phase: tuple[int, int], rx_ps: int, link_ps: int, **faults: int) -> None:
        dut, self.phase = self.dut, phase
        for name in FAULTS:
            getattr(dut, name).value = faults.get(name, 0)
        self._drive(HALT, HALT)
        dut.rst_rx.value = dut.rst.value = 1
        self.tasks = [Clock(dut.clk_rx, rx_ps, "ps").start(), Clock(dut.clk, link_ps, "ps").start()]
        await ClockCycles(dut.clk, 14)
        await FallingEdge(dut.clk)
        dut.rst_rx.value = dut.rst.value = 0
        self.tasks.append(cocotb.start_soon(self._collect()))
        self.slots = [HALT] * 3 + [TRAIN] * 12
        self.gap(2 * self.fill + 8)

    def _drive(self, low: list[Byte], high: list[Byte]) -> None:
        """Give four bytes to each lane: the even ones of the first slot, the odd ones of the second."""
        octets = low[0::2] + high[1::2]
        self.dut.s_data.value = sum(octet << 8 * i for i, (octet, _) in enumerate(octets))
        self.dut.s_k.value = sum(k << i for i, (_, k) in enumerate(octets))

    def gap(self, slots: int = 1) -> None:
        self.slots += [IDLE] * slots

    def frame(self, words: list[int], halts: float = 0.0) -> None:
        for place, data in enumerate(words):
            if place and self.draw.random() < halts:
                self.slots += [HALT] * self.draw.randrange(1, 4)
            self.slots.append(word(data))
        self.gap()

    async def sent(self) -> None:
        """Send all slots, each lane late by its phase, and let the last words come out."""
        self.gap(2 * self.fill + 16)
        lanes = [
            [(0xFE, 1)] * self.phase[lane] + [byte for slot in self.slots for byte in slot[lane::2]]
            for lane in (0, 1)
        ]
        self.slots = []
        for at in range(0, len(lanes[0]) - 8, 4):
            await RisingEdge(self.dut.clk_rx)
            octets = lanes[0][at : at + 4] + lanes[1][at : at + 4]
            octets += [(0, 0)] * (8 - len(octets))
            self.dut.s_data.value = sum(octet << 8 * i for i, (octet, _) in enumerate(octets))
            self.dut.s_k.value = sum(k << i for i, (_, k) in enumerate(octets))

    async def _collect(self) -> None:
        dut, behind = self.dut, False
        while True:
            await FallingEdge(dut.clk)
            seen = {name: int(getattr(dut, name).value) for name in STATUS}
            for name, value in seen.items():
                if name.startswith(("cause_", "ev_", "count_")):
                    self.counts[name] += value
                else:
                    self.counts[name] = value
            flags = int(dut.m_flags.value)
            assert (
                flags
                == seen["cause_header"] | seen["cause_payload"] << 1 | seen["cause_length"] << 2
            )
            if behind:
                self.verdicts.append(flags)
            else:
                assert flags == 0, "a verdict without a word"
            if seen["cause_sequence"]:
                assert behind
                self.sequence.append(len(self.words) - 1)
            behind = bool(seen["m_valid"])
            if behind:
                first, last, kind, data = (
                    int(getattr(dut, f"m_{part}").value)
                    for part in ("first", "last", "kind", "data")
                )
                self.words.append((first, last, kind, data))
            if seen["taken_valid"]:
                self.taken.append((int(dut.taken_flow.value), int(dut.taken_freed.value)))
            if seen["ev_credit"]:
                code, flow, value = (
                    int(getattr(dut, f"ev_credit_{part}").value)
                    for part in ("code", "flow", "value")
                )
                self.events.append((code, flow, value))
            codes = int(dut.ev_line_code.value) if int(dut.ev_line.value) else 0
            for lane in (0, 1):
                if int(dut.ev_line.value) >> lane & 1:
                    self.line[lane].append(codes >> 8 * lane & 0xFF)
            if not self.states or self.states[-1] != seen["stat_state"]:
                self.states.append(seen["stat_state"])

    def stop(self) -> None:
        for task in self.tasks:
            task.cancel()

    def made(self, length: int, seq: int, **given: int) -> list[int]:
        draw = self.draw
        fields = {"flow": draw.getrandbits(7), "dest": draw.getrandbits(64)} | given
        return packet([draw.getrandbits(64) for _ in range(length)], seq=seq, **fields)


async def link(
    dut: Any,
    seed: int,
    phase: tuple[int, int] = (0, 0),
    rx_ps: int = 12_800,
    link_ps: int = 12_800,
    **faults: int,
) -> Link:
    made = Link(dut, seed)
    await made.start(phase, rx_ps, link_ps, **faults)
    return made


def framed(words: list[int], kind: list[int] | None = None) -> list[tuple[int, int, int, int]]:
    chosen = kinds(len(words)) if kind is None else kind
    return [
        (int(i == 0), int(i == len(words) - 1), one, data)
        for i, (one, data) in enumerate(zip(chosen, words, strict=True))
    ]
