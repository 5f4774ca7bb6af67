"""Blocks of packets from wherever they come: a file, standard input, a network interface of this machine."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from threading import current_thread, main_thread

import numpy as np

from freezeframe.capture.packets.block import PacketBlock
from freezeframe.capture.packets.file import PacketFile, open_packets
from freezeframe.capture.packets.live import LivePackets
from freezeframe.capture.packets.recognise import NETDEV, is_live


def open_source(
    source: str | Path, progress: Callable[[int, int], None] | None = None
) -> PacketFile | LivePackets:
    """Open a file of packets, ``-`` for standard input, or ``netdev:NAME``.

    Raises:
        InputError: it cannot be opened, or is no pcap or pcapng.
        TargetError: there is no such interface, or it may not be listened to.
    """
    if str(source).startswith(NETDEV):
        return LivePackets(str(source))
    return open_packets(source, progress)


def packet_blocks(
    source: str | Path,
    progress: Callable[[int, int], None] | None = None,
    note: Callable[[str], None] | None = None,
    cut_ps: tuple[int, int | None] | None = None,
) -> Iterator[tuple[PacketBlock, bool]]:
    """Yield the blocks of a source, and then an empty one with True: the last, for what decoders still hold.

    Of a live source, Ctrl-C is the end.

    Args:
        progress: called with bytes done and bytes there are.
        note: called with a line for everything that is wrong with the source.
        cut_ps: only the packets from the first to the last of this time; numbers and times stay those of the source.
    Raises:
        InputError, TargetError: as `open_source`.
    """
    with open_source(source, progress) as opened:
        yield from blocks_of(opened, live=is_live(source), cut_ps=cut_ps)
        if note is not None:
            for line in opened.notes:
                note(line)


def blocks_of(
    opened: PacketFile | LivePackets,
    *,
    live: bool = False,
    cut_ps: tuple[int, int | None] | None = None,
) -> Iterator[tuple[PacketBlock, bool]]:
    """Yield the blocks of a source that is open, as `packet_blocks`."""
    for block in _until_interrupted(opened) if live else opened:
        kept = block if cut_ps is None else _cut(block, *cut_ps)
        if len(kept):
            yield kept, False
    yield _empty(opened.packets + 1), True


def _cut(block: PacketBlock, begin_ps: int, end_ps: int | None) -> PacketBlock:
    """Return the packets from the first to the last in ``[begin_ps, end_ps)``: none between is left out."""
    inside = block.t_ps >= begin_ps
    if end_ps is not None:
        inside &= block.t_ps < end_ps
    places = np.flatnonzero(inside)
    part = (int(places[0]), int(places[-1]) + 1) if len(places) else (0, 0)
    return block.part(*part)


def _until_interrupted(blocks: Iterable[PacketBlock]) -> Iterator[PacketBlock]:
    """Yield blocks until SIGINT: at once while the next is waited for, else behind what is being done with this one."""
    waits = asked = False

    def interrupt(*_: object) -> None:
        nonlocal asked
        asked = True
        if waits:
            raise KeyboardInterrupt

    if current_thread() is not main_thread():
        yield from blocks
        return
    before = signal.signal(signal.SIGINT, interrupt)
    try:
        source = iter(blocks)
        while not asked:
            waits = True
            block = next(source, None)
            waits = False
            if block is None:
                return
            yield block
    except KeyboardInterrupt:
        return
    finally:
        signal.signal(signal.SIGINT, before)


def _empty(first: int) -> PacketBlock:
    none, few = np.empty(0, np.int64), np.empty(0, np.int32)
    return PacketBlock(np.empty(0, np.uint8), none, none, none, none, few, few, first)
