"""A UDP peer whose every answer a test decides."""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from freezeframe.capture.targets.etherbone_codec import PROBE, PROBE_REPLY, decode_request
from tests.capture.targets.fake_device import FakeTarget
from tests.threads import beside

Script = Callable[[bytes, int], list[bytes]]
"""From a request and its number (probes do not count) to the datagrams that answer it."""


class Peer:
    """What the peer heard: every datagram, in order."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.heard: list[bytes] = []
        self.clients: set[tuple[str, int]] = set()

    @property
    def requests(self) -> list[bytes]:
        return [packet for packet in self.heard if packet != PROBE]


@contextmanager
def scripted(
    script: Script, *, answer_probes: bool = True, probe_answer: bytes = PROBE_REPLY
) -> Iterator[Peer]:
    """Answer by ``script`` on a free loopback port for the length of a ``with``."""
    sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    sock.bind(("127.0.0.1", 0))
    sock.settimeout(0.02)
    peer = Peer(f"etherbone://127.0.0.1:{sock.getsockname()[1]}")

    def run(ended: Callable[[], bool]) -> None:
        while not ended():
            try:
                packet, client = sock.recvfrom(65536)
            except TimeoutError:
                continue
            peer.heard.append(packet)
            peer.clients.add(client)
            if packet == PROBE:
                answers = [probe_answer] if answer_probes else []
            else:
                answers = script(packet, len(peer.requests) - 1)
            for answer in answers:
                sock.sendto(answer, client)

    with sock, beside(run):
        yield peer


def honest(fake: FakeTarget) -> Callable[[bytes], bytes]:
    """Return a function that answers one read from ``fake``, packed here and not by our encoder."""

    def answer(packet: bytes) -> bytes:
        (record,) = decode_request(packet) or []
        words = fake.read(record.addresses).tolist()
        head = bytes.fromhex("4e6f104400000000000f") + bytes([len(words), 0])
        return head + b"".join(w.to_bytes(4, "big") for w in (record.return_address, *words))

    return answer
