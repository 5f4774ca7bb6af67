"""Registered memory: which octets a peer may reach, by which STag, and how.

Source: RFC 5040, 2.1 and 8.1; RFC 5042, 5 (what a peer must not reach).
"""

from __future__ import annotations

import itertools
import threading
from typing import Any

import numpy as np

from freezeframe.capture.errors import InputError
from freezeframe.emulator.iwarp import ddp_kernels as kernels

_MOST_REGIONS = 1 << 16


class _Table:
    """The one table of this process; a row that was never used is memory that was never touched."""

    def __init__(self) -> None:
        self.rows = np.zeros((_MOST_REGIONS, kernels.REGION_COLUMNS), np.int64)
        self.rows[0, kernels.REGION_STAG] = -1  # an STag of 0 is none
        self.lock = threading.Lock()
        self.free: list[int] = []
        self.used = 1
        self.domains = itertools.count(1)


_TABLE = _Table()


class Region:
    """Memory that is registered: reached under ``stag``, its first octet at tagged offset ``base``."""

    def __init__(self, domain: ProtectionDomain, memory: Any, row: int, base: int) -> None:
        self.domain = domain
        self._memory = memory
        self._row = row
        self.base = base
        self.address = int(memory.ctypes.data)
        self.length = len(memory)
        self.stag = int(_TABLE.rows[row, kernels.REGION_STAG])

    @property
    def data(self) -> Any:
        """The octets, as a memoryview."""
        return self._memory.data

    @property
    def valid(self) -> bool:
        """Whether the STag is still good: neither deregistered nor invalidated."""
        return bool(_TABLE.rows[self._row, kernels.REGION_STAG] == self.stag)

    def place(self, offset: int, length: int) -> int:
        """Return the address of octets of the region, no more than a message has.

        Raises:
            InputError: they are not all in it, or too many.
        """
        if length >= 1 << 32:
            raise InputError(f"a message of {length:,} octets; it must have fewer than 2^32")
        if offset < 0 or length < 0 or offset + length > self.length:
            raise InputError(
                f"octets {offset} to {offset + length} of a region of {self.length}: "
                "give an offset and a length inside it"
            )
        return self.address + offset

    def deregister(self) -> None:
        """Take the STag back. The memory itself is kept as long as the domain: a segment may be on its way into it."""
        with _TABLE.lock:
            if self.valid:
                key = (self.stag + 1) & 0xFF
                _TABLE.rows[self._row] = 0
                _TABLE.rows[self._row, kernels.REGION_STAG] = (
                    -1 - key
                )  # no STag; the next key of this row
                _TABLE.free.append(self._row)


class ProtectionDomain:
    """What belongs together: a connection reaches the regions of its own domain only."""

    def __init__(self) -> None:
        with _TABLE.lock:
            self.number = next(_TABLE.domains)
        self._kept: list[Region] = []

    def register(self, memory: Any, rights: int = 0, *, base: int = 0) -> Region:
        """Register memory for a peer.

        Args:
            memory: a writable buffer, or so many octets that are made here.
            rights: what a peer may do: `ddp_kernels.REMOTE_READ`, `REMOTE_WRITE`, `REMOTE_ATOMIC`; 0: local use alone.
            base: the tagged offset of its first octet.
        Raises:
            InputError: the memory cannot be written, or is not in one piece, or there are too many regions.
        """
        octets = self._octets(memory)
        with _TABLE.lock:
            if _TABLE.free:
                row = _TABLE.free.pop()
                key = -1 - int(_TABLE.rows[row, kernels.REGION_STAG])
            elif _TABLE.used < _MOST_REGIONS:
                row, key = _TABLE.used, 1
                _TABLE.used += 1
            else:
                raise InputError(f"{_MOST_REGIONS - 1:,} regions are registered; deregister some")
            fields = _TABLE.rows[row]
            fields[kernels.REGION_ADDRESS] = octets.ctypes.data
            fields[kernels.REGION_LENGTH] = len(octets)
            fields[kernels.REGION_RIGHTS] = rights
            fields[kernels.REGION_BASE] = base - (base >> 63 << 64)
            fields[kernels.REGION_DOMAIN] = self.number
            fields[kernels.REGION_STAG] = row << 8 | key
            region = Region(self, octets, row, base)
            self._kept.append(region)
        return region

    def close(self) -> None:
        """Take all STags back, once no connection uses the domain any more."""
        kept, self._kept = self._kept, []
        for region in kept:
            region.deregister()

    def reach(self, stag: int, to: int, length: int, right: int) -> int | str:
        """Return the address of what a peer asks for, or what is wrong of: stag, domain, rights, wrap, bounds."""
        row = stag >> 8
        if row >= _MOST_REGIONS:
            return "stag"
        fields = _TABLE.rows[row].tolist()
        if fields[kernels.REGION_STAG] != stag:
            return "stag"
        if fields[kernels.REGION_DOMAIN] != self.number:
            return "domain"
        if not fields[kernels.REGION_RIGHTS] & right:
            return "rights"
        if to + length > 1 << 64:
            return "wrap"
        offset = (to - fields[kernels.REGION_BASE]) % (1 << 64)
        if offset + length > fields[kernels.REGION_LENGTH]:
            return "bounds"
        return int(fields[kernels.REGION_ADDRESS] + offset)

    def invalidate(self, stag: int) -> bool:
        """Take back an STag that a peer may take back; return whether it was one of this domain."""
        region = next((r for r in self._kept if r.stag == stag and r.valid), None)
        rights = _TABLE.rows[stag >> 8, kernels.REGION_RIGHTS] if region else 0
        if region is None or not rights:
            return False
        region.deregister()
        return True

    @staticmethod
    def table() -> Any:
        """The table of all regions, for the kernels."""
        return _TABLE.rows

    @staticmethod
    def _octets(memory: Any) -> Any:
        if isinstance(memory, int):
            return np.zeros(memory, np.uint8)
        view = memoryview(memory)
        if view.readonly or not view.contiguous:
            raise InputError("memory to register must be writable and in one piece")
        return np.frombuffer(view.cast("B"), np.uint8) if view.nbytes else np.zeros(0, np.uint8)
