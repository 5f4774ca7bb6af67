"""What an explanation rests on, and why "no fault found" would not be true."""

from __future__ import annotations

from collections.abc import Iterator

from freezeframe.analyzers.witness.case import Case
from freezeframe.capture.card.roles import EVENT_LOG
from freezeframe.capture.count_text import plural


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
