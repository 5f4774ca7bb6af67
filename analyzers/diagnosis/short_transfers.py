"""short-transfers: most messages of a card are of one word or two, to one address or two.

Nothing is broken: queue pointers written as messages of their own cost a whole descriptor, a DMA read and a
packet each. What tells it: the share of such messages among all that were sent, and where they go. A load of
short messages to many addresses is a load, and no finding.

Source: FORTH paper, section 4.1 (head and tail of queues).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from freezeframe.analyzers.contract import Evidence, Finding
from freezeframe.analyzers.facts import Facts
from freezeframe.analyzers.streams import Packet, Stream, header_fields
from freezeframe.capture.registers.layouts import PacketType

__all__ = ["NAME", "diagnose"]

NAME = "short-transfers"
_MOST_WORDS = 2
_ADDRESSES = 2
_ENOUGH = 4  # messages to an address that comes again; no load of random messages has them
_FEW = 3  # in a short recording: the first pointers, one of them written again
_SHARE = 0.5
_SHOWN = 6


def diagnose(facts: Facts) -> Iterator[Finding]:
    """Yield a finding for every card that mostly sends queue pointers."""
    for device in facts.view.names:
        stream = facts.view.stream(device, "tx_enq") or facts.view.stream(device, "tx_deq")
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
    told = [packet for packet in short if packet.address in repeated]
    if len(told) < _FEW or len(told) < _SHARE * len(messages):
        return
    share = len(told) / len(messages)
    thin = len(told) < _ENOUGH
    payload = sum(packet.length or 0 for packet in told)
    frame = sum(packet.end - packet.start for packet in told)
    rows = tuple(
        stream.row(packet.start, f"header, {packet.length} words") for packet in told[:_SHOWN]
    )
    where = ", ".join(f"{address:#x} ({count} times)" for address, count in repeated.items())
    t_ps, unc_ps = stream.when(told[0].start)
    yield Finding(
        diagnosis=NAME,
        text=(
            f"{len(told)} of {len(messages)} messages that {device} sent ({share:.0%}) are of one word or "
            f"two, to {where}: queue pointers written as messages of their own. {payload} words of them "
            f"were payload of {frame} on the link."
            + (" So few messages were recorded that this may be their beginning." if thin else "")
        ),
        device=device,
        direction=_out_of(facts, device),
        t_ps=t_ps,
        t_uncertainty_ps=unc_ps,
        confidence=0.6 if thin else 0.85,
        evidence=(
            Evidence(
                f"{len(short)} of {len(messages)} messages have at most {_MOST_WORDS} words; "
                f"{len(told)} of them go to {len(repeated)} addresses.",
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
        and header_fields(packet.header or 0)["type"] == PacketType.RDMA_WRITE
        and packet.address is not None
    )


def _out_of(facts: Facts, device: str) -> str | None:
    peer = facts.view.peer(device)
    return None if peer is None else f"{device}->{peer}"
