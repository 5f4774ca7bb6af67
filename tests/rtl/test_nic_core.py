"""ff_nic_core in Icarus, its lanes led back to itself: pattern packets pass all four taps, with no x where it counts
(docs/formats.md section 3).
"""

from __future__ import annotations

from typing import Any

import cocotb
from cocotb.triggers import FallingEdge, RisingEdge

from tests.rtl.clocks import Clock
from tests.rtl.link_packets import splitmix64
from tests.rtl.simulation import in_icarus

HEAD, BODY, TAIL = 1, 2, 3
SEED, LENGTH, PACKETS = 0xACE, 9, 4
TAPS = (
    ("tx_enq", "clk_bus"),
    ("tx_deq", "clk_link"),
    ("rx_enq", "clk_link"),
    ("rx_deq", "clk_bus"),
)
PORTS = (
    "hold", "lane_in", "lane_in_k", "hb_own", "hb_gnt", "hb_ack", "hb_retry", "hb_cown", "hb_cvalid", "hb_clast",
    "hb_cdata", "td_ask", "td_valid", "td_word", "td_type", "td_data", "host_mask", "host_enable", "host_take",
    "host_note_base",
    "host_rx_stop", "host_rx_pause", "fault_arm", "fault_select", "fault_outgoing", "fault_count",
    "fault_min_length", "fault_word", "fault_lane", "fault_bytes", "fault_mask", "fault_bit", "fault_flow",
    "fault_limit", "flow_req", "flow_number", "flow_field", "cfg_stall_limit", "rx_dma_stop", "traffic_enable",
    "inject_valid", "inject_last", "inject_data",
)  # fmt: skip


test_the_card_in_four_states = in_icarus("ff_nic_core", __name__)


async def _lead_back(dut: Any) -> None:
    while True:
        await FallingEdge(dut.clk_link)
        if int(dut.rst.value):
            continue
        dut.lane_in.value = int(dut.lane_out.value)
        dut.lane_in_k.value = int(dut.lane_out_k.value)


async def _host(dut: Any, written: list[tuple[int, int]]) -> None:
    """Let every write have the bus after three cycles, and keep what it brings."""
    while True:
        await FallingEdge(dut.clk_bus)
        dut.hb_ack.value = 0
        if not int(dut.hb_req.value):
            continue
        address = int(dut.hb_addr.value)
        for _ in range(3):
            await FallingEdge(dut.clk_bus)
        dut.hb_ack.value = 1
        await FallingEdge(dut.clk_bus)
        dut.hb_ack.value = 0
        while not int(dut.hb_wend.value):
            if int(dut.hb_wvalid.value):
                written.append((address, int(dut.hb_wdata.value)))
                address += 8
            await FallingEdge(dut.clk_bus)


async def _watch(dut: Any, tap: str, clock: str, seen: list[tuple[int, int]]) -> None:
    while True:
        await FallingEdge(getattr(dut, clock))
        if int(dut.rst.value) == 0 and int(getattr(dut, f"{tap}_valid").value):
            seen.append(
                (int(getattr(dut, f"{tap}_kind").value), int(getattr(dut, f"{tap}_data").value))
            )


@cocotb.test()
async def pattern_packets_pass_all_four_taps_unchanged_and_reach_the_host(dut: Any) -> None:
    for name in PORTS:
        getattr(dut, name).value = 0
    dut.host_active.value, dut.host_share.value = 1, 1024
    (
        dut.traffic_seed.value,
        dut.traffic_length.value,
        dut.traffic_gap.value,
        dut.traffic_flow.value,
    ) = SEED, LENGTH, 100, 0
    dut.rst.value = 1
    Clock(dut.clk_bus, 10_000, "ps").start()
    Clock(dut.clk_link, 12_800, "ps").start()
    Clock(dut.clk_rx, 12_800, "ps").start()
    for _ in range(32):
        await RisingEdge(dut.clk_bus)
    taps: dict[str, list[tuple[int, int]]] = {tap: [] for tap, _ in TAPS}
    written: list[tuple[int, int]] = []
    dut.rst.value = 0
    for _ in range(8):
        await FallingEdge(dut.clk_link)
    cocotb.start_soon(_lead_back(dut))
    cocotb.start_soon(_host(dut, written))
    for tap, clock in TAPS:
        cocotb.start_soon(_watch(dut, tap, clock, taps[tap]))
    for _ in range(500):  # the lanes train
        await FallingEdge(dut.clk_bus)
    dut.traffic_enable.value = 1
    while len(taps["tx_enq"]) < PACKETS * (LENGTH + 3):
        await FallingEdge(dut.clk_bus)
    dut.traffic_enable.value = 0
    for _ in range(500):
        await FallingEdge(dut.clk_bus)
    payload = [splitmix64(SEED << 32 ^ n << 10 ^ i) for n in range(PACKETS) for i in range(LENGTH)]
    count = PACKETS * (LENGTH + 3)
    first = taps["tx_enq"][:count]
    assert [kind for kind, _ in first] == ([HEAD, HEAD] + [BODY] * LENGTH + [TAIL]) * PACKETS
    assert [word for kind, word in first if kind == BODY] == payload
    for tap in ("tx_deq", "rx_enq", "rx_deq"):
        assert taps[tap][:count] == first, tap
    assert written[: len(payload)] == [(8 * (i % LENGTH), word) for i, word in enumerate(payload)]
