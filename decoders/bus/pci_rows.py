"""Rows, names and state of the PCI kernels, as numpy records.

Source: PCI Local Bus Specification 3.0, 3.1.1 (commands), 3.3.3 (terminations), 3.6.1 (DEVSEL#).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = [
    "COMMANDS",
    "DEVSELS",
    "ERRORS",
    "ERROR_TEXTS",
    "PENDING",
    "PENDING_RETRIES",
    "PHASES",
    "STATE",
    "TERMINATIONS",
    "TRANSACTION_ROW",
    "error",
    "new_transaction",
    "parity_said",
]

COMMANDS = (
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

TERMINATIONS = (
    "",
    "completion",
    "retry",
    "disconnect-with-data",
    "disconnect-without-data",
    "target-abort",
    "master-abort",
)

DEVSELS = ("", "fast", "medium", "slow", "subtractive")
PHASES = ("address", "data")

ERROR_TEXTS = {
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
ERRORS = tuple(ERROR_TEXTS)


def error(name: str) -> int:
    """Return the number of an error, for a constant of a kernel."""
    return ERRORS.index(name)


TRANSACTION_ROW = np.dtype(
    [
        (name, np.int64)
        for name in (
            "error",  # index of ERRORS
            "number",  # of the transaction in the capture
            "sample",
            "end_sample",
            "command",  # of the last address phase
            "address",  # 64-bit pattern
            "dual",
            "wide",  # 1: REQ64# and ACK64#
            "first_data",  # number of its first data phase in the capture
            "data_phases",  # in which data went over
            "size_B",
            "initiator_waits",
            "target_waits",
            "devsel",
            "termination",
            "data_sample",  # the clock of the first data, -1
            "parity_errors",
            "perr",
            "serr",
            "locked",
            "idsel",
            "preempted",
            "retries",  # of the same before it
            "first_try",  # number of the first of them, its own without
            "expected",  # of an error about parity: PAR, and PAR64 as bit 1; -1 else
            "seen",
        )
    ]
)

PENDING_RETRIES = 64  # transactions that wait to be repeated; one more, and the oldest is told
PENDING = np.dtype(
    [
        (name, np.int64)
        for name in ("command", "address", "enables", "count", "number", "sample", "end_sample")
    ]
)

STATE = np.dtype(
    [
        (name, np.int64)
        for name in (
            "mode",  # 0 not yet idle, 1 idle, 2 second address phase, 3 data phases
            "clock",  # since the last address phase
            "phase_clock",  # the same at the end of the last data phase
            "phase_at",
            "initiator_waits",  # of the phase so far
            "target_waits",
            "phase_done",  # 1: the clock before completed a data phase
            "frame_gone",  # 1: FRAME# was deasserted since the address phase
            "req64",
            "stop",  # 0, or the termination that STOP# asked for
            "stopped",  # clocks at which STOP# ended a data phase
            "selected",  # 1: DEVSEL# was asserted
            "enables",  # of the first data phase, -1
            "told_initiator",
            "told_target",
            "told_idle",
            "transactions",
            "data_phases",
            "pending",
        )
    ]
    + [("last", np.uint64)]  # the low channels at the clock before
)


def parity_said(row: Mapping[str, Any]) -> str:
    """Return what PAR, and of 64 bits PAR64 before it, should have said and said, where it is known."""
    if row.get("seen", -1) < 0:
        return ""
    digits = 2 if row["wide"] else 1
    return f": expected {row['expected']:0{digits}b}, seen {row['seen']:0{digits}b}"


def new_transaction() -> npt.NDArray[np.void]:
    """Return the row in which the open transaction is written down."""
    return np.zeros(1, dtype=TRANSACTION_ROW)
