"""Two recorders in memory that arm, freeze and know their CRCs; and a bad way to them."""

from __future__ import annotations

import binascii
import random
from collections.abc import Callable, Sequence

import numpy as np

from freezeframe.capture.errors import TargetError, TargetTimeout
from freezeframe.capture.registers import names
from freezeframe.capture.targets.base import Target, Words
from tests.capture.targets.fake_device import STRIDE_B, FakeTarget

MEMORIES = ("tx_enq", "tx_deq", "rx_enq", "rx_deq", "event_log")
IDLE, ARMED, TRIGGERED, FROZEN = range(4)


class FakeRecorder(FakeTarget):
    """Recorders with random records, right CRC tables, and the keyed arm and freeze of the map."""

    def __init__(
        self,
        *,
        devices: int = 2,
        depth: int = 600,
        sampler_depth: int = 64,
        frozen: bool = True,
        seed: int = 1,
        nonce: int = 0x0B000000,
    ) -> None:
        super().__init__(
            devices=devices, depth=depth, sampler_depth=sampler_depth, frozen=frozen, seed=seed
        )
        self.nonce = nonce
        for index in range(devices):
            self.set(index, "id.boot_nonce", nonce + index)
            self.set(index, "ctl.generation", 1)
            self.set(index, "ctl.causes", 1 << 3 if index == 0 else 1 << 11)
            self.set(index, "ctl.cause_cycle_lo", 5000)
            self.set(index, "ctl.cause_cycle_hi", 1)
            self.set(index, "ctl.options", 1)
            self.set(index, "sampler.write_ptr", 10)
            self.set(index, "sampler.status", 1)
            for memory, name in enumerate(MEMORIES):
                self.set(index, "memory.write_ptr", 17, memory)
                self.set(index, "memory.status", 1 | self.chunks << 16, memory)
                self.set(index, "memory.lost", 0, memory)
                window = self.window(index, name)
                window[:, 2] &= 0xFF
                window[:, 3] = 0
                for chunk in range(self.chunks):
                    self.set_crc(index, memory, chunk)

    @property
    def chunks(self) -> int:
        return -(-self.depth // 256)

    def window(self, index: int, memory: str) -> Words:
        """Return a view of a trace window: ``(depth, 4)``."""
        at = names.window(f"trace_{memory}").address // 4
        return self.words[index, at : at + 4 * self.depth].reshape(-1, 4)

    def records(self, index: int, memory: str) -> bytes:
        """Return the memory as raw/ must hold it, made without the code under test."""
        return window_bytes(self.window(index, memory))

    def set_crc(self, index: int, memory: int, chunk: int) -> None:
        """Give the CRC table the CRC of a chunk as it stands in the window."""
        raw = self.records(index, MEMORIES[memory])[chunk * 256 * 9 : (chunk + 1) * 256 * 9]
        at = names.window("crc_table").address // 4 + memory * 64 + chunk
        self.words[index, at] = binascii.crc32(raw)

    def write(self, address: int, words: Sequence[int] | Words) -> None:
        super().write(address, words)
        device, offset = divmod(address, STRIDE_B)
        value = int(words[0])
        generation = self.get(device, "ctl.generation")
        state = self.get(device, "ctl.state")
        if offset == names.offset("ctl.arm") and value == 0x4152 << 16 | (generation + 1) & 0xFFFF:
            self.set(device, "ctl.generation", generation + 1)
            self.set(device, "ctl.state", ARMED)
            self.set(device, "ctl.causes", 0)
        runs = state & 3 in (ARMED, TRIGGERED)
        is_freeze = offset == names.offset("ctl.freeze")
        if runs and is_freeze and value == 0x465A << 16 | generation & 0xFFFF:
            self.set(device, "ctl.state", FROZEN | 0x1F << 8)
            self.set(device, "ctl.causes", 1)


def window_bytes(window: Words) -> bytes:
    """Return the 9-byte records of ``(n, 4)`` window words, one by one."""
    return b"".join(
        int(low | high << 32 | (kind_dt & 0xFF) << 64).to_bytes(9, "little")
        for low, high, kind_dt, _ in window.tolist()
    )


class BadWay:
    """A target that damages, loses, or kills on the way; ``before`` runs before every read."""

    def __init__(self, inner: Target, seed: int = 1) -> None:
        self.inner = inner
        self.random = random.Random(seed)
        self.flip_share = 0.0  # of the words of an answer, one bit each
        self.timeout_share = 0.0  # of the reads
        self.dead = False
        self.was_closed = False
        self.all_ones = False
        self.reads = 0
        self.before: Callable[[int], None] = lambda reads: None
        self.alter: Callable[[Words, Words], None] = lambda addresses, words: None

    @property
    def url(self) -> str:
        return "bad:"

    def read(self, addresses: Words | Sequence[int]) -> Words:
        self.reads += 1
        self.before(self.reads)
        if self.dead or self.random.random() < self.timeout_share:
            raise TargetTimeout("bad: no answer")
        if self.all_ones:
            return np.full(len(addresses), 0xFFFFFFFF, np.uint32)
        words = self.inner.read(addresses)
        self.alter(np.asarray(addresses, np.uint32), words)
        for at in range(len(words)):
            if self.flip_share and self.random.random() < self.flip_share:
                words[at] ^= np.uint32(1 << self.random.randrange(32))
        return words

    def write(self, address: int, words: Sequence[int] | Words) -> None:
        if self.dead:
            raise TargetError("bad: cannot send")
        self.inner.write(address, words)

    def close(self) -> None:
        self.dead = self.was_closed = True
