"""ff_nic_pcix at its pins: configuration, targets and requesters, and what is wrong on a bus.

Words and messages are those of the PCI-X Addendum 1.0b; a bus under load, and held against the decoder, is in
tests/board/test_pcix.py.
"""

from __future__ import annotations

from typing import Any

import cocotb

from tests.rtl.pcix_agent import (
    CARD_ID,
    COMPLETION,
    CONFIG_READ,
    READ_BLOCK,
    READ_DWORD,
    WRITE,
    WRITE_BLOCK,
    Agent,
    Seen,
)  # fmt: skip
from tests.rtl.simulation import in_icarus

test_the_pins = in_icarus("ff_nic_pcix", __name__)
HOST_ID = 0x0028  # 00:05.0
WHO = HOST_ID << 8 | 7 << 24  # attributes of a request of the host, tag 7
TAG = 7 << 24 | HOST_ID << 8  # address of a Split Completion to it
BASE, DRIVER = 0x40000000, 0x80000000


async def agent(dut: Any, **more: int) -> Agent:
    made = await Agent(dut).start()
    await made.enable(**more)
    return made


@cocotb.test()
async def it_is_found_and_its_bases_say_16_MB_and_4_KB(dut: Any) -> None:
    bus = await Agent(dut).start()
    assert await bus.config_read(0x44) == 0x0863FFF8  # no bus, no device yet
    await bus.config_write(0x10, 0xFFFFFFFF)
    assert await bus.config_read(0x44) >> 3 & 0x1FFF == CARD_ID >> 3
    assert [await bus.config_read(at) for at in (0x00, 0x08, 0x34, 0x40)] == [
        0x0001FF0F, 0x02800001, 0x40, 0x00020007
    ]  # fmt: skip
    for at, size in (
        (0x10, 0xFF000004),
        (0x14, 0xFFFFFFFF),
        (0x18, 0xFFFFF004),
        (0x1C, 0xFFFFFFFF),
        (0x20, 0),
    ):
        await bus.config_write(at, 0xFFFFFFFF)
        assert await bus.config_read(at) == size


@cocotb.test()
async def of_a_configuration_write_only_the_enabled_bytes_count(dut: Any) -> None:
    bus = await Agent(dut).start()
    await bus.config_write(0x0C, 0x11223344, enables=0xC)
    assert await bus.config_read(0x0C) == 0x3344
    await bus.config_write(0x0C, 0x55667788, enables=0xD)
    assert await bus.config_read(0x0C) == 0x7744


@cocotb.test()
async def nobody_answers_for_another_function_without_idsel_or_for_memory_that_is_off(
    dut: Any,
) -> None:
    bus = await agent(dut, command=0x0144)
    for command, address, idsel in (
        (CONFIG_READ, 0x00102100, 1), (CONFIG_READ, 0x00102000, 0), (CONFIG_READ, 0x00102001, 1), (READ_DWORD, BASE, 0),
    ):  # fmt: skip
        seen = await bus.initiate(command, address, idsel=idsel)
        assert (seen.end, seen.devsel) == ("master-abort", 0)


@cocotb.test()
async def a_word_is_read_by_a_split_and_a_second_read_waits(dut: Any) -> None:
    bus = await agent(dut)
    bus.registers = lambda address: 0xA0000000 | address
    assert (await bus.initiate(READ_DWORD, BASE + 0x104, attributes=WHO)).end == "split"
    assert (await bus.initiate(READ_DWORD, BASE + 0x108, attributes=WHO)).end == "retry"
    seen = await bus.respond("data")
    assert (seen.command, seen.address, seen.attributes, seen.count) == (
        COMPLETION, TAG, CARD_ID << 8 | 4, 4
    )  # fmt: skip
    assert seen.words == [0xA0000104]


@cocotb.test()
async def a_long_read_comes_in_pieces_that_end_at_boundaries_and_survives_retries(dut: Any) -> None:
    bus = await agent(dut)
    assert (await bus.initiate(READ_BLOCK, BASE + 0x1078, count=300, attributes=WHO)).end == "split"
    words: list[int] = []
    pieces = []
    for kind in ("retry", "data", "retry", "data", "data"):
        seen = await bus.respond(kind)
        pieces.append((seen.address - TAG, seen.count, len(seen.words)))
        words += seen.words
    # 8 bytes before the first boundary are too few to stop at it.
    assert pieces == [(0x78, 300, 0), (0x78, 300, 34), (0, 164, 0), (0, 164, 32), (0, 36, 9)]
    assert words == [0x1078 + 4 * place for place in range(75)]


@cocotb.test()
async def a_read_beyond_the_end_of_a_base_gets_a_message(dut: Any) -> None:
    bus = await agent(dut)
    assert (await bus.initiate(READ_BLOCK, DRIVER + 0xFF8, count=16, attributes=WHO)).end == "split"
    seen = await bus.respond("data")
    assert (seen.address, seen.attributes, seen.count) == (TAG, 3 << 29 | CARD_ID << 8 | 4, 4)
    assert seen.words == [
        2 << 28 | 0x78 << 12 | 16
    ]  # completer, byte count out of range; what is left
    assert (await bus.initiate(READ_DWORD, DRIVER + 0x104, attributes=WHO)).end == "split"
    assert (await bus.respond("data")).words == [1]


@cocotb.test()
async def of_a_write_whole_words_count_and_at_most_up_to_a_boundary(dut: Any) -> None:
    bus = await agent(dut)
    seen = await bus.initiate(WRITE_BLOCK, BASE + 0x202, [1, 2, 3, 4], count=12)
    assert (seen.end, seen.count) == ("moved", 12)
    assert (await bus.initiate(WRITE_BLOCK, BASE + 0x300, [9])).end == "retry"  # while that is done
    await bus.idle(60)
    assert bus.written == [(0x204, 2), (0x208, 3)]
    bus.written.clear()
    await bus.initiate(WRITE, BASE + 0x400, [5, 6, 7], count=12, lanes=[0, 8, 0])
    await bus.idle(60)
    assert bus.written == [(0x400, 5), (0x408, 7)]
    seen = await bus.initiate(WRITE_BLOCK, BASE + 0x560, list(range(16)), count=64)
    assert (seen.end, seen.count) == ("moved", 32)  # disconnected at 0x580
    await bus.idle(80)
    seen = await bus.initiate(WRITE_BLOCK, BASE + 0x578, list(range(16)), count=64)
    assert (seen.end, seen.count) == ("moved", 4)  # two phases before the boundary: one alone


@cocotb.test()
async def an_address_with_wrong_parity_is_not_claimed_and_told(dut: Any) -> None:
    bus = await agent(dut)
    begin = len(bus.past)
    assert (await bus.initiate(READ_DWORD, BASE, attributes=WHO, wrong=0)).end == "master-abort"
    assert sum(lines["serr"] for lines in bus.past[begin:]) == 1
    assert await bus.config_read(0x04) >> 16 == 0xC230  # parity error, SERR# signaled
    await bus.config_write(0x04, 0xC0000000, enables=0x3)
    assert (await bus.initiate(READ_DWORD, BASE, attributes=WHO, wrong=1)).end == "target-abort"
    assert await bus.config_read(0x04) >> 16 == 0xCA30  # and a Target-Abort


@cocotb.test()
async def data_with_wrong_parity_is_told_three_clocks_behind_it(dut: Any) -> None:
    bus = await agent(dut)
    begin = len(bus.past)
    await bus.initiate(WRITE_BLOCK, BASE + 0x40, [1, 2], count=8, wrong=5)
    clocks = [number for number, lines in enumerate(bus.past) if number >= begin and lines["perr"]]
    data = [number for number, lines in enumerate(bus.past) if number >= begin and lines["trdy"]]
    assert clocks == [data[1] + 3]
    assert await bus.config_read(0x04) >> 16 == 0x8230


@cocotb.test()
async def a_completion_that_was_not_asked_for_is_taken_and_noted(dut: Any) -> None:
    bus = await agent(dut)
    seen = await bus.initiate(COMPLETION, CARD_ID << 8, [1, 2], count=8, attributes=HOST_ID << 8)
    assert (seen.end, seen.count) == ("moved", 8)
    assert bus.host["cvalid"] == []
    assert await bus.config_read(0x44) >> 18 & 3 == 2
    await bus.config_write(0x44, 1 << 19)
    assert await bus.config_read(0x44) >> 18 & 3 == 0


async def ask(bus: Agent, address: int, length: int) -> None:
    bus.dut.hb_addr.value, bus.dut.hb_len.value = address, length
    bus.dut.hb_req.value, bus.dut.hb_we.value = 1, 0


async def until(bus: Agent, what: str) -> None:
    for _ in range(60):
        if bus.host[what]:
            break
        await bus.clock(gnt=1)
    assert bus.host[what], what
    bus.dut.hb_req.value = 0
    await bus.clock(gnt=1)


@cocotb.test()
async def a_read_of_the_card_is_split_and_its_words_come_in_two_pieces(dut: Any) -> None:
    bus = await agent(dut)
    await ask(bus, 0x12_3456_7870, 18)
    seen = await bus.respond("split")
    assert (seen.command, seen.address, seen.attributes, seen.count) == (
        READ_BLOCK, 0x12_3456_7870, CARD_ID << 8 | 144, 144
    )  # fmt: skip
    await until(bus, "ack")
    words = list(range(100, 136))
    await bus.initiate(
        COMPLETION, CARD_ID << 8 | 0x70, words[:4], count=16, attributes=HOST_ID << 8 | 144
    )
    await bus.initiate(COMPLETION, CARD_ID << 8, words[4:], count=128, attributes=HOST_ID << 8)
    await bus.idle(20)
    assert bus.host["cvalid"] == [
        high << 32 | low for low, high in zip(words[::2], words[1::2], strict=True)
    ]
    assert len(bus.host["clast"]) == 1


@cocotb.test()
async def a_read_that_nobody_answers_stops_until_the_driver_says_so(dut: Any) -> None:
    bus = await agent(dut)
    await ask(bus, 0x5000, 2)
    for kind, status in (("nobody", 0x2230), ("target-abort", 0x1230)):
        await bus.respond(kind)
        await bus.idle(60)
        assert not any(lines["req"] for lines in bus.past[-40:])
        assert await bus.config_read(0x04) >> 16 == status
        await bus.config_write(0x04, status << 16, enables=0x3)
        assert (await bus.initiate(READ_DWORD, DRIVER + 0x118, attributes=WHO)).end == "split"
        assert (await bus.respond("data")).words == [1 << 3]
        assert (await bus.initiate(WRITE_BLOCK, DRIVER + 0x118, [1 << 4])).end == "moved"
    seen = await bus.respond("data", [1, 2, 3, 4])
    assert (seen.address, seen.count) == (0x5000, 16)
    await until(bus, "ack")
    await bus.idle(20)
    assert bus.host["cvalid"] == [2 << 32 | 1, 4 << 32 | 3]


@cocotb.test()
async def what_comes_for_a_read_of_before_the_cards_reset_is_thrown_away(dut: Any) -> None:
    bus = await agent(dut)
    await ask(bus, 0x6000, 1)
    await bus.respond("split")
    await until(bus, "ack")
    dut.card_rst.value = 1
    await bus.idle(8)
    dut.card_rst.value = 0
    await ask(bus, 0x7000, 1)
    await bus.idle(60)
    assert not any(lines["frame"] for lines in bus.past[-60:])  # tag 0 is still in use
    await bus.initiate(COMPLETION, CARD_ID << 8, [1, 2], count=8, attributes=HOST_ID << 8)
    seen: Seen = await bus.respond("data", [7, 8])
    assert seen.address == 0x7000
    await bus.idle(20)
    assert bus.host["cvalid"] == [8 << 32 | 7]
