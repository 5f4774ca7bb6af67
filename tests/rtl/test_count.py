"""ff_count and ff_stream_counts: what is added stands a cycle later, and held stops when the domain has closed."""

from __future__ import annotations

import random
from typing import Any

import cocotb

from tests.rtl.cycles import Block
from tests.rtl.packet_stream import STREAM, beats
from tests.rtl.simulation import in_icarus

test_one_counter = in_icarus("ff_count", __name__, {"ADD_W": 8})
test_what_a_stream_counts = in_icarus("ff_stream_counts", __name__, {"BITS": 8}, {"BITS": 512})


@cocotb.test()
async def it_adds_and_holds(dut: Any) -> None:
    if dut._name != "ff_count":
        return
    draw = random.Random(1)
    block = await Block(dut, ("add", "closed"), ("live", "held")).start()
    total, held = 0, 0
    await block.step()
    for cycle in range(200):
        add, closed = draw.randrange(256), int(90 < cycle < 150)
        seen = await block.step(add=add, closed=closed)
        assert (seen["live"], seen["held"]) == (total, held)
        held = held if closed else total
        total += add


@cocotb.test()
async def words_packets_bytes_and_waits_of_a_stream(dut: Any) -> None:
    if dut._name != "ff_stream_counts":
        return
    draw, bytes_ = random.Random(2), len(dut.tkeep)
    inputs = tuple(name for name in STREAM if name != "tdata")
    block = await Block(dut, inputs, ("words", "packets", "bytes", "waits")).start()
    want = dict.fromkeys(block.outputs, 0)
    got = dict(want)
    rows = []
    for _ in range(20):
        packet = draw.randbytes(draw.randrange(1, 200))
        for beat in beats(packet, bytes_, draw):
            rows += [{**beat, "tready": 0}] * draw.randrange(2) + [{**beat, "tvalid": 0}] + [beat]
        want["packets"] += 1
        want["bytes"] += len(packet)
        want["words"] += -(-len(packet) // bytes_)
    want["waits"] = sum(row["tvalid"] and not row["tready"] for row in rows)
    for row in [*rows, {}, {}]:
        row.pop("tdata", None)
        for name, value in (await block.step(**row)).items():
            got[name] += value
    assert got == want
