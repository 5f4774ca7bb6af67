"""Workloads by name: what both hosts do to have a number measured, instead of traffic drawn by the seed.

Hosts never stop and never pause. Nothing but the payload, and the moment within a microsecond at which a single
message is posted, comes from the seed.

- single-8B: one 8-byte message from A at a time, the next one long after it has arrived.
- single-4KiB: the same with a message of whole length.
- pair-8B: two messages of 8 bytes, posted together.
- stream-4KiB: whole messages from A, back to back, on one flow.
- io-head-tail: block I/O. A keeps requests open at B; each is data, a command, and the new tail of the queue as a
  message of its own. B answers with a completion and the new head of its queue.
- io-pending-flags: the same, where command and completion say by a flag that they are to be processed.
- one-way-SIZE, ping-pong-SIZE (SIZE as 8B or 64KiB): messages of one size, back to back, or each answered by one of its
  size before the next is sent. The host's library breaks those above a packet's 4 KiB into segments of that size.

A file that ends in ``.csv`` is a workload, too: each line is a message, ``time_ns,card,flow,size_B``.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import numpy as np

from freezeframe.capture.errors import InputError
from freezeframe.capture.registers.layouts import PacketFlag, PacketType
from freezeframe.emulator.profile import Profile
from freezeframe.emulator.traffic import WAIT, Entropy, Message, Plan, Receiving, Sending

_US = 1_000_000  # picoseconds
_PAUSE_PS = 20 * _US  # between messages whose latency is measured; they arrive within 15 us
_JITTER_PS = 1 * _US
_IO_MESSAGES = 2  # of whole length in a request: 8 KiB
_IO_WINDOW = 8  # requests that A keeps open
_COMMAND_WORDS, _COMPLETION_WORDS, _POINTER_WORDS = 8, 2, 1
_DATA, _QUEUE, _POINTER = 0x0100_0000, 0x0200_0000, 0x0300_0000  # addresses in the peer's memory

MOST_MESSAGE_B = 1 << 20
_SIZED = re.compile(r"(one-way|ping-pong)-([1-9][0-9]{0,6})(B|KiB)")

Gaps = Iterator[tuple[int, Message]]


@dataclass(slots=True)
class _Script(Sending):
    """A host that does what a script says."""

    script: Callable[[], Gaps] = lambda: iter(())
    answers: Callable[[], Sequence[Message]] = lambda: ()

    def messages(self) -> Gaps:
        return self.script()

    def answer(self, seq: int, flow: int) -> Sequence[Message]:
        return self.answers()


def check_workload(name: str) -> None:
    """Refuse a name that is no workload.

    Raises:
        InputError: there is none of that name; the message lists them.
    """
    if name not in WORKLOADS and not _SIZED.fullmatch(name) and not name.endswith(".csv"):
        raise InputError(
            f"workload {name!r} does not exist; there are {', '.join(WORKLOADS)}, one-way-SIZE and ping-pong-SIZE (8B, "
            "64KiB), or a .csv file"
        )


def workload_plan(profile: Profile, seed: int, run: int, name: str) -> Plan:
    """Return the plan of a workload.

    Raises:
        InputError: there is none of that name; the message lists them. Or a line of a file is wrong.
    """
    check_workload(name)
    sized = _SIZED.fullmatch(name)
    hosts = []
    for side in ("A", "B"):
        draw = random.Random(f"{seed}/{run}/{side}/{name}")
        words = Entropy(np.random.default_rng([seed, run, ord(side)]))
        host = _Script(draw, words, profile.fifo_message_words, load=name, gap_ps=0, flows=(0,))
        host.start_ps = draw.randrange(1 * _US, 2 * _US)
        hosts.append(host)
    a, b = hosts
    if name in WORKLOADS:
        WORKLOADS[name](a, b)
    elif sized:
        _of_one_size(name, sized, a, b)
    else:
        _from_file(Path(name), profile, hosts)
    return Plan((a, b), (Receiving(), Receiving()), name)


def _of_one_size(name: str, said: re.Match[str], a: _Script, b: _Script) -> None:
    pattern, count, unit = said.groups()
    size_B = int(count) * (1024 if unit == "KiB" else 1)
    if size_B % 8 or not 0 < size_B <= MOST_MESSAGE_B:
        raise InputError(
            f"workload {name!r}: a message is a multiple of 8 B up to {MOST_MESSAGE_B:,} B"
        )

    def segments(host: _Script) -> list[Message]:
        whole, rest = divmod(size_B // 8, host.message_words)
        sizes = [host.message_words] * whole + [rest] * bool(rest)
        return [
            _message(host, words, _DATA, notify=n == len(sizes) - 1)
            for n, words in enumerate(sizes)
        ]

    def back_to_back() -> Gaps:
        while True:
            for segment in segments(a):
                yield 0, replace(segment, flags=0)

    def one_by_one() -> Gaps:
        while True:
            gap_ps = WAIT
            for segment in segments(a):
                yield gap_ps, segment
                gap_ps = 0

    if pattern == "one-way":
        a.script = back_to_back
    else:
        a.script, a.window = one_by_one, 1
        b.answers = lambda: segments(b)


def _single(a: _Script, b: _Script) -> None:
    a.script = lambda: _bursts(a, 1, 1)


def _single_whole(a: _Script, b: _Script) -> None:
    a.script = lambda: _bursts(a, 1, a.message_words)


def _pair(a: _Script, b: _Script) -> None:
    a.script = lambda: _bursts(a, 2, 1)


def _stream(a: _Script, b: _Script) -> None:
    def whole() -> Gaps:
        while True:
            yield 0, _message(a, a.message_words, _DATA)

    a.script = whole


def _io_head_tail(a: _Script, b: _Script) -> None:
    _block_io(a, b, pointers=True)


def _io_pending_flags(a: _Script, b: _Script) -> None:
    _block_io(a, b, pointers=False)


WORKLOADS: dict[str, Callable[[_Script, _Script], None]] = {
    "single-8B": _single,
    "single-4KiB": _single_whole,
    "pair-8B": _pair,
    "stream-4KiB": _stream,
    "io-head-tail": _io_head_tail,
    "io-pending-flags": _io_pending_flags,
}


def _bursts(host: _Script, together: int, words: int) -> Gaps:
    while True:
        gap_ps = _PAUSE_PS + host.random.randrange(_JITTER_PS)
        for _ in range(together):
            yield gap_ps, _message(host, words, _DATA)
            gap_ps = 0


def _from_file(path: Path, profile: Profile, hosts: list[_Script]) -> None:
    """Have both hosts post what a file says, each message at its time or as soon after it as the ring has room."""
    listed: tuple[list[tuple[int, int, int]], ...] = ([], [])
    for number, line in enumerate(_lines(path), 1):
        if not line.strip() or line.startswith("#"):
            continue
        where, parts = f"{path}:{number}: {line.strip()[:40]!r}", line.strip().split(",")
        try:
            t_ns, card, flow, size_B = float(parts[0]), parts[1], int(parts[2]), int(parts[3])
        except (ValueError, IndexError):
            raise InputError(f"{where} is no time_ns,card,flow,size_B") from None
        most_B = 8 * profile.fifo_message_words
        t_ps = round(1000 * t_ns) if 0 <= t_ns < 1e12 else -1
        if card not in ("A", "B") or not 0 <= flow < profile.flows_active or t_ps < 0:
            raise InputError(
                f"{where}: a time from 0 on, card A or B, flow 0 to {profile.flows_active - 1}"
            )
        if not 0 < size_B <= most_B or size_B % 8:
            raise InputError(f"{where}: the size is a multiple of 8 up to {most_B}")
        mine = listed[card == "B"]
        if mine and t_ps < mine[-1][0]:
            raise InputError(f"{where}: before the message of {card} above it")
        mine.append((t_ps, flow, size_B))

    def timed(host: _Script, rows: list[tuple[int, int, int]]) -> Gaps:
        before_ps = 0
        for t_ps, flow, size_B in rows:
            message = _message(host, size_B // 8, _DATA)
            yield t_ps if t_ps != before_ps else 0, replace(message, flow=flow)
            before_ps = t_ps

    for host, rows in zip(hosts, listed, strict=True):
        host.script = partial(timed, host, rows)
        host.by_clock, host.start_ps, host.flows = True, _US, tuple(range(profile.flows_active))


def _lines(path: Path) -> list[str]:
    try:
        return path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: cannot be read: {error}") from error


def _block_io(a: _Script, b: _Script, pointers: bool) -> None:
    """The queue's pointer, or else the message itself, notifies the receiver."""

    def queued(host: _Script, words: int) -> list[Message]:
        entry = _message(host, words, _QUEUE, notify=not pointers)
        return (
            [entry, _message(host, _POINTER_WORDS, _POINTER, notify=True)] if pointers else [entry]
        )

    def requests() -> Gaps:
        while True:
            gap_ps = WAIT
            for _ in range(_IO_MESSAGES):
                yield gap_ps, _message(a, a.message_words, _DATA)
                gap_ps = 0
            for message in queued(a, _COMMAND_WORDS):
                yield 0, message

    a.script, a.window = requests, _IO_WINDOW
    b.answers = lambda: queued(b, _COMPLETION_WORDS)


def _message(host: _Script, words: int, dest: int, notify: bool = False) -> Message:
    flags = int(PacketFlag.NOTIFY_REMOTE) if notify else 0
    source = host.random.getrandbits(40) & ~7
    return Message(int(PacketType.RDMA_WRITE), flags, 0, source, dest, host.entropy.take(words))
