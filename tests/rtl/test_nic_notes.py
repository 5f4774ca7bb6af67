"""ff_nic_notes: a word in host memory for each packet that asks for it, local or remote (formats.md section 5)."""

from __future__ import annotations

import random
from typing import Any

import cocotb

from tests.rtl.cycles import Block
from tests.rtl.simulation import in_icarus

LOCAL, REMOTE = 1, 2
PLACES = 256  # words of the ring in host memory


test_the_notifications = in_icarus(
    "ff_nic_notes", __name__, {"PACKETS_LOG2": 2}, {"PACKETS_LOG2": 12}
)


class Notes:
    """The block between a FIFO, a receiver and a host bus that answers at random."""

    def __init__(self, dut: Any, seed: int) -> None:
        self.dut, self.draw = dut, random.Random(seed)
        self.packets = 1 << int(dut.PACKETS_LOG2.value)
        self.base = self.draw.getrandbits(48) << 12
        self.block = Block(
            dut, ("cfg_base", "p_valid", "p_notify", "p_seq", "p_flow", "p_left", "r_valid", "r_seq", "r_flow", "b_ack",
                  "b_retry"),
            ("r_ready", "b_req", "b_len", "b_wvalid", "b_wend", "ev_local", "ev_remote"),
        )  # fmt: skip
        self.put, self.left = 0, 0
        self.words: list[int] = []
        self.events: list[tuple[int, int, int]] = []  # local or remote, flow, seq

    async def step(self, **given: int) -> dict[str, int]:
        """Let a cycle pass; the bus accepts now and then, and takes the word in one of the next cycles."""
        answer = self.draw.choice(("b_ack", "b_retry", ""))
        seen = await self.block.step(
            p_left=self.left & (2 * self.packets - 1), **given, **({answer: 1} if answer else {})
        )
        if seen["b_req"]:
            assert seen["b_len"] == 1
            assert int(self.dut.b_addr.value) == self.base + 8 * (len(self.words) % PLACES)
        if seen["b_wvalid"]:
            self.words.append(int(self.dut.b_wdata.value))
        for which, code in (("ev_local", LOCAL), ("ev_remote", REMOTE)):
            if seen[which]:
                self.events.append(
                    (code, int(self.dut.ev_flow.value), int(self.dut.ev_value.value))
                )
        return seen

    async def idle(self, cycles: int) -> None:
        for _ in range(cycles):
            await self.step()


async def notes(dut: Any, seed: int) -> Notes:
    made = Notes(dut, seed)
    await made.block.start(cfg_base=made.base)
    return made


def word(code: int, flow: int, seq: int) -> int:
    return code << 56 | flow << 32 | seq


@cocotb.test()
async def a_local_note_follows_when_its_packet_has_left_and_asked_for_one(dut: Any) -> None:
    made = await notes(dut, 1)
    told: list[tuple[int, int, int]] = []
    for turn in range(30):
        sent = []
        for _ in range(made.draw.randrange(1, min(made.packets, 6) + 1)):
            notify, seq, flow = (
                made.draw.randrange(2),
                made.draw.getrandbits(16),
                made.draw.getrandbits(7),
            )
            await made.step(p_valid=1, p_notify=notify, p_seq=seq, p_flow=flow)
            sent.append((notify, flow, seq))
        before = len(made.words)
        await made.idle(12)
        assert len(made.words) == before, turn  # none has left
        made.left += len(sent)
        told += [(LOCAL, flow, seq) for notify, flow, seq in sent if notify]
        await made.idle(20 * len(sent))
    assert made.words == [word(*note) for note in told]
    assert made.events == told


@cocotb.test()
async def remote_notes_wait_in_order_and_the_receiver_with_them(dut: Any) -> None:
    """300 of them: the addresses begin again behind 256 words."""
    made = await notes(dut, 2)
    told: list[tuple[int, int, int]] = []
    refused = 0
    while len(told) < 300:
        seq, flow = made.draw.getrandbits(16), made.draw.getrandbits(7)
        valid = int(made.draw.random() < 0.5)
        seen = await made.step(r_valid=valid, r_seq=seq, r_flow=flow)
        if valid and seen["r_ready"]:
            told.append((REMOTE, flow, seq))
        refused += int(valid and not seen["r_ready"])
    await made.idle(400)
    assert made.words == [word(*note) for note in told]
    assert made.events == told
    assert refused > 0


@cocotb.test()
async def both_kinds_at_once_are_all_written_each_in_its_order(dut: Any) -> None:
    made = await notes(dut, 3)
    local, remote = [], []
    for number in range(40):
        await made.step(p_valid=1, p_notify=1, p_seq=number, p_flow=1)
        made.left += 1
        local.append(word(LOCAL, 1, number))
        seen = await made.step(r_valid=1, r_seq=number, r_flow=2)
        if seen["r_ready"]:
            remote.append(word(REMOTE, 2, number))
        await made.idle(18)
    await made.idle(400)
    assert [note for note in made.words if note >> 56 == LOCAL] == local
    assert [note for note in made.words if note >> 56 == REMOTE] == remote
