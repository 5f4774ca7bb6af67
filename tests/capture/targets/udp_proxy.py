"""A UDP proxy between a client and a server that loses, doubles, delays and alters datagrams."""

from __future__ import annotations

import random
import select
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial

from tests.threads import beside

Spoil = Callable[[bytes], bytes]


@dataclass
class BadNetwork:
    """Probabilities for each datagram, both ways; ``spoil`` alters, else one bit is flipped."""

    loss: float = 0.0
    double: float = 0.0
    reorder: float = 0.0
    alter: float = 0.0
    spoil: Spoil | None = None
    seed: int = 1
    url: str = ""
    passed: int = 0
    lost: int = 0
    altered: int = 0


@contextmanager
def bad_network(server_url: str, network: BadNetwork) -> Iterator[BadNetwork]:
    """Stand between a client and the server for the length of a ``with``; ``url`` is the way in."""
    host, port = server_url.removeprefix("etherbone://").split(":")
    inner = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    inner.connect((host, int(port)))
    outer = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    outer.bind(("127.0.0.1", 0))
    network.url = f"etherbone://127.0.0.1:{outer.getsockname()[1]}"
    with inner, outer, beside(partial(_relay, inner, outer, network)):
        yield network


def _relay(
    inner: socket.socket, outer: socket.socket, network: BadNetwork, ended: Callable[[], bool]
) -> None:
    chance = random.Random(network.seed)
    client: tuple[str, int] | None = None
    held: list[tuple[socket.socket, bytes]] = []

    def send(datagrams: list[tuple[socket.socket, bytes]]) -> None:
        for sock, data in datagrams:
            try:
                if sock is inner:
                    sock.send(data)
                elif client is not None:
                    sock.sendto(data, client)
            except OSError:
                network.lost += 1  # the server is away
        datagrams.clear()

    while not ended():
        readable, _, _ = select.select([inner, outer], [], [], 0.005)
        if not readable:
            send(held)
        for source in readable:
            try:
                if source is outer:
                    data, client = outer.recvfrom(65536)
                else:
                    data = inner.recv(65536)
            except OSError:
                continue  # the server is away
            if chance.random() < network.loss:
                network.lost += 1
                continue
            if chance.random() < network.alter:
                data = network.spoil(data) if network.spoil else _flip(data, chance)
                network.altered += 1
            network.passed += 1
            way = [(inner if source is outer else outer, data)]
            if chance.random() < network.double:
                way *= 2
            if chance.random() < network.reorder:
                held += way  # behind what comes next
            else:
                send(way)
                send(held)


def _flip(packet: bytes, chance: random.Random) -> bytes:
    altered = bytearray(packet)
    bit = chance.randrange(8 * len(packet))
    altered[bit // 8] ^= 1 << bit % 8
    return bytes(altered)
