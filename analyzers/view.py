"""The view of a capture that analyses read: word streams by tap, events, frozen registers.

A tap that did not record every kind of word is left out: without TAIL or BODY its packets cannot be determined
from damaged ones, and without HEAD not from each other. A view holds the devices that were asked for and
nothing of the others, so that what is said of one end rests on that end alone.

A change of the wiring brings a link up again while the recorder goes on. What was recorded before is of another link
(its packets came from elsewhere, its credits counted from another zero) and is left out.

Source: docs/formats.md section 3, "Loop-back": sequence numbers begin from 0; section 4, LINK trained.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from freezeframe.analyzers.contract import Row
from freezeframe.analyzers.streams import (
    WHOLE_PACKETS,
    EventLog,
    Stream,
    event_log_of,
    missing_kinds,
    streams_of,
)
from freezeframe.capture.card.roles import EVENT_LOG, Roles, Way
from freezeframe.capture.errors import InputError
from freezeframe.capture.folder import CaptureFolder, DeviceCapture, looped_back, peers_of
from freezeframe.capture.registers.layouts import DOMAIN_NAMES, Kind, LinkCode, PacketFlag
from freezeframe.capture.time_text import format_ps
from freezeframe.capture.timebase import PS_PER_S
from freezeframe.decoders.trace.decode import Trace, decode_capture

if TYPE_CHECKING:
    from freezeframe.capture.qualification import Qualification  # few captures are read with one

_WHEN = ("cycle", "t_ps", "t_unc_ps")
_FLOW_CONTROL = (Kind.CREDIT, Kind.PRESSURE, Kind.STATE)


class CaptureView:
    """The devices of a capture that may be looked at; what is costly is made when it is first asked for.

    Raises (from its attributes): what decoding a capture raises.
    """

    def __init__(
        self,
        folder: CaptureFolder,
        devices: Sequence[str] | None = None,
        trace: Trace | None = None,
        qualified: Qualification | None = None,
    ) -> None:
        """Take a capture.

        Args:
            devices: names of the devices to look at; None for all.
            trace: these devices, where they are decoded already.
            qualified: what was measured of these cards; see `freezeframe.analyzers.witness.qualified`.
        Raises:
            InputError: the capture has no such device, or none was named.
        """
        known = [device.name for device in folder.devices]
        for name in known if devices is None else devices:
            if name not in known:
                raise InputError(
                    f"{folder.path}: no device {name!r}; the capture holds {', '.join(known)}"
                )
        if devices is not None and not devices:
            raise InputError(
                f"{folder.path}: no device was named; the capture holds {', '.join(known)}"
            )
        self.folder = folder if qualified is None else with_crystals(folder, qualified)
        self.qualified = qualified
        self.chosen = None if devices is None else tuple(devices)
        self.devices: tuple[DeviceCapture, ...] = tuple(
            device for device in folder.devices if devices is None or device.name in devices
        )
        self._by_name = {device.name: device for device in self.devices}
        if trace is not None:
            self.trace = trace

    def with_frozen(self, devices: list[DeviceCapture]) -> CaptureView:
        """Return the view with other frozen registers in its devices: what was recorded, and decoded, is the same."""
        folder = CaptureFolder(self.folder.path, self.folder.manifest, devices)
        other = CaptureView(folder, self.chosen, self.trace)
        other.qualified = self.qualified
        other.streams, other.logs = self.streams, self.logs
        return other

    @cached_property
    def trace(self) -> Trace:
        """The decoded tables and their time base."""
        return decode_capture(self.folder, self.chosen)

    @cached_property
    def peers(self) -> dict[str, str]:
        """The other end of each device's link, where it is known."""
        return peers_of(self.folder.devices)

    @cached_property
    def looped(self) -> bool:
        """Every device heard its own link."""
        return looped_back(self.folder.devices)

    @cached_property
    def since_ps(self) -> dict[str, int]:
        """When a device's link came up again within its recording; what was before is left out."""
        return came_up_ps(self.trace, self.devices)

    @cached_property
    def _kinds(self) -> dict[tuple[str, str], int]:
        """The kinds of record that each memory of a device took, one bit each; 0 where not known."""
        return {
            (device.name, memory): device.registers.value("ctl.kinds", number) or 0
            for device in self.devices
            for number, memory in enumerate(device.roles.memories)
        }

    @cached_property
    def streams(self) -> dict[tuple[str, str], Stream]:
        """The words of each tap that recorded every kind of word, by device and tap."""
        streams = streams_of(self.trace, self.devices, self._kinds, self.since_ps)
        return {at: stream for at, stream in streams.items() if not self.unsound("bits", *at)}

    def unsound(self, what: str, device: str, part: str = "") -> str:
        """Return why something does not hold on this card, by its qualification; empty where it does or was not asked.

        Args:
            what: of `freezeframe.capture.qualification.CHECKS`; part: of the device, any where it is empty.
        """
        for check in self.qualified.failed if self.qualified is not None else ():
            if (check.what, check.device) == (what, device) and part in ("", check.part):
                return f"{check.text}, by {self.qualified.said if self.qualified else ''}"
        return ""

    @cached_property
    def logs(self) -> dict[str, EventLog]:
        """The event log of each device."""
        return {
            device.name: event_log_of(
                self.trace.events,
                device,
                self._kinds[device.name, EVENT_LOG],
                self.since_ps.get(device.name),
            )
            for device in self.devices
        }

    @cached_property
    def last_times(self) -> dict[str, tuple[int, int, int]]:
        """The last record of the time in each memory: cycle, t_ps and t_uncertainty_ps (-1: not known), by source."""
        events = self.trace.events
        times = events.loc[(events["kind"] == Kind.TIME.name).to_numpy(), ["source", *_WHEN]]
        last = times.drop_duplicates("source", keep="last")
        return {
            str(source): (int(cycle), int(t_ps), int(unc_ps))
            for source, cycle, t_ps, unc_ps in last.itertuples(index=False)
        }

    @cached_property
    def switched_off(self) -> tuple[str, ...]:
        """What was not recorded because its kind was switched off, a sentence each."""
        unsound = (
            f"{why}: its packets are not compared and not checked"
            for device in self.devices
            for tap in device.roles.taps
            if (why := self.unsound("bits", device.name, tap))
        )
        return (*_switched_off(self.devices, self._kinds), *unsound)

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(device.name for device in self.devices)

    @cached_property
    def roles(self) -> Roles:
        """The parts of the cards by what they do.

        Raises:
            InputError: the devices are of cards that call them otherwise.
        """
        cards = {device.found.card.hash: device for device in self.devices}
        if len(cards) > 1:
            of = ", ".join(
                f"{device.name} is a {device.found.card.name}" for device in cards.values()
            )
            raise InputError(
                f"{self.folder.path}: holds devices of different cards ({of}); look at one with --device"
            )
        return self.devices[0].roles

    def device(self, name: str) -> DeviceCapture | None:
        """Return a device, or None when the view does not hold it."""
        return self._by_name.get(name)

    def stream(self, device: str, tap: str) -> Stream | None:
        """Return the stream of a tap; None when it was not recorded or may not be looked at."""
        return self.streams.get((device, tap))

    def first_sent(self, device: str) -> Stream | None:
        """Return the first tap of the outgoing path that recorded anything; None without one."""
        return self.stream(device, self.roles.tx.entry) or self.stream(device, self.roles.tx.exit)

    def flow_log(self, device: str) -> EventLog | None:
        """Return the event log of a device; None where it did not record all of flow control.

        Without CREDIT, PRESSURE and STATE the absence of an event says nothing of credits and waits.
        """
        log = self.logs.get(device)
        return log if log is not None and log.recorded(*_FLOW_CONTROL) else None

    def cycles_ps(self, device: str, *, bus: int = 0, link: int = 0) -> int:
        """Return how long so many cycles of a device's two clocks last, rounded up; 0 without it."""
        capture = self.device(device)
        if capture is None:
            return 0
        clocks = ((bus, capture.identity.clk_bus), (link, capture.identity.clk_link))
        return sum(-(-cycles * PS_PER_S // clk_hz) for cycles, clk_hz in clocks if clk_hz)

    @property
    def left_out(self) -> tuple[str, ...]:
        """What was recorded of a link that is not the one at the freeze, a sentence for each device."""
        return tuple(
            f"{name}: its link came up anew at {format_ps(t_ps)} (loop-back changed?); what it "
            "recorded before is left out"
            for name, t_ps in self.since_ps.items()
            if any(int(t) < t_ps for t in self._first_ps(name))
        )

    def _first_ps(self, device: str) -> Iterator[int]:
        for table in (self.trace.words, self.trace.events):
            mine = table["source"].astype(str).str.startswith(f"{device}.").to_numpy(bool)
            if mine.any():
                yield int(table["t_ps"].to_numpy()[mine].min())

    @cached_property
    def incomplete(self) -> tuple[str, ...]:
        """The memories of which the pull did not read everything, by name."""
        return tuple(
            f"{device.name}.{name}"
            for device in self.devices
            for name, memory in device.memories.items()
            if memory.gaps
        )

    def value(self, device: str, name: str, *indices: int) -> int | None:
        """Return a frozen register; None when it was not read."""
        capture = self.device(device)
        return None if capture is None else capture.registers.value(name, *indices)

    def register_row(
        self, device: str, name: str, *indices: int, expected: int | None = None
    ) -> Row:
        """Return a frozen register as a row of evidence."""
        label = name + "".join(f"[{i}]" for i in indices)
        value = self.value(device, name, *indices)
        text = ", ".join(self.causes(device)) or "none" if name == "ctl.causes" else ""
        return Row("registers", device, label, value, expected, text=text)

    def register_rows(self, device: str, names: Iterable[str], *indices: int) -> tuple[Row, ...]:
        """Return those of some frozen registers that were read, as rows of evidence."""
        rows = (self.register_row(device, name, *indices) for name in names)
        return tuple(row for row in rows if row.value is not None)

    def counter(self, device: str, name: str) -> int | None:
        """Return a counter as it stood at freeze; None when it was not read, or the card has none (empty)."""
        capture = self.device(device)
        return None if capture is None else capture.counter(name)

    def count(self, device: str, counts: str, tap: str = "") -> int | None:
        """Return the counter of that meaning, at that tap, as it stood at freeze; None as `counter`."""
        return self.counter(device, self.roles.counter(counts, tap))

    def since_closed(self, device: str, tap: str) -> int | None:
        """Return the words that passed a tap after its memory had closed, modulo 2^32; None where it is not known.

        Of a card's first recording: counters go on over re-arms, a memory's begin again.
        """
        crossed = self.count(device, "words", tap)
        offered = self.value(device, "memory.offered", self.roles.memories.index(tap))
        return None if crossed is None or offered is None else (crossed - offered) % (1 << 32)

    def count_row(self, device: str, counts: str, tap: str = "") -> Row:
        """Return the frozen counter of that meaning as a row of evidence."""
        return self.counter_row(device, self.roles.counter(counts, tap))

    def counter_row(self, device: str, name: str) -> Row:
        """Return a frozen counter as a row of evidence."""
        return Row("registers", device, f"frozen_counters.{name}", self.counter(device, name))

    def causes(self, device: str) -> tuple[str, ...]:
        """Return the names of a device's first freeze causes; empty when the register is missing."""
        mask = self.value(device, "ctl.causes") or 0
        capture = self.device(device)
        named = () if capture is None else capture.found.card.causes
        return tuple(cause.name for cause in named if mask >> cause.bit & 1)

    def cause_cycle(self, device: str) -> int | None:
        """Return the bus cycle of a device's first freeze cause; None when it was not read."""
        capture = self.device(device)
        return None if capture is None else capture.registers.value64("ctl.cause_cycle_")

    @cached_property
    def directions(self) -> tuple[tuple[str, str], ...]:
        """Every ``(sender, receiver)`` of which at least one end may be looked at."""
        pairs = []
        for name in self.names:
            peer = self.peers.get(name, "?")
            pairs += [(name, peer), (peer, name)]
        return tuple(sorted(set(pairs)))

    def path(self, sender: str, receiver: str) -> tuple[tuple[str, str], ...]:
        """Return device and tap of all places that a word from ``sender`` to ``receiver`` crosses, in order."""
        return (
            *((sender, tap) for tap in self.roles.tx.taps),
            *((receiver, tap) for tap in self.roles.rx.taps),
        )

    def peer(self, device: str) -> str | None:
        """Return the name of the device at the other end; None where it is not known."""
        return self.peers.get(device)


def end_name(device: str | None) -> str:
    """Return what a text calls an end of a link that may not be in the capture."""
    return "the other end" if device in (None, "?") else str(device)


def with_crystals(folder: CaptureFolder, qualified: Qualification) -> CaptureFolder:
    """Return a capture whose devices know how far their clocks are off, as that was measured."""
    devices = [
        replace(
            device,
            crystals={
                clock: crystal
                for clock in DOMAIN_NAMES
                if (crystal := qualified.crystal(device.name, clock)) is not None
            },
        )
        for device in folder.devices
    ]
    return CaptureFolder(folder.path, folder.manifest, devices, folder.host)


def _switched_off(
    devices: tuple[DeviceCapture, ...], kinds: dict[tuple[str, str], int]
) -> Iterator[str]:
    for device in devices:
        for number, memory in enumerate(device.roles.memories):
            if memory not in device.memories:
                continue
            log = memory == EVENT_LOG
            missing = missing_kinds(
                kinds[device.name, memory], _FLOW_CONTROL if log else WHOLE_PACKETS
            )
            if not missing:
                continue
            how = (
                "its register ctl.kinds was not read, so which kinds it recorded is not known"
                if device.registers.value("ctl.kinds", number) is None
                else f"ctl.kinds[{number}] switched {', '.join(missing)} off"
            )
            effect = (
                "what it does not hold of credits, waits and states proves nothing"
                if log
                else "its packets are not compared and not checked"
            )
            yield f"{device.name}.{memory}: {how}; {effect}"


Int64 = npt.NDArray[np.int64]

_SEQUENCE_NUMBERS = 1 << 16
_MOST_REORDERED = 64
"""A smaller step back is packets that changed places, unless it leads to 0."""

_NEXT_OUT, _NEXT_IN = "frozen.next_seq_out", "frozen.next_seq_in"
"""The register with the next sequence number of a side; its packets are counted where they enter its FIFO."""

# Packets with a number and not yet counted: a read each, and a card may have 16 at once.
ON_ITS_WAY = range(17)
_MOST_DAMAGED = 16
"""Packets that came in and were counted, and whose numbers were not taken: they were damaged."""


def fits_power_up(device: DeviceCapture, peer: DeviceCapture | None = None) -> bool:
    """Return whether a card's link has been up since power-up: sequence numbers and counts of packets agree.

    A packet on its way out has its number before it is counted; one that comes in may be counted first. Where
    packets were damaged, or lost at a full FIFO, incoming numbers are not the count; then the outgoing ones of both
    cards decide, because the two ends of a link come up together. False where a register was not read.
    """
    ahead_out, ahead_in = ahead_of_counts(device)
    if ahead_out not in ON_ITS_WAY:
        return False
    return ahead_in in (-1, 0, 1) or (peer is not None and ahead_of_counts(peer)[0] in ON_ITS_WAY)


def came_up_ps(trace: Trace, devices: Sequence[DeviceCapture]) -> dict[str, int]:
    """Return when the link of each card came up again within its recording; without cards of which nothing says so.

    The log says it (LINK trained); where that event was overwritten, sequence numbers that began again do. A lane
    that trained again on a link that stayed up has numbers that go on. The two ends of a link come up together.
    """
    if not any(_may_have_come_up(device) for device in devices):
        return {}
    times_ps = {device.name: _came_up_ps(trace, device) for device in devices}
    return {name: t_ps for name, t_ps in times_ps.items() if t_ps is not None}


def _came_up_ps(trace: Trace, device: DeviceCapture) -> int | None:
    events = trace.events
    mine = (events["source"] == f"{device.name}.{EVENT_LOG}").to_numpy()
    of_link = (events["kind"] == Kind.LINK.name).to_numpy()
    trained = mine & of_link & (events["code"] == LinkCode.TRAINED.name.lower()).to_numpy()
    if trained.any():
        return int(events["t_ps"].to_numpy()[trained].max())
    changes = [
        _change_of_link(trace, f"{device.name}.{tap}", device.registers.value(register))
        for register, way in _next_numbers(device)
        for tap in way.taps
    ]
    firsts = [change.first_ps for change in changes if change.first_ps is not None]
    lasts = [change.last_ps for change in changes if change.last_ps is not None]
    return min(firsts) if firsts else max(lasts, default=None)


def _next_numbers(device: DeviceCapture) -> tuple[tuple[str, Way], tuple[str, Way]]:
    return (_NEXT_OUT, device.roles.tx), (_NEXT_IN, device.roles.rx)


def ahead_of_counts(device: DeviceCapture) -> tuple[int | None, int | None]:
    """Return how far the next number out, and in, is ahead of the count of packets; None where not read."""
    half = _SEQUENCE_NUMBERS // 2
    ahead: list[int | None] = []
    for register, way in _next_numbers(device):
        number = device.registers.value(register)
        packets = device.counter(device.roles.counter("packets", way.entry))
        if number is None or packets is None:
            ahead.append(None)
        else:
            ahead.append((number - packets + half) % _SEQUENCE_NUMBERS - half)
    return ahead[0], ahead[1]


def has_come_up_again(device: DeviceCapture) -> bool:
    """Return whether a card's link came up after packets had crossed: the numbers of both ways are behind the counts.

    One way alone may be a register that is wrong.
    """
    return all(ahead is not None and ahead < -_MOST_DAMAGED for ahead in ahead_of_counts(device))


def _may_have_come_up(device: DeviceCapture) -> bool:
    """Return whether the numbers leave room for a link that came up after packets had crossed."""
    ahead_out, ahead_in = ahead_of_counts(device)
    return ahead_out not in ON_ITS_WAY or ahead_in is None or ahead_in < -_MOST_DAMAGED


class _ChangeOfLink(NamedTuple):
    """What a tap shows of a link that came up again; at most one of the two is known.

    ``first_ps``: when the first packet of the link as it is now crossed the tap; ``last_ps``: when the last
    packet of the link before had crossed it, where none of the link as it is now was recorded.
    """

    first_ps: int | None = None
    last_ps: int | None = None


def _change_of_link(trace: Trace, source: str, next_number: int | None) -> _ChangeOfLink:
    packets = trace.packets
    here = (packets["source"] == source).to_numpy(bool)
    # An injected packet has any number, and the receiver may have taken it.
    injected = here & ((packets["flags"].fillna(0).to_numpy(np.int64) & PacketFlag.INJECTED) != 0)
    good = here & ~injected & packets["header_ok"].fillna(value=False).to_numpy(bool)
    rows = np.flatnonzero(good)
    next_number = None if injected.any() else next_number
    numbers: Int64 = packets["seq"].to_numpy()[rows].astype(np.int64)
    if not len(numbers):
        return _ChangeOfLink()
    half = _SEQUENCE_NUMBERS // 2
    back = -np.diff(numbers) % _SEQUENCE_NUMBERS
    restarts = np.flatnonzero(
        (back > 0) & (back <= half) & ((back > _MOST_REORDERED) | (numbers[1:] == 0))
    )
    if len(restarts):
        return _ChangeOfLink(first_ps=int(packets["t_ps"].to_numpy()[rows[restarts[-1] + 1]]))
    if next_number is not None and (next_number - 1 - int(numbers[-1])) % _SEQUENCE_NUMBERS >= half:
        return _ChangeOfLink(last_ps=int(packets["t_end_ps"].to_numpy()[rows[-1]]))
    return _ChangeOfLink()
