"""``etherbone://host[:port]``: registers over UDP, in bursts, with several requests in flight.

Reads are repeated until every word is there or the time is up. Each request has an id that its
answer must carry; an answer to a request that is no longer open, a second answer, and whatever is
not exactly an answer is dropped and counted. What a network alters inside a data word, unseen by the
UDP checksum, cannot be seen here: for that memories have CRCs in the device, and a pull reads every
register until two readings agree.

Source: docs/formats.md, section 9.
"""

from __future__ import annotations

import os
import select
import socket
import time
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from freezeframe.capture.errors import TargetError, TargetTimeout
from freezeframe.capture.registers import names
from freezeframe.capture.registers.identity import MAGIC
from freezeframe.capture.targets._checks import checked_addresses, checked_write, closed_error
from freezeframe.capture.targets._url import Option, host_and_port, parse_url
from freezeframe.capture.targets.base import Words
from freezeframe.capture.targets.etherbone_codec import (
    MAX_WORDS,
    PROBE,
    Malformed,
    decode_reply,
    encode_reads,
    encode_writes,
    is_probe_reply,
)

DEFAULT_PORT = 1234
"""LiteX's port."""

OPTIONS = {
    "bind": Option(0, 0, 65535, "local UDP port; a LiteEth board answers only to its own port"),
    "burst": Option(None, 1, MAX_WORDS, "words a request; default what the device advertises"),
    "window": Option(16, 1, 1024, "requests in flight"),
    "timeout": Option(3.0, 0.01, 3600, "longest silence, seconds", whole=False),
    "deadline": Option(120.0, 0.01, 86400, "longest read, seconds", whole=False),
    "base": Option(0, 0, 0xFFFFFFFC, "bus address of device 0"),
}

_FIRST_RETRY_S = 0.1  # before a round trip has been measured
_LEAST_RETRY_S = 0.02  # a busy host answers late by scheduling alone
_MOST_RETRY_S = 1.0
_AT_ONCE = 256  # datagrams looked at before the clock is
_ID_STEP = 0x9E3779B1  # odd, so all 2**32 ids come before one comes again; neighbours are far apart


class Clock:
    """The time that a client goes by, and its waiting for an answer."""

    def now_s(self) -> float:
        """Return seconds since some moment."""
        return time.monotonic()

    def wait(self, poll: select.poll, seconds: float) -> None:
        """Return when an answer is there, or after so many seconds."""
        poll.poll(max(0.0, seconds) * 1000 + 1)


@dataclass(slots=True)
class EtherboneStats:
    """What a client has sent, received and dropped since it was opened."""

    requests: int = 0  # read requests, each counted once
    retries: int = 0  # requests sent again
    unmatched: int = 0  # answers that came twice or too late
    malformed: int = 0  # datagrams that were no answer, or not of the length asked for
    refused: int = 0  # times the host said that nobody listens
    window: int = 0  # requests in flight allowed at the moment


@dataclass(slots=True)
class _Request:
    """A request in flight: its place in the list, and when to send it again."""

    number: int
    sent_s: float
    wait_s: float
    tries: int = 1


def open_etherbone(url: str, clock: Clock | None = None) -> EtherboneTarget:
    """Open ``etherbone://host[:port]``; the options are those of OPTIONS.

    Args:
        clock: for a test; by default the machine's.
    Raises:
        InputError: the URL is wrong.
        TargetError: the host is unknown, its port closed, or the local port taken.
        TargetTimeout: nothing answered the probe.
    """
    parsed = parse_url(url, OPTIONS)
    host, port = host_and_port(parsed, DEFAULT_PORT)
    return EtherboneTarget(
        host,
        port,
        bind=parsed.count("bind"),
        burst=parsed.whole("burst"),
        window=parsed.count("window"),
        timeout_s=parsed.seconds("timeout"),
        deadline_s=parsed.seconds("deadline"),
        base=parsed.count("base"),
        url=url,
        clock=clock,
    )


class EtherboneTarget:
    """A client of an Etherbone server or of LiteEth gateware; for one thread at a time."""

    def __init__(
        self,
        host: str,
        port: int = DEFAULT_PORT,
        *,
        bind: int = 0,
        burst: int | None = None,
        window: int = 16,
        timeout_s: float = 3.0,
        deadline_s: float = 120.0,
        base: int = 0,
        url: str | None = None,
        clock: Clock | None = None,
    ) -> None:
        """Connect and probe. The arguments are those of OPTIONS; raises as ``open_etherbone``."""
        self.url = url or f"etherbone://{f'[{host}]' if ':' in host else host}:{port}"
        self.stats = EtherboneStats()
        self._burst = burst
        self._most_window = window
        self._window = float(min(window, 8))
        self._timeout_s = timeout_s
        self._deadline_s = deadline_s
        self._base = base
        self._next_id = int.from_bytes(os.urandom(4), "big")
        self._rtt_s: float | None = None
        self._rtt_spread_s = 0.0
        self._patience_s = 0.0  # what a request waited that was sent again, until one is measured
        self._buffer = bytearray(1 << 16)
        self._trouble: OSError | None = None
        self._clock = clock or Clock()
        self._socket: socket.socket | None = _connect(self.url, host, port, bind)
        self._poll = select.poll()
        self._poll.register(self._socket, select.POLLIN)
        try:
            self._probe(self._socket, opening=True)
        except BaseException:
            self.close()
            raise

    @property
    def burst(self) -> int | None:
        """Words a request; None until the device has been asked what it can take."""
        return self._burst

    def read(self, addresses: Words | Sequence[int]) -> Words:
        """Read any addresses; see ``Target.read``."""
        asked = checked_addresses(addresses, self._base)
        sock = self._opened()
        if self._burst is None and len(asked) > 1:
            self._learn_burst(sock)
        return self._transfer(sock, asked, self._burst or 1)

    def write(self, address: int, words: Sequence[int] | Words) -> None:
        """Send writes, once and unconfirmed; see ``Target.write``.

        Raises:
            TargetTimeout: a write of many packets is interrupted by probes so that it cannot
                overrun the device, and such a probe got no answer.
        """
        first, data = checked_write(address, words, self._base)
        sock = self._opened()
        if self._burst is None and len(data) > 1:
            self._learn_burst(sock)
        for number, packet in enumerate(encode_writes(first, data, self._burst or 1), 1):
            if not self._send(sock, packet):
                self._clock.wait(
                    self._poll, 0
                )  # a full send buffer or a passing refusal: once more
                self._send(sock, packet)
            if number % self._most_window == 0:
                self._probe(sock)

    def close(self) -> None:
        """Free the port; see ``Target.close``."""
        if self._socket is not None:
            self._socket.close()
            self._socket = None

    def _opened(self) -> socket.socket:
        if self._socket is None:
            raise closed_error(self.url)
        return self._socket

    def _learn_burst(self, sock: socket.socket) -> None:
        """Ask the device for its largest burst; what is none of ours gets one word a request."""
        where = [names.offset("id.magic"), names.offset("id.max_burst")] * 2
        words = self._transfer(sock, checked_addresses(where, self._base), 1).tolist()
        # Asked twice: a burst altered on its way could be more than the device's buffers take.
        if words[:2] == words[2:] and words[0] == MAGIC and words[1] >= 1:
            self._burst = min(words[1], MAX_WORDS)

    def _transfer(self, sock: socket.socket, asked: Words, burst: int) -> Words:
        total = -(-len(asked) // burst)
        ids = (
            np.arange(self._next_id, self._next_id + total, dtype=np.uint64) * np.uint64(_ID_STEP)
        ).astype(np.uint32)
        self._next_id = (self._next_id + total) & 0xFFFFFFFF
        packets = encode_reads(asked, ids, burst)
        id_list: list[int] = ids.tolist()
        result = np.empty(len(asked), np.uint32)
        flying: dict[int, _Request] = {}
        begun_s = heard_s = self._clock.now_s()
        sent = done = 0
        self._trouble = None
        self.stats.requests += total
        while done < total:
            now_s = self._clock.now_s()
            while sent < total and len(flying) < int(self._window):
                if not self._send(sock, packets[sent]):
                    break
                flying[id_list[sent]] = _Request(sent, now_s, self._retry_s())
                sent += 1
            got = 0
            # Not more at once, or a flood of no answers would keep the clock from being looked at.
            for _ in range(_AT_ONCE):
                length_B = self._receive(sock)
                if not length_B:
                    break
                if self._accept(length_B, flying, result, burst, now_s):
                    got += 1
                    if sent < total:
                        break  # keep the window full
            if got:
                done += got
                heard_s = now_s
                if done == total or now_s - begun_s <= self._deadline_s:
                    continue
            if now_s - heard_s > self._timeout_s or now_s - begun_s > self._deadline_s:
                open_ = sorted(request.number for request in flying.values())
                open_ += range(sent, total)
                raise self._timed_out(asked, burst, open_, now_s - begun_s)
            self._send_again(sock, packets, flying, now_s)
            wake_s = min((r.sent_s + r.wait_s for r in flying.values()), default=now_s + 0.01)
            wake_s = min(wake_s, heard_s + self._timeout_s + 0.001)
            self._clock.wait(self._poll, wake_s - self._clock.now_s())
        return result

    def _accept(
        self, length_B: int, flying: dict[int, _Request], result: Words, burst: int, now_s: float
    ) -> bool:
        """Take one datagram; tell whether it answered an open request."""
        try:
            reply = decode_reply(memoryview(self._buffer)[:length_B])
        except Malformed:
            # An answer to an earlier probe that took its time is not malformed.
            if is_probe_reply(memoryview(self._buffer)[:length_B]):
                self.stats.unmatched += 1
            else:
                self.stats.malformed += 1
            return False
        request = flying.get(reply.id)
        if request is None:
            self.stats.unmatched += 1
            return False
        start = request.number * burst
        place = result[start : start + burst]
        if len(reply.words) != len(place):
            self.stats.malformed += 1
            return False
        place[:] = reply.words
        del flying[reply.id]
        if request.tries == 1:  # else it is unknown which of the requests this answers
            self._measured(now_s - request.sent_s)
        else:  # a target slower than it was would be asked twice for ever: none would be measured
            self._patience_s = request.wait_s
        self._window = min(float(self._most_window), self._window + 1)
        return True

    def _send_again(
        self,
        sock: socket.socket,
        packets: Sequence[memoryview],
        flying: dict[int, _Request],
        now_s: float,
    ) -> None:
        late = [request for request in flying.values() if now_s >= request.sent_s + request.wait_s]
        if late:
            # Fewer in flight: what gets lost is most likely lost in a buffer that is too small.
            self._window = max(1.0, self._window / 2)
        for request in late:
            self._send(sock, packets[request.number])
            request.sent_s = now_s
            request.wait_s = min(request.wait_s * 2, _MOST_RETRY_S)
            request.tries += 1
            self.stats.retries += 1
        self.stats.window = int(self._window)

    def _measured(self, rtt_s: float) -> None:
        if self._rtt_s is None:
            self._rtt_s, self._rtt_spread_s = rtt_s, rtt_s / 2
        else:
            self._rtt_spread_s += (abs(rtt_s - self._rtt_s) - self._rtt_spread_s) / 4
            self._rtt_s += (rtt_s - self._rtt_s) / 8
        self._patience_s = 0.0

    def _retry_s(self) -> float:
        if self._rtt_s is None:
            return max(_FIRST_RETRY_S, self._patience_s)
        least_s = max(_LEAST_RETRY_S, self._patience_s)
        return min(max(self._rtt_s + 4 * self._rtt_spread_s, least_s), _MOST_RETRY_S)

    def _send(self, sock: socket.socket, packet: bytes | memoryview) -> bool:
        try:
            sock.send(packet)
        except BlockingIOError:
            return False
        except OSError as error:
            self._noted(error)
            return False
        return True

    def _receive(self, sock: socket.socket) -> int:
        """Return the length of the next datagram, 0 when there is none."""
        while True:
            try:
                length_B = sock.recv_into(self._buffer)
            except BlockingIOError:
                return 0
            except OSError as error:
                self._noted(error)
                return 0
            if length_B:
                return length_B
            self.stats.malformed += 1  # an empty datagram

    def _noted(self, error: OSError) -> None:
        # The host may only be starting again, so this ends nothing before the time is up.
        self._trouble = error
        if isinstance(error, ConnectionRefusedError):
            self.stats.refused += 1

    def _probe(self, sock: socket.socket, *, opening: bool = False) -> None:
        begun_s = self._clock.now_s()
        wait_s = _FIRST_RETRY_S
        self._trouble = None
        strange = self.stats.unmatched + self.stats.malformed
        while (now_s := self._clock.now_s()) - begun_s < self._timeout_s:
            self._send(sock, PROBE)
            until_s = min(now_s + wait_s, begun_s + self._timeout_s)
            while (left_s := until_s - self._clock.now_s()) > 0:
                self._clock.wait(self._poll, left_s)
                length_B = self._receive(sock)
                if length_B and is_probe_reply(memoryview(self._buffer)[:length_B]):
                    return
                self.stats.unmatched += length_B > 0
                if opening and isinstance(self._trouble, ConnectionRefusedError):
                    raise TargetError(
                        f"{self.url}: the host is there, but nothing listens on this UDP port; is "
                        "the server running, and is this its port?"
                    )
            wait_s = min(wait_s * 2, _MOST_RETRY_S)
        strange = self.stats.unmatched + self.stats.malformed - strange
        if opening and strange:
            raise TargetError(
                f"{self.url}: something answers there, but it is not Etherbone: {strange} datagrams "
                f"in {self._timeout_s:g} s, none the reply to a probe; is this the device's port?"
            )
        raise TargetTimeout(
            f"{self.url}: no answer to a probe in {self._timeout_s:g} s{self._why()}; is the "
            "device on and the address right? A LiteEth board answers only to its own port: add "
            f"?bind={DEFAULT_PORT} (the board's port)"
        )

    def _timed_out(
        self,
        asked: Words,
        burst: int,
        unanswered: list[int],
        took_s: float,
    ) -> TargetTimeout:
        missing = sum(min(burst, len(asked) - number * burst) for number in unanswered)
        first = int(asked[unanswered[0] * burst])
        total = -(-len(asked) // burst)
        return TargetTimeout(
            f"{self.url}: {missing} of {len(asked)} words, the first at {first:#010x}, did not "
            f"come in {took_s:.1f} s ({len(unanswered)} of {total} requests unanswered, "
            f"{self.stats.retries} sent again in all{self._why()}); is the device still there?"
        )

    def _why(self) -> str:
        return f"; last error: {self._trouble.strerror}" if self._trouble is not None else ""


def _connect(url: str, host: str, port: int, bind: int) -> socket.socket:
    try:
        family, kind, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_DGRAM)[0]
    except OSError as error:
        raise TargetError(
            f"{url}: host {host!r} is not known ({error.strerror}); check the name"
        ) from error
    sock = socket.socket(family, kind)
    try:
        # A full window of the largest answers; 2304 B of the buffer go into each of 1036 B.
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 20)
        if bind:
            sock.bind(("", bind))
        sock.connect(address)  # so that answers come only from there, and refusals are reported
        sock.setblocking(False)
    except OSError as error:
        sock.close()
        what = f"local port {bind}" if bind else f"{host}:{port}"
        raise TargetError(
            f"{url}: cannot use {what}: {error.strerror}"
            + ("; another program holds that port" if bind else "")
        ) from error
    return sock
