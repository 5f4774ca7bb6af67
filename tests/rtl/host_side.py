"""The host's own programs inside a simulation: a target whose accesses are made by a cocotb master.

Host code runs in a thread (`cocotb.task.bridge`); simulated time stands still but for the accesses it makes.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence

import numpy as np
from cocotb.task import resume

from freezeframe.capture.targets._checks import checked_addresses, checked_write, runs
from freezeframe.capture.targets.base import Words


class SimulatedTarget:
    """Registers behind two coroutines.

    Args:
        read: gives so many words from an address on; an error answer as 0xFFFFFFFF.
        write: writes words from an address on.
        burst: words a read may ask for.
    """

    url = "simulation:"

    def __init__(
        self,
        read: Callable[[int, int], Awaitable[list[int]]],
        write: Callable[[int, list[int]], Awaitable[None]],
        burst: int = 1,
    ) -> None:
        self._read, self._write, self._burst = read, write, burst

    def read(self, addresses: Words | Sequence[int]) -> Words:
        asked = checked_addresses(addresses)
        spans = runs(asked, self._burst)

        async def all_of_it() -> list[int]:
            words: list[int] = []
            for start, end in spans:
                words += await self._read(int(asked[start]), end - start)
            return words

        return np.array(resume(all_of_it)(), np.uint32)

    def write(self, address: int, words: Sequence[int] | Words) -> None:
        first, data = checked_write(address, words)

        async def all_of_it() -> None:
            await self._write(first, data.tolist())

        resume(all_of_it)()

    def close(self) -> None:
        """Nothing is open."""
