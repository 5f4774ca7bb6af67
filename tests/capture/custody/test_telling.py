"""Somebody is told: a program, a web hook, a mailbox; what fails is one line."""

from __future__ import annotations

import json
import socket
import threading
import time
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

from freezeframe.capture.custody import telling
from freezeframe.capture.custody.telling import tellers
from freezeframe.capture.errors import InputError

EVENT = {
    "event": "capture",
    "text": "0001.ff: word-omitted",
    "host": "lab",
    "path": "/n/0001.ff",
    "finding": "word-omitted at B",
}


def script(path: Path, text: str) -> str:
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return str(path)


def test_a_program_gets_the_event_as_json_and_in_its_environment(tmp_path: Path) -> None:
    out = tmp_path / "out"
    program = script(tmp_path / "told.sh", f'cat > {out}; echo "$1 $FREEZEFRAME_FINDING" >> {out}')
    assert list(tellers([f"{program} now"], [], []).tell(EVENT)) == []
    line, rest = out.read_text().splitlines()
    assert json.loads(line) == EVENT
    assert rest == "now word-omitted at B"


def test_a_program_that_fails_is_a_line_with_what_it_said(tmp_path: Path) -> None:
    program = script(tmp_path / "bad.sh", "echo no network >&2; exit 7")
    (line,) = tellers([program], [], []).tell(EVENT)
    assert line == f"--exec {program}: exit code 7: no network"


def test_a_web_hook_gets_the_event_by_post() -> None:
    got: list[bytes] = []

    class Hook(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            got.append(self.rfile.read(int(self.headers["Content-Length"])))
            self.send_response(200)
            self.end_headers()

        def log_message(self, format: str, *args: object) -> None:
            """Say nothing."""

    server = HTTPServer(("127.0.0.1", 0), Hook)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    assert list(tellers([], [f"http://127.0.0.1:{server.server_port}/x"], []).tell(EVENT)) == []
    server.shutdown()
    server.server_close()
    assert [json.loads(each) for each in got] == [EVENT]


def test_a_web_hook_that_is_not_there_is_a_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("time.sleep", lambda _: None)
    (line,) = tellers([], ["http://127.0.0.1:1/x?token=secret"], []).tell(EVENT)
    assert line.startswith("--webhook http://127.0.0.1:1/x: not told in 3 tries")


def test_mail_goes_through_sendmail_with_the_bundle(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent, bundle = tmp_path / "sent", tmp_path / "0001.ff.zip"
    bundle.write_bytes(b"PK")
    program = script(tmp_path / "sendmail", f'echo "$@" > {sent}; cat >> {sent}')
    monkeypatch.setattr(telling, "_sendmail", lambda: program)
    assert list(tellers([], [], ["lab@example.org"]).tell(EVENT, bundle)) == []
    text = sent.read_text()
    assert text.startswith("-t -i\n")
    assert "To: lab@example.org" in text
    assert "Subject: freezeframe on lab: 0001.ff: word-omitted" in text
    assert 'filename="0001.ff.zip"' in text


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ((["no-such-program"], [], []), "there is no such program"),
        (([], ["ftp://x"], []), "write http://HOST/PATH"),
        (([], [], ["a b"]), "is no mail address"),
    ],
)
def test_who_cannot_be_told_is_refused_at_once(
    options: tuple[list[str], list[str], list[str]], says: str
) -> None:
    with pytest.raises(InputError, match=says):
        tellers(*options)


def test_a_program_that_takes_too_long_is_ended_with_all_that_it_has_started(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(telling, "_PROGRAM_S", 0.5)
    program = script(tmp_path / "slow.sh", f"sleep 300 & echo $! > {tmp_path / 'pid'}; wait")
    (line,) = tellers([program], [], []).tell(EVENT)
    assert line == f"--exec {program}: took more than 0.5 s and was ended"
    pid = int((tmp_path / "pid").read_text())
    for _ in range(100):
        # Gone, or a zombie of a machine whose first process does not reap.
        state = Path(f"/proc/{pid}/stat")
        if not state.exists() or state.read_text().split()[2] == "Z":
            return
        time.sleep(0.05)
    pytest.fail("what the program had started runs on")


def test_a_script_without_its_first_line_is_told_what_is_missing(tmp_path: Path) -> None:
    program = tmp_path / "plain.sh"
    program.write_text("echo told\n")
    program.chmod(0o755)
    (line,) = tellers([str(program)], [], []).tell(EVENT)
    assert line == f"--exec {program}: Exec format error; a script begins with #!"


def test_a_web_hook_that_answers_a_byte_now_and_then_is_left_at_the_limit(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(telling, "_HOOK_S", 0.5)
    ended = threading.Event()
    with socket.create_server(("127.0.0.1", 0)) as server:

        def answer() -> None:
            peer, _ = server.accept()
            with peer:
                for byte in b"HTTP/1.1 200 OK\r\nX: " + b"x" * 1000:
                    if ended.wait(0.05):
                        return
                    peer.send(bytes([byte]))

        thread = threading.Thread(target=answer)
        thread.start()
        url = f"http://127.0.0.1:{server.getsockname()[1]}/x"
        (line,) = tellers([], [url], []).tell(EVENT)
        ended.set()
        thread.join()
    assert line == f"--webhook {url}: not told in 3 tries: no whole answer in 0.5 s"


def test_a_web_hook_that_speaks_no_http_is_a_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(telling, "_TRIES", 1)
    with socket.create_server(("127.0.0.1", 0)) as server:

        def answer() -> None:
            peer, _ = server.accept()
            with peer:
                peer.recv(65536)
                peer.sendall(b"220 mail.example.org ESMTP\r\n")

        thread = threading.Thread(target=answer)
        thread.start()
        url = f"http://127.0.0.1:{server.getsockname()[1]}/x"
        (line,) = tellers([], [url], []).tell(EVENT)
        thread.join()
    assert line.startswith(f"--webhook {url}: not told in 1 tries: ")
    assert "\n" not in line and "\r" not in line
