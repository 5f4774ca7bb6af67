"""The register file of one emulated device: every address of the map, what it reads, and what a write to it does.

No read has a side effect. An access the map does not allow changes nothing but the count of such accesses.

Source: firmware-hooks/registers/freezeframe.rdl through the generated table; docs/formats.md section 1.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache, partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from freezeframe.capture.registers.layouts import Cause, Domain, Memory, State
from freezeframe.capture.registers.map_table import (
    COUNTERS,
    FORMAT_VERSION,
    MAP_HASH,
    MAP_SIZE,
    REGISTERS,
    WINDOWS,
)
from freezeframe.capture.registers.types import RegisterInfo, WindowInfo
from freezeframe.emulator.counters import COUNTER_W
from freezeframe.emulator.nic import Bank
from freezeframe.emulator.provoke import inject

if TYPE_CHECKING:
    from freezeframe.emulator.nic import Nic

__all__ = ["ERROR_WORD", "MAX_BURST", "RegisterFile"]

ERROR_WORD = 0xFFFFFFFF
"""What an error answer looks like where the transport knows no other."""

MAX_BURST = 255
"""Words a request may ask for: one Etherbone record."""

_MAGIC = 0x46525A46
_WORD = 0xFFFFFFFF
_RECORD_WORDS = 4
_ENTRIES_PER_MEMORY = 64  # of the CRC table
_CRC_BYTES_PER_CYCLE = 1
_RECORD_B = 9


class _Place(NamedTuple):
    register: RegisterInfo
    indices: tuple[int, ...]
    writable_bits: int


class RegisterFile:
    """Registers and windows of one device, addressed from the device's start."""

    def __init__(self, nic: Nic) -> None:
        self.nic = nic
        self.bus_errors = 0
        self.bus_error_addr = 0
        self._written: dict[int, int] = {}
        self._windows: dict[str, npt.NDArray[np.uint32]] = {}
        self._windows_of: Bank | None = None
        self._read = self._readers()
        self._write = self._writers()
        self._defaults()

    # -- access --------------------------------------------------------------------------------

    def read(self, offset: int) -> int | None:
        """Return the word at ``offset``, None for an error answer (which is counted by `refuse`)."""
        place = _places().get(offset)
        if place is None:
            words = self.window(offset)
            if words is None:
                return None
            start, values = words
            index = (offset - start) // 4
            return int(values[index]) if index < len(values) else None
        if "r" not in place.register.access:
            return None
        reader = self._read.get(place.register.name)
        if reader is None:
            return self._written.get(offset, 0)
        value = reader(*place.indices)
        return None if value is None else value & _WORD

    def write(self, offset: int, value: int) -> bool:
        """Write a word; False for an error answer."""
        place = _places().get(offset)
        if place is None:
            return self._write_window(offset, value)
        if "w" not in place.register.access:
            return False
        value &= place.writable_bits
        if not place.register.pulse:
            self._written[offset] = value
        action = self._write.get(place.register.name)
        if action is not None:
            action(*place.indices, value)
        return True

    def refuse(self, address: int) -> None:
        """Count an access that was answered with an error; ``address`` from the start of the target."""
        self.bus_errors = self.bus_errors + 1 & _WORD
        self.bus_error_addr = address & _WORD

    def window(self, offset: int) -> tuple[int, npt.NDArray[np.uint32]] | None:
        """Return start and present words of the window at ``offset``; None when there is none, or not before frozen."""
        window = _window_at(offset)
        if window is None:
            return None
        if window.name == "inject_buffer":
            return window.address, self.nic.config.inject_buffer
        if window.frozen_only and self.nic.freeze.state != State.FROZEN:
            return None
        self._latch_windows()
        if window.name == "crc_table":
            return window.address, self._crc_table()
        words = self._windows.get(window.name)
        return None if words is None else (window.address, words)

    # -- reading -------------------------------------------------------------------------------

    def _readers(self) -> dict[str, Callable[..., int | None]]:
        nic, profile = self.nic, self.nic.profile

        def constant(value: int) -> Callable[[], int]:
            return lambda: value

        constants = {
            "id.magic": _MAGIC,
            "id.format": FORMAT_VERSION[0] << 16 | FORMAT_VERSION[1],
            "id.map_hash": MAP_HASH,
            "id.build_hash": profile.digest,
            "id.boot_nonce": nic.machine.nonces[nic.index],
            "id.devices": _packed(
                "id.devices", count=len(nic.machine.nonces), index=nic.index,
                stride_log2=MAP_SIZE.bit_length() - 1, time_master=int(nic.index == 0),
            ),
            "id.trace": _packed(
                "id.trace", mode=int(profile.quad), taps=4, data_w=64, kind_w=4, dt_w=4
            ),
            "id.tap_depth": profile.trace_tap_depth,
            "id.event_depth": profile.trace_event_depth,
            "id.chunk": profile.trace_chunk_records,
            "id.max_burst": MAX_BURST,
            "id.clk_bus": profile.clocks_bus_hz,
            "id.clk_link": profile.clocks_link_hz,
            "id.sampler_depth": profile.trace_sampler_depth,
            "id.counters": _packed("id.counters", count=len(COUNTERS), width=COUNTER_W),
            "id.flows": _packed("id.flows", count=profile.flows_count, credit_w=profile.credit_w),
            "id.tx_fifo": profile.fifo_tx_words,
            "id.rx_fifo": profile.fifo_rx_words,
            "id.credit_unit": profile.flows_credit_unit_words,
            "id.cross_latency": profile.trace_cross_latency_cycles,
            "id.sync_period": profile.trace_sync_period_cycles,
            "id.event_fifo": profile.trace_event_fifo,
            "id.post_drain": profile.trace_post_drain_cycles,
        }  # fmt: skip
        freeze, config, sampler = nic.freeze, nic.config, nic.sampler
        readers: dict[str, Callable[..., int | None]] = {
            name: constant(value) for name, value in constants.items()
        }
        readers |= {
            "id.bus_errors": lambda: self.bus_errors,
            "id.bus_error_addr": lambda: self.bus_error_addr,
            "ctl.generation": lambda: freeze.generation,
            "ctl.state": lambda: (
                freeze.state | nic.held << 4 | freeze.closed(int(nic.env.now)) << 8
            ),
            "ctl.causes": lambda: freeze.causes,
            "ctl.cause_cycle_lo": lambda: freeze.cause_cycle,
            "ctl.cause_cycle_hi": lambda: freeze.cause_cycle >> 32,
            "ctl.snapshot_seq": lambda: nic.snapshots.seq,
            "ctl.index_data": self._index_data,
            "memory.write_ptr": lambda m: self._memory(m).memory.write_ptr,
            "memory.status": self._memory_status,
            "memory.stored": lambda m: self._memory(m).memory.stored,
            "memory.offered": lambda m: self._memory(m).offered,
            "memory.lost": lambda m: self._memory(m).lost,
            "provoke.inject_count": lambda: nic.inject_count,
            "length_histogram": lambda k: self._kept_or(nic.length_histogram)[k],
            "occupancy_histogram": lambda k: sampler.occupancy[k],
            "sampler.write_ptr": lambda: sampler.stored % len(sampler.slots),
            "sampler.status": lambda: int(sampler.stored >= len(sampler.slots)),
            "sampler.last_cycle_lo": lambda: sampler.last_cycle,
            "sampler.last_cycle_hi": lambda: sampler.last_cycle >> 32,
        }
        for name in ("first", "last"):
            for part in ("number", "lo", "hi"):
                readers[f"pair.{name}_{part}"] = partial(self._pair, name, part)
        readers["pair.status"] = self._pair_status
        for counter in COUNTERS:
            for part, shift in (("lo", 0), ("hi", 32)):
                readers[f"snapshot.{counter}.{part}"] = partial(self._snapshot, counter, shift)
                readers[f"frozen_counters.{counter}.{part}"] = partial(
                    self._frozen_counter, counter, shift
                )
        for register in REGISTERS:
            if register.name.startswith(("frozen.", "frozen_flow.")):
                readers[register.name] = partial(self._latched, register.name)
        del config
        return readers

    def _memory(self, memory: int):  # type: ignore[no-untyped-def]
        raise NotImplementedError

    def _defaults(self) -> None:
        raise NotImplementedError
