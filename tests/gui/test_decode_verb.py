"""decode and decoders: text, JSON and Parquet out of a capture made here, and errors."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from pyarrow.parquet import read_table

from freezeframe.capture.files.sigrok_sr_writer import write_sr
from freezeframe.decoders.serial.mdio_encode import encode_frames
from tests.capture.files.test_saleae import digital
from tests.gui.cli import refusal, run_inside
from tests.gui.made_capture import made_capture


def test_decode_prints_a_line_for_each_event(phy: Path) -> None:
    done = run_inside("decode", str(phy), "-d", "mdio")
    assert (done.code, done.err) == (0, "")
    read, write = done.out.splitlines()
    assert "read PHY 1 register 2" in read
    assert read.endswith("0x0007")
    assert "write PHY 1 register 0" in write
    assert read.split()[1] == "µs"


def test_decode_prints_json_with_one_object_for_each_row(phy: Path) -> None:
    done = run_inside("decode", str(phy), "-d", "mdio", "--json")
    document = json.loads(done.out)
    assert document["file"] == str(phy)
    (table,) = document["tables"]
    assert table["name"] == "mdio"
    assert [(r["kind"], r["op"], r["phy"], r["reg"], r["data"]) for r in table["rows"]] == [
        ("frame", "read", 1, 2, 0x0007),
        ("frame", "write", 1, 0, 0x3100),
    ]


def test_decode_writes_parquet_and_says_how_many_rows(phy: Path, tmp_path: Path) -> None:
    out = tmp_path / "events.parquet"
    done = run_inside("decode", str(phy), "-d", "mdio", "-o", str(out))
    assert (done.code, done.out) == (0, f"{out}: mdio, 2 rows\n")
    assert read_table(out).column("data").to_pylist() == [0x0007, 0x3100]


def test_two_decoders_write_two_files(phy: Path, tmp_path: Path) -> None:
    out = tmp_path / "events.parquet"
    done = run_inside("decode", str(phy), "-d", "mdio", "-d", "mdio:clause=45", "-o", str(out))
    assert done.code == 0
    written = sorted(entry.name for entry in tmp_path.glob("events*"))
    assert written == ["events.mdio#2.parquet", "events.mdio.parquet"]


def test_a_recording_is_decoded_with_the_tap_in_every_line(tmp_path: Path) -> None:
    folder = made_capture(tmp_path / "made.ff")
    done = run_inside("decode", str(folder.path), "-d", "trace")
    lines = done.out.splitlines()
    assert [line for line in lines if line.startswith("# trace.packets, 48 rows")]
    assert [line for line in lines if "B.rx_deq" in line and "RDMA_WRITE #7" in line]


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("-d", "mdoi"), "did you mean mdio?"),
        (("-d", "mdio:clause=99"), "clause"),
        (("-d", "mdio:mdc=D7"), "D7"),
        (("-d", "trace"), "trace takes capture"),
        (("-d", "mdio", "--max-samples", "10"), "--max-samples"),
        (("-d", "mdio", "--samplerate", "12 parsecs"), "12 parsecs"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_what_cannot_be_decoded_is_bad_input_in_one_line(
    phy: Path, arguments: tuple[str, ...], says: str
) -> None:
    assert says in refusal("decode", str(phy), *arguments)


def test_a_cut_capture_is_bad_input_and_no_file_is_left(phy: Path, tmp_path: Path) -> None:
    cut = tmp_path / "cut.sr"
    cut.write_bytes(phy.read_bytes()[:200])
    said = refusal("decode", str(cut), "-d", "mdio", "-o", str(tmp_path / "e.parquet"))
    assert "cut.sr" in said
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["cut.sr", "phy.sr"]


def test_an_output_that_cannot_be_written_is_bad_input(phy: Path, tmp_path: Path) -> None:
    said = refusal("decode", str(phy), "-d", "mdio", "-o", str(tmp_path / "no" / "e.parquet"))
    assert str(tmp_path / "no") in said


def test_decoders_lists_channels_and_options(tmp_path: Path) -> None:
    listed = run_inside("decoders").out.splitlines()
    at = next(i for i, line in enumerate(listed) if line.startswith("mdio  "))
    assert listed[at + 1].startswith("    from edges; channels mdc, mdio; options clause, ")
    text = run_inside("decoders", "mdio").out
    assert "channel mdc  clock" in text
    assert "option clause=auto" in text
    document = json.loads(run_inside("decoders", "mdio", "--json").out)
    (mdio,) = document["decoders"]
    assert [channel["id"] for channel in mdio["channels"]] == ["mdc", "mdio"]
    clause = next(option for option in mdio["options"] if option["id"] == "clause")
    assert (clause["default"], clause["choices"]) == ("auto", ["auto", "22", "45"])
    assert document["broken"] == []


def test_a_directory_that_is_no_capture_says_so(tmp_path: Path) -> None:
    (tmp_path / "photos").mkdir()
    said = refusal("decode", str(tmp_path / "photos"), "-d", "uart")
    assert "photos: is a directory, but not a capture folder: it has no manifest.json" in said


def test_a_folder_of_samples_is_decoded_as_a_file_is(tmp_path: Path) -> None:
    """What Saleae Logic 2 exports: a file of times a channel. The rate of the line is measured."""
    folder = tmp_path / "export"
    folder.mkdir()
    at_s, level, changes = 1e-3, 1, []
    for byte in b"Saleae\r\n":
        for bit in (0, *(byte >> place & 1 for place in range(8)), 1):
            changes += [at_s] if bit != level else []
            at_s, level = at_s + 1 / 9600, bit
    (folder / "digital_0.bin").write_bytes(digital(1, 0, 0.1, changes))
    (folder / "digital_1.bin").write_bytes(digital(1, 0, 0.1, []))
    done = run_inside("decode", str(folder), "-d", "uart:rx=D0")
    assert (done.code, done.err) == (0, "")
    rate, *lines = done.out.splitlines()
    assert rate.endswith("  9600 Bd, measured")
    assert [line.split()[2] for line in lines] == [f"{byte:02x}" for byte in b"Saleae\r\n"]
    wrong = run_inside("decode", str(folder), "-d", "uart:rx=D0,baud=19200")
    assert wrong.code == 0
    assert wrong.err.startswith("note: uart: ")
    assert wrong.err.count("\n") == 1
    assert "frames of D0 have no stop bit: another rate (baud=0 measures it), " in wrong.err
    assert "uart:rx=D0,baud=9600" in run_inside("decode", str(folder)).out
    quiet = run_inside("decode", str(folder), "-d", "uart:rx=D1")
    assert (quiet.code, quiet.out) == (0, "")
    assert quiet.err.startswith("0 events: ")
    assert "D1" in quiet.err


def test_nothing_decoded_is_said_beside_the_output(tmp_path: Path) -> None:
    path = tmp_path / "quiet.sr"
    write_sr(encode_frames((), samplerate_hz=10_000_000), path)
    done = run_inside("decode", str(path), "-d", "mdio")
    assert (done.code, done.out) == (0, "")
    assert done.err.startswith("0 events: ")


def test_a_channel_that_never_changes_is_named_where_nothing_is_decoded(tmp_path: Path) -> None:
    path = tmp_path / "lines.csv"
    path.write_text("time [us],rx,tx\n0,1,1\n104,1,0\n208,1,1\n312,1,0\n")
    done = run_inside("decode", str(path), "-d", "uart:baud=9600", "--samplerate", "1MHz")
    assert "in the capture: rx never changes; tx has 3 edges" in done.err


def test_an_error_among_the_events_is_marked(tmp_path: Path) -> None:
    path = tmp_path / "lines.csv"
    path.write_text("time [us],rx\n0,1\n104,0\n5000,1\n9000,1\n")
    done = run_inside("decode", str(path), "-d", "uart:baud=9600", "--samplerate", "1MHz")
    assert any("  ! " in line for line in done.out.splitlines())


def test_decode_does_not_write_parquet_under_the_name_of_another_format(
    phy: Path, tmp_path: Path
) -> None:
    said = refusal("decode", str(phy), "-d", "mdio", "-o", str(tmp_path / "x.csv"))
    assert f"export {phy} -d mdio --to csv -o {tmp_path / 'x.csv'}" in said
    assert not (tmp_path / "x.csv").exists()


@pytest.mark.parametrize(
    ("wish", "says"),
    [("1.5", "no channel in it is analog"), ("MDC=1.5", "MDC is not analog")],
)
def test_a_threshold_for_digital_channels_is_refused(phy: Path, wish: str, says: str) -> None:
    assert says in refusal("decode", str(phy), "-d", "mdio", "--threshold", wish)


def test_many_numbered_channels_are_listed_as_a_range() -> None:
    listed = run_inside("decoders").out
    assert ", ad0..ad31, " in listed
    assert listed.startswith("# native\n")
    assert "channel ad0..ad31  address and data 0 .. " in run_inside("decoders", "pci").out


@pytest.mark.parametrize(
    ("spec", "says"),
    [
        ("uart:baud=9600", "-d uart:rx=tx,baud=9600"),
        ("uart:rx=rx,baud=9600", "-d uart:rx=tx,baud=9600"),
    ],
)
def test_where_one_other_line_changes_it_is_said_how_to_decode_that(
    tmp_path: Path, spec: str, says: str
) -> None:
    path = tmp_path / "lines.csv"
    path.write_text("time [us],rx,tx\n0,1,1\n104,1,0\n208,1,1\n312,1,0\n")
    done = run_inside("decode", str(path), "-d", spec, "--samplerate", "1MHz")
    assert done.err.endswith(f"rx never changes; tx has 3 edges; say {says}\n")


def test_where_several_lines_change_the_proposed_one_is_named(tmp_path: Path) -> None:
    path = tmp_path / "lines.csv"
    rows, levels = (
        ["time [us],rx,ch2,ch1"],
        "".join(
            f"0{code:08b}"[0] + f"{code:08b}"[::-1] + "111"
            for code in b"one line of text, and more"
        ),
    )
    for number, level in enumerate(f"1111{levels}"):
        rows.append(f"{104 * number},1,{int(number > 40)},{level}")
    path.write_text("\n".join(rows) + "\n")
    done = run_inside("decode", str(path), "-d", "uart", "--samplerate", "1MHz")
    assert done.err.endswith("ch2 has 1 edge; say -d uart:rx=ch1\n"), done.err


def test_a_decoder_of_two_lines_gets_no_such_advice(tmp_path: Path) -> None:
    path = tmp_path / "lines.csv"
    path.write_text("time [us],mdc,mdio,x\n0,1,1,1\n104,1,1,0\n208,1,1,1\n")
    done = run_inside("decode", str(path), "-d", "mdio", "--samplerate", "1MHz")
    assert done.err.endswith("mdc, mdio never change; x has 2 edges\n")


@pytest.mark.parametrize("spec", ["parallel+sci", "trace"])
def test_of_a_described_card_no_decoder_is_proposed_that_is_refused_then(
    spec: str, tmp_path: Path
) -> None:
    folder = tmp_path / "sci.ff"
    fault = "emu:?profile=pci-sci&fault=nwrite-response-confused&seed=7"
    assert run_inside("pull", fault, "-o", str(folder)).code == 0
    done = run_inside("decode", str(folder), "-d", spec)
    assert (done.code, done.err.count("\n")) == (2, 1)
    assert f"freezeframe decode {folder}, without -d, prints its packets" in done.err
    assert run_inside("decode", str(folder)).code == 0
    for verb in ("explain", "check", "analyze"):
        assert verb in done.err
        assert run_inside(verb, str(folder)).code in (0, 1)


@pytest.mark.parametrize("verb", ["explain", "decode", "check", "verify", "analyze"])
@pytest.mark.parametrize(
    "url", ["etherbone://127.0.0.1:1", "litex://lab/?base=0x10", "uart:/dev/ttyFF0", "emu:?fault=x"]
)
def test_a_target_in_place_of_a_capture_is_told_to_be_one(verb: str, url: str) -> None:
    said = refusal(verb, url)
    assert f"{url}: is a target, not a capture" in said
    assert f"freezeframe pull '{url}' -o NAME.ff" in said
