"""access-refused: a card with handles of memory regions refused a write that was not within its region.

The words crossed whole and their checks are good; nothing was written, and no notification came. What distinguishes it:
the counter that means ``access-refused``, and the event of each refusal. A card whose file has no such counter is not
asked.

Source: docs/formats.md section 1.4; FORTH paper, section 2.2.
"""

from __future__ import annotations

from collections.abc import Iterator

from freezeframe.analyzers.card.names import REFUSED
from freezeframe.analyzers.contract import Evidence, Finding, Ground, Row
from freezeframe.analyzers.facts import Facts
from freezeframe.analyzers.streams import Packet
from freezeframe.capture.card.roles import EVENT_LOG
from freezeframe.capture.registers.layouts import Kind
from freezeframe.capture.registers.map_forms import WRITE_REFUSED

MEANS = "access-refused"
_SEQ, _HANDLE, _HANDLE_LSB, _REASON_LSB = 0xFFFF, 0xFF, 16, 24
_OFFSET = (1 << 24) - 1
_UNBOUND = 1
_WORD_B = 8
_SHOWN = 6


def refused_writes(facts: Facts) -> Iterator[Finding]:
    """Yield a finding for every card that refused a write in this recording."""
    view = facts.view
    if not view.roles.counter(MEANS):
        return
    for sender, receiver in view.directions:
        count = view.count(receiver, MEANS)
        log = view.logs.get(receiver)
        told = _told(facts, receiver)
        # The counter runs since power-up: without an event it is of this recording in the first one alone.
        first = view.value(receiver, "ctl.generation") == 1
        if len(told) or (count and first):
            yield _finding(facts, sender, receiver, told, count, log is not None)


def _told(facts: Facts, receiver: str) -> list[int]:
    """Return the positions of the refusals in a card's event log."""
    log = facts.view.logs.get(receiver)
    if log is None:
        return []
    found: list[int] = log.select(Kind.USER.name, str(WRITE_REFUSED)).tolist()
    return found


def _finding(
    facts: Facts, sender: str, receiver: str, told: list[int], count: int | None, logged: bool
) -> Finding:
    view, log = facts.view, facts.view.logs.get(receiver)
    counted = Evidence(
        f"{receiver} counts the packets that it refused.",
        receiver,
        rows=(view.count_row(receiver, MEANS),),
    )
    many = max(count or 0, len(told))
    what = (
        f"a write of {sender} that was not within its memory region"
        if many == 1
        else f"{many:,} writes of {sender} that were not within their memory regions"
    )
    begin = f"{receiver} refused {what}"
    if log is None or not told:
        why = "does not hold it any more" if logged else "was not read"
        return Finding(
            diagnosis=REFUSED,
            text=f"{begin}: nothing was written. Which packet is not known: its event log {why}.",
            device=receiver,
            tap=view.roles.rx.exit,
            direction=f"{sender}->{receiver}",
            ground=Ground.CONFIRMED,
            evidence=(counted,),
        )
    at = told[0]
    value, flow = int(log.value[at]), int(log.flow[at])
    seq, handle = value & _SEQ, value >> _HANDLE_LSB & _HANDLE
    packet = _packet(facts, receiver, seq, flow)
    t_ps, unc_ps = log.when(at)
    rows = tuple(log.row(each, "write refused") for each in told[:_SHOWN])
    evidence = [Evidence(f"{receiver}'s log has {len(told)} of them.", receiver, EVENT_LOG, rows)]
    where = f"handle {handle}"
    if packet is not None and packet.address is not None and packet.length is not None:
        stream = view.stream(receiver, view.roles.rx.exit)
        begin_B = packet.address & _OFFSET
        where += f", bytes {begin_B:,} to {begin_B + packet.length * _WORD_B:,}"
        if stream is not None:
            address: tuple[Row, ...] = (stream.row(packet.start + 1, f"address of packet {seq}"),)
            evidence.append(Evidence("Where it was to go.", receiver, view.roles.rx.exit, address))
    why = (
        "no region is bound to it"
        if value >> _REASON_LSB == _UNBOUND
        else "beyond the region's end"
    )
    rest = "" if len(told) == 1 else " It is the first of those that the log holds."
    return Finding(
        diagnosis=REFUSED,
        text=(
            f"{begin}: packet {seq} (flow {flow}), {where}: {why}. Nothing of it was written and nobody was notified; "
            f"its words were given back as credit, so the link goes on. {sender}'s driver posted it so.{rest}"
        ),
        device=receiver,
        tap=view.roles.rx.exit,
        direction=f"{sender}->{receiver}",
        flow=flow,
        packet=seq,
        t_ps=t_ps,
        t_uncertainty_ps=unc_ps,
        ground=Ground.COMPARED if packet is not None else Ground.CONFIRMED,
        evidence=(*evidence, counted),
    )


def _packet(facts: Facts, receiver: str, seq: int, flow: int) -> Packet | None:
    """Return the packet of that number where the tap behind the incoming FIFO holds one alone."""
    stream = facts.view.stream(receiver, facts.view.roles.rx.exit)
    packets = [] if stream is None else stream.packets
    fitting = [p for p in packets if p.header_ok and (p.seq, p.flow) == (seq, flow)]
    return fitting[0] if len(fitting) == 1 else None
