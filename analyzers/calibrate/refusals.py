"""What a capture cannot say, and why: one line each. Whatever is wrong with it is said before anything is fitted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from freezeframe.analyzers.calibrate.sent import Sent
from freezeframe.analyzers.view import CaptureView
from freezeframe.capture.errors import InputError
from freezeframe.capture.registers.layouts import STATE_VALUE_NEW_MASK, Kind, MachineState

Int64 = npt.NDArray[np.int64]
Bool = npt.NDArray[np.bool_]

LEAST_MESSAGES = 20
_MOST_HELD = 0.05  # of the time that a receiver may be stopped, or a sender wait for credit


class CannotSay(InputError):
    """The capture does not hold what a profile is fitted from."""


def refuse_one_end(view: CaptureView) -> None:
    """Refuse a capture, or a choice of its devices, without both ends of a link.

    Raises:
        CannotSay: as said.
    """
    path = view.folder.path
    if view.looped:
        raise CannotSay(
            f"{path}: one end: every card heard its own link, so a card's bus carried both directions of one stream; "
            "calibrate from a capture of two cards at one link"
        )
    there = view.names
    if len(there) != 2 or view.peer(there[0]) != there[1]:
        raise CannotSay(
            f"{path}: one end: it holds {', '.join(there)} and not the card at the other end of the link; "
            "what the flight and the receiving host take is not known; pull both cards together"
        )


def refuse_no_bus_events(view: CaptureView) -> None:
    """Refuse a capture whose event logs did not record what happens on the buses.

    Raises:
        CannotSay: as said.
    """
    path = view.folder.path
    for name in view.names:
        log = view.logs[name]
        missing = [kind.name for kind in (Kind.DESC, Kind.STATE) if not log.recorded(kind)]
        if missing:
            raise CannotSay(
                f"{path}: no bus events: {log.source} did not record {' and '.join(missing)}, so what a read and a "
                "posting take is not known; switch them on in ctl.kinds before arming"
            )
        if log.gaps or (log.kind == Kind.LOSS.name).any():
            lost = "was not read whole" if log.gaps else "lost events (LOSS)"
            raise CannotSay(
                f"{path}: unknown sizes: {log.source} {lost}, so messages may be missing from the arrivals, with "
                "their sizes; pull again, or record fewer kinds of events"
            )


def refuse_messages(view: CaptureView, sent: Mapping[str, Sequence[Sent]]) -> None:
    """Refuse messages that a host did not post, or whose posting or size is not known.

    Raises:
        CannotSay: as said.
    """
    path = view.folder.path
    for name, messages in sent.items():
        made = [m for m in messages if not m.by_host]
        if made:
            raise CannotSay(
                f"{path}: flows mixed: {len(made)} of {len(messages)} messages of {name} were made in the card "
                "(pattern or injected) between those of its host; their arrivals are no host's; record without them"
            )
        own = {flow for m in messages if (flow := m.flow) >= 0}
        tapped = view.trace.packets
        mine = tapped[(tapped["device"] == name) & tapped["tap"].isin(view.roles.tx.taps)]
        good = mine[mine["header_ok"].fillna(False).to_numpy(bool)]
        told = {m.number & 0xFFFF: m for m in messages}
        for seq, flow, length in zip(good["seq"], good["flow"], good["length"], strict=True):
            message = told.get(int(seq))
            if message is None:
                continue
            if message.flow != int(flow) or int(flow) not in own:
                raise CannotSay(
                    f"{path}: flows mixed: message {int(seq)} of {name} is of flow {message.flow} by the event log and "
                    f"of flow {int(flow)} by its tap; which flow waits for which credit is not known"
                )
            if message.length_words != int(length):
                raise CannotSay(
                    f"{path}: unknown sizes: packet {int(seq)} of {name} has {message.length_words} words by the event "
                    f"log and {int(length)} by its tap; take a capture in which they agree ('freezeframe explain')"
                )


def refuse_few(view: CaptureView, count: int) -> None:
    """Refuse a capture with fewer messages than an interval can rest on.

    Raises:
        CannotSay: as said.
    """
    if count < LEAST_MESSAGES:
        raise CannotSay(
            f"{view.folder.path}: too few messages: {count} are recorded from posting to the end of their read; "
            f"{LEAST_MESSAGES} are needed; freeze later, or record fewer kinds of events"
        )


def refuse_held(view: CaptureView, begin_ps: int, end_ps: int) -> None:
    """Refuse a capture that was held up by what no parameter of the card stands for: a host that stopped, credits.

    Raises:
        CannotSay: as said.
    """
    span_ps = max(1, end_ps - begin_ps)
    for name in view.names:
        log = view.logs[name]
        at = log.select("STATE", "rx_dma")
        stopped = _share(
            log.t_ps[at],
            (log.value[at] & STATE_VALUE_NEW_MASK) == MachineState.STOPPED,
            begin_ps,
            end_ps,
        )
        if stopped > _MOST_HELD * span_ps:
            raise CannotSay(
                f"{view.folder.path}: saturated elsewhere: the host of {name} received nothing for "
                f"{100 * stopped / span_ps:.0f} % of the time; what limits is that host, not the card"
            )
    for name in view.names:
        log = view.logs[name]
        waits = log.select("PRESSURE", "begin", "end")
        held = _share(log.t_ps[waits], log.code[waits] == "begin", begin_ps, end_ps)
        if held > _MOST_HELD * span_ps:
            raise CannotSay(
                f"{view.folder.path}: saturated elsewhere: {name} waited for credit {100 * held / span_ps:.0f} % of "
                "the time; 'freezeframe analyze CAPTURE pressure' says whose it is, and what finer credits gain"
            )


def _share(t_ps: Int64, is_on: Bool, begin_ps: int, end_ps: int) -> int:
    """Return for how long the newest of some events was an ``is_on`` one, within a window."""
    ends = [*t_ps[1:].tolist(), end_ps]
    return sum(
        max(0, min(end, end_ps) - max(int(t), begin_ps))
        for t, on, end in zip(t_ps, is_on, ends, strict=False)
        if on
    )
