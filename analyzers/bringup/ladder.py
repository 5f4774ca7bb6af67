"""The ladder: five stages, one after another, up to the first that fails.

Source: [FORTH §2.7], the four stages in which that card was debugged: the target interface and DMA from the host; DMA
to the host; loop-back, then two cards directly connected; the switch. What a card writes to its host's memory is not
reached by its registers, so the second has no rung of its own, and the third has two.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

from freezeframe.analyzers.bringup.card import host_dma, loopback, pair
from freezeframe.analyzers.bringup.evidence import Evidence
from freezeframe.analyzers.bringup.failure import Failure, NotPossible
from freezeframe.analyzers.bringup.interface import interface
from freezeframe.analyzers.bringup.switch import Switch, through
from freezeframe.capture.errors import ForeignRecordingError, TargetError
from freezeframe.capture.registers.access import Device


@dataclass(frozen=True, slots=True)
class Stage:
    """One rung. ``run`` yields a line for each thing that holds, and raises `Failure` at the first that does not."""

    name: str
    doc: str
    run: Callable[[Sequence[Device], Evidence], Iterator[str]]


@dataclass(slots=True)
class StageResult:
    """What came of one stage: ``passed``, ``failed``, or ``not run`` with why in ``seen``.

    Of one that failed ``capture`` is the folder with its last recording; where it is kept nowhere, ``standing`` says
    which recordings stand in the cards.
    """

    stage: str
    doc: str
    outcome: str
    held: list[str] = field(default_factory=list)
    seen: str = ""
    capture: Path | None = None
    standing: list[str] = field(default_factory=list)

    def to_json(self) -> dict[str, Any]:
        return {
            "stage": self.stage, "what": self.doc, "outcome": self.outcome, "held": self.held,
            "seen": self.seen, "capture": None if self.capture is None else str(self.capture),
            "standing": self.standing,
        }  # fmt: skip


def _no_switch(devices: Sequence[Device], arms: Evidence) -> Iterator[str]:
    raise NotPossible("no switch is named (--switch)")


def _no_cable(devices: Sequence[Device], arms: Evidence) -> Iterator[str]:
    raise NotPossible("--switch says that a switch is between the cards; the next stage is of it")


STAGES = (
    Stage("interface", "registers and memories through the target interface", interface),
    Stage("host-dma", "what the DMA engine puts into the outgoing FIFO", host_dma),
    Stage("loopback", "each card hears its own link", loopback),
    Stage("pair", "both cards, directly connected", pair),
    Stage("switch", "both cards through a switch, by its own counts", _no_switch),
)


def _behind(stage: Stage, switch: Switch) -> Stage:
    """Return what a stage is where a switch stands between the cards."""
    if stage.name == "host-dma":
        return replace(stage, run=partial(host_dma, loop=True))
    if stage.name == "pair":
        return replace(stage, run=_no_cable)
    if stage.name == "switch":
        return replace(stage, run=partial(through, switch=switch))
    return stage


_OF_TWO = ("pair", "switch")


def climb(
    devices: Sequence[Device],
    progress: Callable[[str, str], None] | None = None,
    *,
    discard: bool = False,
    switch: Switch | None = None,
    keep: Path | None = None,
) -> list[StageResult]:
    """Go up the stages and stop at the first that fails; those above it are "not run".

    A stage leaves the cards without pattern traffic and without loop-back, and armed; one that fails leaves what they
    have frozen in them, unless it is kept.

    Args:
        progress: called with the stage and each line that holds.
        discard: a frozen recording that this host has not kept may be lost.
        switch: that stands between the cards; None: a cable does.
        keep: a folder for the last recording of the stage that fails, as a capture folder.
    Raises:
        RecorderStateError: a frozen recording would be lost that this host has not kept; nothing was written. Or
            another program armed a card meanwhile; what it recorded stands.
        TargetError: the target does not answer.
    """
    arms = Evidence([devices], by="selftest", discard=discard, keep=keep)
    results: list[StageResult] = []
    failed = False
    for stage in STAGES if switch is None else [_behind(stage, switch) for stage in STAGES]:
        result = StageResult(stage.name, stage.doc, "not run")
        results.append(result)
        if failed:
            result.seen = "the stage below failed"
            continue
        if stage.name in _OF_TWO and len(devices) < 2:
            result.seen = "the target has one device"
            continue
        arms.begin(stage.name)
        try:
            for line in stage.run(devices, arms):
                result.held.append(line)
                if progress is not None:
                    progress(stage.name, line)
            result.outcome = "passed"
        except ForeignRecordingError:
            raise  # it says nothing of the card
        except NotPossible as error:
            result.seen = str(error)
        except (Failure, TargetError) as error:
            result.outcome, result.seen = "failed", str(error)
            failed = True
            result.capture, result.standing = arms.capture, arms.standing
    arms.end()
    return results
