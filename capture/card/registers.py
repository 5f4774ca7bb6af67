"""The register map of a card: places of map 2 by name, as the elaborated card and the built features give them.

Source: docs/card-map.md, sections 1 and 2.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from freezeframe.capture.card.elaborated import ElaboratedCard, ElaboratedTap
from freezeframe.capture.card.recording import Feature
from freezeframe.capture.card.tables import Counter
from freezeframe.capture.registers.layout import FieldInfo, RegisterInfo, WindowInfo
from freezeframe.capture.registers.register_map import CounterInfo, RegisterMap

ROM_ADDRESS = 0x8000
ROM_WORDS = 0x2000
CRC_ADDRESS = 0x10000
CRC_WORDS = 0x4000
TRACE_ADDRESS = 0x100000
RECORD_WINDOW_B = 16
HISTOGRAM_BINS = 16

ALL_FEATURES = Feature((1 << 11) - 1)

# name, address, access, fields with their bits (none: one of 32 bits), dims
_IDENTITY = """
id.magic 000 r
id.format 004 r minor[15:0] major[31:16]
id.card_hash_lo 008 r
id.card_hash_hi 00c r
id.boot_nonce 010 r
id.devices 014 r count[7:0] index[15:8] stride_log2[23:16] time_master[24:24]
id.features 018 r
id.generation 01c r
id.build_hash 020 r
id.card_rom 024 r words[15:0]
id.shape 028 r clocks[7:0] taps[15:8] memories[31:16]
id.chunk 02c r
id.max_burst 030 r
id.sync_period 034 r
id.post_drain 038 r
id.cross_latency 03c r
id.bus_errors 040 r
id.bus_error_addr 044 r
id.counters 048 r counters[7:0] bank[15:8] causes[23:16]
"""
_CONTROL = """
ctl.state 100 r state[1:0] held[4:4] arm_ready[5:5]
ctl.arm 104 w
ctl.freeze 108 w
ctl.causes 10c r
ctl.cause_cycle_lo 110 r
ctl.cause_cycle_hi 114 r
ctl.cause_mask 118 rw
ctl.options 11c rw hold[0:0]
ctl.snapshot_log2 120 rw
ctl.snapshot_seq 124 r
ctl.clocks_alive 128 r
ctl.clocks_closed 12c r
ctl.crc_done 130 r
"""
_TRIGGER = """
trigger.config 140 rw enable[0:0] tap[13:8]
trigger.value_lo 144 rw
trigger.value_hi 148 rw
trigger.mask_lo 14c rw
trigger.mask_hi 150 rw
trigger.kinds 154 rw
"""
_TRIGGER_STEP = """
trigger.step.when 1c0 rw when[15:0] mode[17:16]
trigger.step.count 1c4 rw
trigger.step.word 1c8 r terms[3:0] tap[13:8] timer[31:31]
trigger.step.cycle 1cc r
"""
_TRIGGER_STEPS = """
trigger.shape 158 r terms[2:0] steps[5:4] count_bits[13:8] timer_bits[21:16] pin[24:24]
trigger.last 1f0 rw last[1:0]
trigger.timer 1f4 rw
trigger.pin 1f8 rw enable[0:0] falling[1:1]
trigger.fired 1fc r steps[0:0] pin[1:1] outside[2:2] reached[5:4] lost[8:8]
"""
_PAIR = """
pair.first_number 400 r
pair.first_lo 404 r
pair.first_hi 408 r
pair.last_number 40c r
pair.last_lo 410 r
pair.last_hi 414 r
pair.status 418 r first_valid[0:0] last_valid[1:1]
"""
_TAP = """
tap.write_ptr 800 r
tap.status 804 r wrapped[0:0] closed[1:1]
tap.stored 808 r
tap.offered 80c r
tap.post 810 rw
tap.kinds 814 rw kinds[15:0]
"""
_FIELD = re.compile(r"(\w+)\[(\d+):(\d+)\]")


@dataclass(frozen=True, slots=True)
class CardMemory:
    """A trace memory of a card: one lane of a tap, or the event log.

    Attributes:
        number: in the order of the card.
        address: of its window, from the start of the device.
    """

    number: int
    tap: ElaboratedTap
    lane: int
    address: int

    @property
    def depth(self) -> int:
        """Records it holds."""
        return self.tap.said.depth

    @property
    def name(self) -> str:
        """``rx_in``, or ``rx_in.3`` for lane 3 of a tap of several."""
        return self.tap.name if len(self.tap.lanes) == 1 else f"{self.tap.name}.{self.lane}"


def memories_of_card(card: ElaboratedCard) -> tuple[CardMemory, ...]:
    """Return the trace memories of a card, tap by tap, lane by lane, then the event log, with their windows."""
    memories = []
    at = TRACE_ADDRESS
    for tap in card.recorders:
        size_B = RECORD_WINDOW_B * tap.said.depth
        for lane, number in enumerate(tap.lanes):
            at = -(-at // size_B) * size_B
            memories.append(CardMemory(number, tap, lane, at))
            at += size_B
    return tuple(memories)


def stride_log2(card: ElaboratedCard) -> int:
    """Return the bits of an address inside one device: 24, or as many as the memories need."""
    last = memories_of_card(card)[-1]
    return max(24, (last.address + RECORD_WINDOW_B * last.depth - 1).bit_length())


def identity_map() -> RegisterMap:
    """Return the registers that stand at the same place on every card, by which it is known."""
    return RegisterMap([*_registers(_IDENTITY)], [], {}, 1 << 24)


def places_map() -> RegisterMap:
    """Return what stands at the same place on every card, by which accesses are named before the card is known."""
    registers = [*_registers(_IDENTITY), _register("id.clk_hz", 0x80, "r", dims=((32, 4),))]
    registers += [*_registers(_CONTROL), *_registers(_TRIGGER), *_registers(_TRIGGER_STEPS)]
    registers += _registers(_TRIGGER_STEP, (3, 16))
    registers += [*_registers(_PAIR, (32, 32)), *_registers(_TAP, (65, 32))]
    windows = [
        WindowInfo(name, address, words, "r", False, True, "")
        for name, address, words in (
            ("snapshot", 0x4000, 0x200),
            ("frozen_counters", 0x4800, 0x200),
            ("bank", 0x5000, 0x200),
            ("histogram", 0x5800, 0x200),
            ("rom", ROM_ADDRESS, ROM_WORDS),
            ("crc_table", CRC_ADDRESS, CRC_WORDS),
            ("trace", TRACE_ADDRESS, ((1 << 32) - TRACE_ADDRESS) // 4),
        )
    ]
    return RegisterMap(registers, windows, {}, 1 << 24)


def card_map(card: ElaboratedCard, features: Feature = ALL_FEATURES) -> RegisterMap:
    """Return the map of a card; what belongs to a part that was not built is not in it."""
    taps, clocks = len(card.recorders), len(card.clocks)
    registers = [*_registers(_IDENTITY), _register("id.clk_hz", 0x80, "r", dims=((clocks, 4),))]
    registers += _registers(_CONTROL)
    if Feature.TRIGGER in features:
        registers += _trigger(card, features)
    if Feature.TIME_PAIRS in features:
        registers += _registers(_PAIR, (clocks, 32))
    registers += _registers(_TAP, (taps, 32))
    counters: dict[str, CounterInfo] = {}
    if Feature.COUNTERS in features:
        counters = {name: _counter(said) for name, said in card.counters}
        for n, name in enumerate(counters):
            for half, plus in (("lo", 0), ("hi", 4)):
                at = 0x4000 + 8 * n + plus
                registers.append(_register(f"snapshot.{name}.{half}", at, dims=((2, 0x400),)))
                registers.append(_register(f"frozen_counters.{name}.{half}", 0x4800 + 8 * n + plus))
    if Feature.BANK in features:
        registers += [
            _register(f"bank.{name}", 0x5000 + 4 * n) for n, name in enumerate(card.said.bank)
        ]
    if Feature.HISTOGRAMS in features and card.said.histogram:
        dims = ((len(card.said.histogram), 64), (HISTOGRAM_BINS, 4))
        registers.append(_register("histogram", 0x5800, dims=dims))
    return RegisterMap(registers, [*_windows(card, features)], counters, 1 << stride_log2(card))


def _trigger(card: ElaboratedCard, features: Feature) -> Iterator[RegisterInfo]:
    """Give the trigger's registers; one with steps has its terms as an array that begins with the one of others."""
    built = card.said.trigger
    if Feature.TRIGGER_STEPS not in features or not built.steps:
        yield from _registers(_TRIGGER)
        return
    yield from _registers(_TRIGGER, (built.terms, 32))
    left_out = {
        "trigger.step.count": not built.count_bits,
        "trigger.timer": not built.timer_bits,
        "trigger.pin": not built.pin,
    }
    for info in (*_registers(_TRIGGER_STEP, (built.steps, 16)), *_registers(_TRIGGER_STEPS)):
        if not left_out.get(info.name):
            yield info


def _windows(card: ElaboratedCard, features: Feature) -> Iterator[WindowInfo]:
    if Feature.ROM in features:
        yield WindowInfo("rom", ROM_ADDRESS, ROM_WORDS, "r", False, True, "the card's text")
    if Feature.CRC_TABLE in features:
        yield WindowInfo("crc_table", CRC_ADDRESS, CRC_WORDS, "r", True, True, "CRC of each chunk")
    for memory in memories_of_card(card):
        yield WindowInfo(
            f"trace.{memory.name}",
            memory.address,
            RECORD_WINDOW_B // 4 * memory.depth,
            "r",
            True,
            True,
            f"records of {memory.name}",
        )


def _registers(text: str, *dims: tuple[int, int]) -> Iterator[RegisterInfo]:
    for line in text.split("\n"):
        if line:
            name, address, access, *fields = line.split()
            yield _register(name, int(address, 16), access, " ".join(fields), dims)


def _register(
    name: str,
    address: int,
    access: str = "r",
    fields: str = "",
    dims: tuple[tuple[int, int], ...] = (),
) -> RegisterInfo:
    found = tuple(
        FieldInfo(field, int(lsb), int(msb) - int(lsb) + 1, 0, "")
        for field, msb, lsb in _FIELD.findall(fields)
    )
    whole = (FieldInfo(name.rpartition(".")[2], 0, 32, 0, ""),)
    return RegisterInfo(name, address, dims, access, found or whole, "", pulse=access == "w")


def _counter(said: Counter) -> CounterInfo:
    doc = said.doc or (f"{said.counts} at {said.tap}" if said.counts else f"wire {said.wire}")
    unit = said.unit or {"bad": "packets", "waits": "cycles", "": "events"}.get(
        said.counts, said.counts
    )
    return CounterInfo(unit, doc)
