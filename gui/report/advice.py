"""What a diagnosis means in a headline, and what to do next. The reasoning: docs/diagnosis.md."""

from __future__ import annotations

from freezeframe.analyzers.contract import UNDETERMINED, Finding
from freezeframe.capture.folder import CaptureFolder, DeviceCapture
from freezeframe.capture.stand_ins import given
from freezeframe.decoders.trace.decode import Trace
from freezeframe.gui.report.card_advice import CARD_ADVICE, Advice
from freezeframe.gui.text import shell_word

_CAPTURE = "CAPTURE.ff"  # in the advice; told by its path where that is known
_REPEAT = "Run 'freezeframe guard TARGET -o DIR' to see whether the next freeze names the same tap, flow and word."

ADVICE: dict[str, Advice] = {
    "word-omitted": Advice(
        "a 64-bit word was lost in {place}",
        (
            "Look at the write side of that FIFO: write enable, almost-full, and what holds them "
            "off when a transfer stops and is retried.",
            "Set a trigger on the first word of the packet at the tap before, and capture again.",
        ),
    ),
    "word-duplicated": Advice(
        "a 64-bit word came twice out of {place}",
        (
            "Look at the read side of that FIFO: a read pointer that does not advance while the "
            "output is taken, as when ready falls in the same cycle.",
            "Compare the events around it: a disconnect or a wait for credit in that cycle points "
            "at the stage that held.",
        ),
    ),
    "sync-fifo-empty": Advice(
        "one lane's synchronization FIFO ran empty on {place}",
        (
            "Look at the levels and underflows of both lanes at the freeze, and at the start level "
            "of the synchronization FIFO.",
            "Check the clock correction: idles inserted and removed on that lane only.",
        ),
    ),
    "lane-misaligned": Advice(
        "the byte phase of one lane shifted on {place}",
        (
            "Compare the lane's comma phase with the other lane's, and look for loss of lock.",
            "Check comma alignment: it must be enabled while the link trains and only then.",
        ),
    ),
    "payload-bit-flip": Advice(
        "bits of one payload word changed on {place}",
        (
            "Look at the link: transceiver settings, error counters, the cable and its seating.",
            _REPEAT,
        ),
    ),
    "header-corrupted": Advice(
        "a header word changed on {place}",
        (
            "Look at the link as for a flipped payload bit; headers are hit more rarely only "
            "because they are few.",
            _REPEAT,
        ),
    ),
    "credit-corrupted": Advice(
        "a credit was damaged inside {place}, after its parity bit was made",
        (
            "Look at the path of the credit word between the parity generator and the packet CRC.",
            "Compare what was sent and what was refused: the event logs of both devices hold both.",
        ),
    ),
    "credit-lost": Advice(
        "credits of a flow are lost on their way out of {place}",
        (
            "Look at the credit output of that flow: the event log has the credits as sent, and "
            "none arrives.",
            "Check the arbitration between credits and packets on the way back.",
        ),
    ),
    "wrap-unhandled": Advice(
        "{place} compared credit counters across their wrap-around as plain numbers",
        (
            "Compare sent - credited modulo the counter's width, never the counters themselves.",
            "Check every comparator of credit counters for the same mistake.",
        ),
    ),
    "credit-start-too-large": Advice(
        "{place} started with more credit than the receiver's FIFO holds",
        (
            "Set the start-up credit to the depth of the receiver's incoming FIFO, divided among "
            "its flows.",
            "Check the driver's value against id.rx_fifo of the other device.",
        ),
    ),
    "clock-drift": Advice(
        "the two clocks of {place} drift apart, and nothing corrects for it",
        (
            "Look at the clock correction of that receiver: is the idle sequence the one it looks "
            "for, and are its counters of idles above 0 on a good card?",
            "Measure both reference clocks against each other.",
        ),
    ),
    "credit-too-coarse": Advice(
        "{place} gives credit back in lumps so large that the sender waits beside a free FIFO",
        (
            "Make the credit unit of that card smaller; 'freezeframe analyze CAPTURE.ff pressure' "
            "says what a finer one would gain.",
        ),
    ),
    "credit-too-optimistic": Advice(
        "{place} sent more words than its credits allow, by a constant",
        (
            "Look at what that card adds for credits that are still on their way; 'freezeframe "
            "analyze CAPTURE.ff credits' has the round trip as measured.",
        ),
    ),
    "header-miscounted": Advice(
        "a counter of flow control at {place} leaves out words of some packets",
        (
            "Look at the enable of that counter in the cycles of the HEAD and TAIL words of the "
            "packet that is counted short.",
        ),
    ),
    "interrupt-storm": Advice(
        "the driver of {place} is interrupted again while its handler still runs",
        (
            "Look at the first lines of the handler: is the mask written, and has the write arrived "
            "before the handler goes on?",
            "Freeze the card while it lasts, and look at 'freezeframe analyze CAPTURE.ff dma'.",
        ),
    ),
    "interrupt-lost": Advice(
        "a completion waits at {place} and no interrupt tells of it",
        (
            "Let the handler look for completions once more after it has enabled the line, or let "
            "the card raise the line when it is enabled with completions waiting.",
        ),
    ),
    "short-transfers": Advice(
        "most messages from {place} carry a word or two to the same address",
        (
            "Carry the pointers in the data's own messages (pending flags), or write several at "
            "once; 'freezeframe reproduce forth' shows the gain.",
        ),
    ),
    "split-retry-mishandled": Advice(
        "after a retried transfer, words were fetched from the wrong place by {place}",
        (
            "Look at the address and the count that the DMA engine keeps over a retry or a "
            "disconnect.",
        ),
    ),
    "recorder-suspect": Advice(
        "the recorder's own memory or a register is wrong at {place}, not the card",
        (
            "Capture again: an upset of a memory is gone with the next arm.",
            "Where it comes back at the same slot or bit, test that memory.",
        ),
    ),
    UNDETERMINED: Advice(
        "the recording does not decide between causes at {place}",
        (
            "Capture again with more before the freeze: a smaller post count, or fewer kinds in "
            "the event log.",
        ),
    ),
}


def place(finding: Finding) -> str:
    """Return the place of a finding in words: what lies before its tap, or the device."""
    if finding.place:
        return finding.place
    if finding.device is None:
        return "an unknown place"
    if finding.direction is not None and " -> " in finding.direction:  # of a described card
        way = finding.direction.replace(" -> ", " to ")
        return way if "." in way else f"{finding.device}, {way}"  # a link's ends name their cards
    return f"{finding.device}.{finding.tap}" if finding.tap else finding.device


def _advice(finding: Finding) -> Advice | None:
    return ADVICE.get(finding.diagnosis) or CARD_ADVICE.get(finding.diagnosis)


def headline(finding: Finding) -> str:
    """Return the diagnosis and what it means, in one line."""
    advice = _advice(finding)
    if advice is None:
        return f"{finding.diagnosis} at {place(finding)}"
    return f"{finding.diagnosis}: {advice.title.format(place=place(finding))}"


def next_steps(
    finding: Finding, capture: CaptureFolder | None = None, trace: Trace | None = None
) -> tuple[str, ...]:
    """Return what to do about a finding.

    Args:
        capture, trace: with them, what can still be read of this very freeze comes first where the
            recording did not decide.
    """
    advice = _advice(finding)
    steps = advice.steps if advice else (_REPEAT,)
    if capture is not None:
        steps = tuple(
            step.replace(_CAPTURE, shell_word(str(given(capture.path)))) for step in steps
        )
    if finding.next:
        steps = (f"What would tell most: {finding.next}", *steps)
    if finding.diagnosis != UNDETERMINED or capture is None:
        return steps
    return (*_still_to_be_had(capture, trace), *steps)


def _still_to_be_had(capture: CaptureFolder, trace: Trace | None) -> tuple[str, ...]:
    steps = []
    source = capture.manifest.get("source")
    place = shell_word(source) if isinstance(source, str) else "TARGET"
    if any(_has_gaps(device) for device in capture.devices):
        steps.append(
            "Pull again: this capture has gaps, and the card holds the recording until it is "
            f"armed: freezeframe pull {place} -o NAME.ff"
        )
    held = len(capture.devices)
    causes = [
        (card.cause_names(device.registers.value("ctl.causes") or 0), card.peer_cause)
        for device in capture.devices
        if (card := device.found.card)
    ]
    others_only = all(names == [by_peer] for names, by_peer in causes)
    if held == 1 or others_only:
        steps.append(
            "Pull both ends of the link: the other device may hold the first cause, and most causes "
            "show only where both recordings are compared."
        )
    elif trace is not None and len(trace.devices) < held:
        steps.append("Explain with both ends, without --device: the capture holds the other one.")
    return tuple(steps)


def _has_gaps(device: DeviceCapture) -> bool:
    return bool(device.sample_gaps or any(memory.gaps for memory in device.memories.values()))
