"""ff_nic_bus: three masters on one host bus port; each transaction is one master's alone, and all get their turn."""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from typing import Any

import cocotb

from tests.rtl.cycles import Block
from tests.rtl.simulation import in_icarus

RECEIVE, NOTES, TRANSMIT = 0, 1, 2
INPUTS = (
    "s_req", "s_addr", "s_len", "s_wvalid", "s_wend", "s_wdata", "hb_gnt", "hb_ack", "hb_retry",
)  # fmt: skip
OUTPUTS = ("s_gnt", "s_ack", "s_retry", "hb_req", "hb_wvalid", "hb_wend")


test_the_bus_port = in_icarus("ff_nic_bus", __name__)


@dataclass
class Master:
    """One that asks: it keeps its request until the ack, and as a writer gives its words with pauses, then the end."""

    number: int
    draw: random.Random
    eager: bool = False
    asks: bool = False
    addr: int = 0
    words: list[int] = field(default_factory=list)  # of a writer, still to be given
    length: int = 0
    writing: bool = False
    given: int | None = None  # the word at its outputs
    ending: bool = False
    seen: int = 0  # gnt, ack, retry of the last cycle

    def begin(self) -> dict[str, int]:
        """Return the outputs of the coming cycle."""
        draw = self.draw
        if not self.asks and not self.writing and (self.eager or draw.random() < 0.3):
            self.asks = True
            self.addr, self.length = draw.getrandbits(64), draw.choice((1, 2, 5, 512))
            if self.number != TRANSMIT:
                self.length = draw.choice((1, 2, 5))
                self.words = [draw.getrandbits(64) for _ in range(self.length)]
        self.given, self.ending = None, False
        if self.writing and draw.random() < 0.6:
            if self.words and (len(self.words) == self.length or draw.random() < 0.9):
                self.given = self.words.pop(0)
            else:  # also before its last word: hb_len is the most
                self.ending = True
        noise = draw.getrandbits(64)  # what does not count may hold anything
        return {
            "req": int(self.asks), "addr": self.addr if self.asks else noise,
            "len": self.length if self.asks else noise & 0x3FF, "wvalid": int(self.given is not None),
            "wend": int(self.ending), "wdata": noise if self.given is None else self.given,
        }  # fmt: skip


class Bench:
    """The block, its masters, and a bus that answers when it likes; ``log`` holds what the bus saw, in order."""

    def __init__(self, dut: Any, seed: int, eager: bool, retries: float) -> None:
        self.dut, self.draw, self.retries = dut, random.Random(seed), retries
        self.block = Block(dut, INPUTS, OUTPUTS)
        self.masters = [Master(number, self.draw, eager) for number in range(3)]
        self.log: list[tuple[str, int, int]] = []  # what, master, value
        self.gnt = self.answer = ""
        self.owner: int | None = None  # of the request that stands, as its address tells
        self.request = (0, 0, 0)
        self.writer: int | None = None
        self.answered = False

    async def cycle(self) -> dict[str, int]:
        draw, masters = self.draw, self.masters
        given = [master.begin() for master in masters]
        inputs = {
            f"s_{name}": sum(one[name] << width * place for place, one in enumerate(given[:count]))
            for name, width, count in (
                ("req", 1, 3), ("addr", 64, 3), ("len", 10, 3), ("wvalid", 1, 2), ("wend", 1, 2), ("wdata", 64, 2),
            )
        }  # fmt: skip
        said = ""
        if self.owner is not None and draw.random() < 0.4:
            said = (
                "gnt" if draw.random() < 0.3 else "retry" if draw.random() < self.retries else "ack"
            )
            inputs[f"hb_{said}"] = 1
        seen = await self.block.step(**inputs)
        self._request(seen, given)
        for name in ("gnt", "ack", "retry"):
            expected = 1 << self.owner if said == name and self.owner is not None else 0
            assert seen[f"s_{name}"] == expected, (name, said, self.owner)
        self._words(seen)
        if said in ("ack", "retry"):
            self._answered(said)
        return seen

    def _request(self, seen: dict[str, int], given: list[dict[str, int]]) -> None:
        dut = self.dut
        if not seen["hb_req"]:
            assert self.owner is None, "a request went without an answer"
            return
        assert self.writer is None, "a request while words of another may come"
        request = int(dut.hb_we.value), int(dut.hb_addr.value), int(dut.hb_len.value)
        if self.owner is None:
            (self.owner,) = (
                number for number, master in enumerate(self.masters)
                if master.asks and master.addr == request[1]
            )  # fmt: skip
            self.request = request
            self.log.append(("request", self.owner, request[1]))
        master = self.masters[self.owner]
        assert request == self.request == (int(self.owner != TRANSMIT), master.addr, master.length)

    def _answered(self, said: str) -> None:
        assert self.owner is not None
        self.log.append((said, self.owner, 0))
        master = self.masters[self.owner]
        if said == "ack":
            master.asks = False
            if self.owner != TRANSMIT:
                master.writing = True
                self.writer = self.owner
        self.owner = None

    def _words(self, seen: dict[str, int]) -> None:
        writer = None if self.writer is None else self.masters[self.writer]
        word = None if writer is None else writer.given
        assert seen["hb_wvalid"] == int(word is not None)
        if word is not None:
            assert int(self.dut.hb_wdata.value) == word
        ends = writer is not None and writer.ending
        assert seen["hb_wend"] == int(ends)
        if ends and writer is not None:
            self.log.append(("end", writer.number, 0))
            writer.writing, writer.words, self.writer = False, [], None


async def bench(dut: Any, seed: int, eager: bool = False, retries: float = 0.3) -> Bench:
    made = Bench(dut, seed, eager, retries)
    await made.block.start()
    return made


@cocotb.test()
async def a_request_stands_until_its_answer_which_its_master_alone_hears(dut: Any) -> None:
    """And of words only those of the writer whose request was accepted get through, until it ends."""
    made = await bench(dut, 1)
    for _ in range(3000):
        await made.cycle()
    for number in range(3):
        for what in ("request", "ack", "retry"):
            assert sum(entry[:2] == (what, number) for entry in made.log) > 20, (what, number)


@cocotb.test()
async def three_that_always_ask_are_served_in_turn(dut: Any) -> None:
    made = await bench(dut, 2, eager=True, retries=0.0)
    for _ in range(600):
        await made.cycle()
    owners = [owner for what, owner, _ in made.log if what == "request"]
    assert len(owners) > 40
    assert owners == [(owners[0] + i) % 3 for i in range(len(owners))]


@cocotb.test()
async def who_is_retried_for_ever_does_not_shut_out_the_others(dut: Any) -> None:
    made = await bench(dut, 3, eager=True, retries=1.0)
    for _ in range(300):
        await made.cycle()
    owners = [owner for what, owner, _ in made.log if what == "request"]
    assert len(owners) > 40
    for at in range(len(owners) - 2):
        assert len(set(owners[at : at + 3])) == 3


@cocotb.test()
@cocotb.parametrize(number=[RECEIVE, NOTES, TRANSMIT])
async def a_lone_request_is_on_the_bus_one_cycle_later_and_a_reset_takes_it_back(
    dut: Any, number: int
) -> None:
    block = await Block(dut, (*INPUTS, "rst"), OUTPUTS, reset=None).start(rst=1)
    given = {"s_req": 1 << number, "s_addr": 0x1238 << 64 * number, "s_len": 7 << 10 * number}
    assert (await block.step(**given))["hb_req"] == 0
    for _ in range(5):
        assert (await block.step(**given))["hb_req"] == 1
        assert (int(dut.hb_addr.value), int(dut.hb_len.value)) == (0x1238, 7)
        assert int(dut.hb_we.value) == int(number != TRANSMIT)
    await block.step(**given, rst=1)
    seen = await block.step(**given, hb_ack=1)  # too late: the request is not there any more
    assert (seen["hb_req"], seen["s_ack"]) == (0, 0)
