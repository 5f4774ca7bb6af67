"""ff_nic_tx_dma: a message becomes a packet, whatever the bus does in between (docs/formats.md sections 3 and 4).

Beside it stand a host bus that retries, splits, pauses and disconnects as it likes, a memory, and an outgoing FIFO that
is read when it likes. Packets are compared with those of binascii and zlib.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import Any

import cocotb

from tests.rtl.cycles import Block
from tests.rtl.link_packets import BODY, HEAD, INJECTED, NOTIFY_LOCAL, TAIL, kinds, packet
from tests.rtl.simulation import in_icarus

RETRIED, DISCONNECTED, REQUESTED = 4, 5, 7  # enum desc_code
IDLE, FETCH, SPLIT_WAIT, DATA = 0, 1, 2, 3  # enum machine_state
MASK = (1 << 64) - 1
DESCRIPTOR = ("src", "dest", "length", "flags", "type", "flow", "seq", "pattern")
INPUTS = (
    "d_valid", *(f"d_{name}" for name in DESCRIPTOR), "inject_valid", "inject_last", "inject_data",
    "b_gnt", "b_ack", "b_retry", "c_own", "c_valid", "c_last", "c_data", "f_room", "f_packet_room",
    "fault_resume", "fault_words", "fault_count",
)  # fmt: skip
OUTPUTS = (
    "d_take", "inject_ready", "b_req", "f_valid", "p_valid", "stat_state", "stat_address", "stat_remaining",
    "stat_length", "stat_next_seq", "ev_started", "ev_done", "ev_read", "count_retry", "count_disconnect",
    "count_split_wait", "fault_struck",
)  # fmt: skip


test_the_transmit_dma = in_icarus("ff_nic_tx_dma", __name__, {"DEPTH_LOG2": 10}, {"DEPTH_LOG2": 15})


def memory(address: int) -> int:
    """Return what the host has at an address: splitmix64 of it."""
    z = (address + 0x9E3779B97F4A7C15) & MASK
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 & MASK
    z = (z ^ z >> 27) * 0x94D049BB133111EB & MASK
    return z ^ z >> 31


@dataclass(frozen=True)
class Descriptor:
    src: int
    dest: int
    length: int
    flags: int
    type: int
    flow: int
    seq: int
    pattern: int

    def words(self) -> list[int]:
        if (
            self.pattern
        ):  # formats.md section 3: word i of packet n; the memory is the same function
            base = (self.src >> 32) << 32 ^ (self.src & 0xFFFFFFFF) << 10
            payload = [memory((base ^ i) & MASK) for i in range(self.length)]
        else:
            payload = [memory((self.src + 8 * i) & MASK) for i in range(self.length)]
        return packet(
            payload, type_=self.type, flags=self.flags, flow=self.flow, seq=self.seq, dest=self.dest
        )

    def value(self, length: int) -> int:
        return length | self.type << 10 | self.flags << 16 | self.seq << 20


@dataclass
class Rates:
    """How the surroundings behave: shares of one."""

    retry: float = 0.3
    disconnect: float = 0.3
    pause: float = 0.3  # between words of a completion, and of the injector
    drain: float = 0.7  # words that leave the FIFO each cycle


class Bench:
    """The block between its descriptors, the bus and the FIFO; what comes out is checked against ``expected``."""

    def __init__(self, dut: Any, seed: int, rates: Rates) -> None:
        self.dut, self.draw, self.rates = dut, random.Random(seed), rates
        self.block = Block(dut, INPUTS, OUTPUTS)
        self.depth = 1 << int(dut.DEPTH_LOG2.value)
        self.ring: list[Descriptor] = []
        self.injected: list[list[int]] = []
        self.place = 0  # of the next injected word
        self.level = 0
        self.packets_full = False
        self.out: list[tuple[int, int, int, int]] = []  # first, last, kind, data
        self.bus = "free"
        self.skip = 0  # words that the fault is to go on too far, 0: it is not armed
        self.let_pass = 0  # resumptions
        self.struck = False
        self.wait = 0
        self.read = (0, 0)  # address, words still to be given
        self.give = 0
        self.reads: list[tuple[int, int]] = []  # code, words still to be fetched, as the bus knows
        self.told: list[tuple[int, int]] = []
        self.counts = {"retry": 0, "disconnect": 0, "split_wait": 0}
        self.split_cycles = 0
        self.states: list[int] = [IDLE]
        self.events: list[tuple[str, int, int]] = []  # what, flow, value
        self.sent: list[tuple[int, int, int]] = []  # notify, seq, flow
        self.taken: list[Descriptor] = []
        self.answered = False
        self.before: dict[str, int] = {}

    def _bus(self) -> dict[str, int]:
        """Return what the bus gives in the coming cycle, the request of the last one known."""
        draw, rates = self.draw, self.rates
        given: dict[str, int] = {}
        asks, self.answered = self.before.get("b_req") and not self.answered, False
        if self.bus == "free" and asks:
            self.bus = "granted"
            given["b_gnt"] = 1
        elif self.bus == "granted" and draw.random() < 0.4:
            if draw.random() < rates.retry:
                given["b_retry"] = 1
                self.bus, self.answered = "free", True  # the request is seen for one cycle more
                self.reads.append((RETRIED, self.read[1]))
            else:
                given["b_ack"] = 1
                self.bus, self.wait = "split", draw.randrange(1, 20)
        elif self.bus == "split":
            self.wait -= 1
            if self.wait == 0:
                left = self.read[1]
                cut = left > 1 and draw.random() < rates.disconnect
                self.give = draw.randrange(1, left) if cut else left
                self.bus, self.wait = "announce", draw.randrange(3, 6)
        elif self.bus == "announce":
            self.wait -= 1
            if self.wait == 0:
                self.bus = "data"
        if self.bus in ("announce", "data"):
            given["c_own"] = 1
        if self.bus == "data" and draw.random() >= rates.pause:
            address, left = self.read
            self.give -= 1
            given |= {"c_valid": 1, "c_data": memory(address), "c_last": int(self.give == 0)}
            self.read = (address + 8) & MASK, left - 1
            if self.give == 0:
                self.bus = "free"
                if left > 1:
                    self.reads.append((DISCONNECTED, left - 1))
        return given

    async def cycle(self) -> dict[str, int]:
        draw, dut = self.draw, self.dut
        given = {
            "c_data": draw.getrandbits(64),
            "c_last": draw.getrandbits(1),
        }  # without c_valid it means nothing
        if self.ring:
            given["d_valid"] = 1
            given |= {f"d_{name}": getattr(self.ring[0], name) for name in DESCRIPTOR}
        if self.injected and (self.place == 0 or draw.random() >= self.rates.pause):
            words = self.injected[0]
            given |= {"inject_valid": 1, "inject_data": words[self.place],
                      "inject_last": int(self.place == len(words) - 1)}  # fmt: skip
        given |= self._bus()
        self.level -= min(self.level, int(draw.random() < self.rates.drain))
        given |= {"f_room": self.depth - self.level, "f_packet_room": int(not self.packets_full)}
        given |= {
            "fault_resume": int(self.skip > 0),
            "fault_words": self.skip,
            "fault_count": self.let_pass,
        }
        seen = await self.block.step(**given)
        if seen["fault_struck"] and not self.struck:  # the read that was ended before this cycle
            self.struck = True
            address, left = self.read
            self.read = (address + 8 * self.skip) & MASK, left - self.skip
        if given.get("b_gnt"):
            request = int(dut.b_addr.value), int(dut.b_len.value)
            if self.read[1]:  # again, or for what is missing
                assert request == self.read
            else:
                assert request == (self.taken[-1].src, self.taken[-1].length)
            self.read = request
            self.reads.append((REQUESTED, request[1]))
        self._counted(seen, given)
        self._handed(seen, given)
        self._written(seen)
        self._told(seen)
        self.before = seen
        return seen

    def _counted(self, seen: dict[str, int], given: dict[str, int]) -> None:
        assert seen["count_retry"] == given.get("b_retry", 0)
        assert seen["count_disconnect"] == int(
            given.get("c_valid", 0) and given["c_last"] and self.read[1] > 0
        )
        assert seen["count_split_wait"] == int(self.bus == "split" and not given.get("b_ack"))
        for name in self.counts:
            self.counts[name] += seen[f"count_{name}"]
        if seen["stat_state"] != self.states[-1]:
            self.states.append(seen["stat_state"])

    def _handed(self, seen: dict[str, int], given: dict[str, int]) -> None:
        if seen["d_take"]:
            assert self.ring and not given.get("inject_valid"), "the injected packet goes first"
            self.taken.append(self.ring.pop(0))
        if seen["inject_ready"] and given.get("inject_valid"):
            self.place += 1
            if self.place == len(self.injected[0]):
                self.injected.pop(0)
                self.place = 0

    def _written(self, seen: dict[str, int]) -> None:
        dut = self.dut
        if not seen["f_valid"]:
            return
        word = int(dut.f_kind.value), int(dut.f_data.value)
        self.out.append((int(dut.f_first.value), int(dut.f_last.value), *word))
        self.level += 1
        assert self.level <= self.depth, "a word into a full FIFO"

    def _told(self, seen: dict[str, int]) -> None:
        dut = self.dut
        for what in ("started", "done"):
            if seen[f"ev_{what}"]:
                self.events.append((what, int(dut.ev_flow.value), int(dut.ev_value.value)))
        assert seen["ev_started"] == int(bool(seen["f_valid"]) and self.out[-1][0])
        assert seen["ev_done"] == seen["p_valid"] == int(bool(seen["f_valid"]) and self.out[-1][1])
        if seen["ev_read"]:
            value = int(dut.ev_read_value.value)
            self.told.append((int(dut.ev_read_code.value), value & 0x3FF))
            assert value == self.taken[-1].value(value & 0x3FF)
            assert int(dut.ev_flow.value) == self.taken[-1].flow
        if seen["p_valid"]:
            notify, seq, flow = (
                int(getattr(dut, f"p_{part}").value) for part in ("notify", "seq", "flow")
            )
            self.sent.append((notify, seq, flow))

    async def until_quiet(self, limit: int) -> None:
        """Run until everything has left and nothing stirs any more."""
        quiet = 0
        for _ in range(limit):
            seen = await self.cycle()
            busy = self.ring or self.injected or seen["stat_state"] != IDLE or seen["f_valid"]
            quiet = 0 if busy else quiet + 1
            if quiet == 4:
                return
        raise AssertionError(f"still busy after {limit} cycles: {len(self.out)} words written")


async def bench(dut: Any, seed: int, rates: Rates | None = None) -> Bench:
    made = Bench(dut, seed, rates or Rates())
    await made.block.start(f_room=made.depth, f_packet_room=1)
    return made


def descriptor(draw: random.Random, seq: int, length: int, pattern: int = 0) -> Descriptor:
    return Descriptor(
        draw.getrandbits(64), draw.getrandbits(32) * (1 - pattern), length, draw.getrandbits(3), draw.choice((1, 2, 3)),
        draw.getrandbits(7), seq, pattern,
    )  # fmt: skip


def framed(words: list[int]) -> list[tuple[int, int, int, int]]:
    return [
        (int(i == 0), int(i == len(words) - 1), kind, word)
        for i, (kind, word) in enumerate(zip(kinds(len(words)), words, strict=True))
    ]


@cocotb.test()
async def an_injected_packet_passes_as_it_is_word_by_word_between_two_messages(dut: Any) -> None:
    """Kinds by place, nothing checked or added; one word, two, and more than the FIFO has room for at the moment."""
    made = await bench(dut, 4, Rates(drain=0.3))
    draw = made.draw
    expected: list[tuple[int, int, int, int]] = []
    sent: list[tuple[int, int, int]] = []
    for count in (1, 2, 3, 5, 40, 1, 520):
        words = [draw.getrandbits(64) for _ in range(count)]
        words[0] = words[0] & ~0xF0 | (INJECTED | draw.choice((0, NOTIFY_LOCAL))) << 4
        one = descriptor(draw, draw.getrandbits(16), draw.choice((0, 3)))
        made.injected, made.ring = [list(words)], [one]
        if count == 40:
            made.level = made.depth - 20
        await made.until_quiet(5_000)
        expected += [
            (
                int(i == 0),
                int(i == count - 1),
                HEAD if i < 2 else TAIL if i == count - 1 else BODY,
                word,
            )
            for i, word in enumerate(words)
        ]
        expected += framed(one.words())
        first = words[0]
        sent.append((first >> 4 & NOTIFY_LOCAL, first >> 32 & 0xFFFF, first >> 8 & 0x7F))
        sent.append((one.flags & NOTIFY_LOCAL, one.seq, one.flow))
    assert made.out == expected
    assert made.sent == sent
    told = [(flow, value) for what, flow, value in made.events if what == "done"][::2]
    assert told == [
        (flow, seq << 20 | value & 0xFFC00)
        for (flow, value), (_, seq, _) in zip(told, sent[::2], strict=True)
    ]


@cocotb.test()
async def every_message_is_a_good_packet_through_retries_splits_pauses_and_disconnects(
    dut: Any,
) -> None:
    """No word is omitted or repeated where a read is resumed; each read, end and repetition is told and counted."""
    made = await bench(dut, 1, Rates(disconnect=0.5))
    lengths = [made.draw.choice((0, 1, 2, 3, 7, 20)) for _ in range(40)] + [512, 511, 1]
    ring = [
        descriptor(made.draw, seq & 0xFFFF, length, int(made.draw.random() < 0.3))
        for seq, length in enumerate(lengths, 0xFFFF - 20)
    ]
    made.ring = list(ring)
    await made.until_quiet(12_000)
    assert made.out == [word for one in ring for word in framed(one.words())]
    assert made.told == made.reads
    codes = [code for code, _ in made.reads]
    assert made.counts["retry"] == codes.count(RETRIED) > 5
    assert made.counts["disconnect"] == codes.count(DISCONNECTED) > 5
    assert made.events == [
        (what, one.flow, one.value(one.length)) for one in ring for what in ("started", "done")
    ]
    assert made.sent == [(one.flags & NOTIFY_LOCAL, one.seq, one.flow) for one in ring]
    assert made.before["stat_next_seq"] == (ring[-1].seq + 1) & 0xFFFF
    legal = {
        (IDLE, FETCH),
        (FETCH, SPLIT_WAIT),
        (SPLIT_WAIT, DATA),
        (DATA, FETCH),
        (DATA, IDLE),
        (FETCH, DATA),
    }
    assert set(zip(made.states, made.states[1:], strict=False)) == legal


@cocotb.test()
async def a_packet_is_begun_only_where_the_fifo_has_room_for_all_of_it(dut: Any) -> None:
    """Once begun nothing stops it: a reader that stands still costs no word, and no packet waits half written."""
    made = await bench(dut, 2, Rates(drain=0.0))
    whole = 512 + 3
    fit = made.depth // whole
    ring = [descriptor(made.draw, seq, 512, pattern=1) for seq in range(fit + 1)]
    made.ring = list(ring)
    if fit > 4:  # of a large FIFO the level is set, not filled
        made.level, fit = made.depth - 2 * whole - 9, 2
    for _ in range((fit + 1) * 600):
        await made.cycle()
    assert len(made.out) == fit * whole
    assert made.before["stat_state"] == FETCH
    made.packets_full, made.level = True, 0
    for _ in range(20):
        await made.cycle()
    assert len(made.out) == fit * whole
    made.packets_full = False
    while len(made.out) < (fit + 1) * whole:
        await made.cycle()
    assert made.out == [word for one in ring[: fit + 1] for word in framed(one.words())]


@cocotb.test()
async def room_for_a_packet_is_its_payload_and_three_words_and_little_more(dut: Any) -> None:
    """One word less and it is not begun; two more, for what is on its way into the FIFO, and it is."""
    for room in range(9):
        made = await bench(dut, 20 + room, Rates(drain=0.0))
        made.ring = [descriptor(made.draw, 1, 2, pattern=1)]
        made.level = made.depth - room
        for _ in range(20):
            await made.cycle()
        assert len(made.out) in {5: (0, 5), 6: (0, 5)}.get(room, (5 * int(room > 6),)), room


@cocotb.test()
async def header_words_go_in_while_the_first_completion_announces_itself_and_each_word_one_cycle_behind_the_bus(
    dut: Any,
) -> None:
    made = await bench(dut, 3, Rates(retry=0.0, disconnect=0.0, pause=0.0))
    made.ring = [descriptor(made.draw, 5, 9)]
    owned: list[int] = []
    words: list[int] = []
    written: list[int] = []
    for cycle in range(80):
        bus_before = made.bus
        left = made.read[1]
        seen = await made.cycle()
        if made.bus == "announce" and bus_before == "split":
            owned.append(cycle)
        if made.read[1] < left:
            words.append(cycle)
        if seen["f_valid"]:
            written.append(cycle)
    assert written == [owned[0] + 2, owned[0] + 3, *(cycle + 1 for cycle in words), words[-1] + 2]
    assert len(words) == 9


@cocotb.test()
async def what_is_shown_of_a_transfer_is_its_address_its_length_and_what_is_missing(
    dut: Any,
) -> None:
    made = await bench(dut, 5)
    made.ring = [descriptor(made.draw, seq, length) for seq, length in enumerate((6, 17, 64))]
    checked = 0
    for _ in range(700):
        seen = await made.cycle()
        if seen["stat_state"] == IDLE:
            assert (seen["stat_address"], seen["stat_remaining"], seen["stat_length"]) == (0, 0, 0)
        elif made.bus == "split":
            assert (seen["stat_address"], seen["stat_remaining"]) == made.read
            assert seen["stat_length"] == made.taken[-1].length
            checked += 1
    assert checked > 10
    assert len(made.sent) == 3


@cocotb.test()
async def a_reset_in_the_middle_of_a_packet_forgets_it_and_the_next_is_whole(dut: Any) -> None:
    for cycles in (5, 25, 45, 60):
        made = await bench(dut, cycles, Rates(retry=0.0, disconnect=0.0))
        made.ring = [descriptor(made.draw, 1, 40, pattern=int(cycles == 25))]
        for _ in range(cycles):
            await made.cycle()
        dut.rst.value = 1  # start() of the bench below holds it up for the cycles that it takes
        made = await bench(dut, cycles, Rates())
        for _ in range(6):
            seen = await made.cycle()
            assert (seen["f_valid"], seen["stat_state"], seen["stat_next_seq"]) == (0, IDLE, 0)
        one = descriptor(made.draw, 9, 6)
        made.ring = [one]
        await made.until_quiet(500)
        assert made.out == framed(one.words())


@cocotb.test()
async def the_fault_leaves_words_out_of_one_message_where_a_read_is_resumed_and_before_the_crcs(
    dut: Any,
) -> None:
    """Header, descriptor and event say what was meant; the CRC is that of the words that were sent."""
    for skip, let_pass, rates in (
        (1, 0, Rates(retry=0.0, disconnect=0.5)),
        (2, 3, Rates(retry=0.5, disconnect=0.0)),
        (4, 1, Rates(retry=0.4, disconnect=0.4)),
        (7, 2, Rates(retry=0.4, disconnect=0.4)),
    ):
        dut.rst.value = 1
        made = await bench(dut, 10 + skip, rates)
        lengths = [made.draw.choice((0, 1, 3, 9, 20, 30)) for _ in range(30)]
        ring = [
            descriptor(made.draw, seq, length, int(made.draw.random() < 0.2))
            for seq, length in enumerate(lengths)
        ]
        made.ring = list(ring)
        for _ in range(60):
            await made.cycle()
        assert not made.struck  # not armed
        made.skip, made.let_pass, before = skip, let_pass, len(made.reads)
        await made.until_quiet(12_000)
        assert made.struck
        ended = [left for code, left in made.reads[before:] if code != REQUESTED and left > skip]
        hit = next(one for one in ring if one.seq == int(dut.fault_seq.value))
        word = int(dut.fault_struck_word.value) - 2
        assert int(dut.fault_struck_flow.value) == hit.flow
        assert word == hit.length - ended[let_pass]
        expected = []
        for one in ring:
            whole = one.words()
            if one is hit:
                whole = packet(
                    whole[2 : 2 + word] + whole[2 + word + skip : -1],
                    type_=one.type, flags=one.flags, flow=one.flow, seq=one.seq, dest=one.dest,
                    length=one.length,
                )  # fmt: skip
            expected += framed(whole)
        assert made.out == expected
        assert made.told == made.reads
        assert made.events == [
            (what, one.flow, one.value(one.length)) for one in ring for what in ("started", "done")
        ]


@cocotb.test()
async def the_fault_finds_no_read_with_more_words_left_than_it_leaves_out(dut: Any) -> None:
    made = await bench(dut, 6, Rates(retry=0.5, disconnect=0.5))
    made.skip = 4
    ring = [descriptor(made.draw, seq, length) for seq, length in enumerate([1, 2, 3, 4] * 6)]
    made.ring = list(ring)
    await made.until_quiet(8_000)
    assert not made.struck
    assert made.out == [word for one in ring for word in framed(one.words())]
