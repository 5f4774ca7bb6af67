"""ff_nic_lane_align: where the halves of a lane begin in its bytes: found once, lost by a slip (docs/faults.md)."""

from __future__ import annotations

import random
from typing import Any

import cocotb

from tests.rtl.cycles import Block
from tests.rtl.simulation import in_icarus

Byte = tuple[int, int]  # octet, control symbol
COMMA, HALT = (0xBC, 1), (0xFE, 1)
IDLE: list[Byte] = [COMMA, (0x1C, 1), (0xB5, 0), (0xB5, 0)]
TRAIN: list[Byte] = [COMMA, (0x4A, 0), (0x4A, 0), (0x4A, 0)]


test_the_alignment = in_icarus("ff_nic_lane_align", __name__)


def half(data: int) -> list[Byte]:
    return [(octet, 0) for octet in data.to_bytes(4, "little")]


def value(octets: list[Byte]) -> int:
    return int.from_bytes(bytes(octet for octet, _ in octets), "little")


class Lane:
    """The block fed with bytes; ``seen`` holds what went on: idle, halt, data."""

    def __init__(self, dut: Any) -> None:
        self.dut = dut
        self.block = Block(
            dut,
            ("s_data", "s_k", "slip", "slip_bytes"),
            ("m_valid", "m_idle", "m_halt", "stat_locked", "stat_phase"),
        )
        self.seen: list[tuple[int, int, int]] = []

    async def feed(self, octets: list[Byte], **given: int) -> dict[str, int]:
        outputs = {}
        for at in range(0, len(octets) - 3, 4):
            four = octets[at : at + 4]
            k = sum(control << i for i, (_, control) in enumerate(four))
            outputs = await self.block.step(s_data=value(four), s_k=k, **given)
            if outputs["m_valid"]:
                self.seen.append((outputs["m_idle"], outputs["m_halt"], int(self.dut.m_data.value)))
        return outputs


async def lane(dut: Any) -> Lane:
    made = Lane(dut)
    await made.block.start()
    return made


@cocotb.test()
@cocotb.parametrize(phase=[0, 1, 2, 3])
async def eight_training_halves_in_a_row_lock_the_phase_and_idle_begins_the_halves(
    dut: Any, phase: int
) -> None:
    made, draw = await lane(dut), random.Random(phase)
    late = [(draw.getrandbits(8), 0) for _ in range(phase)]
    halves = [half(draw.getrandbits(32)) for _ in range(20)]
    sent = [IDLE, *halves[:9], [HALT] * 4, *halves[9:], IDLE]
    stream = late + TRAIN * 7
    stream = stream + TRAIN * 5 + [octet for four in sent for octet in four] + [(0, 0)] * 12
    outputs = await made.feed(stream)
    assert (outputs["stat_locked"], outputs["stat_phase"]) == (1, phase)
    expected = [(int(four == IDLE), int(four[0] == HALT), value(four)) for four in sent]
    assert made.seen[: len(expected)] == expected


@cocotb.test()
async def seven_in_a_row_at_one_place_are_not_enough(dut: Any) -> None:
    made = await lane(dut)
    for _ in range(4):  # the place moves by one byte before it could lock
        outputs = await made.feed(TRAIN * 7 + [(0, 0)] * 4)
        assert outputs["stat_locked"] == 0
        outputs = await made.feed([(0, 0), *TRAIN * 6, (0, 0), (0, 0), (0, 0)])
        assert outputs["stat_locked"] == 0
    await made.feed(IDLE * 4)
    assert made.seen == []


@cocotb.test()
@cocotb.parametrize(lost=[1, 2, 3], phase=[0, 2])
async def a_slip_loses_bytes_and_nothing_aligns_again(dut: Any, lost: int, phase: int) -> None:
    made, draw = await lane(dut), random.Random(lost)
    octets = [(draw.getrandbits(8), 0) for _ in range(80)]
    late = [(0, 0)] * phase
    stream = late + TRAIN * 12 + IDLE + octets + [(0, 0)] * 8
    begin = 4 * (
        12 + 1 + 6
    )  # the slip strikes while the sixth half of the data stands at the input
    await made.feed(stream[:begin])
    before = len(made.seen)
    await made.feed(stream[begin : begin + 4], slip=1, slip_bytes=lost)
    outputs = await made.feed(stream[begin + 4 :])
    assert outputs["stat_phase"] == phase  # of the alignment, not of the slip
    data = [word for _, _, word in made.seen[1:]]
    flat = [octet for word in data for octet in word.to_bytes(4, "little")]
    sent = [octet for octet, _ in octets]
    kept = next(n for n in range(len(sent)) if flat[n] != sent[n])
    assert kept % 4 == 0 and abs(kept // 4 + 1 - before) <= 2
    rest = len(sent) - kept - lost - 8
    assert flat[kept : kept + rest] == sent[kept + lost : kept + lost + rest]
