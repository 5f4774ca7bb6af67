"""What the host of a bridge does: writes of chance, single words, whole blocks back to back, packets by hand."""

from __future__ import annotations

import random
from collections.abc import Callable

from freezeframe.decoders.sci import layout
from freezeframe.emulator.sci.bridge import Bridge
from freezeframe.emulator.sci.faults import SciFault
from freezeframe.emulator.sci.parts import BLOCK_B, PAGE_B, Page, Tables

_PAGES = range(0x100, 0x108)
_REFUSED = 0x200
_APART_CYCLES = 400  # longer than a write takes
_HAND_EVERY = 16


def tables_for(fault: SciFault) -> Tables:
    """Return protection tables: half of the pages by `dmove`, half by `nwrite`, and a page that a fault lacks."""
    pages = {page: Page(answered=page % 2 == 1) for page in _PAGES}
    more = {_REFUSED: Page(answered=True)}
    down = pages if fault.refused_page == "down" else pages | more
    up = pages if fault.refused_page in ("up", "down") else pages | more
    return Tables(down, up)


def start(name: str, bridge: Bridge, chance: random.Random) -> None:
    """Let the host begin; it goes on for ever.

    Raises:
        KeyError: there is no such workload.
    """
    WORKLOADS[name](bridge, chance)


def _mixed(bridge: Bridge, chance: random.Random) -> None:
    """Write 1 to 64 words anywhere, at random times; to a page that a fault lacks from the 20th on, sometimes."""
    count = 0

    def again() -> None:
        nonlocal count
        count += 1
        refused = bridge.fault.refused_page and count > 20 and chance.random() < 0.1
        page = _REFUSED if refused else chance.choice(_PAGES)
        words = chance.choice((1, 1, 2, 4, 8, 16, 16, 32, 64))
        at = chance.randrange(PAGE_B // 4 - words) * 4
        if refused:
            bridge.fault.struck.append(f"a write to page {page:#x} at {at:#x}")
        bridge.write(page * PAGE_B + at, [chance.getrandbits(32) for _ in range(words)])
        gap = bridge.sizes.host_gap_cycles * (1 + words // 4)
        bridge.cycles.after(1 + round(chance.expovariate(1 / gap)) if gap else 1, when_taken)

    def when_taken() -> None:
        if bridge.idle:
            again()
        else:
            bridge.cycles.after(1, when_taken)

    again()


def _single(bridge: Bridge, chance: random.Random) -> None:
    """Write one word every 400 cycles by `dmove`: one is through before the next comes."""

    def again() -> None:
        bridge.write(_PAGES[0] * PAGE_B, [chance.getrandbits(32)])
        bridge.cycles.after(_APART_CYCLES, again)

    again()


def _stream(bridge: Bridge, chance: random.Random) -> None:
    """Write whole blocks back to back by `dmove`."""
    block = 0

    def again() -> None:
        nonlocal block
        if bridge.idle:
            address = _PAGES[0] * PAGE_B + block % (PAGE_B // BLOCK_B) * BLOCK_B
            bridge.write(address, [chance.getrandbits(32) for _ in range(BLOCK_B // 4)])
            block += 1
        bridge.cycles.after(1, again)

    again()


def _by_hand(bridge: Bridge, chance: random.Random) -> None:
    """As mixed, and now and then a packet that software has built, of a transaction ID that is in use as well."""
    _mixed(bridge, chance)

    def again() -> None:
        body = chance.randbytes(BLOCK_B)
        header = layout.Header(
            layout.QUEUES["manual"], 0, bridge.far.node, layout.COMMANDS["dmove64"], bridge.node,
            chance.randrange(1 << 10), chance.randrange(layout.IDS), 0, layout.BODY_WORDS,
            chance.randrange(1 << 20) * BLOCK_B,
        )  # fmt: skip
        bridge.send_manual(layout.encode(header, body))
        bridge.cycles.after(_HAND_EVERY * _APART_CYCLES // 4, again)

    bridge.cycles.after(_APART_CYCLES, again)


WORKLOADS: dict[str, Callable[[Bridge, random.Random], None]] = {
    "mixed": _mixed, "single-4B": _single, "stream-64B": _stream, "by-hand": _by_hand,
}  # fmt: skip


def _ping_pong(bridge: Bridge, chance: random.Random) -> None:
    """Write a word by `dmove`, and the next when one of the other node has come; the other node does so, too."""

    def write() -> None:
        bridge.write(_PAGES[0] * PAGE_B, [chance.getrandbits(32)])

    bridge.when_written = write
    bridge.far.when_written = lambda: bridge.far.write(_PAGES[0] * PAGE_B, [chance.getrandbits(32)])
    write()


def _nothing(bridge: Bridge, chance: random.Random) -> None:
    """Write nothing by itself."""


PAIR_WORKLOADS: dict[str, tuple[Callable[[Bridge, random.Random], None], ...]] = {
    "mixed": (_mixed, _mixed), "single-4B": (_single, _single), "stream-64B": (_stream, _single),
    "ping-pong-4B": (_ping_pong, _nothing), "by-hand": (_by_hand, _by_hand),
}  # fmt: skip
"""What the hosts of two nodes do, A and B; B begins later, so that single words meet no other."""


def start_pair(
    name: str, bridges: tuple[Bridge, Bridge], chances: tuple[random.Random, ...]
) -> None:
    """Let the hosts of two nodes begin.

    Raises:
        KeyError: there is no such workload.
    """
    a, b = PAIR_WORKLOADS[name]
    a(bridges[0], chances[0])
    bridges[1].cycles.after(_APART_CYCLES // 2, lambda: b(bridges[1], chances[1]))
