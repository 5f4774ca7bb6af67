"""The clocks of a card: each device's bus clock against the host's, and every other against the time master's.

A device numbers its counter snapshots, one every 2^k bus cycles. A number that was read between two instants of the
host has begun before the second and its successor begins after the first: bounds that no latency falsifies.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Protocol, runtime_checkable

from freezeframe.capture.clock_relation import Bound, relate
from freezeframe.capture.folder import CaptureFolder
from freezeframe.capture.qualification import HOST, ClockRate
from freezeframe.capture.registers.access import Device
from freezeframe.capture.timebase import DRIFT_PPB_PER_S, PS_PER_S, TimeBase

_MOST_PPM = (
    5_000  # no crystal is that far off; a simulated card's clock runs at another pace altogether
)
_SEQ = 1 << 32
_PPB = 10**9
_FEW = 4
_LEAST_KNOWN_PPB = 1_000_000  # what is known worse is not worth to be told
_LEAST_LOOKS = 100
_LEAST_SNAPSHOTS = 8  # over which a rate is told
_PAUSE_S = 0.0005


@runtime_checkable
class _Simulated(Protocol):
    """A target whose time passes with each access alone."""

    @property
    def now_ps(self) -> int: ...


class SnapshotClock:
    """The bus clock of one device, seen from the host."""

    def __init__(self, device: Device) -> None:
        self.device = device
        self.now_ps = _host_clock(device)
        step = 1 << device.read("ctl.snapshot_log2")
        self._step_ps = step * PS_PER_S // device.identity.clk_bus
        self._last: int | None = None
        self._bounds: list[Bound] = []
        self._numbers: list[int] = []

    def look(self) -> None:
        """Read the number of the last snapshot, between two looks at the host's clock."""
        before_ps = self.now_ps()
        seq = self.device.read("ctl.snapshot_seq")
        after_ps = self.now_ps()
        last = self._last
        number = seq if last is None else last + (seq - last) % _SEQ
        self._last = number
        if not self._numbers or number != self._numbers[-1]:
            self._numbers.append(number)
        self._bounds.append(Bound(number * self._step_ps, after_ps, at_most=True))
        self._bounds.append(Bound((number + 1) * self._step_ps, before_ps, at_most=False))

    def rate(self, device: str) -> tuple[ClockRate | None, str]:
        """Return the rate by the host's clock; or None and why there is none.

        Args:
            device: what the device is called in a capture.
        """
        name = f"{device}.bus"
        if len(self._numbers) < _LEAST_SNAPSHOTS:
            return None, f"{name} by the host's clock: {len(self._numbers)} snapshots are too few"
        own_ps = (self._numbers[-1] - self._numbers[0]) * self._step_ps
        host_ps = self._bounds[-1].reference_ps - self._bounds[0].reference_ps
        slow = own_ps * (10**6 + _MOST_PPM) < (host_ps - 2 * self._step_ps) * 10**6
        fast = own_ps * (10**6 - _MOST_PPM) > (host_ps + 2 * self._step_ps) * 10**6
        if slow or fast:
            return None, (
                f"{name} by the host's clock: it runs at {own_ps / host_ps:.3g} of that: a simulated card, or one "
                f"whose clock is not the {self.device.identity.clk_bus:,} Hz that it states"
            )
        try:
            relation = relate(self._bounds, _MOST_PPM)
        except ValueError as error:
            return None, f"{name} by the host's clock: {error}: was a clock set meanwhile?"
        if relation is None:
            return None, f"{name} by the host's clock: it was not read"
        # The relation gives the host's time for the card's; the card's rate is the inverse of that.
        low, high = (
            _PPB * PS_PER_S // (PS_PER_S + relation.drift_ppt + side * relation.drift_unc_ppt)
            - _PPB
            for side in (1, -1)
        )
        ppb = (low + high) // 2
        if high - ppb > _LEAST_KNOWN_PPB:
            span_s = host_ps / PS_PER_S
            return (
                None,
                f"{name} by the host's clock: {span_s:.3g} s tell no more than ± {(high - ppb) / 1000:.0f} ppm",
            )
        return ClockRate(device, "bus", HOST, ppb, high - ppb + 2), ""


def _host_clock(device: Device) -> Callable[[], int]:
    """Return the clock of the host in ps: of a simulated card it is that of the simulation."""
    target = device.target
    if isinstance(target, _Simulated):
        return lambda: target.now_ps
    return lambda: 1000 * time.monotonic_ns()


def pause(device: Device, seconds: float) -> None:
    """Let a card go on for a while; a simulated one goes on when it is looked at, and only then."""
    if not isinstance(device.target, _Simulated):
        time.sleep(seconds)


def watch(clocks: Sequence[SnapshotClock], seconds: float, tell: Callable[[str], None]) -> None:
    """Look at the snapshots of all devices for so long, and a few times at least."""
    begin_s, shown, looks = time.monotonic(), -1, 0
    while (gone_s := time.monotonic() - begin_s) < seconds or looks < _LEAST_LOOKS:
        looks += 1
        for clock in clocks:
            clock.look()
        if int(gone_s) != shown:
            shown = int(gone_s)
            tell(f"clocks watched for {shown} of {seconds:g} s")
        pause(clocks[0].device, _PAUSE_S)


def rates_by_master(folder: CaptureFolder) -> tuple[list[ClockRate], list[str]]:
    """Return the rate of every clock by that of its time master, and why others have none."""
    base = TimeBase.from_folder(folder)
    target = {device.name: device.target for device in folder.devices}
    masters = {d.target: d.name for d in folder.devices if d.identity.devices_time_master}
    rates, why = [], []
    for (device, domain), clock in base.clocks.items():
        if clock.relation == "master":
            continue
        if clock.relation != "two pairs" or clock.pairs is None or target[device] not in masters:
            why.append(
                f"{device}.{domain} by the time master: its recording holds no two toggles of one time line"
            )
            continue
        cycles = clock.pairs[1] - clock.pairs[0]
        # Either end is within half a cycle of its middle, and the clock may have changed its rate on the way.
        unc = _PPB // max(1, cycles - 1) + cycles * DRIFT_PPB_PER_S // clock.clk_hz + _FEW
        rates.append(
            ClockRate(device, domain, f"{masters[target[device]]}.bus", clock.rate_ppb, unc)
        )
    return rates, why
