"""What an explanation rests on: what was looked at, why "no fault found" would not be true, and what to measure next.

An event log that has wrapped says nothing of what came before it. Since when a card has recorded is known from the
first toggle of the time line after its arm, to within one period of it.

Where a capture does not decide, one command's answer tells most. What this very freeze still holds comes first:
memories that were not read, and the other end of the link. Both ends separate any two causes that the taps, books and
logs of one card cannot. Where both were looked at whole, the fault itself must come again: at the next freeze for the
same cause, or, where no check of the card finds it, at one by hand after as long as it took. Where what came after the
cause took most of a memory, that recording keeps less of it, and so reaches further back.

Source: docs/formats.md: rules of the memories, and the pairs of the time line.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from freezeframe.analyzers.contract import Finding
from freezeframe.analyzers.view import CaptureView
from freezeframe.analyzers.witness.case import Case
from freezeframe.capture.card.roles import EVENT_LOG
from freezeframe.capture.count_text import plural
from freezeframe.capture.stand_ins import given
from freezeframe.capture.time_text import format_ps
from freezeframe.capture.timebase import PS_PER_S

_DIGITS = 3
_BUS = 0
_FIRST_VALID = 1


def looked_at(case: Case) -> Iterator[str]:
    """Yield a line for each thing that could have shown a fault and was looked at."""
    view = case.facts.view
    for device in view.devices:
        for tap in view.roles.taps:
            stream = view.stream(device.name, tap)
            if stream is None:
                continue
            known = [packet for packet in stream.packets if packet.checked]
            good = sum(not p.bad for p in known)
            checks = f", {good} of {len(known)} pass their checks" if known else ""
            many = len(stream.packets)
            yield f"{stream.source}: {plural(many, 'packet')}{checks}"
    for _, _, _, diff in case.facts.differences():
        if diff.words_compared:
            yield f"{diff.up.source} -> {diff.down.source}: {plural(diff.words_compared, 'word')} compared"
    for name, log in view.logs.items():
        if len(log):
            yield f"{name}.{EVENT_LOG}: {plural(len(log), 'event')}"
    held = sum(law.state == "holds" for law in case.laws)
    if held:
        yield f"laws: {held} hold"


def not_seen(case: Case) -> Iterator[str]:
    """Yield why a fault may have been missed: "no fault found" is not said then."""
    view = case.facts.view
    for device in view.devices:
        for memory in view.roles.memories:
            image = device.memories.get(memory)
            if image is None:
                yield f"{device.name}.{memory}: was not read"
            elif image.gaps:
                yield f"{device.name}.{memory}: a part of it was not read"
    yield from view.switched_off
    for name in view.names:
        if view.peer(name) is None or view.device(view.peer(name) or "") is None:
            yield f"the card at the other end of {name}: it may not be looked at"
    for name, causes in case.own_causes.items():
        yield f"{name} froze for {', '.join(causes)}, not for its host"
    for law in case.broken:
        yield f"{law.subject.text}: {law.law.name} is broken: {law.why}"


@dataclass(frozen=True, slots=True)
class LogReach:
    """What the event log of ``device`` holds.

    Attributes:
        held_ps: from its first event to its end.
        run_ps: from the arm to that end, at most ``run_uncertainty_ps`` too little; None where it is not known.
        overwritten: records that were stored before the oldest one; None where their number was not read.
        whole: it holds everything since the arm.
    """

    device: str
    held_ps: int
    run_ps: int | None
    run_uncertainty_ps: int
    overwritten: int | None
    whole: bool

    @property
    def text(self) -> str:
        """Return it as a sentence."""
        log = f"{self.device}'s event log"
        held = f"{_rounded(self.held_ps)}"
        if self.whole:
            return f"{log} holds everything since the recorder was armed, {held}."
        run = (
            ""
            if self.run_ps is None
            else f" of the {_rounded(self.run_ps)} since the recorder was armed"
        )
        before = (
            "how many records were overwritten before that is not known"
            if self.overwritten is None
            else f"{self.overwritten:,} records were overwritten before that"
        )
        return f"{log} holds the last {held}{run}; {before}."

    def to_json(self) -> dict[str, Any]:
        return {
            "device": self.device,
            "memory": EVENT_LOG,
            "held_ps": self.held_ps,
            "run_ps": self.run_ps,
            "run_uncertainty_ps": self.run_uncertainty_ps,
            "overwritten_records": self.overwritten,
            "whole": self.whole,
        }


def log_reaches(view: CaptureView) -> Iterator[LogReach]:
    """Yield what the event log of each device holds; nothing for a device without one."""
    for device in view.devices:
        memory = device.memories.get(EVENT_LOG)
        log = view.logs.get(device.name)
        clk_hz = device.identity.clk_bus
        if memory is None or log is None or not len(log) or not clk_hz:
            continue
        end = int(log.cycle[-1])
        first = device.registers.value64("pair.first_", _BUS)
        valid = (device.registers.value("pair.status", _BUS) or 0) & _FIRST_VALID
        armed = first if valid and first is not None and first <= end else None
        period = device.identity.sync_period
        whole = not memory.wrapped and not memory.gaps and device.name not in view.since_ps
        stored = device.registers.value("memory.stored", device.roles.memories.index(EVENT_LOG))
        kept = len(memory.slots_in_order())
        begin = int(log.cycle[0])
        yield LogReach(
            device.name,
            held_ps=_ps(end - begin, clk_hz),
            run_ps=None if armed is None else _ps(end - min(armed, begin), clk_hz),
            run_uncertainty_ps=_ps(period, clk_hz),
            overwritten=None if stored is None else max(0, stored - kept),
            whole=whole,
        )


def _ps(cycles: int, clk_hz: int) -> int:
    return cycles * PS_PER_S // clk_hz


def _rounded(t_ps: int) -> str:
    """Return a time to three digits: the reader wants the share, not the picosecond."""
    scale = 10 ** max(0, len(str(t_ps)) - _DIGITS)
    return format_ps((t_ps + scale // 2) // scale * scale)


_TARGET = "TARGET"
_OTHER = "TARGET-OF-OTHER-END"
_PATIENCE_S = 3600  # for a fault that freezes the card
_LEAST_WAIT_S = 1
_TIMES = 10  # as long as the recording: until a fault that freezes nothing has come again
_FEW_AFTER = 16  # records after the cause, where most of what came before it had been written over


def next_command(case: Case, finding: Finding) -> str:
    """Return the command that would separate the candidates of a finding best.

    It is complete where the capture says where it came from; an emulated pair is gone with its process, and is TARGET.
    """
    view = case.facts.view
    target = _target(view.folder.manifest.get("source"))
    path = given(view.folder.path)
    if view.incomplete:
        return f"freezeframe pull {target} -o {_beside(path, 'again.ff')}"
    if len(view.devices) < len(view.folder.devices):
        return f"freezeframe explain {shlex.quote(str(path))}"
    if len(view.devices) < 2:
        other = f" {_OTHER}" if view.devices[0].identity.devices_count == 1 else ""
        return f"freezeframe pull {target}{other} -o {_beside(path, 'both.ff')}"
    steps = [*_deeper(case, target), f"freezeframe arm {target}"]
    pull = f"freezeframe pull {target} -o {_beside(path, 'next.ff')}"
    if case.own_causes:
        steps.append(f"{pull} --wait {_PATIENCE_S}")
    else:
        steps.append(f"{pull} --wait {_wait_s(case)} --freeze")
    return " && ".join(steps)


def _target(source: object) -> str:
    """Return the address that a capture came from, as a word of a shell; TARGET where it says none."""
    known = isinstance(source, str) and source.partition(":")[2]
    return shlex.quote(str(source)) if known else _TARGET


def _beside(path: Path, name: str) -> str:
    """Return a name for what is measured next, beside the capture it belongs to."""
    stem = path.name.partition(".ff")[0]
    return shlex.quote(str(path.with_name(f"{stem}-{name}")))


def _deeper(case: Case, target: str) -> Iterator[str]:
    """Yield the writes that make the memories reach further back, for cards that kept little of before the cause."""
    view = case.facts.view
    for device in view.devices:
        writes = []
        for number, memory in enumerate(view.roles.memories):
            image, post = device.memories.get(memory), view.value(device.name, "ctl.post", number)
            if image is None or post is None or not image.wrapped:
                continue
            if post > _FEW_AFTER and 2 * post >= len(image.records):
                writes.append(f"'ctl.post[{number}]={_FEW_AFTER}'")
        if writes:
            yield f"freezeframe reg {target} --device {device.name} {' '.join(writes)}"


def _wait_s(case: Case) -> int:
    """Return how long to wait for a fault that freezes nothing: several times as long as the recording."""
    log = [log for log in case.facts.view.logs.values() if len(log)]
    longest_ps = max((int(one.t_ps[-1]) - int(one.t_ps[0]) for one in log), default=0)
    return max(_LEAST_WAIT_S, _TIMES * longest_ps // PS_PER_S)
