"""ff_quad with LEAN: the same map and the same records out of memories read in halves, pairs in a RAM, and an error for
a write to what it lacks (docs/formats.md sections 1, 2 and 6).
"""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import cocotb
import pytest
from cocotb.triggers import ClockCycles, FallingEdge
from freezeframe.capture.registers.map_table import REGISTERS

from tests.rtl.register_port import at
from tests.rtl.simulation import simulate
from tests.rtl.test_quad import DEPTH, DESC, MARK, TAPS, TIME, Device, packet

PERIOD, NEVER = 64, 0xFFFF_FFFF
PARAMETERS = {
    "LEAN": 1, "TAP_DEPTH": DEPTH, "SAMPLER_DEPTH": 0, "COUNTERS": 0, "WITH_BANK": 0, "WITH_CRC": 0,
    "WITH_PROVOKE": 0, "TRIGGER_TERMS": 1, "POST_W": 8, "COUNT_W": 12, "TIME_W": 40, "EV_BUS": 2, "EV_LINK": 1,
    "SYNC_PERIOD": PERIOD, "EVENT_FIFO": 8, "POST_DRAIN": 4,
}  # fmt: skip
LACKING = ("ctl.kinds", "ctl.stall_limit", "provoke.rx_dma", "provoke.traffic", "provoke.traffic_gap",
           "provoke.traffic_seed", "provoke.link")  # fmt: skip


@pytest.mark.parametrize("event_depth", [0, DEPTH])
def test_a_lean_device(tmp_path: Path, event_depth: int) -> None:
    simulate("ff_quad", __name__, tmp_path, {**PARAMETERS, "EVENT_DEPTH": event_depth})


async def device(dut: Any) -> Device:
    made = Device(dut)
    await made.start()
    await FallingEdge(dut.clk_bus)
    return made


@cocotb.test()
async def what_the_taps_saw_stands_in_the_memories_in_order_with_its_time(dut: Any) -> None:
    """Section 2, rules 1 to 5: every word of every record, by its address and by INDEX."""
    dev, draw = await device(dut), random.Random(1)
    await dev.port.arm()
    await ClockCycles(dut.clk_link, 12)
    sent = [packet(draw, 5) for _ in range(4)]
    for tap in range(4):
        cocotb.start_soon(dev.feed(tap, sent[tap], gap=tap * 7))
    await ClockCycles(dut.clk_link, 300)
    await dev.port.freeze()
    for tap in range(4):
        records = await dev.memory(tap)
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
        for slot in draw.sample(range(len(records)), 3):
            await dev.port.write("ctl.index", tap << 24 | slot)
            words = [await dev.port.read("ctl.index_data", word) for word in range(3)]
            dt, kind, data = records[slot]
            assert words == [data & 0xFFFF_FFFF, data >> 32, kind | dt << 4]
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
    for name, value in (
        ("value_lo", data & NEVER), ("value_hi", data >> 32), ("mask_lo", NEVER), ("mask_hi", NEVER),
        ("kinds", 1 << kind),
    ):  # fmt: skip
        await dev.port.write(f"trigger.term.{name}", value, 0)
    await dev.port.write("trigger.config", 1 | tap << 4)
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
async def a_write_to_what_is_lacking_answers_an_error_and_it_reads_its_reset_value(
    dut: Any,
) -> None:
    dev = await device(dut)
    infos = {info.name: info for info in REGISTERS}
    for errors, name in enumerate(LACKING, 1):
        info = infos[name]
        reset = sum(field.reset << field.lsb for field in info.fields)
        indices = [count - 1 for count, _ in info.dims]
        assert (await dev.port.access(at(name, *indices), 0x0101_0101))[0], name
        assert await dev.port.read(name, *indices) == reset, name
        assert await dev.port.read("id.bus_errors") == errors
    assert await dev.port.read("id.bus_error_addr") == 0
    for port in (
        "cfg_stall_limit",
        "rx_dma_stop",
        "link_loopback",
        "traffic_enable",
        "traffic_gap",
    ):
        assert int(getattr(dut, port).value) == 0
    await dev.port.write("ctl.post", 3, 2)
    assert [await dev.port.read("ctl.post", tap) for tap in range(4)] == [64, 64, 3, 64]
    await dev.port.arm()
    await dev.port.freeze()
    assert await dev.port.read("ctl.cause_cycle_lo") == 0
    assert int(dut.s_record_valid.value) == 0


@cocotb.test()
async def an_event_log_that_is_there_is_read_in_halves_too(dut: Any) -> None:
    if not int(dut.EVENT_DEPTH.value):
        return
    dev = await device(dut)
    await dev.port.arm()
    await FallingEdge(dut.clk_bus)
    dut.ev_bus_source.value, dut.ev_bus_kind.value, dut.ev_bus_code.value = 1, DESC, 3
    dut.ev_bus_flow.value, dut.ev_bus_value.value, dut.ev_bus_valid.value = 5, 0xFE_DCBA_9876, 1
    await FallingEdge(dut.clk_bus)
    dut.ev_bus_valid.value = 0
    await dev.port.freeze()
    events = [(kind, data) for _, kind, data in await dev.memory(4) if kind < MARK]
    assert events == [(DESC, 0x03 << 56 | 1 << 48 | 5 << 40 | 0xFE_DCBA_9876)]
