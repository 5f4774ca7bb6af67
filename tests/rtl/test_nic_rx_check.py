"""ff_nic_rx_check: the checks at rx_enq and rx_deq, on packets of binascii and zlib (docs/formats.md section 3)."""

from __future__ import annotations

import binascii
import random
import struct
import zlib
from typing import Any

import cocotb
from cocotb.triggers import FallingEdge

from tests.rtl.clocks import Clock
from tests.rtl.simulation import in_icarus

HEAD, BODY, TAIL = 1, 2, 3
GOOD, HEADER, PAYLOAD, LENGTH = "m_header", "m_header_bad", "m_payload_bad", "m_length_bad"
GOLDEN = bytes.fromhex(
    "010302000700c5300010000000000000"
)  # RDMA_WRITE, flow 3, seq 7, payload 1, 2
GOLDEN_TAIL = bytes.fromhex("b9ddf60000000000")


test_the_checks_of_a_receiver_stage = in_icarus("ff_nic_rx_check", __name__)


def _packet(
    payload: list[int], flow: int = 5, seq: int = 9, length: int | None = None
) -> list[int]:
    """Return the words of a packet, made with nothing of ours."""
    said = len(payload) if length is None else length
    head = struct.pack("<BBHH", 1, flow, said, seq)
    address = struct.pack("<Q", 0x8000)
    body = struct.pack(f"<{len(payload)}Q", *payload)
    header = head + struct.pack("<H", binascii.crc_hqx(head + address, 0xFFFF))
    return [
        int.from_bytes(header, "little"), 0x8000, *payload, zlib.crc32(body),
    ]  # fmt: skip


def _kinds(count: int) -> list[int]:
    return [HEAD, HEAD, *[BODY] * (count - 3), TAIL]


async def _start(dut: Any) -> None:
    Clock(dut.clk, 10, "ns").start()
    for name in ("s_valid", "s_first", "s_last", "s_kind", "s_data"):
        getattr(dut, name).value = 0
    dut.rst.value = 1
    for _ in range(3):
        await FallingEdge(dut.clk)
    dut.rst.value = 0


async def _feed(
    dut: Any, words: list[int], kinds: list[int], draw: random.Random
) -> dict[str, list[int]]:
    """Feed a packet with pauses; return after which word each verdict came, one cycle behind it."""
    seen: dict[str, list[int]] = {GOOD: [], HEADER: [], PAYLOAD: [], LENGTH: []}
    for place, (word, kind) in enumerate(zip(words, kinds, strict=True)):
        dut.s_valid.value, dut.s_first.value = 1, int(place == 0)
        dut.s_last.value, dut.s_kind.value, dut.s_data.value = (
            int(place == len(words) - 1),
            kind,
            word,
        )
        await FallingEdge(dut.clk)
        for name, places in seen.items():
            if int(getattr(dut, name).value):
                places.append(place)
        for _ in range(draw.choice((0, 0, 0, 1, 3))):
            dut.s_valid.value = 0
            await FallingEdge(dut.clk)
            assert not any(int(getattr(dut, name).value) for name in seen)
    dut.s_valid.value = 0
    return seen


@cocotb.test()
async def the_golden_packet_is_good_and_its_fields_are_shown(dut: Any) -> None:
    await _start(dut)
    words = [*struct.unpack("<2Q", GOLDEN), 1, 2, *struct.unpack("<Q", GOLDEN_TAIL)]
    seen = await _feed(dut, words, _kinds(5), random.Random(0))
    assert seen == {GOOD: [1], HEADER: [], PAYLOAD: [], LENGTH: []}
    fields = ("stat_type", "stat_flags", "stat_flow", "stat_length", "stat_seq")
    assert [int(getattr(dut, name).value) for name in fields] == [1, 0, 3, 2, 7]


@cocotb.test()
async def every_single_bit_that_flips_is_found_where_it_can_be_known(dut: Any) -> None:
    await _start(dut)
    draw = random.Random(1)
    for _ in range(300):
        words = _packet([draw.getrandbits(64) for _ in range(draw.randrange(6))])
        place = draw.randrange(len(words))
        # Of the tail only the CRC counts; bits above it are reserved.
        bit = draw.randrange(32 if place == len(words) - 1 else 64)
        words[place] ^= 1 << bit
        seen = await _feed(dut, words, _kinds(len(words)), draw)
        if place < 2:
            assert seen == {GOOD: [], HEADER: [1], PAYLOAD: [], LENGTH: []}
        else:
            assert seen == {GOOD: [1], HEADER: [], PAYLOAD: [len(words) - 1], LENGTH: []}


@cocotb.test()
async def a_tail_that_comes_early_or_late_is_a_bad_length_judged_where_it_is_known(
    dut: Any,
) -> None:
    await _start(dut)
    draw = random.Random(2)
    for missing in (1, 2):
        words = _packet([draw.getrandbits(64) for _ in range(8)])
        del words[2 : 2 + missing]
        seen = await _feed(dut, words, _kinds(len(words)), draw)
        assert seen == {GOOD: [1], HEADER: [], PAYLOAD: [len(words) - 1], LENGTH: [len(words) - 1]}
    words = _packet([draw.getrandbits(64) for _ in range(8)])
    words.insert(5, words[5])  # a word twice: where the tail should be stands the last payload word
    seen = await _feed(dut, words, _kinds(len(words)), draw)
    assert seen == {GOOD: [1], HEADER: [], PAYLOAD: [10], LENGTH: [10]}


@cocotb.test()
async def a_packet_without_two_head_words_is_a_bad_header_and_nothing_else_is_judged(
    dut: Any,
) -> None:
    await _start(dut)
    draw = random.Random(3)
    words = _packet([1, 2, 3])
    assert (await _feed(dut, words[1:], _kinds(6)[1:], draw))[HEADER] == [1]
    assert (await _feed(dut, words[:1], [HEAD], draw))[HEADER] == [0]
    seen = await _feed(dut, words, _kinds(6), draw)  # and the next is judged afresh
    assert seen == {GOOD: [1], HEADER: [], PAYLOAD: [], LENGTH: []}
