"""freezeframe export: files, counts, JSON, and errors in one line."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from pyarrow.parquet import read_table

from freezeframe.capture.files.sigrok_sr_writer import write_sr
from freezeframe.decoders.serial.mdio_encode import encode_frames
from freezeframe.gui.export.formats import FORMATS
from tests.gui.cli import refusal, run_inside
from tests.gui.export.material import small, tool
from tests.gui.made_capture import made_capture
from tests.gui.mdio import FRAMES


def notes_alone(err: str) -> bool:
    """Tell whether nothing stands there but notes."""
    return all(line.startswith("note: ") for line in err.splitlines())


@pytest.mark.parametrize("form", ["vcd", "sr", "csv", "parquet", "perfetto"])
def test_samples_are_exported_as_they_are(phy: Path, form: str, tmp_path: Path) -> None:
    out = tmp_path / f"out.{form}"
    done = run_inside("export", str(phy), "--to", form, "-o", str(out))
    assert done.code == 0 and notes_alone(done.err), done.err
    assert done.out.startswith(f"{out}: {out.stat().st_size:,} B\n  ")


def test_an_exported_session_decodes_like_the_first(phy: Path, tmp_path: Path) -> None:
    out = tmp_path / "again.sr"
    assert run_inside("export", str(phy), "--to", "sr", "-o", str(out)).code == 0
    first, again = (
        json.loads(run_inside("decode", str(path), "-d", "mdio", "--json").out)["tables"]
        for path in (phy, out)
    )
    assert again == first


def test_a_vcd_of_ours_is_read_again_with_the_same_edges(phy: Path, tmp_path: Path) -> None:
    first, vcd, again = (tmp_path / name for name in ("a.csv", "x.vcd", "b.csv"))
    for source, form, out in ((phy, "csv", first), (phy, "vcd", vcd), (vcd, "csv", again)):
        assert run_inside("export", str(source), "--to", form, "-o", str(out)).code == 0
    wanted, seen = (
        [line.split(",") for line in path.read_text().splitlines()[1:]] for path in (first, again)
    )
    assert len(seen) > 100
    # The number of the sample is another: a VCD has no rate.
    assert [(t, *bits) for t, _, *bits in seen] == [(t, *bits) for t, _, *bits in wanted]


def test_only_some_channels_and_a_cut_begin_at_zero(phy: Path, tmp_path: Path) -> None:
    out = tmp_path / "x.csv"
    arguments = ("--only", "MDIO", "--cut", "1us..2us", "--to", "csv", "-o", str(out))
    assert run_inside("export", str(phy), *arguments).code == 0
    header, first, *_ = out.read_text().splitlines()
    assert header == '"t_ps","sample","MDIO"'
    assert first.startswith("0,0,")


def test_raw_samples_are_exported_when_their_layout_is_given(tmp_path: Path) -> None:
    raw = tmp_path / "x.bin"
    raw.write_bytes(b"\x01\x01\x02")
    out = tmp_path / "x.csv"
    layout = ("--format", "binary:channels=2,rate=1000000", "--channel", "clk=0")
    done = run_inside("export", str(raw), *layout, "--to", "csv", "-o", str(out))
    assert done.code == 0 and notes_alone(done.err), done.err
    header, *rows = out.read_text().splitlines()
    assert header.startswith('"t_ps","sample","clk",')
    assert rows == ["0,0,1,0", "2000000,2,0,1"]


def test_more_than_64_channels_have_to_be_chosen(tmp_path: Path) -> None:
    names = "".join(f"$var wire 1 v{i} c{i} $end\n" for i in range(65))
    values = "".join(f"0v{i}\n" for i in range(65))
    vcd = tmp_path / "wide.vcd"
    vcd.write_text(f"$timescale 1 ns $end\n{names}$enddefinitions $end\n#0\n{values}#5\n1v64\n#9\n")
    out = tmp_path / "x.csv"
    said = refusal("export", str(vcd), "--to", "csv", "-o", str(out))
    assert "65 channels; 64 at a time can be exported, choose them with --only" in said
    done = run_inside("export", str(vcd), "--only", "c64", "--to", "csv", "-o", str(out))
    assert done.code == 0 and notes_alone(done.err), done.err
    assert out.read_text().startswith('"t_ps","sample","c64"\n0,0,0\n5000,')
    said = refusal("export", str(vcd), "--only", "c65", "--to", "csv", "-o", str(out))
    assert "--only c65: there is no such channel" in said


def test_what_a_decoder_makes_is_exported_with_its_words_as_names(
    phy: Path, tmp_path: Path
) -> None:
    out = tmp_path / "mdio.pftrace"
    done = run_inside("export", str(phy), "-d", "mdio", "--to", "perfetto", "-o", str(out))
    assert (done.code, done.err) == (0, "")
    assert "  rows of mdio: 2\n" in done.out
    assert b"write PHY 1 register 0" in out.read_bytes()


def test_a_recording_needs_no_decoder_and_opens_in_tshark(tmp_path: Path) -> None:
    folder = made_capture(tmp_path / "made.ff")
    out = tmp_path / "made.pcapng"
    done = run_inside("export", str(folder.path), "--to", "pcapng", "-o", str(out))
    assert done.code == 0 and notes_alone(done.err), done.err
    assert "  packets of trace.packets: 48\n" in done.out
    fields = ("-e", "frame.interface_name", "-e", "frame.comment")
    lines = tool("tshark", "-r", out, "-T", "fields", *fields).splitlines()
    assert len(lines) == 48
    assert lines[0].startswith("A.tx_enq\tRDMA_WRITE #0 flow 1 A->B, t_ps 0 +- 0")
    wrong = [line for line in lines if "payload wrong, length wrong" in line]
    assert [line.partition("\t")[0] for line in wrong] == ["A.tx_deq", "B.rx_enq", "B.rx_deq"]
    assert all("#7 " in line for line in wrong)


def test_json_says_what_was_written(tmp_path: Path) -> None:
    folder = made_capture(tmp_path / "made.ff")
    out = tmp_path / "made.parquet"
    arguments = ("--to", "parquet", "-o", str(out), "--json")
    document = json.loads(run_inside("export", str(folder.path), *arguments).out)
    assert (document["file"], document["format"]) == (str(folder.path), "parquet")
    assert [Path(entry["path"]).name for entry in document["written"]] == [
        f"made.trace.{name}.parquet" for name in ("packets", "words", "events", "intervals")
    ]
    assert [entry["bytes"] for entry in document["written"]] == [
        Path(entry["path"]).stat().st_size for entry in document["written"]
    ]
    assert document["counts"]["rows of trace.packets"] == 48
    assert len(read_table(tmp_path / "made.trace.packets.parquet")) == 48


@pytest.mark.parametrize("form", FORMATS)
def test_the_same_recording_gives_the_same_bytes(form: str, tmp_path: Path) -> None:
    if form in ("sr", "stimulus"):
        write_sr(encode_frames(FRAMES, samplerate_hz=10_000_000), tmp_path / "x.sr")
        source = tmp_path / "x.sr"
    else:
        source = made_capture(tmp_path / "made.ff").path
    written = []
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        out = str(tmp_path / name / "out")
        assert run_inside("export", str(source), "--to", form, "-o", out).code == 0
        written.append({p.name: p.read_bytes() for p in (tmp_path / name).iterdir()})
    assert written[0]
    assert written[0] == written[1]


def test_a_file_that_is_there_is_replaced_only_with_force(phy: Path, tmp_path: Path) -> None:
    out = tmp_path / "x.vcd"
    out.write_text("old")
    refused = run_inside("export", str(phy), "--to", "vcd", "-o", str(out))
    assert (refused.code, refused.out, out.read_text()) == (2, "", "old")
    assert f"{out}: exists already" in refused.err
    assert run_inside("export", str(phy), "--to", "vcd", "-o", str(out), "--force").code == 0
    assert out.read_text().startswith("$timescale 1 ps $end")


def test_one_of_several_files_that_is_there_stops_all(tmp_path: Path) -> None:
    folder = made_capture(tmp_path / "made.ff")
    (tmp_path / "x.trace.events.csv").write_text("old")
    said = refusal("export", str(folder.path), "--to", "csv", "-o", str(tmp_path / "x.csv"))
    assert "x.trace.events.csv: exists already" in said
    assert [entry.name for entry in tmp_path.glob("x*")] == ["x.trace.events.csv"]


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("--to", "pcap"), "there is no format 'pcap'; there is: vcd, sr, pcapng, csv"),
        (("--to", "pcapng"), "samples have no packets; name a decoder that makes some"),
        (("--to", "pcapng", "-d", "mdio"), "there are no bytes of packets in mdio; name a decoder"),
        (("--to", "vcd", "-d", "mdio"), "leave out -d"),
        (("--to", "sr", "-d", "mdio"), "leave out -d"),
        (("--to", "csv", "-d", "mdio", "--only", "mdc"), "--only chooses among samples"),
        (("--to", "csv", "-d", "mdoi"), "did you mean mdio?"),
        (("--to", "csv", "--max-samples", "10"), "--max-samples"),
        (("--to", "csv", "--samplerate", "12 parsecs"), "12 parsecs"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_what_cannot_be_exported_is_bad_input_in_one_line_and_leaves_nothing(
    phy: Path, arguments: tuple[str, ...], says: str
) -> None:
    assert says in refusal("export", str(phy), *arguments, "-o", str(phy.with_name("out")))
    assert [entry.name for entry in phy.parent.iterdir()] == ["phy.sr"]


def test_a_cut_capture_is_bad_input_and_leaves_nothing(phy: Path) -> None:
    cut = phy.with_name("cut.sr")
    cut.write_bytes(phy.read_bytes()[:200])
    said = refusal("export", str(cut), "--to", "vcd", "-o", str(phy.with_name("x.vcd")))
    assert "cut.sr" in said
    assert sorted(entry.name for entry in phy.parent.iterdir()) == ["cut.sr", "phy.sr"]


@pytest.mark.parametrize("form", ["vcd", "csv", "parquet", "perfetto"])
def test_a_capture_longer_than_times_can_be_is_bad_input(form: str, tmp_path: Path) -> None:
    seconds = 10_000_000  # more than the 106 days of 2^63 ps
    edges = replace(
        small(), samplerate_hz=1, sample=np.array([0, 1, 2, seconds - 1]), end_sample=seconds
    )
    write_sr(edges, tmp_path / "long.sr")
    out = tmp_path / "out"
    said = refusal("export", str(tmp_path / "long.sr"), "--to", form, "-o", str(out))
    assert "9223372 s, the last time that fits t_ps; --to sr" in said
    assert [entry.name for entry in tmp_path.iterdir()] == ["long.sr"]


def test_a_source_that_is_not_there_is_bad_input(tmp_path: Path) -> None:
    said = refusal("export", str(tmp_path / "no.sr"), "--to", "vcd", "-o", str(tmp_path / "x"))
    assert "no.sr: there is no such file or folder" in said


def test_no_control_character_of_a_name_reaches_the_terminal(tmp_path: Path) -> None:
    path, out = tmp_path / "odd\n.csv", tmp_path / "odd.vcd"
    path.write_text("x\x1b[31m<b>,y\n0,1\n1,0\n")
    done = run_inside("export", str(path), "--to", "vcd", "--samplerate", "1MHz", "-o", str(out))
    assert done.code == 0
    assert "\x1b" not in done.out + done.err
    assert r"x\x1b[31m<b>" in done.err
    said = refusal("export", str(path), "--to", "vcd", "--only", "z", "-o", str(out), "--force")
    assert r"odd\n.csv" in said


def test_an_analog_channel_is_said_to_be_left_out_and_refused_by_name(tmp_path: Path) -> None:
    path, out = tmp_path / "scope.csv", str(tmp_path / "out.vcd")
    path.write_text("D,A0\n0,1.25\n1,3.0\n")
    wish = ("export", str(path), "--samplerate", "1MHz", "--to", "vcd", "-o", out)
    done = run_inside(*wish)
    assert "A0 is not exported: it is analog; give --threshold A0=HIGH/LOW" in done.err
    said = refusal(*wish, "--force", "--only", "A0")
    assert "channel A0 cannot be read: it is analog; give --threshold A0" in said


@pytest.mark.parametrize("to", ["vcd", "sr"])
def test_decoded_tables_are_refused_by_formats_of_samples_before_decoding(
    phy: Path, to: str
) -> None:
    wish = ("--to", to, "-d", "mdio", "-o", str(phy.with_name("out")), "--max-samples", "1")
    said = refusal("export", str(phy), *wish)
    assert f"nothing to export as {to}: it takes samples, leave out -d" in said
