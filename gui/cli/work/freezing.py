"""Cards frozen by the host: now, or as soon as it sees something."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

from freezeframe.capture.custody.host_rules import parse_rule
from freezeframe.capture.recorder import control
from freezeframe.capture.recorder.host_freeze import fired_words, freeze_now
from freezeframe.capture.recorder.state import RecorderState, read_state
from freezeframe.capture.registers.access import Recorder
from freezeframe.gui.cli.work.guard import host_watch
from freezeframe.gui.cli.work.session import open_recorders
from freezeframe.gui.text import printable

_LOOK_S = 0.5  # between two looks at the cards


def freeze(
    targets: Sequence[str],
    rules: Sequence[str],
    sources: Sequence[str],
    every_s: float,
    wait_s: float,
    log: Path | None,
) -> tuple[list[tuple[str, RecorderState]], list[str]]:
    """Freeze every device that is not frozen yet; return their states by target, and what was seen before.

    Raises:
        InputError: a rule could never come true.
        RecorderStateError: a device is idle, or does not get there.
    """
    parsed = [parse_rule(text) for text in rules]
    with ExitStack() as stack:
        opened = [(url, stack.enter_context(open_recorders(url, log))) for url in targets]
        devices = [device for _, of_target in opened for device in of_target]
        seen: list[str] = []
        if parsed:
            watch = stack.enter_context(host_watch(sources, parsed, every_s))
            generations = _generations(devices)
            while not watch.wait(_LOOK_S):
                for line in watch.troubles():
                    print(f"freezeframe: {printable(line)}", file=sys.stderr, flush=True)
                generations = _generations(devices)
            fired = watch.fired()
            took = freeze_now(generations, fired[0].seen_ns) or "no card was recording"
            seen = [printable(f"{fired_words(one)}: {took}") for one in fired]
        for device in devices:
            if read_state(device).state != "frozen":
                control.freeze(device)
        for device in devices:
            control.wait_for(device, "frozen", wait_s)
        return [(url, read_state(device)) for url, of in opened for device in of], seen


def _generations(devices: Sequence[Recorder]) -> list[tuple[Recorder, int]]:
    """Return the recorders that run with their generations, so that the write that freezes needs no look before."""
    states = [(device, read_state(device)) for device in devices]
    return [(device, state.generation) for device, state in states if state.state == "armed"]
