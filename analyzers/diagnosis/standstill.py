"""Which part of a card stood still: it had something to do and room for what comes of it, and moved nothing.

Words go from a host through its card's transmit engine, outgoing FIFO and link transmitter to the other card's incoming
FIFO, receive engine and host. A part that has no input starves, one whose way is full is blocked: both wait for
another. What is left stopped by itself, and all that wait behind it wait for that.

A part whose own state says that it has nothing to do, while the FIFO before it holds a whole packet, contradicts
itself: that is no slow host.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from freezeframe.analyzers.contract import Row
from freezeframe.analyzers.credits.ledger import account_of
from freezeframe.analyzers.facts import Facts
from freezeframe.analyzers.streams import Packet, Stream
from freezeframe.capture.registers.layouts import (
    MACHINE_STATE_NAMES,
    Machine,
    MachineState,
)
from freezeframe.capture.time_text import format_ps

_STANDS_CYCLES = 4096  # of either clock: the time of several of the longest packets
_STANDS_TIMES = 4  # the longest wait of the same part before
_FEW_POSTS = 4  # from which on the pauses of a host say how long it usually pauses
_FRAME_WORDS = 3  # two HEAD words and the TAIL
_HOP = ": it waits for good, or for credits of the link itself, as a switch has them."
_BUS = "bus"
HOST = "host"
_ENGINE = ("started", "done", "requested", "retried", "disconnected")  # what a transmit engine logs


@dataclass(frozen=True, slots=True)
class Stand:
    """A part that stopped.

    Attributes:
        device: the card that others wait for.
        part: of the card, in words.
        direction: of the traffic that waits for it.
        flow: of the packet that waits first; None where it is not known, or none waits.
        since_ps: when it last moved, or last got something to do, whichever came later.
        waits_words: words that wait before it.
        register: which register says so, with its value.
        why: the state it is in, in words.
        contradicted: by its own registers it had nothing to wait for.
        idle: a host that may have had nothing to send: it sent too little before to say how long it pauses.
        text: one sentence for people.
    """

    device: str
    part: str
    direction: str
    flow: int | None
    since_ps: int
    waits_words: int
    register: str
    why: str
    contradicted: bool = False
    idle: bool = False
    rows: tuple[Row, ...] = ()

    @property
    def text(self) -> str:
        many = f"{self.waits_words} word{'s' * (self.waits_words != 1)}"
        waits = (
            f"{many} wait{'s' * (self.waits_words == 1)} for it"
            if self.waits_words
            else "nothing waits in the card"
        )
        did = "posted" if self.part == HOST else "moved"
        return (
            f"{self.direction}: {self.device}'s {self.part} {did} nothing since {format_ps(self.since_ps)}; {waits} "
            f"({self.register}). {self.why}"
        )


def standing(facts: Facts) -> tuple[Stand, ...]:
    """Return the parts that stood still at the freeze, those that contradict themselves first, then the earliest."""
    found = [stand for device in facts.view.names for stand in _of_card(facts, device)]
    others = [stand for stand in found if stand.part != HOST]
    # A host may have nothing to send because what it waits for does not come.
    return tuple(sorted(others or found, key=lambda s: (not s.contradicted, s.idle, s.since_ps)))


def _of_card(facts: Facts, device: str) -> list[Stand]:
    taking, fetching = _receive_engine(facts, device), _transmit_engine(facts, device)
    sending = _transmitter(facts, device)
    found = [stand for stand in (taking, fetching, sending) if stand is not None]
    engines = [stand for stand in (taking, fetching) if stand is not None and stand.part == _BUS]
    if len(engines) == 2:
        first = min(engines, key=lambda stand: stand.since_ps)
        both = replace(
            first,
            why=f"Neither of {device}'s engines got the bus since.",
            rows=(*engines[0].rows, *engines[1].rows),
        )
        found = [both, *(stand for stand in found if stand.part != _BUS)]
    if not found and (host := _host(facts, device)) is not None:
        found.append(host)
    return found


def _receive_engine(facts: Facts, device: str) -> Stand | None:
    """Return the receive engine of a card that leaves words in the incoming FIFO."""
    view = facts.view
    way, level = view.roles.rx, view.value(device, f"frozen.{view.roles.rx.level}")
    entered, left = view.stream(device, way.entry), view.stream(device, way.exit)
    since = _stood(facts, entered, left, whole_packets=False)
    if since is None or entered is None or not level:
        return None
    state = _state(facts, device, Machine.RX_DMA)
    part, why, wrong = "receive DMA engine", "", False
    if state is None:
        why = "Which state it was in was not read."
    elif state == MachineState.STOPPED:
        why = "Its host had stopped it (state stopped)."
    elif state == MachineState.IDLE:
        why, wrong = "It is idle, as if its FIFO were empty.", True
    else:
        part = _BUS
        why = f"The receive DMA engine waits for it (state {_name(state)})."
    rows = (*view.register_rows(device, [f"frozen.{way.level}"]), *_states(facts, device))
    peer = view.peer(device) or "?"
    return Stand(
        device, part, f"{peer}->{device}", _flow(entered, left), since, level,
        f"frozen.{way.level} {level}", why, wrong, rows=rows,
    )  # fmt: skip


def _transmitter(facts: Facts, device: str) -> Stand | None:
    """Return the link transmitter of a card that has a whole packet, and credit for it, and does not send it."""
    view = facts.view
    way, level = view.roles.tx, view.value(device, f"frozen.{view.roles.tx.level}")
    entered, left = view.stream(device, way.entry), view.stream(device, way.exit)
    since = _stood(facts, entered, left, whole_packets=True)
    if since is None or entered is None or not level:
        return None
    packet = _first_waiting(entered, left)
    state = _state(facts, device, Machine.TX_LINK)
    if packet is None or packet.header_ok is not True or packet.length is None or state is None:
        return None
    peer, words = view.peer(device) or "?", packet.length + _FRAME_WORDS
    free = account_of(view, device, peer, packet.flow or 0).free
    if free is None or free < words:
        return None  # it waits for credit
    return Stand(
        device, "link transmitter", f"{device}->{peer}", packet.flow, since, level,
        f"frozen.{way.level} {level}",
        f"It is {_name(state)}, although packet {packet.seq} of flow {packet.flow} stands whole in its FIFO and its "
        f"{words} words fit the {free} that it may send"
        + (_HOP if state == MachineState.WAIT_CREDIT else "."),
        contradicted=True,
        rows=(*view.register_rows(device, [f"frozen.{way.level}"]), *_states(facts, device)),
    )  # fmt: skip


def _transmit_engine(facts: Facts, device: str) -> Stand | None:
    """Return the transmit engine of a card that has a descriptor, and room for its packet, and fetches nothing."""
    view, capture = facts.view, facts.view.device(device)
    way = view.roles.tx
    length, level = (
        view.value(device, f"frozen.{name}") for name in ("descriptor_length", way.level)
    )
    state, waiting = (
        _state(facts, device, Machine.TX_DMA),
        view.value(device, "frozen.descriptors_waiting"),
    )
    if capture is None or None in (length, level, state, waiting):
        return None
    assert length is not None and level is not None and state is not None and waiting is not None
    busy = state not in (MachineState.IDLE, MachineState.HELD)
    room = capture.identity.tx_fifo - level
    # The length of a message that is still to be fetched is not known: room for any is an empty FIFO.
    if not busy or (room < length + _FRAME_WORDS if length else level):
        return None
    since = _last_moved(facts, device)
    if since is None:
        return None
    peer = view.peer(device) or "?"
    moved = _bus_words_since(facts, device, since)
    wrong = bool(moved) and state == MachineState.FETCH
    why = f"The transmit DMA engine waits for it (state {_name(state)})."
    if wrong:
        why = (
            f"It is at a message of {length} words (state {_name(state)}), its outgoing FIFO of "
            f"{capture.identity.tx_fifo} words holds {level}, and the bus carried {moved} words meanwhile."
        )
    elif moved:
        why = f"It waits for the words that it has asked for (state {_name(state)})."
    part = "transmit DMA engine" if moved else _BUS
    names = ("descriptor_length", "descriptors_waiting", way.level)
    rows = view.register_rows(device, [f"frozen.{name}" for name in names])
    remaining = view.value(device, "frozen.dma_remaining") or length
    return Stand(
        device, part, f"{device}->{peer}", None, since, remaining, f"frozen.dma_remaining {remaining}", why, wrong,
        rows=(*rows, *_states(facts, device)),
    )  # fmt: skip


def _host(facts: Facts, device: str) -> Stand | None:
    """Return the host of a card that posted nothing for much longer than ever before, or than it takes to see."""
    view, log = facts.view, facts.view.logs.get(device)
    waiting = view.value(device, "frozen.descriptors_waiting")
    state, cause_ps = _state(facts, device, Machine.TX_DMA), facts.caused(device)[0]
    if log is None or not len(log) or log.gaps or waiting != 0 or cause_ps is None:
        return None
    posted = np.unique(log.t_ps[log.select("DESC", "posted")])
    posted = posted[posted <= cause_ps]
    if state != MachineState.IDLE or len(log.select("LOSS")):
        return None
    since, long_ps = int(posted[-1] if len(posted) else log.t_ps[0]), _long_ps(facts, device)
    idle = len(posted) < _FEW_POSTS
    pause_ps = int(np.diff(posted).max()) if not idle else long_ps
    if cause_ps - since <= max(long_ps, _STANDS_TIMES * pause_ps):
        return None
    many = f"{len(posted)} descriptor{'s' * (len(posted) != 1)}"
    return Stand(
        device, HOST, f"{device}->{view.peer(device) or '?'}", None, since, 0, "frozen.descriptors_waiting 0",
        f"The {many} before it came at most {format_ps(pause_ps)} apart."
        if not idle
        else f"It posted {many} before, as far as the log reaches back.",
        idle=idle,
        rows=view.register_rows(device, ["frozen.descriptors_waiting"]),
    )  # fmt: skip


def _stood(
    facts: Facts, entered: Stream | None, left: Stream | None, *, whole_packets: bool
) -> int | None:
    """Return since when a part took nothing out of its FIFO; None where it did not stand, or that is not known."""
    if entered is None or left is None or not len(entered) or left.end_ps is None:
        return None
    if entered.breaks or left.breaks or bool((left.t_unc_ps < 0).any()):
        return None
    if words_since(facts, left.device, left.tap):
        return None  # levels and states are of the freeze, later
    packet, at = _first_waiting(entered, left), _next_in(entered, left)
    if at is None or packet is None or not packet.has_tail:
        return None  # more of it is to come, and may be waited for
    since = int(entered.t_ps[packet.end - 1 if whole_packets else at])
    if len(left):
        since = max(since, int(left.t_ps[-1]))
    usual = max(
        _long_ps(facts, left.device), _STANDS_TIMES * _longest_wait(entered, left, whole_packets)
    )
    return since if left.end_ps - since > usual else None


def words_since(facts: Facts, device: str, tap: str) -> int | None:
    """Return how many words crossed a tap after its memory had closed; None where that is not known."""
    first = facts.view.value(device, "ctl.generation") == 1
    return facts.view.since_closed(device, tap) if first else None


def _next_in(entered: Stream, left: Stream) -> int | None:
    """Return the position of the first word that entered a FIFO and did not leave it; None where it is not known."""
    if not len(left):
        return 0  # it has entered at the latest then
    last = left.packets[-1]
    same = [p for p in entered.packets if p.header_ok and last.header_ok and p.seq == last.seq]
    if not same:
        # A FIFO deeper than the memory: what entered after the last word had left is still in it.
        later = [p for p in entered.packets if p.has_head and entered.t_ps[p.start] > left.t_ps[-1]]
        return later[0].start if later and later[0].index < 2 else None
    if last.has_tail:
        at = same[-1].end
    elif last.has_head and same[-1].has_head:
        at = same[-1].start + last.end - last.start
    else:
        return None
    return at if at < len(entered) else None


def _first_waiting(entered: Stream, left: Stream | None) -> Packet | None:
    at = _next_in(entered, left) if left is not None else None
    return next((p for p in entered.packets if at is not None and p.start <= at < p.end), None)


def _longest_wait(entered: Stream, left: Stream, whole_packets: bool) -> int:
    """Return the longest time that a word waited for its FIFO's reader alone, in picoseconds."""
    longest = 0
    into = {p.seq: p for p in entered.packets if p.header_ok}
    before: int | None = None
    for packet in left.packets:
        times = left.t_ps[packet.start : packet.end]
        if len(times) > 1 and not whole_packets:
            longest = max(longest, int(np.diff(times).max()))
        came = into.get(packet.seq) if packet.header_ok else None
        if before is not None and came is not None:
            there = int(entered.t_ps[came.end - 1 if whole_packets else came.start])
            longest = max(longest, int(times[0]) - max(before, there))
        before = int(times[-1])
    return longest


def _last_moved(facts: Facts, device: str) -> int | None:
    """Return since when a transmit engine moved nothing and asked for nothing; None where that is not long."""
    view, log = facts.view, facts.view.logs.get(device)
    entered = view.stream(device, view.roles.tx.entry)
    left = view.stream(device, view.roles.tx.exit)
    if entered is None or entered.end_ps is None or log is None or log.gaps or entered.breaks:
        return None
    if words_since(facts, device, entered.tap):
        return None
    own = log.select("DESC", *_ENGINE)
    posted = log.select("DESC", "posted")
    times = [
        int(stream.t_ps[-1]) for stream in (entered, left) if stream is not None and len(stream)
    ]
    times += [int(t) for t in log.t_ps[own][-1:]]
    times += [int(t) for t in log.t_ps[posted][:1]] if not times else []
    since = max(times, default=None)
    return since if since is not None and entered.end_ps - since > _long_ps(facts, device) else None


def _bus_words_since(facts: Facts, device: str, since_ps: int) -> int:
    """Return how many words the receive engine moved over the bus after a time, as far as they are recorded."""
    left = facts.view.stream(device, facts.view.roles.rx.exit)
    return 0 if left is None else int((left.t_ps > since_ps + _long_ps(facts, device) // 4).sum())


def _long_ps(facts: Facts, device: str) -> int:
    return facts.view.cycles_ps(device, bus=_STANDS_CYCLES, link=_STANDS_CYCLES) // 2


def _flow(entered: Stream, left: Stream | None) -> int | None:
    packet = _first_waiting(entered, left)
    return packet.flow if packet is not None and packet.header_ok else None


def _state(facts: Facts, device: str, machine: Machine) -> int | None:
    return facts.view.value(device, "frozen.machine", machine)


def _name(state: int) -> str:
    return MACHINE_STATE_NAMES[state] if state < len(MACHINE_STATE_NAMES) else str(state)


def _states(facts: Facts, device: str) -> Sequence[Row]:
    return tuple(_state_rows(facts, device))


def _state_rows(facts: Facts, device: str) -> Iterator[Row]:
    for machine in Machine:
        state = _state(facts, device, machine)
        if state is not None:
            row = facts.view.register_row(device, "frozen.machine", machine)
            yield replace(row, text=f"{machine.name.lower()} {_name(state)}")
