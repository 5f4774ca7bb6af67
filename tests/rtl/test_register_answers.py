"""To the host, the emulator and the RTL are the same device: one list of accesses, the same answers from both.

Both have been armed once, by their driver; no words pass and no time does in the emulator, so what is compared is
the register file itself: values at reset, bits that exist, addresses that answer errors, and how those are counted.
The sampler is switched off, for it runs on the time; snapshots are left out, as is, at reset alone, what the emulator's
driver sets before a host comes.

Source: docs/formats.md section 1; firmware-hooks/registers/freezeframe.rdl.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import cocotb
from cocotb.triggers import ClockCycles

from freezeframe.capture.registers.layout import RegisterInfo
from freezeframe.capture.registers.map_table import REGISTERS, WINDOWS
from freezeframe.emulator.profile import load_profile
from freezeframe.emulator.target import EmulatorTarget
from tests.rtl.clocks import Clock
from tests.rtl.register_port import ARM_KEY, FREEZE_KEY, RegisterPort, at
from tests.rtl.simulation import simulate

PROFILE = load_profile("forth")
NONCE = 0x5EED_0001
DRIVER_SETS = (
    "ctl.cause_mask", "ctl.stall_limit", "ctl.options", "ctl.snapshot_log2", "ctl.sample_period", "ctl.kinds",
    "ctl.post",
)  # fmt: skip
DEVICE_SIZE = 1 << 24
ONES = 0xFFFFFFFF


def test_the_emulator_and_the_rtl_answer_every_access_alike(tmp_path: Path) -> None:
    p = PROFILE
    simulate("ff_quad", __name__, tmp_path, {
        "BUILD_HASH": p.digest, "DEVICES": 2, "TAP_DEPTH": p.trace_tap_depth, "EVENT_DEPTH": p.trace_event_depth,
        "EVENT_FIFO": p.trace_event_fifo, "CLK_BUS_HZ": p.clocks_bus_hz, "CLK_LINK_HZ": p.clocks_link_hz,
        "SAMPLER_DEPTH": p.trace_sampler_depth, "FLOWS": p.flows_count, "CREDIT_W": p.credit_w,
        "TX_FIFO": p.fifo_tx_words, "RX_FIFO": p.fifo_rx_words, "CREDIT_UNIT": p.flows_credit_unit_words,
        "CROSS_LATENCY": p.trace_cross_latency_cycles, "SYNC_PERIOD": p.trace_sync_period_cycles,
        "POST_DRAIN": p.trace_post_drain_cycles,
    })  # fmt: skip


class Access(NamedTuple):
    """A read, or a write where there is a value."""

    what: str
    address: int
    value: int | None = None


def read(what: str, *indices: int) -> Access:
    return Access(f"{what}{list(indices)}", at(what, *indices))


def places(access: str, *, ends: bool = True) -> Iterator[tuple[RegisterInfo, tuple[int, ...]]]:
    """Return every register with this access right and its indices: of an array the first and the last, or all."""
    for info in REGISTERS:
        if info.access == access:
            for indices in product(*(range(count) for count, _ in info.dims)):
                if not ends or all(
                    i in (0, n - 1) for i, (n, _) in zip(indices, info.dims, strict=True)
                ):
                    yield info, indices


def counted() -> list[Access]:
    """Return the reads that show an error answer: an error reads as all ones, a value may do so too."""
    return [read("id.bus_errors"), read("id.bus_error_addr")]


async def compare(dut: Any, accesses: list[Access]) -> None:
    """Make the accesses in a device and in an emulated one, both new and armed, and compare all answers."""
    emulator = EmulatorTarget("forth", access_ps=0, nonce=NONCE)
    dut.boot_nonce.value = int(emulator.read([at("id.boot_nonce")])[0])
    port = await _start(dut)
    assert await port.arm() == 1
    await ClockCycles(dut.clk_bus, 40)  # the link domain is armed as well
    errors = 0
    accesses = [Access("no samples", at("ctl.sample_period"), 0), *accesses]
    for number, (what, address, value) in enumerate(accesses):
        if value is None:
            expected = int(emulator.read([address])[0])
        else:
            emulator.write(address, [value])
            expected = 0
        error, answer = await port.access(address, value)
        assert answer == expected, f"{number}: {what} at {address:#08x}: {answer:#x}, {expected:#x}"
        errors += error
        if what == "id.bus_errors[]":  # an error answer must be one to the emulator as well
            assert answer == errors, f"{number}: {errors} error answers, {answer} counted"
    emulator.close()


async def _start(dut: Any) -> RegisterPort:
    port = RegisterPort(dut, dut.clk_bus)
    for signal in dut:
        if signal._name.endswith(
            ("_valid", "_kind", "_data", "_source", "_code", "_flow", "_value")
        ):
            if signal._name.startswith(("tx_", "rx_", "ev_")):
                signal.value = 0
        elif signal._name.startswith("bank_"):
            signal.value = 0
    for name in (
        "bus_rst", "causes_bus", "causes_link", "trigger_in", "cross_in", "nic_held", "time_in", "count_bus",
        "count_link", "flow_ack", "flow_data", "length_valid", "length_words", "inject_ready",
    ):  # fmt: skip
        getattr(dut, name).value = 0
    Clock(dut.clk_bus, 10_000, "ps").start()
    Clock(dut.clk_link, 12_800, "ps").start()
    dut.rst.value = 1
    await ClockCycles(dut.clk_bus, 12)
    dut.rst.value = 0
    await ClockCycles(dut.clk_bus, 60)  # the bins are cleared
    return port


@cocotb.test()
async def at_reset_every_register_that_can_be_read_reads_the_same(dut: Any) -> None:
    await compare(dut, [
        read(info.name, *indices)
        for access in ("r", "rw") for info, indices in places(access)
        if info.name not in DRIVER_SETS and not info.name.startswith(("snapshot.", "ctl.snapshot_seq"))
    ])  # fmt: skip


@cocotb.test()
async def what_was_written_reads_back_where_there_are_bits_and_nowhere_else(dut: Any) -> None:
    """All ones, zero, and a value of its own in every register at once: a reserved bit reads 0, and no register
    stands at two addresses.
    """
    draw, accesses = random.Random(1), []
    rw = list(places("rw", ends=False))
    for info, indices in rw:
        for value in (ONES, 0):
            accesses += [Access(f"{info.name} := {value:#x}", at(info.name, *indices), value)]
            accesses += [read(info.name, *indices)]
    for info, indices in rw:
        accesses += [Access(info.name, at(info.name, *indices), draw.getrandbits(32))]
    for info, indices in rw:
        accesses += [read(info.name, *indices)]
    buffer = next(window for window in WINDOWS if window.name == "inject_buffer")
    for word in (0, 1, 2, buffer.words - 1):
        accesses += [Access("inject_buffer", buffer.address + 4 * word, draw.getrandbits(32))]
    for word in (0, 1, 2, 3, buffer.words - 1):
        accesses += [Access("inject_buffer", buffer.address + 4 * word)]
    await compare(dut, [*accesses, *counted()])


@cocotb.test()
async def an_access_the_map_does_not_allow_is_an_error_and_counted_where_it_fell(dut: Any) -> None:
    """A write to what is read-only, a read of what is write-only, a hole, and everything behind the map."""
    accesses: list[Access] = []
    known = {
        at(info.name, *indices)
        for right in ("r", "w", "rw")
        for info, indices in places(right, ends=False)
    }
    for info, indices in places("r"):
        accesses += [
            Access(f"write {info.name}", at(info.name, *indices), 0x12345678),
            *counted()[1:],
        ]
    for info, indices in places("w"):
        accesses += [read(info.name, *indices), *counted()]
    last = max(address for address in known if address < min(w.address for w in WINDOWS))
    holes = [address for address in range(0, last + 64, 4) if address not in known]
    holes = random.Random(2).sample(holes, 100)
    behind = [window.address + 4 * window.words for window in WINDOWS]
    outside = [DEVICE_SIZE - 4, 2 * DEVICE_SIZE, ONES - 3]
    for address in [*holes, *behind, *outside]:
        accesses += [
            Access("nothing here", address),
            Access("nothing here", address, ONES),
            *counted(),
        ]
    for window in WINDOWS:  # of recordings, and nothing is frozen
        if window.frozen_only:
            accesses += [
                Access(window.name, window.address),
                Access(window.name, window.address, 1),
                *counted(),
            ]
    await compare(dut, accesses)


@cocotb.test()
async def a_key_or_token_that_is_wrong_does_nothing_and_is_no_error(dut: Any) -> None:
    look = [read("ctl.generation"), read("provoke.inject_count"), read("ctl.causes"), *counted()]
    accesses = [*look]
    for name, value in (
        ("ctl.arm", 0), ("ctl.arm", ARM_KEY), ("ctl.arm", FREEZE_KEY << 16 | 1), ("ctl.arm", ARM_KEY << 16 | 7),
        ("ctl.freeze", 0), ("ctl.freeze", ARM_KEY << 16), ("ctl.freeze", FREEZE_KEY << 16 | 0x7777),
        ("provoke.inject", 4 << 16 | 2), ("provoke.inject", 1), ("provoke.inject", 0),
    ):  # fmt: skip
        accesses += [Access(f"{name} := {value:#x}", at(name), value), *look]
    await compare(dut, accesses)
