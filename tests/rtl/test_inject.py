"""ff_inject: a packet from the buffer, sent once for each write with the right token (formats.md section 1)."""

from __future__ import annotations

import random
from typing import Any

import cocotb

from tests.rtl.cycles import Block
from tests.rtl.simulation import in_icarus

WORDS = 1024


test_an_injector = in_icarus("ff_inject", __name__)


class Injector:
    """The block with a model of its buffer."""

    def __init__(self, dut: Any) -> None:
        self.dut = dut
        self.block = Block(
            dut, ("pulse", "pulse_data", "held", "m_ready", "sel", "win_we", "win_word", "win_wdata"),
            ("stat_count", "m_valid", "win_ack", "win_rdata"),
        )  # fmt: skip

    async def access(self, word: int, data: int | None = None) -> int:
        given = {
            "sel": 1,
            "win_word": word,
            "win_we": int(data is not None),
            "win_wdata": data or 0,
        }
        for _ in range(4):
            seen = await self.block.step(**given)
            if seen["win_ack"]:
                await self.block.step()
                return seen["win_rdata"]
        raise AssertionError(f"word {word}: no answer")

    async def fill(self, draw: random.Random, words: int) -> list[int]:
        packet = [draw.getrandbits(64) for _ in range(words)]
        for number, word in enumerate(packet):
            await self.access(2 * number, word & 0xFFFFFFFF)
            await self.access(2 * number + 1, word >> 32)
        return packet

    async def drain(self, draw: random.Random, cycles: int, ready: float) -> list[tuple[int, int]]:
        """Return the words ``(data, last)`` taken; a word offered stands still until it is taken."""
        taken, offered = [], None
        for _ in range(cycles):
            takes = int(draw.random() < ready)
            seen = await self.block.step(m_ready=takes)
            if not seen["m_valid"]:
                assert offered is None
                continue
            word = int(self.dut.m_data.value), int(self.dut.m_last.value)
            assert offered in (None, word)
            offered = None if takes else word
            if takes:
                taken.append(word)
        return taken


async def injector(dut: Any) -> Injector:
    made = Injector(dut)
    await made.block.start()
    return made


@cocotb.test()
async def the_buffer_holds_what_was_written_and_zero_before(dut: Any) -> None:
    made = await injector(dut)
    assert await made.access(77) == 0
    for word, data in ((0, 0x11111111), (1, 0x22222222), (2 * WORDS - 1, 0x33333333)):
        await made.access(word, data)
    assert [await made.access(word) for word in (0, 1, 2 * WORDS - 1, 2 * WORDS - 2)] == [
        0x11111111, 0x22222222, 0x33333333, 0,
    ]  # fmt: skip


@cocotb.test()
@cocotb.parametrize(words=[1, 2, 9], ready=[1.0, 0.3])
async def the_right_token_sends_the_packet_once(dut: Any, words: int, ready: float) -> None:
    made, draw = await injector(dut), random.Random(words)
    packet = await made.fill(draw, words)
    for token in (1, 2):
        await made.block.step(pulse=1, pulse_data=token | words << 16)
        sent = await made.drain(draw, 12 * words + 40, ready)
        assert sent == [(word, int(i == words - 1)) for i, word in enumerate(packet)]
        assert made.block.see()["stat_count"] == token


@cocotb.test()
async def the_longest_packet_is_1023_words(dut: Any) -> None:
    made, draw = await injector(dut), random.Random(5)
    await made.block.step(pulse=1, pulse_data=1 | 1023 << 16)
    sent = await made.drain(draw, 3200, 1.0)
    assert [last for _, last in sent] == [0] * 1022 + [1]


@cocotb.test()
async def a_wrong_token_no_words_or_a_held_card_send_nothing(dut: Any) -> None:
    made, draw = await injector(dut), random.Random(3)
    await made.fill(draw, 2)
    for data, held in (
        (0 | 2 << 16, 0),
        (2 | 2 << 16, 0),
        (0xFFFF | 2 << 16, 0),
        (1, 0),
        (1 | 2 << 16, 1),
    ):
        await made.block.step(pulse=1, pulse_data=data, held=held)
        assert await made.drain(draw, 12, 1.0) == []
        assert made.block.see()["stat_count"] == 0


@cocotb.test()
async def a_pulse_while_a_packet_is_sent_changes_nothing(dut: Any) -> None:
    made, draw = await injector(dut), random.Random(4)
    packet = await made.fill(draw, 3)
    await made.block.step(pulse=1, pulse_data=1 | 3 << 16)
    await made.drain(draw, 5, 0.0)
    await made.block.step(pulse=1, pulse_data=2 | 1 << 16)
    sent = await made.drain(draw, 40, 1.0)
    assert [word for word, _ in sent] == packet
    assert made.block.see()["stat_count"] == 1


@cocotb.test()
async def the_host_reads_the_buffer_while_a_packet_is_sent_and_both_are_right(dut: Any) -> None:
    made, draw = await injector(dut), random.Random(6)
    packet = await made.fill(draw, 8)
    await made.block.step(pulse=1, pulse_data=1 | 8 << 16)
    sent: list[int] = []
    for turn in range(60):
        word = draw.randrange(16)
        for _ in range(4):
            seen = await made.block.step(sel=1, win_word=word, m_ready=1)
            if seen["m_valid"]:
                sent.append(int(dut.m_data.value))
            if seen["win_ack"]:
                assert seen["win_rdata"] == packet[word // 2] >> 32 * (word % 2) & 0xFFFFFFFF, turn
                break
        seen = await made.block.step(m_ready=1)
        if seen["m_valid"]:
            sent.append(int(dut.m_data.value))
    assert sent == packet
