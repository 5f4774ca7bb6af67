"""Taps that only listen: what an AXI4-Stream, a FIFO and a credit interface do becomes words, strobes and events."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import cocotb
import pytest
from cocotb.triggers import FallingEdge, RisingEdge

from tests.rtl.clocks import Clock
from tests.rtl.simulation import simulate

HEAD, BODY, TAIL, CREDIT, PRESSURE = 1, 2, 3, 4, 9


@pytest.mark.parametrize(
    ("top", "parameters"),
    [("ff_tap_axi_stream", {"DATA_W": 1, "HEADS": 15}), ("ff_tap_axi_stream", {"DATA_W": 64, "HEADS": 0}),
     ("ff_tap_axi_stream", {"DATA_W": 32, "HEADS": 2}), ("ff_tap_fifo", {"READ_LATENCY": 0}),
     ("ff_tap_fifo", {"READ_LATENCY": 1}), ("ff_tap_credit", {"SOURCE": 3})],
)  # fmt: skip
def test_a_tap(tmp_path: Path, top: str, parameters: dict[str, object]) -> None:
    simulate(top, __name__, tmp_path, parameters)


@cocotb.test()
async def accepted_beats_are_words_with_a_kind_and_stalled_ones_are_none(dut: Any) -> None:
    if dut._name != "ff_tap_axi_stream":
        return
    draw, heads, width = random.Random(1), int(dut.HEADS.value), int(dut.DATA_W.value)
    Clock(dut.clk, 10, "ns").start()
    dut.rst.value = 1
    for name in ("tvalid", "tready", "tlast", "tdata"):
        getattr(dut, f"axis_{name}").value = 0
    await FallingEdge(dut.clk)
    await FallingEdge(dut.clk)
    dut.rst.value = 0
    for _ in range(40):
        length = draw.choice([1, 1, 2, 3, 7, heads + 2])
        for beat in range(length):
            data, stalls = draw.getrandbits(width), draw.randrange(3)
            for turn in range(stalls + 1):
                dut.axis_tvalid.value = int(turn > 0 or stalls == 0 or draw.random() < 0.5)
                dut.axis_tready.value = int(turn == stalls)
                if turn == stalls:
                    dut.axis_tvalid.value = 1
                dut.axis_tdata.value = data
                dut.axis_tlast.value = int(beat == length - 1)
                await RisingEdge(dut.clk)
                assert int(dut.tap_valid.value) == int(turn == stalls)
                kind = TAIL if beat == length - 1 else HEAD if beat < heads else BODY
                if turn == stalls:
                    assert (int(dut.tap_kind.value), int(dut.tap_data.value)) == (kind, data)
                await FallingEdge(dut.clk)


@cocotb.test()
async def a_fifos_words_are_tapped_on_both_sides_and_lost_ones_are_strobes(dut: Any) -> None:
    if dut._name != "ff_tap_fifo":
        return
    draw, late = random.Random(2), int(dut.READ_LATENCY.value)
    Clock(dut.rd_clk, 10, "ns").start()
    dut.rd_rst.value = 1
    for name in (
        "wr_en",
        "wr_full",
        "wr_kind",
        "wr_data",
        "rd_en",
        "rd_empty",
        "rd_kind",
        "rd_data",
    ):
        getattr(dut, name).value = 0
    await FallingEdge(dut.rd_clk)
    await FallingEdge(dut.rd_clk)
    dut.rd_rst.value = 0
    took = False
    for _ in range(300):
        enable, full, read, empty = (draw.randrange(2) for _ in range(4))
        kind, data = draw.randrange(16), draw.getrandbits(64)
        dut.wr_en.value, dut.wr_full.value, dut.rd_en.value, dut.rd_empty.value = (
            enable,
            full,
            read,
            empty,
        )
        dut.wr_kind.value = dut.rd_kind.value = kind
        dut.wr_data.value = dut.rd_data.value = data
        await RisingEdge(dut.rd_clk)
        assert int(dut.enq_valid.value) == (enable and not full)
        assert int(dut.overflow.value) == (enable and full)
        assert int(dut.underflow.value) == (read and empty)
        assert int(dut.deq_valid.value) == (took if late else read and not empty)
        assert (int(dut.enq_kind.value), int(dut.enq_data.value)) == (kind, data)
        assert (int(dut.deq_kind.value), int(dut.deq_data.value)) == (kind, data)
        took = bool(read and not empty)
        await FallingEdge(dut.rd_clk)


@cocotb.test()
async def credits_and_the_bounds_of_pressure_are_events(dut: Any) -> None:
    """docs/formats.md section 4: every begin of a flow has its end, also where the sender turns to another flow."""
    if dut._name != "ff_tap_credit":
        return
    draw = random.Random(3)
    Clock(dut.clk, 10, "ns").start()
    dut.rst.value = 1
    for name in (
        "credit_valid",
        "credit_code",
        "credit_flow",
        "credit_value",
        "blocked",
        "blocked_flow",
        "blocked_free",
    ):
        getattr(dut, name).value = 0
    await FallingEdge(dut.clk)
    await FallingEdge(dut.clk)
    dut.rst.value = 0
    open_flow: int | None = None
    begins = 0
    for _ in range(400):
        credit, code, flow, value = (
            draw.randrange(2),
            draw.randrange(1, 5),
            draw.randrange(128),
            draw.getrandbits(40),
        )
        dut.credit_valid.value, dut.credit_code.value = credit, code
        dut.credit_flow.value, dut.credit_value.value = flow, value
        blocked, which = int(draw.random() < 0.7), draw.randrange(2)
        dut.blocked.value, dut.blocked_flow.value, dut.blocked_free.value = blocked, which, 99
        await RisingEdge(dut.clk)
        valid = int(dut.ev_valid.value)
        assert valid & 1 == credit
        if credit:
            assert int(dut.ev_kind.value) & 15 == CREDIT
            assert int(dut.ev_source.value) & 255 == 3
            assert (int(dut.ev_code.value) & 255, int(dut.ev_flow.value) & 127) == (code, flow)
            assert int(dut.ev_value.value) & (1 << 40) - 1 == value
        if valid & 2:
            assert int(dut.ev_kind.value) >> 4 == PRESSURE
            told, pressed = int(dut.ev_code.value) >> 8, int(dut.ev_flow.value) >> 7
            if told == 1:
                assert open_flow is None and blocked and pressed == which
                open_flow, begins = pressed, begins + 1
            else:
                assert told == 2 and pressed == open_flow
                assert not blocked or which != pressed
                open_flow = None
        else:
            assert open_flow is not None or not blocked
        await FallingEdge(dut.clk)
    assert begins > 20
