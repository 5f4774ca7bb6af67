"""header-miscounted: a counter of flow control leaves out header or CRC words of one packet in N.

At A the words sent are counted too low, so A believes B's FIFO to be emptier than it is, more with every such packet,
until the FIFO overflows. At B the words received and freed are counted too low, so A gets back less credit than it
used, until a message never fits any more. The words themselves are right at every tap.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from freezeframe.emulator.credit import Flow
from freezeframe.emulator.faults.base import Fault, Uncounted, is_a, is_b
from freezeframe.emulator.faults.shaping import keep_busy, slow_down
from freezeframe.emulator.packet import HEAD_WORDS
from freezeframe.emulator.profile import Profile
from freezeframe.emulator.traffic import Plan
from freezeframe.emulator.truth import Injection

if TYPE_CHECKING:
    from freezeframe.emulator.nic import Nic

__all__ = ["HeaderMiscounted"]

# What is left out, at the beginning and at the end, and of one packet in how many.
_SKIPS: tuple[tuple[Uncounted, int], ...] = (
    ((HEAD_WORDS, 0), 2),
    ((1, 0), 1),
    ((0, 1), 1),
    ((HEAD_WORDS, 0), 3),
    ((0, 1), 2),
)
_AT_RECEIVER = 3  # of them: nearly half a FIFO has to slip away there, which takes long enough


class HeaderMiscounted(Fault):
    """A count slips by a word or two, slowly and steadily."""

    name = "header-miscounted"

    def __init__(self) -> None:
        super().__init__()
        self.at_sender = False
        self._skips, self._every = _SKIPS[0]
        self.flow: int | None = None  # the one that B miscounts; None: all, at A

    def begin(self, seed: int, run: int, now_ps: int, tell: Callable[[Injection], None]) -> None:
        super().begin(seed, run, now_ps, tell)
        self.at_sender = self.draw.random() < 0.5
        self._packets = 0

    def shape(self, plan: Plan, profile: Profile) -> None:
        # A receiver slower than a light load frees so little that A stalls before B's FIFO overflows.
        self.at_sender = self.at_sender and plan.load != "light"
        self._skips, self._every = self.draw.choice(
            _SKIPS if self.at_sender else _SKIPS[:_AT_RECEIVER]
        )
        flow = keep_busy(self, plan, slow=False)
        self.flow = None if self.at_sender else flow
        sending = plan.sending[0]
        plan.sending[1].gap_ps *= 4
        if self.at_sender:
            sending.mix = (0.4, 0.6, 0.0)
            sending.weights = (1.0,) * len(sending.flows)
            slow_down(self, plan, 900, 1100)
        else:
            sending.mix = (0.75, 0.2, 0.05)

    def uncounted(self, nic: Nic, flow: Flow, sending: bool) -> Uncounted:
        here = is_a(nic) if self.at_sender else is_b(nic)
        if not here or sending != self.at_sender or self.flow not in (None, flow.number):
            return 0, 0
        self._packets += 1
        if self._packets % self._every:
            return 0, 0
        if not self.done:
            self.done = True
            self.tell(
                nic, None, self.flow, None, None, nic.now_ps,
                every_packets=self._every, words=sum(self._skips),
            )  # fmt: skip
        return self._skips
