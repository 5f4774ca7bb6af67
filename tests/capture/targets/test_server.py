"""The Etherbone server, datagram by datagram."""

from __future__ import annotations

import socket
import time
from collections.abc import Iterator, Sequence
from types import SimpleNamespace
from typing import Any

import pytest

from freezeframe.capture.errors import TargetError, TargetTimeout
from freezeframe.capture.registers import names
from freezeframe.capture.targets import server as server_module
from freezeframe.capture.targets.base import Words
from freezeframe.capture.targets.server import EtherboneServer
from tests.capture.targets.fake_device import FakeTarget

ONES = "ffffffff"
SEED_AT = names.offset("provoke.traffic_seed")  # 0x50c, can be written


class Asked:
    """A fake behind a server, and a socket that asks it."""

    def __init__(self) -> None:
        self.fake = FakeTarget()
        self.fake.keep_reads = True
        self.server = EtherboneServer(self.fake, "127.0.0.1")
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.connect(("127.0.0.1", self.server.port))
        self.socket.settimeout(1)

    def send(self, packet: str) -> None:
        self.socket.send(bytes.fromhex(packet))

    def ask(self, packet: str) -> str:
        """Send, let the server handle one datagram, return its answer in hex; "" for none."""
        self.send(packet)
        assert self.server.poll(1.0) == 1
        self.socket.settimeout(0.02)
        try:
            return self.socket.recv(65536).hex()
        except TimeoutError:
            return ""


@pytest.fixture
def asked() -> Iterator[Asked]:
    asked = Asked()
    yield asked
    asked.socket.close()
    asked.server.close()


def test_a_read_is_answered_with_its_id_and_words(asked: Asked) -> None:
    answer = asked.ask("4e6f104400000000 000f0002 00000007 00000000 00000004")
    assert answer == "4e6f104400000000000f02000000000746525a4600010000"


def test_the_words_of_one_record_are_read_in_one_call(asked: Asked) -> None:
    asked.ask("4e6f104400000000 000f0003 00000007 00000008 00000000 00000008")
    assert asked.fake.reads == [[8, 0, 8]]


def test_a_write_is_carried_out_and_has_no_answer(asked: Asked) -> None:
    assert asked.ask("4e6f104400000000 000f0100 0000050c 11223344") == ""
    assert asked.fake.writes == [(SEED_AT, [0x11223344])]
    assert asked.server.stats.words_written == 1


def test_the_writes_of_a_record_come_before_its_reads(asked: Asked) -> None:
    answer = asked.ask("4e6f104400000000 000f0101 0000050c 55667788 00000009 0000050c")
    assert answer == "4e6f104400000000000f01000000000955667788"


def test_several_records_are_answered_in_one_packet(asked: Asked) -> None:
    answer = asked.ask("4e6f104400000000 000f0001 00000001 00000000 000f0001 00000002 00000004")
    assert answer == "4e6f104400000000000f01000000000146525a46000f01000000000200010000"


@pytest.mark.parametrize("probe", ["4e6f114400000000", "4e6f114400000000 00000000"])
def test_a_probe_is_answered(asked: Asked, probe: str) -> None:
    assert asked.ask(probe) == "4e6f124400000000"
    assert asked.server.stats.probes == 1


def test_an_error_answer_is_all_ones_and_its_neighbours_keep_their_words(asked: Asked) -> None:
    answer = asked.ask("4e6f104400000000 000f0003 00000007 00000000 00f00000 00000004")
    assert answer == "4e6f104400000000000f03000000000746525a46" + ONES + "00010000"
    assert asked.server.stats.error_words == 1
    assert asked.fake.get(0, "id.bus_error_addr") == 0x00F00000


def test_an_address_that_is_no_multiple_of_4_is_an_error_answer(asked: Asked) -> None:
    answer = asked.ask("4e6f104400000000 000f0002 00000007 00000000 00000005")
    assert answer == "4e6f104400000000000f02000000000746525a46" + ONES


def test_a_write_outside_the_map_changes_nothing_and_is_counted(asked: Asked) -> None:
    before = asked.fake.words.copy()
    assert asked.ask("4e6f104400000000 000f0100 00f00000 11223344") == ""
    assert asked.server.stats.error_words == 1
    asked.fake.set(0, "id.bus_errors", 0)
    asked.fake.set(0, "id.bus_error_addr", 0)
    assert (asked.fake.words == before).all()


@pytest.mark.parametrize(
    "packet",
    [
        "",
        "4e6f",
        "4e70104400000000 000f0001 00000007 00000000",
        "4e6f104400000000 000f0100 0000050c",
        "4e6f104400000000 000f0100 0000050c 11223344 00",
        "4e6f104400000000 000f0100 0000050c 11223344 000f0001 00000007",
        "4e6f104400000000 000f0100 0000050c 11223344 440f0001 00000007 00000000",
        "4e6f124400000000",
    ],
)
def test_a_malformed_packet_is_ignored_whole_and_counted(asked: Asked, packet: str) -> None:
    assert asked.ask(packet) == ""
    assert asked.server.stats.malformed == 1
    assert asked.server.stats.last_malformed
    assert asked.fake.writes == []
    assert asked.ask("4e6f104400000000 000f0001 00000007 00000000").endswith("46525a46")


def test_every_sender_gets_its_own_answer(asked: Asked) -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as other:
        other.connect(("127.0.0.1", asked.server.port))
        other.send(bytes.fromhex("4e6f104400000000 000f0001 00000002 00000004"))
        asked.send("4e6f104400000000 000f0001 00000001 00000000")
        handled = 0
        while handled < 2:
            handled += asked.server.poll(1.0)
        assert other.recv(100)[12:].hex() == "0000000200010000"
        assert asked.socket.recv(100)[12:].hex() == "0000000146525a46"


def test_poll_answers_all_that_is_waiting_and_says_how_much(asked: Asked) -> None:
    for number in range(20):
        asked.send(f"4e6f104400000000 000f0001 {number:08x} 00000000")
    time.sleep(0.05)
    assert asked.server.poll() == 20
    assert [asked.socket.recv(100)[12:16].hex() for _ in range(20)] == [
        f"{number:08x}" for number in range(20)
    ]


def test_poll_waits_no_longer_than_it_is_told(
    asked: Asked, monkeypatch: pytest.MonkeyPatch
) -> None:
    waits_s: list[float] = []

    def nothing_comes(
        read: list[Any], write: list[Any], error: list[Any], timeout_s: float
    ) -> None:
        waits_s.append(timeout_s)

    monkeypatch.setattr(server_module, "select", SimpleNamespace(select=nothing_comes))
    assert asked.server.poll() == 0
    assert waits_s == []
    assert asked.server.poll(0.1) == 0
    assert waits_s == [0.1]


def test_a_flood_does_not_hold_the_caller_of_poll(asked: Asked) -> None:
    for _ in range(300):
        asked.send("4e6f114400000000")
    time.sleep(0.05)
    assert asked.server.poll() == 256


class Gone(FakeTarget):
    """A target whose transport has failed."""

    def read(self, addresses: Words | Sequence[int]) -> Words:
        raise TargetTimeout("it does not answer")

    def write(self, address: int, words: Sequence[int] | Words) -> None:
        raise TargetError("it does not answer")


def test_a_target_that_is_gone_is_silence_and_not_a_word() -> None:
    asked = Asked()
    asked.server.target = Gone()
    assert asked.ask("4e6f104400000000 000f0001 00000007 00000000") == ""
    assert asked.ask("4e6f104400000000 000f0100 0000050c 11223344") == ""
    assert asked.server.stats.unanswered == 2
    asked.server.close()
    asked.socket.close()


def test_serve_forever_calls_between_and_ends_when_told(asked: Asked) -> None:
    calls: list[int] = []
    asked.server.serve_forever(lambda: len(calls) == 3, lambda: calls.append(1), poll_s=0.01)
    assert calls == [1, 1, 1]


def test_a_port_in_use_is_a_clear_error(asked: Asked) -> None:
    with pytest.raises(
        TargetError, match=r"cannot serve at 127\.0\.0\.1:\d+: Address already in use"
    ):
        EtherboneServer(asked.fake, "127.0.0.1", asked.server.port)
    with pytest.raises(TargetError, match="cannot serve at no-such-host"):
        EtherboneServer(asked.fake, "no-such-host.invalid")


def test_close_frees_the_port_and_leaves_the_target_open(asked: Asked) -> None:
    port = asked.server.port
    asked.server.close()
    asked.server.close()
    EtherboneServer(asked.fake, "127.0.0.1", port).close()
    assert not asked.fake.closed
