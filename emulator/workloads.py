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
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

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


def workload_plan(profile: Profile, seed: int, run: int, name: str) -> Plan:
    """Return the plan of a workload.

    Raises:
        InputError: there is none of that name; the message lists them.
    """
    if name not in WORKLOADS:
        raise InputError(f"workload {name!r} does not exist; there are {', '.join(WORKLOADS)}")
    hosts = []
    for side in ("A", "B"):
        draw = random.Random(f"{seed}/{run}/{side}/{name}")
        words = Entropy(np.random.default_rng([seed, run, ord(side)]))
        host = _Script(draw, words, profile.fifo_message_words, load=name, gap_ps=0, flows=(0,))
        host.start_ps = draw.randrange(1 * _US, 2 * _US)
        hosts.append(host)
    a, b = hosts
    WORKLOADS[name](a, b)
    return Plan((a, b), (Receiving(), Receiving()), name)


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
