"""A listener outlives whoever connects: a thousand at once, most of them silent, slow, wrong or gone."""

from __future__ import annotations

import resource
import socket
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import replace

import pytest

from freezeframe.emulator.iwarp import memory
from freezeframe.emulator.iwarp.errors import IwarpError, PeerGoneError, PeerSilentError
from freezeframe.emulator.iwarp.fpdu import build_fpdu
from freezeframe.emulator.iwarp.layout import Opcode, Segment
from freezeframe.emulator.iwarp.mpa import Options
from freezeframe.emulator.iwarp.service import Client, Service
from freezeframe.emulator.iwarp.startup import StartupFrame
from freezeframe.emulator.iwarp.verbs import Listener, accept
from tests.emulator.iwarp.ends import QUICK, let_compile

REQUEST = StartupFrame(False, revision=1).to_bytes()
WRITE_0 = build_fpdu(Segment(Opcode.WRITE, tagged=True).to_bytes())
# What each kind says.
CROWD: dict[str, bytes] = {
    "silent": b"",
    "half a Request": REQUEST[:11],
    "garbage": bytes(range(64)),
    "half an FPDU": REQUEST + WRITE_0[:9],
    "length 65,535": REQUEST + b"\xff\xff" + bytes(64),
}


@pytest.fixture
def served() -> Iterator[tuple[int, Counter[str]]]:
    """Serve whoever connects as ``freezeframe iwarp listen`` does; yield the port, and what came of connections."""
    let_compile()
    options, ends = replace(QUICK, startup_s=1.0, stall_s=1.0), Counter[str]()
    with Listener() as listener:

        def serve(connected: socket.socket) -> None:
            service = Service(4096, 256)
            try:
                service.run(
                    accept(connected, service.domain, service.completions, with_memory(service))
                )
                ends["closed"] += 1
            except IwarpError as error:
                ends[type(error).__name__] += 1
            finally:
                service.domain.close()

        def with_memory(service: Service) -> Options:
            return replace(options, private_data=service.hello)

        def take() -> None:
            try:
                while True:
                    threading.Thread(target=serve, args=(listener.take(),), daemon=True).start()
            except PeerGoneError:
                return  # the test is over

        thread = threading.Thread(target=take)
        thread.start()
        yield listener.port, ends
        listener.socket.shutdown(socket.SHUT_RDWR)
        thread.join()


def test_a_thousand_connections_at_once_end_in_time_and_others_are_served(
    served: tuple[int, Counter[str]],
) -> None:
    port, ends = served
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = max(soft, min(4096, hard))
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))
    each = min(200, (most - 200) // 10)  # both ends are of this process
    used = memory._TABLE.used - len(memory._TABLE.free)
    try:
        with ExitStack() as stack:
            for octets in CROWD.values():
                for _ in range(each):
                    raw = stack.enter_context(socket.create_connection(("127.0.0.1", port), 30))
                    raw.sendall(octets)
            client = Client("127.0.0.1", port, replace(QUICK, startup_s=30.0, stall_s=30.0), 64)
            with client.pair:
                assert client.ping(4, write=False) > 0
            client.domain.close()
            end = time.monotonic() + 60
            while ends.total() < each * len(CROWD) + 1 and time.monotonic() < end:
                time.sleep(0.05)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    assert ends == {
        "PeerSilentError": 3 * each, "StartupError": each, "BreachError": each, "closed": 1
    }  # fmt: skip
    assert memory._TABLE.used - len(memory._TABLE.free) <= used  # no STag is left behind


def test_a_request_that_drips_in_is_not_waited_for_beyond_the_limit_of_all_of_it() -> None:
    service = Service(64, 64)
    with Listener() as listener, socket.create_connection((listener.host, listener.port)) as raw:
        connected = listener.take(5)

        def drip() -> None:
            try:
                for octet in REQUEST:
                    raw.sendall(bytes([octet]))
                    time.sleep(0.05)
            except OSError:
                return  # it has been closed, as it should be

        thread = threading.Thread(target=drip)
        thread.start()
        with pytest.raises(PeerSilentError, match=r"within 0\.4 s: \d+ of 20 octets came"):
            accept(connected, service.domain, service.completions, replace(QUICK, startup_s=0.4))
        thread.join()


def test_without_descriptors_a_listener_waits_and_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    with Listener() as listener:
        calls = iter([OSError(24, "Too many open files"), OSError(103, "aborted")])
        whole = listener.socket

        class Scarce:
            def settimeout(self, limit_s: float | None) -> None:
                whole.settimeout(limit_s)

            def accept(self) -> tuple[socket.socket, object]:
                for error in calls:
                    raise error
                return whole.accept()

        monkeypatch.setattr(listener, "socket", Scarce())
        with socket.create_connection((listener.host, listener.port)):
            listener.take(5).close()
        monkeypatch.undo()
