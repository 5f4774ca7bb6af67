"""The Python interface: the lines of the docs run as they stand, importing it is cheap, and errors are one line."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

import freezeframe.capture as ff
from freezeframe.capture import upward
from freezeframe.capture.errors import InputError, RecorderStateError
from freezeframe.capture.folder.samples import SampleFolder
from tests.gui.cli import run_inside

ROOT = Path(__file__).parents[2]
_BLOCK = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def blocks(page: str) -> list[str]:
    """Return the blocks of a page that use the interface."""
    text = (ROOT / page).read_text("utf-8")
    return [code for code in _BLOCK.findall(text) if "import freezeframe.capture as ff" in code]


def run(code: str, place: Path) -> str:
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=place, capture_output=True, text=True, timeout=120, check=False
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("page", ["docs/python-api.md", "README.md"])
def test_the_lines_of_the_docs_run_one_block_after_the_other(page: str, tmp_path: Path) -> None:
    printed = "".join(run(code, tmp_path) for code in blocks(page))
    if page.startswith("docs"):
        text = (ROOT / page).read_text("utf-8")
        (said,) = re.findall(r"^It prints\n\n```\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
        assert printed.startswith(said)
        assert {"throughput.svg", "throughput.png", "fault.ff"} == {
            p.name for p in tmp_path.iterdir()
        }
    if blocks(page):
        assert "word-omitted A tx_deq" in printed


def test_the_interface_is_ten_lines_in_the_docs() -> None:
    code = [line for line in blocks("docs/python-api.md")[0].splitlines() if line]
    assert len(code) <= 10


def test_importing_it_loads_neither_tables_nor_kernels() -> None:
    code = (
        "import sys, freezeframe.capture as ff\n"
        "assert 'connect' in dir(ff)\n"
        "print(*[n for n in ('numpy', 'pandas', 'numba', 'pyarrow', 'importlib.metadata') if n in sys.modules])"
    )
    assert run(code, ROOT).split() == []


def test_every_name_of_the_interface_is_there_and_no_other() -> None:
    for name in ff.__all__:
        assert getattr(ff, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        ff.nonsense  # noqa: B018


@pytest.fixture(scope="module")
def capture(tmp_path_factory: pytest.TempPathFactory) -> ff.CaptureFolder:
    with ff.connect("emu:?fault=word-omitted&seed=2") as card:
        card.wait(60)
        return card.pull(tmp_path_factory.mktemp("api") / "fault.ff")


def test_a_card_tells_its_state_and_counters_and_is_frozen_and_armed() -> None:
    with ff.connect("emu:?seed=5") as card:
        assert repr(card).endswith(": A, B>")
        assert {state.state for state in card.states().values()} == {"armed"}
        with pytest.raises(RecorderStateError, match="is armed, not frozen"):
            card.wait(0)
        card.freeze()
        card.wait(30)
        assert card.counters()["A"]["tx_enq_words"] >= 0
        before = card.states()["A"].generation
        card.arm()
        assert card.states()["A"].generation == before + 1
    with pytest.raises(ff.TargetError, match="has been closed"):
        card.states()


def test_a_running_card_is_not_pulled_unless_told(tmp_path: Path) -> None:
    with ff.connect("emu:?seed=5") as card:
        with pytest.raises(RecorderStateError):
            card.pull(tmp_path / "x.ff")
        assert list(tmp_path.iterdir()) == []
        assert card.pull(tmp_path / "x.ff", freeze=True).path == tmp_path / "x.ff"


def test_one_analysis_is_a_result_and_several_are_a_dictionary(capture: ff.CaptureFolder) -> None:
    assert ff.analyze(capture, "throughput").name == "throughput"
    assert list(ff.analyze(capture, "taps", "crc")) == ["taps", "crc"]
    assert {"throughput", "latency", "dma"} <= set(ff.analyze(capture, devices=["A"]))
    with pytest.raises(InputError, match="did you mean throughput"):
        ff.analyze(capture, "thruput")
    with pytest.raises(InputError, match="no device 'C'; the capture holds A, B"):
        ff.analyze(capture, "taps", devices=["C"])


def test_a_capture_is_decoded_by_its_path_too_and_with_specs_as_tables(
    capture: ff.CaptureFolder,
) -> None:
    trace = ff.decode(capture)
    assert ff.decode(capture.path).packets.equals(trace.packets)
    tables = ff.decode(capture, "trace")
    assert len(tables["trace.packets"]) == len(trace.packets)


def test_samples_are_opened_verified_and_want_a_decoder(tmp_path: Path) -> None:
    source = tmp_path / "a.csv"
    source.write_text("time,rx\n0,1\n1e-6,0\n2e-6,1\n")
    assert run_inside("import", str(source), "-o", str(tmp_path / "s.ff")).code == 0
    folder = ff.open(tmp_path / "s.ff")
    assert isinstance(folder, SampleFolder)
    for thing in (folder, tmp_path / "s.ff", source):
        with pytest.raises(InputError, match="holds samples, so name a decoder"):
            ff.decode(thing)


def test_what_is_no_capture_is_said(tmp_path: Path) -> None:
    with pytest.raises(ff.InputError, match="does not exist"):
        ff.open(tmp_path / "nothing.ff")


def test_without_the_higher_rooms_it_says_so_and_things_keep_their_repr(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    upward.find.cache_clear()
    monkeypatch.setattr(upward, "entry_points", lambda **which: [])
    with pytest.raises(InputError, match="no installed package offers it"):
        upward.find("decode")
    assert upward.html_of(object()) is None
    monkeypatch.undo()
    upward.find.cache_clear()
