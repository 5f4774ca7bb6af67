"""Cycles of any clock domain of a capture as picoseconds of the master, with their uncertainty.

The one place where cycles become time. Integers only: a float64 holds 53 bits, and a day is
8.64e16 ps, 57 bits.

A non-master domain sees each toggle of the time line through two flip-flops, 2 to 3 of its own
cycles late: toggle n, at master cycle ``n * sync_period``, stands at own cycle ``latched - 2.5``,
give or take half a cycle. Two such pairs give offset and rate; between them the error stays at half
a cycle, outside it grows by a cycle for every distance between the pairs. The line through two
pairs holds for clocks that keep their rate; how far they may stray from it is DRIFT_PPB_PER_S.

Arithmetic. Times are counted from an origin near the recording, and cycles from an anchor near the
freeze, both exact Python integers; only the distances are int64: 2^62 ps are 53 days. The anchor
makes the size of a counter that has run for years irrelevant. A distance d of up to 2^52 cycles is
multiplied by a rate (ps per cycle, a fraction) as ``(d >> 26) * (rate << 26) + (d & mask) * rate``,
each rate as an integer part and 35 fractional bits: no product exceeds 2^62, and the fractions cut
off come to less than 2^-8 ps.

Source: docs/formats.md, section 6.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from freezeframe.capture.clock_relation import Relation
from freezeframe.capture.errors import CaptureFormatError
from freezeframe.capture.folder import CaptureFolder, DeviceCapture
from freezeframe.capture.registers.layouts import DOMAIN_NAMES, Domain

PS_PER_S = 10**12

UNKNOWN_PS = -1
"""Uncertainty of a time whose relation to the master is not known."""

RATE_TOLERANCE_PPB = 200_000
"""How far two clocks of 100 ppm each may be apart: the bound where no rate was measured and the card says none."""

DRIFT_PPB_PER_S = 100
"""How fast the rate between two clocks may change: a crystal warming up stays below 0.1 ppm/s."""

_LATE_CYCLES = Fraction(5, 2)  # 2 to 3 cycles through the two flip-flops
_ROUNDING_PS = 2  # the anchor and the distance are each rounded down
_NUMBERS = 1 << 32  # the number of a toggle has 32 bits: it wraps after 49 hours at 100 MHz
_SPLIT = 26
_FRACTION = 35
_FAR_CYCLES = 1 << 52
_FAR_PS = 1 << 62
_MOST_CYCLES = 1 << 61  # 731 years at 100 MHz: a counter above that was not read right
_IMPLAUSIBLE_PPM = 100_000  # beyond it the pairs are wrong, not the clock
_MICRO = 10**6
_PPB = 10**9

Cycles = npt.NDArray[np.int64]


def cycles_to_ps(cycles: Cycles, clk_hz: int) -> Cycles:
    """Return ``cycle * 10**12 // clk_hz`` for every cycle, exact.

    Whole seconds, then microseconds of the rest, then picoseconds of that rest: no product leaves
    int64 as long as the result is in it.

    Args:
        cycles: ``(n,)`` int64, also negative.
        clk_hz: 1 to 2^32 - 1.
    Returns:
        ``(n,)`` int64, picoseconds.
    Raises:
        ValueError: the clock is out of range, or a result would not fit int64.
    """
    _check_clock(clk_hz)
    if cycles.size and max(-int(cycles.min()), int(cycles.max())) >= _FAR_PS * clk_hz // PS_PER_S:
        raise ValueError(
            f"cycles {int(cycles.min())}..{int(cycles.max())} of {clk_hz} Hz span over 53 days; "
            "count them from a cycle near the recording"
        )
    seconds, rest = np.divmod(cycles, clk_hz)
    micros, rest = np.divmod(rest * _MICRO, clk_hz)
    ps: Cycles = seconds * PS_PER_S + micros * _MICRO + rest * _MICRO // clk_hz
    return ps


@dataclass(frozen=True, slots=True)
class DomainClock:
    """How one clock domain relates to the master.

    Attributes:
        relation: "master"; "two pairs" (offset and rate measured); "one pair" (offset measured,
            nominal rate); "none" (own nominal clock counted from the counter's zero).
        clk_hz: nominal clock of the domain.
        ps_per_cycle: of the master's time; nominal unless two pairs stand.
        anchor_cycle, anchor_ps: a cycle, and the master's time of its begin.
        pairs: latched own cycle of the first and last toggle, equal when there is one, or None.
        tolerance_ppb: how far it and the master's clock may be apart, by what their cards say of them.
        own_ppm: how far it may be off its nominal clock.
    """

    device: str
    domain: str
    relation: str
    clk_hz: int
    ps_per_cycle: Fraction
    anchor_cycle: int
    anchor_ps: int
    pairs: tuple[int, int] | None = None
    tolerance_ppb: int = RATE_TOLERANCE_PPB
    own_ppm: int = 100

    @property
    def rate_ppb(self) -> int:
        """How much faster than nominal the domain runs, by the master's clock, in 10^-9."""
        return round((Fraction(PS_PER_S, self.clk_hz) / self.ps_per_cycle - 1) * 10**9)

    def instant_ps(self, cycle: int) -> int:
        """Return the master's time of one cycle, from the zero of the master's counter."""
        distance = cycle - self.anchor_cycle
        if abs(distance) < _reach_cycles(self):
            return self.anchor_ps + int(_elapsed(np.array([distance], np.int64), self)[0])
        return self.anchor_ps + int(distance * self.ps_per_cycle // 1)


class TimeBase:
    """Times of all domains of a capture on one axis."""

    def __init__(
        self,
        clocks: dict[tuple[str, str], DomainClock],
        notes: Sequence[str],
        origin_ps: int = 0,
        relations: Mapping[str, Relation | None] | None = None,
    ) -> None:
        """Hold clocks by (device, domain); use ``from_folder`` or ``from_devices``.

        ``relations`` place the devices of further targets, whose clocks count in a master's time of
        their own; None where nothing relates them.
        """
        self.clocks = clocks
        self.notes = tuple(notes)
        self.origin_ps = origin_ps
        self.relations = dict(relations or {})

    @classmethod
    def from_folder(cls, folder: CaptureFolder) -> TimeBase:
        """Relate all domains of a capture; the origin is the zero of the master's counter."""
        return cls.from_targets(folder.devices, {})

    @classmethod
    def from_targets(
        cls, devices: Sequence[DeviceCapture], relations: Mapping[int, Relation | None]
    ) -> TimeBase:
        """Relate the domains of devices of one or several targets to the first target's master.

        Args:
            relations: how the master of another target stands to that of the first, by the target's
                number; where it is missing or None, times of that target are known among themselves only.
        Raises:
            as `from_devices`.
        """
        targets = dict.fromkeys(device.target for device in devices)
        if len(targets) < 2:
            return cls.from_devices(devices)
        clocks: dict[tuple[str, str], DomainClock] = {}
        notes: list[str] = []
        placed: dict[str, Relation | None] = {}
        reference = min(targets)
        for target in targets:
            mine = [device for device in devices if device.target == target]
            base = cls.from_devices(mine)
            clocks |= base.clocks
            notes += base.notes
            if target != reference:
                placed |= dict.fromkeys((device.name for device in mine), relations.get(target))
        return cls(clocks, notes, relations=placed)

    @classmethod
    def from_devices(cls, devices: Sequence[DeviceCapture]) -> TimeBase:
        """Relate the domains of some devices of a target, with or without the time master.

        Raises:
            CaptureFormatError: a device states a clock of 0 Hz.
            ValueError: no devices.
        """
        if not devices:
            raise ValueError("a time base needs at least one device")
        notes: list[str] = []
        line = _TimeLine.of(devices, notes)
        clocks = {}
        for device in devices:
            for domain in Domain:
                clock = _relate(device, domain, line, notes)
                clocks[device.name, clock.domain] = clock
        return cls(clocks, notes)

    def at_origin(self, origin_ps: int) -> TimeBase:
        """Return the same relations with times counted from ``origin_ps`` of the master's time."""
        return TimeBase(self.clocks, self.notes, origin_ps, self.relations)

    def starting_at(self, records: Iterable[tuple[str, str, int]]) -> TimeBase:
        """Return the same relations with the earliest of some (device, domain, cycle) as origin.

        Without any record the origin stays where it was.
        """
        instants = [self.instant_ps(*record) for record in records]
        return self.at_origin(min(instants)) if instants else self

    def instant_ps(self, device: str, domain: str, cycle: int) -> int:
        """Return the master's time of one cycle, from the zero of the master's counter."""
        own_ps = self.clocks[device, domain].instant_ps(cycle)
        relation = self.relations.get(device)
        return own_ps if relation is None else relation.place(own_ps)

    def times_ps(self, device: str, domain: str, cycles: Cycles) -> tuple[Cycles, Cycles]:
        """Return times from the origin and their uncertainty.

        Args:
            device: name of the device.
            domain: "bus" or "link".
            cycles: ``(n,)`` int64, in any order.
        Returns:
            ``t_ps`` (n,) int64, the begin of each cycle, and ``uncertainty_ps`` (n,) int64: the
            true time lies in ``[t - u, t + u]``, given that the master keeps its nominal clock.
            UNKNOWN_PS where the domain has no relation to the master, or where a time is more than
            53 days from the origin (the time is then the nearest that can be said).
        Raises:
            KeyError: the capture has no such device or domain.
        """
        clock = self.clocks[device, domain]
        cycles = np.asarray(cycles, np.int64)
        near, distance = _distances(cycles, clock)
        relation = self.relations.get(device)
        offset_ps = clock.anchor_ps - (self.origin_ps if relation is None else relation.around_ps)
        clipped_ps = max(-_FAR_PS, min(_FAR_PS - 1, offset_ps))
        t_ps = _elapsed(distance, clock) + clipped_ps
        uncertainty_ps = _uncertainty(distance + clock.anchor_cycle, clock, near)
        if offset_ps != clipped_ps:
            uncertainty_ps[:] = UNKNOWN_PS
        if relation is not None:
            t_ps, more_ps = relation.place_all(t_ps, self.origin_ps)
            known = uncertainty_ps != UNKNOWN_PS
            uncertainty_ps = np.where(known, uncertainty_ps + more_ps, UNKNOWN_PS)
        elif device in self.relations:
            uncertainty_ps = np.full_like(uncertainty_ps, UNKNOWN_PS)
        return t_ps, uncertainty_ps


@dataclass(frozen=True, slots=True)
class _TimeLine:
    """The master's side: its clock, the period of its toggles, the last of them, not wrapped."""

    master: str | None
    clk_hz: int
    period_cycles: int
    last_number: int | None
    ppm: int

    @classmethod
    def of(cls, devices: Sequence[DeviceCapture], notes: list[str]) -> _TimeLine:
        masters = [device for device in devices if device.identity.devices_time_master]
        if len(masters) > 1:
            names = " and ".join(device.name for device in masters)
            notes.append(f"{names} both say they are the time master; {masters[0].name} is taken")
        if not masters:
            first = devices[0]
            notes.append(
                "the time master is not in the capture: its clock is taken to be the nominal bus "
                f"clock of {first.name}, {first.identity.clk_bus} Hz"
            )
            return cls(None, *_clock_and_period(first), None, _ppm(first, Domain.BUS))
        master = masters[0]
        clk_hz, period = _clock_and_period(master)
        cycle = master.registers.value64("pair.last_", Domain.BUS)
        if not master.registers.field("pair.status", "last_valid", Domain.BUS):
            cycle = master.registers.value64("frozen.freeze_cycle_")
        number = None if cycle is None else cycle // period
        return cls(master.name, clk_hz, period, number, _ppm(master, Domain.BUS))

    def toggle_ps(self, number: int) -> Fraction:
        """Return the master's time of a toggle whose number is not wrapped."""
        return Fraction(number * self.period_cycles * PS_PER_S, self.clk_hz)

    def unwrap(self, number: int) -> int:
        """Return the number of a recent toggle with the bits above 32 that the device left out."""
        if self.last_number is None:
            return number
        return number + _NUMBERS * round(Fraction(self.last_number - number, _NUMBERS))


def _ppm(device: DeviceCapture, domain: Domain) -> int:
    """Return how far a clock may be off, by the card's description."""
    return device.roles.card.said.clock[DOMAIN_NAMES[domain]].ppm


def _clock_and_period(device: DeviceCapture) -> tuple[int, int]:
    clk_hz, period = device.identity.clk_bus, device.identity.sync_period
    if not 0 < clk_hz < 1 << 32:
        raise CaptureFormatError(
            f"device {device.name}: states a bus clock of {clk_hz} Hz; time is unknown"
        )
    return clk_hz, period or 4096


def _relate(
    device: DeviceCapture, domain: Domain, line: _TimeLine, notes: list[str]
) -> DomainClock:
    name = DOMAIN_NAMES[domain]
    where = f"{device.name}.{name}"
    clk_hz = device.identity.clk_bus if domain is Domain.BUS else device.identity.clk_link
    if not 0 < clk_hz < 1 << 32:
        raise CaptureFormatError(
            f"{where}: the device states a clock of {clk_hz} Hz; time is unknown"
        )
    nominal = Fraction(PS_PER_S, clk_hz)
    seconds = _cycle_near_freeze(device, clk_hz) // clk_hz
    ppm = _ppm(device, domain)
    clock = DomainClock(
        device.name, name, "none", clk_hz, nominal, seconds * clk_hz, seconds * PS_PER_S,
        tolerance_ppb=1000 * (ppm + line.ppm), own_ppm=ppm,
    )  # fmt: skip
    crystal = device.crystals.get(name)
    if device.name == line.master and domain is Domain.BUS:
        return replace(clock, relation="master")
    first, last = _pair(device, "first", domain), _pair(device, "last", domain)
    known = last or first
    if known is None:
        notes.append(
            f"{where}: saw no toggle of the time line: its times are its own nominal clock from "
            "the counter's zero, and their relation to the other domains is unknown"
        )
        return clock
    number, cycle = line.unwrap(known[0]), known[1]
    rate = None
    if first and last and first != last:
        rate = _measured_rate(first, last, line, clock, where=where, notes=notes)
    if crystal is not None:
        clock = replace(clock, tolerance_ppb=crystal.tolerance_ppb)
    if rate is None:
        taken = "as nominal" if crystal is None else f"as qualified, {crystal.ppb / 1000:+.1f} ppm"
        notes.append(
            f"{where}: saw one usable toggle of the time line: its rate is taken {taken}, "
            f"within {clock.tolerance_ppb // 1000} ppm of the master's"
        )
        if crystal is not None:
            nominal *= Fraction(_PPB, _PPB + crystal.ppb)
    at = line.toggle_ps(number) + _LATE_CYCLES * (rate or nominal)
    return replace(
        clock,
        relation="two pairs" if rate else "one pair",
        ps_per_cycle=rate or nominal,
        anchor_cycle=cycle,
        anchor_ps=int(at // 1),
        pairs=(first[1], cycle) if rate and first else (cycle, cycle),
    )


def _measured_rate(
    first: tuple[int, int],
    last: tuple[int, int],
    line: _TimeLine,
    clock: DomainClock,
    *,
    where: str,
    notes: list[str],
) -> Fraction | None:
    nominal = clock.ps_per_cycle
    cycles = last[1] - first[1]
    toggles = (last[0] - first[0]) % _NUMBERS
    expected = cycles * nominal / line.toggle_ps(1)
    toggles += _NUMBERS * max(0, round((expected - toggles) / _NUMBERS))
    if toggles == 0 or cycles <= 0:
        notes.append(
            f"{where}: its two time pairs contradict each other (toggle {first[0]} at cycle "
            f"{first[1]}, toggle {last[0]} at cycle {last[1]}); only the last is used"
        )
        return None
    rate = line.toggle_ps(toggles) / cycles
    off_ppm = round((nominal / rate - 1) * _MICRO)
    # A span of few toggles cannot tell the rate better than one cycle in all of it.
    if abs(off_ppm) > _IMPLAUSIBLE_PPM:
        notes.append(
            f"{where}: its two time pairs would make it run {off_ppm:+d} ppm off its nominal clock, "
            "which no oscillator does; only the last is used"
        )
        return None
    if abs(off_ppm) > clock.tolerance_ppb // 1000 + 2 * _MICRO // cycles:
        notes.append(f"{where}: runs {off_ppm:+d} ppm off its nominal clock by the time line")
    return rate


def _pair(device: DeviceCapture, which: str, domain: Domain) -> tuple[int, int] | None:
    """Return (number, latched own cycle) of the first or last toggle, or None where none stands."""
    if not device.registers.field("pair.status", f"{which}_valid", domain):
        return None
    number = device.registers.value(f"pair.{which}_number", domain)
    cycle = device.registers.value64(f"pair.{which}_", domain)
    if number is None or cycle is None or cycle >= _MOST_CYCLES:
        return None
    return number, cycle


def _cycle_near_freeze(device: DeviceCapture, clk_hz: int) -> int:
    """Return about where this domain's counter stood at freeze; 0 when the capture does not say."""
    cycle = device.registers.value64("frozen.freeze_cycle_") or 0
    if cycle >= _MOST_CYCLES:
        return 0
    return cycle * clk_hz // (device.identity.clk_bus or clk_hz)


def _check_clock(clk_hz: int) -> None:
    if not 0 < clk_hz < 1 << 32:
        raise ValueError(f"a clock of {clk_hz} Hz is outside 1..{(1 << 32) - 1} Hz")


def _reach_cycles(clock: DomainClock) -> int:
    """Return how far from its anchor a cycle of this domain can be dated in int64."""
    return min(_FAR_CYCLES, int(_FAR_PS // clock.ps_per_cycle)) - 1


def _distances(cycles: Cycles, clock: DomainClock) -> tuple[npt.NDArray[np.bool_], Cycles]:
    """Return where a cycle is within reach of the anchor, and the distance, cut there."""
    reach, anchor = _reach_cycles(clock), clock.anchor_cycle
    cut = np.clip(cycles, anchor - reach, anchor + reach)
    return cut == cycles, cut - np.int64(anchor)


def _elapsed(distance: Cycles, clock: DomainClock) -> Cycles:
    """Return the picoseconds of distances within reach."""
    if clock.pairs is None:
        return cycles_to_ps(distance, clock.clk_hz)
    return _scale(distance, clock.ps_per_cycle)


def _scale(distance: Cycles, rate: Fraction) -> Cycles:
    """Return ``distance * rate`` rounded down, at most 2^-8 below (see the module's docstring)."""
    whole_low, part_low = _fixed(rate)
    whole_high, part_high = _fixed(rate * (1 << _SPLIT))
    high, low = distance >> _SPLIT, distance & ((1 << _SPLIT) - 1)
    part = high * part_high + low * part_low >> _FRACTION
    ps: Cycles = high * whole_high + low * whole_low + part
    return ps


def _fixed(rate: Fraction) -> tuple[int, int]:
    whole = rate.numerator // rate.denominator
    return whole, int((rate - whole) * (1 << _FRACTION) // 1)


def _uncertainty(cycles: Cycles, clock: DomainClock, near: npt.NDArray[np.bool_]) -> Cycles:
    if clock.pairs is None:
        value = 0 if clock.relation == "master" else UNKNOWN_PS
        return np.where(near, np.int64(value), np.int64(UNKNOWN_PS))
    first, last = clock.pairs
    half_cycle_ps = int(-(-clock.ps_per_cycle // 2))
    to_first, to_last = np.abs(cycles - first), np.abs(cycles - last)
    nearest_ps = _scale(np.minimum(to_first, to_last), clock.ps_per_cycle) + 1
    span = last - first
    if span:
        outside = np.where((cycles < first) | (cycles > last), nearest_ps, 0)
        lever_ps = outside // span + 1
        span_s = Fraction(span, clock.clk_hz)
        rate_ppb = min(clock.tolerance_ppb, int(span_s * DRIFT_PPB_PER_S) + 1)
    else:
        lever_ps = np.zeros_like(cycles)
        rate_ppb = clock.tolerance_ppb
    strayed_ps = (nearest_ps // _MICRO + 1) * rate_ppb // 1000
    u_ps: Cycles = half_cycle_ps + _ROUNDING_PS + lever_ps + strayed_ps
    return np.where(near, u_ps, np.int64(UNKNOWN_PS))
