"""The worked example of docs/adding-a-target.md, taken from the page, conforms."""

from __future__ import annotations

import re
import socketserver
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

from freezeframe.capture.errors import BusError, InputError, TargetError
from freezeframe.capture.targets.conformance import CHECKS, Check, Subject
from tests.capture.targets.fake_device import OUTSIDE, FakeTarget
from tests.capture.targets.places import known_words

PAGE = (Path(__file__).parents[3] / "docs" / "adding-a-target.md").read_text()
SHAPE = {"devices": 1, "depth": 64, "sampler_depth": 32}


def example() -> ModuleType:
    code = re.search(r"`freezeframe_monitor\.py`:\n\n```python\n(.*?)```", PAGE, re.S)
    assert code, "the example has gone from the page"
    module = ModuleType("freezeframe_monitor")
    exec(compile(code[1], "freezeframe_monitor.py", "exec"), module.__dict__)
    return module


class Monitor(socketserver.StreamRequestHandler):
    """The board's side of the example: ``r ADDRESS COUNT`` and ``w ADDRESS WORD``."""

    def handle(self) -> None:
        fake: FakeTarget = self.server.fake  # type: ignore[attr-defined]  # given below
        for line in self.rfile:
            verb, address, number = line.decode().split()
            at, value = int(address, 0), int(number, 0)
            try:
                if verb == "r":
                    words = fake.read([at + 4 * i for i in range(value)]).tolist()
                    answer = " ".join(f"{word:08x}" for word in words)
                else:
                    fake.write(at, [value])
                    answer = "ok"
            except BusError:
                answer = "error"
            self.wfile.write(f"{answer}\n".encode())


@pytest.fixture(scope="module")
def subject() -> Iterator[Subject]:
    fake = FakeTarget(**SHAPE)  # type: ignore[arg-type]  # only whole numbers
    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Monitor) as server:
        server.daemon_threads = True
        server.fake = fake  # type: ignore[attr-defined]  # for the handler
        threading.Thread(target=server.serve_forever, daemon=True).start()
        url = f"monitor://127.0.0.1:{server.server_address[1]}"
        open_monitor = example().open_monitor
        yield Subject(
            open=lambda: open_monitor(url),
            words=known_words(FakeTarget(**SHAPE)),  # type: ignore[arg-type]  # as above
            outside=OUTSIDE,
            writable=0x50C,
            by_url=False,  # the package of the example is not installed here
        )
        server.shutdown()


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_the_example_of_the_page_does_what_the_protocol_says(
    subject: Subject, check: Check
) -> None:
    check(subject)


@pytest.mark.parametrize("url", ["monitor:", "monitor://board", "monitor://board:x"])
def test_the_example_refuses_a_wrong_url(url: str) -> None:
    with pytest.raises(InputError, match=r"write monitor://host:port"):
        example().open_monitor(url)


def test_the_example_says_when_nobody_is_there() -> None:
    with pytest.raises(TargetError, match="is the board's monitor running"):
        example().open_monitor("monitor://127.0.0.1:9")


def test_an_installed_package_adds_its_scheme(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from freezeframe.capture.targets.base import open_target, target_schemes

    declared = re.search(r'\[project\.entry-points\."freezeframe\.targets"\]\n(.*)', PAGE)
    assert declared
    info = tmp_path / "freezeframe_monitor-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(
        "Metadata-Version: 2.1\nName: freezeframe-monitor\nVersion: 1.0\n"
    )
    (info / "entry_points.txt").write_text(
        "[freezeframe.targets]\n" + declared[1].replace('"', "") + "\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setitem(sys.modules, "freezeframe_monitor", example())
    assert target_schemes()["monitor"] == "freezeframe_monitor:open_monitor"
    with pytest.raises(InputError, match=r"write monitor://host:port"):
        open_target("monitor:nowhere")
