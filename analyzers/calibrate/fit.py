"""The numbers of a profile of stages, fitted to a capture of two cards.

The cards are taken to be alike: samples of both count. What each number is measured from stands beside it.
Source: docs/formats.md section 4 for the events; docs/what-if.md says what is not modelled.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from freezeframe.analyzers.calibrate.arrivals import (
    Arrival,
    Ring,
    arrivals_of,
    count_from,
    ring_of,
    window_ps,
)
from freezeframe.analyzers.calibrate.paths import path_values
from freezeframe.analyzers.calibrate.refusals import (
    CannotSay,
    refuse_few,
    refuse_held,
    refuse_messages,
    refuse_no_bus_events,
    refuse_one_end,
)
from freezeframe.analyzers.calibrate.samples import Value, exact, least_of, mean_of
from freezeframe.analyzers.calibrate.sent import Sent, sent_by
from freezeframe.analyzers.credits.ledger import account_of
from freezeframe.analyzers.streams import EventLog
from freezeframe.analyzers.view import CaptureView
from freezeframe.capture.registers.layouts import STATE_VALUE_NEW_MASK, Kind, MachineState

Int64 = npt.NDArray[np.int64]

_HEADS = 2  # words that enter the FIFO before the first word of data
_NO_LIMIT = 1 << 20  # places of a ring that was never full


@dataclass(frozen=True, slots=True)
class Fit:
    """What a capture says: numbers of the profile, and the messages that came.

    Attributes:
        written: when the last words of messages stood in the receiver's memory, by sender and number, in ps of the
            arrivals; of the few that the taps still hold.
    """

    values: tuple[Value, ...]
    arrivals: tuple[Arrival, ...]
    written: Mapping[tuple[str, int], int]

    def value(self, name: str) -> float:
        """Return a number by its name."""
        return next(value.value for value in self.values if value.name == name)


def fitted(view: CaptureView) -> Fit:
    """Fit a profile to a capture.

    Raises:
        CannotSay: the capture does not hold what that takes; one line says what and why.
    """
    refuse_one_end(view)
    refuse_no_bus_events(view)
    sent = {name: sent_by(view.logs[name]) for name in view.names}
    refuse_messages(view, sent)
    refuse_few(view, sum(count_from(messages, -(1 << 62)) for messages in sent.values()))
    begin_ps = window_ps(view, sent)
    refuse_few(view, sum(count_from(messages, begin_ps) for messages in sent.values()))
    ends = [m.done_ps for messages in sent.values() for m in messages if m.done_ps is not None]
    refuse_held(view, begin_ps, max(ends))
    rings = {name: ring_of(messages) for name, messages in sent.items()}
    values = [*_clocks(view), *_host(view, sent, rings), *_reads(view, sent)]
    paths, written = path_values(view, sent, values)
    values += [*paths, *_rooms(view, sent)]
    arrivals = arrivals_of(view, sent, rings, begin_ps)
    return Fit(
        tuple(values), tuple(arrivals), {key: t_ps - begin_ps for key, t_ps in written.items()}
    )


def _clocks(view: CaptureView) -> list[Value]:
    said = view.devices[0].identity
    return [
        exact("bus_MHz", said.clk_bus / 1e6, "the card's identity"),
        exact("link_MHz", said.clk_link / 1e6, "the card's identity"),
    ]


def _host(
    view: CaptureView, sent: Mapping[str, Sequence[Sent]], rings: Mapping[str, Ring]
) -> list[Value]:
    samples: list[float] = []
    for messages in sent.values():
        together: dict[tuple[int, int], int] = {}
        for m in messages:
            if m.posting is not None and m.posted is not None:
                together[m.posting, m.posted] = together.get((m.posting, m.posted), 0) + 1
        samples += [(end - begin) / count for (begin, end), count in together.items()]
    if not samples:
        raise CannotSay(
            f"{view.folder.path}: no bus events: no DESC posting is logged with its posted, so what a posting "
            "takes is not known; switch DESC on in ctl.kinds before arming"
        )
    full = [ring for ring in rings.values() if ring.places]
    values = [least_of("post_cycles", samples, "DESC posting to posted")]
    places = max((ring.places for ring in full), default=_NO_LIMIT)
    told = "descriptors that waited at most" if full else "it was never full: no limit"
    values.append(exact("ring_descriptors", places, told))
    ns = 1e9 / view.devices[0].identity.clk_bus
    delay = max((ring.delay for ring in full), default=0) * ns
    card_first = any(ring.card_first for ring in full)
    values.append(
        exact(
            "host_ns",
            delay if delay or not card_first else 0.001,
            "a place of the ring to DESC posting",
        )
    )
    return values


def _reads(view: CaptureView, sent: Mapping[str, Sequence[Sent]]) -> list[Value]:
    request: list[float] = []
    split: list[float] = []
    contended: list[float] = []
    completion: list[float] = []
    whole: list[tuple[Sent, float]] = []
    most_waiting = 1
    for name, messages in sent.items():
        owners = _others_on_bus(view.logs[name])
        waiting: list[tuple[int, int]] = []
        for m in messages:
            if m.done is not None and m.reads:
                whole.append((m, float(m.done - m.reads[0].asked)))
            for number, read in enumerate(m.reads):
                if read.refused or read.accepted is None:
                    continue
                request.append(read.accepted - read.asked)
                if read.answered is None:
                    continue
                waiting += [(read.accepted, 1), (read.answered, -1)]
                took = float(read.answered - read.accepted)
                (contended if _met(owners, read.accepted, read.answered) else split).append(took)
                if number == 0 and m.started is not None and len(m.reads) == 1:
                    completion.append(m.started + _HEADS - read.answered)
        level = 0
        for _, step in sorted(waiting, key=lambda one: (one[0], one[1])):
            level += step
            most_waiting = max(most_waiting, level)
    if not request or not completion or not (split or contended):
        raise CannotSay(
            f"{view.folder.path}: no bus events: no read is logged from its request to its first word, so what the bus "
            "takes is not known; switch DESC and STATE on in ctl.kinds before arming"
        )
    values = [
        least_of("overhead_cycles", request, "DESC requested to STATE split_wait"),
        mean_of("split_cycles", split, "split_wait to data, where nobody else had the bus")
        if len(split) >= 5
        else least_of("split_cycles", [*split, *contended], "split_wait to data, the least"),
        least_of("completion_cycles", completion, "STATE data to the first word"),
    ]
    fixed = sum(value.value for value in values)
    extra = [
        max(0.0, took - fixed - m.length_words - 1) if len(m.reads) > 1 else 0.0
        for m, took in whole
    ]
    values.append(
        mean_of("again_cycles", extra, "what reads with a retry or disconnect took longer")
    )
    values.append(exact("reads_waiting", most_waiting, "split reads that waited at one time"))
    return values


def _others_on_bus(log: EventLog) -> Int64:
    """Return the cycles at which another owner of the bus shows: postings, notifications, received words.

    A receive DMA that moves words is there in every cycle of it.
    """
    posts = log.cycle[log.select(Kind.DESC.name, "posting", "posted")]
    notes = log.cycle[log.select(Kind.NOTE.name)]
    at = log.select(Kind.STATE.name, "rx_dma")
    moves = (log.value[at] & STATE_VALUE_NEW_MASK) == MachineState.DATA
    ends = np.append(log.cycle[at][1:], log.cycle[-1:] if len(at) else [])
    moving = [
        np.arange(begin, end + 1)
        for begin, end in zip(log.cycle[at][moves], ends[moves], strict=True)
    ]
    return np.sort(np.concatenate([posts, notes, *moving])).astype(np.int64)


def _met(cycles: Int64, begin: int, end: int) -> bool:
    """Whether another owner shows within a wait."""
    first, last = np.searchsorted(cycles, (begin + 1, end + 1))
    return bool(last > first)


def _rooms(view: CaptureView, sent: Mapping[str, Sequence[Sent]]) -> list[Value]:
    limits = [
        account.limit
        for sender, receiver in view.directions
        for flow in sorted({m.flow for m in sent[sender]})
        if flow >= 0 and (account := account_of(view, sender, receiver, flow)).limit
    ]
    said = view.devices[0].identity
    return [
        exact("tx_fifo_words", said.tx_fifo, "the card's identity"),
        exact(
            "credit_words",
            min(limits, default=said.rx_fifo),
            "the freeze bank: start-up credit of a flow",
        ),
    ]
