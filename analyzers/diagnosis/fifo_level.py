"""A FIFO that holds a word less, or a word more, than its two taps let in and out.

A word that was not written, or was read twice, is seen between the taps only once its packet has come out. The level
tells it before that: what went in, less what came out, is in the FIFO. Words that found it full are no part of this,
because the tap before the FIFO counts what is written.

Source: docs/analyzers-check.md, "incoming FIFO, words" and "outgoing FIFO, words".
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from freezeframe.analyzers.contract import Evidence, Finding
from freezeframe.analyzers.diagnosis.place import cause_evidence, tap_after
from freezeframe.analyzers.facts import RECEIVER_FIFO, SENDER_FIFO, Facts
from freezeframe.analyzers.link_start import fits_power_up
from freezeframe.capture.registers.layouts import MEMORY_NAMES

__all__ = ["Imbalance", "imbalances", "level_finding"]

_FIFOS = ((SENDER_FIFO, "tx", "outgoing"), (RECEIVER_FIFO, "rx", "incoming"))
_CONFIDENCE = 0.75  # by elimination: the packet is not seen


@dataclass(frozen=True, slots=True)
class Imbalance:
    """A FIFO of ``device`` and the words that are ``missing`` in it by its taps; negative: too many."""

    sender: str
    receiver: str
    stretch: int
    device: str
    side: str
    fifo: str
    entered: int
    left: int
    level: int

    @property
    def missing(self) -> int:
        return self.entered - self.left - self.level


def imbalances(facts: Facts) -> Iterator[Imbalance]:
    """Yield the FIFOs whose level is not what their taps make it.

    Both are of one moment only where the card was held; and FIFO and counters begin together only at power-up.
    """
    for sender, receiver in facts.view.directions:
        for stretch, side, fifo in _FIFOS:
            device = sender if stretch == SENDER_FIFO else receiver
            if not _comparable(facts, device):
                continue
            entered, left = (
                facts.view.counter(device, f"{side}_{end}_words") for end in ("enq", "deq")
            )
            level = facts.view.value(device, f"frozen.{side}_level")
            if entered is None or left is None or level is None:
                continue
            found = Imbalance(sender, receiver, stretch, device, side, fifo, entered, left, level)
            if found.missing:
                yield found


def level_finding(facts: Facts, name: str, found: Imbalance) -> Finding:
    """Return the finding on a word that is missing in a FIFO, or one too many, of which no packet tells yet."""
    device, tap = tap_after(found.sender, found.receiver, found.stretch)
    size, word = abs(found.missing), "word" if abs(found.missing) == 1 else "words"
    what = (
        f"{size} {word} less than that: written and not kept"
        if found.missing > 0
        else f"{size} {word} more than that: read and not taken out"
    )
    bank = facts.view.register_row(device, f"frozen.{found.side}_level")
    return Finding(
        diagnosis=name,
        text=(
            f"{device} let {found.entered} words into its {found.fifo} FIFO and {found.left} out of it, so "
            f"{found.entered - found.left} should be in it. It held {found.level}, {what}. No packet that both "
            "taps recorded shows it, so which packet and which word is not known."
        ),
        device=device,
        tap=tap,
        direction=f"{found.sender}->{found.receiver}",
        confidence=_CONFIDENCE,
        evidence=(
            Evidence(
                f"In {found.entered}, out {found.left}, level {found.level}: {found.missing:+} unaccounted for.",
                device,
                tap,
                (
                    *(
                        facts.view.counter_row(device, f"{name}_words")
                        for name in MEMORY_NAMES[:4]
                        if name.startswith(found.side)
                    ),
                    bank,
                ),
            ),
            *cause_evidence(facts, device),
        ),
    )


def _comparable(facts: Facts, device: str) -> bool:
    capture = facts.view.device(device)
    if capture is None or facts.view.value(device, "ctl.generation") != 1:
        return False
    if not capture.registers.field("ctl.options", "hold"):
        return False  # a level that words move through is a few words late
    return fits_power_up(capture, facts.view.device(facts.view.peer(device) or ""))
