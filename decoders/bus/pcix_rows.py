"""Rows, names and state of the PCI-X kernels, as numpy records.

Source: PCI-X Addendum to the PCI Local Bus Specification 1.0b, chapter 2 (commands, attributes, target data phase
signaling, Split Completions), for mode 1 of 2.0 too.
"""

from __future__ import annotations

import numpy as np

__all__ = [
    "COMMANDS",
    "DEVSELS",
    "ERRORS",
    "ERROR_TEXTS",
    "PENDING_SPLITS",
    "PHASES",
    "SPLIT_ROW",
    "STATE",
    "TERMINATIONS",
    "TRANSACTION_ROW",
    "error",
    "message_text",
]

COMMANDS = (
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

TERMINATIONS = (
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

# By the clock after the last address phase: 2, 3, 4 and 6.
DEVSELS = ("", "A", "B", "C", "subtractive")
PHASES = ("address", "attribute", "data")

ERROR_TEXTS = {
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
ERRORS = tuple(ERROR_TEXTS)


def error(name: str) -> int:
    """Return the number of an error, for a constant of a kernel."""
    return ERRORS.index(name)


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


TRANSACTION_ROW = np.dtype(
    [
        (name, np.int64)
        for name in (
            "error",  # index of ERRORS
            "number",
            "sample",
            "end_sample",
            "command",
            "address",  # of a Split Completion the lower address
            "dual",
            "wide",
            "requester",  # bus, device, function: 8, 5, 3 bits
            "tag",
            "completer",  # of a Split Completion, -1 else
            "byte_count",
            "relaxed",
            "no_snoop",
            "modified",  # BCM, SCE and SCM of a Split Completion
            "completion_error",
            "message",
            "message_class",  # -1 without a message
            "message_index",
            "first_data",
            "data_phases",
            "size_B",
            "target_waits",
            "devsel",
            "termination",
            "data_sample",
            "parity_errors",
            "perr",
            "serr",
            "split_of",  # number of the request that a Split Completion answers, -1
            "expected",  # of an error about parity: PAR, and PAR64 as bit 1; -1 else
            "seen",
        )
    ]
)

PENDING_SPLITS = 256  # one more, and the oldest is told
SPLIT_ROW = np.dtype(
    [
        (name, np.int64)
        for name in (
            "error",
            "request",  # number of the transaction
            "completion",  # number of the last Split Completion, -1
            "requester",
            "tag",
            "completer",
            "command",
            "address",
            "byte_count",  # asked for; 0 for a write
            "received_B",
            "completions",
            "message_class",
            "message_index",
            "sample",  # begin of the request
            "split_sample",  # its end
            "answer_sample",  # begin of the first Split Completion, -1
            "end_sample",
        )
    ]
)

STATE = np.dtype(
    [
        (name, np.int64)
        for name in (
            "mode",
            "clock",  # since the last address phase
            "selected",  # clock of DEVSEL#, 0 before
            "answered",  # 1: the target said something else than wait
            "over",  # 1: no data is to come any more
            "signal",  # the termination that the target asked for
            "frame_gone",
            "req64",
            "needed",  # data phases that the byte count makes
            "told_late",
            "transactions",
            "data_phases",
            "splits",  # that are open
            "ended",  # and that were not taken yet
        )
    ]
    + [("last", np.uint64), ("low_data", np.uint64)]
)
