"""The client of litex_server against a stand-in that greets and cuts its stream as TCP may."""

from __future__ import annotations

import socket
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import numpy as np
import pytest

from freezeframe.capture.errors import InputError, TargetError, TargetTimeout
from freezeframe.capture.targets.litex import LitexTarget, open_litex
from tests.capture.targets.fake_device import FakeTarget
from tests.capture.targets.scripted_peer import honest
from tests.threads import beside

FAKE = FakeTarget(depth=512)
ANSWER = honest(FAKE)
TRACE = (0x40000 + 4 * np.arange(1200)).astype(np.uint32)

Talk = Callable[[socket.socket, int], None]


@contextmanager
def stand_in(talk: Talk) -> Iterator[tuple[str, list[bytes]]]:
    """Accept connections and let ``talk(connection, number)`` have each until it returns."""
    listener = socket.create_server(("127.0.0.1", 0))
    listener.settimeout(0.02)
    failures: list[bytes] = []

    def run(ended: Callable[[], bool]) -> None:
        number = 0
        while not ended():
            try:
                connection, _ = listener.accept()
            except TimeoutError:
                continue
            connection.settimeout(2)
            with connection:
                try:
                    talk(connection, number)
                except OSError as error:
                    failures.append(str(error).encode())
            number += 1

    with listener, beside(run):
        yield f"litex://127.0.0.1:{listener.getsockname()[1]}", failures


def request(connection: socket.socket) -> bytes:
    """Return the next request, "" at the end of the stream."""
    head = connection.recv(12, socket.MSG_WAITALL)
    if len(head) < 12:
        return b""
    writes, reads = head[10], head[11]
    rest = (4 + 4 * writes if writes else 0) + (4 + 4 * reads if reads else 0)
    return head + connection.recv(rest, socket.MSG_WAITALL)


def serve(connection: socket.socket, cut_B: int = 1 << 20) -> None:
    """Answer reads until the stream ends, in pieces of ``cut_B``, with the id 0 as LiteX does."""
    while packet := request(connection):
        answer = ANSWER(packet)
        answer = answer[:12] + bytes(4) + answer[16:]
        for at in range(0, len(answer), cut_B):
            connection.sendall(answer[at : at + cut_B])
            if cut_B < 1 << 20:
                time.sleep(0.0002)


@pytest.mark.parametrize(
    ("pieces", "bridge"),
    [
        ([b"CommUDP:localhost:1234"], "CommUDP"),
        ([b"CommUART:127.0.0.1:1234"], "CommUART"),
        ([b"CommUSB:::1:1234"], "CommUSB"),
        ([b"Comm", b"UDP:local", b"host:12", b"34"], "CommUDP"),
    ],
)
def test_the_greeting_is_read_whole_though_it_has_no_end(pieces: list[bytes], bridge: str) -> None:
    def talk(connection: socket.socket, number: int) -> None:
        for piece in pieces:
            connection.sendall(piece)
            time.sleep(0.01)
        serve(connection)

    with stand_in(talk) as (url, _):
        target = open_litex(url)
        assert target.bridge == bridge
        assert target.read([0, 4]).tolist() == [0x46525A46, 0x00010000]
        target.close()


def test_the_end_of_a_greeting_that_comes_late_is_no_part_of_an_answer() -> None:
    def talk(connection: socket.socket, number: int) -> None:
        connection.sendall(b"CommUDP:localhost:12")
        packet = request(connection)
        connection.sendall(b"34")
        time.sleep(0.01)
        connection.sendall(ANSWER(packet))
        serve(connection)

    with stand_in(talk) as (url, _):
        target = open_litex(url)
        assert target.read([0, 4]).tolist() == [0x46525A46, 0x00010000]
        assert target.read([0]).tolist() == [0x46525A46]
        assert target.stats.reconnects == 0
        target.close()


def test_an_answer_may_come_in_any_pieces() -> None:
    def talk(connection: socket.socket, number: int) -> None:
        connection.sendall(b"CommUDP:localhost:1234")
        serve(connection, cut_B=37)

    with stand_in(talk) as (url, _):
        target = open_litex(url)
        assert (target.read(TRACE[:600]) == FAKE.read(TRACE[:600])).all()
        target.close()


def test_several_requests_of_255_words_are_in_flight() -> None:
    most = 0

    def talk(connection: socket.socket, number: int) -> None:
        nonlocal most
        connection.sendall(b"CommUDP:localhost:1234")
        held = []
        for _ in range(3):
            held.append(request(connection))
        most = max(held[0][11], most)
        for packet in held:
            connection.sendall(ANSWER(packet))
        serve(connection)

    with stand_in(talk) as (url, _):
        target = open_litex(f"{url}?window=3")
        assert (target.read(TRACE) == FAKE.read(TRACE)).all()
        assert most == 255
        target.close()


def test_a_write_goes_out_as_one_packet_without_an_answer() -> None:
    heard: list[bytes] = []

    def talk(connection: socket.socket, number: int) -> None:
        connection.sendall(b"CommUDP:localhost:1234")
        heard.append(request(connection))
        serve(connection)

    with stand_in(talk) as (url, _):
        target = open_litex(url)
        target.write(0x20, [0x11223344])
        target.read([0])
        target.close()
    assert heard == [bytes.fromhex("4e6f104400000000 000f0100 00000020 11223344")]


@pytest.mark.parametrize(
    "spoil",
    [
        lambda good: b"",
        lambda good: good[:20],
        lambda good: b"HTTP/1.1 400 Bad Request\r\n\r\n",
        lambda good: good[:10] + bytes([good[10] - 1]) + good[11:-4],
    ],
    ids=["closed", "cut", "another protocol", "a word short"],
)
def test_a_stream_out_of_step_is_opened_anew_and_read_on(spoil: Callable[[bytes], bytes]) -> None:
    def talk(connection: socket.socket, number: int) -> None:
        connection.sendall(b"CommUDP:localhost:1234")
        if number == 0:
            connection.sendall(ANSWER(request(connection)))
            connection.sendall(spoil(ANSWER(request(connection))))
            return
        serve(connection)

    with stand_in(talk) as (url, _):
        target = open_litex(url)
        assert (target.read(TRACE) == FAKE.read(TRACE)).all()
        assert target.stats.reconnects == 1
        target.close()


def test_a_connection_that_breaks_again_and_again_is_an_error() -> None:
    def talk(connection: socket.socket, number: int) -> None:
        connection.sendall(b"CommUART:localhost:1234")
        request(connection)

    with stand_in(talk) as (url, _):
        target = open_litex(url)
        with pytest.raises(TargetError, match=r"broke 3 times in one read.*\(CommUART\)"):
            target.read([0])
        target.close()


def test_no_answer_is_a_timeout_that_says_what_to_do() -> None:
    def talk(connection: socket.socket, number: int) -> None:
        connection.sendall(b"CommUDP:localhost:1234")
        if number == 0:
            connection.sendall(ANSWER(request(connection)))
            time.sleep(0.6)
            return
        serve(connection)

    with stand_in(talk) as (url, _):
        target = open_litex(f"{url}?timeout=0.3")
        with pytest.raises(TargetTimeout, match=r"945 of 1200 words.*in 0\.3 s.*restart it"):
            target.read(TRACE)
        target.close()


@pytest.mark.parametrize("greeting", [b"SSH-2.0-OpenSSH_9.2\r\n", b"", b"CommUDP"])
def test_what_does_not_greet_as_litex_server_is_refused(greeting: bytes) -> None:
    def talk(connection: socket.socket, number: int) -> None:
        connection.sendall(greeting)

    with (
        stand_in(talk) as (url, _),
        pytest.raises(TargetError, match=r"not with CommName:ip:port"),
    ):
        open_litex(url)


def test_a_closed_port_is_a_clear_error() -> None:
    with socket.create_server(("127.0.0.1", 0)) as unused:
        port = unused.getsockname()[1]
    with pytest.raises(TargetError, match="Connection refused; is litex_server running there"):
        LitexTarget("127.0.0.1", port)


# Behind the PCIe bridge addresses count from the CSR base


def behind_pcie(connection: socket.socket, number: int) -> None:
    connection.sendall(b"CommPCIe:localhost:1234")
    serve(connection)


@pytest.mark.parametrize(
    ("query", "bus_address"),
    [("", 0x10), ("?csr_base=0xf0000000", 0x10), ("?base=0xf0000004&csr_base=0xf0000000", 0x14)],
)
def test_behind_commpcie_the_csr_base_is_subtracted(query: str, bus_address: int) -> None:
    with stand_in(behind_pcie) as (url, _):
        target = open_litex(url + query)
        assert target.read([0x10]).tolist() == FAKE.read([bus_address]).tolist()
        target.close()


@pytest.mark.parametrize(
    ("query", "why"),
    [
        ("?base=0xf0010000", "add csr_base=0x"),
        ("?base=0x1000&csr_base=0xf0000000", "lies below csr_base 0xf0000000"),
    ],
)
def test_a_place_on_the_bus_that_commpcie_cannot_show_is_refused(query: str, why: str) -> None:
    with stand_in(behind_pcie) as (url, _), pytest.raises(InputError, match=why):
        open_litex(url + query)
