"""The worked examples of docs/add-to-your-nic.md in Icarus: the host's own programs read through the adapter what
was sent.

The cocotb side plays the card's traffic and the bus; arm, status and pull are those of ``freezeframe``. The pytest side
opens what was pulled and holds it against what a monitor saw at the card's own ports.
"""

from __future__ import annotations

import json
import random
import zlib
from itertools import pairwise
from pathlib import Path
from typing import Any

import cocotb
import numpy as np
from cocotb.task import bridge
from cocotb.triggers import ClockCycles, FallingEdge, RisingEdge, with_timeout

from freezeframe.capture.folder import CaptureFolder
from freezeframe.capture.recorder.control import arm, wait_for
from freezeframe.capture.recorder.pull import pull
from freezeframe.capture.recorder.state import read_state
from freezeframe.capture.registers.access import Device, open_devices
from freezeframe.capture.targets.base import Words
from freezeframe.capture.targets.uartbone_codec import decode_words, encode_read, encode_write
from freezeframe.decoders.trace.encode import packet_words
from tests.rtl.clocks import Clock
from tests.rtl.host_side import SimulatedTarget
from tests.rtl.simulation import simulate
from tests.rtl.test_register_adapters import CYCLES, Line, axi_read, axi_write

RDMA_WRITE, HEAD, MARK = 1, 1, 13
Word = tuple[int, int]  # kind, data
Seen = list[tuple[int, int, int]]  # cycle, kind, data


def packets(seed: int, count: int) -> list[list[Word]]:
    """Return link packets (docs/formats.md section 3) of random lengths."""
    draw = random.Random(seed)
    return [
        [
            (int(kind), word)
            for kind, word in packet_words(
                RDMA_WRITE, 3, seq, 0x1000 * seq, [draw.getrandbits(64) for _ in range(draw.randrange(1, 9))]
            )
        ]
        for seq in range(count)
    ]  # fmt: skip


def words_of(capture: Path, source: str) -> Seen:
    """Return ``(cycle, kind, data)`` of a tap's own words in a capture, in order."""
    from freezeframe.decoders.trace.decode import decode_capture  # not inside the simulator

    words = decode_capture(CaptureFolder.open(capture)).words
    mine = words[words["source"] == source]
    kinds = mine["kind"].map({"HEAD": 1, "BODY": 2, "TAIL": 3})
    data = mine["data"].to_numpy(np.int64).view(np.uint64)
    return list(zip(mine["cycle"].tolist(), kinds.tolist(), data.tolist(), strict=True))


def assert_recorded(recorded: Seen, seen: Seen) -> None:
    """Hold a recording against what a monitor saw from arm on; cycles but for the start of their count."""
    assert len(recorded) > 20
    seen = seen[: len(recorded)]
    assert [word[1:] for word in recorded] == [word[1:] for word in seen]
    offset = recorded[0][0] - seen[0][0]
    assert [cycle - offset for cycle, _, _ in recorded] == [cycle for cycle, _, _ in seen]


# -- 1: an AXI-Stream datapath ----------------------------------------------------------------------


def test_a_stream_is_pulled_over_axi_lite_as_it_was_sent_though_the_card_is_in_reset(
    tmp_path: Path,
) -> None:
    from freezeframe.decoders.trace.decode import decode_capture

    simulate("ff_example_axi_stream", __name__, tmp_path, {"TAP_DEPTH": 256})
    seen: dict[str, Seen] = {
        side: [(c, k, d) for c, k, d in json.loads((tmp_path / f"{side}.json").read_text())]
        for side in ("in", "out")
    }
    assert_recorded(words_of(tmp_path / "in.ff", "A.tx_enq"), seen["in"])
    folder = CaptureFolder.open(tmp_path / "in.ff")
    assert folder.lost == []
    events = decode_capture(folder).events
    assert set(events[events["kind"] == "MARK"]["code"]) == {"length"}

    # Of the other tap the records alone: a pull reads thousands of registers, one by one.
    records = json.loads((tmp_path / "records.json").read_text())
    words = [(dt, kind, data) for dt, kind, data in records if kind < MARK]
    out = seen["out"][: len(words)]
    assert len(words) > 20
    assert [word[1:] for word in words] == [word[1:] for word in out]
    number, near = (
        (records[0][1] < MARK) - 1,
        [],
    )  # words right behind a word: dt is the cycles between
    for (_, before, _), (dt, kind, _) in pairwise(records):
        number += kind < MARK
        if before < MARK and kind < MARK:
            near.append((dt, out[number][0] - out[number - 1][0]))
    assert len(near) > 20
    assert all(dt == gap for dt, gap in near)


class Streams:
    """The two AXI4-Streams of the example, and a monitor on each."""

    def __init__(self, dut: Any) -> None:
        self.dut = dut
        self.seen: dict[str, Seen] = {"in": [], "out": []}
        self.draw = random.Random(7)
        self.cycle = 0
        self._tasks = [cocotb.start_soon(self._watch()), cocotb.start_soon(self._take())]

    def stop(self) -> None:
        """End the traffic and the monitors, which cost more than the simulation itself."""
        for task in self._tasks:
            task.cancel()

    async def _watch(self) -> None:
        dut, heads = self.dut, {"in": 0, "out": 0}
        while True:
            await RisingEdge(dut.clk)
            self.cycle += 1
            for side, port in (("in", "s"), ("out", "m")):
                valid = int(getattr(dut, f"{port}_axis_tvalid").value)
                if not (valid and int(getattr(dut, f"{port}_axis_tready").value)):
                    continue
                last = int(getattr(dut, f"{port}_axis_tlast").value)
                data = int(getattr(dut, f"{port}_axis_tdata").value)
                kind = 3 if last else 1 if heads[side] < 2 else 2
                heads[side] = 0 if last else heads[side] + 1
                self.seen[side].append((self.cycle, kind, data))

    async def _take(self) -> None:
        while True:
            await FallingEdge(self.dut.clk)
            self.dut.m_axis_tready.value = int(self.draw.random() < 0.7)

    async def send(self, packet: list[Word]) -> None:
        dut = self.dut
        for place, (_, data) in enumerate(packet):
            dut.s_axis_tvalid.value = 0
            await ClockCycles(dut.clk, self.draw.choice([0, 0, 0, 1, 5]))
            await FallingEdge(dut.clk)
            dut.s_axis_tvalid.value = 1
            dut.s_axis_tdata.value = data
            dut.s_axis_tlast.value = int(place == len(packet) - 1)
            while True:
                await RisingEdge(dut.clk)
                if int(dut.s_axis_tready.value):
                    break
            await FallingEdge(dut.clk)
            dut.s_axis_tvalid.value = 0


def axi_target(dut: Any) -> SimulatedTarget:
    async def read(address: int, count: int) -> list[int]:
        return [(await axi_read(dut, address + 4 * at, 0))[1] for at in range(count)]

    async def write(address: int, words: list[int]) -> None:
        for at, word in enumerate(words):
            assert await axi_write(dut, address + 4 * at, word, 15, 0, 0) == 0

    return SimulatedTarget(read, write)


def armed(target: SimulatedTarget, tap: int, post: int) -> Device:
    """Arm as ``freezeframe arm`` does, with the tap selected; run in a thread."""
    (device,) = open_devices(target)
    device.write("ctl.options", tap << 4)
    device.write("ctl.post", post, 0)
    arm(device)
    assert read_state(device).state == "armed"
    return device


@cocotb.test()
async def the_axi_stream_example_freezes_on_a_length_and_is_pulled(dut: Any) -> None:
    if dut._name != "ff_example_axi_stream":
        return
    for name in ("s_axis_tvalid", "s_axis_tlast", "s_axis_tdata", "m_axis_tready", "s_axi_aresetn", "s_axi_awvalid",
                 "s_axi_awaddr", "s_axi_wvalid", "s_axi_wdata", "s_axi_wstrb", "s_axi_bready", "s_axi_arvalid",
                 "s_axi_araddr", "s_axi_rready"):  # fmt: skip
        getattr(dut, name).value = 0
    dut.boot_nonce.value = 0xB007
    dut.rst.value = dut.nic_rst.value = 1
    Clock(dut.clk, 10, "ns").start()
    await ClockCycles(dut.clk, 8)
    dut.rst.value = dut.nic_rst.value = 0
    dut.s_axi_aresetn.value = 1
    await ClockCycles(dut.clk, 4)
    target = axi_target(dut)
    for tap, side in enumerate(("in", "out")):
        device = await bridge(armed)(target, tap, 8)
        streams = Streams(dut)
        good = packets(tap, 12)
        wrong = [*good[5][:-2], good[5][-1]]  # a payload word is missing
        for packet in [*good[:5], wrong, *good[6:]]:
            await with_timeout(streams.send(packet), 30, "us")
        streams.stop()
        state = await bridge(wait_for)(device, "frozen", 10)
        assert state.causes == ("length",)
        dut.nic_rst.value = 1  # the card's reset while the pull runs
        if side == "in":
            report = await bridge(pull)(target, "in.ff")
            assert report.complete
        else:
            rows = await bridge(rows_of)(device, tap, "tx_deq")
            records = [(row[2] >> 4, row[2] & 15, row[1] << 32 | row[0]) for row in rows.tolist()]
            Path("records.json").write_text(json.dumps(records))
        dut.nic_rst.value = 0
        await ClockCycles(dut.clk, 4)
        Path(f"{side}.json").write_text(json.dumps(streams.seen[side]))


# -- 2: a FIFO pair in two clock domains ---------------------------------------------------------------

FIFO_LOG2 = 4


def test_a_fifo_pair_is_read_over_a_serial_line_as_it_was_written_and_a_lost_word_froze_it(
    tmp_path: Path,
) -> None:
    parameters = {
        "TAP_DEPTH": 256, "EVENT_DEPTH": 256, "FIFO_LOG2": FIFO_LOG2, "UART_CYCLES": CYCLES, "BUILD_HASH": 0xB0B,
    }  # fmt: skip
    simulate("ff_example_fifo_pair", __name__, tmp_path, parameters)


class FifoSide:
    """The card on one side of a FIFO."""

    def __init__(self, dut: Any, port: str, clk: Any) -> None:
        self.clk = clk
        self.enable, self.kind, self.data = (getattr(dut, f"{port}_{n}") for n in ("en", "kind", "data"))  # fmt: skip
        self.stop = getattr(dut, f"{port}_{'full' if port.endswith('wr') else 'empty'}")
        self.enable.value = 0

    async def write(self, words: list[Word], over: bool = False) -> None:
        """Write words, each when there is room; ``over``: whether there is or not."""
        for kind, data in words:
            await FallingEdge(self.clk)
            while not over and int(self.stop.value):
                await FallingEdge(self.clk)
            self.enable.value, self.kind.value, self.data.value = 1, kind, data
            await FallingEdge(self.clk)
            self.enable.value = 0

    async def read(self, count: int) -> list[Word]:
        words: list[Word] = []
        while len(words) < count:
            await FallingEdge(self.clk)
            if int(self.stop.value):
                continue
            words.append((int(self.kind.value), int(self.data.value)))
            self.enable.value = 1
            await FallingEdge(self.clk)
            self.enable.value = 0
        return words


class SerialPort:
    """The names by which `Line` knows its wires."""

    def __init__(self, dut: Any) -> None:
        self.rx, self.tx = dut.uart_rx, dut.uart_tx


def uart_target(dut: Any) -> SimulatedTarget:
    line = Line(SerialPort(dut))

    async def read(address: int, count: int) -> list[int]:
        await line.say(encode_read(address, count))
        answer = decode_words(await line.answer(4 * count))
        assert len(answer) == count
        return [int(word) for word in answer]

    async def write(address: int, words: list[int]) -> None:
        await line.say(encode_write(address, np.array(words, np.uint32)))

    return SimulatedTarget(read, write, burst=8)


def rows_of(device: Device, memory: int, name: str) -> Words:
    """Return the four words of every record of a memory."""
    count, window = device.read("memory.write_ptr", memory), device.window(f"trace_{name}")
    return device.target.read(range(window, window + 16 * count, 4)).reshape(-1, 4)


def records_of(device: Device, memory: int, name: str) -> list[Word]:
    """Return ``(kind, data)`` of every record of a memory, held against the CRC that the device made of it."""
    words, table = rows_of(device, memory, name), device.window("crc_table")
    image = b"".join(row.astype("<u4").tobytes()[:9] for row in words)
    (crc,) = device.target.read([table + 4 * 64 * memory])
    assert zlib.crc32(image.ljust(9 * 256, b"\0")) == int(crc)
    assert not words[:, 3].any()
    return [(int(row[2]) & 15, int(row[1]) << 32 | int(row[0])) for row in words]


@cocotb.test()
async def the_fifo_example_freezes_on_a_lost_word_and_is_read_over_the_line(dut: Any) -> None:
    if dut._name != "ff_example_fifo_pair":
        return
    dut.uart_rx.value, dut.link_up.value, dut.boot_nonce.value = 1, 0, 0xB007
    bus, link = dut.clk_bus, dut.clk_link
    tx_wr, tx_rd = FifoSide(dut, "tx_wr", bus), FifoSide(dut, "tx_rd", link)
    rx_wr, rx_rd = FifoSide(dut, "rx_wr", link), FifoSide(dut, "rx_rd", bus)
    dut.rst.value = dut.nic_rst.value = 1
    Clock(bus, 10_000, "ps").start()
    Clock(link, 12_800, "ps").start()
    await ClockCycles(bus, 20)
    dut.rst.value = dut.nic_rst.value = 0
    await ClockCycles(bus, 20)
    target = uart_target(dut)

    device = (await bridge(open_devices)(target))[0]
    assert (device.identity.build_hash, device.identity.tap_depth) == (0xB0B, 256)
    for memory in range(5):
        await bridge(device.write)("ctl.post", 2, memory)
    await bridge(arm)(device)

    out, back = packets(10, 2)
    sending = cocotb.start_soon(tx_wr.write(out))
    assert await with_timeout(tx_rd.read(len(out)), 20, "us") == out
    await sending
    dut.link_up.value = 1
    room = 1 << FIFO_LOG2
    words = (back * room)[: room + 4]
    sending = cocotb.start_soon(rx_wr.write(words[:4]))
    assert await with_timeout(rx_rd.read(4), 20, "us") == words[:4]
    await sending
    await rx_wr.write(words[4:], over=True)
    await ClockCycles(link, 20)
    await rx_wr.write([(2, 0x105E)], over=True)  # the FIFO is full: this word is lost
    await ClockCycles(bus, 3 * 1024)  # no words come; post drains
    state = await bridge(read_state)(device)
    assert (state.state, state.causes) == ("frozen", ("rx-ovf",))

    def check() -> None:
        found = {name: records_of(device, at, name) for at, name in enumerate(state.memories)}
        mine = {name: [word for word in found[name] if word[0] < 13] for name in found}
        assert mine["tx_enq"] == mine["tx_deq"] == out
        assert mine["rx_enq"] == words
        assert mine["rx_deq"] == words[:4]
        assert [(kind, data >> 56) for kind, data in mine["event_log"]] == [
            (10, 4)
        ]  # LINK, sync found
        assert device.read("frozen_counters.rx_fifo_overflows.lo") == 1
        assert device.read("frozen_counters.tx_enq_words.lo") == len(out)

    await bridge(check)()
