"""ff_nic_wire: a cable is a delay, and each lane's bytes come at a phase of their own."""

from __future__ import annotations

import random
from itertools import product
from typing import Any

import cocotb

from tests.rtl.cycles import Block
from tests.rtl.simulation import in_icarus

ENDS = 2  # cycles of the flip-flops at its ends, beside LATENCY in the line
QUIET = (0xFE, 1)  # byte, control: what a lane without a signal shows


test_a_wire = in_icarus("ff_nic_wire", __name__, {"LATENCY": 2}, {"LATENCY": 255})


def lane(data: int, k: int, number: int) -> list[tuple[int, int]]:
    """Return the four bytes of a lane with their control bits, first byte first."""
    octets = (data >> 32 * number & 0xFFFFFFFF).to_bytes(4, "little")
    return [(octet, k >> 4 * number + i & 1) for i, octet in enumerate(octets)]


@cocotb.test()
async def every_byte_arrives_in_order_after_the_delay_and_its_lanes_phase(dut: Any) -> None:
    draw, latency = random.Random(1), int(dut.LATENCY.value)
    phases = list(product(range(4), repeat=2)) if latency < 10 else [(0, 3), (2, 1)]
    for phase in phases:
        block = await Block(dut, ("cfg_phase", "s_data", "s_k"), ("m_data", "m_k")).start(
            cfg_phase=phase[0] | phase[1] << 2
        )
        sent: list[list[tuple[int, int]]] = [[], []]
        seen: list[list[tuple[int, int]]] = [[], []]
        for _ in range(latency + 30):
            data, k = draw.getrandbits(64), draw.getrandbits(8)
            out = await block.step(s_data=data, s_k=k)
            for number in range(2):
                sent[number] += lane(data, k, number)
                seen[number] += lane(out["m_data"], out["m_k"], number)
        for number in range(2):
            quiet = 4 * (latency + ENDS) + phase[number]
            assert seen[number][:quiet] == [QUIET] * quiet, (phase, number)
            assert seen[number][quiet:] == sent[number][: len(seen[number]) - quiet], (
                phase,
                number,
            )
