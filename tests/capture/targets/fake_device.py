"""Two recorders in memory with known words everywhere, answering by the map's rules."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from freezeframe.capture.errors import BusError, TargetError
from freezeframe.capture.registers import names
from freezeframe.capture.registers.identity import MAGIC
from freezeframe.capture.registers.layout import WindowInfo
from freezeframe.capture.registers.map_table import (
    COUNTERS,
    FORMAT_VERSION,
    MAP_HASH,
    REGISTERS,
    WINDOWS,
)
from freezeframe.capture.targets._checks import checked_addresses, checked_write
from freezeframe.capture.targets.base import Words

STRIDE_B = 1 << 24
OUTSIDE = 0x00F0_0000
"""An address in device 0 at which nothing stands."""

_SPAN = max(w.address // 4 + w.words for w in WINDOWS)
_PARAMETERS = {
    "id.magic": MAGIC,
    "id.format": FORMAT_VERSION[0] << 16 | FORMAT_VERSION[1],
    "id.map_hash": MAP_HASH,
    "id.build_hash": 0xB111D001,
    "id.trace": 1 | 4 << 4 | 64 << 8 | 4 << 16 | 4 << 20,
    "id.chunk": 256,
    "id.clk_bus": 100_000_000,
    "id.clk_link": 78_125_000,
    "id.counters": len(COUNTERS) | 48 << 16,
    "id.flows": 8 | 14 << 8,
    "id.tx_fifo": 1024,
    "id.rx_fifo": 4096,
    "id.credit_unit": 64,
    "id.cross_latency": 40,
    "id.sync_period": 4096,
    "id.event_fifo": 16,
    "id.post_drain": 1024,
    "id.bus_errors": 0,
    "id.bus_error_addr": 0,
}


class FakeTarget:
    """A target without a transport. ``words`` may be changed by a test at any time."""

    def __init__(
        self,
        *,
        devices: int = 2,
        depth: int = 2048,
        sampler_depth: int = 256,
        max_burst: int = 255,
        frozen: bool = True,
        seed: int = 1,
    ) -> None:
        self.url = "fake:"
        self.devices = devices
        self.depth = depth
        self.sampler_depth = sampler_depth
        self.reads: list[list[int]] = []  # one entry a call, when keep_reads is on
        self.keep_reads = False
        self.writes: list[tuple[int, list[int]]] = []
        self.closed = False
        self.words = np.random.default_rng(seed).integers(
            0, 1 << 32, (devices, _SPAN), dtype=np.uint32
        )
        self.readable, self.frozen_only, self.writable = self._access()
        for window in WINDOWS:
            if window.name.startswith("trace_"):  # records, so that a capture can hold them
                at = window.address // 4
                self.words[:, at + 2 : at + window.words : 4] &= 0xFF
                self.words[:, at + 3 : at + window.words : 4] = 0
                self.words[:, at + 8 : at + 10] = 0xFFFFFFFF  # a payload may well be all ones
        for index in range(devices):
            self._identify(index, max_burst, depth, sampler_depth)
            self.set(index, "ctl.state", 3 | 0x1F << 8 if frozen else 1)

    def at(self, name: str, *indices: int) -> int:
        """Return the word index of a register in a row of ``words``."""
        return names.offset(name, *indices) // 4

    def set(self, index: int, name: str, value: int, *indices: int) -> None:
        """Give a register of device ``index`` a value, as the hardware would."""
        self.words[index, self.at(name, *indices)] = value

    def get(self, index: int, name: str, *indices: int) -> int:
        return int(self.words[index, self.at(name, *indices)])

    def read(self, addresses: Words | Sequence[int]) -> Words:
        asked = checked_addresses(addresses)
        self._alive()
        if self.keep_reads:
            self.reads.append(asked.tolist())
        device, word = asked // STRIDE_B, asked % STRIDE_B // 4
        inside = (device < self.devices) & (word < _SPAN)
        device, word = np.where(inside, device, 0), np.where(inside, word, 0)
        frozen = self.words[device, self.at("ctl.state")] & 3 == 3
        good = inside & self.readable[word] & (frozen | ~self.frozen_only[word])
        if not good.all():
            raise self._error(int(asked[np.flatnonzero(~good)[0]]))
        found: Words = self.words[device, word]
        return found

    def write(self, address: int, words: Sequence[int] | Words) -> None:
        first, data = checked_write(address, words)
        self._alive()
        device, word = first // STRIDE_B, first % STRIDE_B // 4
        span = slice(word, word + len(data))
        if device >= self.devices or word + len(data) > _SPAN or not self.writable[span].all():
            raise self._error(first)
        self.writes.append((first, data.tolist()))
        self.words[device, span] = data

    def close(self) -> None:
        self.closed = True

    def _alive(self) -> None:
        if self.closed:
            raise TargetError(f"{self.url}: the target has been closed")

    def _error(self, address: int) -> BusError:
        device = address // STRIDE_B
        device = device if device < self.devices else 0
        self.set(device, "id.bus_errors", self.get(device, "id.bus_errors") + 1)
        self.set(device, "id.bus_error_addr", address)
        return BusError(f"{self.url}: {address:#010x} was answered with an error")

    def _identify(self, index: int, max_burst: int, depth: int, sampler_depth: int) -> None:
        for name, value in _PARAMETERS.items():
            self.set(index, name, value)
        self.set(index, "id.devices", self.devices | index << 8 | 24 << 16 | (index == 0) << 24)
        self.set(index, "id.boot_nonce", 0x0B000000 + index)
        self.set(index, "id.tap_depth", depth)
        self.set(index, "id.event_depth", depth)
        self.set(index, "id.sampler_depth", sampler_depth)
        self.set(index, "id.max_burst", max_burst)

    def _access(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        readable, frozen_only, writable = (np.zeros(_SPAN, bool) for _ in range(3))
        for info in REGISTERS:
            for indices in names.elements(info):
                at = self.at(info.name, *indices)
                readable[at] = "r" in info.access
                writable[at] = "w" in info.access
        for window in WINDOWS:
            at, words = window.address // 4, self.words_there(window)
            readable[at : at + words] = "r" in window.access
            writable[at : at + words] = "w" in window.access and not window.frozen_only
            frozen_only[at : at + words] = window.frozen_only
        return readable, frozen_only, writable

    def words_there(self, window: WindowInfo) -> int:
        """Return how many words of a window exist at this device's depths."""
        if window.name.startswith("trace_"):
            return 4 * self.depth
        return 2 * self.sampler_depth if window.name == "samples" else window.words
