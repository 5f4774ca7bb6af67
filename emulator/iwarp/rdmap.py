"""RDMAP: work becomes messages, messages become completions; two threads a connection.

Neither direction waits for the other. Whoever posts work sends it himself, and waits while the socket is full; or he
does not wait, and leaves the rest to a thread that sends (`Options.posts_wait`). Another thread receives; it does not
wait to send: what the socket does not take at once of its answers is left to the sending thread too.

Source: RFC 5040, 4 to 7; RFC 7306, 5 and 6 (immediate data, atomic operations); RFC 6581, 9.2 (ready to receive).
"""

from __future__ import annotations

import socket
import threading
import time
from collections import deque
from typing import Any

import numpy as np

from freezeframe.emulator.iwarp import atomic, mpa_receive
from freezeframe.emulator.iwarp import ddp_kernels as kernels
from freezeframe.emulator.iwarp.completion import Completion, CompletionQueue
from freezeframe.emulator.iwarp.ddp import DdpStream
from freezeframe.emulator.iwarp.ddp_kernels import (
    EVENT_INVALIDATES,
    EVENT_LENGTH,
    EVENT_OPCODE,
    EVENT_STAG,
    EVENTS,
)
from freezeframe.emulator.iwarp.errors import (
    BreachError,
    IwarpError,
    PeerClosedError,
    PeerGoneError,
    PeerSilentError,
    TerminatedError,
)
from freezeframe.emulator.iwarp.layout import (
    TERMINATE_QUEUE,
    Cause,
    Opcode,
    terminate_cause,
    terminate_payload,
)
from freezeframe.emulator.iwarp.memory import ProtectionDomain
from freezeframe.emulator.iwarp.mpa import Negotiated, Options
from freezeframe.emulator.iwarp.mpa_send import AGAIN, DONE
from freezeframe.emulator.iwarp.work import (
    ATOMIC_REQUEST,
    ATOMIC_RESPONSE,
    READ_REQUEST,
    READ_RESPONSE,
    TERMINATE,
    UNEXPECTED,
    UNSPECIFIED,
    WRITE,
    Refused,
    Work,
    answer_atomic,
    answer_read,
    ready_message,
)

_STALLED = -1
_DRAIN_S = 2.0
_LOOK_S = 0.002
_REVERSED_S = 0.05
_ANSWERS = {READ_RESPONSE, ATOMIC_RESPONSE}
_IMMEDIATE = {int(Opcode.IMMEDIATE), int(Opcode.IMMEDIATE_SOLICITED)}
_INVALIDATING = {int(Opcode.SEND_INVALIDATE), int(Opcode.SEND_SOLICITED_INVALIDATE)}
_GOES_ON = {kernels.HAPPENED, kernels.CONTROLLED, kernels.IDLE}


class RdmapStream:
    """A connection past its startup. ``error``: why it has ended, None while it lives."""

    def __init__(
        self,
        ddp: DdpStream,
        agreed: Negotiated,
        domain: ProtectionDomain,
        completions: CompletionQueue,
        owner: Any,
        options: Options,
    ) -> None:
        self.error: IwarpError | None = None
        self._ddp, self._agreed, self._domain = ddp, agreed, domain
        self._put, self._owner = completions.put, owner
        self._stall_s = options.stall_s
        self._post_flags = 0 if options.posts_wait else socket.MSG_DONTWAIT
        self._queue: deque[Work] = deque()
        self._answers: deque[Work] = deque()
        self._current: Work | None = None
        self._lock = threading.Lock()  # of sending: whoever has it sends what is queued
        self._more = threading.Semaphore(0)
        self._posting = threading.Lock()
        self._receive_ids: deque[Any] = deque()
        self._reads_sent: deque[Work] = deque()
        self._atomics_sent: deque[Work] = deque()
        self._reads_asked = self._reads_answered = 0  # by the peer
        self._heard = 0  # things that may end a stall
        self._may_send = agreed.initiator
        self._closing = self._stopped = False
        self._most_reads = min(agreed.ord, kernels.DEPTH)
        self.ended = threading.Event()
        self._quirks = options.quirks
        if options.quirks.tolerates:
            ddp.tolerate(*options.quirks.tolerates)
        if not agreed.initiator:
            ddp.expect_first(agreed.rtr and options.quirks.takes(agreed.rtr))
        elif agreed.rtr:
            self._answers.append(ready_message(agreed.rtr))
        self._threads = [
            threading.Thread(target=target, name=f"iwarp {name}", daemon=True)
            for name, target in (("receive", self._receive), ("send", self._send_rest))
        ]

    def start(self) -> None:
        for thread in self._threads:
            thread.start()
        self._drain()

    # Posting.

    def post(self, work: Work) -> None:
        """Queue work, and send what can be sent now.

        Raises:
            IwarpError: the connection has ended.
        """
        if self.error is not None:
            raise self.error
        self._queue.append(work)
        self._drain(self._post_flags)
        if self.error is not None and self.ended.is_set():
            self._flush()

    def post_receive(self, id: Any, address: int, length: int, keep: Any) -> bool:
        """Give memory to the next message of the peer's Sends; return whether there was room for it.

        Raises:
            IwarpError: the connection has ended.
        """
        with self._posting:
            if self.error is not None:
                raise self.error
            if self._ddp.receives_posted == kernels.DEPTH:
                return False
            self._receive_ids.append((id, keep))
            self._ddp.post_receive(address, length)
            return True

    # Sending.

    def _drain(self, flags: int = socket.MSG_DONTWAIT) -> None:
        """Send what is queued; ``flags`` (of sendmsg) say whether to wait while the socket is full.

        Who finds another at it may leave: that one looks again once it has let go.
        """
        while (self._queue or self._answers or self._current) and self._lock.acquire(False):
            heard = self._heard
            try:
                status = self._send_queued(flags)
            finally:
                self._lock.release()
            if status == DONE:
                continue
            if status == AGAIN:
                if not flags:
                    self._fail(PeerSilentError(f"the peer takes nothing for {self._stall_s:g} s"))
                self._more.release()
            if status == AGAIN or heard == self._heard:
                return

    def _pending(self) -> bool:
        return bool(self._answers or self._queue or self._current)

    def _send_rest(self) -> None:
        """The sending thread: whatever the socket did not take at once."""
        while self._more.acquire() and not self.ended.is_set():
            self._drain(0)

    def _send_queued(self, flags: int) -> int:
        """Send message after message; DONE, AGAIN, or `_STALLED` by something that the receiving thread will hear."""
        ddp = self._ddp
        while True:
            work = self._current
            if self._stopped:
                return _STALLED
            if work is not None:
                status = ddp.go_on(flags)
            else:
                if self.error is not None or not self._may_send:
                    return _STALLED
                queue = self._answers or self._queue
                if not queue:
                    return DONE
                work = queue[0]
                if work.expects is not None and not self._expect(work):
                    return _STALLED
                self._current = queue.popleft()
                _, _, opcode, address, length, _, stag, to, number, _, before, parts = work
                if before is not None:
                    before()
                if parts is None:
                    status = ddp.send(opcode, number, stag, to, address, length, flags)
                else:
                    status = ddp.send_list(opcode, stag, parts, flags)
            if status == AGAIN:
                return AGAIN
            if status != DONE:
                self._fail(PeerGoneError(f"the connection broke: {ddp.mpa.send_error()}"))
                return _STALLED
            self._current = None
            if work.kind:
                if work.expects is None:
                    self._tell(work.kind, work.id, work.length)
            elif work.opcode in _ANSWERS:
                self._reads_answered += 1

    def _expect(self, work: Work) -> bool:
        """Expect the response to a request; return False where too many are under way, until one has come."""
        if work.expects is None:
            raise RuntimeError("work that is no request expects no response")
        if self._ddp.reads_open + len(self._atomics_sent) >= self._most_reads:
            return False
        if work.opcode == ATOMIC_REQUEST:
            self._atomics_sent.append(work)
        else:
            self._reads_sent.append(work)
            self._ddp.expect_response(*work.expects)
        return True

    # Receiving.

    def _receive(self) -> None:
        """The receiving thread: until the connection ends, in whatever way."""
        ddp = self._ddp
        receive, state, happened = ddp.receive, ddp.state, kernels.HAPPENED
        try:
            while True:
                status = receive()
                for row in range(state[EVENTS]):
                    self._event(row)
                if status == happened and self._may_send and self.error is None:
                    continue  # soon: until the kernel lets go of the interpreter's lock, who waited cannot go on
                if status == kernels.CONTROLLED:
                    self._control(*ddp.control())
                if not self._may_send and status != kernels.IDLE:
                    self._first(status)
                if status in _GOES_ON and self.error is None:
                    continue
                if self.error is None:
                    self._over(status)
                return
        finally:
            self._end()

    def _first(self, status: int) -> None:
        """The first FPDU has come: this end may send too. So it may where that was a wrong one: it has to say so."""
        if status in (kernels.HAPPENED, kernels.CONTROLLED, kernels.BREACH):
            self._ddp.first_came()
            self._may_send = True
            self._heard += 1
            if status != kernels.BREACH:
                self._drain()

    def _event(self, row: int) -> None:
        """Tell of a message that has arrived whole."""
        rows = self._ddp.events
        opcode, length = rows[row, EVENT_OPCODE], rows[row, EVENT_LENGTH]
        if opcode == READ_RESPONSE:
            work = self._reads_sent.popleft()
            self._tell(work.kind, work.id, length)
            self._heard += 1
            self._drain()
            return
        if opcode == WRITE:
            self._tell("written", None, length, None, 0, rows[row, EVENT_STAG])
            return
        stag = 0
        if opcode in _INVALIDATING:
            stag = rows[row, EVENT_INVALIDATES]
            if not self._domain.invalidate(stag):
                text = f"asks to invalidate STag {stag:#010x}, which it may not"
                self._breach(Cause(0, 1, 9), text)
                return
        if opcode in _IMMEDIATE and (length != 8 or "no-immediate" in self._quirks):
            self._breach(UNSPECIFIED, f"sent immediate data of {length} octets")
            return
        id, _ = self._receive_ids.popleft()
        self._put(Completion("receive", id, length, None, opcode, stag, self._owner))

    def _control(self, opcode: int, queue: int, payload: bytes) -> None:
        if queue == TERMINATE_QUEUE:
            self._terminated(payload)
        elif opcode == READ_REQUEST:
            self._answer(answer_read(payload, self._domain))
        elif opcode == ATOMIC_REQUEST:
            self._answer(answer_atomic(payload, self._domain, self._quirks))
        elif opcode == ATOMIC_RESPONSE:
            self._atomic_answered(payload)
        else:
            self._breach(UNEXPECTED, f"opcode {opcode} is not served")

    def _closing_late(self) -> None:
        """Hold the connection open much longer than anybody waits (`quirks`)."""
        time.sleep(2 * self._stall_s)

    def _terminated(self, payload: bytes) -> None:
        if "terminate-answered" in self._quirks:
            self._breach(UNEXPECTED, "ended it")
            return
        try:
            cause = terminate_cause(payload)
        except ValueError as error:
            self._fail(TerminatedError(f"the peer ended it: {error}", (0, 0, 0), payload))
            return
        layer, etype, code = cause
        text = f"the peer sent a Terminate: layer {layer}, type {etype}, code {code:#04x}"
        self._fail(TerminatedError(text, cause, payload))

    def _answer(self, answer: Work | Refused) -> None:
        """Answer a request of the peer; what is not to be served, or is one too many, is a breach."""
        most = self._agreed.ird
        if isinstance(answer, Refused):
            self._breach(*answer)
        elif self._reads_asked - self._reads_answered >= most:
            text = f"sent more than {most} Reads and atomic operations at once"
            self._breach(Cause(1, 2, 2), text)
        else:
            self._reads_asked += 1
            self._answers.append(answer)
            if "reads-reversed" in self._quirks:
                self._answers.rotate()
                if self._ddp.mpa.more(_REVERSED_S):
                    return
            self._drain()

    def _atomic_answered(self, payload: bytes) -> None:
        """Take an Atomic Response; they come in the order of their requests."""
        work = self._atomics_sent[0] if self._atomics_sent else None
        if work is None or work.expects is None:
            self._breach(UNEXPECTED, "sent an Atomic Response that was not asked for")
            return
        if len(payload) != atomic.RESPONSE_B:
            self._breach(UNSPECIFIED, f"sent an Atomic Response of {len(payload)} octets")
            return
        asked, address = work.expects
        identifier, word = atomic.parse_response(payload)
        if identifier != asked:
            self._breach(UNEXPECTED, f"answers atomic operation {identifier}, {asked} is next")
            return
        atomic.store(address, word)
        self._atomics_sent.popleft()
        self._tell(work.kind, work.id, atomic.WORD_B)
        self._heard += 1
        self._drain()

    # The end.

    def _over(self, status: int) -> None:
        """The kernel cannot go on: say why."""
        mpa = self._ddp.mpa
        if status == kernels.BREACH:
            self._breach(self._ddp.breach(), "")
        elif status == kernels.SILENT:
            self._fail(
                PeerSilentError(f"the peer fell silent inside an FPDU, for {self._stall_s:g} s")
            )
        elif status != mpa_receive.CLOSED:
            self._fail(PeerGoneError(f"the connection broke: {mpa.receive_error()}"))
        elif "open-after-fin" in self._quirks:
            self._closing_late()
            self._fail(PeerGoneError("the peer has closed the connection"))
        elif mpa.inside:
            self._fail(PeerGoneError("the connection ended inside an FPDU", inside=True))
        else:
            self._fail(PeerClosedError("the peer has closed the connection"))

    def _breach(self, cause: Cause, text: str, read_request: bytes = b"") -> None:
        """Answer what the peer did wrong: a Terminate goes out, and nothing after it."""
        quirks = self._quirks
        if cause == quirks.tolerates:
            return
        cause = Cause(*quirks.says.get(cause, cause))
        layer, etype, code = cause
        said = f"layer {layer}, type {etype}, code {code:#04x}"
        silent = layer == 2 or "terminate-without-header" in quirks
        header, length = (b"", 0) if silent else self._ddp.header()
        if "terminate-without-read" in quirks:
            read_request = b""
        self._stopped = True
        payload = np.frombuffer(terminate_payload(cause, header, read_request, length), np.uint8)
        with self._lock:
            self._ddp.abandon()  # the segment that is under way is ended, its message is not
            told = "no-terminate" not in quirks
            if told and (self._current is None or self._ddp.go_on(0) == DONE):
                place = int(payload.ctypes.data)
                self._ddp.send(TERMINATE, TERMINATE_QUEUE, 0, 0, place, len(payload), 0)
            if "open-after-terminate" in quirks:
                self._closing_late()
            self._ddp.mpa.end_output()
        self.error = BreachError(f"the peer {text or 'broke a rule'}: Terminate, {said}", cause)

    def _fail(self, error: IwarpError) -> None:
        """The connection is over, for this reason or one that came before; who waits for the socket wakes up."""
        if self.error is None:
            self.error = error
        self._ddp.mpa.abort()

    def _end(self) -> None:
        """The receiving thread's last: nothing that was posted is left without its completion."""
        if self.error is None:  # an exception ends this thread: never leave the user waiting
            self.error = PeerGoneError("the receiving thread has ended")
        if not self._stopped:
            self._ddp.mpa.abort()
        self.ended.set()
        self._more.release()
        self._flush()
        with self._posting:
            while self._receive_ids:
                self._tell("receive", self._receive_ids.popleft()[0], 0, self.error)
        for sent in (self._reads_sent, self._atomics_sent):
            while sent:
                work = sent.popleft()
                self._tell(work.kind, work.id, 0, self.error)
        self._tell("closed", None, 0, None if self._closing else self.error)
        if self._stopped:  # with a reset now, our Terminate could be lost
            self._ddp.mpa.drain(min(_DRAIN_S, self._stall_s))
            self._ddp.mpa.abort()

    def _flush(self) -> None:
        with self._lock:
            left = [] if self._current is None else [self._current]
            self._current = None
        while self._queue:
            left.append(self._queue.popleft())
        for work in left:
            if work.kind:
                self._tell(work.kind, work.id, 0, self.error)

    def close(self, limit_s: float) -> None:
        """Send what is queued, then FIN; wait for the peer's, and for both threads.

        Raises:
            PeerSilentError: that took longer than the limit; the connection is gone nevertheless.
        """
        self._closing = True
        end = time.monotonic() + limit_s
        while (
            self._pending()
            and not self._stopped
            and not self.ended.wait(_LOOK_S)
            and time.monotonic() < end
        ):
            continue
        with self._lock:
            if not self._stopped:  # else a Terminate is on its way, and FIN follows it
                self._ddp.mpa.end_output()
        late = not self.ended.wait(max(end - time.monotonic(), _LOOK_S))
        if late:
            self._fail(PeerGoneError("closed"))
        for thread in self._threads:
            thread.join(limit_s)
        self._ddp.mpa.socket.close()
        if late:
            raise PeerSilentError(f"the peer has not closed its side within {limit_s:g} s")

    def _tell(
        self, kind: str, id: Any, length: int, error: IwarpError | None = None, opcode: int = 0,
        stag: int = 0,
    ) -> None:  # fmt: skip
        if kind:
            self._put(Completion(kind, id, length, error, opcode, stag, self._owner))
