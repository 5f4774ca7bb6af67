"""What a card tells twice, in a register and in what was recorded or in another register, and otherwise.

The cycle of the freeze and the last record of the memories; a cause and the counter of what it stands for; underflows
and credits in registers and in the event log; a sequence number that comes next and the last header. Whatever the card
did, both tell of the same: so one of the two is wrong, and it is the recorder's side.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from freezeframe.analyzers.card.names import RECORDER_SUSPECT
from freezeframe.analyzers.contract import Evidence, Finding, Ground, Says, Witness
from freezeframe.analyzers.evidence import amount
from freezeframe.analyzers.streams import EventLog, Packet, Stream
from freezeframe.analyzers.view import ON_ITS_WAY, CaptureView, ahead_of_counts
from freezeframe.analyzers.witness.registers import Register
from freezeframe.capture.card.roles import EVENT_LOG
from freezeframe.capture.folder import DeviceCapture
from freezeframe.capture.registers.layouts import DOMAIN_NAMES, Kind

_LATE_CYCLES = (
    192,
    32,
)  # of the two clocks, from the last record of the memories to the freeze; 8 are usual
_SAME_CYCLES = 8
_CHAINED_CYCLES = 14  # a record dates the next one by its step up to so many
_CHECKS = ("bad-header", "bad-payload", "bad-length")
_CHECKED_PS = 1_500_000  # before a cause: its check was of a packet that crossed then
_LEAST_PACKET = 3
_BEHIND = 2
_AHEAD = 8  # packets that have their number and are not yet recorded
_SEQUENCES = 1 << 16
_BUS = DOMAIN_NAMES[0]
_CREDIT_FREED = 16
_ONE_CREDIT = 768  # words that one credit frees at most
_LATE = 4  # underflows between the end of the log and the moment its register is taken
_LAST = 3  # bus cycles from the log's last record to the freeze, where it was the last to close


@dataclass(frozen=True, slots=True)
class Apart:
    """A register that is not as the other tells. ``right``: what it may be.

    ``witness``: what tells it otherwise; how often each was right is counted apart.
    ``other``: a record of a memory that may be wrong instead, in words; then which of the two is not known.
    """

    register: Register
    value: int
    right: tuple[int, ...]
    why: str
    witness: str
    other: str = ""

    @property
    def device(self) -> str:
        """The card."""
        return self.register[0]

    @property
    def mask(self) -> int:
        """What makes it as it should be, as far as that is known."""
        return self.value ^ self.right[0]

    @property
    def label(self) -> str:
        """The register as it is called."""
        return self.register[1].removesuffix("_lo").removesuffix(".lo") + "".join(
            f"[{i}]" for i in self.register[2]
        )

    @property
    def bits(self) -> tuple[int, ...]:
        """The bits of which each alone would make it right."""
        masks = [self.value ^ right for right in self.right]
        return tuple(mask.bit_length() - 1 for mask in masks if mask.bit_count() == 1)


def told_apart(view: CaptureView) -> Iterator[Apart]:
    """Yield the registers of each card that something else contradicts."""
    for device in view.devices:
        if view.value(device.name, "ctl.generation") != 1 or view.looped:
            continue
        log = view.logs.get(device.name)
        yield from _freeze_cycle(view, device)
        yield from _causes(view, device)
        yield from _sequences(view, device)
        if log is not None and len(log) and not log.gaps:
            yield from _underflows(view, device, log)
            yield from _credits(view, device, log)
        yield from _errors(view, device)


def apart_finding(view: CaptureView, apart: Apart) -> Finding:
    """Return the finding on a register that something else contradicts."""
    device, register, indices = apart.register
    text = f"{device}'s {apart.label} is {apart.value}, and {apart.why}. "
    if apart.bits:
        several = " or ".join(str(bit) for bit in apart.bits)
        text += f"Were bit {several} of it another, the two would agree. "
    if apart.other:
        text += f"Or {apart.other} is wrong by as much, and nothing else dates it. "
    text += "What tells it is suspect, not the card."
    row = view.register_row(
        device, register, *indices, expected=apart.right[0] if apart.right else None
    )
    return Finding(
        RECORDER_SUSPECT,
        text,
        device=device,
        evidence=(
            Evidence(
                f"{device}'s {apart.label} is {apart.value}, and {apart.why}.", device, rows=(row,)
            ),
        ),
        ground=Ground.ELIMINATED if apart.other else Ground.COMPARED,
        witnesses=(Witness(Says.FOR, apart.why, name=apart.witness),),
        falsifier="It would be wrong if what else tells it agreed.",
    )


def _freeze_cycle(view: CaptureView, device: DeviceCapture) -> Iterator[Apart]:
    """Yield a card's cycle of the freeze where its memories were closed at another time, or its sampler stopped."""
    frozen = device.registers.value64("frozen.freeze_cycle_")
    low = view.value(device.name, "frozen.freeze_cycle_lo")
    last = None if frozen is None else _closed_cycles(view, device, frozen)
    if frozen is None or low is None or last is None:
        return
    ends, unc, whole = last
    closed = ends[0][0]
    slack = _LATE_CYCLES[0] + unc
    sampled = _sampled(view, device)
    early = frozen < closed - slack
    late = frozen > closed + slack and (
        whole or frozen not in (sampled or range(frozen, frozen + 1))
    )
    if not (early or late):
        return
    # Where nothing but its closing record dates the last memory, another memory or the sampler must say the same.
    sure = (
        _dated_twice(view, device, ends[0][1])
        or (
            len(ends) > 1
            and (ends[0][0] - ends[1][0] <= slack if late else frozen < ends[1][0] - slack)
        )
        or (sampled is not None and frozen not in sampled)
    )
    offs = {bit: abs((frozen ^ 1 << bit) - closed) for bit in range(32)}
    near = min(offs.values())
    right = tuple(low ^ 1 << bit for bit, off in offs.items() if off <= near + _SAME_CYCLES)
    if near <= slack:
        cycles = f"{abs(frozen - closed):,} cycles {'after' if early else 'before'} that"
        yield Apart(
            (device.name, "frozen.freeze_cycle_lo", ()),
            low,
            right,
            f"the last of its memories was closed {cycles}",
            "memory_ends",
            "" if sure else f"the closing record of {device.name}.{ends[0][1]}",
        )


def _closed_cycles(
    view: CaptureView, device: DeviceCapture, frozen: int
) -> tuple[list[tuple[int, str]], int, bool] | None:
    """Return the bus cycles in which a card's memories were closed, the last first, how uncertain, if all are known.

    Memories without a record, and those of a clock whose times are not tied to the card's bus, are left out.
    """
    last = {name: view.last_times.get(f"{device.name}.{name}") for name in device.memories}
    of_bus = [
        (each[0], name)
        for name, each in last.items()
        if each and device.roles.domain_of[name] == _BUS
    ]
    if not of_bus:
        return None
    if any(each is None or each[2] < 0 for each in last.values()):
        return sorted(of_bus, reverse=True), 0, False
    ends = {name: each for name, each in last.items() if each is not None}
    cycle_ps = max(1, view.cycles_ps(device.name, bus=1))
    at = int(view.trace.timebase.times_ps(device.name, _BUS, np.array([frozen]))[0][0])
    closed = [(frozen - round((at - t_ps) / cycle_ps), name) for name, (_, t_ps, _) in ends.items()]
    unc_ps = max(unc for _, _, unc in ends.values()) + view.cycles_ps(
        device.name, link=_LATE_CYCLES[1]
    )
    return sorted(closed, reverse=True), -(-unc_ps // cycle_ps), True


def _dated_twice(view: CaptureView, device: DeviceCapture, memory: str) -> bool:
    """Tell whether the last records of a memory are dated from its closing and from the record of the time before."""
    source, events = f"{device.name}.{memory}", view.trace.events
    times = events["cycle"][(events["source"] == source) & (events["kind"] == Kind.TIME.name)]
    held = view.logs.get(device.name) if memory == EVENT_LOG else view.stream(device.name, memory)
    if len(times) < 2 or held is None:
        return False
    since = held.cycle[held.cycle > int(times.iloc[-2])]
    return len(since) > 0 and int(since[0]) - int(times.iloc[-2]) <= _CHAINED_CYCLES


def _sampled(view: CaptureView, device: DeviceCapture) -> range | None:
    """Return the cycles in which a card can have frozen by its sampler, which took none after; None where not known."""
    newest = device.registers.value64("sampler.last_cycle_")
    period = view.value(device.name, "ctl.sample_period")
    if not newest or not period:
        return None
    return range(newest, newest + period + _LATE_CYCLES[0])


def _after(view: CaptureView, device: DeviceCapture, tap: str) -> int | None:
    """Return how many words crossed a tap after its memory was closed; None where it is not known."""
    counted = view.count(device.name, "words", tap)
    offered = view.value(device.name, "memory.offered", device.roles.memories.index(tap))
    return None if counted is None or offered is None or counted < offered else counted - offered


def _causes(view: CaptureView, device: DeviceCapture) -> Iterator[Apart]:
    """Yield the causes that came although their counter stands at 0, or what they checked was right."""
    latch = view.value(device.name, "ctl.causes") or 0
    for cause in device.found.card.causes:
        said = device.found.card.said.cause.get(cause.name.replace("-", "_"))
        if not latch >> cause.bit & 1 or said is None or not said.means:
            continue
        register = device.name, "ctl.causes", ()
        counter = device.roles.counter(said.means, said.tap or "") or device.roles.counter(
            said.means
        )
        count = view.counter(device.name, counter) if counter else None
        if count == 0 and not _any_bad(view, device):
            why = f"its {counter} is 0: {cause.name} never came"
            yield Apart(register, latch, (latch ^ 1 << cause.bit,), why, "cause_counter")
        elif said.means in (*_CHECKS, "out-of-sequence") and _was_right(view, device, said.means):
            why = f"every packet that crossed when {cause.name} came is right as it was recorded"
            yield Apart(register, latch, (latch ^ 1 << cause.bit,), why, "packets_checked")


def _any_bad(view: CaptureView, device: DeviceCapture) -> bool:
    taps = (view.stream(device.name, tap) for tap in view.roles.rx.taps)
    return any(packet.bad for stream in taps if stream is not None for packet in stream.packets)


def _was_right(view: CaptureView, device: DeviceCapture, means: str) -> bool:
    """Tell whether what the card checks where packets come in passed, of all that crossed just before its cause."""
    cycle = view.cause_cycle(device.name)
    entered = view.stream(device.name, view.roles.rx.entry)
    if (
        cycle is None
        or entered is None
        or _any_bad(view, device)
        or entered.breaks
        or not len(entered)
    ):
        return False
    t_ps, unc_ps = view.trace.timebase.times_ps(device.name, "bus", np.array([cycle]))
    at, unc = int(t_ps[0]), int(unc_ps[0])
    near = _near(entered, at, unc)
    # Some cards check a packet as it leaves the FIFO, where it may be long after it came.
    left = view.stream(device.name, view.roles.rx.exit)
    if left is None or any(p.cut_start or p.cut_end for p in _near(left, at, unc)):
        return False
    if unc < 0 or any(packet.cut_start for packet in near):
        return False
    if not near:  # none crossed, where the memory was recording
        _, last_ps, last_unc_ps = view.last_times.get(entered.source, (0, 0, -1))
        return 0 <= last_unc_ps < last_ps - at - unc and int(entered.t_ps[0]) < at - _CHECKED_PS
    if any(p.cut_end and int(entered.t_ps[p.end - 1]) <= at + unc for p in near):
        return False  # its end is not recorded
    if means == "out-of-sequence":
        return _in_order(entered) and near[0].index > 0
    checked = [
        p for p in near if p.has_tail and int(entered.t_ps[p.end - 1]) <= at + unc + _CHECKED_PS
    ]
    return bool(checked) and not any(packet.bad for packet in checked)


def _near(stream: Stream, at_ps: int, unc_ps: int) -> list[Packet]:
    """Return the packets that crossed a tap shortly before a time."""
    return [
        packet
        for packet in stream.packets
        if int(stream.t_ps[packet.start]) <= at_ps + unc_ps
        and int(stream.t_ps[packet.end - 1]) >= at_ps - unc_ps - _CHECKED_PS
    ]


def _in_order(stream: Stream) -> bool:
    numbers = [packet.seq for packet in stream.packets if packet.has_head]
    return all(
        one is not None and other is not None and (other - one) % _SEQUENCES == 1
        for one, other in pairwise(numbers)
    )


def _follows(number: int, last: int, most: int, counted: int) -> bool:
    """Tell whether a number can come next, by the last header that was recorded and by the packets counted."""
    beside = (number - counted + _BEHIND) % _SEQUENCES <= _AHEAD + _BEHIND
    return (number - last) % _SEQUENCES <= most and beside


def _errors(view: CaptureView, device: DeviceCapture) -> Iterator[Apart]:
    """Yield the counts of damaged packets although none is recorded, and the cause that would have come did not."""
    after = _after(view, device, view.roles.rx.entry)
    mask = view.value(device.name, "ctl.cause_mask")
    entered = view.stream(device.name, view.roles.rx.entry)
    if after is None or mask is None or entered is None or _any_bad(view, device):
        return
    if view.count(device.name, "overflow", view.roles.rx.entry) != 0:
        return  # what found the FIFO full is cut, and not recorded
    bits = {cause.name: cause.bit for cause in device.found.card.causes}
    # What came since may hold bad ones, and so may the packet whose end is not recorded.
    unseen = -(-after // _LEAST_PACKET) + any(
        not packet.has_tail for packet in entered.packets[-1:]
    )
    for means in _CHECKS:
        names = view.roles.causes(means)
        counter = view.roles.counter(means) or view.roles.counter(means, view.roles.rx.entry)
        count = view.counter(device.name, counter) if counter else None
        if not count or not names or set(names) & set(view.causes(device.name)):
            continue
        if all(mask >> bits[name] & 1 for name in names) and count > unseen:
            register = device.name, f"frozen_counters.{counter}.lo", ()
            why = f"no packet that was recorded is damaged, and {' or '.join(names)} did not come"
            yield Apart(register, count, (0,), why, "packets_recorded")


def _sequences(view: CaptureView, device: DeviceCapture) -> Iterator[Apart]:
    """Yield the numbers that come next and do not follow from the last header that was recorded."""
    for way, register in (
        (view.roles.tx, "frozen.next_seq_out"),
        (view.roles.rx, "frozen.next_seq_in"),
    ):
        stream, after = view.stream(device.name, way.entry), _after(view, device, way.entry)
        value = view.value(device.name, register)
        if (
            stream is None
            or after is None
            or value is None
            or stream.breaks
            or not _in_order(stream)
        ):
            continue
        if view.count(device.name, "overflow", way.entry) != 0:
            continue  # a word that found its FIFO full was counted by its number, and not recorded
        if after >= _LEAST_PACKET and not _numbers_go_on(view, device, way is view.roles.tx):
            continue  # a packet that was not recorded may have had any number
        heads = [packet for packet in stream.packets if packet.header_ok]
        if not heads or any(packet.header_ok is False for packet in stream.packets):
            continue
        last, most = heads[-1].seq or 0, after // _LEAST_PACKET + _AHEAD
        passed = view.count(device.name, "packets", way.entry)
        if passed is None or (passed - last) % _SEQUENCES > most:
            continue  # the header itself has another number than it should, or the link came up again
        right = tuple(n for bit in range(16) if _follows(n := value ^ 1 << bit, last, most, passed))
        if right and not _follows(value, last, most, passed):
            crossed = amount(after, "word")
            why = f"the last header that {stream.source} recorded has {last}, and {crossed} crossed after it closed"
            yield Apart((device.name, register, ()), value, right, why, "last_header")


def _numbers_go_on(view: CaptureView, device: DeviceCapture, sending: bool) -> bool:
    """Tell whether the other card's count of the same packets and its next number say that none was left out."""
    peer = view.device(view.peer(device.name) or "")
    ahead = (None, None) if peer is None else ahead_of_counts(peer)
    return ahead[1] in (-1, 0, 1) if sending else ahead[0] in ON_ITS_WAY


def _whole(view: CaptureView, device: DeviceCapture) -> bool:
    """Tell whether a card's log holds every event since it was armed."""
    number = device.roles.memories.index(EVENT_LOG)
    lost = view.value(device.name, "memory.lost", number)
    return not device.memories[EVENT_LOG].wrapped and lost == 0


def _underflows(view: CaptureView, device: DeviceCapture, log: EventLog) -> Iterator[Apart]:
    if not _whole(view, device) or not log.recorded(Kind.LINK):
        return
    since_ps = view.since_ps.get(device.name, -(1 << 62))  # a link that came up counts anew, or not
    for name, code in (("underflows", "underflow"), ("overflows", "overflow")):
        apart: list[Apart] = []
        for lane in range(view.roles.lanes):
            value = view.value(device.name, f"frozen.lane.{name}", lane)
            at = log.select("LINK", code)
            times_ps = log.t_ps[at][log.value[at] == lane]
            seen = len(times_ps)
            if value is None or (times_ps < since_ps).any() or 0 <= value - seen <= _LATE:
                continue
            counts = range(seen, seen + _LATE + 1)  # behind the end of the log there may be some
            right = tuple(n for n in counts if (value ^ n).bit_count() == 1)
            why = f"its event log, which holds everything since the arm, has {seen} {name} of lane {lane}"
            register = (device.name, f"frozen.lane.{name}", (lane,))
            apart.append(Apart(register, value, right, why, "lane_events"))
        # One upset is of one lane: where several are apart, the link went on after the log had closed.
        if len(apart) == 1 and apart[0].right:
            yield apart[0]


def _closed_last(view: CaptureView, device: DeviceCapture, log: EventLog) -> bool:
    frozen = device.registers.value64("frozen.freeze_cycle_")
    last = view.last_times.get(log.source)
    return frozen is not None and last is not None and 0 <= frozen - last[0] <= _LAST


def _credits(view: CaptureView, device: DeviceCapture, log: EventLog) -> Iterator[Apart]:
    """Yield the counts of credit that are not as the last credit of their flow told."""
    if not log.recorded(Kind.CREDIT) or not _closed_last(view, device, log):
        return
    mask = (1 << device.identity.flows_credit_w) - 1
    for flow in range(device.identity.flows_count):
        for code, name in (("sent", "reported"), ("taken", "credited")):
            at = log.select("CREDIT", code, flow=flow)
            value = view.value(device.name, f"frozen_flow.{name}", flow)
            if not len(at) or value is None:
                continue
            told = int(log.value[at[-1]]) >> _CREDIT_FREED & mask
            more = (
                value - told & mask
            )  # in the cycles behind the log's end there may have been one more
            if more > _ONE_CREDIT and (value ^ told).bit_count() == 1:
                why = f"the last credit of flow {flow} that was {code}, as its event log has it, tells {told}"
                register = (device.name, f"frozen_flow.{name}", (flow,))
                yield Apart(register, value, (told,), why, "last_credit")
