"""What to measure next where a capture does not decide: the one command whose answer tells most.

What this very freeze still holds comes first: memories that were not read, and the other end of the link. Both ends
separate any two causes that the taps, books and logs of one card cannot. Where both were looked at whole, the fault
itself must come again: at the next freeze for the same cause, or, where no check of the card finds it, at one by hand
after as long as it took. Where what came after the cause took most of a memory, that recording keeps less of it, and so
reaches further back.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from pathlib import Path

from freezeframe.analyzers.contract import Finding
from freezeframe.analyzers.witness.case import Case
from freezeframe.capture.stand_ins import given
from freezeframe.capture.timebase import PS_PER_S

_TARGET = "TARGET"
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
        return f"freezeframe pull {target} -o {_beside(path, 'both.ff')}"
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
