"""What each register of an emulated device reads, and what a write to one does, by its name in the map.

Registers that only keep what was written have no reader here; the register file keeps them.

Source: firmware-hooks/registers/freezeframe.rdl; docs/formats.md section 1.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial

from freezeframe.capture.registers.layout import RegisterInfo
from freezeframe.capture.registers.layouts import Domain, Memory, State
from freezeframe.capture.registers.map_forms import counters_for, map_hash_for
from freezeframe.capture.registers.map_table import (
    FORMAT_VERSION,
    MAP_SIZE,
    REGISTERS,
)
from freezeframe.emulator.counters import COUNTER_W
from freezeframe.emulator.eventlog import EventLog
from freezeframe.emulator.nic import Nic
from freezeframe.emulator.provoke import injected
from freezeframe.emulator.recorder import Recorder
from freezeframe.emulator.time_pairs import Toggle
from freezeframe.emulator.trigger import Term

MAX_BURST = 255
"""Words a request may ask for: one Etherbone record."""

Reader = Callable[..., int | None]
"""Called with the array indices; None is an error answer. Bits above 32 are dropped."""

Writer = Callable[..., None]
"""Called with the array indices and the value, of which only the bits of fields are left."""

_MAGIC = 0x46525A46
_WORD = 0xFFFFFFFF
_BYTES_PER_CYCLE = 1  # of the CRC engine
_RECORD_B = 9


@cache
def register(name: str) -> RegisterInfo:
    """Return a register of the map by its name."""
    return next(info for info in REGISTERS if info.name == name)


def packed(name: str, **fields: int) -> int:
    """Return a register's value from its fields.

    Raises:
        ValueError: a field does not exist or its value does not fit.
    """
    value = 0
    known = {info.name: info for info in register(name).fields}
    for field, number in fields.items():
        if field not in known or not 0 <= number < 1 << known[field].width:
            raise ValueError(f"{name}.{field}: {number} does not fit, or there is no such field")
        value |= number << known[field].lsb
    return value


def readers(nic: Nic) -> dict[str, Reader]:
    """Return a reader for every register whose value the device makes."""
    made: dict[str, Reader] = {}
    for name, value in _identity(nic).items():
        made[name] = partial(int, value)
    made |= _control(nic)
    made |= _recording(nic)
    for counter in counters_for(nic.profile.form):
        for part, shift in (("lo", 0), ("hi", 32)):
            made[f"snapshot.{counter}.{part}"] = partial(_snapshot, nic, counter, shift)
            made[f"frozen_counters.{counter}.{part}"] = partial(
                _frozen_counter, nic, counter, shift
            )
    for info in REGISTERS:
        if info.name.startswith(("frozen.", "frozen_flow.")):
            made[info.name] = partial(_latched, nic, info.name)
    return made


def defaults(nic: Nic) -> dict[str, int]:
    """Return what the driver has set by the time a host first reads: the rest holds its reset value."""
    config = nic.config
    return {
        "ctl.cause_mask": config.cause_mask,
        "ctl.stall_limit": config.stall_limit,
        "ctl.options": packed("ctl.options", hold=int(config.hold)),
        "ctl.snapshot_log2": config.snapshot_log2,
        "ctl.sample_period": config.sample_period,
    }


def writers(nic: Nic) -> dict[str, Writer]:
    """Return what happens when a register is written, beside keeping the value."""
    config = nic.config

    def options(value: int) -> None:
        config.hold = bool(value & 1)
        config.select_tap = value >> 4 & 7

    def snapshot_log2(value: int) -> None:
        # A copy takes some 40 cycles; one farther away would be of no use.
        config.snapshot_log2 = min(max(value, 6), 40)
        nic.snapshots.restart()

    def sample_period(value: int) -> None:
        config.sample_period = value
        nic.sampler.restart()

    def index(value: int) -> None:
        config.index_record = value & 0xFFFFFF
        config.index_memory = value >> 24 & 7

    def rx_dma(value: int) -> None:
        config.rx_stop = bool(value & 1)
        nic.rx_dma.allowed.give()

    def traffic(value: int) -> None:
        was_on = config.traffic_on
        config.traffic_on = bool(value & 1)
        config.traffic_flow = value >> 8 & 0x7F
        config.traffic_length = value >> 16 & 0x3FF
        if config.traffic_on and not was_on:
            nic.pattern.switched_on()

    def link(value: int) -> None:
        config.loopback = bool(value & 1)
        nic.owner.rewire()

    def watched(name: str, value: int) -> None:
        setattr(config, name, value)
        nic.tx_link.watch_stall()  # a wait that is over the limit already is a cause now

    def inject(value: int) -> None:
        token, words = value & 0xFFFF, value >> 16 & 0x3FF
        if token != nic.inject_count + 1 & 0xFFFF or not words or nic.time.held:
            return
        nic.inject_count = nic.inject_count + 1 & _WORD
        nic.tx_dma.post(injected(config.inject_buffer, words))

    made: dict[str, Writer] = {
        "ctl.arm": nic.freeze.write_arm,
        "ctl.freeze": nic.freeze.write_freeze,
        "ctl.cause_mask": partial(watched, "cause_mask"),
        "ctl.stall_limit": partial(watched, "stall_limit"),
        "ctl.options": options,
        "ctl.kinds": nic.recording.set_kinds,
        "ctl.post": nic.recording.set_post,
        "ctl.snapshot_log2": snapshot_log2,
        "ctl.sample_period": sample_period,
        "ctl.index": index,
        "provoke.rx_dma": rx_dma,
        "provoke.traffic": traffic,
        "provoke.traffic_gap": partial(setattr, config, "traffic_gap"),
        "provoke.traffic_seed": partial(setattr, config, "traffic_seed"),
        "provoke.link": link,
        "provoke.inject": inject,
    }
    return made | _trigger(nic)


def _identity(nic: Nic) -> dict[str, int]:
    profile, identity = nic.profile, nic.identity
    return {
        "id.magic": _MAGIC,
        "id.format": FORMAT_VERSION[0] << 16 | FORMAT_VERSION[1],
        "id.map_hash": map_hash_for(profile.form),
        "id.build_hash": profile.digest,
        "id.boot_nonce": identity.nonce,
        "id.devices": packed(
            "id.devices", count=identity.devices, index=identity.index,
            stride_log2=MAP_SIZE.bit_length() - 1, time_master=int(identity.time_master),
        ),
        "id.trace": packed(
            "id.trace", mode=int(profile.quad), taps=4, data_w=64, kind_w=4, dt_w=4
        ),
        "id.tap_depth": profile.trace_tap_depth,
        "id.event_depth": profile.trace_event_depth,
        "id.chunk": profile.trace_chunk_records,
        "id.max_burst": MAX_BURST,
        "id.clk_bus": profile.clocks_bus_hz,
        "id.clk_link": profile.clocks_link_hz,
        "id.sampler_depth": profile.trace_sampler_depth,
        "id.counters": packed("id.counters", count=len(counters_for(profile.form)), width=COUNTER_W),
        "id.flows": packed("id.flows", count=profile.flows_count, credit_w=profile.credit_w),
        "id.tx_fifo": profile.fifo_tx_words,
        "id.rx_fifo": profile.fifo_rx_words,
        "id.credit_unit": profile.flows_credit_unit_words,
        "id.cross_latency": profile.trace_cross_latency_cycles,
        "id.sync_period": profile.trace_sync_period_cycles,
        "id.event_fifo": profile.trace_event_fifo,
        "id.post_drain": profile.trace_post_drain_cycles,
    }  # fmt: skip


def _control(nic: Nic) -> dict[str, Reader]:
    freeze, sampler = nic.freeze, nic.sampler

    def state() -> int:
        closed = freeze.closed(nic.now_ps)
        return packed("ctl.state", state=freeze.state, held=int(nic.time.held), closed=closed)

    def index_data(word: int) -> int | None:
        config, bank = nic.config, nic.bank
        image = bank.images[config.index_memory] if bank and config.index_memory < 5 else None
        if freeze.state != State.FROZEN or image is None or config.index_record >= len(image):
            return None
        record = image[config.index_record].tobytes()
        return int.from_bytes(record[4 * word : 4 * word + 4], "little")

    def length_histogram(bin_: int) -> int:
        frozen = freeze.state == State.FROZEN and nic.bank is not None
        return nic.bank.lengths[bin_] if frozen and nic.bank else nic.length_histogram[bin_]

    return {
        "ctl.generation": lambda: freeze.generation,
        "ctl.state": state,
        "ctl.causes": lambda: freeze.causes,
        "ctl.cause_cycle_lo": lambda: freeze.cause_cycle,
        "ctl.cause_cycle_hi": lambda: freeze.cause_cycle >> 32,
        "ctl.snapshot_seq": lambda: nic.snapshots.seq,
        "ctl.kinds": lambda memory: nic.recording.kinds[memory],
        "ctl.post": lambda memory: nic.recording.posts[memory],
        "ctl.index_data": index_data,
        "provoke.inject_count": lambda: nic.inject_count,
        "length_histogram": length_histogram,
        "occupancy_histogram": lambda bin_: sampler.occupancy[bin_],
        "sampler.write_ptr": lambda: sampler.stored % len(sampler.slots),
        "sampler.status": lambda: int(sampler.stored >= len(sampler.slots)),
        "sampler.last_cycle_lo": lambda: sampler.last_cycle,
        "sampler.last_cycle_hi": lambda: sampler.last_cycle >> 32,
    }


def _recording(nic: Nic) -> dict[str, Reader]:
    def of_memory(value: Callable[[Recorder | EventLog], int]) -> Reader:
        def read(memory: int) -> int:
            nic.recording.commit(memory)
            recorder = nic.recording.memories[memory]
            return 0 if recorder is None else value(recorder)

        return read

    def status(memory: int) -> int:
        nic.recording.commit(memory)
        recorder = nic.recording.memories[memory]
        if recorder is None:
            return 0
        wrapped, done = int(recorder.memory.wrapped), chunks_done(nic, memory)
        return packed("memory.status", wrapped=wrapped, chunks_done=done)

    made: dict[str, Reader] = {
        "memory.write_ptr": of_memory(lambda recorder: recorder.memory.write_ptr),
        "memory.status": status,
        "memory.stored": of_memory(lambda recorder: recorder.memory.stored),
        "memory.offered": of_memory(lambda recorder: recorder.offered),
        "memory.lost": of_memory(lambda recorder: recorder.lost),
        "pair.status": lambda domain: 3 if _toggles(nic, domain) else 0,
    }
    for end, which in enumerate(("first", "last")):
        for part, number, shift in (("number", 0, 0), ("lo", 1, 0), ("hi", 1, 32)):
            made[f"pair.{which}_{part}"] = partial(_pair, nic, end, number, shift)
    return made


def chunks_done(nic: Nic, memory: int) -> int:
    """Return the CRC table entries of a memory that are ready: one engine, memory after memory, a byte a cycle."""
    frozen_ps = nic.freeze.frozen_ps
    if frozen_ps is None:
        return 0
    clock, chunk = nic.bus.clock, nic.profile.trace_chunk_records
    each = chunk * _RECORD_B // _BYTES_PER_CYCLE
    ready = (clock.cycle_at(nic.now_ps) - clock.cycle_at(frozen_ps)) // each
    for before in range(memory + 1):
        recorder = nic.recording.memories[before]
        chunks = 0 if recorder is None else recorder.memory.depth // chunk
        if before == memory:
            return max(0, min(ready, chunks))
        ready -= chunks
    return 0


def _toggles(nic: Nic, domain: int) -> tuple[Toggle, Toggle] | None:
    return nic.time_pairs.pair(Domain(domain), nic.now_ps)


def _pair(nic: Nic, end: int, number: int, shift: int, domain: int) -> int:
    toggles = _toggles(nic, domain)
    return 0 if toggles is None else toggles[end][number] >> shift


def _snapshot(nic: Nic, counter: str, shift: int, bank: int) -> int:
    return nic.snapshots.banks[bank].get(counter, 0) >> shift


def _frozen_counter(nic: Nic, counter: str, shift: int) -> int:
    return 0 if nic.bank is None else nic.bank.counters[counter] >> shift


def _latched(nic: Nic, name: str, *indices: int) -> int:
    return 0 if nic.bank is None else nic.bank.values.get((name, indices), 0)


def _trigger(nic: Nic) -> dict[str, Writer]:
    recording, trigger = nic.recording, nic.recording.trigger

    def config(value: int) -> None:
        trigger.enable = bool(value & 1)
        trigger.tap = min(value >> 4 & 7, Memory.RX_DEQ)
        trigger.edge = bool(value >> 8 & 1)
        trigger.sequence = bool(value >> 9 & 1)
        recording.reset_trigger()

    def number(name: str, value: int) -> None:
        setattr(trigger, name, value)
        recording.reset_trigger()

    def term(name: str, shift: int, which: int, value: int) -> None:
        old: Term = trigger.terms[which]
        kept = getattr(old, name) & ~(_WORD << shift)
        setattr(old, name, kept | value << shift)
        recording.reset_trigger()

    return {
        "trigger.config": config,
        "trigger.count": partial(number, "count"),
        "trigger.limit": partial(number, "limit"),
        "trigger.term.value_lo": partial(term, "value", 0),
        "trigger.term.value_hi": partial(term, "value", 32),
        "trigger.term.mask_lo": partial(term, "mask", 0),
        "trigger.term.mask_hi": partial(term, "mask", 32),
        "trigger.term.kinds": partial(term, "kinds", 0),
    }
