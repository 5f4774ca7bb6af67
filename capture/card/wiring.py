"""A card's wiring tried under cocotb: a pattern of its own into each tap, cause, counter and bank wire, read back.

What ``freezeframe card build`` writes as ``NAME_freezeframe_wiring.py`` calls it, on the device alone or in a design of
one's own (``FREEZEFRAME_DEVICE=i_soc.i_ff``). A pin of the device is driven where the top has a port of its name;
elsewhere ``FREEZEFRAME_PINS`` names a JSON file, ``{"rx_in_tdata": "i_mac.m_axis_tdata"}``, whose signals are forced.
cocotb is the test's own, 2.0 or newer.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import cocotb
from cocotb.clock import Clock
from cocotb.handle import Force
from cocotb.triggers import ClockCycles, FallingEdge, RisingEdge, SimTimeoutError, with_timeout
from msgspec.json import decode

from freezeframe.capture.card.build.ports import stream_ports, wire_ports
from freezeframe.capture.card.elaborated import (
    ElaboratedCard,
    ElaboratedClock,
    ElaboratedTap,
    elaborate,
)
from freezeframe.capture.card.finding import rom_words
from freezeframe.capture.card.recording import built_features
from freezeframe.capture.card.registers import card_map, memories_of_card
from freezeframe.capture.card.tables import CardFile
from freezeframe.capture.simulation import AvalonPins, AxiLitePins, Pins, UartPins, WishbonePins

NONCE = 0x5A3
_ARM, _FREEZE = 0x4152, 0x465A  # docs/card-map.md, section 3
_WORDS = (1, 2, 3, 4, 5, 6, 7, 10, 11)  # kinds of a word's record, section 5
_SUM = 8  # stands for a packet; compared by its length alone
_MOST_CYCLES = 20_000  # that a check is waited for; a longer one is not tried
_SYNC_PERIOD = 4096  # cycles of the bus clock between two toggles of the time line
_OF_A_WIRE = 3  # pulses of the first counter's wire; each has one more than the last


class Beat(NamedTuple):
    """A beat of a stream: its bytes, how many are on from byte 0, whether the packet ends."""

    data: bytes
    on: int
    last: bool


class Wiring:
    """A card's device in a running simulation."""

    _is_reset: ClassVar[bool] = False  # each test begins where the one before it ended

    def __init__(self, top: Any, card_json: Path) -> None:
        """Find the device and its pins; nothing is driven yet."""
        self.card: ElaboratedCard = elaborate(decode(card_json.read_bytes(), type=CardFile))
        self.map = card_map(self.card, built_features(self.card))
        self.top = self.device = top
        for name in filter(None, os.environ.get("FREEZEFRAME_DEVICE", "").split(".")):
            self.device = getattr(self.device, name)
        pins = os.environ.get("FREEZEFRAME_PINS", "")
        self.forced: dict[str, str] = json.loads(Path(pins).read_text("utf-8")) if pins else {}
        self.sent: Counter[tuple[str, str]] = Counter()  # (tap, what is counted)

    async def start(self) -> None:
        """Start the clocks, make every pin quiet, lead the time line round; reset, once in a simulation."""
        for clock in self.card.clocks:
            if hasattr(self.top, f"clk_{clock.name}"):
                half_ps = max(1, 10**12 // clock.said.hz // 2)
                pin = getattr(self.top, f"clk_{clock.name}")
                Clock(
                    pin, 2 * half_ps, "ps", impl="gpi"
                ).start()  # in C: many cycles are waited for
        quiet = {
            "trigger_in": 0,
            "trigger_pin": 0,
            "cross_in": 0,
            "time_in": 0,
            "boot_nonce": NONCE,
        }
        quiet |= {port: 0 for tap in self.card.taps for port, _ in stream_ports(tap)}
        quiet |= {port: 0 for port, _, _ in wire_ports(self.card)}
        for pin, value in quiet.items():
            if pin in self.forced or hasattr(self.top, pin):
                self.drive(pin, value)
        if hasattr(self.top, "time_in"):
            cocotb.start_soon(self._time_line())
        self.bus = self._bus()
        if Wiring._is_reset:
            return
        self.drive("rst", 1)
        self.drive("bus_rst", 1)
        await self._everywhere(10)  # the reset is synchronized into each clock
        self.drive("rst", 0)
        self.drive("bus_rst", 0)
        await self._everywhere(10)
        Wiring._is_reset = True

    async def _time_line(self) -> None:
        clock = getattr(self.device, f"clk_{self.card.clocks[0].name}")
        while True:
            await RisingEdge(clock)
            self.top.time_in.value = self.device.time_out.value
            await self.device.time_out.value_change

    def drive(self, pin: str, value: int) -> None:
        """Set a pin of the device, where the top leads to it.

        Raises:
            AssertionError: the top has no such port, and FREEZEFRAME_PINS does not name a signal for it.
        """
        if pin in self.forced:
            handle = self.top
            for name in self.forced[pin].split("."):
                handle = getattr(handle, name)
            handle.value = Force(value)
            return
        assert hasattr(self.top, pin), (
            f"{self.top._name} has no port {pin}; name its signal in FREEZEFRAME_PINS"
        )
        getattr(self.top, pin).value = value

    def _bus(self) -> Pins:
        clock = getattr(self.device, f"clk_{self.card.clocks[0].name}")
        bus = self.card.said.transport.bus
        if bus == "axi4-lite":
            return AxiLitePins(self.top, "s_axi", clock)
        if bus == "wishbone":
            return WishbonePins(self.top, "wb", clock)
        if bus == "avalon-mm":
            return AvalonPins(self.top, "avs", clock)
        return UartPins(self.top, clock, int(self.device.UART_CYCLES.value))

    async def read(self, name: str, *indices: int) -> int:
        """Return the word of a register."""
        return await self.bus.read(self.map.offset(name, *indices))

    async def write(self, name: str, word: int, *indices: int) -> None:
        """Write a register."""
        await self.bus.write(self.map.offset(name, *indices), word)

    # -- what is tried -------------------------------------------------------------------------------------------

    async def identity(self) -> None:
        """Read the identity and the ROM: they are this card's."""
        card, hash_ = self.card, self.card.hash
        shape = len(card.clocks) | len(card.recorders) << 8 | card.memories << 16
        said = {"id.magic": 0x46525A46, "id.card_hash_lo": hash_ & 0xFFFFFFFF, "id.card_hash_hi": hash_ >> 32,
                "id.shape": shape, "id.boot_nonce": NONCE}  # fmt: skip
        for name, word in said.items():
            if name != "id.boot_nonce" or hasattr(self.top, "boot_nonce"):
                found = await self.read(name)
                assert found == word, (
                    f"{name} reads 0x{found:08x}; card {card.name} has 0x{word:08x}"
                )
        for clock in card.clocks:
            assert await self.read("id.clk_hz", clock.number) == clock.said.hz, clock.name
        if card.said.card.rom:
            rom = self.map.window("rom").address
            for number, word in enumerate(rom_words(card.text)):
                assert await self.bus.read(rom + 4 * number) == word, f"word {number} of the ROM"

    async def taps_counters_and_bank(self) -> None:
        """Send packets of its own into each tap, pulses and values into each wire; read all of them back."""
        await self.arm(0)
        sent = {tap.name: await self._send_pattern(tap) for tap in self.card.taps}
        pulses: dict[str, int] = {}
        for wire in sorted({said.wire for _, said in self.card.counters if said.wire}):
            pulses[wire] = _OF_A_WIRE + len(pulses)
            await self._pulse(wire, pulses[wire])
        values = {}
        for number, bank in enumerate(self.card.said.bank.values()):
            if bank.wire not in pulses:
                values[bank.wire] = (0x9E3779B9 * (number + 1)) >> (32 - bank.bits) & (
                    (1 << bank.bits) - 1
                )
                self.drive(bank.wire, values[bank.wire])
        await self._everywhere(40)
        await self.write("ctl.freeze", _FREEZE << 16 | await self.read("id.generation") & 0xFFFF)
        await self._frozen("the host's freeze")
        for tap in self.card.taps:
            for lane, said in enumerate(sent[tap.name]):
                found = await self._words(tap, lane)
                assert found == said, (
                    f"tap {tap.name}, memory {lane}: recorded {_hex(found)}; sent was {_hex(said)}"
                )
        for name, counter in self.card.counters:
            want = pulses[counter.wire] if counter.wire else self.sent[counter.tap, counter.counts]
            found_count = await self._frozen_counter(name)
            assert found_count == want, f"counter {name} is {found_count}; {want} were sent"
        for name, bank in self.card.said.bank.items():
            if bank.wire in values:
                found_value = await self.read(f"bank.{name}")
                assert found_value == values[bank.wire], (
                    f"bank {name} is 0x{found_value:x}; 0x{values[bank.wire]:x} was sent"
                )

    async def causes(self) -> list[str]:
        """Raise each cause alone; it freezes, told by its own bit. Return those that wait too long to be tried."""
        waiting = []
        for cause in self.card.causes:
            said = cause.said
            if said is None:
                continue
            if said.cycles > _MOST_CYCLES:
                waiting.append(cause.name)
                continue
            await self.arm(1 << cause.bit)
            if said.wire:
                for wire in {w for w, _, _ in wire_ports(self.card)} - {said.wire}:
                    await self._pulse(wire, 1)
            for tap in self.card.taps:
                if tap.name != said.tap:
                    await self._send_pattern(tap)
            assert await self.read("ctl.causes") == 0, (
                f"cause {cause.name} is raised by another wire or tap"
            )
            if said.wire:
                await self._pulse(said.wire, 1)
            else:
                await self._provoke(self.card.tap(said.tap), said.check, said.cycles)
            await self._frozen(f"cause {cause.name}")
            found = await self.read("ctl.causes")
            assert found == 1 << cause.bit, (
                f"cause {cause.name} is bit {cause.bit}; told is 0x{found:x}"
            )
        return waiting

    # -- recording ----------------------------------------------------------------------------------------------

    async def arm(self, mask: int) -> None:
        """Arm with a mask of causes, once every clock has given a sign of life."""
        wanted = (1 << len(self.card.clocks)) - 1
        for _ in range(3 * _SYNC_PERIOD // 64):
            if (alive := await self.read("ctl.clocks_alive")) == wanted:
                break
            await ClockCycles(self.bus.clock, 64)
        still = [clock.name for clock in self.card.clocks if not alive >> clock.number & 1]
        assert not still, (
            f"no sign of life of clock {', '.join(still)}: does it run, does time_in have time_out?"
        )
        await self.write("ctl.cause_mask", mask)
        for tap in self.card.recorders:
            await self.write("tap.post", 0, tap.number)  # nothing is waited for behind the cause
        await self._everywhere(20)
        generation = await self.read("id.generation")
        nonce = await self.read("id.boot_nonce")
        await self.write("ctl.arm", (_ARM ^ nonce & 0xFFF) << 16 | generation + 1 & 0xFFFF)
        await self._everywhere(20)
        assert await self.read("id.generation") == generation + 1, "the device did not arm"

    async def _frozen(self, by: str) -> None:
        for _ in range(2000):
            if await self.read("ctl.state") & 3 == 3:
                assert int(self.device.frozen.value) == 1, (
                    "pin frozen is low while the device is frozen"
                )
                await self._everywhere(200)  # the counters are copied behind the freeze
                return
        raise AssertionError(
            f"{by} does not freeze the device; state is {await self.read('ctl.state'):#x}"
        )

    async def _frozen_counter(self, name: str) -> int:
        low, high = [await self.read(f"frozen_counters.{name}.{half}") for half in ("lo", "hi")]
        return low | high << 32

    async def _words(self, tap: ElaboratedTap, lane: int) -> list[tuple[int, int]]:
        """Return (kind, data) of the words that a memory holds; of a side lane (keep, data), of a SUM its length."""
        memory = next(m for m in memories_of_card(self.card) if m.tap is tap and m.lane == lane)
        first = next(m for m in memories_of_card(self.card) if m.tap is tap and m.lane == 0)
        words = []
        for slot in range(await self.read("tap.write_ptr", tap.number)):
            kind = await self.bus.read(first.address + 16 * slot + 8) & 15
            if kind == _SUM:
                if not lane:
                    high = await self.bus.read(first.address + 16 * slot + 4)
                    words.append((_SUM, high & 0xFFFF))
            elif kind in _WORDS:
                low, high, rest = [
                    await self.bus.read(memory.address + 16 * slot + 4 * n) for n in range(3)
                ]
                words.append((rest & 0xFF if lane else kind, low | high << 32))
        return words

    async def _everywhere(self, cycles: int) -> None:
        for clock in self.card.clocks:
            await self._cycles(clock, cycles)

    async def _cycles(self, clock: ElaboratedClock, cycles: int) -> None:
        pin = getattr(self.device, f"clk_{clock.name}")
        patience_ps = 100 * (cycles + 10) * 10**12 // clock.said.hz
        try:
            await with_timeout(ClockCycles(pin, cycles), patience_ps, "ps")
        except SimTimeoutError:
            raise AssertionError(
                f"clk_{clock.name} of the device does not run, or a hundred times slower than the card file says"
            ) from None

    async def _pulse(self, wire: str, cycles: int) -> None:
        clock = next(clock for port, _, clock in wire_ports(self.card) if port == wire)
        pin = getattr(self.device, f"clk_{clock.name}")
        await FallingEdge(pin)
        self.drive(wire, 1)
        for _ in range(cycles):
            await FallingEdge(pin)
        self.drive(wire, 0)
        await self._everywhere(10)

    # -- streams ------------------------------------------------------------------------------------------------

    async def _send_pattern(self, tap: ElaboratedTap) -> list[list[tuple[int, int]]]:
        """Send packets that no other tap is sent; return for each of its memories the words that are to stand in it."""
        said, size = tap.said, tap.stream_bytes
        if said.ready:  # offered and not taken: no word
            await self._cycle(tap, Beat(bytes(size), size, last=False), ready=0)
            await self._cycle(tap, None)
        body = bytes((tap.number * 37 + n * 11 + 1) & 0xFF for n in range(max(size, 8)))
        turned = bytes(byte ^ 0xFF for byte in body)
        beats = [
            Beat(b[at : at + size], size, last=False)
            for b in (body, turned)
            for at in range(0, len(b), size)
        ]
        last = said.kind == "axi-stream"
        beats[-1] = beats[-1]._replace(last=last)
        await self._send(tap, beats)
        user = int(said.user is not None and said.user.bad_frame is not None)
        kinds = [1, 11 if user else 3] if last else [2, 2]
        words = [
            [
                (0xFF if lane else kind, int.from_bytes(data[8 * lane : 8 * lane + 8], "little"))
                for kind, data in zip(kinds, (body, turned), strict=True)
            ]
            for lane in range(len(tap.lanes))
        ]
        if last and said.keep != "none" and size > 1:
            on = size // 2
            await self._send(tap, [Beat(body[:size], on, last=True)])
            for lane, found in enumerate(words):
                here = max(0, min(8, on - 8 * lane))
                value = int.from_bytes(body[8 * lane : 8 * lane + here], "little")
                if lane:
                    found.append(((1 << here) - 1, value))
                elif here == 8:
                    found.append((11 if user else 3, value))
                else:
                    found.append((7 if user else 5, value | ((1 << here) - 1) << 56))
        return [_stored(tap, lane, found) for lane, found in enumerate(words)]

    async def _send(self, tap: ElaboratedTap, beats: Iterable[Beat]) -> None:
        """Send beats without a gap, each packet marked bad where the stream has the bit, and count them."""
        for beat in beats:
            await self._cycle(tap, beat)
            self.sent[tap.name, "words"] += 1
            self.sent[tap.name, "bytes"] += beat.on
            self.sent[tap.name, "packets"] += beat.last
            self.sent[tap.name, "bad"] += beat.last
        await self._cycle(tap, None)
        await self._cycles(tap.clock, 10)

    async def _cycle(self, tap: ElaboratedTap, beat: Beat | None, ready: int = 1) -> None:
        """Change a tap's pins between two edges; they stand until the next call. None: nothing is offered."""
        said = tap.said
        bad = said.user.bad_frame if said.user is not None else None
        values = {
            "tvalid": int(beat is not None),
            "tready": ready,
            "tlast": int(beat is not None and beat.last),
        }
        values |= {
            "tdata": int.from_bytes(beat.data, "little") if beat else 0,
            "tkeep": (1 << beat.on) - 1 if beat else 0,
        }
        values["tuser"] = 1 << bad if beat is not None and beat.last and bad is not None else 0
        await FallingEdge(getattr(self.device, f"clk_{tap.clock.name}"))
        for port, _ in stream_ports(tap):
            self.drive(port, values[port.rpartition("_")[2]])
        self.sent[tap.name, "waits"] += int(beat is not None and not ready)

    async def _provoke(self, tap: ElaboratedTap, check: str, cycles: int) -> None:
        """Do at a tap what a checker is for."""
        size = tap.stream_bytes
        form = self.card.said.format.get(tap.said.format)
        long_B = (
            max(form.longest_B if form else 0, 2048) + 2 * size
            if check == "length"
            else 64 + 2 * size
        )
        if check == "sequence" and form is not None:
            long_B = max(field.at_bit + field.bits for field in form.field.values()) // 8 + 1 + size
        whole = Beat(bytes(range(1, 1 + size)), size, last=False)
        packet: Sequence[Beat] = [whole] * (long_B // size) + [whole._replace(last=True)]
        if check == "gap":
            await self._cycle(tap, whole)
            await self._cycle(tap, None)
        elif check == "no-ready":
            for _ in range(cycles + 2):
                await self._cycle(tap, whole, ready=0)
        elif check == "watchdog":
            await self._cycle(tap, whole)
            await self._cycle(tap, None)
            await self._cycles(tap.clock, cycles + 10)
        else:
            await self._send(tap, packet)
            await self._send(tap, packet)  # a sequence's number twice
        await self._cycle(tap, None)


def _stored(
    tap: ElaboratedTap, lane: int, words: Sequence[tuple[int, int]]
) -> list[tuple[int, int]]:
    """Return what a tap keeps of the pattern: a packet of two words, and one of half a beat where it can be."""
    store, size = tap.said.store, tap.stream_bytes
    if store == "all":
        return list(words)
    two_B = 2 * max(size, 8)
    if store == "summary":
        return [(_SUM, two_B), (_SUM, size // 2)][: len(words) - 1]
    if two_B // 2 < store.first_bytes:
        return list(words)
    return [words[0], *([] if lane else [(_SUM, two_B)]), *words[2:]]


def _hex(words: Sequence[tuple[int, int]]) -> str:
    return ", ".join(f"{kind} {data:016x}" for kind, data in words) or "nothing"
