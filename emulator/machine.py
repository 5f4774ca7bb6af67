"""The emulated pair: two cards, the link between them, one simulation, one fault.

Time is whole picoseconds from power-up. All that is random follows from the seed, so the same seed and the
same accesses give the same bits.
"""

from __future__ import annotations

import random
import secrets
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from freezeframe.capture.code import code
from freezeframe.capture.errors import InputError
from freezeframe.capture.time_text import format_ps
from freezeframe.emulator.beat import Calendar
from freezeframe.emulator.clocks import Clock, Clocks
from freezeframe.emulator.faults.registry import make_fault
from freezeframe.emulator.host_trace import HostLog
from freezeframe.emulator.idle import skip_idle
from freezeframe.emulator.nic import Identity, Nic
from freezeframe.emulator.profile import Profile
from freezeframe.emulator.traffic import make_plan, mean_gap_ps
from freezeframe.emulator.truth import Stop, Truth
from freezeframe.emulator.workloads import workload_plan

if TYPE_CHECKING:
    from freezeframe.emulator.crossbar import Crossbar

# Its engine is compiled: what has a cable does not wait for that.
_crossbar = code("freezeframe.emulator.crossbar:Crossbar")

_POWER_UP_PS = 10_000_000  # by then every domain has left its reset
_RESET_SPREAD_FS = 5_000_000_000  # domains leave reset within 5 us of each other
_LONG_MESSAGES, _SHORT_GAP_PS = 1_000_000, 5_000_000  # above that a run takes many minutes
_PAUSE_PS = 100_000  # to the next event, after a beat: it is worth to look whether nothing moves


class Pair:
    """Cards A and B. `advance` moves time; everything else is done through registers
    (`freezeframe.emulator.target`).
    """

    def __init__(
        self,
        profile: Profile,
        fault: str = "none",
        seed: int = 0,
        truth_path: Path | None = None,
        nonce: int | None = None,
        *,
        apart: bool = False,
        load: str | None = None,
        workload: str | None = None,
        host_logs: Sequence[HostLog] = (),
        through: str | None = None,
    ) -> None:
        """Power up, armed and with the link trained.

        Args:
            seed: decides clocks, traffic, and the fault's time and place.
            truth_path: where the injections are written; None writes nothing.
            nonce: boot nonce of A (B has the next); None draws one, as a power-up does.
            load: of both hosts, as `freezeframe.emulator.traffic.mean_gap_ps` takes it; None: by the seed.
            workload: one of `freezeframe.emulator.workloads.WORKLOADS`, in place of traffic by the seed.
            host_logs: take down what either host does.
            through: profile of the switch between the cards (`freezeframe.emulator.crossbar`); None: a cable.
            apart: each card says that it is the only one of its target, and keeps a time line of its own.
        Raises:
            InputError: unknown fault, load or workload, a fault of a switch without one, a switch that does not fit, or
                the truth file cannot be written.
        """
        if load is not None:
            mean_gap_ps(load)  # refuses what is none
        if workload is not None and (load is not None or fault != "none"):
            raise InputError(
                f"workload {workload!r}: a workload is there to measure; it has no load and no fault"
            )
        self.profile = profile
        self.load = load
        self.workload = workload
        self.seed = seed
        self.fault = make_fault(fault)
        if self.fault.in_switch and through is None:
            raise InputError(
                f"fault {self.fault.name} is of the switch between the cards: name one (--through switch-pair, or "
                "through=switch-pair in a URL)"
            )
        self.truth = Truth(self.fault.name, seed, profile.name, truth_path)
        self.env = Calendar(initial_time=_POWER_UP_PS)
        draw = random.Random(f"{seed}/clocks")
        if nonce is None:
            nonce = secrets.randbits(32)
        self.runs = 0
        self.skips_idle = True  # False simulates each event, with the same outcome
        self._busy_ps = 0  # until then nothing more can be skipped
        self.loopback = False  # every card hears its own link
        self.apart = apart
        self.host_logs = tuple(host_logs) or (HostLog(), HostLog())
        self.crossbar: Crossbar | None = (
            None if through is None else _crossbar(self.env, through, profile)
        )
        self.nics: list[Nic] = []
        for index in (0, 1):
            name = chr(ord("A") + index)
            bus = _clock(f"{name}.bus", profile.clocks_bus_hz, profile, draw)
            link = _clock(f"{name}.link", profile.clocks_link_hz, profile, draw)
            ppb = self.fault.link_ppb(index, link.ppb, seed)
            if ppb != link.ppb:
                link = Clock(link.name, link.hz, ppb, link.phase_fs)
            master = apart or index == 0
            identity = Identity(
                nonce + index & 0xFFFFFFFF, 0 if apart else index, 1 if apart else 2, master
            )
            line = bus if master else self.nics[0].clocks.bus
            self.nics.append(Nic(self, self.env, index, profile, Clocks(bus, link), identity, line))
        a, b = self.nics
        a.freeze.cross, b.freeze.cross = b.freeze.hear, a.freeze.hear
        for nic in self.nics:
            nic.freeze.arm()
            nic.power_up()
        self._start()

    @property
    def now_ps(self) -> int:
        return int(self.env.now)

    @property
    def frozen(self) -> bool:
        """Every card's recorder is frozen."""
        a, b = self.nics  # asked for after every event of the simulation
        return a.freeze.frozen_ps is not None and b.freeze.frozen_ps is not None

    @property
    def stands_still(self) -> bool:
        """Every card is held and its recorder frozen: nothing but time and counter snapshots moves."""
        return self.frozen and all(nic.time.held for nic in self.nics)

    def remarks(self) -> list[str]:
        """Return what makes a run long that could be short, a sentence each."""
        made = [
            f"{fault.name}: {fault.in_idle}, so idle stretches are simulated from its begin on"
            for fault in self.fault.each
            if fault.in_idle
        ]
        wait_ps = max((fault.after_ps or 0 for fault in self.fault.each), default=0)
        gap_ps = min(nic.host.sending.gap_ps for nic in self.nics)
        if wait_ps > _LONG_MESSAGES * max(gap_ps, _SHORT_GAP_PS):
            often = f"every {format_ps(gap_ps)}" if gap_ps else "back to back"
            made.append(
                f"fault {self.fault.name} begins after {format_ps(wait_ps)}: idle stretches are skipped, messages are "
                f"not, and one is posted {often}; --load 100ms is a load for long runs"
            )
        return made

    def advance(self, ps: int) -> None:
        """Let ``ps`` picoseconds pass."""
        if ps > 0:
            env, end_ps = self.env, int(self.env.now) + ps
            while (next_ps := env.peek()) < end_ps:
                if env.beaten and next_ps - env.now >= _PAUSE_PS:
                    self._skip_idle(end_ps)
                env.step()
            env.run(until=end_ps)

    def advance_some(self, ps: int, events: int) -> None:
        """Let ``ps`` picoseconds pass, or less: until so many events have happened, or all stands still."""
        env, end_ps = self.env, int(self.env.now) + ps
        for _ in range(events):
            if (next_ps := env.peek()) >= end_ps:
                env.run(until=end_ps)
                return
            if env.beaten and next_ps - env.now >= _PAUSE_PS:
                self._skip_idle(end_ps)
            env.step()
            if self.stands_still:
                return

    def run_until_frozen(self, limit_ps: int) -> bool:
        """Run until every card is frozen, at most ``limit_ps`` more; return whether they are."""
        return self._run(limit_ps, until_evident=False)

    def run_until_evident(self, limit_ps: int) -> bool:
        """Run until every card is frozen, or until a fault that no hardware check finds has had time to show.

        Returns:
            Whether either came within ``limit_ps``. In the second case the host has to freeze.
        """
        return self._run(limit_ps, until_evident=True)

    def _run(self, limit_ps: int, until_evident: bool) -> bool:
        env, end_ps = self.env, int(self.env.now) + limit_ps
        while not self.frozen and (next_ps := env.peek()) <= end_ps:
            evident_ps = self.fault.evident_ps if until_evident else None
            if evident_ps is not None and next_ps > evident_ps:
                self.advance(max(0, evident_ps - self.now_ps))
                return True
            if env.beaten and next_ps - env.now >= _PAUSE_PS:
                self._skip_idle(end_ps if evident_ps is None else min(end_ps, evident_ps))
            env.step()
        if not self.frozen:
            self.advance(end_ps - int(env.now))
        return self.frozen

    def _skip_idle(self, until_ps: int) -> None:
        """Skip what comes before the next event in which anything moves, and before ``until_ps``."""
        env = self.env
        env.beaten = False
        if self.skips_idle and env.now >= self._busy_ps:
            self._busy_ps = skip_idle(env, self.nics, until_ps)

    def released(self) -> None:
        """A frozen card has been armed again. When none is frozen any more, a pair that was held starts again.

        Until then a card that was held stays so. Cards that went on while frozen (no hold) just go on.
        """
        if any(other.freeze.frozen_ps is not None for other in self.nics):
            return
        if any(other.time.held for other in self.nics):
            self._start()

    def rewire(self) -> None:
        """The link's wiring was changed by a register: the pair starts again, a held pair when it is released."""
        wanted = any(nic.config.loopback for nic in self.nics)
        if wanted != self.loopback and not any(nic.time.held for nic in self.nics):
            self._start()

    def froze(self, stop: Stop) -> None:
        """A card's recorder has frozen."""
        self.truth.froze(stop)

    def _start(self) -> None:
        for nic in self.nics if self.runs else ():
            nic.stop()
            nic.time.held = False
        # A card whose peer hears itself is heard by nobody, so it is looped back as well.
        self.loopback = any(nic.config.loopback for nic in self.nics)
        fault, run = self.fault, self.runs
        self.runs += 1
        fault.begin(self.seed, run, self.now_ps, self.truth.add)
        if self.workload is None:
            plan = make_plan(self.profile, self.seed, run, fault.name, self.load)
        else:
            plan = workload_plan(self.profile, self.seed, run, self.workload)
        fault.shape(plan, self.profile)
        for nic, sending, receiving, log in zip(
            self.nics, plan.sending, plan.receiving, self.host_logs, strict=True
        ):
            draw = random.Random(f"{self.seed}/{run}/{nic.name}/card")
            nic.build(fault.hooks(nic), sending, receiving, log, draw)
        self._connect()
        for nic in self.nics:
            nic.start()

    def _connect(self) -> None:
        ports = None if self.crossbar is None else self.crossbar.bring_up(self.fault)
        for nic, peer in zip(self.nics, reversed(self.nics), strict=True):
            if self.loopback:
                nic.connect(nic.rx_link, nic.link)
            elif self.crossbar is None or ports is None:
                nic.connect(peer.rx_link, peer.link)
            else:
                port = ports[nic.index]
                port.wire = nic.rx_link
                nic.connect(port, self.crossbar.clock)


def _clock(name: str, hz: int, profile: Profile, draw: random.Random) -> Clock:
    ppb = profile.clocks_deviation_ppm * 1000
    return Clock(name, hz, draw.randint(-ppb, ppb), draw.randrange(_RESET_SPREAD_FS))
