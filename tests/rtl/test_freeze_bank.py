"""ff_freeze_bank: what the card was doing when the recorder froze, at the addresses of the map."""

from __future__ import annotations

import random
from typing import Any, Self

import cocotb
from cocotb.triggers import ClockCycles, FallingEdge, RisingEdge, with_timeout

from tests.rtl.clocks import Clock
from tests.rtl.register_port import at
from tests.rtl.simulation import in_icarus

BUS = {  # bits of each value of the bus domain
    "tx_dma_state": 8, "rx_dma_state": 8, "tx_level": 16, "rx_level": 16, "dma_address": 64, "dma_remaining": 16,
    "descriptor_length": 16, "descriptors_waiting": 16, "interrupt_mask": 1, "completions_waiting": 16,
    "next_seq_out": 16,
}  # fmt: skip
LINK = {
    "tx_link_state": 8, "rx_link_state": 8, "next_seq_in": 16, "stalled_flows": 32, "sync_level": 16,
    "underflows": 64, "overflows": 64, "comma_phase": 4,
}  # fmt: skip
MACHINES = ("tx_dma_state", "rx_dma_state", "tx_link_state", "rx_link_state")
FIELDS = 8


test_a_freeze_bank = in_icarus(
    "ff_freeze_bank", __name__, {"FLOWS": 1, "WAIT_LOG2": 4}, {"FLOWS": 128, "WAIT_LOG2": 16}
)


class Bank:
    """The bank beside a card whose values change all the time; ``given`` holds those that are latched."""

    def __init__(self, dut: Any, seed: int) -> None:
        self.dut, self.draw = dut, random.Random(seed)
        self.flows = int(dut.FLOWS.value)
        self.patience = 1 << int(dut.WAIT_LOG2.value)
        self.answers: list[int] = []
        self.slow = 3  # cycles an answer takes at most; -1: none comes

    async def start(self) -> Self:
        dut = self.dut
        for name in (
            "frozen",
            "flow_ack",
            "flow_data",
            "sel_frozen",
            "sel_frozen_flow",
            "win_word",
            "cycle",
            "copying",
        ):
            getattr(dut, name).value = 0
        for name in (*BUS, *LINK):
            getattr(dut, f"bank_{name}").value = 0
        Clock(dut.clk_bus, 10_000, "ps").start()
        Clock(dut.clk_link, 12_800, "ps").start()
        dut.rst_bus.value = dut.rst_link.value = 1
        await ClockCycles(dut.clk_bus, 12)
        await FallingEdge(dut.clk_bus)
        dut.rst_bus.value = dut.rst_link.value = 0
        cocotb.start_soon(self._card())
        await ClockCycles(dut.clk_bus, 4)
        return self

    async def _card(self) -> None:
        """Answer each flow number asked for, after a random while, with a value of its own."""
        dut = self.dut
        while True:
            await FallingEdge(dut.clk_bus)
            dut.flow_ack.value = 0
            if not int(dut.flow_req.value) or self.slow < 0:
                continue
            await ClockCycles(dut.clk_bus, self.draw.randrange(self.slow + 1))
            await FallingEdge(dut.clk_bus)
            assert (int(dut.flow_number.value), int(dut.flow_field.value)) == divmod(
                len(self.answers), FIELDS
            )
            self.answers.append(self.draw.getrandbits(32))
            dut.flow_ack.value, dut.flow_data.value = 1, self.answers[-1]

    def values(self, names: dict[str, int]) -> dict[str, int]:
        """Put new values to the ports and return them."""
        drawn = {name: self.draw.getrandbits(width) for name, width in names.items()}
        for name, value in drawn.items():
            getattr(self.dut, f"bank_{name}").value = value
        return drawn

    async def freeze(self) -> dict[str, int]:
        """Freeze, with other values before and after; return those of the freeze."""
        dut = self.dut
        self.answers.clear()
        self.values(BUS)
        link = self.values(
            LINK
        )  # they stand still for a while: the link sees the freeze two to three cycles later
        await FallingEdge(dut.clk_bus)
        bus = self.values(BUS)
        cycle = self.draw.getrandbits(64)
        dut.cycle.value, dut.frozen.value = cycle, 1
        await FallingEdge(dut.clk_bus)
        self.values(BUS)
        dut.cycle.value = self.draw.getrandbits(64)
        await ClockCycles(dut.clk_link, 4)
        await FallingEdge(dut.clk_link)
        self.values(LINK)
        await ClockCycles(dut.clk_link, 3)
        return {**bus, **link, "freeze_cycle": cycle}

    async def read(self, select: str, word: int) -> tuple[int, int]:
        dut = self.dut

        async def answered() -> None:
            while True:
                await RisingEdge(dut.clk_bus)
                if int(dut.win_ack.value):
                    return

        await FallingEdge(dut.clk_bus)
        getattr(dut, select).value = 1
        dut.win_word.value = word
        await FallingEdge(dut.clk_bus)
        if select == "sel_frozen" and int(
            dut.far_mine.value
        ):  # a word of the link: the common crossing fetches it
            answer = 0, int(dut.far_data.value)
        else:
            await with_timeout(answered(), 100, "us")
            answer = int(dut.win_err.value), int(dut.win_rdata.value)
        await FallingEdge(dut.clk_bus)
        getattr(dut, select).value = 0
        await FallingEdge(dut.clk_bus)
        assert (int(dut.win_ack.value), int(dut.win_rdata.value)) == (0, 0)
        return answer

    async def check(self, given: dict[str, int]) -> None:
        """Compare every register of the map below ``frozen``."""
        expected = {at("frozen.machine", i): given[name] for i, name in enumerate(MACHINES)}
        for name in ("dma_address", "freeze_cycle"):
            expected[at(f"frozen.{name}_lo")] = given[name] & 0xFFFFFFFF
            expected[at(f"frozen.{name}_hi")] = given[name] >> 32
        for name in (*list(BUS)[2:4], *list(BUS)[5:], "next_seq_in", "stalled_flows"):
            expected[at(f"frozen.{name}")] = given[name]
        for name in ("sync_level", "underflows", "overflows", "comma_phase"):
            width = LINK[name] // 2
            for lane in range(2):
                expected[at(f"frozen.lane.{name}", lane)] = (
                    given[name] >> width * lane & (1 << width) - 1
                )
        for word in range(32):
            want = expected.get(at("frozen.machine", 0) + 4 * word, 0)
            assert await self.read("sel_frozen", word) == (0, want), f"word {word:#x}"


async def bank(dut: Any, seed: int) -> Bank:
    return await Bank(dut, seed).start()


@cocotb.test()
async def before_the_first_freeze_everything_reads_zero(dut: Any) -> None:
    made = await bank(dut, 1)
    made.values({**BUS, **LINK})
    await made.check(dict.fromkeys((*BUS, *LINK, "freeze_cycle"), 0))
    for word in (0, 8 * made.flows - 1, 1023):
        assert await made.read("sel_frozen_flow", word) == (0, 0)


@cocotb.test()
async def the_values_of_the_freeze_stand_until_the_next(dut: Any) -> None:
    made = await bank(dut, 2)
    for _ in range(2):
        given = await made.freeze()
        await made.check(given)
        dut.frozen.value = 0
        made.values({**BUS, **LINK})
        await ClockCycles(dut.clk_bus, 20)
        await made.check(given)
        while int(dut.flow_req.value):  # the flows are asked on
            await ClockCycles(dut.clk_bus, 10)


@cocotb.test()
async def a_level_is_that_of_the_moment_in_which_the_counters_stand_and_an_access_waits_for_it(
    dut: Any,
) -> None:
    made = await bank(dut, 6)
    dut.copying.value = 1
    given = await made.freeze()
    word = (at("frozen.tx_level") - at("frozen.machine", 0)) // 4
    dut.sel_frozen.value, dut.win_word.value = 1, word
    for _ in range(30):
        await FallingEdge(dut.clk_bus)
        given |= made.values({"tx_level": 16, "rx_level": 16})
        assert int(dut.win_ack.value) == 0
    dut.sel_frozen.value = dut.copying.value = 0
    await FallingEdge(dut.clk_bus)
    made.values({"tx_level": 16, "rx_level": 16})  # too late
    await made.check(given)


@cocotb.test()
async def the_flows_are_asked_one_after_another_and_an_access_waits_for_them(dut: Any) -> None:
    made = await bank(dut, 3)
    await made.freeze()
    first = await made.read("sel_frozen_flow", 0)
    count = FIELDS * made.flows
    assert len(made.answers) == count
    assert first == (0, made.answers[0])
    for word in {1, 7, count // 2, count - 1, *(made.draw.randrange(count) for _ in range(12))}:
        assert await made.read("sel_frozen_flow", word) == (0, made.answers[word]), word
    for word in (count, 1023):
        if count <= word < 1024:
            assert await made.read("sel_frozen_flow", word) == (
                0,
                0,
            )  # a flow that the build does not have


@cocotb.test()
async def a_card_that_does_not_answer_makes_the_flows_an_error_until_the_next_freeze(
    dut: Any,
) -> None:
    made = await bank(dut, 4)
    if made.patience > 16:  # 2^16 cycles: an answer may come as late as this
        made.slow = 30
        await made.freeze()
        await ClockCycles(dut.clk_bus, 400)
        assert int(dut.flow_req.value)
        return
    made.slow = -1
    given = await made.freeze()
    assert (await made.read("sel_frozen_flow", 0))[0] == 1
    await made.check(given)
    dut.frozen.value = 0
    made.slow = made.patience - 4
    await ClockCycles(dut.clk_bus, 20)
    await made.freeze()
    assert await made.read("sel_frozen_flow", 5) == (0, made.answers[5])
