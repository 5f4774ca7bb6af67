"""ff_nic_tx_link: what may leave leaves: training, whole packets that fit their flow's credit, credits between them,
gaps for the far end's clock (docs/formats.md section 3; docs/faults.md, credit-corrupted and credit-lost).
"""

from __future__ import annotations

import binascii
import itertools
import random
from typing import Any, Self

import cocotb
from cocotb.triggers import ClockCycles

from tests.rtl.cycles import Block
from tests.rtl.link_packets import credit, packet
from tests.rtl.simulation import in_icarus

WORD, IDLE, TRAINING = 0, 1, 2
QUIET, DATA, WAIT_CREDIT = 0, 3, 5  # enum machine_state
INPUTS = (
    "cfg_up", "cfg_stall_limit", "f_valid", "f_last", "f_data", "c_fits", "c_wrong", "c_free", "r_valid", "r_flow",
    "r_freed", "fault_corrupt", "fault_lose", "fault_bit", "fault_flow", "fault_count",
)  # fmt: skip
OUTPUTS = (
    "f_take", "f_first", "r_take", "m_data", "m_what", "stat_state", "stat_stalled", "cause_stall", "ev_begin",
    "ev_end", "ev_credit", "count_credit", "count_pressure", "fault_struck", "fault_struck_flow", "fault_struck_seq",
)  # fmt: skip


test_the_transmitter = in_icarus(
    "ff_nic_tx_link",
    __name__,
    {"CREDIT_W": 10, "TRAIN": 160, "GAP": 1, "SKIP": 64},
    {"CREDIT_W": 24, "TRAIN": 4095, "GAP": 15, "SKIP": 65535},
)


class Bench:
    """The block with whole packets in front of it, credit that comes and goes, and credits that are due."""

    def __init__(self, dut: Any, seed: int) -> None:
        self.dut, self.draw = dut, random.Random(seed)
        self.block = Block(dut, INPUTS, OUTPUTS)
        self.width = int(dut.CREDIT_W.value)
        self.train, self.gap, self.skip = (
            int(getattr(dut, name).value) for name in ("TRAIN", "GAP", "SKIP")
        )
        self.packets: list[list[int]] = []
        self.place = 0
        self.credits: list[tuple[int, int]] = []
        self.free = 1 << 9  # of whatever flow is asked for
        self.faults: dict[str, int] = {}
        self.limit = 0
        self.up = 1
        self.slots: list[int] = []  # word, idle or training: as they left
        self.frames: list[list[int]] = []  # a credit is one of one word
        self.gaps: list[int] = []  # idle slots behind each frame
        self.events: list[tuple[str, int, int]] = []
        self.counts = {"count_credit": 0, "count_pressure": 0}

    async def start(self) -> Self:
        await self.block.start(c_fits=0)
        self.seen = self.block.see()
        return self

    async def cycle(self, r_offer: bool = True) -> dict[str, int]:
        dut = self.dut
        given: dict[str, int] = {
            "cfg_up": self.up, "cfg_stall_limit": self.limit, "f_data": self.draw.getrandbits(64),
            "c_free": self.free & (1 << self.width + 2) - 1, **self.faults,
        }  # fmt: skip
        if self.packets:
            words = self.packets[0]
            given |= {
                "f_valid": 1,
                "f_data": words[self.place],
                "f_last": int(self.place == len(words) - 1),
            }
            given["c_fits"] = int(len(words) <= self.free)
        if self.credits and r_offer:
            given |= {"r_valid": 1, "r_flow": self.credits[0][0], "r_freed": self.credits[0][1]}
        before = self.seen
        self.seen = seen = await self.block.step(**given)
        if seen["f_take"]:
            assert self.packets, "a word taken that is not there"
            assert seen["f_first"] == int(self.place == 0)
            if seen["f_first"]:
                assert given["c_fits"], "a packet without credit"
                assert not given.get("r_valid"), "credits go first"
                self.free -= len(self.packets[0])
            self.place += 1
            if self.place == len(self.packets[0]):
                self.packets.pop(0)
                self.place = 0
        if self.packets and self.place == 0:
            assert int(dut.c_flow.value) == self.packets[0][0] >> 8 & 0x7F or seen["f_take"]
        if seen["r_take"]:
            self.credits.pop(0)
        for name in self.counts:
            self.counts[name] += seen[name]
        for what in ("begin", "end"):
            if seen[f"ev_{what}"]:
                self.events.append((what, int(dut.ev_flow.value), int(dut.ev_value.value)))
        assert seen["ev_credit"] == before["r_take"]
        self._slot(seen["m_what"], seen["m_data"])
        return seen

    def _slot(self, what: int, data: int) -> None:
        assert what in (WORD, IDLE, TRAINING)
        self.slots.append(what)
        if what == WORD:
            if len(self.slots) < 2 or self.slots[-2] != WORD:
                self.frames.append([])
                self.gaps.append(0)
            self.frames[-1].append(data)
        elif self.gaps:
            self.gaps[-1] += 1

    async def trained(self) -> None:
        """Let the training pass; it is looked at in a test of its own."""
        await self.cycle()
        await ClockCycles(self.dut.clk, self.train)
        assert (await self.cycle())["m_what"] == IDLE

    async def until_sent(self, frames: int, limit: int = 20_000) -> None:
        for _ in range(limit):
            await self.cycle()
            if len(self.frames) == frames and not self.packets and not self.credits:
                break
        else:
            raise AssertionError(f"{len(self.frames)} of {frames} frames after {limit} cycles")
        for _ in range(self.gap + 6):
            await self.cycle()

    def made(self, length: int, flow: int | None = None) -> list[int]:
        draw = self.draw
        chosen = draw.getrandbits(7) if flow is None else flow
        payload = [draw.getrandbits(64) for _ in range(length)]
        return packet(payload, flow=chosen, seq=draw.getrandbits(16), dest=draw.getrandbits(32))

    def due(self) -> tuple[int, int]:
        return self.draw.getrandbits(7), self.draw.getrandbits(self.width)


async def bench(dut: Any, seed: int) -> Bench:
    return await Bench(dut, seed).start()


@cocotb.test()
async def nothing_leaves_before_the_far_end_is_trained_and_the_own_lanes_run(dut: Any) -> None:
    one = await bench(dut, 1)
    one.packets, one.credits, one.up = [one.made(3)], [one.due()], 0
    for _ in range(one.train + 40):
        await one.cycle()
    first = one.slots.index(TRAINING)
    assert first <= 1
    assert one.slots[first : first + one.train] == [TRAINING] * one.train
    assert set(one.slots[first + one.train :]) == {IDLE}
    one.up = 1
    await one.until_sent(2)


@cocotb.test(timeout_time=2, timeout_unit="ms")
async def packets_leave_whole_and_in_order_and_credits_between_them_before_them(dut: Any) -> None:
    """With random credit and random credits; words without a gap inside a packet; parity odd, CRC good."""
    one = await bench(dut, 2)
    await one.trained()
    packets = [one.made(one.draw.choice((0, 1, 2, 9, 30))) for _ in range(40)]
    credits = [one.due() for _ in range(40)] + [(0, 0), (127, (1 << one.width) - 1)]
    one.packets, one.credits, one.free = [list(words) for words in packets], list(credits), 40
    while one.packets or one.credits:  # a transmitter that hangs ends at the limit of cocotb
        await one.cycle(r_offer=one.draw.random() < 0.05)
        if one.draw.random() < 0.1:  # less than could be sent
            one.free += one.draw.randrange(5)
    await one.until_sent(len(packets) + len(credits))
    assert [frame for frame in one.frames if len(frame) > 1] == packets
    assert [frame[0] for frame in one.frames if len(frame) == 1] == [
        credit(*due) for due in credits
    ]
    assert one.counts["count_credit"] == len(credits)
    assert min(one.gaps[:-1]) == one.gap
    begins, ends = (
        [flow for what, flow, _ in one.events if what == end] for end in ("begin", "end")
    )
    assert begins == ends
    assert len(one.events) == 2 * len(begins)
    assert 5 < len(begins) <= len(packets)


@cocotb.test()
async def a_gap_has_its_slots_and_three_more_once_in_so_many(dut: Any) -> None:
    one = await bench(dut, 3)
    await one.trained()
    one.free = 1 << 30  # without end
    one.packets = [one.made(1) for _ in range(60)]
    await one.until_sent(60)
    assert one.events == []  # no wait, so none has ended
    gaps = one.gaps[:-1]
    long = [place for place, gap in enumerate(gaps) if gap == one.gap + 3]
    assert {gap for gap in gaps if gap != one.gap} <= {one.gap + 3}
    if one.skip > 1000:
        assert long == []  # far from due
        return
    starts = [0]
    for frame, gap in zip(one.frames, gaps, strict=False):
        starts.append(starts[-1] + len(frame) + gap)
    ends = [starts[place] + len(one.frames[place]) for place in long]
    assert len(ends) > 3
    for one_end, next_end in itertools.pairwise(ends):
        assert one.skip <= next_end - one_end <= one.skip + 6


@cocotb.test()
async def a_packet_without_credit_waits_and_the_wait_is_told_from_its_first_cycle_to_its_last(
    dut: Any,
) -> None:
    """PRESSURE begin and end with the free words; credits still leave; it goes on when all of it fits."""
    one = await bench(dut, 4)
    await one.trained()
    waiting = one.made(9, flow=77)  # 12 words
    one.free, one.packets = 11, [list(waiting)]
    for _ in range(20):
        seen = await one.cycle()
    assert (seen["stat_state"], one.frames, one.events) == (WAIT_CREDIT, [], [("begin", 77, 11)])
    one.credits = [one.due()]
    for _ in range(10 + one.gap):
        seen = await one.cycle()
    assert (len(one.frames), seen["stat_state"]) == (1, WAIT_CREDIT)
    told = one.counts["count_pressure"]
    for _ in range(10):
        await one.cycle()
    assert one.counts["count_pressure"] == told + 10
    one.free = 12
    await one.until_sent(2)
    assert one.frames[1] == waiting
    assert one.events == [("begin", 77, 11), ("end", 77, 12)]
    one.free, one.packets = -3 & (1 << one.width + 2) - 1, [one.made(1, flow=5)]
    one.free -= 1 << one.width + 2  # more is out than the credit: none is free, not many
    for _ in range(4):
        await one.cycle()
    assert one.events[-1] == ("begin", 5, 0)


@cocotb.test()
async def a_wait_beyond_the_limit_is_a_cause_and_its_flow_is_shown(dut: Any) -> None:
    one = await bench(dut, 5)
    await one.trained()
    for flow, limit in (
        (31, 20),
        (32, 20),
        (6, 0),
    ):  # the register has flows 0 to 31; a limit of 0 is none
        one.limit, one.free, one.packets = limit, 1, [one.made(2, flow=flow)]
        causes = []
        for _ in range(60):
            seen = await one.cycle()
            causes.append(seen["cause_stall"])
            assert seen["stat_stalled"] == (1 << flow if seen["cause_stall"] and flow < 32 else 0)
        waited = causes.index(1) if 1 in causes else None
        assert waited is None if limit == 0 else waited is not None and limit <= waited <= limit + 2
        assert waited is None or causes[waited:] == [1] * (60 - waited)
        one.free = 5
        await one.until_sent(len(one.frames) + 1)
        assert (one.seen["cause_stall"], one.seen["stat_stalled"]) == (0, 0)


@cocotb.test()
async def the_machine_is_idle_with_nothing_to_send_and_stays_in_data_between_two_packets(
    dut: Any,
) -> None:
    one = await bench(dut, 6)
    await one.trained()
    for _ in range(3):
        seen = await one.cycle()
    assert seen["stat_state"] == QUIET
    one.packets = [one.made(4), one.made(1), one.made(2)]
    states = []
    for _ in range(40 + 3 * one.gap):
        states.append((await one.cycle())["stat_state"])
    changes = [states[0]] + [b for a, b in itertools.pairwise(states) if a != b]
    assert [state for state in changes if state != QUIET] == [DATA]
    assert states[-1] == QUIET


@cocotb.test()
async def one_credit_with_a_bit_changed_before_its_crc_is_sent_behind_count_good_ones(
    dut: Any,
) -> None:
    """docs/faults.md, credit-corrupted: the CRC is that of the changed word, so only the parity tells."""
    one = await bench(dut, 7)
    await one.trained()
    dues = [one.due() for _ in range(6)]
    one.credits = list(dues)
    one.faults = {"fault_corrupt": 1, "fault_count": 3, "fault_bit": 17}
    await one.until_sent(6)
    for number, (frame, due) in enumerate(zip(one.frames, dues, strict=True)):
        (word,) = frame
        low = word & (1 << 48) - 1
        if number == 3:
            assert low == credit(*due) & (1 << 48) - 1 ^ 1 << 17
            assert low.bit_count() % 2 == 0
            assert word >> 48 == binascii.crc_hqx(low.to_bytes(6, "little"), 0xFFFF)
        else:
            assert word == credit(*due)
    assert (one.seen["fault_struck"], one.seen["fault_struck_flow"]) == (1, dues[3][0])


@cocotb.test()
async def credits_of_one_flow_never_leave_while_the_fault_is_on_and_all_others_do(dut: Any) -> None:
    """docs/faults.md, credit-lost: the card believes it has sent them, and says so."""
    one = await bench(dut, 8)
    await one.trained()
    dues = [(number % 3, 50 + number) for number in range(12)]
    one.credits = list(dues)
    one.faults = {"fault_lose": 1, "fault_flow": 1}
    await one.until_sent(8)
    assert [frame[0] for frame in one.frames] == [credit(*due) for due in dues if due[0] != 1]
    assert one.counts["count_credit"] == 12
    assert (one.seen["fault_struck"], one.seen["fault_struck_flow"]) == (1, 1)


@cocotb.test()
async def a_packet_that_a_wrong_comparison_lets_pass_is_where_the_fault_struck(dut: Any) -> None:
    one = await bench(dut, 9)
    await one.trained()
    good, wrong, later = one.made(2, flow=3), one.made(2, flow=9), one.made(2, flow=4)
    one.packets = [list(good)]
    await one.until_sent(1)
    assert one.seen["fault_struck"] == 0
    one.faults, one.packets = {"c_wrong": 1}, [list(wrong), list(later)]
    await one.until_sent(3)
    struck = tuple(one.seen[f"fault_struck{part}"] for part in ("", "_flow", "_seq"))
    assert struck == (1, 9, wrong[0] >> 32 & 0xFFFF)  # and not the later one
