"""reg, names for targets, completion, results on standard output, a host's trace alone, the plug-in for pytest."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from freezeframe.analyzers.pytest_plugin import assert_explains
from freezeframe.capture.errors import BusError
from freezeframe.capture.registers.access import Device
from freezeframe.gui.cli import completing
from tests.gui.cli import refusal, run_inside, run_process
from tests.gui.made_capture import made_capture

pytest_plugins = ["pytester"]

EMULATED = "emu:?seed=1&fault=none"


@pytest.fixture(scope="module")
def capture(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return made_capture(tmp_path_factory.mktemp("made") / "fault.ff").path


@pytest.fixture
def lab(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    file = tmp_path / "freezeframe/targets.toml"
    file.parent.mkdir()
    file.write_text(f'lab = "{EMULATED}"\n')
    return file


def registers(*arguments: str) -> list[dict[str, object]]:
    done = run_inside("reg", *arguments, "--json")
    assert done.code == 0, done.err
    found: list[dict[str, object]] = json.loads(done.out)["registers"]
    return found


def test_a_register_is_read_by_name_field_pattern_and_address(lab: Path) -> None:
    one, other = registers("lab", "id.magic")
    assert (one["device"], one["value"], other["device"]) == ("A", 0x46525A46, "B")
    assert [r["register"] for r in registers("lab", "ctl.cause_cycle_*", "--device", "A")] == [
        "ctl.cause_cycle_lo", "ctl.cause_cycle_hi",
    ]  # fmt: skip
    assert registers("lab", "0x0", "--device", "A")[0]["register"] == "id.magic"
    assert [r["register"] for r in registers("lab", "memory.stored", "--device", "B")] == [
        f"memory.stored[{n}]" for n in range(5)
    ]
    assert len(registers("lab", "--device", "A")) > 1000


def test_a_write_says_what_stood_there(lab: Path) -> None:
    (row,) = registers("lab", "ctl.sample_period=0x80", "--device", "A")
    assert (row["was"], row["value"]) == (1024, 128)
    (row,) = registers("lab", "ctl.options.hold=0", "--device", "A")
    assert (row["was"], row["value"]) == (1, 0)


@pytest.mark.parametrize(
    ("names", "says"),
    [
        (("ctl.stat",), "no register 'ctl.stat'; did you mean ctl.state"),
        (("ctl",), "'ctl.*' is all below it"),
        (("nonsense",), "without a name all are listed"),
        (("ctl.state=1",), "ctl.state: can only be read"),
        (("ctl.arm=1",), "takes a key, and acts on the recording: freezeframe arm writes it"),
        (("provoke.inject=1",), "acts when it is written"),
        (("ctl.options.hold=2",), "does not fit 1 bits"),
        (("ctl.sample_period=x",), "'x' is no number"),
        (("ctl.kinds=1",), "is an array; say which, for instance ctl.kinds[0]"),
        (("0x3",), "no register has this address"),
        (("nope.*",), "no register that can be read has such a name"),
        (("ctl.sample_period=1", "ctl.nope=1"), "no register 'ctl.nope'"),
    ],
)
def test_what_cannot_be_read_or_written_is_one_line(
    lab: Path, names: tuple[str, ...], says: str
) -> None:
    assert says in refusal("reg", "lab", "--device", "A", *names)


@pytest.mark.parametrize(
    ("asked", "says"),
    [
        ("ctl.sample_period=12x", "'12x' is no number; write 64, 0x40 or 0b1000000"),
        ("ctl.sample_period=", "'' is no number; write 64, 0x40 or 0b1000000"),
        ("ctl.sample_period=010", "'010' is no number; write 64, 0x40 or 0b1000000"),
        ("ctl.sample_period=0x100000000", "no register has more than 32 bits (0..0xffffffff)"),
        ("ctl.sample_period=-1", "no register has more than 32 bits (0..0xffffffff)"),
        ("=1", "no register is named; write NAME=VALUE"),
    ],
)
def test_what_is_no_value_on_any_card_is_told_before_one_is_asked(asked: str, says: str) -> None:
    said = refusal("reg", "etherbone://192.0.2.7", "ctl.state", asked)  # where nobody answers
    assert said == f"freezeframe: {asked}: {says}\n"


def test_of_a_pattern_what_a_card_that_runs_refuses_is_said_and_the_rest_read(
    lab: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = Device.read_words

    def read_words(device: Device, addresses: Sequence[int]) -> Any:
        if any(address & 0xFFFF == 0x164 for address in addresses):  # ctl.index_data[1]
            raise BusError("emu: the read of 0x00000164 was answered with an error")
        return whole(device, addresses)

    monkeypatch.setattr(Device, "read_words", read_words)
    rows = {str(row["register"]): row for row in registers("lab", "ctl.*", "--device", "A")}
    assert rows["ctl.state"]["value"] == 1
    assert [name for name, row in rows.items() if row["value"] is None] == ["ctl.index_data[1]"]
    shown = run_inside("reg", "lab", "ctl.*", "--device", "A")
    assert (shown.code, shown.err) == (0, "")
    (line,) = [line for line in shown.out.splitlines() if "ctl.index_data[1]" in line]
    assert line.endswith("refused now")
    said = refusal("reg", "lab", "ctl.index_data[1]", "--device", "A", code=3)
    assert "was answered with an error" in said


def test_a_write_to_a_pair_needs_a_device(lab: Path) -> None:
    assert "--device says which is written" in refusal("reg", "lab", "ctl.sample_period=64")


def test_the_registers_of_a_capture_are_those_of_its_freeze_and_only_read(capture: Path) -> None:
    (one, other) = registers(str(capture), "ctl.causes")
    assert (one["device"], one["value"], other["value"]) == ("A", 1 << 11, 1 << 3)
    said = refusal("reg", str(capture), "ctl.causes=1")
    assert "is a recording, which is only read" in said


WRONG_NAMES = """\
# the lab
lab = "emu:?seed=1&fault=none"
bare = emu:
desk = "lab"
old = "emu:?seed=2"
three = 3
old = "emu:?seed=3"
"quoted" = "emu:?seed=4"  # a comment
circle = "circle"
"""


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("bare", '3: bare: write bare = "URL", for instance bare = "etherbone://192.0.2.7"'),
        ("desk", """4: desk: 'lab' is a name itself; write what it stands for: desk = "emu:?seed=1&fault=none\""""),
        ("old", "5: old: stands again in line 7; write it once"),
        ("three", '6: three: write three = "URL", for instance three = "etherbone://192.0.2.7"'),
        ("circle", '9: circle: write circle = "URL", for instance circle = "etherbone://192.0.2.7"'),
    ],
)  # fmt: skip
def test_a_name_whose_line_is_wrong_is_refused_by_its_line(lab: Path, name: str, says: str) -> None:
    lab.write_text(WRONG_NAMES)
    assert refusal("reg", name, "id.magic") == f"freezeframe: {lab}:{says}\n"


def test_a_name_that_no_line_gives_is_refused_with_the_line_that_is_wrong(lab: Path) -> None:
    lab.write_text('lab "emu:"\n')
    assert refusal("reg", "other", "id.magic") == (
        f"freezeframe: 'other': no line that can be read gives that name, and {lab}:1: "
        'write NAME = "URL", for instance lab = "etherbone://192.0.2.7"\n'
    )


def test_the_other_names_go_on_beside_wrong_lines_with_one_warning(
    lab: Path, tmp_path: Path
) -> None:
    lab.write_text(WRONG_NAMES)
    told = (
        f'freezeframe: {lab}:3: bare: write bare = "URL", for instance bare = "etherbone://192.0.2.7"; '
        "wrong, too: line 4, 5, 6, 9; the other names can be used\n"
    )
    done = run_inside("reg", "lab", "id.magic", "--device", "A", "--json")
    assert json.loads(done.out)["registers"][0]["value"] == 0x46525A46
    assert done.err == told
    both = run_inside("pull", "lab", "quoted", "--freeze", "-o", str(tmp_path / "x.ff"))
    assert (both.code, both.err.count(told)) == (0, 1), both.err


def test_the_list_of_names_has_each_wrong_line_beside_it(lab: Path) -> None:
    lab.write_bytes(b'\xff = "emu:"\nlab = "emu:"\r\n[lab2]\n')
    done = run_inside("targets", "--json")
    assert json.loads(done.out)["aliases"] == {"lab": "emu:"}
    told = 'write NAME = "URL", for instance lab = "etherbone://192.0.2.7"'
    assert done.err == f"freezeframe: {lab}:1: {told}\nfreezeframe: {lab}:3: {told}\n"


def test_a_url_is_not_looked_up_among_names(lab: Path) -> None:
    lab.write_text("lab = 3\n")
    done = run_inside("reg", EMULATED, "id.magic", "--device", "A")
    assert (done.code, done.err) == (0, "")


def test_a_shell_is_offered_what_there_is_beside_a_damaged_file_of_names(lab: Path) -> None:
    lab.write_text("lab = 3\n")
    assert completing.targets("ether") == ["etherbone:"]


def test_a_shell_is_offered_targets_faults_analyses_decoders_and_formats(lab: Path) -> None:
    assert completing.targets("la") == ["lab"]
    assert "etherbone:" in completing.targets("e")
    assert completing.faults("word-") == ["word-duplicated", "word-omitted"]
    assert "pressure" in completing.analyses("p")
    assert "spi+spiflash" in completing.decoders("spi+spi")
    assert completing.export_formats("pc") == ["pcapng"]
    assert completing.file_formats("sa") == ["saleae"]


def test_one_table_goes_to_standard_output(capture: Path) -> None:
    done = run_process(
        "export", str(capture), "--to", "csv", "--table", "words", "--hex", "-o", "-"
    )
    assert done.code == 0
    head, first, *rest = done.out.splitlines()
    assert head == '"t_ps","source","kind","t_unc_ps","cycle","slot","data","packet","word"'
    assert first == '0,"A.tx_enq","HEAD",0,1000000,0,"0xbb90000000180101",0,-1'
    assert len(rest) > 1000
    said = refusal("decode", str(capture), "-d", "trace", "-o", "-")
    assert f"freezeframe export {capture} --to parquet -o - --table NAME gives one" in said
    said = refusal("export", str(capture), "--to", "csv", "-o", "-")
    assert "there are: trace.events, trace.intervals, trace.packets, trace.words" in said


@pytest.mark.parametrize(
    "verb", [("decode", "-d", "trace"), ("export", "--to", "csv", "-o", "x.csv")]
)
def test_options_for_samples_are_refused_on_a_recording(
    capture: Path, verb: tuple[str, ...]
) -> None:
    said = refusal(verb[0], str(capture), *verb[1:], "--cut", "1us..2us")
    assert "are for samples: leave those options out; --where" in said


def test_the_trace_of_a_host_opens_alone(tmp_path: Path) -> None:
    trace = tmp_path / "dmesg.txt"
    trace.write_text("[    1.000123] mlx5_core: up\n[    2.500000] eth0: link down\n")
    done = run_inside("decode", str(trace))
    assert done.code == 0
    assert [line.split()[-1] for line in done.out.splitlines()] == ["up", "down"]
    rows = json.loads(run_inside("decode", str(trace), "--json").out)["tables"][0]["rows"]
    assert [(row["t_ps"], row["own_ns"]) for row in rows] == [
        (0, 1_000_123_000), (1_499_877_000_000, 2_500_000_000),
    ]  # fmt: skip


def test_what_a_capture_is_explained_as_can_be_asserted(capture: Path) -> None:
    finding = assert_explains(capture, "word-omitted", device="A", word=3)
    assert finding.packet == 7
    with pytest.raises(AssertionError, match=r"nothing should be wrong, .* word-omitted at A"):
        assert_explains(capture)
    with pytest.raises(AssertionError, match="credit-lost is not found; the capture says: word-om"):
        assert_explains(capture, "credit-lost")
    with pytest.raises(AssertionError, match=r"with \{'word': 3\} instead of \{'word': 4\}"):
        assert_explains(capture, "word-omitted", word=4)


def test_a_card_is_armed_frozen_and_pulled_by_the_fixture(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        """
        def test_armed_and_pulled(frozen_card):
            with frozen_card(discard=True) as card:
                before = card.card.states()["A"].generation
            assert card.path.is_dir()
            assert card.capture.manifest["devices"][0]["generation"] == before == 2
        """
    )
    options = ["-p", "no:xdist", "-p", "no:cacheprovider"]
    done = pytester.runpytest_subprocess(*options, "--freezeframe-card", EMULATED)
    done.assert_outcomes(passed=1)
