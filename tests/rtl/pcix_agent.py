"""One agent at the pins of ff_nic_pcix, clock by clock: initiator or target as a test says, and the rest of the card.

It is 32 bits wide, never waits, and answers two clocks behind what it samples. Source: PCI-X Addendum 1.0b, chapter 2.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from cocotb.triggers import FallingEdge, RisingEdge

from tests.rtl.clocks import Clock

CONFIG_READ, CONFIG_WRITE, READ_DWORD, WRITE, WRITE_BLOCK, READ_BLOCK, COMPLETION = (
    10,
    11,
    6,
    7,
    15,
    14,
    12,
)
BURSTS = (WRITE, WRITE_BLOCK, READ_BLOCK, COMPLETION)
WRITES = (CONFIG_WRITE, WRITE, WRITE_BLOCK, COMPLETION)
DEVICE, BUS = 4, 1
CARD_ID = BUS << 8 | DEVICE << 3
LOW = ("frame", "irdy", "trdy", "devsel", "stop", "req64", "ack64", "perr")
Lines = dict[str, int]


@dataclass
class Seen:
    """A transaction as the agent saw it: how it ended, data phases, clock of DEVSEL# (0: nobody) from the address."""

    end: str = ""
    words: list[int] = field(default_factory=list)
    devsel: int = 0
    address: int = 0
    command: int = 0
    attributes: int = 0
    count: int = 0


class Agent:
    """The bus with its other end, and the card's register port behind the front end."""

    def __init__(self, dut: Any) -> None:
        self.dut = dut
        self.past: list[Lines] = []
        self.registers: Callable[[int], int] = lambda address: address
        self.written: list[tuple[int, int]] = []
        self.host: dict[str, list[int]] = {"cvalid": [], "clast": [], "ack": [], "retry": []}
        self._par = 0
        self._drove = self._wrong = False

    async def start(self) -> Agent:
        dut = self.dut
        Clock(dut.clk, 10_000, "ps").start()
        for name in ("rst_n", "idsel", "ad_i", "par_i", "par64_i", "card_hold", "hb_req", "hb_we", "hb_addr", "hb_len",
                     "hb_wvalid", "hb_wend", "hb_wdata", "td_full", "irq", "s_ack", "s_rdata"):  # fmt: skip
            getattr(dut, name).value = 0
        dut.rst.value = dut.card_rst.value = dut.gnt_n.value = 1
        dut.cbe_i.value = 0xFF
        for name in LOW:
            getattr(dut, f"{name}_n_i").value = 1
        for cycle in range(20):
            await FallingEdge(dut.clk)
            dut.rst.value, dut.rst_n.value = int(cycle < 6), int(cycle > 10)
            dut.card_rst.value = int(cycle < 16)
        return self

    async def clock(self, **drive: int) -> Lines:
        """Let a clock pass with what the agent drives in it; return its lines, which all sample at its end."""
        dut = self.dut
        await RisingEdge(dut.clk)
        await FallingEdge(dut.clk)
        lines: Lines = {}
        for name in LOW:
            group = {
                "req64": "frame",
                "trdy": "target",
                "devsel": "target",
                "stop": "target",
                "ack64": "target",
            }
            on = int(getattr(dut, f"{group.get(name, name)}_oe").value)
            card = on and not int(getattr(dut, f"{name}_n_o").value)
            assert not (card and drive.get(name)), f"{name} is driven by two"
            lines[name] = int(card or drive.get(name, 0))
        both = int(dut.ad_oe.value) and "ad" in drive
        assert not both, "AD is driven by two"
        before = self.past[-1] if self.past else {"ad": 0, "par": 0}
        lines["ad"] = (
            int(dut.ad_o.value[31:0]) if int(dut.ad_oe.value) else drive.get("ad", before["ad"])
        )
        lines["cbe"] = int(dut.cbe_o.value) if int(dut.cbe_oe.value) else drive.get("cbe", 0xFF)
        lines["par"] = (
            int(dut.par_o.value) if int(dut.par_oe.value) else self._par ^ int(self._wrong)
        )
        lines["serr"] = int(dut.serr_oe.value)
        lines["req"] = 1 - int(dut.req_n.value)
        lines["idsel"] = drive.get("idsel", 0)
        for name in LOW:
            getattr(dut, f"{name}_n_i").value = 1 - lines[name]
        dut.ad_i.value, dut.cbe_i.value, dut.par_i.value = lines["ad"], lines["cbe"], lines["par"]
        dut.idsel.value, dut.gnt_n.value = lines["idsel"], 1 - drive.get("gnt", 0)
        self._par = ((lines["ad"] & 0xFFFFFFFF) << 4 | lines["cbe"] & 15).bit_count() & 1
        self._wrong = bool(drive.get("wrong", 0))
        self._port()
        for name, log in self.host.items():
            if int(getattr(dut, f"hb_{name}").value):
                log.append(int(dut.hb_cdata.value) if name == "cvalid" else len(self.past))
        self.past.append(lines)
        return lines

    def _port(self) -> None:
        dut = self.dut
        ask = int(dut.s_req.value) and not int(dut.s_ack.value)
        dut.s_ack.value = ask
        if not ask:
            return
        address = int(dut.s_addr.value)
        if int(dut.s_we.value):
            self.written.append((address, int(dut.s_wdata.value)))
        else:
            dut.s_rdata.value = self.registers(address) & 0xFFFFFFFF

    async def idle(self, clocks: int, gnt: int = 1) -> None:
        for _ in range(clocks):
            await self.clock(gnt=gnt)

    async def initiate(
        self, command: int, address: int, words: Sequence[int] = (), *, count: int = 4, enables: int = 0,
        attributes: int = 0, wrong: int = -1, idsel: int = 0, lanes: Sequence[int] = (),
    ) -> Seen:  # fmt: skip
        """Be the initiator of a transaction; ``wrong`` is the clock for whose AD the parity is wrong."""
        await self.idle(5, gnt=0)
        seen, burst = Seen(command=command, address=address), command in BURSTS
        frame, irdy, over, started = True, False, False, False
        moved = show = now = gone = 0
        while True:
            if now >= 4 and not over:
                then = self.past[-2]
                if not seen.devsel:
                    seen.devsel = now - 2 if then["devsel"] else 0
                    over = not then["devsel"] and now == 8
                    seen.end = "master-abort" if over else ""
                elif then["irdy"] and (then["trdy"] or then["stop"]):
                    word = then["trdy"], then["devsel"], then["stop"]
                    seen.end = {
                        (0, 1, 1): "retry",
                        (1, 0, 0): "split",
                        (0, 0, 1): "target-abort",
                    }.get(word, "")
                    over = bool(seen.end)
                    if not over:
                        started = True
                        if command not in WRITES:
                            seen.words.append(then["ad"] & 0xFFFFFFFF)
                        moved += min(4 - (address + moved) % 4, count - moved) if burst else 4
                        ends = moved >= count or (
                            then["stop"] and (not then["devsel"] or (address + moved) % 128 == 0)
                        )
                        if ends:
                            over, seen.end = True, "moved"
                            seen.count = moved
            if now >= 4:
                show = show + 1 if started else show ^ 1 if seen.devsel else 0
            was = frame
            last = over or (started and count - moved <= 12)
            frame = frame and not (now >= 3 and last) if burst else now < 3
            irdy = now == 3 or (irdy and (was or not (over or (started and count - moved <= 4))))
            drive: dict[str, int] = {
                "frame": int(frame),
                "irdy": int(irdy),
                "cbe": 0xFF,
                "wrong": int(now == wrong),
            }
            if now == 0:
                drive |= {"ad": address, "cbe": 0xF0 | command, "idsel": idsel}
            elif now == 1:
                drive |= {
                    "ad": attributes | (count & 0xFF if burst else 0),
                    "cbe": 0xF0 | (count >> 8 & 15 if burst else enables),
                }
            elif command in WRITES and (irdy or now == 2):
                drive["ad"] = words[min(show, len(words) - 1)]
                if lanes:
                    drive["cbe"] = 0xF0 | lanes[min(show, len(lanes) - 1)]
            await self.clock(**drive)
            now += 1
            gone = gone + 1 if now > 3 and not irdy else 0
            if gone == 3:  # the last data phase has been looked at, too
                return seen

    async def respond(
        self, kind: str, words: Sequence[int] = (), *, limit: int = 400, wrong: int = -1
    ) -> Seen:
        """Be the target of what the card does next: ``data``, ``retry``, ``split``, ``target-abort`` or ``nobody``."""
        while not (lines := await self.clock(gnt=1))["frame"]:
            limit -= 1
            assert limit, "the card does nothing on the bus"
        seen = Seen(kind, address=lines["ad"] & 0xFFFFFFFF, command=lines["cbe"] & 15)
        lines = await self.clock(gnt=1)
        if seen.command == 13:
            seen.address |= lines["ad"] << 32 & 0xFFFFFFFF_00000000
            seen.command = lines["cbe"] & 15
            lines = await self.clock(gnt=1)
        seen.attributes = lines["ad"] & 0xFFFFFFFF
        seen.count = (lines["cbe"] & 15) << 8 | lines["ad"] & 0xFF or 4096
        phases = -(-(seen.address % 4 + seen.count) // 4)
        given = 0
        now = 2
        answers = {
            "retry": {"devsel": 1, "stop": 1},
            "split": {"trdy": 1},
            "target-abort": {"stop": 1},
        }
        while True:
            drive: dict[str, int] = {"gnt": 1}
            if kind != "nobody":
                if now == 3:
                    drive["devsel"] = 1
                elif now == 4 and kind in answers:
                    drive |= answers[kind]
                    if kind == "split":
                        drive["ad"] = 0xFFFFFFFF
                elif (
                    now >= 4
                    and kind == "data"
                    and given < phases
                    and (given == 0 or self.past[-2]["frame"])
                ):
                    drive |= {"devsel": 1, "trdy": 1}
                    if seen.command not in WRITES:
                        drive |= {"ad": words[given], "wrong": int(given == wrong)}
                    given += 1
            lines = await self.clock(**drive)
            if lines["trdy"] and lines["devsel"] and lines["irdy"] and seen.command in WRITES:
                seen.words.append(lines["ad"] & 0xFFFFFFFF)
            now += 1
            if not lines["frame"] and not lines["irdy"]:
                return seen

    # -- what a test asks for ------------------------------------------------------------------------

    async def config_read(self, at: int) -> int:
        seen = await self.initiate(
            CONFIG_READ, 1 << (16 + DEVICE) | DEVICE << 11 | at, idsel=1, attributes=BUS
        )
        assert (seen.end, seen.devsel) == ("moved", 3)
        return seen.words[0]

    async def config_write(self, at: int, word: int, enables: int = 0) -> None:
        seen = await self.initiate(
            CONFIG_WRITE, 1 << (16 + DEVICE) | DEVICE << 11 | at, [word], idsel=1, attributes=BUS, enables=enables
        )  # fmt: skip
        assert (seen.end, seen.devsel) == ("moved", 3)

    async def enable(self, command: int = 0x146) -> None:
        """Give the bases 0x40000000 and 0x80000000, enable, and let the card run."""
        await self.config_write(0x10, 0x40000000)
        await self.config_write(0x18, 0x80000000)
        await self.config_write(0x04, command, enables=0xC)
        await self.initiate(WRITE_BLOCK, 0x80000104, [1])
        await self.idle(40)
