"""serve: metrics with stable names, JSON, who may ask, and that nothing a client sends ends it."""

from __future__ import annotations

import http.client
import json
import os
import random
import signal
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

import pytest
from prometheus_client.parser import text_string_to_metric_families

from freezeframe.capture.counters.contract import Counter, Sample
from freezeframe.capture.errors import InputError
from freezeframe.capture.registers.map_table import COUNTER_DOCS
from freezeframe.gui.metrics.http import MetricsServer, is_loopback, read_token
from freezeframe.gui.text import printable
from tests.capture.counters.made_tree import made_tree
from tests.capture.counters.played import PlayedReader, PlayedSource, counter
from tests.capture.recorder.fake_recorder import FakeRecorder
from tests.capture.serving import serving
from tests.gui.cli import refusal, started
from tests.gui.dashboard.made import HOSTILE, recorder

TOKEN = "0123456789abcdef-0123456789abcdef"


@contextmanager
def served(
    *readers: PlayedReader, host: str = "127.0.0.1", token: str | None = None, limit_s: float = 10.0
) -> Iterator[int]:
    with MetricsServer(host, 0, readers, token, limit_s) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield server.server_port
        finally:
            server.shutdown()
            thread.join()


def get(port: int, path: str, **headers: str) -> tuple[int, str, str]:
    with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=20)) as connection:
        connection.request("GET", path, headers=headers)
        answer = connection.getresponse()
        return answer.status, answer.read().decode(), answer.getheader("Content-Type", "")


def made_reader() -> PlayedReader:
    counters = [
        Counter("A.tx", "counter", "words", "Words sent", "card_tx", (("device", "A"),)),
        Counter("B.tx", "counter", "words", "Words sent", "card_tx", (("device", "B"),)),
        Counter("level", "gauge", "words", "Words in it", "card_level"),
        Counter(HOSTILE, "counter", "", "", "netdev_driver", (("statistic", HOSTILE + '"\\\n'),)),
    ]
    reader = PlayedReader(PlayedSource([], counters, url="made:a"))
    states = (recorder("A", "armed"), recorder("B", "frozen", "pay-crc"))
    values = {"A.tx": 5, "B.tx": (1 << 53) + 1, "level": 3, HOSTILE: 1, "unknown": 9}
    reader.play(Sample(time.monotonic_ns(), values, {"link": "up"}, states))
    return reader


def metrics(text: str) -> dict[tuple[str, tuple[tuple[str, str], ...]], float]:
    """Read the exposition with Prometheus' own parser."""
    return {
        (sample.name, tuple(sorted(sample.labels.items()))): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


def test_metrics_carry_name_help_and_labels() -> None:
    with served(made_reader()) as port:
        status, text, kind = get(port, "/metrics")
    assert (status, kind.startswith("text/plain")) == (200, True)
    found = metrics(text)
    assert found["freezeframe_card_tx_total", (("device", "A"), ("source", "made:a"))] == 5
    assert found["freezeframe_card_level", (("source", "made:a"),)] == 3
    assert found["freezeframe_up", (("source", "made:a"),)] == 1
    assert "# HELP freezeframe_card_tx_total Words sent" in text
    assert "# TYPE freezeframe_card_tx_total counter" in text
    statistic = ("statistic", printable(HOSTILE + '"\\\n'))
    assert not any(char < " " and char != "\n" for char in text)
    assert found["freezeframe_netdev_driver_total", (("source", "made:a"), statistic)] == 1
    state = (("device", "B"), ("freezeframe_recorder_state", "frozen"), ("source", "made:a"))
    assert found["freezeframe_recorder_state", state] == 1
    assert (
        found[
            "freezeframe_recorder_cause",
            (("cause", "pay-crc"), ("device", "B"), ("source", "made:a")),
        ]
        == 1
    )


def test_every_counter_of_the_map_is_a_metric_with_the_maps_help_text() -> None:
    from freezeframe.capture.counters.reader import SourceReader
    from freezeframe.capture.counters.sources import open_source

    with serving(FakeRecorder()) as url:
        source = open_source(url)
        reader = SourceReader(source, lambda: source, 1000)
        reader.last = source.read()
        with served(reader) as port:  # type: ignore[arg-type]
            text = get(port, "/metrics")[1]
        source.close()
    found = metrics(text)
    for name, help_text in COUNTER_DOCS.items():
        assert ("freezeframe_card_" + name + "_total", (("device", "B"), ("source", url))) in found
        assert f"# HELP freezeframe_card_{name}_total {help_text}" in text


def test_json_keeps_every_digit_and_tells_unit_and_help() -> None:
    with served(made_reader()) as port:
        status, text, kind = get(port, "/json")
    (source,) = json.loads(text)["sources"]
    assert (status, kind) == (200, "application/json")
    assert source["counters"]["B.tx"] == {
        "value": (1 << 53) + 1,
        "kind": "counter",
        "unit": "words",
        "help": "Words sent",
    }
    assert source["counters"]["unknown"] == {"value": 9}
    assert (source["source"], source["up"], source["facts"]) == ("made:a", True, {"link": "up"})
    assert source["recorders"][1]["causes"] == ["pay-crc"]


def test_a_source_that_does_not_answer_has_no_values_but_says_so() -> None:
    reader = made_reader()
    reader.trouble = "made:a: gone"
    with served(reader) as port:
        found = metrics(get(port, "/metrics")[1])
        document = json.loads(get(port, "/json")[1])
    assert found["freezeframe_up", (("source", "made:a"),)] == 0
    assert {name for name, _ in found} == {"freezeframe_up", "freezeframe_sample_age_seconds"}
    assert (document["sources"][0]["up"], document["sources"][0]["trouble"]) == (
        False,
        "made:a: gone",
    )


def test_asking_does_not_read_the_source() -> None:
    class Counting(PlayedSource):
        reads = 0

        def read(self) -> Sample:
            Counting.reads += 1
            return super().read()

    with served(PlayedReader(Counting([], [counter("a")]))) as port:
        for _ in range(5):
            assert get(port, "/metrics")[0] == 200
    assert Counting.reads == 0


def test_only_the_two_pages_exist() -> None:
    with served(made_reader()) as port:
        assert [get(port, path)[0] for path in ("/", "/metrics/", "/../etc/passwd", "/json?x=1", "/metrics?a")] == [
            404, 404, 404, 200, 200,
        ]  # fmt: skip


def test_head_is_answered_like_get_without_the_page() -> None:
    # RFC 9110 section 9.3.2: the same fields, no content.
    with (
        served(made_reader()) as port,
        closing(http.client.HTTPConnection("127.0.0.1", port, timeout=20)) as connection,
    ):
        lengths = []
        for _ in range(10):  # an age on the page may have another number of digits a moment later
            connection.request("HEAD", "/metrics")
            answer = connection.getresponse()
            assert (answer.status, answer.read()) == (200, b"")
            length = int(answer.getheader("Content-Length", "0"))
            lengths.append((length, len(get(port, "/metrics")[1].encode())))
        assert any(head == page for head, page in lengths), lengths


def test_away_from_the_loopback_it_refuses_to_start_without_a_token() -> None:
    for host in ("0.0.0.0", "192.0.2.1", "::", "example.org"):
        with pytest.raises(
            InputError, match="can be reached from other machines; give --token-file"
        ):
            MetricsServer(host, 0, [])


@pytest.mark.parametrize("host", ["127.0.0.1", "127.9.9.9", "::1", "localhost"])
def test_the_loopback_needs_no_token(host: str) -> None:
    assert is_loopback(host)


def test_with_a_token_only_who_brings_it_is_answered() -> None:
    with served(made_reader(), host="0.0.0.0", token=TOKEN) as port:
        assert get(port, "/metrics", Authorization=f"Bearer {TOKEN}")[0] == 200
        for wrong in (
            "",
            "Bearer",
            f"Bearer {TOKEN[:-1]}",
            f"Bearer {TOKEN}x",
            f"Basic {TOKEN}",
            TOKEN,
            "Bearer \xff",
        ):
            status, text, _ = get(port, "/json", Authorization=wrong)
            assert (status, "made:a" in text) == (401, False)
        assert get(port, "/no-such-page")[0] == 401


def test_a_page_under_a_foreign_name_that_leads_here_is_not_answered() -> None:
    """A site in a browser of this machine could give its own name the address 127.0.0.1 and read the answers."""
    with served(made_reader()) as port:
        assert get(port, "/json", Host=f"evil.example:{port}")[0] == 401
        assert get(port, "/json", Host=f"localhost:{port}")[0] == 200


@pytest.mark.parametrize(
    ("text", "mode", "says"),
    [
        ("short", 0o600, "has 5 characters"),
        ("", 0o600, "has 0 characters"),
        (TOKEN, 0o644, "others may read"),
        ("\xff" * 30, 0o600, "cannot be read"),
    ],
    ids=["short", "empty", "open", "not text"],
)
def test_a_token_that_protects_nothing_is_refused(
    tmp_path: Path, text: str, mode: int, says: str
) -> None:
    path = tmp_path / "token"
    path.write_text(text, encoding="latin-1")
    path.chmod(mode)
    with pytest.raises(InputError, match=says):
        read_token(path)


def test_a_token_is_the_first_line_of_its_file(tmp_path: Path) -> None:
    path = tmp_path / "token"
    path.touch(0o600)
    path.write_text(f"{TOKEN}\nmore\n")
    assert read_token(path) == TOKEN


def malformed(made: random.Random) -> bytes:
    """Return what no client should send: bytes, cut and endless lines, wrong methods, versions, headers, lengths."""
    line = made.choice(
        [
            b"GET /metrics HTTP/1.1",
            b"GET",
            b"",
            b"POST /json HTTP/1.1",
            b"GET /json HTTP/9.9",
            b"GET  HTTP/1.1",
            b"\x16\x03\x01\x02\x00",
            b"GET /" + b"a" * made.randrange(70_000) + b" HTTP/1.1",
            b"GET http://[::1 HTTP/1.1",
            bytes(made.randrange(200)),
            made.randbytes(made.randrange(300)),
            b"GET /%00%ff\xff HTTP/1.0",
            b"GET /metrics HTTP/1.1 x",
        ]
    )
    headers = b"".join(
        made.choice(
            [
                b"Host: \xff\r\n",
                b"Content-Length: -5\r\n",
                b"Content-Length: 99999999999\r\n",
                b": \r\n",
                b"no colon\r\n",
                b"X: " + b"y" * made.randrange(80_000) + b"\r\n",
                b"Accept: " + made.randbytes(50) + b"\r\n",
                b"A: b\r\n" * made.randrange(150),
            ]
        )
        for _ in range(made.randrange(3))
    )
    whole = line + b"\r\n" + headers + b"\r\n"
    return whole[: made.randrange(len(whole) + 1)] if made.random() < 0.3 else whole


def test_malformed_requests_leave_it_running() -> None:
    made = random.Random(20)
    with served(made_reader()) as port:
        for number in range(1_000):
            with socket.create_connection(("127.0.0.1", port), timeout=20) as connection:
                try:
                    connection.sendall(malformed(made))
                    connection.shutdown(socket.SHUT_WR)
                    if number % 10 == 0:
                        while connection.recv(1 << 16):
                            pass
                except OSError:
                    continue  # it has hung up already, as it may
        assert get(port, "/metrics")[0] == 200


def test_clients_that_say_nothing_or_little_keep_nobody_out() -> None:
    """More of them than there are places, half silent, half with a byte now and then: others are answered."""
    with served(made_reader()) as port:
        slow = [socket.create_connection(("127.0.0.1", port), timeout=20) for _ in range(300)]
        for octet in b"GET /met":
            for connection in slow[::2]:
                with suppress(OSError):  # it was hung up on for a later one
                    connection.sendall(bytes([octet]))
            assert get(port, "/metrics")[0] == 200
        for connection in slow:
            connection.close()


def test_a_byte_now_and_then_does_not_lengthen_a_clients_time() -> None:
    with served(made_reader(), limit_s=0.5) as port:
        slow = [socket.create_connection(("127.0.0.1", port), timeout=20) for _ in range(20)]
        hung_up: set[socket.socket] = set()
        end = time.monotonic() + 60  # a hang, not the limit
        while len(hung_up) < len(slow) and time.monotonic() < end:
            for connection in slow:
                try:
                    connection.sendall(b"x")
                except OSError:
                    hung_up.add(connection)
            time.sleep(0.05)
        assert len(hung_up) == len(slow)
        for connection in slow:
            connection.close()


def test_clients_that_ask_and_do_not_take_the_answer_keep_nobody_out() -> None:
    counters = [Counter(f"c{n}", "counter", "B", "x" * 400, f"c{n}", ()) for n in range(3000)]
    reader = PlayedReader(PlayedSource([], counters))
    reader.play(Sample(time.monotonic_ns(), {counter.key: 1 for counter in counters}, {}, ()))
    with served(reader) as port:
        deaf = []
        for _ in range(40):
            connection = socket.socket()
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            connection.connect(("127.0.0.1", port))
            connection.sendall(b"GET /json HTTP/1.0\r\nHost: localhost\r\n\r\n")
            deaf.append(connection)
        status, text, _ = get(port, "/json")
        assert (status, len(text) > 1_000_000) == (200, True)
        for connection in deaf:
            connection.close()


def test_a_request_that_is_too_long_is_refused_whatever_part_of_it_is_long() -> None:
    codes = []
    with served(made_reader()) as port:
        for request in (
            b"GET /" + b"a" * 70_000 + b" HTTP/1.0\r\n\r\n",
            b"GET /json HTTP/1.0\r\nX: " + b"a" * 70_000 + b"\r\n\r\n",
            b"GET /json HTTP/1.0\r\n" + b"X: %s\r\n" % (b"a" * 1000) * 90 + b"\r\n",
            b"GET /json HTTP/1.0\r\n" + b"X: y\r\n" * 101 + b"\r\n",
        ):
            with socket.create_connection(("127.0.0.1", port), timeout=20) as connection:
                connection.sendall(request)
                codes.append(connection.makefile("rb").readline().split()[1])
    assert codes == [b"414", b"431", b"431", b"431"]


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("netdev:nope",), "no such network interface"),
        (("netdev:eth9", "--listen", "nowhere"), "HOST:PORT"),
        (("netdev:eth9", "--listen", "0.0.0.0:0"), "--token-file"),
        (
            ("netdev:eth9", "--listen", "192.0.2.1:80", "--token-file", "/no/such"),
            "the token cannot be read",
        ),
        (("netdev:eth9", "netdev:eth9"), "is named twice"),
        (("netdev:eth9", "--every", "0"), "at least 0.02"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else None,
)
def test_what_cannot_be_served_is_bad_input(
    tmp_path: Path, arguments: tuple[str, ...], says: str
) -> None:
    assert says in refusal("serve", *arguments, "--root", str(made_tree(tmp_path)))


def test_the_verb_serves_until_it_is_interrupted(tmp_path: Path) -> None:
    command = ("serve", "netdev:eth9", "rdma:mlx5_0", "--listen", "127.0.0.1:0")
    root = str(made_tree(tmp_path))
    with started(*command, "--root", root, "--every", "0.05") as process:
        assert process.stdout is not None
        ready = process.stdout.readline()
        port = int(ready.split("127.0.0.1:")[1].split("/")[0])
        found: dict[tuple[str, tuple[tuple[str, str], ...]], float] = {}
        # Each source is read by itself: the first answers may hold one of them alone.
        first_of_each = {
            "freezeframe_netdev_rx_packets_total",
            "freezeframe_rdma_symbol_error_total",
        }
        while not first_of_each <= {name for name, _ in found}:
            found = metrics(get(port, "/metrics")[1])
        os.kill(process.pid, signal.SIGINT)
        _, errors = process.communicate(timeout=30)
    assert (process.returncode, errors) == (0, "")
    assert found["freezeframe_netdev_rx_packets_total", (("source", "netdev:eth9"),)] == 5000
    assert (
        found[
            "freezeframe_interrupts_total",
            (("irq", "64"), ("name", "eth9-TxRx-0"), ("source", "netdev:eth9")),
        ]
        == 105
    )
    aer = (("error", "BadTLP"), ("severity", "correctable"), ("source", "rdma:mlx5_0/1"))
    assert found["freezeframe_pcie_aer_errors_total", aer] == 7


def test_what_is_kept_of_a_recording_needs_one() -> None:
    said = refusal("serve", "netdev:lo", "--record-keep", "2GB")
    assert said == "freezeframe: --record-keep: is of a recording; name it: --record NAME.ffrec\n"
