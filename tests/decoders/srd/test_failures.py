"""A decoder that fails in any way is one clear error, and no process is left."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from freezeframe.capture.errors import FreezeframeError, InputError
from freezeframe.decoders.registry import load_decoders
from freezeframe.decoders.run import decode_file
from tests.capture.files.captures import metadata, write_session
from tests.decoders.srd.sigrok_side import add_decoder, workers_of

ENDLESS = "while True:\n    (d,) = self.wait({0: 'e'})\n"
GOOD = ENDLESS + "    self.put(self.samplenum, self.samplenum + 1, self.ann, [0, [str(d)]])"


@pytest.fixture
def capture(tmp_path: Path) -> Path:
    """0 0 1 1 0 0 1 1 ...: 3,000 samples."""
    return write_session(tmp_path / "d.sr", [bytes((0, 0, 1, 1)) * 750], metadata(["d"]))


@pytest.fixture
def add(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    folder = tmp_path / "decoders"
    monkeypatch.setenv("SIGROKDECODE_DIR", str(folder))

    def add(name: str, body: str, *, inputs: str = "['logic']") -> None:
        add_decoder(folder, name, body, inputs=inputs)

    return add


@pytest.fixture(autouse=True)
def nothing_is_left() -> object:
    before = workers_of()
    yield
    assert workers_of() == before


def test_a_decoder_of_a_folder_of_ones_own_works(capture: Path, add: Callable[..., None]) -> None:
    add("ff_good", GOOD)
    ((name, table),) = decode_file(capture, ["srd-ff_good"])
    assert name == "srd-ff_good"
    # Rate 1 MHz; the level changes at samples 2, 4, 6 ...
    assert table.slice(0, 2).to_pylist() == [
        {
            "t_ps": t_ps,
            "source": "ff_good-1",
            "kind": "annotation",
            "t_end_ps": t_ps + 1_000_000,
            "class": "bit",
            "text": text,
            "texts": [text],
            "sample": t_ps // 1_000_000,
            "end_sample": t_ps // 1_000_000 + 1,
        }
        for t_ps, text in ((2_000_000, "1"), (4_000_000, "0"))
    ]
    assert table.num_rows == 1499


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (
            ENDLESS + "    if self.samplenum > 9: raise ValueError('no more')",
            r"^sigrok decoder ff_bad: samples 0 to 3000: decoder ff_bad raised ValueError: "
            r"no more \(ff_bad/pd\.py line 27\)",
        ),
        ("os.kill(os.getpid(), 11)", r"the worker process died of SIGSEGV"),
        ("os._exit(3)", r"the worker process ended with code 3"),
        ("raise SystemExit(0)", r"ff_bad raised SystemExit: 0"),
        ("self.put(0, 1, self.ann, [7, ['x']])\n" + GOOD, r"class 7; the decoder declares 1"),
        ("self.put(0, 1, self.ann, [0, [5]])\n" + GOOD, r"annotation without a text: \(5,\)"),
        ("self.put(0, 1.5, self.ann, [0, ['x']])\n" + GOOD, r"wrong sample or class"),
        (
            "self.put(0, 1, 9, [0, ['x']])\n" + GOOD,
            r"output 9 is not registered \(ff_bad/pd\.py line 25\)",
        ),
    ],
    ids=["raises", "segfault", "exit", "system-exit", "class", "text", "sample", "output"],
)
def test_a_decoder_that_fails_is_one_clear_error(
    body: str, message: str, capture: Path, add: Callable[..., None]
) -> None:
    add("ff_bad", body)
    with pytest.raises(FreezeframeError, match=message) as caught:
        decode_file(capture, ["srd-ff_bad"])
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("body", ["while True: pass", "time.sleep(1000)"], ids=["busy", "asleep"])
def test_a_decoder_that_hangs_is_ended_after_the_time_that_is_allowed(
    body: str, capture: Path, add: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    add("ff_hangs", body)
    load_decoders()
    monkeypatch.setenv("FREEZEFRAME_SIGROK_TIMEOUT_S", "1")
    began = time.monotonic()
    with pytest.raises(
        FreezeframeError,
        match=r"sigrok decoder ff_hangs: samples 0 to 3000: no answer within 1 s, so the worker was "
        r"ended; the decoder hangs, or FREEZEFRAME_SIGROK_TIMEOUT_S must allow more",
    ):
        decode_file(capture, ["srd-ff_hangs"])
    assert time.monotonic() - began < 40


def test_a_time_that_is_no_number_is_refused(
    capture: Path, add: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    add("ff_good", GOOD)
    load_decoders()
    monkeypatch.setenv("FREEZEFRAME_SIGROK_TIMEOUT_S", "soon")
    with pytest.raises(FreezeframeError, match=r"TIMEOUT_S=soon: not a number of seconds above 0"):
        decode_file(capture, ["srd-ff_good"])


def test_a_decoder_on_top_that_raises_is_an_error_where_sigrok_goes_on(
    capture: Path, add: Callable[..., None]
) -> None:
    add("ff_good", ENDLESS + "    self.put(self.samplenum, self.samplenum, self.py, d)")
    add("ff_top", "raise KeyError(packet)", inputs="['test']")
    with pytest.raises(
        FreezeframeError, match=r"ff_good\+ff_top: .*decoder ff_top raised KeyError: 1"
    ):
        decode_file(capture, ["srd-ff_good+srd-ff_top"])


def test_a_decoder_that_returns_has_said_all(capture: Path, add: Callable[..., None]) -> None:
    add("ff_once", "self.put(0, 5, self.ann, [0, ['all', 'a']])")
    ((_, table),) = decode_file(capture, ["srd-ff_once"])
    assert table["texts"].to_pylist() == [["all", "a"]]


def test_one_stack_that_fails_ends_the_others(capture: Path, add: Callable[..., None]) -> None:
    add("ff_bad", "raise ValueError('at once')")
    add("ff_slow", "time.sleep(1000)")
    began = time.monotonic()
    with pytest.raises(FreezeframeError, match="ff_bad raised ValueError: at once"):
        decode_file(capture, ["srd-ff_bad", "srd-ff_slow"])
    assert time.monotonic() - began < 40


def test_a_decoder_that_prints_does_not_disturb_the_worker(
    capture: Path, add: Callable[..., None]
) -> None:
    add("ff_prints", "print('{}' * 100_000, flush=True)\nos.system('echo loud')\n" + GOOD)
    ((_, table),) = decode_file(capture, ["srd-ff_prints"])
    assert table.num_rows == 1499


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("while True: self.put(0, 1, self.ann, [0, ['x']])", "ff_endless raised MemoryError"),
        ("while True: print('x' * 100_000)", "ff_endless raised OSError: .*File too large"),
    ],
    ids=["annotations", "prints"],
)
def test_a_decoder_that_gives_without_end_is_an_error_in_bounded_memory(
    body: str,
    message: str,
    capture: Path,
    add: Callable[..., None],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    add("ff_endless", body)
    load_decoders()
    monkeypatch.setattr("freezeframe.decoders.srd.process._MEMORY_LIMIT_B", 400 << 20)
    with pytest.raises(FreezeframeError, match=message):
        decode_file(capture, ["srd-ff_endless"])


def test_decoders_that_do_not_load_are_listed_and_the_others_work(
    capture: Path, add: Callable[..., None], tmp_path: Path
) -> None:
    add("ff_good", GOOD)
    for name, text in (
        ("ff_import", "import no_such_module_at_all"),
        ("ff_kills", "import os; os.kill(os.getpid(), 9); Decoder = 1"),
        ("ff_nothing", "# Decoder is not here"),
    ):
        home = tmp_path / "decoders" / name
        home.mkdir()
        (home / "__init__.py").write_text(text + "\n")
        (home / "pd.py").write_text("")
    registry = load_decoders()
    errors = {broken.name: broken.error for broken in registry.broken}
    assert "ModuleNotFoundError" in errors["srd-ff_import"]
    assert "No module named 'no_such_module_at_all'" in errors["srd-ff_import"]
    assert "died of SIGKILL" in errors["srd-ff_kills"]
    assert "ff_nothing" in errors["srd-ff_nothing"]
    assert {"srd-ff_good", "srd-uart", "srd-spi", "mdio"} <= set(registry.decoders)
    with pytest.raises(InputError, match=r"srd-ff_import .*does not load: ModuleNotFoundError"):
        decode_file(capture, ["srd-ff_import"])


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, r"FREEZEFRAME_SIGROK_LIBRARY=.*nothere\.so: there is no such file"),
        (b"no library", r"loading the library: .*nothere\.so: file too short"),
        (
            b"libpython3.4",
            r"built for python3\.4, and this is Python 3\.\d+: there is no python3\.4",
        ),
    ],
    ids=["missing", "not-a-library", "other-python"],
)
def test_a_library_that_cannot_be_used_is_said_where_a_decoder_is_asked_for(
    content: bytes | None,
    message: str,
    capture: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    library = tmp_path / "nothere.so"
    if content is not None:
        library.write_bytes(content)
    monkeypatch.setenv("FREEZEFRAME_SIGROK_LIBRARY", str(library))
    with pytest.raises(
        InputError, match=r"decoder srd-uart \(libsigrokdecode\) does not load: .*" + message
    ):
        decode_file(capture, ["srd-uart:rx=d"])
    registry = load_decoders()
    assert [broken.name for broken in registry.broken] == ["srd-*"]
    assert "mdio" in registry.decoders


def test_a_worker_ends_when_its_host_is_killed(
    capture: Path, add: Callable[..., None], tmp_path: Path
) -> None:
    add("ff_hangs", "while True: pass")
    code = (
        "import sys\nfrom freezeframe.decoders.run import decode_file\n"
        "decode_file(sys.argv[1], ['srd-ff_hangs'])\n"
    )
    host = subprocess.Popen([sys.executable, "-c", code, capture])
    workers: list[int] = []
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline and not (
        workers and cpu_ticks(workers[0]) > 30  # it is in its loop
    ):
        time.sleep(0.05)
        workers = workers_of(host.pid)
    host.send_signal(signal.SIGKILL)
    host.wait()
    assert len(workers) == 1
    while time.monotonic() < deadline and Path(f"/proc/{workers[0]}").exists():
        if state(workers[0]) == "Z":
            break  # it has ended; whoever adopted it has not looked yet
        time.sleep(0.05)
    assert not Path(f"/proc/{workers[0]}").exists() or state(workers[0]) == "Z"


def cpu_ticks(pid: int) -> int:
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except FileNotFoundError:
        return 0  # the worker that told the decoder's declaration has ended meanwhile
    return int(fields[11]) + int(fields[12])


def state(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return "Z"


def test_no_file_stays_open(capture: Path, add: Callable[..., None]) -> None:
    add("ff_good", GOOD)
    decode_file(capture, ["srd-ff_good"])
    before = len(list(Path("/proc/self/fd").iterdir()))
    for _ in range(3):
        decode_file(capture, ["srd-ff_good"])
    assert len(list(Path("/proc/self/fd").iterdir())) == before
