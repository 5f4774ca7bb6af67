"""The small device of four memories, ff_quad_lean, over its register port: one map, the same records, the pairs, and
what it lacks says so (docs/formats.md sections 1, 2 and 6).
"""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any, Self

import cocotb
import pytest
from cocotb.triggers import ClockCycles, FallingEdge

from freezeframe.capture.registers.map_table import MAP_HASH, REGISTERS, WINDOWS
from tests.rtl.clocks import Clock
from tests.rtl.register_port import NEVER, TAPS, at
from tests.rtl.simulation import simulate
from tests.rtl.test_quad import BODY, DEPTH, MARK, TIME, Device, packet

PERIOD = 64
BUILDS: dict[str, dict[str, object]] = {
    "narrow": {"NONCE_W": 12, "POST_W": 8, "COUNT_W": 12, "TIME_W": 40},
    "wide": {"COUNT_W": 32, "TIME_W": 64, "POST_W": 32},
}  # fmt: skip
# as after reset, where it is not the map's reset value
FIXED = {
    "id.magic": 0x46525A46, "id.format": 1 << 16, "id.map_hash": MAP_HASH, "id.build_hash": 0xB0B,
    "id.boot_nonce": 0x7EA,
    "id.devices": 0x01180001, "id.trace": 0x00444041, "id.tap_depth": DEPTH, "id.chunk": 256, "id.max_burst": 255,
    "id.clk_bus": 100_000_000, "id.clk_link": 78_125_000, "id.cross_latency": 32, "id.sync_period": PERIOD,
    "id.post_drain": 4, "id.counters": 0x00200000, "id.flows": 0x0101,
}  # fmt: skip
LACKING: dict[str, tuple[int, ...]] = {
    "ctl.kinds": (4,), "ctl.post": (4,), "ctl.stall_limit": (), "ctl.snapshot_log2": (), "ctl.sample_period": (),
    "ctl.index": (), "trigger.count": (), "trigger.limit": (), "trigger.term.value_lo": (1,),
    "trigger.term.kinds": (1,), "provoke.rx_dma": (), "provoke.traffic": (), "provoke.traffic_gap": (),
    "provoke.traffic_seed": (), "provoke.link": (),
}  # fmt: skip
CONFIGURED = {
    "ctl.cause_mask": 0x123, "trigger.term.value_lo": 0xDEADBEEF, "trigger.term.value_hi": 0x01234567,
    "trigger.term.mask_lo": 0xFFFF0000, "trigger.term.mask_hi": 0x89ABCDEF, "trigger.term.kinds": 0x4, "ctl.options": 0,
    "trigger.config": 0x21,
}  # fmt: skip


@pytest.mark.parametrize("build", BUILDS)
def test_the_small_device_of_four_memories(tmp_path: Path, build: str) -> None:
    simulate("ff_quad_lean", __name__, tmp_path, {
        "BUILD_HASH": 0xB0B, "TAP_DEPTH": DEPTH, "SYNC_PERIOD": PERIOD, "POST_DRAIN": 4, **BUILDS[build],
    })  # fmt: skip


class LeanDevice(Device):
    """The device on its clocks; what ff_quad has beyond it does not exist here."""

    async def start(self) -> Self:
        dut = self.dut
        Clock(dut.clk_bus, 10_000, "ps").start()
        self.link_clock = Clock(dut.clk_link, 12_800, "ps")
        self.link_clock.start()
        for name in (
            "bus_rst", "causes_bus", "causes_link", "trigger_in", "cross_in", "nic_held", "time_in",
            *(f"{tap}_{part}" for tap in TAPS for part in ("valid", "kind", "data")),
        ):  # fmt: skip
            getattr(dut, name).value = 0
        dut.boot_nonce.value = 0x7EA
        await self.reset()
        cocotb.start_soon(self._time_line())
        return self

    async def reset(self) -> None:
        self.dut.rst.value = 1
        await ClockCycles(self.dut.clk_bus, 12)
        await FallingEdge(self.dut.clk_bus)
        self.dut.rst.value = 0
        await ClockCycles(self.dut.clk_bus, 4)


async def device(dut: Any) -> LeanDevice:
    made = LeanDevice(dut)
    await made.start()
    await FallingEdge(dut.clk_bus)
    return made


@cocotb.test()
async def what_the_taps_saw_stands_in_the_memories_in_order_with_its_time(dut: Any) -> None:
    """Section 2, rules 1 to 5: every word of every record."""
    dev, draw = await device(dut), random.Random(1)
    await dev.port.arm()
    await ClockCycles(dut.clk_link, 12)
    sent = [packet(draw, 5) for _ in range(4)]
    for tap in range(4):
        cocotb.start_soon(dev.feed(tap, sent[tap], gap=tap * 7))
    await ClockCycles(dut.clk_link, 300)
    await dev.port.freeze()
    for tap in range(4):
        records = await dev.port.memory(tap)
        assert [(kind, data) for _, kind, data in records if kind < MARK] == sent[tap], TAPS[tap]
        assert [kind for _, kind, _ in records[-2:]] == [MARK, TIME]
        assert records[0][0] == 15
        assert records[-2][2] & 0xFFFF == 1  # cause host
        cycle = records[-1][2]
        for (dt, _, _), (_, kind, data) in zip(records[:0:-1], records[-2::-1], strict=True):
            assert dt == 15 or kind != TIME or data == cycle - dt
            cycle = data if kind == TIME else cycle - dt
        assert await dev.port.read("memory.stored", tap) == len(records)
        assert await dev.port.read("memory.offered", tap) == len(sent[tap])
        assert await dev.port.read("memory.lost", tap) == 0
        assert await dev.port.read("memory.status", tap) == 0
        assert await dev.port.access(at(f"trace_{TAPS[tap]}") + 16 * DEPTH) == (True, NEVER)
    assert await dev.port.read("ctl.state") & 0xF03 == 0xF03


@cocotb.test()
async def the_pairs_are_the_first_toggle_after_arm_and_the_last_before_the_freeze(dut: Any) -> None:
    """Section 6: in the master's own domain to the cycle, in the other 2 to 3 of its cycles late."""
    dev = await device(dut)
    for run in range(2):
        await dev.port.arm()
        assert await dev.port.read("pair.status", 0) == await dev.port.read("pair.status", 1) == 0
        assert await dev.port.read("pair.last_lo", 1) == 0
        await ClockCycles(dut.clk_bus, 5 * PERIOD + 7 * run)
        await dev.port.freeze()
        found = []
        for domain in (0, 1):
            assert await dev.port.read("pair.status", domain) == 3
            found.append([
                await dev.port.read(f"pair.{which}_{part}", domain)
                for which in ("first", "last") for part in ("number", "lo", "hi")
            ])  # fmt: skip
        (first, lo, hi, last, last_lo, last_hi), far = found
        assert (lo, last_lo, hi, last_hi) == (first * PERIOD, last * PERIOD, 0, 0)
        assert last > first > 0
        # 10.0 ns and 12.8 ns from one reset; the link's own begins some cycles late
        assert abs((far[4] - far[1]) * 12.8 - (far[3] - far[0]) * PERIOD * 10.0) <= 12.8
        assert (far[2], far[5]) == (0, 0)
        assert far[0] in (first, first + 1)


@cocotb.test()
async def one_toggle_is_the_first_and_the_last(dut: Any) -> None:
    dev = await device(dut)
    await dev.port.arm()
    while await dev.port.read("pair.status", 0) == 0:
        pass
    words = [await dev.port.read(f"pair.{which}_{part}", 0)
             for which in ("first", "last") for part in ("number", "lo", "hi")]  # fmt: skip
    assert words[0] > 0
    assert words[1] == words[0] * PERIOD
    assert words[3] in (words[0], words[0] + 1)
    assert words[4] in (words[1], words[1] + PERIOD)


@cocotb.test()
@cocotb.parametrize(tap=[0, 1, 2, 3])
async def a_trigger_freezes_on_one_word_of_its_tap_and_no_other(dut: Any, tap: int) -> None:
    dev, draw = await device(dut), random.Random(tap)
    words = packet(draw, 12)
    kind, data = words[6]
    bit = 1 << draw.randrange(64)
    await dev.port.trigger_on(tap, kind, data)
    await dev.port.arm()
    await ClockCycles(dut.clk_link, 12)
    await dev.feed(tap, [(kind, data ^ bit), (kind ^ 1, data), *words[:6]])
    for other in {0, 1, 2, 3} - {tap}:
        await dev.feed(other, words)
    await ClockCycles(dut.clk_bus, 20)
    assert await dev.port.read("ctl.state") & 3 == 1
    await dev.feed(tap, words[6:])
    assert await dev.port.frozen()
    assert await dev.port.read("ctl.causes") == 2


@cocotb.test()
async def every_register_of_the_map_that_can_be_read_answers_with_its_reset_value(dut: Any) -> None:
    dev = await device(dut)
    await dev.port.check_reset_values(FIXED)


@cocotb.test()
async def a_write_to_what_is_lacking_answers_an_error_and_it_reads_its_reset_value(
    dut: Any,
) -> None:
    dev = await device(dut)
    infos = {info.name: info for info in REGISTERS}
    for errors, (name, indices) in enumerate(LACKING.items(), 1):
        reset = sum(field.reset << field.lsb for field in infos[name].fields)
        assert (await dev.port.access(at(name, *indices), 0x0101_0101))[0], name
        assert await dev.port.read(name, *indices) == reset, name
        assert await dev.port.read("id.bus_errors") == errors
    assert await dev.port.read("id.bus_error_addr") == 0
    await dev.port.arm()
    await dev.port.freeze()
    assert await dev.port.read("ctl.cause_cycle_lo") == 0


@cocotb.test()
async def configuration_is_read_back_as_written_and_reset_by_the_recorders_reset(dut: Any) -> None:
    """Section 1; of ctl.post each memory has its own."""
    dev = await device(dut)
    posts = [3, 99, 0, 77]
    for _ in range(2):
        for tap, post in enumerate(posts):
            assert await dev.port.read("ctl.post", tap) == 64
            await dev.port.write("ctl.post", post, tap)
        for name, value in CONFIGURED.items():
            await dev.port.write(name, value, *([0] if "term" in name else []))
        for name, value in CONFIGURED.items():
            assert await dev.port.read(name, *([0] if "term" in name else [])) == value, name
        assert [await dev.port.read("ctl.post", tap) for tap in range(5)] == [*posts, 64]
        for name in ("trigger.config", "ctl.options"):
            await dev.port.write(name, NEVER)
            assert await dev.port.read(name) == 0x71
        await dev.port.arm()
        await dev.reset()
        assert await dev.port.read("ctl.cause_mask") == 0xFFF
        assert await dev.port.read("ctl.options") == 1
        assert await dev.port.read("trigger.config") == 0
        assert await dev.port.read("ctl.state") == await dev.port.read("ctl.generation") == 0
        for name in ("value_lo", "value_hi", "mask_lo", "mask_hi", "kinds"):
            assert await dev.port.read(f"trigger.term.{name}", 0) == 0


@cocotb.test()
async def each_memory_closes_behind_as_many_records_as_its_own_post_asks_for(dut: Any) -> None:
    """Section 2, rules 4 and 5."""
    dev, draw = await device(dut), random.Random(4)
    posts = [1, 5, 9, 2]
    for tap, post in enumerate(posts):
        await dev.port.write("ctl.post", post, tap)
    await dev.port.arm()
    await ClockCycles(dut.clk_link, 12)
    words = [packet(draw, 40) for _ in TAPS]
    for tap in range(4):
        cocotb.start_soon(dev.feed(tap, words[tap]))
    await ClockCycles(dut.clk_bus, 15)
    await FallingEdge(dut.clk_bus)
    dut.causes_bus.value = 0x0004
    await FallingEdge(dut.clk_bus)
    dut.causes_bus.value = 0
    assert await dev.port.frozen()
    assert await dev.port.read("ctl.causes") == 0x0004
    for tap, post in enumerate(posts):
        records = await dev.port.memory(tap)
        assert records[-2][1:] == (MARK, records[-2][2])
        since = records[-2][2] >> 16 & NEVER
        # a word a cycle, and post drops by itself every POST_DRAIN (4) cycles as well
        assert post - post // 4 - 1 <= since <= post + 1
        assert [(kind, data) for _, kind, data in records if kind < MARK] == words[tap][
            : len(records) - 2
        ]


@cocotb.test()
async def a_term_is_compared_in_every_bit_of_the_data_and_the_kind(dut: Any) -> None:
    """The tables: with the bit wrong it does not fire, with the bit masked it does (docs/trigger.md)."""
    dev, draw = await device(dut), random.Random(6)
    data, kind = draw.getrandbits(64), BODY
    for tap, bit in enumerate((0, 31, 32, 63)):
        await dev.port.trigger_on(tap, kind, data ^ 1 << bit)
        await dev.port.arm()
        await ClockCycles(dut.clk_link, 12)
        await dev.feed(tap, [(kind, data)] * 2)
        await ClockCycles(dut.clk_bus, 20)
        assert await dev.port.read("ctl.state") & 3 == 1, bit
        await dev.port.write(
            f"trigger.term.mask_{'hi' if bit > 31 else 'lo'}", NEVER ^ 1 << bit % 32, 0
        )
        await dev.port.arm()
        await ClockCycles(dut.clk_link, 12)
        await dev.feed(tap, [(kind ^ 1, data), (kind ^ 4, data), (kind ^ 8, data)])
        await ClockCycles(dut.clk_bus, 20)
        assert await dev.port.read("ctl.state") & 3 == 1, bit
        await dev.feed(tap, [(kind, data)])
        assert await dev.port.frozen(), bit
        assert await dev.port.read("ctl.causes") == 2


@cocotb.test()
async def an_error_answer_is_counted_and_changes_nothing(dut: Any) -> None:
    dev = await device(dut)
    outside = (0x64, 0x900, 0x0200_0000, 0x00FF_FFFC, at("ctl.arm"), at("ctl.index_data", 0))
    windows = [window.address for window in WINDOWS]
    for number, address in enumerate([*outside, *windows], 1):
        assert await dev.port.access(address) == (True, NEVER), hex(address)
        assert await dev.port.read("id.bus_errors") == number
    for address in (
        0x0,
        at("ctl.causes"),
        at("memory.stored", 1),
        at("pair.status", 1),
        at("trace_tx_enq"),
    ):
        assert (await dev.port.access(address, 5))[0], hex(address)
    assert await dev.port.read("ctl.state") == 0


@cocotb.test()
async def writes_while_frozen_and_words_that_go_on_alter_no_evidence(dut: Any) -> None:
    dev, draw = await device(dut), random.Random(9)
    await dev.port.arm()
    await ClockCycles(dut.clk_link, 12)
    for tap in range(4):
        await dev.feed(tap, packet(draw, 9))
    await ClockCycles(dut.clk_bus, 2 * PERIOD)
    await dev.port.freeze()
    pairs = [info.name for info in REGISTERS if info.name.startswith("pair.")]

    async def evidence() -> list[object]:
        return [
            *[await dev.port.memory(tap) for tap in range(4)], await dev.port.read("ctl.causes"),
            *[await dev.port.read(f"memory.{what}", tap) for what in ("stored", "offered") for tap in range(4)],
            *[await dev.port.read(name, domain) for name in pairs for domain in range(2)],
        ]  # fmt: skip

    before = await evidence()
    for info in REGISTERS:
        if "w" in info.access and info.name != "ctl.arm":
            await dev.port.access(at(info.name, *(0 for _ in info.dims)), draw.getrandbits(32))
    for name in TAPS:
        assert (await dev.port.access(at(f"trace_{name}"), 0))[0]
    dut.causes_bus.value = dut.causes_link.value = 0xFFFF
    for tap in range(4):
        await dev.feed(tap, packet(draw, 30))
    assert await evidence() == before


@cocotb.test()
async def a_memory_that_has_wrapped_says_so_and_holds_the_last_words(dut: Any) -> None:
    """Section 2, rule 7."""
    dev, draw = await device(dut), random.Random(3)
    await dev.port.arm()
    await ClockCycles(dut.clk_link, 12)
    for tap in (0, 2):
        words = packet(draw, DEPTH + 40)
        await dev.feed(tap, words)
        assert await dev.port.read("memory.status", tap) == 1
        assert await dev.port.read("memory.status", tap + 1) == 0
        assert await dev.port.read("memory.offered", tap) == len(words)
    await dev.port.freeze()
    for tap in range(4):
        stored = await dev.port.read("memory.stored", tap)
        assert await dev.port.read("memory.write_ptr", tap) == stored % DEPTH
        assert await dev.port.read("memory.status", tap) == int(stored >= DEPTH)


@cocotb.test()
async def the_link_domains_words_are_an_error_while_its_clock_stands_still(dut: Any) -> None:
    """What cannot be read is told, and nothing else waits for it."""
    dev = await device(dut)
    await dev.port.arm()
    assert await dev.port.read("memory.stored", 1) == 0
    dev.link_clock.stop()
    assert await dev.port.access(at("memory.stored", 2)) == (True, NEVER)
    assert await dev.port.read("id.bus_errors") == 1
    assert await dev.port.read("memory.stored", 3) < 200
    dev.link_clock.start()
    await ClockCycles(dut.clk_bus, 20)
    assert await dev.port.read("memory.offered", 2) == 0
    await dev.port.freeze()
    assert [record[1] for record in (await dev.port.memory(1))[-2:]] == [MARK, TIME]


@cocotb.test()
async def a_bus_reset_ends_an_access_and_nothing_else(dut: Any) -> None:
    dev, draw = await device(dut), random.Random(5)
    await dev.port.arm()
    await ClockCycles(dut.clk_link, 12)
    await dev.feed(1, packet(draw, 9))
    await dev.port.freeze()
    before = await dev.port.memory(1)
    for cycles in range(1, 6):
        await FallingEdge(dut.clk_bus)
        dut.s_req.value, dut.s_we.value, dut.s_addr.value = (
            1,
            0,
            at("trace_tx_deq") + 4 * draw.randrange(40),
        )
        await ClockCycles(dut.clk_bus, cycles)
        await FallingEdge(dut.clk_bus)
        dut.s_req.value, dut.bus_rst.value = 0, 1
        await FallingEdge(dut.clk_bus)
        dut.bus_rst.value = 0
        assert await dev.port.read("id.magic") == 0x46525A46
        assert await dev.port.memory(1) == before
