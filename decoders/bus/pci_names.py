"""What PCI and PCI-X call things: commands, terminations, phases and errors, by number.

Source: PCI Local Bus Specification 3.0, 3.1.1 (commands), 3.3.3 (terminations), 3.6.1 (DEVSEL#); PCI-X
Addendum to it 1.0b, chapter 2 (commands, target data phase signaling, Split Completions), for mode 1
of 2.0 too.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple


class Names(NamedTuple):
    """The names of one of the two buses, each tuple by the numbers that the kernels give."""

    decoder: str  # the id of its decoder
    commands: tuple[str, ...]
    terminations: tuple[str, ...]
    devsels: tuple[str, ...]
    phases: tuple[str, ...]
    error_texts: Mapping[str, str]


VERDICTS = ("", "good", "bad")  # on a parity

_COMMANDS = (
    "interrupt-acknowledge",
    "special-cycle",
    "io-read",
    "io-write",
    "reserved-4",
    "reserved-5",
    "memory-read",
    "memory-write",
    "reserved-8",
    "reserved-9",
    "config-read",
    "config-write",
    "memory-read-multiple",
    "dual-address",
    "memory-read-line",
    "memory-write-invalidate",
)

_TERMINATIONS = (
    "",
    "completion",
    "retry",
    "disconnect-with-data",
    "disconnect-without-data",
    "target-abort",
    "master-abort",
)

_ERROR_TEXTS = {
    "": "",
    "cut-transaction": "the capture ends inside a transaction",
    "reset-transaction": "RST# ends the transaction",
    "broken-transaction": "the bus goes idle before the last data phase is complete",
    "address-parity": "PAR does not fit an address phase",
    "data-parity": "PAR does not fit a data phase",
    "parity-reported": "PERR# is asserted for a data phase",
    "irdy-without-frame": "IRDY# is asserted and no transaction is under way",
    "irdy-in-address": "IRDY# is asserted in an address phase",
    "frame-without-irdy": "FRAME# is deasserted while IRDY# is not asserted",
    "frame-again": "FRAME# is asserted again in the same transaction",
    "frame-changed": "FRAME# is deasserted after IRDY# was asserted, before the data phase is over",
    "frame-stays": "the initiator goes on with FRAME# asserted after STOP#",
    "irdy-dropped": "IRDY# is deasserted before the data phase is complete",
    "trdy-without-devsel": "TRDY# is asserted without DEVSEL#",
    "stop-without-devsel": "STOP# is asserted and DEVSEL# never was",
    "devsel-dropped": "DEVSEL# is deasserted before the last data phase is complete",
    "trdy-dropped": "TRDY# is deasserted before the data phase is complete",
    "stop-dropped": "STOP# is deasserted while FRAME# is still asserted",
    "no-turnaround": "TRDY# of a read comes with the turnaround of AD",
    "late-devsel": "DEVSEL# comes after the clock for subtractive decoding",
    "early-abort": "the initiator gives up before the clock for subtractive decoding",
    "initiator-latency": "IRDY# is not asserted within 8 clocks",
    "target-initial-latency": "neither TRDY# nor STOP# is asserted within 16 clocks from FRAME#",
    "target-latency": "neither TRDY# nor STOP# is asserted within 8 clocks from the last data phase",
    "target-idle": "DEVSEL#, TRDY# or STOP# is asserted on an idle bus",
    "reserved-command": "the command is reserved",
    "reserved-order": "AD1..0 of a memory address is a reserved burst order",
    "cut-dual-address": "FRAME# is deasserted in the second address phase",
    "ack64-without-req64": "ACK64# is asserted without REQ64#",
    "partial-line": "a byte enable of a Memory Write and Invalidate is not asserted",
    "retry-not-repeated": "a transaction that was retried is not repeated",
}

_COMMANDS_X = (
    "interrupt-acknowledge",
    "special-cycle",
    "io-read",
    "io-write",
    "reserved-4",
    "reserved-5",
    "memory-read-dword",
    "memory-write",
    "alias-memory-read-block",
    "alias-memory-write-block",
    "config-read",
    "config-write",
    "split-completion",
    "dual-address",
    "memory-read-block",
    "memory-write-block",
)

_TERMINATIONS_X = (
    "",
    "completion",
    "initiator-disconnect",
    "disconnect-at-adb",
    "single-data-disconnect",
    "retry",
    "split",
    "target-abort",
    "master-abort",
)

_ERROR_TEXTS_X = {
    "": "",
    "cut-transaction": "the capture ends inside a transaction",
    "reset-transaction": "RST# ends the transaction",
    "broken-transaction": "the bus goes idle before the target has answered or all data went over",
    "address-parity": "PAR does not fit an address phase",
    "attribute-parity": "PAR does not fit the attribute phase",
    "data-parity": "PAR does not fit a data phase",
    "parity-reported": "PERR# is asserted for a data phase",
    "irdy-without-frame": "IRDY# is asserted and no transaction is under way",
    "frame-again": "FRAME# is asserted again in the same transaction",
    "cut-header": "FRAME# is deasserted in an address or the attribute phase",
    "initiator-wait": "IRDY# is not asserted while the target transfers data: PCI-X has no such waits",
    "target-wait": "the target inserts a wait state after the first data phase",
    "odd-waits": "wait states of a burst write or a Split Completion do not come in pairs",
    "late-devsel": "DEVSEL# comes in a clock in which nobody may assert it",
    "devsel-dropped": "DEVSEL# is deasserted and the target says nothing",
    "signal-without-devsel": "TRDY# or STOP# is asserted before DEVSEL#",
    "late-response": "the target does not answer within 16 clocks from FRAME#",
    "data-after-end": "data goes over after the last data phase",
    "not-at-boundary": "the burst ends short of its byte count, and not at a boundary of 128 B",
    "reserved-command": "the command is reserved",
    "split-of-write": "a Split Response to a memory write or a Split Completion, which are posted",
    "ack64-without-req64": "ACK64# is asserted without REQ64#",
    "tag-reused": "a request is split while one with the same requester and tag is still open",
    "unexpected-completion": "no request waits for a Split Completion with this requester and tag",
    "completion-count": "the byte count of a Split Completion is not what is still to come",
    "completion-address": "the lower address of a Split Completion is not where the data goes on",
    "completion-error": "a Split Completion Message reports an error",
    "split-unanswered": "no Split Completion has ended the request",
}

PCI_NAMES = Names(
    "pci",
    _COMMANDS,
    _TERMINATIONS,
    ("", "fast", "medium", "slow", "subtractive"),
    ("address", "data"),
    _ERROR_TEXTS,
)
PCIX_NAMES = Names(
    "pcix",
    _COMMANDS_X,
    _TERMINATIONS_X,
    # By the clock after the last address phase: 2, 3, 4 and 6.
    ("", "A", "B", "C", "subtractive"),
    ("address", "attribute", "data"),
    _ERROR_TEXTS_X,
)

# The kernels count the errors of both buses in one row.
ERRORS = tuple(dict.fromkeys((*_ERROR_TEXTS, *_ERROR_TEXTS_X)))


def message_text(message_class: int, index: int) -> str:
    """Return what a Split Completion Message means; empty where there is none."""
    if message_class < 0:
        return ""
    known = {
        (0, 0): "write completed",
        (1, 0): "bridge: master abort",
        (1, 1): "bridge: target abort",
        (1, 2): "bridge: write data parity error",
        (2, 0): "completer: byte count out of range",
        (2, 1): "completer: write data parity error",
    }
    if message_class == 2 and index & 0x80:
        return f"completer: device specific error {index:#x}"
    return known.get((message_class, index), f"class {message_class} index {index:#x}")


def parity_text(row: Mapping[str, Any]) -> str:
    """Return what PAR, and of 64 bits PAR64 before it, should have been and was, where it is known."""
    if row.get("seen", -1) < 0:
        return ""
    digits = 2 if row["wide"] else 1
    return f": expected {row['expected']:0{digits}b}, seen {row['seen']:0{digits}b}"
