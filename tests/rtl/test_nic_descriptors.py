"""ff_nic_descriptors: four target writes make a descriptor, and packets get their numbers (formats.md section 5)."""

from __future__ import annotations

import random
from typing import Any

import cocotb

from tests.rtl.cycles import Block
from tests.rtl.simulation import in_icarus

RDMA_WRITE, PATTERN = 1, 4
PARTS = ("m_src", "m_dest", "m_length", "m_flags", "m_type", "m_flow", "m_seq", "m_pattern")


test_the_ring = in_icarus("ff_nic_descriptors", __name__, {"PLACES_LOG2": 1}, {"PLACES_LOG2": 8})


class Ring:
    """The block with a model of what waits in it."""

    def __init__(self, dut: Any, seed: int) -> None:
        self.dut, self.draw = dut, random.Random(seed)
        self.places = 1 << int(dut.PLACES_LOG2.value)
        self.block = Block(
            dut, ("td_ask", "td_valid", "td_word", "td_type", "td_data", "pat_valid", "pat_seed", "pat_number",
                  "pat_length", "pat_flow", "m_take"),
            ("td_full", "pat_taken", "m_valid", "stat_waiting", "ev_posted", "ev_from_host",
             "ev_posting"),
        )  # fmt: skip
        self.waiting: list[dict[str, int]] = []
        self.seq = 0
        self.asked = 0
        self.event: tuple[int, int, int] | None = (
            None  # from the host, flow, value: due in the next cycle
        )

    async def step(self, pushed: dict[str, int] | None = None, **given: int) -> dict[str, int]:
        """Let a cycle pass in which ``pushed`` enters; check the oldest, the status and the event."""
        given["td_ask"] = int(self.draw.random() < 0.2)
        seen = await self.block.step(**given)
        assert seen["ev_posting"] == self.asked
        self.asked = given["td_ask"]
        if seen["ev_posting"]:  # with the number that comes next
            assert int(self.dut.ev_posting_value.value) == self.seq << 20
        assert seen["stat_waiting"] == len(self.waiting)
        assert seen["td_full"] == int(len(self.waiting) == self.places)
        assert seen["m_valid"] == int(bool(self.waiting))
        if self.waiting:
            assert {name: int(getattr(self.dut, name).value) for name in PARTS} == self.waiting[0]
        assert seen["ev_posted"] == int(self.event is not None)
        if self.event is not None:
            told = seen["ev_from_host"], int(self.dut.ev_flow.value), int(self.dut.ev_value.value)
            assert told == self.event
        self.event = None
        room = len(self.waiting) < self.places
        if given.get("m_take") and self.waiting:
            self.waiting.pop(0)
        if pushed is not None and room:
            self.waiting.append({**pushed, "m_seq": self.seq})
            value = (
                pushed["m_length"]
                | pushed["m_type"] << 10
                | pushed["m_flags"] << 16
                | self.seq << 20
            )
            self.event = 1 - pushed["m_pattern"], pushed["m_flow"], value
            self.seq += 1
        return seen

    def take(self) -> int:
        return int(self.draw.random() < 0.3)

    async def post(self, length: int) -> None:
        """Write a descriptor as a host does; one of more than 512 words does not count."""
        draw = self.draw
        src, dest, flags, flow, kind = (draw.getrandbits(bits) for bits in (64, 32, 4, 7, 4))
        words = (
            src & 0xFFFFFFFF,
            src >> 32,
            dest,
            length | flags << 12 | flow << 16 | draw.getrandbits(9) << 23,
        )
        made = {"m_src": src, "m_dest": dest, "m_length": length, "m_flags": flags, "m_type": kind, "m_flow": flow,
                "m_pattern": 0}  # fmt: skip
        for number, word in enumerate(words):
            last = made if number == 3 and length <= 512 else None
            await self.step(
                last, td_valid=1, td_word=number, td_type=kind, td_data=word, m_take=self.take()
            )
            if draw.random() < 0.3:
                await self.step(m_take=self.take())

    async def pattern(self) -> None:
        draw = self.draw
        seed, number, length, flow = (draw.getrandbits(bits) for bits in (32, 32, 10, 7))
        made = {"m_src": seed << 32 | number, "m_dest": 0, "m_length": length, "m_flags": PATTERN,
                "m_type": RDMA_WRITE, "m_flow": flow, "m_pattern": 1}  # fmt: skip
        room = len(self.waiting) < self.places
        seen = await self.step(
            made,
            pat_valid=1,
            pat_seed=seed,
            pat_number=number,
            pat_length=length,
            pat_flow=flow,
            m_take=self.take(),
        )
        assert seen["pat_taken"] == int(room)


async def ring(dut: Any, seed: int) -> Ring:
    made = Ring(dut, seed)
    await made.block.start()
    return made


@cocotb.test()
async def descriptors_and_pattern_packets_leave_in_order_with_their_sequence_numbers(
    dut: Any,
) -> None:
    made = await ring(dut, 1)
    for _ in range(60):
        if made.draw.random() < 0.7:
            await made.post(made.draw.choice((0, 1, 511, 512, 513, 1023)))
        else:
            await made.pattern()
    while made.waiting:
        await made.step(m_take=1)
    await made.step()
    assert made.seq > 20


@cocotb.test()
async def what_is_written_into_a_full_ring_is_ignored_and_takes_no_number(dut: Any) -> None:
    made = await ring(dut, 2)
    pattern = {"m_src": 7 << 32, "m_dest": 0, "m_length": 5, "m_flags": PATTERN, "m_type": RDMA_WRITE, "m_flow": 3,
               "m_pattern": 1}  # fmt: skip
    given = {"pat_valid": 1, "pat_seed": 7, "pat_length": 5, "pat_flow": 3}
    for _ in range(made.places + 2):
        await made.step(pattern, **given)
    assert made.seq == made.places
    for number in range(4):
        await made.step(td_valid=1, td_word=number, td_data=4)
    await made.step(m_take=1)
    await made.step(pattern, **given)
    await made.step()


@cocotb.test()
async def a_target_write_goes_before_a_pattern_packet(dut: Any) -> None:
    made = await ring(dut, 3)
    seen = await made.step(td_valid=1, td_word=0, td_data=5, pat_valid=1)
    assert seen["pat_taken"] == 0
