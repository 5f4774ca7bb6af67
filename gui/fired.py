"""The word that fired a card's trigger, found again in the recording.

The unit fires on a word of cycle t; the event log has it at t + 1, of a tap in another clock domain 2 to 3 bus cycles
later (docs/trigger.md). So of such a tap more than one word can be meant, which is then said.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from freezeframe.capture.files.edges import PS_PER_S
from freezeframe.capture.folder import CaptureFolder, DeviceCapture
from freezeframe.capture.recorder.trigger import recorded_trigger
from freezeframe.capture.registers.layouts import Kind
from freezeframe.capture.registers.trigger_term import Term
from freezeframe.capture.time_text import format_ps
from freezeframe.decoders.trace.decode import Trace

_CAUSE = "trigger"
_FIRED = "2"  # code of the event
_WORD = (1 << 64) - 1
_LATE_CYCLES = 5  # of the bus, from a word of another clock domain to the event


@dataclass(frozen=True, slots=True)
class Fired:
    """A trigger that fired.

    Attributes:
        words: those that can have fired it, as dicts of kind, data, cycle, t_ps and packet (None where none is known);
            empty where none is in the memory.
    """

    device: str
    tap: str
    cycle: int
    term: int
    count: int
    words: tuple[dict[str, Any], ...]

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON values."""
        return asdict(self)

    @property
    def text(self) -> str:
        """One line."""
        where = f"{self.device}.{self.tap}"
        which = f"match {self.count:,} of" if self.count > 1 else "the match of"
        if not self.words:
            return (
                f"{where}: {which} term {self.term}, before bus cycle {self.cycle:,}; the word is not in the memory "
                "any more"
            )
        first = self.words[-1]
        packet = "" if first["packet"] is None else f", packet {first['packet']}"
        more = (
            f"; or one of {len(self.words) - 1} before it that fit as well"
            if len(self.words) > 1
            else ""
        )
        return (
            f"{where}: {first['kind']} {first['data']}{packet}, cycle {first['cycle']:,}, {format_ps(first['t_ps'])}: "
            f"{which} term {self.term}{more}"
        )


def fired(capture: CaptureFolder, trace: Trace) -> list[Fired]:
    """Return the triggers that froze devices of a capture, in the order of the devices."""
    found = (_fired(device, trace) for device in capture.devices)
    return [one for one in found if one is not None]


def _fired(device: DeviceCapture, trace: Trace) -> Fired | None:
    causes, cycle = (
        device.registers.value("ctl.causes"),
        device.registers.value64("ctl.cause_cycle_"),
    )
    trigger = recorded_trigger(device)
    if not causes or cycle is None or trigger is None or not trigger.enabled:
        return None
    if _CAUSE not in device.found.card.cause_names(causes):
        return None
    term = trigger.terms[-1]
    events = trace.events
    told = events[
        (events["device"] == device.name) & (events["kind"] == Kind.USER.name) & (events["event_source"] == "recorder")
        & (events["code"] == _FIRED) & (events["cycle"] <= cycle)
    ]  # fmt: skip
    at = int(told["cycle"].iloc[-1]) if len(told) else cycle
    words = _words(device, trace, trigger.tap, term, at)
    return Fired(device.name, trigger.tap, at, len(trigger.terms) - 1, trigger.count, words)


def _words(
    device: DeviceCapture, trace: Trace, tap: str, term: Term, cycle: int
) -> tuple[dict[str, Any], ...]:
    """Return the words of a tap that are the same as the term and can have made the event of that bus cycle."""
    mine = trace.words[trace.words["source"] == f"{device.name}.{tap}"]
    columns: dict[str, list[Any]] = {
        name: mine[name].tolist()
        for name in ("kind", "data", "cycle", "t_ps", "t_unc_ps", "packet")
    }
    bus = device.roles.domain_of["event_log"]
    same_clock = device.roles.domain_of[tap] == bus
    times, uncertain = trace.timebase.times_ps(device.name, bus, np.array([cycle], np.int64))
    t_ps, unc_ps = int(times[0]), max(0, int(uncertain[0]))
    early_ps = _LATE_CYCLES * (PS_PER_S // device.identity.clk_bus)
    found = []
    for kind, bits, at, time_ps, word_unc_ps, packet in zip(*columns.values(), strict=True):
        data, slack_ps = bits & _WORD, max(0, word_unc_ps) + unc_ps
        near = t_ps - early_ps - slack_ps <= time_ps <= t_ps + slack_ps
        if (at == cycle - 1 if same_clock else near) and term.fits(Kind[kind], data):
            place = packet if packet >= 0 else None
            word = {"kind": kind, "data": f"0x{data:016x}", "cycle": at, "t_ps": time_ps}
            found.append(word | {"packet": place})
    return tuple(found)
