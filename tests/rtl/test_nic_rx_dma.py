"""ff_nic_rx_dma: packets leave the incoming FIFO for the host's memory, good ones whole, bad ones counted and dropped,
and every word of either is freed (docs/formats.md section 3; docs/faults.md).

Beside it stand a FIFO whose words come when they like and a host bus that answers when it likes. What should come of a
packet is worked out here from its words alone.
"""

from __future__ import annotations

import binascii
import random
import struct
import zlib
from dataclasses import dataclass, field
from typing import Any

import cocotb

from tests.rtl.cycles import Block
from tests.rtl.link_packets import BODY, HEAD, NOTIFY_REMOTE, RDMA_WRITE, TAIL, kinds, packet
from tests.rtl.simulation import in_icarus

MASK = (1 << 64) - 1
IDLE, DATA, STOPPED = 0, 3, 6  # enum machine_state
HEADER, PAYLOAD, LENGTH = 1, 2, 4  # bits of what the checks before the FIFO found
INPUTS = (
    "cfg_stop", "cfg_pause", "f_valid", "f_start", "f_complete", "f_kind", "f_data", "f_flags", "f_level", "f_hold",
    "b_ack", "b_retry", "note_ready",
)  # fmt: skip
COUNTS = ("count_header", "count_payload", "count_length", "count_drop")
CAUSES = ("cause_header", "cause_payload", "cause_length")
OUTPUTS = (
    "f_take", "f_done", "b_req", "b_wvalid", "b_wend", "freed_valid", "note_valid", "length_valid", "stat_state",
    "count_retry", *COUNTS, *CAUSES,
)  # fmt: skip


test_the_receive_dma = in_icarus(
    "ff_nic_rx_dma", __name__, {"DEPTH_LOG2": 8, "BURST": 4}, {"DEPTH_LOG2": 15, "BURST": 512}
)


@dataclass
class Stored:
    """A packet as it stands in the FIFO: its words, their kinds, and flags of the checks before, by word."""

    words: list[int]
    kinds: list[int]
    flags: dict[int, int] = field(default_factory=dict)

    @property
    def flow(self) -> int:
        return self.words[0] >> 8 & 0x7F

    @property
    def header_good(self) -> bool:
        if self.kinds[:2] != [HEAD, HEAD]:
            return False
        first, second = (word.to_bytes(8, "little") for word in self.words[:2])
        return binascii.crc_hqx(first[:6] + second, 0xFFFF) == self.words[0] >> 48

    @property
    def length(self) -> int:
        return self.words[0] >> 16 & 0x3FF

    def verdicts(self) -> tuple[int, int, int]:
        """Return the index of the word on which each check fails, header, payload, length; -1 where it does not."""
        if not self.header_good:
            if len(self.words) == 1:
                return (0 if self.kinds[0] == TAIL else -1), -1, -1
            return 1, -1, -1
        due = self.length + 2
        for index in range(2, len(self.words)):
            if self.kinds[index] == TAIL or index == due:
                body = self.words[2:index]
                crc_bad = (
                    zlib.crc32(struct.pack(f"<{len(body)}Q", *body))
                    != self.words[index] & 0xFFFFFFFF
                )
                length_bad = not (self.kinds[index] == TAIL and index == due)
                return -1, (index if crc_bad else -1), (index if length_bad else -1)
        return -1, -1, -1

    @property
    def good(self) -> bool:
        return self.verdicts() == (-1, -1, -1) and self.kinds[-1] == TAIL

    def written(self) -> list[tuple[int, int]]:
        """Return address and word of all that goes into the host's memory."""
        if not self.header_good:
            return []
        out = []
        for i, (kind, word) in enumerate(zip(self.kinds[2:], self.words[2:], strict=True)):
            if kind != BODY or i == self.length:
                break
            out.append(((self.words[1] + 8 * i) & MASK, word))
        return out

    def counted(self) -> tuple[int, int, int, int]:
        """Return what header, payload, length and drop counters go up by: not for what was counted before the FIFO."""
        known = [0, 0, 0]
        for bit in range(3):
            at = self.verdicts()[bit]
            before = any(flags >> bit & 1 for index, flags in self.flags.items() if index <= at)
            known[bit] = int(at >= 0 and not before)
        return known[0], known[1], known[2], int(not self.good)


def made(draw: random.Random, length: int, **given: int) -> Stored:
    fields = {"type_": draw.choice((1, 1, 2, 3)), "flags": draw.choice((0, NOTIFY_REMOTE)), "flow": draw.getrandbits(7),
              "seq": draw.getrandbits(16), "dest": draw.getrandbits(61) << 3} | given  # fmt: skip
    words = packet([draw.getrandbits(64) for _ in range(length)], **fields)
    return Stored(words, kinds(len(words)))


class Bench:
    """The block between a FIFO and a bus. ``arrival`` is the share of cycles in which a word comes."""

    def __init__(self, dut: Any, seed: int, arrival: float = 0.8, retries: float = 0.3) -> None:
        self.dut, self.draw = dut, random.Random(seed)
        self.arrival, self.retries = arrival, retries
        self.burst = int(dut.BURST.value)
        self.depth = 1 << int(dut.DEPTH_LOG2.value)
        self.block = Block(dut, INPUTS, OUTPUTS)
        self.coming: list[tuple[int, int, int, int, int]] = []  # start, kind, data, flags, ends
        self.inside: list[tuple[int, int, int, int, int]] = []
        self.visible = 0  # words that were in the FIFO a cycle ago
        self.ended: list[int] = []  # cycles still to go until the end of a packet is known
        self.lags: tuple[int, ...] = (
            1,
            2,
            3,
            4,
        )  # cycles by which an end is known behind its word's level
        self.complete = 0
        self.hold_at = -1  # the word, of all that are read, whose read does not move the pointer
        self.read = 0
        self.bus = "free"
        self.wait = 0
        self.at = (0, 0)  # address, words the burst may still have
        self.memory: list[tuple[int, int]] = []
        self.freed: list[int] = []
        self.notes: list[tuple[int, int]] = []
        self.lengths: list[int] = []
        self.totals = dict.fromkeys((*COUNTS, *CAUSES, "count_retry", "retries"), 0)
        self.done = 0
        self.stop = self.pause = 0
        self.asked_before = self.may_before = False
        self.since_end = 1 << 20
        self.notes_ready = 0.5

    def feed(self, packets: list[Stored]) -> None:
        for one in packets:
            for i, (kind, word) in enumerate(zip(one.kinds, one.words, strict=True)):
                self.coming.append(
                    (int(i == 0), kind, word, one.flags.get(i, 0), int(i == len(one.words) - 1))
                )

    def _fifo(self) -> dict[str, int]:
        """Return the FIFO's outputs of the coming cycle; a word that came shows one cycle behind its level."""
        draw = self.draw
        self.visible = len(self.inside)
        if self.coming and len(self.inside) < self.depth and draw.random() < self.arrival:
            self.inside.append(self.coming.pop(0))
            if self.inside[-1][4]:
                self.ended.append(draw.choice(self.lags))
        self.complete += sum(left == 0 for left in self.ended)
        self.ended = [left - 1 for left in self.ended if left]
        given = {"f_level": len(self.inside), "f_complete": int(self.complete > 0)}
        if self.visible:
            start, kind, data, flags, _ = self.inside[0]
            given |= {
                "f_valid": 1,
                "f_start": start,
                "f_kind": kind,
                "f_data": data,
                "f_flags": flags,
            }
        else:
            given |= {"f_data": draw.getrandbits(64), "f_kind": draw.getrandbits(2), "f_flags": draw.getrandbits(3),
                      "f_start": draw.getrandbits(1)}  # fmt: skip
        given["f_hold"] = int(self.read == self.hold_at)
        return given

    async def cycle(self) -> dict[str, int]:
        draw, dut = self.draw, self.dut
        given = self._fifo() | {"cfg_stop": self.stop, "cfg_pause": self.pause}
        given["note_ready"] = int(draw.random() < self.notes_ready)
        said = ""
        if self.bus == "asked" and draw.random() < 0.4:
            said = "retry" if draw.random() < self.retries else "ack"
            given[f"b_{said}"] = 1
        seen = await self.block.step(**given)
        self._bus(seen, given, said)
        self.since_end += 1
        if seen["b_wend"]:
            assert self.bus == "write", "an end without a burst"
            self.bus, self.since_end = "free", 0
        if seen["f_take"]:
            assert self.visible, "a word taken that is not there"
            if not given["f_hold"]:
                self.inside.pop(0)
            self.read += 1
        if seen["freed_valid"]:
            self.freed.append(int(dut.freed_flow.value))
        if seen["f_done"]:
            self.done += 1
            self.complete -= 1
            if seen["note_valid"]:
                assert given["note_ready"]
                self.notes.append((int(dut.note_seq.value), int(dut.note_flow.value)))
        if seen["length_valid"]:
            self.lengths.append(int(dut.length_words.value))
        for name in (*COUNTS, *CAUSES, "count_retry"):
            self.totals[name] += seen[name]
        self.totals["retries"] += int(said == "retry")
        return seen

    def _bus(self, seen: dict[str, int], given: dict[str, int], said: str) -> None:
        dut = self.dut
        if self.bus == "free" and seen["b_req"]:
            assert not self.asked_before or self.since_end > 1
            assert self.may_before, (
                "a burst was begun whose words are not here, or while the host takes none"
            )
            assert self.since_end >= self.pause
            self.bus = "asked"
            self.at = int(dut.b_addr.value), int(dut.b_len.value)
            assert 0 < self.at[1] <= self.burst
        if self.bus == "asked":
            assert seen["b_req"], "a request that is gone before its answer"
            assert (int(dut.b_addr.value), int(dut.b_len.value)) == self.at
        assert seen["b_wvalid"] == 0 or self.bus == "write", "a word without the bus"
        if seen["b_wvalid"]:
            address, left = self.at
            assert left > 0, "more words than the burst has"
            self.memory.append((address, int(dut.b_wdata.value)))
            self.at = (address + 8) & MASK, left - 1
        if said == "ack":
            self.bus = "write"
        self.may_before = not given["cfg_stop"] and bool(
            given["f_complete"] or given["f_level"] >= self.burst
        )

    async def until_empty(self, packets: int, limit: int = 30_000) -> None:
        for _ in range(limit):
            await self.cycle()
            if self.done == packets and not self.coming:
                break
        else:
            raise AssertionError(f"{self.done} of {packets} packets done after {limit} cycles")
        for _ in range(4):
            await self.cycle()

    def check(self, packets: list[Stored]) -> None:
        """Compare all that happened with what the packets, as they were read, are."""
        good = [one for one in packets if one.good]
        expected = [entry for one in packets for entry in one.written()]
        assert self.memory == expected
        assert self.freed == [one.flow for one in packets for _ in one.words]
        assert self.notes == [
            (one.words[0] >> 32 & 0xFFFF, one.flow) for one in good
            if one.words[0] & 0xF != RDMA_WRITE or one.words[0] >> 4 & NOTIFY_REMOTE
        ]  # fmt: skip
        assert self.lengths == [one.length for one in good]
        counted = [one.counted() for one in packets]
        assert [self.totals[name] for name in COUNTS] == [
            sum(column) for column in zip(*counted, strict=True)
        ]
        verdicts = [one.verdicts() for one in packets]
        assert [self.totals[name] for name in CAUSES] == [
            sum(at >= 0 for at in column) for column in zip(*verdicts, strict=True)
        ]
        assert self.totals["count_retry"] == self.totals["retries"]


async def bench(dut: Any, seed: int, arrival: float = 0.8, retries: float = 0.3) -> Bench:
    one = Bench(dut, seed, arrival, retries)
    await one.block.start()
    return one


def lengths(bench: Bench) -> list[int]:
    """Return payload lengths around those that matter, the longest packets of which the FIFO holds no two."""
    small = bench.burst == 4
    return [0, 1, 2, 3, 4, 5, 8, 9, 23] if small else [0, 1, 2, 7, 40]


@cocotb.test()
@cocotb.parametrize(arrival=[0.12, 1.0])
async def every_good_packet_arrives_whole_is_told_and_its_words_are_freed(
    dut: Any, arrival: float
) -> None:
    """In bursts whose words are there when they begin; through retries, late words and notifications that must wait."""
    one = await bench(dut, 1, arrival)
    packets = [made(one.draw, length) for _ in range(6) for length in lengths(one)]
    if arrival == 1.0:
        packets += [made(one.draw, 512), made(one.draw, 511)]
    one.feed(packets)
    await one.until_empty(len(packets))
    one.check(packets)
    assert all(packet.good for packet in packets)
    assert one.totals["retries"] > 5


@cocotb.test()
async def a_damaged_packet_is_counted_once_dropped_without_a_notification_and_frees_its_words(
    dut: Any,
) -> None:
    """A bit flips anywhere, a word less, a word twice; what the checks before the FIFO told is not counted again."""
    one = await bench(dut, 2)
    draw, packets = one.draw, []
    for _ in range(80):
        packet_ = made(draw, draw.choice(lengths(one)), flags=NOTIFY_REMOTE)
        count = len(packet_.words)
        at = draw.randrange(count)
        what = draw.choice(("good", "bit", "omitted", "twice"))
        if what == "bit":
            # Of the tail only the CRC counts; bits above it are reserved. The header's length stays.
            packet_.words[at] ^= 1 << draw.choice(
                (0, 7, 31, *((33, 63) if at != count - 1 else ()))
            )
        elif what == "omitted":
            del packet_.words[at], packet_.kinds[at]
        elif what == "twice":
            packet_.words.insert(at, packet_.words[at])
            packet_.kinds = kinds(
                count + 1
            )  # it was repeated at the far end: kinds follow from the place
        if draw.random() < 0.5:
            for bit, index in enumerate(packet_.verdicts()):
                if index >= 0:
                    packet_.flags[index] = packet_.flags.get(index, 0) | 1 << bit
        packets.append(packet_)
    one.feed(packets)
    await one.until_empty(len(packets))
    one.check(packets)
    for name in (*COUNTS, *CAUSES):
        assert one.totals[name] > 3, name
    assert one.totals["cause_header"] > one.totals["count_header"]


@cocotb.test()
async def a_packet_that_lost_its_end_in_a_full_fifo_is_no_good_packet(dut: Any) -> None:
    """Cut anywhere, the next packet right behind it or long after: it is dropped, the next is whole."""
    one = await bench(dut, 3)
    packets = []
    for cut in (*range(1, 12), 30):
        torn = made(one.draw, 28, flags=NOTIFY_REMOTE)
        del torn.words[cut:], torn.kinds[cut:]
        packets += [torn, made(one.draw, 3, flags=NOTIFY_REMOTE)]
        one.feed(packets[-2:] if cut % 2 else packets[-2:-1])
        if not cut % 2:
            await one.until_empty(len(packets) - 1)
            one.feed(packets[-1:])
        await one.until_empty(len(packets))
    one.check(packets)
    assert one.totals["count_drop"] == 12
    assert len(one.notes) == 12


@cocotb.test()
async def a_read_pointer_that_stands_still_for_a_word_repeats_it_and_the_next_packet_is_whole(
    dut: Any,
) -> None:
    """docs/faults.md, word-duplicated: any word, header and tail as well."""
    for at in range(7):
        one = await bench(dut, 10 + at)
        hit, behind = made(one.draw, 4, flags=NOTIFY_REMOTE), made(one.draw, 2, flags=NOTIFY_REMOTE)
        one.hold_at = at
        one.feed([hit, behind])
        await one.until_empty(2)
        hit.words.insert(at, hit.words[at])
        hit.kinds.insert(at, hit.kinds[at])
        one.check([hit, behind])


@cocotb.test()
async def a_host_that_takes_no_words_stops_between_two_bursts_and_loses_none(dut: Any) -> None:
    one = await bench(dut, 4)
    packets = [made(one.draw, length) for length in (23, 5, 30, 1, 0, 9)]
    one.feed(packets)
    states = []
    for cycle in range(1500):
        one.stop = int(cycle % 100 < 60)
        seen = await one.cycle()
        if one.stop and cycle % 100 > 45:
            states.append(seen["stat_state"])
            assert not seen["f_take"]
    one.check(packets)
    assert STOPPED in states
    assert (await one.cycle())["stat_state"] == IDLE


@cocotb.test()
async def a_slow_host_has_its_pause_behind_every_burst(dut: Any) -> None:
    one = await bench(dut, 5, arrival=1.0, retries=0.0)
    one.pause = 33  # checked with every request
    packets = [made(one.draw, length) for length in (3, 9, 1, 40)]
    one.feed(packets)
    await one.until_empty(len(packets))
    one.check(packets)


@cocotb.test()
async def an_end_that_is_known_in_the_very_cycle_in_which_its_word_shows_ends_nothing_early(
    dut: Any,
) -> None:
    """The last word comes late, when all before it have been written."""
    one = await bench(dut, 7, arrival=1.0)
    one.lags = (1,)
    packets = [made(one.draw, one.burst, flags=NOTIFY_REMOTE) for _ in range(3)]
    for count, packet_ in enumerate(packets, 1):
        one.feed([packet_])
        tail = one.coming.pop()
        for _ in range(3 * one.burst + 100):  # all but the tail is in the host's memory then
            await one.cycle()
        assert one.inside == []
        one.coming.append(tail)
        await one.until_empty(count)
    one.check(packets)


@cocotb.test()
async def a_packet_waits_for_the_room_of_its_notification(dut: Any) -> None:
    one = await bench(dut, 6, arrival=1.0)
    packets = [made(one.draw, 2, flags=NOTIFY_REMOTE), made(one.draw, 2)]
    one.feed(packets)
    one.notes_ready = 0.0
    for _ in range(200):
        seen = await one.cycle()
    assert (seen["note_valid"], one.done, one.notes) == (1, 0, [])
    one.notes_ready = 1.0
    await one.until_empty(2)
    one.check(packets)


@cocotb.test()
async def a_reset_in_the_middle_of_a_burst_gives_the_bus_back_and_starts_anew(dut: Any) -> None:
    for cycles in (8, 20, 37):
        one = await bench(dut, cycles, arrival=1.0, retries=0.0)
        one.feed([made(one.draw, 40)])
        for _ in range(cycles):
            await one.cycle()
        one = await bench(dut, cycles)
        for _ in range(5):
            seen = await one.cycle()
            assert {name: seen[name] for name in OUTPUTS if seen[name]} == {}
        packets = [made(one.draw, 6)]
        one.feed(packets)
        await one.until_empty(1)
        one.check(packets)
