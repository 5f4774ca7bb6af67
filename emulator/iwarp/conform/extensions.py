"""5xx: atomic operations and immediate data, which a peer need not have. Source: RFC 7306, 5 and 6."""

from __future__ import annotations

from freezeframe.emulator.iwarp.atomic import (
    ALL,
    COMPARE_SWAP,
    FETCH_ADD,
    RESPONSE_B,
    SWAP,
    WORD_B,
    AtomicRequest,
    parse_response,
)
from freezeframe.emulator.iwarp.conform.link import Link, Outcome
from freezeframe.emulator.iwarp.conform.outcome import FailedError, UnclearError
from freezeframe.emulator.iwarp.conform.requirement import requirement
from freezeframe.emulator.iwarp.conform.segments import NOWHERE
from freezeframe.emulator.iwarp.conform.trial import Trial
from freezeframe.emulator.iwarp.layout import ATOMIC_QUEUE, READ_QUEUE, Opcode

_CLAUSE = "RFC 7306, 5.1"


class _Word:
    """A word of the peer's region, set to 0 by an RDMA Write: the same in every byte order."""

    def __init__(self, trial: Trial) -> None:
        self.link = trial.open()
        region = trial.lent(2 * WORD_B)
        self.stag, self.to = region.stag, region.to + -region.to % WORD_B
        self.end = region.to + region.length
        self._identifier = 0x1000
        zero = self.link.tagged(Opcode.WRITE, bytes(WORD_B), stag=self.stag, to=self.to)
        self.link.send_segment(zero)

    def ask(
        self, operation: int, data: int, mask: int, compare: int = 0, compare_mask: int = 0,
        *, reserved: int = 0, size: int | None = None, **where: int,
    ) -> int:  # fmt: skip
        """Send an Atomic Request; return its identifier."""
        self._identifier += 1
        place = {"stag": self.stag, "to": self.to} | where
        request = AtomicRequest(
            reserved << 4 | operation, self._identifier, place["stag"], place["to"], data, mask,
            compare, compare_mask,
        )  # fmt: skip
        octets = request.to_bytes()[:size]
        self.link.send_segment(self.link.segment(Opcode.ATOMIC_REQUEST, octets, queue=READ_QUEUE))
        return self._identifier

    def answer(self) -> Outcome:
        """Hear the next Atomic Response."""
        outcome = self.link.hear(
            self.link.limit_s, lambda s: not s.tagged and s.opcode == Opcode.ATOMIC_RESPONSE
        )
        if outcome.segment is None or outcome.kind != "response":
            raise UnclearError(f"the peer serves no such operation: {outcome}")
        return outcome

    def was(self, operation: int, *operands: int) -> int:
        """Ask, and return what the word was."""
        self.ask(operation, *operands)
        payload = self.payload(self.answer())
        return parse_response(payload)[1]

    @staticmethod
    def payload(outcome: Outcome) -> bytes:
        payload = outcome.segment.payload if outcome.segment else b""
        if len(payload) != RESPONSE_B:
            raise FailedError(f"an Atomic Response of {len(payload)} octets; it has {RESPONSE_B}")
        return payload

    def expect(self, expected: int, operation: int = FETCH_ADD, *operands: int) -> None:
        """See what the word was, with an operation; without one it is left as it is."""
        was = self.was(operation, *(operands or (0, 0)))
        if was != expected:
            raise FailedError(f"the word was {was:#x}, expected {expected:#x}")

    def served(self) -> None:
        """See that the peer serves atomic operations at all."""
        self.was(FETCH_ADD, 0, 0)

    def refused(
        self, *causes: tuple[int, int, int], operation: int = FETCH_ADD, **changed: int
    ) -> str:
        """See that the peer, which serves others, refuses such a request, as `Link.judged`."""
        self.served()
        self.ask(operation, 1, 0, **changed)
        return self.link.judged(*causes)


@requirement(
    501,
    _CLAUSE,
    "FetchAdd adds, and brings what was there",
    "5 is added to 0, then 2^64 - 7; each must bring what was before",
    needs="region",
)
def _adds(trial: Trial) -> str:
    word = _Word(trial)
    word.expect(0, FETCH_ADD, 5, 0)
    word.expect(5, FETCH_ADD, (1 << 64) - 7, 0)
    word.expect((1 << 64) - 2)
    return "0, 5, 2^64 - 2"


@requirement(
    502,
    _CLAUSE,
    "nothing is carried out of a field that the mask of FetchAdd ends",
    "1 is added to 0xffffffff with bit 31 of the mask set; 0 must stand there then",
    needs="region",
)
def _fields(trial: Trial) -> str:
    word = _Word(trial)
    word.expect(0, FETCH_ADD, 0xFFFFFFFF, 0)
    word.expect(0xFFFFFFFF, FETCH_ADD, 1, 1 << 31)
    word.expect(0)
    return "nothing was carried"


@requirement(
    503,
    _CLAUSE,
    "Swap replaces the bits of its mask, and no others",
    "all bits, then 8 of them, are swapped; each must bring what was before",
    needs="region",
)
def _swaps(trial: Trial) -> str:
    word = _Word(trial)
    word.expect(0, SWAP, 0x0123456789ABCDEF, ALL)
    word.expect(0x0123456789ABCDEF, SWAP, ALL, 0xFF00)
    word.expect(0x0123456789ABFFEF)
    return "as its mask says"


@requirement(
    504,
    _CLAUSE,
    "CmpSwap swaps where the word is the one compared with, and else leaves it",
    "0 is compared with 1, then with 0; the word must change by the second alone",
    needs="region",
)
def _compares(trial: Trial) -> str:
    word = _Word(trial)
    word.expect(0, COMPARE_SWAP, 7, ALL, 1, ALL)
    word.expect(0, COMPARE_SWAP, 9, ALL, 0, ALL)
    word.expect(9)
    return "by the second alone"


@requirement(
    505,
    _CLAUSE,
    "CmpSwap compares the bits of one mask and replaces those of the other",
    "0xf0 is compared with 0xff in its high bits, and bit 0 swapped; 0xf1 must stand there then",
    needs="region",
)
def _masks(trial: Trial) -> str:
    word = _Word(trial)
    word.expect(0, FETCH_ADD, 0xF0, 0)
    word.expect(0xF0, COMPARE_SWAP, ALL, 1, 0xFF, 0xF0)
    word.expect(0xF1)
    return "0xf1"


@requirement(
    506,
    "RFC 7306, 5.2.2",
    "an Atomic Response is on queue 3, with the identifier of its request, in order of the requests",
    "three are asked for at once; identifiers, queue, MSNs and offsets must be right",
    needs="region",
)
def _responses(trial: Trial) -> str:
    word = _Word(trial)
    with word.link.at_once():
        asked = [word.ask(FETCH_ADD, 1, 0) for _ in range(3)]
    for number, identifier in enumerate(asked):
        outcome = word.answer()
        said, was = parse_response(word.payload(outcome))
        if (said, was) != (identifier, number):
            raise FailedError(
                f"identifier {said:#x}, word {was:#x}; {identifier:#x} and {number} come next"
            )
        segment = outcome.segment
        place = (segment.queue, segment.msn, segment.mo, segment.last) if segment else None
        if place != (ATOMIC_QUEUE, number + 1, 0, True):
            raise FailedError(f"queue, MSN, MO, L are {place}")
    return "three, in order"


@requirement(
    507,
    "RFC 7306, 5.1",
    "an atomic operation on a word that is not aligned to 8 octets is an error",
    "one at an offset of 4 is asked for; it must be refused by a Terminate",
    needs="region",
)
def _aligned(trial: Trial) -> str:
    word = _Word(trial)
    return word.refused(to=word.to + 4)


@requirement(
    508,
    "RFC 7306, 8.2",
    "an atomic operation on an STag that is not valid is an error",
    "one is asked for: Terminate (0, 1, 0)",
    needs="region",
)
def _no_stag(trial: Trial) -> str:
    return _Word(trial).refused((0, 1, 0), stag=NOWHERE)


@requirement(
    509,
    "RFC 7306, 8.2",
    "an atomic operation behind the end of a buffer is an error",
    "one on the first word behind the region is asked for: Terminate (0, 1, 1)",
    needs="region",
)
def _no_room(trial: Trial) -> str:
    word = _Word(trial)
    return word.refused((0, 1, 1), to=word.end + -word.end % WORD_B)


@requirement(
    510,
    "RFC 7306, 5.2.1",
    "an Atomic Request has 52 octets",
    "one of 51 is sent; it must be refused by a Terminate",
    needs="region",
)
def _length(trial: Trial) -> str:
    return _Word(trial).refused(size=51)


@requirement(
    511,
    "RFC 7306, 5.2.1",
    "an atomic operation that is reserved is an error",
    "operation 15 is asked for; it must be refused by a Terminate",
    needs="region",
)
def _operation(trial: Trial) -> str:
    return _Word(trial).refused(operation=15)


@requirement(
    512,
    "RFC 7306, 5.2.1",
    "reserved bits of an Atomic Request are not checked",
    "one with all 28 set is sent; its Response must come",
    needs="region",
)
def _reserved(trial: Trial) -> str:
    word = _Word(trial)
    word.served()
    word.ask(FETCH_ADD, 1, 0, reserved=(1 << 28) - 1)
    try:
        word.answer()
    except UnclearError as error:
        raise FailedError(str(error)) from error
    return "answered"


def _immediate(trial: Trial, size: int) -> Link:
    link = trial.open()
    trial.room_B()
    link.send_segment(link.segment(Opcode.IMMEDIATE, bytes(size)))
    return link


@requirement(
    513,
    "RFC 7306, 6",
    "immediate data of eight octets is taken",
    "it is sent; FPDUs must pass then, or the opcode be refused as not known",
    needs="receives",
)
def _immediate_taken(trial: Trial) -> str:
    link = _immediate(trial, 8)
    link.ask_nothing()
    outcome = link.response()
    if outcome.cause == (0, 2, 6):
        raise UnclearError("the peer does not know immediate data")
    if outcome.kind != "response":
        raise FailedError(f"not accepted: {outcome}")
    return "accepted: a Read of no octets behind it was answered"


@requirement(
    514,
    "RFC 7306, 6",
    "immediate data has eight octets",
    "seven are sent; they must be refused by a Terminate",
    needs="receives",
)
def _immediate_length(trial: Trial) -> str:
    return _immediate(trial, 7).judged()
