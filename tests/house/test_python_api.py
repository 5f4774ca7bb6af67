"""The Python interface: the lines of the docs run as they stand, importing it is cheap, and errors are one line."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

import freezeframe as ff
from freezeframe.capture.errors import InputError, RecorderStateError
from freezeframe.capture.folder.samples import SampleFolder
from freezeframe.capture.recorder.trigger import Trigger
from freezeframe.decoders.trace.decode import Trace
from tests.gui.cli import run_inside

ROOT = Path(__file__).parents[2]
_BLOCK = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def blocks(page: str) -> list[str]:
    """Return the blocks of a page that use the interface."""
    text = (ROOT / page).read_text("utf-8")
    return [code for code in _BLOCK.findall(text) if "import freezeframe as ff" in code]


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


def test_a_card_is_provoked_as_the_verbs_do_it() -> None:
    with ff.connect("emu:?fault=none&seed=1") as card:
        card.arm(discard=True)
        armed = card.loopback("A", on=True, discard=True)
        assert armed is not None and len(armed.generations) == 2
        card.traffic("B", flow=1, length_words=8, gap_cycles=400, seed=7)
        assert card.device("B").read("provoke.traffic_gap") == 400
        card.traffic("B", on=False)
        card.rx_dma("A", on=False)
        assert card.device("A").read("provoke.rx_dma") & 1 == 1
        before = card.device("A").read("provoke.inject_count")
        assert card.inject("A", [0x0123_4567_89AB_CDEF]) == before + 1
        with pytest.raises(InputError, match=r"length 513: a packet carries 0\.\.512 words"):
            card.traffic("A", length_words=513)


def test_importing_it_loads_neither_tables_nor_kernels() -> None:
    code = (
        "import sys, freezeframe as ff\n"
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
        folder = card.pull(tmp_path_factory.mktemp("api") / "fault.ff")
    assert isinstance(folder, ff.CaptureFolder)
    return folder


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
        with pytest.raises(
            RecorderStateError, match="this host has not kept it; it would be lost"
        ) as lost:
            card.arm()
        assert str(lost.value).endswith(" -o NAME.ff; or give it up: discard=True")
        card.arm(discard=True)
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
    again = ff.decode(capture.path)
    assert isinstance(again, Trace)
    assert again.packets.equals(trace.packets)
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
    text, samples = tmp_path / "text.ff", tmp_path / "a.csv"
    text.write_text("words")
    samples.write_text("time,rx\n0,1\n1e-6,0\n")
    for act in (ff.open, ff.decode, ff.explain, ff.check):
        with pytest.raises(ff.InputError, match=r"nothing\.ff: does not exist"):
            act(tmp_path / "nothing.ff")
    for act in (ff.open, ff.explain, ff.check):
        with pytest.raises(
            ff.InputError, match=r"is not a capture folder, but a file.*decode .*a\.csv"
        ):
            act(samples)
    with pytest.raises(ff.InputError, match=r"text\.ff: no format is recognised"):
        ff.decode(text)


def test_a_register_field_or_index_that_is_not_there_is_said_in_one_line() -> None:
    with ff.connect("emu:") as card:
        device = card.device("A")
        with pytest.raises(ff.InputError, match=r"there is no register 'ctl.stat'; did you mean"):
            device.read("ctl.stat")
        with pytest.raises(ff.InputError, match=r"ctl.state has no field 'no'; it has state"):
            device.field("ctl.state", "no")
        with pytest.raises(ff.InputError, match=r"memory.stored: index 99 is out of range \(0"):
            device.read("memory.stored", 99)


def test_check_diff_and_report_take_a_path_or_an_opened_capture(
    capture: ff.CaptureFolder, tmp_path: Path
) -> None:
    assert {law.state for law in ff.check(capture)} <= {"holds", "broken", "not checkable"}
    assert ff.check(capture)[0].law.name == ff.check(str(capture.path))[0].law.name
    assert not ff.diff(capture, capture.path).different
    assert ff.explain(capture.path).findings[0].diagnosis == "word-omitted"
    assert ff.report(capture, tmp_path / "r.html", analyses=False) == tmp_path / "r.html"
    with pytest.raises(InputError, match="exists already"):
        ff.report(capture, tmp_path / "r.html")


def test_a_trigger_is_set_read_back_and_switched_off() -> None:
    with ff.connect("emu:?seed=5") as card:
        assert not ff.trigger(card).enabled
        set_to = ff.trigger(card, "rx_enq", "flow=3", then="kind=TAIL", count=2, limit_cycles=90)
        assert isinstance(set_to, Trigger)
        assert (set_to.tap, len(set_to.terms), set_to.count) == ("rx_enq", 2, 2)
        assert ff.trigger(card) == set_to
        assert not ff.trigger(card, off=True).enabled
        assert not ff.trigger(card, device="B").enabled
        with pytest.raises(InputError, match="needs both a tap"):
            ff.trigger(card, "rx_enq")
        with pytest.raises(InputError, match="no device 'C'; it has A, B"):
            ff.trigger(card, device="C")


def test_a_type_checker_knows_what_each_name_gives_and_nothing_is_any(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(
        "import freezeframe as ff\n"
        "card = ff.connect('emu:')\n"
        "reveal_type(card.pull('x.ff'))\n"
        "reveal_type(ff.open('x.ff'))\n"
        "reveal_type(ff.decode('x.ff'))\n"
        "reveal_type(ff.decode('x.sr', 'spi'))\n"
        "reveal_type(ff.explain('x.ff').findings)\n"
        "reveal_type(ff.analyze('x.ff', 'taps'))\n"
        "reveal_type(ff.analyze('x.ff', 'taps', 'crc'))\n"
        "reveal_type(ff.check('x.ff'))\n"
        "reveal_type(ff.diff('x.ff', 'y.ff'))\n"
        "reveal_type(ff.report('x.ff'))\n"
        "reveal_type(ff.trigger(card))\n"
        "reveal_type(ff.__version__)\n"
    )
    command = [sys.executable, "-m", "mypy", "--config-file", str(ROOT / "pyproject.toml")]
    done = subprocess.run(
        [*command, str(program)], cwd=ROOT, capture_output=True, text=True, check=False
    )
    types = re.findall(r'Revealed type is "(.*)"', done.stdout)
    assert [re.sub(r"[\w.]+\.", "", name) for name in types] == [
        "CaptureFolder | CardFolder",
        "CaptureFolder | CardFolder | SampleFolder",
        "Trace | dict[str, DataFrame]",
        "dict[str, DataFrame]",
        "list[Finding] | list[PacketFinding]",
        "AnalysisResult",
        "dict[str, AnalysisResult]",
        "list[Checked] | list[LawVerdict]",
        "RunDiff[TapInRuns]",
        "Path",
        "Trigger | StepTrigger",
        "str",
    ], done.stdout
