"""One register or counter of a card is wrong; what it counts or stands for is right."""

from __future__ import annotations

from collections.abc import Callable

from freezeframe.capture.registers.layouts import Cause, Domain
from freezeframe.emulator.bank import Bank, Values
from freezeframe.emulator.faults.base import A, B
from freezeframe.emulator.memory import Words
from freezeframe.emulator.open_world.base import Unlisted
from freezeframe.emulator.open_world.recorder import AtFreeze
from freezeframe.emulator.packet import HEAD_WORDS, flipped, header_in

Wrong = Callable[["Register", Values], tuple[str, int]]


class Register(AtFreeze):
    """One register of the freeze bank. ``how`` changes it and returns its name and the bit (or what was added)."""

    def __init__(self, name: str, how: Wrong) -> None:
        super().__init__(name)
        self._how = how

    def falsify(self, bank: Bank) -> None:
        register, bit = self._how(self, bank.values)
        self.shown(register=register, bit=bit)


def _flip(values: Values, name: str, index: tuple[int, ...], bit: int) -> tuple[str, int]:
    values[name, index] ^= 1 << bit
    return f"{name}{list(index) if index else ''}", bit


def level_one_off(fault: Register, values: Values) -> tuple[str, int]:
    """A level says one more, or one less where it can, than is in the FIFO."""
    name = fault.draw.choice(("frozen.tx_level", "frozen.rx_level"))
    step = -1 if values[name, ()] and fault.draw.random() < 0.5 else 1
    values[name, ()] += step
    return name, step


def level_bit(fault: Register, values: Values) -> tuple[str, int]:
    """One bit of a FIFO's level."""
    name = fault.draw.choice(("frozen.tx_level", "frozen.rx_level"))
    return _flip(values, name, (), fault.draw.randrange(1, 10))


def _flow(fault: Register, values: Values, names: tuple[str, ...], bits: range) -> tuple[str, int]:
    flow = fault.draw.choice(fault.nic.host.sending.flows)
    name = f"frozen_flow.{fault.draw.choice(names)}"
    return _flip(values, name, (flow,), fault.draw.choice(bits))


def flow_count(fault: Register, values: Values) -> tuple[str, int]:
    """One bit of a flow's count that credits are compared with."""
    return _flow(fault, values, ("sent", "credited", "received", "freed", "reported"), range(12))


def flow_limit(fault: Register, values: Values) -> tuple[str, int]:
    """One bit of a flow's limit, as it is read; the one that is used is right."""
    return _flow(fault, values, ("limit",), range(12))


def flow_words(fault: Register, values: Values) -> tuple[str, int]:
    """One bit of a flow's count of words."""
    return _flow(fault, values, ("words_sent", "words_received"), range(16))


def machine(fault: Register, values: Values) -> tuple[str, int]:
    """One bit of a state machine's state."""
    return _flip(values, "frozen.machine", (fault.draw.randrange(4),), fault.draw.randrange(3))


def sequence(fault: Register, values: Values) -> tuple[str, int]:
    """One bit of a sequence number that comes next."""
    name = fault.draw.choice(("frozen.next_seq_in", "frozen.next_seq_out"))
    return _flip(values, name, (), fault.draw.randrange(16))


def freeze_cycle(fault: Register, values: Values) -> tuple[str, int]:
    """One bit of the cycle in which everything stood still."""
    return _flip(values, "frozen.freeze_cycle_lo", (), fault.draw.randrange(8, 20))


def lane_underflows(fault: Register, values: Values) -> tuple[str, int]:
    """One bit of a lane's count of underflows."""
    return _flip(
        values, "frozen.lane.underflows", (fault.draw.randrange(2),), fault.draw.randrange(8)
    )


def waiting(fault: Register, values: Values) -> tuple[str, int]:
    """One bit of the completions that wait."""
    return _flip(values, "frozen.completions_waiting", (), fault.draw.randrange(6))


class Counter(AtFreeze):
    """One counter counts wrong since power-up, in snapshots and freeze bank alike.

    Attributes:
        what: "narrow" (12 bits), "saturates" (at 1,023), "starts-late" (1,000 too many from before), "twice", "leaks"
            (every eighth is not counted), "upset" (one bit).
    """

    def __init__(self, name: str, what: str, counters: tuple[str, ...]) -> None:
        super().__init__(name)
        self._what = what
        self._counters = counters

    def prepare(self) -> None:
        super().prepare()
        self._counter = self.draw.choice(self._counters)
        self._bit = self.draw.randrange(12)

    def counts(self, values: dict[str, int]) -> None:
        value = values[self._counter]
        values[self._counter] = {
            "narrow": value & 0xFFF,
            "saturates": min(value, 1023),
            "starts-late": value + 1000,
            "twice": 2 * value,
            "leaks": value - value // 8,
            "upset": value ^ 1 << self._bit,
        }[self._what]

    def falsify(self, bank: Bank) -> None:
        bit = self._bit if self._what == "upset" else None
        self.shown(register=self._counter, bit=bit)


class CrossedCounters(AtFreeze):
    """Two counters are wired to each other's place."""

    def counts(self, values: dict[str, int]) -> None:
        one, other = "rx_enq_words", "tx_deq_words"
        values[one], values[other] = values[other], values[one]

    def falsify(self, bank: Bank) -> None:
        self.shown(register="rx_enq_words")


class CauseUpset(AtFreeze):
    """The latch of the causes has a bit more than came."""

    def falsify(self, bank: Bank) -> None:
        cause = self.draw.choice(
            (Cause.PAY_CRC, Cause.HDR_CRC, Cause.LENGTH, Cause.RX_OVF, Cause.SEQUENCE)
        )
        self.nic.freeze.causes |= 1 << cause
        self.shown(register="ctl.causes", bit=int(cause))


class CauseMasked(Unlisted):
    """The mask of the causes is wrong: a bit that changes on the link freezes nothing."""

    card = B
    no_begin = "it is in the mask from the start of a run on"

    def started(self) -> None:
        self.nic.config.cause_mask &= ~(1 << Cause.PAY_CRC)

    def arriving(self, words: Words) -> Words:
        header = header_in(words)
        if not self.ready() or not header.length:
            return words
        word = self.draw.randrange(header.length)
        self.hit("rx_enq", words, HEAD_WORDS + word)
        return flipped(words, HEAD_WORDS + word, [self.draw.randrange(64)])


class CauseRaised(Unlisted):
    """A cause comes from nowhere and freezes the card."""

    def prepare(self) -> None:
        self.card = self.draw.choice((A, B))

    def started(self) -> None:
        self.later(self._raise)

    def _raise(self) -> None:
        cause = self.draw.choice((Cause.PAY_CRC, Cause.LENGTH, Cause.RX_OVF, Cause.CREDIT_PARITY))
        self.strike(None, register="ctl.causes", bit=int(cause))
        self.nic.recording.raise_cause(cause, Domain.LINK)
