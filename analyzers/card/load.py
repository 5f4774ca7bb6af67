"""Receive livelock: a host that arrivals keep from its work, by the samples that ``[load]`` of a card names.

Between two samples stands a *window*: how many packets came, were delivered, were dropped before the host and behind
its handler, how often it was interrupted, for how long. Windows are put in the order of their load and gathered; that
fewer are delivered under the heaviest load than under a lighter one is seen, never assumed. The name stands only where
the time that the handler took accounts for the fall. A load that does not change shows no fall; where a host without
time to spare drops what its handler has worked on, it may be one, and that is a claim without a name.

Source: END (Indiresan, Mehra, Shin), section 6; Mogul and Ramakrishnan, "Eliminating receive livelock" (1996).
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from math import sqrt
from typing import NamedTuple

from freezeframe.analyzers.card.claims import Claim
from freezeframe.analyzers.card.names import NONE_KNOWN
from freezeframe.analyzers.card.state_order import log_row
from freezeframe.analyzers.card.view import CardView
from freezeframe.analyzers.contract import Row, Says, Witness
from freezeframe.capture.card.sequences import LOAD_EVENTS
from freezeframe.capture.card.tables import Load
from freezeframe.decoders.tap.event_log import EventLog, Logged

LIVELOCK = "receive-livelock"

_LEAST_WINDOWS = 4  # of a gathering
_MOST_GATHERINGS = 8
_HEAVIER = 1.25  # times the load: what is told apart
_FALLS = 0.8  # of the deliveries: a fall is more than this and than chance
_SIGMAS = 5
_BUSY, _NOT_BUSY = 0.95, 0.9  # of the host's time: it had none to spare; it had
_ACCOUNTED = 0.75  # of the fall: what the handler's time has to make up for


class Window(NamedTuple):
    """What was counted between two samples; ``cycles`` of the clock of the events, ``row`` shows its end."""

    t_ps: int
    t_unc_ps: int
    cycles: int
    counts: dict[str, int]
    row: Row


class Gathered(NamedTuple):
    """Windows of like load; rates are of a second, shares of the time."""

    windows: list[Window]
    hz: int

    @property
    def cycles(self) -> int:
        return sum(window.cycles for window in self.windows)

    def count(self, key: str) -> int:
        return sum(window.counts.get(key, 0) for window in self.windows)

    @property
    def inside(self) -> int:
        """By how much the packets inside the card and the host became more."""
        return self.count("came") - sum(map(self.count, ("delivered", "dropped", "wasted")))

    def rate(self, key: str) -> float:
        return self.count(key) * self.hz / self.cycles

    def share(self, key: str) -> float:
        return self.count(key) / self.cycles


def livelocked(card: CardView) -> Iterator[Claim]:
    """Yield a claim for each ``[load]`` whose deliveries fall as more comes."""
    for said in card.recording.card.said.load.values():
        gathered = _gathered(card, said)
        fall = _fall(gathered)
        if fall is not None:
            yield _claim(said, *fall)
        elif gathered and (alone := _alone(said, heavy := _heaviest(gathered))) is not None:
            yield _unseen(heavy, alone)


def load_not_asked(card: CardView) -> Iterator[str]:
    """Yield why a load does not tell whether deliveries fall."""
    for name, said in card.recording.card.said.load.items():
        gathered = _gathered(card, said)
        if len(gathered) < 2:
            yield f"{LIVELOCK}: load {name}: needs {2 * _LEAST_WINDOWS} windows between samples in the log"
        elif _unchanged(gathered) and _alone(said, _heaviest(gathered)) is None:
            yield (
                f"{LIVELOCK}: load {name}: what came was {gathered[0].rate('came'):,.0f} to "
                f"{gathered[-1].rate('came'):,.0f} packets a second; needs a load that changes by a quarter and more"
            )


def load_seen(card: CardView) -> Iterator[str]:
    """Yield a line for each load that was followed."""
    for name, said in card.recording.card.said.load.items():
        gathered = _gathered(card, said)
        if len(gathered) > 1:
            best = max(each.rate("delivered") for each in gathered)
            windows = sum(len(each.windows) for each in gathered)
            least, most = gathered[0].rate("came"), gathered[-1].rate("came")
            yield (
                f"load {name}: {windows} windows, from {least:,.0f} to {most:,.0f} packets a second; delivered at most "
                f"{best:,.0f}, under the heaviest load {gathered[-1].rate('delivered'):,.0f}"
            )


def windows_of(card: CardView, said: Load, log: EventLog) -> list[Window]:
    """Return what was counted between neighbouring samples that the log holds whole."""
    keys = {getattr(said, key): key for key in LOAD_EVENTS if getattr(said, key)}
    events = card.recording.card.said.event
    samples: dict[int, dict[str, tuple[int, Logged]]] = {}
    for number, entry in enumerate(log.entries):
        if entry.kind == "event" and entry.name in keys and entry.cycle >= 0:
            samples.setdefault(entry.cycle, {})[keys[entry.name]] = (number, entry)
    whole = [(cycle, each) for cycle, each in sorted(samples.items()) if len(each) == len(keys)]
    found = []
    for (begin, before), (end, after) in pairwise(whole):
        counts = {
            key: (after[key][1].value - before[key][1].value) % (1 << events[name].bits)
            for name, key in keys.items()
        }
        number, entry = after["delivered"]
        row = log_row(card.device, number, entry)
        since = before["came"][1]
        found.append(Window(since.t_ps, since.t_unc_ps, end - begin, counts, row))
    return found


def _gathered(card: CardView, said: Load) -> list[Gathered]:
    """Return windows in the order of their load, in at most eight parts of as many windows each."""
    windows = windows_of(card, said, card.log)
    clocks = {clock.name: clock for clock in card.recording.card.clocks}
    named = card.recording.card.said.event[said.came].clock
    hz = (clocks[named] if named else card.recording.card.clocks[0]).said.hz
    ordered = sorted(windows, key=lambda window: window.counts["came"] / window.cycles)
    parts = min(_MOST_GATHERINGS, len(ordered) // _LEAST_WINDOWS)
    edges = [len(ordered) * n // parts for n in range(parts + 1)] if parts else []
    return [Gathered(ordered[a:b], hz) for a, b in pairwise(edges)]


def _fall(gathered: list[Gathered]) -> tuple[Gathered, Gathered] | None:
    """Return the gathering of the most deliveries and that of the heaviest load, where fewer are delivered in this one.

    What is still inside counts as delivered under the heavy load, what was inside before as none of the light one.
    """
    if len(gathered) < 2:
        return None
    heavy = gathered[-1]
    lighter = [g for g in gathered[:-1] if heavy.rate("came") >= _HEAVIER * g.rate("came")]
    if not lighter:
        return None
    light = max(lighter, key=lambda each: each.rate("delivered"))
    most = heavy.count("delivered") + max(0, heavy.inside)
    least = light.count("delivered") - max(0, -light.inside)
    if least <= 0:
        return None
    part = heavy.cycles / light.cycles
    expected = least * part
    falls = most < _FALLS * expected and expected - most > _SIGMAS * sqrt(expected * (1 + part))
    return (light, heavy) if falls else None


def _unchanged(gathered: list[Gathered]) -> bool:
    return gathered[-1].rate("came") < _HEAVIER * gathered[0].rate("came")


def _heaviest(gathered: list[Gathered]) -> Gathered:
    """Return the part of the heaviest load; all windows where the load does not change."""
    if not _unchanged(gathered):
        return gathered[-1]
    return Gathered([window for each in gathered for window in each.windows], gathered[-1].hz)


def _alone(said: Load, heavy: Gathered) -> float | None:
    """Return what the host could deliver in a second if no more came, by the times that it takes now.

    None where it is about what it delivers, or what is logged does not tell. With a shorter queue of interrupts its
    handler may take longer for a packet, so this is an estimate, and more than it is never said of it.
    """
    if not (said.handler and said.occupied and said.wasted) or heavy.share("occupied") < _BUSY:
        return None
    wasted, delivered = heavy.count("wasted"), heavy.count("delivered") + max(0, heavy.inside)
    if not wasted or not heavy.count("handler"):
        return None
    handler = heavy.count("handler") / (wasted + delivered)  # cycles of each packet
    after = (heavy.cycles - heavy.count("handler")) / delivered if delivered else 0
    alone = heavy.cycles / (handler + after)
    falls = delivered < _FALLS * alone and alone - delivered > _SIGMAS * sqrt(2 * alone)
    return alone * heavy.hz / heavy.cycles if falls else None


def _unseen(heavy: Gathered, alone: float) -> Claim:
    """Return what a load that does not change leaves open."""
    rows = (heavy.windows[0].row, heavy.windows[-1].row)
    wasted, handled = heavy.count("wasted"), heavy.count("wasted") + heavy.count("delivered")
    witnesses = (
        Witness(
            Says.FOR,
            f"{wasted:,} of {handled:,} packets were dropped after the host had worked on them",
            rows,
        ),
        Witness(Says.FOR, f"the host was occupied for {heavy.share('occupied'):.1%} of the time"),
        Witness(
            Says.FOR,
            f"its handler took {heavy.share('handler'):.1%}; in the times that it takes for a packet, about "
            f"{alone:,.0f} a second could be delivered if no more came",
        ),
        Witness(
            Says.SILENT,
            "the log has no lighter load; a recording of one shows whether more is delivered then",
        ),
    )
    first = min(heavy.windows, key=lambda window: window.t_ps)
    return Claim(
        LIVELOCK,
        f"While {heavy.rate('came'):,.0f} packets a second came, {heavy.rate('delivered'):,.0f} were delivered: "
        f"interrupts took {heavy.share('handler'):.0%} of the host's time, and {wasted:,} packets were "
        "dropped after it had worked on them.",
        (),
        t_ps=first.t_ps,
        t_unc_ps=first.t_unc_ps,
        witnesses=witnesses,
        falsifier="a host with time to spare, no work that is lost, or about as many deliveries as those times allow",
        candidates=(LIVELOCK, NONE_KNOWN),
    )


def _claim(said: Load, light: Gathered, heavy: Gathered) -> Claim:
    text = (
        f"While {heavy.rate('came'):,.0f} packets a second came, {heavy.rate('delivered'):,.0f} were delivered; while "
        f"{light.rate('came'):,.0f} came, {light.rate('delivered'):,.0f} were"
    )
    witnesses = [Witness(Says.FOR, text, (light.windows[0].row, heavy.windows[-1].row))]
    interrupts = _interrupts(said, light, heavy)
    witnesses += [_waste(heavy), interrupts, _no_time(said, heavy)]
    witnesses.append(_accounted(said, light, heavy))
    judged = [witness for witness in witnesses if witness is not interrupts]
    silent = any(witness.says is Says.SILENT for witness in judged)
    more = "."
    if said.handler:
        more = (
            f": interrupts took {heavy.share('handler'):.0%} of the host's time, before {light.share('handler'):.0%}, "
            f"and {heavy.count('wasted'):,} packets were dropped after it had worked on them."
        )
    first = min(heavy.windows, key=lambda window: window.t_ps)
    return Claim(
        LIVELOCK,
        text + more,
        (),
        t_ps=first.t_ps,
        t_unc_ps=first.t_unc_ps,
        witnesses=tuple(witnesses),
        falsifier="as many deliveries under the heavier load, a host with time to spare, or a fall that the time in "
        "its interrupt handler does not account for",
        candidates=(LIVELOCK, NONE_KNOWN) if silent else (),
    )


def _waste(heavy: Gathered) -> Witness:
    wasted, before = heavy.count("wasted"), heavy.count("dropped")
    text = f"{wasted:,} packets were dropped after the host had worked on them, {before:,} before"
    return Witness(Says.FOR if wasted else Says.AGAINST, text, (heavy.windows[-1].row,))


def _interrupts(said: Load, light: Gathered, heavy: Gathered) -> Witness:
    """Tell whether the host was interrupted more; fewer interrupts may each take longer, so they tell nothing."""
    if not said.called:
        return Witness(Says.SILENT, "the card does not log its interrupts")
    now, then = heavy.rate("called"), light.rate("called")
    text = f"{now:,.0f} interrupts a second, before {then:,.0f}"
    return Witness(Says.FOR if now > then else Says.SILENT, text)


def _no_time(said: Load, heavy: Gathered) -> Witness:
    if not said.occupied:
        return Witness(Says.SILENT, "whether the host had time to spare is not logged")
    share = heavy.share("occupied")
    text = f"the host was occupied for {share:.1%} of the time"
    says = Says.FOR if share >= _BUSY else Says.AGAINST if share < _NOT_BUSY else Says.SILENT
    return Witness(says, text)


def _accounted(said: Load, light: Gathered, heavy: Gathered) -> Witness:
    """Tell whether the host delivers about as much in the time that its handler leaves as it did before."""
    if not said.handler:
        return Witness(Says.SILENT, "the time in the interrupt handler is not logged")
    left, then = 1 - heavy.share("handler"), 1 - light.share("handler")
    delivered, before = heavy.rate("delivered"), light.rate("delivered")
    text = f"the handler left {left:.1%} of the host's time, before {then:.1%}"
    if then <= 0 or left >= then:
        return Witness(Says.AGAINST, text)
    unexplained = before * left / then - delivered
    says = Says.FOR if unexplained <= (1 - _ACCOUNTED) * (before - delivered) else Says.AGAINST
    return Witness(
        says,
        f"{text}; at as many deliveries in it {before * left / then:,.0f} a second would be left",
    )
