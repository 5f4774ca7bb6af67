"""header-miscounted: a counter of flow control leaves out a header or CRC word of some packets.

The words are right at every tap, and the books drift: too low at the sender, which then sends beyond what the
receiver can hold; too low at the receiver, which gives back less credit than was used, until nothing fits any
more. What tells it: the card's own taps counted more words than its flows together.

Source: FORTH paper, section 4.2 (header or its CRC miscounted); register files ``frozen_flow``, ``frozen_counters``.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product

from freezeframe.analyzers.contract import Evidence, Finding, Row
from freezeframe.analyzers.credits.ledger import FlowAccount
from freezeframe.analyzers.diagnosis.overflow import overflow_evidence
from freezeframe.analyzers.diagnosis.place import cause_evidence
from freezeframe.analyzers.facts import Facts
from freezeframe.analyzers.link_start import fits_power_up
from freezeframe.analyzers.streams import HEADS

__all__ = ["NAME", "Miscount", "diagnose", "miscounts"]

NAME = "header-miscounted"
_COUNTER = 1 << 32  # words_sent and words_received have 32 bits
_LARGEST = 515  # words of a packet: 512 of payload, two HEAD words, TAIL
_MOST_BAD = 8  # packets with a bad header of which each sum is tried


@dataclass(frozen=True, slots=True)
class Miscount:
    """A card whose flows together counted ``words`` fewer than its tap let through.

    ``beside_bad``: packets with a bad header came in, too, and they do not explain it.
    """

    device: str
    sending: bool
    counted: int
    crossed: int
    beside_bad: bool = False

    @property
    def words(self) -> int:
        return self.crossed - self.counted


def miscounts(facts: Facts) -> Iterator[Miscount]:
    """Yield the cards whose flows and taps disagree about the words that crossed.

    Flows begin at zero when the link starts, taps count since power-up, so that the two can be compared only
    while the link has been up since then: in the first recording, and with sequence numbers that fit.
    """
    for device in facts.view.names:
        if facts.view.value(device, "ctl.generation") != 1:
            continue
        for sending, name, tap in (
            (True, "words_sent", "tx_deq"),
            (False, "words_received", "rx_enq"),
        ):
            capture = facts.view.device(device)
            crossed = facts.view.counter(device, f"{tap}_words")
            if capture is None or crossed is None or crossed >= _COUNTER:
                continue
            counts = [
                facts.view.value(device, f"frozen_flow.{name}", flow)
                for flow in range(capture.identity.flows_count)
            ]
            known = [count for count in counts if count is not None]
            if len(known) < len(counts) or crossed <= sum(known):
                continue
            bad = 0 if sending else facts.view.counter(device, "header_errors")
            if bad is None or (bad and _fits_bad_headers(facts, device, bad, crossed - sum(known))):
                continue
            if not fits_power_up(capture, facts.view.device(facts.view.peer(device) or "")):
                continue  # the link came up again, or it is not known that it did not
            yield Miscount(device, sending, sum(known), crossed, beside_bad=bad > 0)


def _fits_bad_headers(facts: Facts, device: str, bad: int, missing: int) -> bool:
    """Return whether words behind bad headers, which may belong to no flow, can be all that is missing.

    Such a packet is counted whole, but for its header at most, or not at all; so that where each of them was recorded,
    only some sums are left.
    """
    stream = facts.view.stream(device, "rx_enq")
    packets = [packet for packet in stream.packets if packet.header_ok is False] if stream else []
    if stream is None or stream.breaks or len(packets) != bad or any(p.cut_start for p in packets):
        return True
    sizes = [
        (packet.end - packet.start, _LARGEST if packet.cut_end else packet.end - packet.start)
        for packet in packets
    ]
    if len(sizes) > _MOST_BAD:
        return missing <= sum(most for _, most in sizes)
    for none in product((False, True), repeat=len(sizes)):
        chosen = list(zip(none, sizes, strict=True))
        least = sum(max(0, size - HEADS) for counted, (size, _) in chosen if not counted)
        most = sum(HEADS if counted else size for counted, (_, size) in chosen)
        if least <= missing <= most:
            return True
    return False


def diagnose(facts: Facts, found: list[Miscount]) -> Iterator[Finding]:
    """Yield a finding for every card that miscounts."""
    for miscount in found:
        yield _finding(facts, miscount)


def _finding(facts: Facts, miscount: Miscount) -> Finding:
    device = miscount.device
    peer = facts.view.peer(device) or "?"
    sender, receiver = (device, peer) if miscount.sending else (peer, device)
    accounts = [a for a in facts.accounts if a.direction == f"{sender}->{receiver}"]
    flow = _flow(facts, miscount, accounts)
    what, tap = ("sent", "tx_deq") if miscount.sending else ("received", "rx_enq")
    of_flow = "" if flow is None else f" The words of flow {flow} are short at {device}."
    end = (
        f"{sender} believes that {receiver} has more room than it has"
        if miscount.sending
        else f"{sender} gets back less credit than it used"
    )
    capture = facts.view.device(device)
    cycle = capture.registers.value64("ctl.cause_cycle_") if capture is not None else None
    t_ps, unc_ps = (None, None) if cycle is None else facts.when(device, cycle)
    return Finding(
        diagnosis=NAME,
        text=(
            f"{device} let {miscount.crossed} words through {tap} and its flows counted "
            f"{miscount.counted} of them as {what}: {miscount.words} words are missing in its books, while the "
            f"words themselves are right.{of_flow} With every such packet {end}."
        ),
        device=device,
        direction=f"{sender}->{receiver}",
        flow=flow,
        t_ps=t_ps,
        t_uncertainty_ps=unc_ps,
        confidence=0.8 if miscount.beside_bad else 0.95,
        evidence=(
            Evidence(
                f"{device}: {miscount.crossed} words crossed {tap}; its flows counted {miscount.counted}.",
                device,
                tap,
                _rows(facts, miscount, accounts),
            ),
            *overflow_evidence(facts, receiver),
            *cause_evidence(facts, device),
        ),
    )


def _flow(facts: Facts, miscount: Miscount, accounts: list[FlowAccount]) -> int | None:
    """Return the one flow whose words are short, where both ends or the use of one flow alone say it."""
    name = "words_sent" if miscount.sending else "words_received"
    if miscount.sending:
        return None  # counted for all flows in one place; which packets, the books do not say
    here = {a.flow: facts.view.value(a.receiver, f"frozen_flow.{name}", a.flow) for a in accounts}
    there = {a.flow: facts.view.value(a.sender, "frozen_flow.words_sent", a.flow) for a in accounts}
    short = {
        flow: (there[flow] or 0) - (here[flow] or 0)
        for flow in here
        if here[flow] is not None and there.get(flow) is not None
    }
    if not short:
        used = [flow for flow, count in here.items() if count]
        return used[0] if len(used) == 1 else None
    # What is still on its way is short as well, but far less than what was lost over the whole run.
    likely = [flow for flow, words in short.items() if 2 * words > miscount.words]
    return likely[0] if len(likely) == 1 else None


def _rows(facts: Facts, miscount: Miscount, accounts: list[FlowAccount]) -> tuple[Row, ...]:
    device = miscount.device
    tap, name = ("tx_deq", "words_sent") if miscount.sending else ("rx_enq", "words_received")
    rows = [facts.view.counter_row(device, f"{tap}_words")]
    rows += [
        facts.view.register_row(end, f"frozen_flow.{which}", account.flow)
        for account in accounts
        for end, which in ((account.sender, "words_sent"), (account.receiver, "words_received"))
        if end == device or which != name
    ]
    return tuple(row for row in rows if row.value is not None)
