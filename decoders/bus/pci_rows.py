"""Rows and state of the PCI and PCI-X kernels: one record that holds all, and the arrays beside it.

One record, because numba passes it as a pointer: who holds an array is counted in every function that
gets it, which took ten times as long as the rules themselves.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from freezeframe.decoders.bus.pci_names import Names

ROWS = 4096  # that are taken at once
ROWS_A_CLOCK = 16  # more than one clock can give
PENDING_RETRIES = (
    64  # transactions that wait to be repeated; one more, and the oldest is given as an error
)
PENDING_SPLITS = 256  # the same of split requests that wait for their completion

# Modes of the machine: not yet idle, idle, second address phase, attribute phase, data phases.
SYNC, IDLE, SECOND_ADDRESS, ATTRIBUTE, DATA = range(5)

# The fields of a transaction, and what each is where nothing is known of it.
_TRANSACTION_FIELDS = {
    "error": 0,  # index of ERRORS
    "number": -1,  # of the transaction in the capture
    "sample": 0,
    "end_sample": 0,
    "command": -1,  # of the last address phase
    "address": -1,  # 64-bit pattern; of a Split Completion the lower address
    "dual": 0,
    "wide": 0,  # 1: REQ64# and ACK64#
    "data_phases": 0,  # in which data went over
    "size_B": 0,
    "initiator_waits": 0,
    "target_waits": 0,
    "devsel": 0,
    "termination": 0,
    "data_sample": -1,  # the clock of the first data
    "parity_errors": 0,
    "perr": 0,
    "serr": 0,
    "expected": -1,  # of an error about parity: PAR, and PAR64 as bit 1
    "seen": -1,
    # Of conventional PCI alone:
    "locked": 0,
    "idsel": 0,
    "preempted": 0,
    "retries": 0,  # of the same before it
    "first_try": -1,  # number of the first of them, its own without
    # Of PCI-X alone:
    "requester": -1,  # bus, device, function: 8, 5, 3 bits
    "tag": -1,
    "completer": -1,  # of a Split Completion
    "byte_count": -1,
    "relaxed": 0,
    "no_snoop": 0,
    "modified": 0,  # the byte count of a Split Completion
    "message": 0,  # 1: a Split Completion Message, whose class and index follow
    "message_class": -1,
    "message_index": -1,
    "split_of": -1,  # number of the request that a Split Completion answers
}


def _record(*fields: str) -> np.dtype[np.void]:
    return np.dtype([(field, np.int64) for field in fields])


_TRANSACTION = _record(*_TRANSACTION_FIELDS)

_RETRY = _record("command", "address", "enables", "count", "number", "sample", "end_sample")

_SPLIT = _record(
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

_STATE = _record(
    "mode",
    "steady",  # 1: the clock before was one of a burst that goes on
    "clock",  # since the last address phase
    "req64",
    "selected",  # clock of DEVSEL#, 0 before
    "frame_gone",  # 1: FRAME# was deasserted since the address phase
    "asked",  # 0, or the termination that the target asked for
    "told_target",  # 1: that the target is late was told
    # Of conventional PCI alone:
    "phase_clock",  # `clock` at the end of the last data phase
    "phase_at",  # the sample of that
    "phase_done",  # 1: the clock before completed a data phase
    "initiator_waits",  # of the phase so far
    "target_waits",
    "stopped",  # clocks at which STOP# ended a data phase
    "enables",  # of the first data phase, -1
    "told_initiator",
    "told_idle",
    "retries",  # that wait to be repeated
    # Of PCI-X alone:
    "answered",  # 1: the target signaled something else than wait
    "over",  # 1: no data is to come any more
    "needed",  # data phases that the byte count makes
    "low_data",  # AD31..0 of the first data phase
    "splits",  # that are open
    "ended",  # splits that ended and were not taken yet
    "transactions",  # in the capture
    "rows",  # that are not taken yet, and phases and data phases
    "phases",
    "data_phases",
)


class Phases(NamedTuple):
    """Arrays of phases, an entry a clock at most, and of the data phases alone.

    ``longs`` are rows of begin, end, value on AD and number of the transaction; ``codes`` waits of
    initiator and target, kind, command (one beyond the last for none) and parity; ``small`` byte
    enables, and whether it is wide. Few arrays, because a kernel is called sooner with few.
    """

    longs: npt.NDArray[np.int64]
    codes: npt.NDArray[np.int32]
    small: npt.NDArray[np.uint8]
    data: npt.NDArray[np.int64]
    data_enables: npt.NDArray[np.uint8]


# In what PCI-X is another bus than PCI, and what is known of the signals.
_BUS = np.dtype(
    [
        ("extended", np.int64),  # 1: PCI-X, with an attribute phase and no waits
        ("to_perr", np.int64),  # clocks from a data phase to its PERR#
        ("data_kind", np.int64),  # the numbers of a data phase's kind and of no command
        ("no_command", np.int64),
        ("absent", np.uint64),  # lines that must be taken as 1
        ("wide", np.int64),  # the 64-bit extension is there
        ("has_par", np.int64),
        ("has_par64", np.int64),
        ("recorded", np.int64),  # clocks; after them the end of the capture stands in
    ]
)

# The clock that is decoded, and what comes after it as far as it matters.
_CLOCK = np.dtype(
    [
        ("sample", np.int64),
        ("end", np.int64),  # samples of the next clock, of the one after it, and of PERR#
        ("parity_end", np.int64),
        ("perr_end", np.int64),
        ("low", np.uint64),
        ("high", np.uint64),
        ("before", np.uint64),  # the low channels at the clock before and the one after
        ("after", np.uint64),
        ("has_after", np.int64),
        ("perr", np.int64),  # 1: PERR# is asserted when it would be for a data phase here
    ]
)

# A phase that is to be written down, as `Phases` have it.
_PHASE = np.dtype(
    [
        ("sample", np.int64),
        ("end_sample", np.int64),
        ("value", np.uint64),
        ("transaction", np.int64),
        ("initiator_waits", np.int64),
        ("target_waits", np.int64),
        ("kind", np.int64),
        ("command", np.int64),
        ("parity", np.int64),
        ("enables", np.uint64),
        ("wide", np.int64),
    ]
)

_MACHINE = np.dtype(
    [
        ("bus", _BUS),
        ("clock", _CLOCK),
        ("state", _STATE),
        ("phase", _PHASE),
        ("current", _TRANSACTION),  # the open transaction
        ("blank", _TRANSACTION),  # one of which nothing is known
        ("retries", _RETRY, PENDING_RETRIES + 1),
        ("splits", _SPLIT, PENDING_SPLITS + 1),
        ("rows", _TRANSACTION, ROWS),
        ("ended", _SPLIT, 2 * ROWS),  # two for each row at most
    ]
)


def new_machine(names: Names, *, extended: bool, to_perr: int) -> npt.NDArray[np.void]:
    """Return the record at the start of a capture: an array of one."""
    machine = np.zeros(1, dtype=_MACHINE)
    bus = machine["bus"]
    bus["extended"] = extended
    bus["to_perr"] = to_perr
    bus["data_kind"] = names.phases.index("data")
    bus["no_command"] = len(names.commands)
    machine["blank"] = machine["current"] = tuple(_TRANSACTION_FIELDS.values())
    return machine
