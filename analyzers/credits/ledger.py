"""The account of every flow: words sent, credited, received, freed; what is outstanding and allowed.

All counts are modulo 2^credit_w, and differences are taken modulo that: two bits more than the
receiver's FIFO needs, so a difference is never ambiguous in a healthy link.

Source: docs/formats.md section 3; frozen_flow of the register map.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from freezeframe.analyzers.view import CaptureView
from freezeframe.capture.registers.layouts import CREDIT_FREED_LSB, CREDIT_FREED_MASK

__all__ = ["CreditLedger", "CreditTimes", "FlowAccount", "freed_of"]

Int64 = npt.NDArray[np.int64]


def freed_of(value: int) -> int:
    """Return ``freed`` of a CREDIT event's value (bits 0-39 of the credit word)."""
    return value >> CREDIT_FREED_LSB & CREDIT_FREED_MASK


@dataclass(frozen=True, slots=True, eq=False)
class CreditTimes:
    """Credits of one flow in one event log: positions in the log, times, and the words they tell."""

    positions: Int64
    t_ps: Int64
    freed: Int64

    def __len__(self) -> int:
        return len(self.positions)


_EMPTY = np.empty(0, np.int64)
_NONE = CreditTimes(_EMPTY, _EMPTY, _EMPTY)


@dataclass(frozen=True, slots=True)
class FlowAccount:
    """One flow of one direction as both freeze banks tell it; None where a bank may not be read.

    ``sent``, ``credited``, ``limit`` are the sender's; ``received``, ``freed``, ``reported`` and
    ``depth`` (of the FIFO that all flows share) the receiver's. Words.
    """

    sender: str
    receiver: str
    flow: int
    modulus: int | None
    sent: int | None = None
    credited: int | None = None
    limit: int | None = None
    received: int | None = None
    freed: int | None = None
    reported: int | None = None
    depth: int | None = None
    credit_unit: int | None = None
    sent_credits: CreditTimes = field(default_factory=lambda: _NONE)
    taken_credits: CreditTimes = field(default_factory=lambda: _NONE)

    @property
    def direction(self) -> str:
        return f"{self.sender}->{self.receiver}"

    @property
    def outstanding(self) -> int | None:
        """Words sent for which no credit has come back, by the sender's own books."""
        return self._difference(self.sent, self.credited)

    @property
    def free(self) -> int | None:
        """Words the sender may still send; negative when it is beyond its limit."""
        if self.limit is None or self.outstanding is None:
            return None
        return self.limit - self.outstanding

    @property
    def withheld(self) -> int | None:
        """Words freed at the receiver that the sender was not credited."""
        return self._difference(self.freed, self.credited)

    @property
    def waiting(self) -> int | None:
        """Words received and not freed: they are in the receiver's FIFO."""
        return self._difference(self.received, self.freed)

    @property
    def on_the_way(self) -> int | None:
        """Words sent and not received."""
        return self._difference(self.sent, self.received)

    @property
    def sent_has_wrapped(self) -> bool:
        """The sender's count has passed zero and the credited count has not followed yet."""
        return self.sent is not None and self.credited is not None and self.sent < self.credited

    @property
    def used(self) -> bool:
        """Anything was ever counted on this flow."""
        counts = (self.sent, self.credited, self.received, self.freed)
        return any(counts) or len(self.sent_credits) > 0 or len(self.taken_credits) > 0

    def _difference(self, ahead: int | None, behind: int | None) -> int | None:
        if ahead is None or behind is None or self.modulus is None:
            return None
        return (ahead - behind) % self.modulus


class CreditLedger:
    """Accounts of all flows that were used, for every direction; captures stay in order."""

    name = "credit-ledger"

    def init(self) -> tuple[FlowAccount, ...]:
        return ()

    def step(self, state: tuple[FlowAccount, ...], batch: CaptureView) -> tuple[FlowAccount, ...]:
        found = []
        for sender, receiver in batch.directions:
            for flow in range(_flows(batch)):
                account = _account(batch, sender, receiver, flow)
                if account.used:
                    found.append(account)
        return (*state, *found)

    def merge(self, states: Sequence[tuple[FlowAccount, ...]]) -> tuple[FlowAccount, ...]:
        return tuple(account for state in states for account in state)

    def finish(self, state: tuple[FlowAccount, ...]) -> tuple[FlowAccount, ...]:
        return state


def _flows(view: CaptureView) -> int:
    return max((device.identity.flows_count for device in view.devices), default=0)


def _account(view: CaptureView, sender: str, receiver: str, flow: int) -> FlowAccount:
    def register(device: str, name: str) -> int | None:
        capture = view.device(device)
        if capture is None or flow >= capture.identity.flows_count:
            return None
        return view.value(device, f"frozen_flow.{name}", flow)

    ends = [view.device(receiver), view.device(sender)]
    widths = [end.identity.flows_credit_w for end in ends if end is not None]
    behind = ends[0]
    return FlowAccount(
        sender=sender,
        receiver=receiver,
        flow=flow,
        modulus=1 << widths[0] if widths else None,
        sent=register(sender, "sent"),
        credited=register(sender, "credited"),
        limit=register(sender, "limit"),
        received=register(receiver, "received"),
        freed=register(receiver, "freed"),
        reported=register(receiver, "reported"),
        depth=behind.identity.rx_fifo if behind is not None else None,
        credit_unit=behind.identity.credit_unit if behind is not None else None,
        sent_credits=_credits(view, receiver, flow, "sent"),
        taken_credits=_credits(view, sender, flow, "taken"),
    )


def _credits(view: CaptureView, device: str, flow: int, code: str) -> CreditTimes:
    log = view.flow_log(device)
    if log is None:
        return _NONE
    at = log.select("CREDIT", code, flow=flow)
    freed = log.value[at] >> CREDIT_FREED_LSB & CREDIT_FREED_MASK
    return CreditTimes(at, log.t_ps[at], freed)
