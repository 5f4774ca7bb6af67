"""ff_nic_slip_place: where a slip of both lanes did harm first (docs/faults.md, clock-drift)."""

from __future__ import annotations

from typing import Any

import cocotb

from tests.rtl.cycles import Block
from tests.rtl.simulation import in_icarus

CREDIT, WRITE = 4, 1
NO_PACKET = 1023
LENGTH = 5  # payload words: header, address, five, tail


test_the_place_of_a_slip = in_icarus("ff_nic_slip_place", __name__)


def header(kind: int, flow: int, length: int, seq: int) -> int:
    return kind | flow << 8 | length << 16 | seq << 32


class Line:
    """The block, fed slot by slot; between two there may be cycles without one."""

    def __init__(self, dut: Any) -> None:
        self.block = Block(
            dut, ("en", "s_slot", "s_word", "s_first", "s_data", "s_lost", "s_again"),
            ("stat_done", "stat_seq", "stat_flow", "stat_word"),
        )  # fmt: skip

    async def word(self, data: int, place: int, **slip: int) -> None:
        await self.block.step(en=1)
        await self.block.step(
            en=1, s_slot=1, s_word=1, s_first=int(place == 0), s_data=data, **slip
        )

    async def gap(self, **slip: int) -> None:
        await self.block.step(en=1, s_slot=1, **slip)

    async def packet(self, seq: int, flow: int, at: int = -1, **slip: int) -> None:
        for place in range(LENGTH + 3):
            data = header(WRITE, flow, LENGTH, seq) if place == 0 else ~place & 0xFFFF_FFFF
            await self.word(data, place, **(slip if place == at else {}))

    async def credit(self, **slip: int) -> None:
        await self.word(header(CREDIT, 9, 3, 77), 0, **slip)

    async def seen(self) -> tuple[int, ...]:
        """Return done, seq, flow, word."""
        return tuple((await self.block.step(en=1)).values())


async def line(dut: Any) -> Line:
    made = Line(dut)
    await made.block.start()
    return made


@cocotb.test()
@cocotb.parametrize(slip=["s_lost", "s_again"], at=list(range(LENGTH + 3)))
async def a_slip_on_a_packets_word_is_kept_with_its_number_and_flow(
    dut: Any, slip: str, at: int
) -> None:
    """The index counts from the header; 0 stands for what is no payload. Later slips change nothing."""
    one = await line(dut)
    await one.packet(6, 3)
    await one.gap(**{slip: 1})
    await one.gap()
    assert (await one.seen())[0] == 0  # in a gap of two slots it does no harm
    await one.packet(7, 4, at, **{slip: 1})
    told = (1, 7, 4, at if 2 <= at < LENGTH + 2 else 0)
    assert await one.seen() == told
    await one.gap()
    await one.packet(8, 5, 3, **{slip: 1})
    assert await one.seen() == told


@cocotb.test()
async def the_only_slot_between_two_packets_lost_makes_one_of_them(dut: Any) -> None:
    """The first of the two is the one that does not end where it should; a gap that comes twice harms nobody."""
    one = await line(dut)
    await one.packet(1, 2)
    await one.gap(s_again=1)
    await one.packet(2, 3)
    assert (await one.seen())[0] == 0
    await one.gap(s_lost=1)
    await one.gap()
    await one.packet(3, 4)
    assert (await one.seen())[0] == 0  # there was another slot of the gap
    await one.gap(s_lost=1)
    await one.packet(4, 5)
    assert await one.seen() == (1, 3, 4, 0)


@cocotb.test()
async def a_lost_credit_harms_nobody_and_one_that_comes_twice_is_no_packet(dut: Any) -> None:
    """The next credit of a flow tells the same and more; a frame of two words is taken for a packet."""
    one = await line(dut)
    await one.credit(s_lost=1)
    await one.gap()
    assert (await one.seen())[0] == 0
    await one.credit()
    await one.word(header(CREDIT, 9, 3, 77), 1, s_again=1)
    done, _, flow, word = await one.seen()
    assert (done, flow, word) == (1, 9, NO_PACKET)


@cocotb.test()
async def switched_off_it_keeps_nothing(dut: Any) -> None:
    made = Line(dut)
    await made.block.start()
    for place in range(4):
        await made.block.step(s_slot=1, s_word=1, s_first=int(place == 0), s_again=1)
    assert (await made.block.step())["stat_done"] == 0
