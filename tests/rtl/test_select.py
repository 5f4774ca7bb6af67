"""The small device ff_select over its register port: one map, and what this build lacks says so."""

from __future__ import annotations

import random
import zlib
from itertools import product
from pathlib import Path
from typing import Any

import cocotb
import pytest
from cocotb.triggers import ClockCycles, FallingEdge, RisingEdge

from freezeframe.capture.registers.map_table import MAP_HASH, REGISTERS
from tests.rtl.clocks import Clock
from tests.rtl.register_port import TAPS, RegisterPort, at
from tests.rtl.simulation import simulate

DEPTH, SYNC_PERIOD = 256, 1024
HEAD, BODY, TAIL, MARK, TIME = 1, 2, 3, 13, 15
# as after reset, and where it is not the map's reset value
FIXED = {
    "id.magic": 0x46525A46, "id.format": 1 << 16, "id.map_hash": MAP_HASH, "id.build_hash": 0xB0B, "id.boot_nonce": 77,
    "id.devices": 0x01180001, "id.trace": 0x00444040, "id.tap_depth": DEPTH, "id.chunk": 256, "id.max_burst": 255,
    "id.clk_bus": 100_000_000, "id.clk_link": 100_000_000, "id.cross_latency": 32, "id.sync_period": SYNC_PERIOD,
    "id.post_drain": 4, "id.counters": 0x00200000, "id.flows": 0x0101,
}  # fmt: skip


BUILDS: dict[str, dict[str, object]] = {
    "everything": {"WITH_CRC": 1},
    "lean": {
        "WITH_CRC": 0, "WITH_KINDS": 0, "WITH_CROSS": 0, "WITH_ERROR_ADDR": 0, "NONCE_W": 8, "POST_W": 8,
        "TRIGGER_SRL": 1,
    },
}  # fmt: skip


@pytest.mark.parametrize("build", BUILDS)
def test_the_small_device(tmp_path: Path, build: str) -> None:
    parameters = {
        "BUILD_HASH": 0xB0B, "TAP_DEPTH": DEPTH, "SYNC_PERIOD": SYNC_PERIOD, "POST_DRAIN": 4, "COUNT_W": 12,
        "TIME_W": 40, **BUILDS[build],
    }  # fmt: skip
    simulate("ff_select", __name__, tmp_path, parameters)


async def device(dut: Any) -> RegisterPort:
    port = RegisterPort(dut, dut.clk)
    Clock(dut.clk, 10, "ns").start()
    for name in ("bus_rst", "tap_valid", "tap_kind", "tap_data", "causes_in", "trigger_in", "cross_in", "nic_held",
                 "time_in"):  # fmt: skip
        getattr(dut, name).value = 0
    dut.boot_nonce.value = 77
    dut.rst.value = 1
    await ClockCycles(dut.clk, 5)
    dut.rst.value = 0
    await ClockCycles(dut.clk, 5)
    return port


async def feed(dut: Any, words: list[list[tuple[int, int]]]) -> None:
    """Give each tap its words, all taps at once, a word a cycle."""
    for number in range(len(words[0])):
        await FallingEdge(dut.clk)
        dut.tap_valid.value = 15
        dut.tap_kind.value = sum(words[tap][number][0] << 4 * tap for tap in range(4))
        dut.tap_data.value = sum(words[tap][number][1] << 64 * tap for tap in range(4))
    await FallingEdge(dut.clk)
    dut.tap_valid.value = 0


def four_packets(seed: int, body: int) -> list[list[tuple[int, int]]]:
    draw = random.Random(seed)
    kinds = [HEAD, HEAD, *[BODY] * body, TAIL]
    return [[(kind, draw.getrandbits(64)) for kind in kinds] for _ in TAPS]


@cocotb.test()
async def every_register_of_the_map_that_can_be_read_answers_with_its_reset_value(dut: Any) -> None:
    port = await device(dut)
    await port.check_reset_values(FIXED)


@cocotb.test()
async def the_selected_tap_is_recorded_in_its_own_place_and_nowhere_else(dut: Any) -> None:
    """Section 2, end: the one memory stands in the place of the tap named at arm; the others do not exist."""
    port = await device(dut)
    for tap in range(4):
        await port.write("ctl.options", 1 | tap << 4)
        await port.arm()
        words = four_packets(tap, 6)
        await feed(dut, words)
        await port.write("ctl.options", 1 | (tap ^ 1) << 4)  # takes effect at the next arm
        await port.freeze()
        records = await port.memory(tap)
        assert [(kind, data) for _, kind, data in records if kind < MARK] == words[tap]
        assert [kind for _, kind, _ in records[-2:]] == [MARK, TIME]
        assert await port.read("memory.stored", tap) == len(records)
        assert await port.read("memory.offered", tap) == 9
        assert await port.read("ctl.state") == 3 | 1 << (8 + tap)
        for other in {0, 1, 2, 3} - {tap}:
            assert await port.read("memory.write_ptr", other) == 0
            assert (await port.access(at(f"trace_{TAPS[other]}")))[0]
        assert (await port.access(at("trace_event_log")))[0]
    assert await port.read("ctl.generation") == 4


@cocotb.test()
async def configuration_is_read_back_as_written_and_reset_by_the_recorders_reset(dut: Any) -> None:
    """Section 1; kinds and post are one register each, shown in every place."""
    port = await device(dut)
    values = {
        "ctl.cause_mask": 0x123, "trigger.term.value_lo": 0xDEADBEEF, "trigger.term.value_hi": 0x01234567,
        "trigger.term.mask_lo": 0xFFFF0000, "trigger.term.mask_hi": 0x89ABCDEF, "trigger.term.kinds": 0x4,
        "ctl.kinds": 0xF00E, "ctl.post": 99,
    }  # fmt: skip
    if not int(dut.WITH_KINDS.value):
        del values["ctl.kinds"]
        assert (await port.access(at("ctl.kinds", 0), 0xF00E))[0]
        assert await port.read("ctl.kinds", 0) == 0xFFFF
    for name, value in values.items():
        await port.write(
            name, value, *([0] if "term" in name or name in ("ctl.kinds", "ctl.post") else [])
        )
    await port.write("trigger.config", 0xFFFFFFFF)
    await port.write("ctl.options", 0xFFFFFFFF)
    for name, value in values.items():
        places = (
            [0] if "term" in name else range(5) if name in ("ctl.kinds", "ctl.post") else [None]
        )
        for place in places:
            assert await port.read(name, *([] if place is None else [place])) == value, name
    assert await port.read("trigger.config") == 0x31
    assert await port.read("ctl.options") == 0x31
    for lacking in (
        "ctl.stall_limit",
        "ctl.snapshot_log2",
        "trigger.count",
        "provoke.traffic_gap",
        "ctl.index",
    ):
        assert (await port.access(at(lacking), 7))[0], lacking
    assert (await port.access(at("trigger.term.value_lo", 1), 7))[0]
    await FallingEdge(dut.clk)
    dut.rst.value = 1
    await ClockCycles(dut.clk, 3)
    await FallingEdge(dut.clk)
    dut.rst.value = 0
    assert await port.read("ctl.cause_mask") == 0xFFF
    assert await port.read("ctl.kinds", 3) == 0xFFFF
    assert await port.read("ctl.post", 2) == 64
    assert await port.read("trigger.term.value_lo", 0) == 0
    assert await port.read("id.bus_errors") == 0
    assert await port.read("id.bus_error_addr") == 0


@cocotb.test()
async def the_trigger_freezes_on_a_word_of_the_selected_tap_alone(dut: Any) -> None:
    """One 72-bit value and mask: data and kind; the word is before the cause."""
    port = await device(dut)
    words = four_packets(5, 8)
    wanted = words[2][5][1]
    await port.trigger_on(2, BODY, wanted)
    await port.write("ctl.post", 1, 0)
    await port.arm()  # tap 0 is selected, the trigger is for tap 2
    await feed(dut, words)
    assert await port.read("ctl.state") & 3 == 1
    await port.write("ctl.options", 2 << 4)
    await port.arm()
    await feed(dut, words)
    assert await port.frozen()
    assert await port.read("ctl.causes") == 2
    kinds = [kind for _, kind, _ in await port.memory(2)]
    assert (
        len([kind for kind in kinds if kind < MARK]) == 5 + 1 + 1 + 1
    )  # in the cause's cycle one, then post


@cocotb.test()
async def an_error_answer_is_counted_and_changes_nothing(dut: Any) -> None:
    port = await device(dut)
    addresses = (0x64, 0x900, 0x40000, 0x01000000, 0x00FFFFFC, 0x4000, 0x6000, 0x10000, 0x108)
    for number, address in enumerate(addresses):
        assert await port.access(address) == (True, 0xFFFFFFFF), hex(address)
        assert await port.read("id.bus_errors") == number + 1
        assert await port.read("id.bus_error_addr") == address * int(dut.WITH_ERROR_ADDR.value)
    assert (await port.access(0x0, 5))[0]
    assert (await port.access(0x110, 5))[0]
    assert await port.read("ctl.state") == 0


@cocotb.test()
async def an_address_is_answered_as_the_map_says_and_every_error_is_counted(dut: Any) -> None:
    """Of the low registers and the banks behind; what is lacking can be read and not be written."""
    port, draw = await device(dut), random.Random(int(dut.NONCE_W.value))  # others in each build
    readable = {
        at(info.name, *places): info.name == "ctl.index_data"  # not before it is frozen
        for info in REGISTERS if "r" in info.access
        for places in product(*(range(count) for count, _ in info.dims))
    }  # fmt: skip
    arrays = ("ctl.post", "ctl.kinds") if int(dut.WITH_KINDS.value) else ("ctl.post",)
    names = ("ctl.arm", "ctl.freeze", "ctl.cause_mask", "ctl.options", "trigger.config")
    parts = ("value_lo", "value_hi", "mask_lo", "mask_hi", "kinds")
    writable = {at(name) for name in names} | {at(f"trigger.term.{part}", 0) for part in parts}
    writable |= {at(name, place) for name in arrays for place in range(5)}
    near_writable = {address ^ 1 << bit for address in writable for bit in range(2, 12)}
    addresses = [*writable, *draw.sample(sorted(near_writable - writable), 24), *draw.sample(range(0, 0x800, 4), 36),
                 *draw.sample(range(0x800, 0x4000, 4), 12), *(1 << bit for bit in range(11, 32))]  # fmt: skip
    errors = 0
    for address in addresses:
        for value in (0, None):
            error, _ = await port.access(address, value)
            good = address in writable if value == 0 else not readable.get(address, True)
            assert error == (not good), (hex(address), value)
            errors += error
        if draw.random() < 0.2:
            assert await port.read("id.bus_errors") == errors, hex(address)
    assert await port.read("id.bus_errors") == errors


@cocotb.test()
async def a_word_that_changes_while_it_is_read_is_that_of_one_cycle(dut: Any) -> None:
    """State, causes and counts: before or after, never bits of both."""
    port = await device(dut)
    await port.write("ctl.post", 200, 0)
    for cycle in range(0, 130, 5):
        await port.arm()
        before = await port.read("memory.offered", 0)
        name = ("ctl.state", "ctl.causes", "memory.offered")[cycle % 9 // 3]
        reading = cocotb.start_soon(port.read(name, *([0] if name == "memory.offered" else [])))
        for step in range(130):
            await FallingEdge(dut.clk)
            dut.causes_in.value = 0x0FFC if step == cycle else 0
            dut.tap_valid.value, dut.tap_kind.value = 15 if step % 4 else 0, 0x2222
            if reading.done():
                break
        dut.tap_valid.value = dut.causes_in.value = 0
        value = await reading
        if name == "ctl.state":
            assert value in (1, 2), (cycle, hex(value))  # 3 would be frozen, and is made of the two
        elif name == "ctl.causes":
            assert value in (0, 0x7FC), (cycle, hex(value))  # cross is not taken from this port
        else:
            assert before <= value <= await port.read(name, 0) and value - before <= 130, (
                cycle,
                value,
            )


@cocotb.test()
async def an_access_that_the_buss_reset_cuts_off_has_not_happened(dut: Any) -> None:
    """Whichever cycle the reset comes in: an arm, a write, an error; and one that was answered has."""
    port = await device(dut)
    generation = errors = 0
    kept = 0x5A5A5A5A
    await port.write("trigger.term.mask_hi", kept, 0)
    for cycle in [*range(1, 128, 7), 63, 64, 65]:
        for address, value in (
            (at("ctl.arm"), 0x4152 << 16 | generation + 1), (at("trigger.term.mask_hi", 0), ~kept & 0xFFFFFFFF),
            (at("id.magic"), 1),
        ):  # fmt: skip
            await FallingEdge(dut.clk)
            dut.s_req.value, dut.s_we.value, dut.s_addr.value, dut.s_wdata.value = (
                1,
                1,
                address,
                value,
            )
            answered = False
            for _ in range(cycle):
                await RisingEdge(dut.clk)
                answered = bool(int(dut.s_ack.value))
                await FallingEdge(dut.clk)
                if answered:
                    break
            dut.s_req.value = dut.s_we.value = dut.s_addr.value = dut.s_wdata.value = 0
            dut.bus_rst.value = 1
            await FallingEdge(dut.clk)
            dut.bus_rst.value = 0
            if answered:
                generation += address == at("ctl.arm")
                errors += address == at("id.magic")
                kept = value if address == at("trigger.term.mask_hi", 0) else kept
        assert await port.read("ctl.generation") == generation, cycle
        assert await port.read("id.bus_errors") == errors, cycle
        assert await port.read("trigger.term.mask_hi", 0) == kept, cycle
    assert generation and errors


@cocotb.test()
async def writes_while_frozen_and_words_that_go_on_alter_no_evidence(dut: Any) -> None:
    port, draw = await device(dut), random.Random(9)
    await port.arm()
    await feed(dut, four_packets(1, 20))
    await ClockCycles(dut.clk, 100)
    await port.freeze()
    pairs = [
        f"pair.{which}_{part}" for which in ("first", "last") for part in ("number", "lo", "hi")
    ]

    async def evidence() -> list[object]:
        return [await port.memory(0), await port.read("ctl.causes"), await port.read("memory.stored", 0),
                *[await port.read(name, 0) for name in pairs]]  # fmt: skip

    before = await evidence()
    assert await port.read("pair.first_lo", 0) == SYNC_PERIOD * await port.read(
        "pair.first_number", 0
    )
    for info in REGISTERS:
        if "w" in info.access and info.name != "ctl.arm":
            await port.access(at(info.name, *(0 for _ in info.dims)), draw.getrandbits(32))
    assert (await port.access(at("trace_tx_enq"), 0))[0]
    dut.causes_in.value = 0xFFFF
    await feed(dut, four_packets(2, 300))
    assert await evidence() == before


@cocotb.test()
async def the_pair_is_the_first_toggle_since_arm_and_the_last_before_the_memory_closed(
    dut: Any,
) -> None:
    """Section 6; a toggle of the master comes every SYNC_PERIOD cycles, its number tells its cycle."""
    port = await device(dut)
    await ClockCycles(dut.clk, 200)
    armed_after = int(dut.now.value)
    await port.arm()
    armed_before = int(dut.now.value) + 3
    for _ in range(40):  # accesses that meet a toggle take longer and answer no other word
        assert await port.read("id.map_hash") == MAP_HASH
        await port.write("trigger.term.value_lo", 0xA5A5A5A5, 0)
    await port.freeze()
    words = {
        part: await port.read(f"pair.{part}", 0)
        for part in ("first_number", "first_lo", "first_hi", "last_number", "last_lo", "last_hi", "status")
    }  # fmt: skip
    slots = await port.read("memory.write_ptr", 0)
    closed = int.from_bytes(
        (await port.record(0, slots - 1))[:8], "little"
    )  # TIME, the last record
    assert words["status"] == 3
    assert words["first_hi"] == words["last_hi"] == 0
    assert words["first_lo"] == SYNC_PERIOD * words["first_number"]
    assert words["last_lo"] == SYNC_PERIOD * words["last_number"]
    assert armed_after < words["first_lo"] < armed_before + SYNC_PERIOD
    assert closed - SYNC_PERIOD <= words["last_lo"] <= closed
    assert await port.read("trigger.term.value_lo", 0) == 0xA5A5A5A5
    while int(dut.now.value) % SYNC_PERIOD > 2:
        await FallingEdge(dut.clk)
    await port.arm()  # the next toggle is far: nothing of the last recording is left
    assert await port.read("pair.status", 0) == 0
    assert await port.read("pair.first_lo", 0) == await port.read("pair.last_number", 0) == 0


@cocotb.test(stage=-1)  # first: what no packet was written to is zero, and need not be read
async def a_crc_table_is_there_where_the_build_has_one(dut: Any) -> None:
    port = await device(dut)
    await port.arm()
    await feed(dut, four_packets(3, 30))
    await port.freeze()
    if not int(dut.WITH_CRC.value):
        assert (await port.access(at("crc_table")))[0]
        assert await port.read("memory.status", 0) == 0
        return
    stored = await port.read("memory.write_ptr", 0)
    assert stored > 30
    image = b"".join([await port.record(0, slot) for slot in range(stored + 2)]).ljust(
        9 * DEPTH, b"\0"
    )
    while await port.read("memory.status", 0) >> 16 < 1:
        await ClockCycles(dut.clk, 200)
    assert await port.read("crc_table") == zlib.crc32(image)
    assert (await port.access(at("crc_table", 1)))[0]
    assert (await port.access(at("crc_table", 64)))[0]
