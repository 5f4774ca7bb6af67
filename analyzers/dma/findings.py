"""Faults between a card and its host: interrupts, short transfers, split reads.

interrupt-storm and interrupt-lost: the card's interrupt line and its driver do not fit together.

- interrupt-storm: the handler does not mask the line while it runs, so that every further completion
  interrupts it once more. What distinguishes it: an interrupt that comes before the one before it was masked, while two
  or more completions wait.
- interrupt-lost: a completion came between the handler's last look and its enabling of the line, and nothing
  raised the line again. What distinguishes it: the line is enabled, a completion waits, and no interrupt comes.

A completion that waits because the line is masked is a driver at work, and healthy.

Source: docs/formats.md section 4; FORTH paper, section 4.1.

short-transfers: most messages of a card are of one word or two, to one address or two.

Nothing is broken: queue pointers written as messages of their own cost a whole descriptor, a DMA read and a
packet each. What distinguishes it: the share of such messages among all that were sent, and where they go. A load of
short messages to many addresses is a load, and no finding.

Source: FORTH paper, section 4.4 (head and tail of queues).

split-retry-mishandled: the sender's DMA went on at the wrong word after a retry or a disconnect.

It happens before the CRCs are made, so they are good at every tap; only the length is not what the header, and
the descriptor, say. What distinguishes it from a word lost in a FIFO: tx_enq itself is wrong, and its CRC is good.

Source: docs/formats.md section 4 (DESC retried, disconnected).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import numpy as np

from freezeframe.analyzers.contract import Evidence, Finding, Ground, Row
from freezeframe.analyzers.dma.interrupts import (
    Interrupts,
    LogRow,
    Lost,
    device_rows,
    interrupts_in,
)
from freezeframe.analyzers.evidence import amount, cause_evidence, verdict_text
from freezeframe.analyzers.facts import Facts
from freezeframe.analyzers.streams import EventLog, Packet, Stream
from freezeframe.analyzers.view import CaptureView
from freezeframe.capture.card.roles import EVENT_LOG
from freezeframe.capture.registers.layouts import (
    DESC_VALUE_LENGTH_LSB,
    DESC_VALUE_LENGTH_MASK,
    DESC_VALUE_SEQ_LSB,
    DESC_VALUE_SEQ_MASK,
    Kind,
    PacketType,
)

INTERRUPT_STORM, INTERRUPT_LOST = "interrupt-storm", "interrupt-lost"
_NEEDED = 2
"""Interrupts on top of one that was not masked. For a single one the mask may be what was not recorded."""

_NEVER_MASKED = 3
"""Runs of the handler, none of which masked the line: with a single such interrupt that says the same."""

_SHOWN = 8


def interrupt_faults(view: CaptureView) -> Iterator[Finding]:
    """Yield a finding for every card whose interrupts and completions contradict each other."""
    for device in view.names:
        log = view.logs[device]
        if log.gaps or not log.recorded(Kind.IRQ, Kind.NOTE):
            continue
        interrupts = interrupts_in(device_rows(view.trace, device))
        if len(interrupts.again) >= _NEEDED or (interrupts.again and _never_masks(log)):
            yield _storm(view, device, interrupts)
        lost = next((one for one in interrupts.lost if _may_have_waited(log, one)), None)
        if lost is not None:
            yield _lost(view, device, lost)


def _may_have_waited(log: EventLog, lost: Lost) -> bool:
    """Tell whether so many completions came since the handler began that those which waited can be among them."""
    if lost.cause.kind == Kind.NOTE.name:
        return True
    notes, masked = log.select(Kind.NOTE.name), log.select(Kind.IRQ.name, "masked")
    began = log.cycle[masked][log.cycle[masked] <= lost.cause.cycle]
    if not len(began):
        return (
            lost.raised is not None
        )  # the log begins later: only the next interrupt says that they waited
    came = (log.cycle[notes] >= began[-1]) & (log.cycle[notes] <= lost.cause.cycle + 1)
    return int(came.sum()) >= lost.cause.value


def _never_masks(log: EventLog) -> bool:
    """Return whether the handler ran and not once masked the line, and nothing was lost that could say it did."""
    ran, masked = log.select(Kind.IRQ.name, "enabled"), log.select(Kind.IRQ.name, "masked")
    return len(ran) >= _NEVER_MASKED and not len(masked) and not len(log.select(Kind.LOSS.name))


def _storm(view: CaptureView, device: str, interrupts: Interrupts) -> Finding:
    rows = tuple(
        _log_row(device, row, f"interrupt raised, {amount(row.value, 'completion')} waiting")
        for row in interrupts.again[:_SHOWN]
    )
    ratio = interrupts.per_completion
    many = amount(len(interrupts.again), "interrupt")
    each = "" if ratio is None else f", {ratio:.2f} each"
    return Finding(
        diagnosis=INTERRUPT_STORM,
        text=(
            f"{device} raised {many} while the handler of the one before had not "
            f"masked the line and two or more completions waited ({interrupts.raised} interrupts for "
            f"{interrupts.completions} completions{each}): the driver does not mask the line while it runs."
        ),
        device=device,
        direction=_into(view, device),
        t_ps=interrupts.again[0].t_ps,
        t_uncertainty_ps=_uncertainty(view, device, interrupts.again[0].row),
        ground=Ground.CONFIRMED if len(interrupts.again) >= _NEEDED else Ground.INFERRED,
        evidence=(
            Evidence("Interrupts on top of one that was not masked.", device, EVENT_LOG, rows),
            Evidence(
                "The interrupt line at freeze.",
                device,
                rows=(
                    view.register_row(device, "frozen.interrupt_mask"),
                    view.register_row(device, "frozen.completions_waiting"),
                ),
            ),
        ),
    )


def _lost(view: CaptureView, device: str, lost: Lost) -> Finding:
    note = _waiting(view, device, lost)
    rows = [_log_row(device, lost.cause, _meaning(lost.cause))]
    if note is not None:
        rows.insert(0, view.logs[device].row(note, "completion that waits"))
    if lost.raised is None:
        after = "none came in the rest of the recording"
    else:
        rows.append(_log_row(device, lost.raised, "the next interrupt"))
        after = f"the next came {lost.raised.cycle - lost.cause.cycle:,} bus cycles later"
    # Where no interrupt followed, the line at the freeze is all that says that they still waited.
    waits = view.value(device, "frozen.completions_waiting") and not view.value(
        device, "frozen.interrupt_mask"
    )
    log = view.logs[device]
    seq = None if note is None else int(log.value[note])
    flow = None if note is None else int(log.flow[note])
    what = "A completion" if seq is None else f"The completion of packet {seq} (flow {flow})"
    return Finding(
        diagnosis=INTERRUPT_LOST,
        text=(
            f"{what} waited at {device} with the interrupt line enabled, and no interrupt was raised: "
            f"{after}. It came between the handler's last look and the enabling of the line, and the "
            "driver did not look again."
        ),
        device=device,
        direction=_into(view, device),
        flow=flow,
        packet=seq,
        t_ps=lost.cause.t_ps,
        t_uncertainty_ps=_uncertainty(view, device, lost.cause.row),
        ground=Ground.CONFIRMED if lost.raised is not None or waits else Ground.ELIMINATED,
        evidence=(
            Evidence(
                f"Completions waiting: {lost.cause.value or 1}. The line was enabled, and {after}.",
                device,
                EVENT_LOG,
                tuple(rows),
            ),
        ),
    )


def _waiting(view: CaptureView, device: str, lost: Lost) -> int | None:
    """Return the position in the log of the notification that waited first; None where it was not recorded.

    How many waited is known best where the next interrupt was raised: a notification written in the cycle of
    the enabling is counted there, and follows it in the log.
    """
    log = view.logs[device]
    notes = log.select(Kind.NOTE.name, "remote")
    if lost.raised is not None:
        waiting, before = lost.raised.value, notes[log.rows[notes] < lost.raised.row]
    elif lost.cause.kind == Kind.NOTE.name:
        waiting, before = 1, notes[log.rows[notes] <= lost.cause.row]
    else:
        waiting, before = lost.cause.value, notes[log.cycle[notes] <= lost.cause.cycle]
    return int(before[-waiting]) if 0 < waiting <= len(before) else None


def _meaning(cause: LogRow) -> str:
    if cause.kind == Kind.NOTE.name:
        return "notification written, line enabled"
    many = "completion" if cause.value == 1 else "completions"
    return f"line enabled, {cause.value} {many} waiting"


def _log_row(device: str, row: LogRow, label: str) -> Row:
    return Row(
        "events",
        f"{device}.{EVENT_LOG}",
        label,
        row.value,
        row=row.row,
        cycle=row.cycle,
        t_ps=row.t_ps,
    )


def _into(view: CaptureView, device: str) -> str | None:
    """Return the direction whose receiver this is; None where the other end is not known."""
    peer = view.peer(device)
    return None if peer is None else f"{peer}->{device}"


def _uncertainty(view: CaptureView, device: str, row: int) -> int | None:
    log = view.logs[device]
    at = np.flatnonzero(log.rows == row)
    unc_ps = int(log.t_unc_ps[at[0]]) if len(at) else -1
    return None if unc_ps < 0 else unc_ps


SHORT_TRANSFERS = "short-transfers"
_MOST_WORDS = 2
_ADDRESSES = 2
_ENOUGH = 4  # messages to an address that comes again; no load of random messages has them
_FEW = 3  # in a short recording: the first pointers, one of them written again
_SHARE = 0.5
_MESSAGES_SHOWN = 6


def short_transfers(facts: Facts) -> Iterator[Finding]:
    """Yield a finding for every card that mostly sends queue pointers."""
    for device in facts.view.names:
        stream = facts.view.first_sent(device)
        if stream is not None:
            yield from _of(facts, device, stream)


def _of(facts: Facts, device: str, stream: Stream) -> Iterator[Finding]:
    messages = [packet for packet in stream.packets if _is_message(packet)]
    short = [packet for packet in messages if (packet.length or 0) <= _MOST_WORDS]
    addresses = Counter(packet.address for packet in short)
    # A second pointer that was written once so far is one as well where no short message went elsewhere.
    alone = len(addresses) <= _ADDRESSES
    repeated = {
        address: count
        for address, count in addresses.most_common(_ADDRESSES)
        if count > 1 or (alone and len(short) > len(addresses))
    }
    pointers = [packet for packet in short if packet.address in repeated]
    if len(pointers) < _FEW or len(pointers) < _SHARE * len(messages):
        return
    share = len(pointers) / len(messages)
    thin = len(pointers) < _ENOUGH
    payload = sum(packet.length or 0 for packet in pointers)
    frame = sum(packet.end - packet.start for packet in pointers)
    rows = tuple(
        stream.row(packet.start, f"header, {packet.length} words")
        for packet in pointers[:_MESSAGES_SHOWN]
    )
    where = ", ".join(f"{address:#x} ({count} times)" for address, count in repeated.items())
    t_ps, unc_ps = stream.when(pointers[0].start)
    yield Finding(
        diagnosis=SHORT_TRANSFERS,
        text=(
            f"{len(pointers)} of {len(messages)} messages that {device} sent ({share:.0%}) are of one word or "
            f"two, to {where}: queue pointers written as messages of their own. {amount(payload, 'word')} of them "
            f"were payload of {frame} on the link."
            + (" So few messages were recorded that this may be their beginning." if thin else "")
        ),
        device=device,
        direction=_out_of(facts, device),
        t_ps=t_ps,
        t_uncertainty_ps=unc_ps,
        ground=Ground.LITTLE if thin else Ground.INFERRED,
        evidence=(
            Evidence(
                f"{len(short)} of {len(messages)} messages have at most {_MOST_WORDS} words; "
                f"{len(pointers)} of them go to {len(repeated)} addresses.",
                stream.device,
                stream.tap,
                rows,
            ),
        ),
    )


def _is_message(packet: Packet) -> bool:
    return (
        packet.header_ok is True
        and packet.length is not None
        and packet.type == PacketType.RDMA_WRITE
        and packet.address is not None
    )


def _out_of(facts: Facts, device: str) -> str | None:
    peer = facts.view.peer(device)
    return None if peer is None else f"{device}->{peer}"


SPLIT_RETRY = "split-retry-mishandled"
_INTERRUPTED = ("retried", "disconnected")
_ASKED = "requested"


def mishandled_retries(facts: Facts) -> Iterator[Finding]:
    """Yield a finding for every packet whose length was wrong, its CRCs good, before the outgoing FIFO."""
    for sender, receiver in facts.view.directions:
        stream = facts.view.stream(sender, facts.view.roles.tx.entry)
        if stream is None:
            continue
        for packet in stream.packets:
            if (
                packet.whole
                and packet.header_ok
                and packet.payload_ok
                and packet.length_ok is False
            ):
                yield _finding(facts, sender, receiver, stream, packet)


def _finding(facts: Facts, sender: str, receiver: str, stream: Stream, packet: Packet) -> Finding:
    log = facts.view.logs[sender]
    events = _interruptions(log, packet)
    missing = (packet.length or 0) - packet.body_words
    word = None
    if len(events) == 1:
        # What had been fetched when the bus ended the read: the first word that is wrong.
        left = int(log.value[events[0]]) >> DESC_VALUE_LENGTH_LSB & DESC_VALUE_LENGTH_MASK
        word = (packet.length or 0) - left
    start = packet.start + packet.heads
    at = min(start + (word or 0), packet.end - 1)
    t_ps, unc_ps = stream.when(at)
    how = "left out" if missing > 0 else "too many"
    where = "" if word is None else f" from payload word {word} on"
    rows = [stream.row(packet.start, "header"), stream.row(packet.end - 1, "tail")]
    if word is not None:
        rows.insert(
            1, stream.row(at, f"payload word {word}: the first that is not the one expected")
        )
    return Finding(
        diagnosis=SPLIT_RETRY,
        text=(
            f"Packet {packet.seq} ({sender}->{receiver}, flow {packet.flow}) entered {sender}'s outgoing "
            f"FIFO with {amount(packet.body_words, 'payload word')} where its descriptor says {packet.length}, and "
            f"with good CRCs: {amount(abs(missing), 'word')} {how}{where} before the CRCs were made, where the "
            "DMA went on after the bus had ended its read."
            if events
            else f"Packet {packet.seq} ({sender}->{receiver}, flow {packet.flow}) entered {sender}'s "
            f"outgoing FIFO with {amount(packet.body_words, 'payload word')} where its descriptor says "
            f"{packet.length}, and with good CRCs: {amount(abs(missing), 'word')} {how} before the CRCs were "
            "made, by its DMA. No retry or disconnect of its read is in the recording."
        ),
        device=sender,
        tap=stream.tap,
        direction=f"{sender}->{receiver}",
        flow=packet.flow,
        packet=packet.seq,
        word=word,
        t_ps=t_ps,
        t_uncertainty_ps=unc_ps,
        ground=Ground.COMPARED if events else Ground.ELIMINATED,
        evidence=(
            Evidence(f"{stream.source}: {verdict_text(packet)}.", sender, stream.tap, tuple(rows)),
            *(
                Evidence(
                    f"The bus ended the read of this message ({log.code[event]}).",
                    sender,
                    EVENT_LOG,
                    (log.row(event, f"read {log.code[event]}"),),
                )
                for event in events
            ),
            *cause_evidence(facts, receiver),
        ),
    )


def _interruptions(log: EventLog, packet: Packet) -> list[int]:
    """Return the event after which the read of a packet went on wrongly; several where that is not known.

    The next request asks for another number of words than were left. A log without requests gives every
    event that ended a read of this packet.
    """
    ended, asked = [], None
    for at in reversed(
        log.select(Kind.DESC.name, *_INTERRUPTED, _ASKED, flow=packet.flow).tolist()
    ):
        value = int(log.value[at])
        if value >> DESC_VALUE_SEQ_LSB & DESC_VALUE_SEQ_MASK != packet.seq:
            continue
        words = value >> DESC_VALUE_LENGTH_LSB & DESC_VALUE_LENGTH_MASK
        if str(log.code[at]) == _ASKED:
            asked = words
            continue
        if asked is not None and asked != words:
            return [at]
        ended.append(at)
    return ended
