"""When each device of a capture froze, on the capture's one time base."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from freezeframe.capture.folder import CaptureFolder
from freezeframe.capture.registers.layouts import Domain
from freezeframe.capture.time_text import format_lasted
from freezeframe.decoders.trace.decode import Trace

if TYPE_CHECKING:  # all that is asked of a described card: not of the first picture of a capture
    from freezeframe.analyzers.card.view import CardView


_WAITED_PS = 60 * 10**12


@dataclass(frozen=True, slots=True)
class Freeze:
    """The first cause of one device.

    ``t_unc_ps`` is negative where the relation of its clock to the master is not known.
    """

    device: str
    causes: tuple[str, ...]
    cycle: int
    t_ps: int
    t_unc_ps: int
    peer_cause: str

    @property
    def is_cross(self) -> bool:
        """Whether the other device's freeze is all that froze this one."""
        return self.causes == (self.peer_cause,)


def freezes(capture: CaptureFolder, trace: Trace) -> list[Freeze]:
    """Return the freezes of all devices that have a cause and a known clock, in order of time."""
    found = []
    for device in capture.devices:
        mask = device.registers.value("ctl.causes")
        cycle = device.registers.value64("ctl.cause_cycle_")
        if not mask or cycle is None or (device.name, "bus") not in trace.timebase.clocks:
            continue
        times, uncertain = trace.timebase.times_ps(device.name, "bus", np.array([cycle], np.int64))
        card = device.found.card
        causes = tuple(card.cause_names(mask))
        at = cycle, int(times[0]), int(uncertain[0])
        found.append(Freeze(device.name, causes, *at, card.peer_cause))
    return sorted(found, key=lambda freeze: freeze.t_ps)


def first_freeze(capture: CaptureFolder, trace: Trace) -> Freeze | None:
    """Return the earliest freeze that another device did not cause."""
    found = freezes(capture, trace)
    return next((freeze for freeze in found if not freeze.is_cross), found[0] if found else None)


@dataclass(frozen=True, slots=True)
class SinceArm:
    """How long after the arm of its recording something came, by the nominal rate of the time master.

    Attributes:
        clock: the master's, as ``A.bus``. ppm: how far it may be off its nominal rate.
    """

    t_ps: int
    unc_ps: int
    clock: str
    ppm: int

    @property
    def text(self) -> str:
        return format_lasted(self.t_ps, self.unc_ps)

    @property
    def by(self) -> str:
        """Whose clock says so, and how good it is."""
        return f"by {self.clock} ({self.ppm} ppm)"


def since_arm(capture: CaptureFolder, trace: Trace, t_ps: int) -> SinceArm | None:
    """Return when an instant of the capture's time came after the arm; None where no toggle of the time line tells.

    The master's first toggle after the arm is latched: the arm was less than the period of the toggles before it.
    """
    for (name, _), clock in trace.timebase.clocks.items():
        device = next((d for d in capture.devices if d.name == name), None)
        if clock.relation != "master" or device is None:
            continue
        first = device.registers.value64("pair.first_", Domain.BUS)
        if first is None or not device.registers.field("pair.status", "first_valid", Domain.BUS):
            continue
        period_ps = int((device.identity.sync_period or 0) * clock.ps_per_cycle)
        passed_ps = t_ps + trace.timebase.origin_ps - clock.instant_ps(first) + period_ps // 2
        off_ps = abs(passed_ps) * clock.own_ppm // 10**6 + period_ps // 2
        return SinceArm(passed_ps, off_ps, f"{name}.bus", clock.own_ppm)
    return None


def waited_for(capture: CaptureFolder, trace: Trace, t_ps: int | None) -> SinceArm | None:
    """Return when something came after the arm, where that was a minute or more: one had to wait for it."""
    came = None if t_ps is None else since_arm(capture, trace, t_ps)
    return came if came is not None and came.t_ps >= _WAITED_PS else None


def card_freeze(card: CardView) -> Freeze | None:
    """Return the first cause of a described card; None where it was not read or there was none."""
    recording = card.recording
    if not recording.causes or recording.cause_cycle is None:
        return None
    bus = recording.clocks[0].clock.name
    cycles = np.array([recording.cause_cycle], np.int64)
    t_ps, unc_ps = card.times.times_ps(card.device, bus, cycles)
    at = recording.cause_cycle, int(t_ps[0]), int(unc_ps[0])
    return Freeze(card.device, recording.cause_names, *at, recording.card.peer_cause)
