"""The whole device ff_quad over its register port: what a host sees is what formats.md says.

Driven by cocotb in Icarus with two unrelated clocks; everything that is read is read as a number, so an x fails.
"""

from __future__ import annotations

import random
import zlib
from typing import Any, Self

import cocotb
from cocotb.triggers import ClockCycles, FallingEdge, RisingEdge

from freezeframe.capture.registers.map_table import MAP_HASH, REGISTERS
from tests.rtl.clocks import Clock
from tests.rtl.register_port import TAPS, RegisterPort, at
from tests.rtl.simulation import in_icarus

DEPTH = 256
PARAMETERS = {
    "BUILD_HASH": 0xB111D, "TAP_DEPTH": DEPTH, "EVENT_DEPTH": DEPTH, "SAMPLER_DEPTH": 16, "FLOWS": 2, "CREDIT_W": 8,
    "EV_BUS": 2, "EV_LINK": 1, "RX_FIFO": 64, "TX_FIFO": 32, "SYNC_PERIOD": 64, "EVENT_FIFO": 8,
    "POST_DRAIN": 4,
}  # fmt: skip
HEAD, BODY, TAIL, DESC, CREDIT, MARK, TIME = 1, 2, 3, 5, 4, 13, 15
LINK_TAPS = (1, 2)


test_a_device_of_four_taps = in_icarus("ff_quad", __name__, PARAMETERS)


class Device:
    """The device on its clocks, with a card that does nothing unless a test makes it."""

    def __init__(self, dut: Any) -> None:
        self.dut = dut
        self.port = RegisterPort(dut, dut.clk_bus)

    def clock_of(self, tap: int) -> Any:
        return self.dut.clk_link if tap in LINK_TAPS else self.dut.clk_bus

    async def start(self) -> Self:
        dut = self.dut
        Clock(dut.clk_bus, 10_000, "ps").start()
        Clock(dut.clk_link, 12_800, "ps").start()
        for name in (
            "bus_rst", "causes_bus", "causes_link", "trigger_in", "cross_in", "nic_held", "time_in", "count_bus",
            "count_link", "flow_ack", "flow_data", "length_valid", "length_words", "inject_ready", "ev_bus_valid",
            *(f"ev_{domain}_{part}" for domain in ("bus", "link")
              for part in ("valid", "kind", "source", "code", "flow", "value")),
            *(f"{tap}_{part}" for tap in TAPS for part in ("valid", "kind", "data")),
            *(f"bank_{name}" for name in (
                "tx_dma_state", "rx_dma_state", "tx_level", "rx_level", "dma_address", "dma_remaining",
                "descriptor_length", "descriptors_waiting", "interrupt_mask", "completions_waiting", "next_seq_out",
                "tx_link_state", "rx_link_state", "next_seq_in", "stalled_flows", "sync_level", "underflows",
                "overflows", "comma_phase")),
        ):  # fmt: skip
            getattr(dut, name).value = 0
        dut.boot_nonce.value = 0x0B007
        dut.rst.value = 1
        await ClockCycles(dut.clk_bus, 12)
        dut.rst.value = 0
        cocotb.start_soon(self._time_line())
        cocotb.start_soon(self._flows())
        await ClockCycles(dut.clk_bus, 40)
        return self

    async def _time_line(self) -> None:
        while True:  # a master hears its own line
            await FallingEdge(self.dut.clk_bus)
            self.dut.time_in.value = int(self.dut.time_out.value)
            await self.dut.time_out.value_change

    async def _flows(self) -> None:
        dut = self.dut
        while True:
            await FallingEdge(dut.clk_bus)
            asked = int(dut.flow_req.value)
            dut.flow_ack.value = asked
            if asked:
                number, field = int(dut.flow_number.value), int(dut.flow_field.value)
                dut.flow_data.value = 0x1000 * number + field
            else:
                await RisingEdge(dut.flow_req)

    async def feed(self, tap: int, words: list[tuple[int, int]], gap: int = 0) -> None:
        """Give words ``(kind, data)`` to a tap, ``gap`` idle cycles behind each."""
        name, clk = TAPS[tap], self.clock_of(tap)
        for kind, data in words:
            await FallingEdge(clk)
            getattr(self.dut, f"{name}_valid").value = 1
            getattr(self.dut, f"{name}_kind").value = kind
            getattr(self.dut, f"{name}_data").value = data
            if gap:
                await FallingEdge(clk)
                getattr(self.dut, f"{name}_valid").value = 0
                await ClockCycles(clk, gap)
        await FallingEdge(clk)
        getattr(self.dut, f"{name}_valid").value = 0


async def device(dut: Any) -> Device:
    return await Device(dut).start()


def packet(draw: random.Random, body: int) -> list[tuple[int, int]]:
    kinds = [HEAD, HEAD, *[BODY] * body, TAIL]
    return [(kind, draw.getrandbits(64)) for kind in kinds]


@cocotb.test()
async def after_reset_every_register_that_can_be_read_has_its_reset_value(dut: Any) -> None:
    """Section 1: configuration registers have their reset value; nothing is x; parameters are the build's."""
    dev = await device(dut)
    fixed = {
        "id.magic": 0x46525A46, "id.map_hash": MAP_HASH, "id.build_hash": 0xB111D, "id.boot_nonce": 0x0B007,
        "id.tap_depth": DEPTH, "id.event_depth": DEPTH, "id.sampler_depth": 16, "id.flows": 0x0802, "id.tx_fifo": 32,
        "id.rx_fifo": 64, "id.counters": 0x400020, "id.event_fifo": 8, "id.sync_period": 64,
    }  # fmt: skip
    for info in REGISTERS:
        if (
            "r" not in info.access
            or info.name == "ctl.index_data"
            or info.name.startswith(("snapshot", "id.bus"))
        ):
            continue
        counts = [count for count, _ in info.dims]
        value = await dev.port.read(info.name, *(count - 1 for count in counts))
        reset = sum(field.reset << field.lsb for field in info.fields)
        if info.name in fixed:
            assert value == fixed[info.name], info.name
        elif info.access == "rw" or info.name.startswith(("ctl", "memory", "frozen", "sampler")):
            assert value == reset, info.name
    assert await dev.port.read("id.bus_errors") == 0


@cocotb.test()
async def what_the_taps_saw_stands_in_the_memories_in_order_with_its_time(dut: Any) -> None:
    """Section 2, rules 1 to 5."""
    dev, draw = await device(dut), random.Random(1)
    assert await dev.port.arm() == 1
    await ClockCycles(dut.clk_link, 12)
    sent = [packet(draw, 5) for _ in range(4)]
    for tap in range(4):
        cocotb.start_soon(dev.feed(tap, sent[tap], gap=tap))
    await ClockCycles(dut.clk_link, 60)
    await dev.port.freeze()
    for tap in range(4):
        records = await dev.port.memory(tap)
        words = [(kind, data) for _, kind, data in records if kind < MARK]
        assert words == sent[tap], TAPS[tap]
        assert [kind for _, kind, _ in records[-2:]] == [MARK, TIME]
        assert records[0][0] == 15
        assert records[-2][2] & 0xFFFF == 1  # cause host
        cycle = records[-1][2]
        for (dt, _, _), (_, kind, data) in zip(records[:0:-1], records[-2::-1], strict=True):
            assert dt < 15 or kind == TIME
            assert dt == 15 or kind != TIME or data == cycle - dt
            cycle = data if kind == TIME else cycle - dt
        assert await dev.port.read("memory.stored", tap) == len(records)
        assert await dev.port.read("memory.offered", tap) == len(words)
        assert await dev.port.read("memory.lost", tap) == 0
    assert await dev.port.read("ctl.causes") == 1
    assert await dev.port.read("ctl.state") == 0x1F03


@cocotb.test()
async def a_word_of_a_memory_comes_with_its_whole_record_and_no_other_word_does(dut: Any) -> None:
    card = await device(dut)
    await card.port.arm()
    for tap in range(4):
        await card.feed(tap, packet(random.Random(tap), 5))
    await card.port.freeze()
    wide: list[int | None] = []

    async def watch() -> None:
        while True:
            await RisingEdge(dut.clk_bus)
            if int(dut.s_ack.value):
                wide.append(int(dut.s_record.value) if int(dut.s_record_valid.value) else None)
            else:
                assert not int(dut.s_record_valid.value)

    cocotb.start_soon(watch())
    for tap in range(4):
        for slot in (0, 3, 4, DEPTH - 1):
            first = at(f"trace_{TAPS[tap]}") + 16 * slot
            wide.clear()
            words = [await card.port.read(first + 4 * word) for word in (2, 0, 3, 1)]
            record = (
                words[1] | words[3] << 32 | words[0] << 64
            )  # formats.md 2: data low, data high, kind | dt << 4
            assert words[2] == 0
            assert wide == [record] * 4
    wide.clear()
    await card.port.read("ctl.state")
    await card.port.read("ctl.index_data", 0)  # as its own three words
    await card.port.access(at("trace_tx_enq"), 1)
    await card.port.access(at("trace_tx_enq") + 16 * DEPTH)
    assert wide == [None] * 4


@cocotb.test()
async def events_of_both_domains_stand_in_the_log(dut: Any) -> None:
    """Section 4: value, flow, source and code of an event; a link lane crosses."""
    dev = await device(dut)
    await dev.port.arm()
    await FallingEdge(dut.clk_bus)
    dut.ev_bus_source.value = 0x0401
    dut.ev_bus_valid.value = 3
    dut.ev_bus_kind.value = DESC | 6 << 4
    dut.ev_bus_code.value = 0x0203
    dut.ev_bus_flow.value = 5 | 6 << 7
    dut.ev_bus_value.value = 0x11 | 0x22 << 40
    await FallingEdge(dut.clk_bus)
    dut.ev_bus_valid.value = 0
    await FallingEdge(dut.clk_link)
    dut.ev_link_source.value = 2
    dut.ev_link_valid.value = 1
    dut.ev_link_kind.value = CREDIT
    dut.ev_link_code.value = 1
    dut.ev_link_flow.value = 7
    dut.ev_link_value.value = 0xFF_FFFF_FFFF
    await FallingEdge(dut.clk_link)
    dut.ev_link_valid.value = 0
    await ClockCycles(dut.clk_bus, 20)
    await dev.port.freeze()
    events = [(kind, data) for _, kind, data in await dev.port.memory(4) if kind < MARK]
    assert events == [
        (DESC, 0x03 << 56 | 1 << 48 | 5 << 40 | 0x11),
        (6, 0x02 << 56 | 4 << 48 | 6 << 40 | 0x22),
        (CREDIT, 0x01 << 56 | 2 << 48 | 7 << 40 | 0xFF_FFFF_FFFF),
    ]
    assert await dev.port.read("memory.offered", 4) == 3


@cocotb.test()
async def the_crc_table_covers_every_chunk_and_starts_again_after_a_bus_reset(dut: Any) -> None:
    """Section 1 and 7: CRC-32 over the 9-byte records of a chunk, never-written slots being zeros."""
    dev, draw = await device(dut), random.Random(2)
    await dev.port.arm()
    await ClockCycles(dut.clk_link, 12)
    await dev.feed(0, packet(draw, 40))
    await dev.feed(2, packet(draw, 300))
    await dev.port.freeze()
    images = {
        memory: b"".join([await dev.port.record(memory, slot) for slot in range(DEPTH)])
        for memory in (0, 2)
    }
    for round_ in range(2):
        while await dev.port.read("memory.status", 4) >> 16 < 1:
            await ClockCycles(dut.clk_bus, 1000)
        for memory, image in images.items():
            assert await dev.port.read("crc_table", memory * 64) == zlib.crc32(image)
        assert (await dev.port.access(0x4000 + 4))[0]  # one chunk: the second entry does not exist
        if round_ == 0:
            dut.bus_rst.value = 1
            await ClockCycles(dut.clk_bus, 4)
            dut.bus_rst.value = 0
            assert [await dev.port.read("memory.status", m) >> 16 for m in range(5)] == [0] * 5


@cocotb.test()
async def nothing_written_while_frozen_alters_evidence(dut: Any) -> None:
    """Issue: writes while frozen cannot alter evidence; words and events that go on change nothing."""
    dev, draw = await device(dut), random.Random(3)
    await dev.port.arm()
    await ClockCycles(dut.clk_link, 12)
    for tap in range(4):
        await dev.feed(tap, packet(draw, 3))
    await dev.port.freeze()
    await ClockCycles(dut.clk_bus, 200)

    async def evidence() -> list[object]:
        seen: list[object] = [await dev.port.memory(memory) for memory in range(5)]
        for info in REGISTERS:
            if info.name.startswith(("memory", "pair", "frozen", "ctl.cause_cycle", "ctl.causes")):
                for last in (0, 1):
                    indices = [last * (count - 1) for count, _ in info.dims]
                    if not info.name.startswith("memory.status"):
                        seen.append((info.name, await dev.port.read(info.name, *indices)))
        return seen

    before = await evidence()
    for info in REGISTERS:
        if "w" in info.access and info.name not in ("ctl.arm",):
            await dev.port.write(info.name, draw.getrandbits(32), *(0 for _ in info.dims))
    for name in ("trace_tx_enq", "crc_table", "samples"):
        assert (await dev.port.access(at(name), 0xFFFFFFFF))[0]
    dut.causes_bus.value = 0xFFFF
    dut.causes_link.value = 0xFFFF
    dut.count_bus.value = 0xFFFFFF00
    for tap in range(4):
        await dev.feed(tap, packet(draw, 30))
    assert await evidence() == before


@cocotb.test()
async def an_address_outside_answers_an_error_is_counted_and_changes_nothing(dut: Any) -> None:
    """Section 1, error answers."""
    dev = await device(dut)
    for number, address in enumerate(
        (0x64, 0x0000_0900, 0x40000, 0x0100_0000, 0x00FF_FFFC, 0x4000)
    ):
        error, data = await dev.port.access(address)
        assert (error, data) == (True, 0xFFFFFFFF), hex(address)
        assert await dev.port.read("id.bus_errors") == number + 1
        assert await dev.port.read("id.bus_error_addr") == address
    assert (await dev.port.access(0x0, 5))[0]
    assert await dev.port.read("id.magic") == 0x46525A46
    assert (await dev.port.access(0x108))[0]  # write-only
    assert await dev.port.read("ctl.state") == 0


@cocotb.test()
async def a_bus_reset_in_the_middle_of_a_pull_leaves_the_recording_readable(dut: Any) -> None:
    """Wire: a bus reset clears handshakes and INDEX; it is no arm."""
    dev, draw = await device(dut), random.Random(4)
    await dev.port.arm()
    await ClockCycles(dut.clk_link, 12)
    await dev.feed(1, packet(draw, 9))
    await dev.port.freeze()
    before = await dev.port.memory(1)
    await dev.port.write("ctl.index", 1 << 24 | 2)
    assert await dev.port.read("ctl.index_data", 0) == before[2][2] & 0xFFFFFFFF
    for cycles in range(1, 7):  # the reset falls into every step of an access that crosses
        await FallingEdge(dut.clk_bus)
        dut.s_addr.value = 0x200 + 0x20 + 8
        dut.s_we.value = 0
        dut.s_req.value = 1
        await ClockCycles(dut.clk_bus, cycles)
        await FallingEdge(dut.clk_bus)
        dut.bus_rst.value = 1
        dut.s_req.value = 0
        await ClockCycles(dut.clk_bus, 2)
        await FallingEdge(dut.clk_bus)
        dut.bus_rst.value = 0
        assert await dev.port.read("memory.write_ptr", 2) != 0xFFFFFFFF
        assert await dev.port.read("memory.stored", 1) == len(before)
    assert await dev.port.read("ctl.index") == 0
    assert await dev.port.read("ctl.generation") == 1
    assert await dev.port.memory(1) == before


@cocotb.test()
async def the_freeze_bank_holds_what_stood_at_the_freeze(dut: Any) -> None:
    """Map: register files frozen and frozen_flow."""
    dev = await device(dut)
    dut.bank_tx_dma_state.value = 3
    dut.bank_rx_link_state.value = 5
    dut.bank_tx_level.value = 17
    dut.bank_dma_address.value = 0x1122334455667788
    dut.bank_underflows.value = 7 << 32 | 9
    dut.bank_sync_level.value = 0x0403
    dut.bank_comma_phase.value = 0b1001
    await dev.port.arm()
    await dev.port.freeze()
    await ClockCycles(dut.clk_bus, 10)
    dut.bank_tx_dma_state.value = 0
    dut.bank_underflows.value = 0
    read = dev.port.read
    assert [await read("frozen.machine", i) for i in range(4)] == [3, 0, 0, 5]
    assert await read("frozen.tx_level") == 17
    assert (await read("frozen.dma_address_lo"), await read("frozen.dma_address_hi")) == (
        0x55667788,
        0x11223344,
    )
    assert [await read("frozen.lane.underflows", lane) for lane in (0, 1)] == [9, 7]
    assert [await read("frozen.lane.sync_level", lane) for lane in (0, 1)] == [3, 4]
    assert [await read("frozen.lane.comma_phase", lane) for lane in (0, 1)] == [1, 2]
    assert await read("frozen.freeze_cycle_lo") > await read("ctl.cause_cycle_lo")
    assert await read("frozen_flow.credited", 1) == 0x1001
    assert await read("frozen_flow.reported", 0) == 7
    assert await read("frozen_flow.sent", 127) == 0


@cocotb.test()
async def counters_of_both_domains_are_exact_at_freeze_and_in_the_snapshots(dut: Any) -> None:
    """Section 1.2: the frozen counters are those of the freeze; the current bank is snapshot_seq & 1."""
    dev, draw = await device(dut), random.Random(5)
    await dev.port.write("ctl.snapshot_log2", 6)
    await dev.port.arm()
    await ClockCycles(dut.clk_link, 12)
    for tap in range(4):
        for _ in range(tap + 1):
            await dev.feed(tap, packet(draw, 4))
    await FallingEdge(dut.clk_bus)
    dut.count_bus.value = 1 << 22 | 1 << 8
    await ClockCycles(dut.clk_bus, 100)
    await FallingEdge(dut.clk_bus)
    dut.count_bus.value = 0
    await FallingEdge(dut.clk_link)
    dut.count_link.value = 1 << 30
    await ClockCycles(dut.clk_link, 333)
    await FallingEdge(dut.clk_link)
    dut.count_link.value = 0
    await dev.port.freeze()
    read = dev.port.read
    for tap, name in enumerate(TAPS):
        assert await read(f"frozen_counters.{name}_words.lo") == 7 * (tap + 1), name
        assert await read(f"frozen_counters.{name}_packets.lo") == tap + 1, name
    assert await read("frozen_counters.interrupts.lo") == 0
    assert await read("frozen_counters.descriptors.lo") == 100
    assert await read("frozen_counters.header_errors.lo") == 100
    assert await read("frozen_counters.pressure_cycles.lo") == 333
    await ClockCycles(dut.clk_bus, 2000)
    bank = await read("ctl.snapshot_seq") & 1
    assert await read("snapshot.pressure_cycles.lo", bank) == 333
    assert await read("snapshot.pressure_cycles.hi", bank) == 0
    assert await read("snapshot.rx_deq_words.lo", 1 - bank) == 28


@cocotb.test()
async def samples_and_histograms_tell_words_and_levels(dut: Any) -> None:
    """Map: sampler, samples, both histograms."""
    dev, draw = await device(dut), random.Random(6)
    dut.bank_rx_level.value = 33  # of 64: bin 8
    await dev.port.write("ctl.sample_period", 50)
    await dev.port.arm()
    await ClockCycles(dut.clk_link, 12)
    await dev.feed(1, packet(draw, 20))
    await dev.feed(2, packet(draw, 7))
    for length in (0, 1, 512, 512):
        await FallingEdge(dut.clk_bus)
        dut.length_valid.value = 1
        dut.length_words.value = length
    await FallingEdge(dut.clk_bus)
    dut.length_valid.value = 0
    await ClockCycles(dut.clk_bus, 120)
    await dev.port.freeze()
    read = dev.port.read
    count = await read("sampler.write_ptr")
    assert 4 <= count < 16
    newest = [await read("samples", 2 * (count - 1) + part) for part in (0, 1)]
    assert newest == [23, 10]
    assert (await dev.port.access(0x10000 + 8 * 16))[0]
    assert await read("occupancy_histogram", 8) == count
    assert [await read("length_histogram", bin_) for bin_ in (0, 1, 2, 10)] == [1, 1, 0, 2]
    assert await read("sampler.last_cycle_lo") % 50 > 0


@cocotb.test()
async def an_injected_packet_leaves_once_for_its_token(dut: Any) -> None:
    """Map: provoke.inject acts on the token inject_count + 1 and once."""
    dev = await device(dut)
    words = [0x1111111122222222, 0x3333333344444444, 0x5555555566666666]
    for number, word in enumerate(words):
        await dev.port.write("inject_buffer", word & 0xFFFFFFFF, 2 * number)
        await dev.port.write("inject_buffer", word >> 32, 2 * number + 1)
    assert await dev.port.read("inject_buffer", 5) == 0x55555555
    seen: list[tuple[int, int]] = []

    async def take() -> None:
        while True:
            await FallingEdge(dut.clk_bus)
            if int(dut.inject_valid.value) and int(dut.inject_ready.value):
                seen.append((int(dut.inject_data.value), int(dut.inject_last.value)))

    cocotb.start_soon(take())
    await dev.port.write("provoke.inject", 3 << 16 | 5)  # a wrong token
    await dev.port.write("provoke.inject", 3 << 16 | 1)
    await ClockCycles(dut.clk_bus, 20)
    assert seen == []  # nobody takes it yet
    dut.inject_ready.value = 1
    await ClockCycles(dut.clk_bus, 20)
    await dev.port.write("provoke.inject", 3 << 16 | 1)  # doubled
    await ClockCycles(dut.clk_bus, 20)
    assert seen == [(words[0], 0), (words[1], 0), (words[2], 1)]
    assert await dev.port.read("provoke.inject_count") == 1


@cocotb.test()
async def a_trigger_on_a_link_tap_freezes_and_is_told(dut: Any) -> None:
    """Rule 4: a trigger is a cause; a USER event for it stands in the log; trigger_out pulses."""
    dev, draw = await device(dut), random.Random(7)
    words = packet(draw, 12)
    wanted = words[8][1]
    await dev.port.trigger_on(2, BODY, wanted)
    await dev.port.write("ctl.post", 2, 2)
    await dev.port.arm()
    await ClockCycles(dut.clk_link, 20)
    await dev.feed(1, words)  # another tap of that domain
    await ClockCycles(dut.clk_link, 10)
    assert await dev.port.read("ctl.state") & 3 == 1
    await dev.feed(2, words)
    assert await dev.port.frozen()
    assert await dev.port.read("ctl.causes") == 2
    records = [kind for _, kind, _ in await dev.port.memory(2)]
    assert records[-2:] == [MARK, TIME]
    assert (
        len([kind for kind in records if kind < MARK]) == 12
    )  # the word of the cause, and two behind it
