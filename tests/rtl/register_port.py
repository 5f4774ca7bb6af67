"""The register port as a cocotb driver, and the addresses of the map by name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from cocotb.triggers import FallingEdge

from freezeframe.capture.registers.map_table import REGISTERS, WINDOWS
from tests.rtl.waits import Waits

TAPS = ("tx_enq", "tx_deq", "rx_enq", "rx_deq")
ARM_KEY = 0x4152
FREEZE_KEY = 0x465A
NEVER = 0xFFFF_FFFF
"""What no register reads but an error answer; all ones of a mask."""

_BASE = {info.name: (info.address, info.dims) for info in REGISTERS}
_WINDOWS = {info.name: info.address for info in WINDOWS}


def at(name: str, *indices: int) -> int:
    """Return the byte address of a register (with its array indices) or of a word of a window."""
    if name in _WINDOWS:
        return _WINDOWS[name] + 4 * (indices[0] if indices else 0)
    address, dims = _BASE[name]
    return address + sum(i * stride for i, (_, stride) in zip(indices, dims, strict=True))


class RegisterPort:
    """One master on ``s_req`` and its companions of a device."""

    def __init__(self, dut: Any, clk: Any) -> None:
        self.dut, self.clk = dut, clk
        self._waits = Waits(30)
        dut.s_req.value = 0
        dut.s_we.value = 0
        dut.s_addr.value = 0
        dut.s_wdata.value = 0

    async def access(self, address: int, data: int | None = None) -> tuple[bool, int]:
        """Return ``(error, data read)`` of one access; no answer within 60 us is a failure."""
        dut = self.dut
        await FallingEdge(self.clk)
        dut.s_req.value = 1
        dut.s_we.value = int(data is not None)
        dut.s_addr.value = address
        dut.s_wdata.value = data or 0
        await self._waits.until(self.clk, dut.s_ack)
        answer = bool(int(dut.s_err.value)), int(dut.s_rdata.value) if data is None else 0
        await FallingEdge(self.clk)
        dut.s_req.value = 0
        return answer

    async def read(self, name: str | int, *indices: int) -> int:
        """Return a word that can be read."""
        address = name if isinstance(name, int) else at(name, *indices)
        error, data = await self.access(address)
        assert not error, f"{name}{list(indices)}: an error answer"
        return data

    async def write(self, name: str | int, value: int, *indices: int) -> None:
        """Write a word that can be written."""
        address = name if isinstance(name, int) else at(name, *indices)
        error, _ = await self.access(address, value)
        assert not error, f"{name}{list(indices)}: an error answer"

    async def check_reset_values(self, fixed: Mapping[str, int]) -> None:
        """The map stays the one map: what is lacking reads its reset value, or 0 where it is a status."""
        for info in REGISTERS:
            if "r" not in info.access or info.name == "ctl.index_data":
                continue
            reset = sum(field.reset << field.lsb for field in info.fields)
            ends = {tuple(0 for _ in info.dims), tuple(count - 1 for count, _ in info.dims)}
            for indices in ends:
                value = await self.read(info.name, *indices)
                assert value == fixed.get(info.name, reset), f"{info.name}{indices}"

    async def trigger_on(self, tap: int, kind: int, data: int) -> None:
        """Set the trigger to one word of a tap."""
        for name, value in (
            ("value_lo", data & NEVER), ("value_hi", data >> 32), ("mask_lo", NEVER), ("mask_hi", NEVER),
            ("kinds", 1 << kind),
        ):  # fmt: skip
            await self.write(f"trigger.term.{name}", value, 0)
        await self.write("trigger.config", 1 | tap << 4)

    async def record(self, memory: int, slot: int) -> bytes:
        """Return the nine bytes of a record."""
        window = f"trace_{(*TAPS, 'event_log')[memory]}"
        words = [await self.read(window, 4 * slot + part) for part in range(4)]
        assert words[3] == 0
        return b"".join(word.to_bytes(4, "little") for word in words)[:9]

    async def memory(self, memory: int) -> list[tuple[int, int, int]]:
        """Return the records ``(dt, kind, data)`` of a memory that has not wrapped, oldest first."""
        count = await self.read("memory.write_ptr", memory)
        assert await self.read("memory.status", memory) & 1 == 0
        found = [await self.record(memory, slot) for slot in range(count)]
        return [(r[8] >> 4, r[8] & 15, int.from_bytes(r[:8], "little")) for r in found]

    async def arm(self) -> int:
        """Arm as a host does; return the new generation."""
        generation = await self.read("ctl.generation") + 1
        await self.write("ctl.arm", ARM_KEY << 16 | generation & 0xFFFF)
        return generation

    async def freeze(self) -> None:
        """Freeze as a host does, and wait until everything is closed."""
        generation = await self.read("ctl.generation")
        await self.write("ctl.freeze", FREEZE_KEY << 16 | generation & 0xFFFF)
        assert await self.frozen(), f"not frozen: state {await self.read('ctl.state'):#x}"

    async def frozen(self, reads: int = 600) -> bool:
        """Tell whether the device is frozen, or is so before it has been asked ``reads`` times."""
        for _ in range(reads):
            if await self.read("ctl.state") & 3 == 3:
                return True
        return False
