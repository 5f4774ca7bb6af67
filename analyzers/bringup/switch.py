"""The last stage: both cards through a switch, held against what the switch itself counted at its ports.

The cards are stopped at the beginning and at the end, so that nothing is on its way when counts are compared. What one
card put on its link must have come into its port; what came into a port must have left by the other card's, whole and
right, and by no other; and its sender must have been told that it left.

Source: FORTH paper, sections 2.7 and 3.7: the switch is the fourth stage of its bring-up, watched by a monitor that
prints its counts on a serial port.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import NamedTuple

from freezeframe.analyzers.bringup.card import both_ways
from freezeframe.analyzers.bringup.crystals import pause
from freezeframe.analyzers.bringup.evidence import Evidence
from freezeframe.analyzers.bringup.failure import Failure
from freezeframe.analyzers.bringup.recording import let_pass, under_traffic
from freezeframe.capture.console.switch import PortCounts, SwitchMonitor, SwitchReport
from freezeframe.capture.count_text import plural
from freezeframe.capture.recorder.control import freeze, wait_for
from freezeframe.capture.recorder.provoke import write_fields
from freezeframe.capture.registers.access import Device

_MANY_WORDS = (
    1 << 14
)  # of each card, beside those that are looked at: what a switch does now and then shows in its counts
REPORT_S = 60.0  # a monitor prints once in some seconds at most
_CLOSING_S = 30.0
_PAUSE_S = 0.002


@dataclass(frozen=True, slots=True)
class Switch:
    """The switch of a bench.

    Attributes:
        ports: at which port each device stands, in the order of the devices.
    """

    monitor: SwitchMonitor
    ports: tuple[int, ...] = (0, 1)


class Standing(NamedTuple):
    """A bench that stands still: words that each device has put on its link, and the switch's report."""

    sent: tuple[int, ...]
    report: SwitchReport


class PortDelta(NamedTuple):
    """What happened at a device's port between two standstills; ``sent``: words that it put on its link."""

    name: str
    port: int
    sent: int
    counts: PortCounts


def through(devices: Sequence[Device], arms: Evidence, switch: Switch) -> Iterator[str]:
    """Yield what holds at the taps of both cards and at the ports of the switch between them.

    Raises:
        Failure: something does not; where the switch's counts say where, that comes first.
        TargetError: a card does not answer, or the monitor is silent.
    """
    with under_traffic(devices, arms, loop=False), _holding(devices):
        arms.arm()
        before = _standing(devices, switch)
        seen = ""
        try:
            yield from both_ways(devices, arms)
            let_pass(devices, arms, devices[0].roles.tx.exit, _MANY_WORDS)
        except Failure as failure:
            seen = str(failure)
        after = _standing(devices, switch)
        if not after.report.ports:
            raise Failure(
                f"{switch.monitor.name}: the switch's monitor counts no ports (ff_switch_counted), so nothing can "
                f"be held against them{f'. At the cards: {seen}' if seen else ''}"
            )
        if not seen and _passed_by(_deltas(devices, switch, before, after)):
            raise Failure(
                f"the cards hear each other, and nothing of it came through ports {switch.ports[0]} and "
                f"{switch.ports[1]} of the switch that {switch.monitor.name} is of: they are cabled directly, or at "
                "other ports (--ports)"
            )
        lost = misplaced(devices, switch, before, after)
        if lost:
            raise Failure("; ".join(lost) + (f". At the cards: {seen}" if seen else ""))
        if seen:
            raise Failure(
                f"{seen} The switch's counts hold: all that came into a port left by the other card's, and right. "
                "It is in the cards or on the links"
            )
        deltas = _deltas(devices, switch, before, after)
        for delta in deltas:
            c = delta.counts
            yield (
                f"port {delta.port} ({delta.name}): {c.words_in:,} words in, as {delta.name} sent, and "
                f"{c.words_out:,} out; {c.packets_in:,} and {c.packets_out:,} packets, none bad"
            )
        told = sum(delta.counts.told for delta in deltas)
        yield f"nothing stands in the switch, and of all {told:,} words it was told that they left"


@contextmanager
def _holding(devices: Sequence[Device]) -> Iterator[None]:
    """Let cards that freeze stand still, and give back whether they did."""
    with ExitStack() as stack:
        for device in devices:
            stack.callback(
                write_fields, device, "ctl.options", hold=device.field("ctl.options", "hold")
            )
            write_fields(device, "ctl.options", hold=1)
        yield


def _standing(devices: Sequence[Device], switch: Switch) -> Standing:
    """Stop the cards, let what is on its way arrive, and read what was counted."""
    for device in devices:
        freeze(device)
    for device in devices:
        wait_for(device, "frozen", _CLOSING_S)
    first = devices[0]
    report = switch.monitor.report(REPORT_S, lambda: first.read("ctl.state"))
    sent = []
    for device in devices:
        seen = device.read("ctl.snapshot_seq")
        while device.read("ctl.snapshot_seq") == seen:  # the next one is of cards that stand
            pause(device, _PAUSE_S)
        counters, roles = device.counters().values, device.roles
        names = roles.counter("words", roles.tx.exit), roles.counter("credits-sent")
        sent.append(sum(counters[name] for name in names))
    return Standing(tuple(sent), report)


def _deltas(
    devices: Sequence[Device], switch: Switch, before: Standing, after: Standing
) -> list[PortDelta]:
    return [
        PortDelta(
            device.name, port, now - was, after.report.port(port).since(before.report.port(port))
        )
        for device, port, was, now in zip(
            devices, switch.ports, before.sent, after.sent, strict=True
        )
    ]


def _passed_by(deltas: Sequence[PortDelta]) -> bool:
    """Return whether cards sent, and their ports of the switch saw nothing at all."""
    return any(delta.sent for delta in deltas) and not any(
        delta.counts.words_in or delta.counts.words_out for delta in deltas
    )


def misplaced(
    devices: Sequence[Device], switch: Switch, before: Standing, after: Standing
) -> list[str]:
    """Return what does not hold at the ports, a sentence each; what explains another comes before it."""
    deltas = _deltas(devices, switch, before, after)
    found = list(_strangers(switch, before.report, after.report))
    for into, out in (deltas, deltas[::-1]):
        found += _link(into)
        found += _between(into, out, strangers=bool(found))
        found += _credits(into, out, after.report)
    if not found and not all(delta.counts.packets_in for delta in deltas):
        still = next(delta for delta in deltas if not delta.counts.packets_in)
        found.append(f"no packet came into port {still.port}: {still.name} sent none")
    return found


def _strangers(switch: Switch, before: SwitchReport, after: SwitchReport) -> Iterator[str]:
    """Ports where no tested card stands, and that moved words."""
    for port in sorted(set(after.ports) - set(switch.ports)):
        counts = after.port(port).since(before.port(port))
        if counts.words_out and not counts.words_in:
            yield (
                f"the switch delivered to a wrong port: {plural(counts.words_out, 'word')} "
                f"({plural(counts.packets_out, 'packet')}) left by port {port}, where no tested card is"
            )


def _link(into: PortDelta) -> Iterator[str]:
    c = into.counts
    if into.sent and not c.words_in:
        yield (
            f"{into.name} put {into.sent:,} words on its link and none came into port {into.port}: it is not at that "
            "port (--ports), or its link carries nothing"
        )
    elif c.words_in != into.sent:
        yield (
            f"{into.name} put {into.sent:,} words on its link and {c.words_in:,} came into port {into.port}: "
            f"between {into.name}'s transmitter and the switch"
        )
    if c.bad_in:
        yield (
            f"{c.bad_in:,} of {c.packets_in:,} packets and the credits of {into.name} came into port "
            f"{into.port} damaged: in {into.name} or on its link to the switch"
        )


def _between(into: PortDelta, out: PortDelta, *, strangers: bool) -> Iterator[str]:
    """What came in at one port, and what left by the other."""
    i, o = into.counts, out.counts
    where = f"in the switch, between port {into.port} (in, {into.name}) and port {out.port} (out, {out.name})"
    missing, packets = i.words_in - o.words_out, i.packets_in - o.packets_out
    if missing > 0 and packets > 0:
        rest = "" if strangers else _returned(into, out)
        yield (
            f"{plural(packets, 'packet')} of {plural(missing, 'word')} went into port {into.port} and did not leave by "
            f"port {out.port}: {where}{rest}"
        )
    elif missing > 0:
        yield f"{plural(missing, 'word')} of {i.words_in:,} lost {where}"
    elif missing < 0 and packets >= 0:
        yield f"{plural(-missing, 'word')} too many left by port {out.port}: {where}"
    if o.bad_out > i.bad_in and packets <= 0:
        kind = "" if missing else " and as many words left as came: altered"
        yield f"{plural(o.bad_out - i.bad_in, 'packet')} came in right and left damaged{kind} {where}"


def _returned(into: PortDelta, out: PortDelta) -> str:
    """Say so where what is missing left by the port at which it came in."""
    extra = into.counts.words_out - out.counts.words_in
    return (
        f"; {plural(extra, 'word')} more left by port {into.port} than {out.name} sent: delivered to a wrong port"
        if extra > 0
        else ""
    )


def _credits(into: PortDelta, out: PortDelta, report: SwitchReport) -> Iterator[str]:
    """What the node at a port was told of the words that left."""
    stands = sum(words for (port, _), words in report.crosspoints.items() if port == into.port)
    owed = into.counts.words_in - into.counts.told - stands
    if stands:
        yield (
            f"{plural(stands, 'word')} stand in the crosspoints of port {into.port} although nothing moves: port "
            f"{out.port} does not take them"
        )
    if owed > 0:
        yield (
            f"port {into.port} holds the credit of {plural(owed, 'word')}: they left its crosspoints and "
            f"{into.name} was not told"
        )
