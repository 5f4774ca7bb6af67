"""What holds on one card: it is provoked in every way it allows, and what the diagnosis takes for granted is looked at.

Source: docs/qualify.md.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from freezeframe.analyzers.bringup import checks
from freezeframe.analyzers.bringup.crystals import SnapshotClock, rates_by_master, watch
from freezeframe.analyzers.bringup.evidence import Evidence
from freezeframe.analyzers.bringup.failure import Failure
from freezeframe.analyzers.bringup.recording import under_traffic
from freezeframe.analyzers.bringup.takes import CHECKS, Bench, Take, as_found
from freezeframe.capture.folder.history import act
from freezeframe.capture.qualification import Check, ClockRate, Qualification, QualifiedDevice
from freezeframe.capture.registers.access import Device

_CLEAN = 4  # recordings of the pair, held
_RUNNING = 3  # of which the level is looked at while words move

Tell = Callable[[str], None]


def qualify(
    of_targets: Sequence[Sequence[Device]],
    *,
    seconds: float,
    discard: bool = False,
    tell: Tell = lambda line: None,
) -> Qualification:
    """Measure what holds on the cards of a target, or of two whose cards are linked.

    They are left as they were found, and armed; but the recording of a failure stands in them.

    Args:
        seconds: how long the clocks are watched.
        tell: called with what is being done.
    Raises:
        Failure: a card is not in order, or does not record; the message says what was seen,
            and `Failure.standing` what stands in the cards.
        RecorderStateError: a frozen recording would be lost that this host has not kept; nothing was written. Or
            another program armed a card meanwhile; what it recorded stands.
        TargetError: a target does not answer.
    """
    arms = Evidence(of_targets, by="qualify", discard=discard)
    arms.arm()  # what stands in the cards is given up before anything else is set
    devices = [device for mine in of_targets for device in mine]
    with as_found(devices), under_traffic(devices, arms, loop=len(devices) == 1):
        return _Measuring(devices, arms, tell).all(seconds)


class _Measuring:
    def __init__(self, devices: Sequence[Device], arms: Evidence, tell: Tell) -> None:
        self.devices = devices
        self.bench = Bench(devices, arms)
        self.tell = tell
        self.not_measured: list[str] = []

    def all(self, seconds: float) -> Qualification:
        clean = list(self._clean())
        bits = list(checks.bits(clean))
        if all(check.holds for check in bits) and (
            wrong := next(filter(None, (t.wrong for t in clean)), "")
        ):
            raise Failure(f"a card is not in order: {wrong}")
        found = [*checks.agreement(clean), *bits, *checks.pointers(clean), *checks.counts(clean)]
        stopped = list(self._stopped())
        found += [*checks.levels([*clean, *stopped]), *checks.lateness(list(self._running()))]
        found += [*self._checkers(), *checks.laws(clean)]
        clocks = list(self._clocks(seconds))
        folder = clean[0].folder
        devices = (
            QualifiedDevice.of(d.name, d.found.card.hash, d.identity.to_json())
            for d in folder.devices
        )
        return Qualification(
            act("qualified"), str(folder.manifest["source"]), tuple(devices), tuple(clocks), tuple(found),
            tuple(self.not_measured),
        )  # fmt: skip

    def _clean(self) -> Iterator[Take]:
        for number in range(_CLEAN):
            self.tell(f"recording {number + 1} of {_CLEAN} under pattern traffic")
            yield self.bench.clean()

    def _stopped(self) -> Iterator[Take]:
        for device in self.devices:
            self.tell(f"{device.name}: receive DMA stopped until its FIFO takes no more")
            yield self.bench.stopped(device)

    def _running(self) -> Iterator[Take]:
        for number in range(_RUNNING):
            self.tell(f"recording {number + 1} of {_RUNNING} while the cards run on")
            yield self.bench.take(held=False)

    def _checkers(self) -> Iterator[Check]:
        self.bench.take()  # from here on the cards are held, so that counts go on from freeze to freeze
        for place, receiver in enumerate(self.devices):
            sender = self.devices[1 - place] if len(self.devices) > 1 else receiver
            for check in CHECKS:
                if not (receiver.roles.counter(check) or receiver.roles.cause(check)):
                    self.not_measured.append(f"{receiver.name}: the card does not count {check}")
                    continue
                self.tell(f"{receiver.name}: one packet with {check}")
                taken = self.bench.spoiled(sender, receiver, check)
                _nothing_else(taken, place, check)
                yield from checks.checker(taken, taken.folder.devices[place].name, check)

    def _clocks(self, seconds: float) -> Iterator[ClockRate]:
        clocks = [SnapshotClock(device) for device in self.devices]
        taken = self.bench.watched(lambda: watch(clocks, seconds, self.tell))
        for clock, device in zip(clocks, taken.folder.devices, strict=True):
            rate, why = clock.rate(device.name)
            if rate is not None:
                yield rate
            self.not_measured += [why] if why else []
        rates, why_not = rates_by_master(taken.folder)
        yield from rates
        self.not_measured += why_not


def _nothing_else(taken: Take, place: int, check: str) -> None:
    """Raise where a card to which nothing wrong was sent froze by itself: then the other says nothing of its own."""
    view = taken.facts.view
    for number, device in enumerate(taken.folder.devices):
        own = {*view.causes(device.name)} - {"host", view.roles.card.peer_cause}
        if number != place and own:
            raise Failure(
                f"a card is not in order: {device.name} froze for {', '.join(sorted(own))} while a packet with {check} "
                f"went to {taken.folder.devices[place].name} alone: pull and explain that first"
            )
