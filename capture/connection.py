"""A card in a few lines of Python: its states, counters, trigger, and the pull of its recording."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from freezeframe.capture.card.device import CardDevice, open_any, split_card
from freezeframe.capture.card.trigger_steps import StepTrigger, TapTerm, first_then
from freezeframe.capture.custody.giving_up import Armed, arm_over
from freezeframe.capture.custody.looped import loop_back
from freezeframe.capture.errors import InputError, TargetError
from freezeframe.capture.folder.card_folder import CardFolder
from freezeframe.capture.folder.history import act
from freezeframe.capture.folder.of_cards import is_card_folder
from freezeframe.capture.folder.reader import CaptureFolder
from freezeframe.capture.recorder import provoke
from freezeframe.capture.recorder.card_steps import (
    clear_step_trigger,
    has_steps,
    read_step_trigger,
    set_step_trigger,
)
from freezeframe.capture.recorder.card_trigger import (
    parse_card_term,
    read_card_trigger,
    set_card_trigger,
)
from freezeframe.capture.recorder.control import freeze, wait_for
from freezeframe.capture.recorder.pull import pull
from freezeframe.capture.recorder.state import RecorderState, read_state
from freezeframe.capture.recorder.trigger import (
    Trigger,
    clear_trigger,
    read_trigger,
    set_trigger,
    term_of,
)
from freezeframe.capture.registers.access import Device, Recorder, device_of
from freezeframe.capture.targets.base import Target, open_target


class Card:
    """A target and the devices behind it; close it, or use it in a ``with`` block.

    Attributes:
        target: the registers behind their transport.
        devices: in the order of their index; registers by name, for instance ``read("ctl.state")``.
    """

    def __init__(self, target: Target, card: Path | None = None) -> None:
        """Find the devices.

        Args:
            card: the card file, where neither the devices nor this computer has it.
        Raises:
            InputError: the card is not known, or is another one.
            TargetError: it does not answer, or is not a device of ours; the target is closed then.
        """
        self.target = target
        self._card = card
        self._armed: dict[str, Any] | None = None  # what a capture tells of the arming
        try:
            self.devices: Sequence[Recorder] = open_any(target, card)
        except BaseException:
            target.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        names = ", ".join(device.name for device in self.devices)
        return f"<Card {self.target.url}: {names}>"

    def device(self, name: str) -> Recorder:
        """Return the device of that name.

        Raises:
            InputError: the target has none; the message lists those it has.
        """
        return device_of(self.devices, name)

    def states(self) -> dict[str, RecorderState]:
        """Return what each recorder is doing, by the name of its device."""
        return {device.name: read_state(device) for device in self.devices}

    def counters(self) -> dict[str, dict[str, int]]:
        """Return the counters of each device, each from one snapshot."""
        return {device.name: dict(device.counters().values) for device in self.devices}

    def arm(self, *, discard: bool = False) -> None:
        """Start a new recording on every device.

        Args:
            discard: a frozen recording that this host has not kept may be lost.
        Raises:
            RecorderStateError: there is one, and ``discard`` is not said; nothing was armed.
        """
        armed = arm_over(self.devices, by="ff.connect", discard=discard)
        names = [device.name for device in self.devices]
        self._armed = act("armed", generation=dict(zip(names, armed.generations, strict=True)))

    def freeze(self) -> None:
        """Stop recording now, on every device, and keep what was recorded."""
        for device in self.devices:
            freeze(device)

    def wait(self, timeout_s: float, state: str = "frozen") -> None:
        """Wait until every recorder is in a state.

        Raises:
            RecorderStateError: one is not after ``timeout_s``.
        """
        end_s = time.monotonic() + timeout_s
        for device in self.devices:
            wait_for(device, state, max(0.0, end_s - time.monotonic()))

    def pull(
        self,
        path: Path | str,
        *,
        freeze: bool = False,
        outage_s: float = 30.0,
        overwrite: bool = False,
        partial: bool = False,
    ) -> CaptureFolder | CardFolder:
        """Copy the frozen recording into a capture folder, every word verified, and open it.

        Args:
            freeze: freeze recorders that still run; without it they are refused.
            outage_s: how long a card that vanishes is waited for.
            overwrite: replace a capture folder that stands there.
            partial: return also a capture in which something is missing (`CaptureFolder.lost` says what).
        Raises:
            InputError: the folder cannot be written.
            RecorderStateError: a recorder still runs.
            TargetError: no answer; or only a part came home: the folder is there and states the gaps.
        """
        report = pull(
            self.target,
            path,
            freeze=freeze,
            wait_s=outage_s,
            overwrite=overwrite,
            card=self._card,
            armed=self._armed,
        )
        if not (report.complete or partial):
            raise TargetError(
                f"{report.path}: holds {report.words:,} of {report.words_total:,} words: "
                f"{'; '.join(report.lost)}; the card keeps the recording until it is armed, so pull "
                "again, or give partial=True"
            )
        if is_card_folder(report.path):
            return CardFolder.open(report.path)
        return CaptureFolder.open(report.path)

    def traffic(
        self,
        device: str,
        *,
        on: bool = True,
        flow: int = 0,
        length_words: int = 64,
        gap_cycles: int = 1000,
        seed: int = 0,
    ) -> None:
        """Let a device send pattern packets, numbered from 0, or none any more.

        Args:
            length_words: of a packet, 0..512; gap_cycles: of the bus, between two.
        Raises:
            InputError: it is a card that a file describes, has no such flow, or a value does not fit.
            TargetError: it does not take a write.
        """
        wanted = provoke.Traffic(flow, length_words, gap_cycles, seed)
        provoke.set_traffic(self._provoked(device), wanted if on else None)

    def inject(self, device: str, words: Sequence[int]) -> int:
        """Send 64-bit words as one packet, as they stand; return how many were injected by now.

        Raises:
            InputError: as `traffic`; no words, or too many.
            RecorderStateError: the device is held since it froze, or another program injects, too.
            TargetError: it does not take the words.
        """
        return provoke.inject(self._provoked(device), words)

    def rx_dma(self, device: str, *, on: bool) -> None:
        """Start or stop the receive DMA of a device: stopped, it fills its FIFO and holds the sender back.

        Raises:
            InputError: as `traffic`.
            TargetError: it does not take the write.
        """
        provoke.set_rx_dma(self._provoked(device), stopped=not on)

    def loopback(self, device: str, *, on: bool, discard: bool = False) -> Armed | None:
        """Let a device hear its own link, or its peer's again; recorders that were armed are armed again.

        A recording across the restart of a link counts credits of two lives of it. A frozen one is evidence, and stays.

        Args:
            discard: what froze while the link restarted may be lost.
        Returns:
            what arming again has given up; None where not all were armed.
        Raises:
            InputError: as `traffic`.
            RecorderStateError: a card froze while the link restarted, and that would be lost.
            TargetError: it does not take the write.
        """
        return loop_back(self.devices, self._provoked(device), on=on, discard=discard)

    def _provoked(self, name: str) -> Device:
        device = self.device(name)
        if not isinstance(device, Device):
            raise InputError(
                f"{self.target.url}: device {name} is of a card that a file describes; it has no registers to send "
                "packets or to loop its link back"
            )
        return device

    def close(self) -> None:
        """Free the transport; closing twice is harmless."""
        self.target.close()


def connect(url: str) -> Card:
    """Open a card by URL, for instance ``etherbone://192.0.2.7`` or ``emu:?fault=word-omitted``.

    Raises:
        InputError: not a target URL.
        TargetError: it cannot be reached, or is not a device of ours.
    """
    plain, card = split_card(url)
    return Card(open_target(plain), card)


def trigger(
    card: Card,
    on: str | None = None,
    term: str | None = None,
    *,
    then: str | None = None,
    count: int = 1,
    limit_cycles: int = 0,
    edge: bool = False,
    off: bool = False,
    device: str = "A",
) -> Trigger | StepTrigger:
    """Set what a device freezes on, from the next arm on, and return the trigger as it stands there, read back.

    Without ``on`` and ``term`` it only reads, or with ``off`` switches the trigger off.

    Args:
        on: the tap that is watched: ``tx_enq``, ``tx_deq``, ``rx_enq``, ``rx_deq``, or one of the card file.
        term: such a word, for instance ``flow=3,type=RDMA_WRITE`` (docs/trigger.md).
        then: after it, such words; ``count`` of them within ``limit_cycles`` of the first (0: any time).
        edge: only where the word before did not match.
        device: name of the device of the card.
    Returns:
        Of a card that was built with steps a `StepTrigger`, of others a `Trigger`.
    Raises:
        InputError: there is no such device or tap, a term cannot be read, or the arguments contradict.
        TargetError: the device does not take it.
    """
    if (on is None) != (term is None) or (off and on) or (then is not None and term is None):
        raise InputError("a trigger needs both a tap (on) and a term, or off=True alone")
    chosen = card.device(device)
    if isinstance(chosen, CardDevice) and has_steps(chosen):
        if edge:
            raise InputError(f"{card.target.url}: the trigger of a card with steps has no edge")
        if off:
            clear_step_trigger(chosen)
        elif on is not None and term is not None:
            texts = [text for text in (term, then) if text is not None]
            of_tap = tuple(_at_tap(text, on) for text in texts)
            set_step_trigger(
                chosen,
                StepTrigger(of_tap, *first_then(1, count, limit_cycles, then=then is not None)),
            )
        return read_step_trigger(chosen)
    if isinstance(chosen, CardDevice):
        if then is not None or count != 1 or limit_cycles or edge:
            raise InputError(
                f"{card.target.url}: the trigger of a card that is described by a file has one term"
            )
        if off:
            clear_trigger(chosen)
        elif on is not None and term is not None:
            set_card_trigger(chosen, on, parse_card_term(term))
        return read_card_trigger(chosen)
    if not isinstance(chosen, Device):
        raise TypeError(f"{device} is a device of another map")
    if off:
        clear_trigger(chosen)
    elif on is not None and term is not None:
        terms = tuple(term_of(chosen, text) for text in (term, then) if text is not None)
        set_trigger(chosen, Trigger(on, terms, count, limit_cycles, edge))
    return read_trigger(chosen)


def _at_tap(text: str, tap: str) -> TapTerm:
    term = parse_card_term(text)
    return TapTerm(term.value, term.mask, term.kinds, tap)
