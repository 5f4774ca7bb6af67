"""What each witness of a capture says where a finding lies: a value of the vocabulary, or why it is silent."""

from __future__ import annotations

from collections.abc import Callable

from freezeframe.analyzers.diagnosis.fifo_words import imbalance_of
from freezeframe.analyzers.evidence import amount, verdict_text
from freezeframe.analyzers.facts import RECEIVER_FIFO, SENDER_FIFO
from freezeframe.analyzers.streams import EventLog, Packet
from freezeframe.analyzers.taps.align import Op
from freezeframe.analyzers.witness.books import BOOKS
from freezeframe.analyzers.witness.case import At, Bound, same_words
from freezeframe.analyzers.witness.registers import text_of
from freezeframe.analyzers.witness.vocabulary import Reading, silent
from freezeframe.capture.registers.layouts import Kind

LATE_CYCLES = 64  # of the bus, from a packet's last word to its checker's count
_CHECKS = ("bad-header", "bad-payload", "bad-length")
_SEQUENCE = 1 << 16


def read(witness: str, bound: Bound) -> Reading:
    """Return what a witness of the vocabulary says.

    Raises:
        KeyError: there is no such witness.
    """
    return _READ[witness](bound)


def _words(bound: Bound) -> Reading:
    pair = bound.pair
    if pair is None:
        return silent("the packet is not at both taps of the stretch")
    names = " and ".join(at[0].source for at in (bound.before, bound.behind) if at is not None)
    ops = [edit.op for edit in pair.edits]
    if not ops and pair.in_part:
        most = max(packet.end - packet.start for packet in (pair.up, pair.down))
        return silent(
            f"{names} agree in {pair.compared} of {most} words; the rest was not recorded at both"
        )
    if not ops:
        return Reading("equal", f"{names} agree")
    many = f"{len(ops)} word{'s' * (len(ops) > 1)}"
    recorded = " of what both recorded" if pair.in_part else ""
    if all(op is Op.ALTERED for op in ops):
        return Reading("altered", f"{names} have {many} otherwise, all in place")
    behind = bound.behind[0].source if bound.behind is not None else "the second"
    if ops == [Op.OMITTED]:
        return Reading(
            "omitted", f"of {names}, {behind} lacks one word, and has the rest{recorded}"
        )
    if ops == [Op.DUPLICATED]:
        text = f"of {names}, {behind} has one word twice, and the rest once{recorded}"
        return Reading("duplicated", text)
    return Reading("moved", f"{names} differ in {many}, not in place")


def _crc(at: At | None) -> Reading:
    if at is None:
        return silent("the packet was not recorded at that tap")
    stream, packet = at
    text = f"{stream.source}: {verdict_text(packet)}"
    if packet.bad:
        return Reading("bad", text)
    if packet.good:
        return Reading("good", text)
    return silent(f"{text}: not all of the packet is in the memory")


def _length(at: At | None) -> Reading:
    if at is None:
        return silent("the packet was not recorded at that tap")
    stream, packet = at
    if packet.length_ok is None or packet.length is None or packet.header_ok is False:
        return silent(f"{stream.source}: how long the packet should be is not known")
    text = f"{stream.source}: {amount(packet.body_words, 'payload word')}, its header says {packet.length}"
    if packet.length_ok:
        return Reading("right", text)
    return Reading("short" if packet.body_words < packet.length else "long", text)


def _other_tap(bound: Bound, tap: int) -> Reading:
    """Compare the packet at a tap outside the stretch with what it was before and behind it."""
    there = bound.copies[tap] if 0 <= tap < 4 else None
    if there is None:
        return silent("no tap there" if not 0 <= tap < 4 else "the packet was not recorded there")
    if bound.behind is not None and there[0] is bound.behind[0]:
        return silent(
            f"{there[0].source} is the first tap that has it, and stands for the one behind the stretch"
        )
    as_before = None if bound.before is None else same_words(there, bound.before)
    as_behind = None if bound.behind is None else same_words(there, bound.behind)
    source = there[0].source
    if as_behind and not as_before:
        return Reading("as-after", f"{source} has it as {_source(bound.behind)}")
    if as_before and not as_behind:
        return Reading("as-before", f"{source} has it as {_source(bound.before)}")
    if as_before is False and as_behind is False:
        return Reading("otherwise", f"{source} has it neither as before nor as behind the stretch")
    return silent(f"{source}: what it has of the packet does not decide")


def _packet_after(bound: Bound) -> Reading:
    number, tap = bound.finding.packet, bound.tap
    if number is None or tap is None:
        return silent("which packet it was is not known")
    counts = {}
    for device, name in bound.facts.view.path(bound.sender, bound.receiver)[tap + 1 :]:
        stream = bound.facts.view.stream(device, name)
        seen = (
            [p.seq for p in stream.packets if p.header_ok and p.seq is not None] if stream else []
        )
        later, earlier = (
            any(0 < sign * (seq - number) % _SEQUENCE < _SEQUENCE // 2 for seq in seen)
            for sign in (1, -1)
        )
        count = seen.count(number)
        # Before a later packet is there it may still come; without an earlier one it may have been overwritten.
        if stream is not None and (count > 1 or (later and (count or earlier))):
            counts[stream.source] = count
    if not counts:
        return silent("no tap behind it recorded what came before it and after it")
    most = max(counts.values())
    text = ", ".join(f"{source} {amount(count, 'time')}" for source, count in counts.items())
    return Reading(("gone", "once")[most] if most < 2 else "twice", f"packet {number}: {text}")


def _source(at: At | None) -> str:
    return "" if at is None else at[0].source


def _tap_before(bound: Bound) -> Reading:
    return _other_tap(bound, -1 if bound.tap is None else bound.tap - 2)


def _tap_after(bound: Bound) -> Reading:
    if bound.tap is not None and bound.facts.overflowed(bound.receiver):
        return silent("the receiver's FIFO overflowed on the way there")
    return _other_tap(bound, 4 if bound.tap is None else bound.tap + 1)


def _failing(packet: Packet) -> tuple[str, ...]:
    """Return which of the receiver's checks a packet fails; behind a bad header it checks nothing."""
    if packet.header_ok is False:
        return ("bad-header",)
    verdicts = (packet.payload_ok, packet.length_ok)
    return tuple(name for name, ok in zip(_CHECKS[1:], verdicts, strict=True) if ok is False)


def _at_checks(bound: Bound) -> tuple[At | None, str]:
    """Return the packet at a tap where the hardware checked it, in time to be counted; or why there is none.

    Where it passes its checks there, or a later tap, there was nothing to count.
    """
    view = bound.facts.view
    if view.device(bound.receiver) is None:
        return None, f"{bound.receiver} may not be looked at"
    taps = [n for n in (2, 3) if bound.tap is not None and n >= bound.tap]
    seen = [at for n in taps if (at := bound.copies[n]) is not None]
    if not seen:
        return None, f"the packet was not recorded at a tap of {bound.receiver}"
    seen = [at for at in seen if at[1].bad] or [at for at in seen if not at[1].good]
    if not seen:
        return None, f"no tap of {bound.receiver} has the packet as bad"
    stream, packet = seen[0]
    if not packet.has_tail and packet.header_ok is not False:
        return None, f"the packet's end is not at {stream.source}"
    # The counts are those of the moment when the last memory had closed.
    end_ps, closed = int(stream.t_ps[packet.end - 1]), bound.facts.frozen(bound.receiver)[0]
    late = view.cycles_ps(bound.receiver, bus=LATE_CYCLES)
    if closed is None or end_ps + late > closed:
        return None, f"the packet's end crossed {stream.source} as the card froze"
    return seen[0], ""


def _checker(bound: Bound) -> Reading:
    at, why = _at_checks(bound)
    if at is None:
        return silent(why)
    view, device = bound.facts.view, bound.receiver
    failing = _failing(at[1])
    for name in failing or _CHECKS:
        if unsound := view.unsound("checker", device, name):
            return silent(unsound)
    asked = [counter for name in failing or _CHECKS if (counter := view.roles.counter(name))]
    counts = {counter: view.counter(device, counter) for counter in asked}
    if not counts or None in counts.values():
        return silent(f"{device} does not count what fails here, or it was not read")
    rows = tuple(view.counter_row(device, name) for name in counts)
    text = f"{device}'s {' and '.join(f'{name} {count}' for name, count in counts.items())}"
    if 0 in counts.values() if failing else not any(counts.values()):
        return Reading("not-counted", text, rows)
    if view.value(device, "ctl.generation") != 1:
        return silent(f"{text}, with those from before the last arm")
    return Reading("counted", text, rows)


def _cause(bound: Bound) -> Reading:
    view, device = bound.facts.view, bound.receiver
    if view.device(device) is None:
        return silent(f"{device} may not be looked at")
    at, why = _at_checks(bound)
    names = view.roles.causes(*_CHECKS)
    causes = view.causes(device)
    if set(names) & set(causes):
        return Reading("raised", f"{device} froze for {', '.join(causes)}")
    if at is None:
        return silent(why)
    mask = view.value(device, "ctl.cause_mask")
    card = view.device(device)
    bits = {c.name: c.bit for c in card.found.card.causes} if card is not None else {}
    asks = _failing(at[1]) or _CHECKS
    for name in asks:
        if unsound := view.unsound("cause", device, name):
            return silent(unsound)
    mine = view.roles.causes(*asks)
    if mask is None or not mine or not all(mask >> bits[name] & 1 for name in mine):
        return silent(f"{device} does not freeze for that check")
    frozen_ps, unc = bound.facts.caused(device)
    stream, packet = at
    end_ps, end_unc = stream.when(packet.end - 1)
    if frozen_ps is None or unc is None or end_unc is None:
        return silent("when the packet was checked is not known")
    late = view.cycles_ps(device, bus=LATE_CYCLES)
    if end_ps + end_unc + unc + late > frozen_ps:
        return silent(f"{device} had frozen for {', '.join(causes)} before it was checked")
    return Reading("not-raised", f"{device} froze for {', '.join(causes)}, later, and for no check")


def _level(bound: Bound) -> Reading:
    if bound.tap is None or bound.tap - 1 not in (SENDER_FIFO, RECEIVER_FIFO):
        return silent("no FIFO lies there")
    stretch = bound.tap - 1
    device = bound.sender if stretch == SENDER_FIFO else bound.receiver
    level = bound.facts.view.roles.ways[stretch == RECEIVER_FIFO].level
    if why := bound.facts.view.unsound("level", device, level):
        return silent(why)
    balance = imbalance_of(bound.facts, bound.sender, bound.receiver, stretch)
    if balance is None:
        return silent("the FIFO's level and its taps' counters are not of one moment")
    diff = bound.facts.diff(bound.sender, bound.receiver, stretch)
    ops = [edit.op for pair in (diff.differing if diff is not None else ()) for edit in pair.edits]
    if len({*ops} - {Op.ALTERED}) > 1:
        return silent("words were lost and repeated in it")
    text = f"{balance.device}'s {balance.fifo} FIFO: in {balance.entered}, out {balance.left}, level {balance.level}"
    missing = balance.missing
    return Reading("less" if missing > 0 else "more" if missing < 0 else "balanced", text)


def _underflows(bound: Bound) -> Reading:
    view, device = bound.facts.view, bound.receiver
    counts = [
        view.value(device, "frozen.lane.underflows", lane) for lane in range(view.roles.lanes)
    ]
    known = [count for count in counts if count is not None]
    if len(known) < len(counts):
        return silent(f"the underflows of {device}'s lanes were not read")
    text = f"{device}'s lanes counted {' and '.join(map(str, known))} underflows"
    if not any(known):
        return Reading("zero", text)
    first = view.value(device, "ctl.generation") == 1
    return (
        Reading("counted", text)
        if first
        else silent(f"{text}, with those from before the last arm")
    )


def _idles(bound: Bound) -> Reading:
    view, device = bound.facts.view, bound.receiver
    counts = [view.count(device, name) for name in ("idles-inserted", "idles-removed")]
    if None in counts:
        return silent(f"{device} does not say what it inserts and removes")
    text = f"{device} inserted {counts[0]} and removed {counts[1]} idle words"
    return Reading("some" if any(counts) else "none", text)


def _interrupt_line(bound: Bound) -> Reading:
    view, device = bound.facts.view, bound.finding.device or ""
    masked = view.value(device, "frozen.interrupt_mask")
    waiting = view.value(device, "frozen.completions_waiting")
    log = view.logs.get(device)
    raised = log.select(Kind.IRQ.name, "raised") if log is not None else ()
    if masked is None or waiting is None or log is None:
        return silent(f"{device}'s interrupt line was not read")
    t_ps = bound.finding.t_ps
    if t_ps is None or any(int(log.t_ps[at]) > t_ps for at in raised):
        return silent("an interrupt came later, before the freeze")
    text = f"{device} at the freeze: mask {masked}, {amount(waiting, 'completion')} waiting"
    if masked:
        by_log = _waiting_by_log(log, t_ps)
        if by_log is not None and by_log < waiting:
            return silent(
                f"{text}, {by_log} of them when its log closed: what came after may have raised the line"
            )
        return Reading("masked", text)
    return (
        Reading("waits", text) if waiting else silent(f"{text}: it was taken without an interrupt")
    )


def _waiting_by_log(log: EventLog, t_ps: int) -> int | None:
    """Return how many completions waited when the log closed, where the line was enabled at a time and not raised."""
    enabled = [
        at for at in log.select(Kind.IRQ.name, "enabled").tolist() if int(log.t_ps[at]) == t_ps
    ]
    if len(enabled) != 1:
        return None
    notes = log.select(Kind.NOTE.name, "remote")
    return int(log.value[enabled[0]]) + int((log.t_ps[notes] > t_ps).sum())


def _interrupts(bound: Bound) -> Reading:
    view, device = bound.facts.view, bound.finding.device or ""
    count, log = view.count(device, "host-called"), view.logs.get(device)
    if count is None or log is None or not log.recorded(Kind.IRQ):
        return silent(f"{device}'s interrupts were not counted or not logged")
    logged = len(log.select(Kind.IRQ.name, "raised"))
    text = f"{device} counted {amount(count, 'interrupt')}, its log holds {logged}"
    row = view.count_row(device, "host-called")
    return Reading("counted" if count >= logged else "fewer", text, (row,))


def _lengths(bound: Bound) -> Reading:
    view, device = bound.facts.view, bound.receiver
    bins = [view.value(device, "length_histogram", place) for place in range(16)]
    known = [count for count in bins if count is not None]
    if len(known) < len(bins) or not any(known):
        return silent(f"the histogram of lengths at {device} was not read, or is empty")
    short, all_ = known[1] + known[2], sum(known)
    text = (
        f"{short} of {all_} packets that {device} received since power-up have one to three words"
    )
    return Reading("many" if 2 * short >= all_ else "few", text)


def _registers(bound: Bound) -> Reading:
    broken = bound.case.broken
    if not broken:
        return Reading("consistent", "every law that can be asked holds")
    shown = {
        (row.source, row.label)
        for evidence in bound.finding.evidence
        for row in evidence.rows
        if row.table == "registers"
    }
    if bound.finding.tap is None and bound.finding.flow is not None:
        # What a sender had outstanding is counted back from its last tap's counter.
        view = bound.facts.view
        row = view.count_row(bound.sender, "words", view.roles.tx.exit)
        shown.add((row.source, row.label))
    counts = [
        count
        for count in bound.case.miscounting
        if count.narrow > 1 and any((row.source, row.label) in shown for row in count.rows)
    ]
    if counts:
        text = f"{counts[0].text}, would mend every broken law"
        return Reading("one-register", text, counts[0].rows)
    bits = [
        bit for bit in bound.case.mending if (bit.device, bit.label) in shown and not bit.of_bound
    ]
    if not bits:
        many = f"the {len(broken)} broken laws" if len(broken) > 1 else "the broken law"
        return Reading("consistent", f"no single bit of what it rests on would mend {many}")
    text = f"{text_of(bits)[0]}, were it another, would mend every broken law"
    return Reading("one-bit", text, (bits[0].row,))


def _registers_alone(bound: Bound) -> Reading:
    evidence = bound.finding.evidence
    if any(row.table == "events" for each in evidence for row in each.rows):
        return silent("it rests on events that were logged")
    return _registers(bound)


_READ: dict[str, Callable[[Bound], Reading]] = {
    "words": _words,
    "crc_before": lambda bound: _crc(bound.before),
    "crc_at": lambda bound: _crc(bound.behind),
    "length_before": lambda bound: _length(bound.before),
    "length_at": lambda bound: _length(bound.behind),
    "tap_before": _tap_before,
    "tap_after": _tap_after,
    "packet_after": _packet_after,
    "checker": _checker,
    "cause": _cause,
    "level": _level,
    "underflows": _underflows,
    "idles": _idles,
    **BOOKS,
    "interrupt_line": _interrupt_line,
    "interrupts": _interrupts,
    "lengths": _lengths,
    "registers_alone": _registers_alone,
    "registers": _registers,
}
