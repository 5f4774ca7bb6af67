"""``freezeframe iwarp``: processes that speak with each other, what they print, and bad input in one line each."""

from __future__ import annotations

import json
import signal
import subprocess
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import pytest

from freezeframe.emulator.iwarp.completion import CompletionQueue
from freezeframe.emulator.iwarp.memory import ProtectionDomain
from freezeframe.emulator.iwarp.raw import RawPeer
from freezeframe.emulator.iwarp.startup import StartupFrame
from freezeframe.emulator.iwarp.verbs import Listener, accept
from tests.gui.cli import run_inside, started


@contextmanager
def running(*arguments: str) -> Iterator[tuple[str, subprocess.Popen[str]]]:
    """Run a verb of iwarp that serves; yield its address and the process, interrupted in the end."""
    with started("iwarp", *arguments) as process:
        assert process.stdout is not None
        try:
            yield process.stdout.readline().removeprefix("ready ").strip(), process
        finally:
            process.send_signal(signal.SIGINT)


def lines_of(process: subprocess.Popen[str], count: int) -> list[str]:
    assert process.stdout is not None
    return [process.stdout.readline().strip() for _ in range(count)]


def test_a_listener_serves_all_the_others_and_garbage_ends_nobody_but_its_own_connection() -> None:
    with running("listen", "--json") as (address, process):
        done = run_inside(
            "iwarp",
            "connect",
            address,
            "--send",
            "hello",
            "--write",
            "there",
            "--read",
            "5",
            "--json",
        )
        assert done.code == 0, done.err
        document = json.loads(done.out)
        assert document["answers"] == [b"hello".hex()] and document["read"] == b"there".hex()
        assert document["agreed"]["revision"] == 2 and document["agreed"]["crc"] is True
        [line] = lines_of(process, 1)
        assert json.loads(line)["receives"] == 1
        host, _, port = address.rpartition(":")
        with RawPeer.connect(host, int(port)) as raw:
            raw.send(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
            assert "no MPA frame: its key is" in json.loads(lines_of(process, 1)[0])["error"]
        with RawPeer.connect(host, int(port)) as raw:
            raw.send_frame(StartupFrame(False, revision=1))
            raw.receive_frame()
            raw.send(b"\xff\xff")
            assert "layer 2, type 0, code 0x03" in json.loads(lines_of(process, 1)[0])["error"]
        pinged = run_inside(
            "iwarp", "ping", address, "--count", "20", "--write", "--markers", "--json"
        )
        halves = json.loads(pinged.out)["half_round_trip_us"]
        assert 0 < halves["least"] <= halves["median"] <= halves["p99"] <= halves["most"]
        for operation in ("write", "read"):
            streamed = run_inside(
                "iwarp",
                "stream",
                address,
                "--count",
                "50",
                "--operation",
                operation,
                "--no-crc",
                "--json",
            )
            figures = json.loads(streamed.out)
            assert figures["MB_s"] == round(1000 * 50 * 65536 / figures["took_ns"], 1)
            assert figures["agreed"]["crc"] is True  # the listener wants it


def test_an_answer_that_comes_late_is_still_the_answer_to_its_own_message() -> None:
    def late(listener: Listener) -> None:
        """Answer the first message when the second has come: no peer has to be quick."""
        domain, completions = ProtectionDomain(), CompletionQueue()
        buffers = domain.register(32)
        pair = accept(listener.take(20), domain, completions)
        for number in range(2):
            pair.post_receive(buffers, 16 * number, 16, id=number)
        with pair:
            came = [completions.wait(20) for _ in range(2)]
            for done in came:
                pair.post_send(buffers, 16 * done.id, done.length, signaled=False)
            completions.wait(20)  # until the peer closes

    with Listener() as listener, ThreadPoolExecutor(1) as threads:
        threads.submit(late, listener)
        done = run_inside(
            "iwarp", "connect", f"127.0.0.1:{listener.port}", "--stag", "1", "--limit", "2",
            "--send", "first", "--send", "second", "--json",
        )  # fmt: skip
    assert done.code == 0, done.err
    assert json.loads(done.out)["answers"] == [b"first".hex(), b"second".hex()]


def test_bare_tcp_is_measured_by_the_same_verbs() -> None:
    with running("listen", "--tcp") as (address, _):
        done = run_inside("iwarp", "ping", address, "--tcp", "--count", "20")
        assert "bare TCP" in done.out and "half round trip of 4 octets, 20 times" in done.out
        assert "MB/s" in run_inside("iwarp", "stream", address, "--tcp", "--count", "20").out


def test_a_fault_of_ours_is_answered_and_both_ends_say_where_it_struck() -> None:
    with running("listen") as (address, process):
        done = run_inside("iwarp", "stream", address, "--count", "20", "--fault", "mpa-crc@3:7")
        assert done.code == 3
        assert "the peer sent a Terminate: layer 2, type 0, code 0x02, MPA: CRC" in done.err
        assert "fault mpa-crc: message 3, octet" in done.err
        assert (
            "the peer broke a rule: Terminate, layer 2, type 0, code 0x02"
            in lines_of(process, 2)[1]
        )


def test_a_proxy_breaks_rules_between_two_peers_that_know_nothing_of_it() -> None:
    with (
        running("listen") as (target, _),
        running(
            "proxy",
            "127.0.0.1:0",
            target,
            "--fault",
            "rdmap-response-to",
            "--from",
            "responder",
            "--json",
        ) as (address, process),
    ):
        done = run_inside("iwarp", "connect", address, "--read", "64")
        assert (
            done.code == 3
            and "the peer broke a rule: Terminate, layer 1, type 1, code 0x01" in done.err
        )
        document = json.loads(lines_of(process, 1)[0])
        assert document["strikes"] == [{"fault": "rdmap-response-to", "message": 1, "position": 0}]


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (("connect", "127.0.0.1"), "peer '127.0.0.1': write HOST:PORT"),
        (("connect", "127.0.0.1:1"), "127.0.0.1:1: Connection refused"),
        (("connect", "127.0.0.1:1", "--private-data", "0xabc"), "two hex digits an octet"),
        (("connect", "127.0.0.1:1", "--peer-to-peer", "--revision", "1"), "needs --revision 2"),
        (
            ("connect", "127.0.0.1:1", "--fault", "nothing"),
            "there is no fault 'nothing'; there is mpa-key",
        ),
        (("connect", "127.0.0.1:1", "--fault", "mpa-two-requests"), "only the responder can break"),
        (("listen", "127.0.0.1:0", "--ulpdu", "5"), "at least 128"),
        (("connect", "127.0.0.1:1", "--offset", "-5"), "0 to 18446744073709551615"),
        (("connect", "127.0.0.1:1", "--read", str(1 << 32)), "0 to 4294967295"),
        (("proxy",), "give LISTEN and TARGET"),
        (("ping", "127.0.0.1:1", "--size", "-1"), "--size"),
        (("pong",), "pong"),
    ],
)
def test_bad_input_is_one_line(arguments: tuple[str, ...], text: str) -> None:
    done = run_inside("iwarp", *arguments)
    assert done.code in (2, 3) and text in done.err
    assert len(done.err.strip().splitlines()) == 1


def test_every_fault_is_listed_with_the_end_that_can_commit_it() -> None:
    listed = run_inside("iwarp", "proxy", "--list").out.splitlines()
    assert "mpa-two-requests            responder" in listed
    assert "mpa-crc                     either end" in listed
