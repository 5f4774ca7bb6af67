"""ff_nic_bond: two lanes become words and frames, and clocks are corrected in the gaps (formats.md section 3)."""

from __future__ import annotations

import random
from typing import Any

import cocotb

from tests.rtl.cycles import Block
from tests.rtl.simulation import in_icarus

HEAD, BODY, TAIL = 1, 2, 3
LATENCY = 2  # cycles from a slot to its word


test_the_bond = in_icarus(
    "ff_nic_bond", __name__, {"FILL": 3, "LEVEL_W": 4}, {"FILL": 12, "LEVEL_W": 7}
)


class Bond:
    """The block with what stands at the heads of its FIFOs; ``words`` holds what came out."""

    def __init__(self, dut: Any) -> None:
        self.dut = dut
        self.fill, self.width = int(dut.FILL.value), int(dut.LEVEL_W.value)
        self.block = Block(
            dut, ("l_idle", "l_halt", "l_next_idle", "l_underflow", "l_data", "l_level", "cfg_correct", "fault_run",
                  "fault_lane"),
            ("l_read", "l_pop", "l_stale", "m_valid", "m_first", "m_last", "m_credit", "m_kind", "stat_up",
             "stat_underflows", "inserted", "removed", "trained", "fault_struck", "slot_word", "slot_first"),
        )  # fmt: skip
        self.words: list[tuple[int, int, int, int, int]] = []  # first, last, credit, kind, data

    async def slot(self, *, levels: tuple[int, int] | None = None, **given: int) -> dict[str, int]:
        low, high = levels if levels is not None else (self.fill, self.fill)
        seen = await self.block.step(l_level=low | high << self.width, **given)
        if seen["m_valid"]:
            self.words.append(
                (
                    seen["m_first"],
                    seen["m_last"],
                    seen["m_credit"],
                    seen["m_kind"],
                    int(self.dut.m_data.value),
                )
            )
        return seen

    async def gap(
        self, levels: tuple[int, int] | None = None, underflow: int = 0
    ) -> dict[str, int]:
        return await self.slot(levels=levels, l_idle=3, l_underflow=underflow)

    async def word(self, data: int) -> None:
        """Give a word as its halves: lane 0 has bytes 0, 2, 4, 6, lane 1 the others."""
        octets = data.to_bytes(8, "little")
        await self.slot(l_data=int.from_bytes(octets[0::2] + octets[1::2], "little"))


async def bond(dut: Any, correct: int = 1) -> Bond:
    made = Bond(dut)
    await made.block.start(cfg_correct=correct)
    for levels in ((0, 0), (made.fill - 1, made.fill), (made.fill, made.fill - 1)):
        for _ in range(3):
            seen = await made.gap(levels=levels)
            assert (seen["stat_up"], seen["l_read"], seen["trained"]) == (0, 0, 0)
    await made.gap()
    seen = await made.gap()
    assert (seen["stat_up"], seen["l_read"], seen["trained"]) == (1, 1, 1)
    assert (await made.gap())["trained"] == 0
    return made


@cocotb.test()
async def a_frame_of_one_word_is_a_credit_any_other_a_packet(dut: Any) -> None:
    """HEAD HEAD BODY* TAIL; a halt of the sender leaves the frame open; the fewest gap is one slot."""
    made, draw = await bond(dut), random.Random(1)
    expected = []
    for _ in range(40):
        count = draw.choice((1, 1, 3, 4, 9))
        for place in range(count):
            data, last = draw.getrandbits(64), place == count - 1
            kind = HEAD if place < 2 else TAIL if last else BODY
            expected.append((int(place == 0), int(last), int(count == 1), kind, data))
            if place and draw.random() < 0.3:
                for _ in range(draw.randrange(1, 3)):
                    await made.slot(l_halt=draw.choice((1, 2, 3)))
            await made.word(data)
        for _ in range(draw.choice((1, 1, 2, 5))):
            await made.gap()
    for _ in range(LATENCY):
        await made.gap()
    assert made.words == expected


@cocotb.test()
async def clocks_are_corrected_in_the_gaps_alone(dut: Any) -> None:
    """Idles are repeated when a FIFO runs low, skipped when both run high; a late lane is waited for."""
    made = await bond(dut)
    low, high = made.fill - 2, made.fill + 2
    one_each, none, two_each = 0b0101, 0b0000, 0b1010
    fill = made.fill
    for idle, halt, next_idle, levels, pop in (
        (3, 0, 0, (fill, fill), one_each), (3, 0, 0, (low, fill), none), (3, 0, 0, (fill, low), none),
        (3, 0, 0, (high, high), one_each), (3, 0, 3, (high, high), two_each), (3, 0, 3, (high, high - 1), one_each),
        (0, 0, 0, (low, low), one_each), (0, 0, 3, (high, high), one_each), (1, 0, 0, (fill, fill), 0b0100),
        (2, 0, 0, (fill, fill), 0b0001), (0, 1, 0, (low, low), one_each),
    ):  # fmt: skip
        seen = await made.slot(l_idle=idle, l_halt=halt, l_next_idle=next_idle, levels=levels)
        assert seen["l_pop"] == pop, (idle, halt, next_idle, levels)
        after = await made.gap()
        assert (after["inserted"], after["removed"]) == (int(pop == none), int(pop == two_each))


@cocotb.test()
async def without_correction_every_slot_is_read_once_however_full_the_fifos_are(dut: Any) -> None:
    """docs/faults.md, clock-drift: no idle is repeated or skipped; a late lane is still waited for."""
    made = await bond(dut, correct=0)
    low, high = made.fill - 2, made.fill + 2
    for idle, levels, pop in (
        (3, (low, low), 0b0101), (3, (0, 0), 0b0101), (3, (high, high), 0b0101), (1, (high, high), 0b0100),
        (2, (low, low), 0b0001),
    ):  # fmt: skip
        seen = await made.slot(l_idle=idle, l_next_idle=3, levels=levels)
        assert seen["l_pop"] == pop, (idle, levels)
        after = await made.gap()
        assert (after["inserted"], after["removed"]) == (0, 0)


@cocotb.test()
async def slots_are_shown_as_they_are_read(dut: Any) -> None:
    made = await bond(dut)
    assert (await made.gap())["slot_word"] == 0
    for place, data in enumerate((0x1122334455667788, 0x99AA)):
        octets = data.to_bytes(8, "little")
        seen = await made.slot(l_data=int.from_bytes(octets[0::2] + octets[1::2], "little"))
        assert (seen["slot_word"], seen["slot_first"]) == (1, int(place == 0))
        assert int(dut.slot_data.value) == data


@cocotb.test()
@cocotb.parametrize(lane=[0, 1])
async def the_fault_shuts_a_lanes_pointer_in_a_frame_until_it_ran_empty(
    dut: Any, lane: int
) -> None:
    """docs/faults.md, sync-fifo-empty: it strikes with the word whose half repeats, and in a gap it is called off."""
    made = await bond(dut)
    await made.slot(l_idle=3, fault_run=1, fault_lane=lane)
    assert (await made.slot(l_idle=3, fault_lane=lane))["l_stale"] == 0
    await made.word(1)
    await made.slot(fault_run=1, fault_lane=lane)
    assert (await made.slot(fault_lane=lane))["l_stale"] == 1 << lane
    await made.slot(fault_lane=lane, l_underflow=2 >> lane)  # of the other lane
    assert (await made.slot(fault_lane=lane))["fault_struck"] == 0
    await made.slot(fault_lane=lane, l_underflow=1 << lane)  # word 5 of the frame
    seen = await made.slot(fault_lane=lane)
    assert (seen["fault_struck"], seen["l_stale"]) == (1, 0)
    assert int(dut.fault_word.value) == 5


@cocotb.test()
async def underflows_are_counted_lane_by_lane(dut: Any) -> None:
    made, draw, counts = await bond(dut), random.Random(2), [0, 0]
    for _ in range(50):
        lanes = draw.randrange(4)
        await made.gap(underflow=lanes)
        counts = [count + (lanes >> lane & 1) for lane, count in enumerate(counts)]
    assert (await made.gap())["stat_underflows"] == counts[0] | counts[1] << 32
