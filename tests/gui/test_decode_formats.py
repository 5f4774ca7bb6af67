"""decode of captures that are no sigrok sessions: format, channel names, thresholds and cuts."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from freezeframe.capture.files.edges import Edges
from freezeframe.capture.files.sigrok_sr_writer import write_sr
from freezeframe.decoders.serial.mdio_encode import MdioFrame, encode_frames
from tests.gui.cli import refusal, run_inside

FRAMES = [MdioFrame(22, "read", phy=1, reg=n, data=0x1000 + n) for n in range(4)]
RATE_HZ = 10_000_000


@pytest.fixture
def bus() -> Edges:
    return encode_frames(FRAMES, samplerate_hz=RATE_HZ)


def samples(bus: Edges) -> np.ndarray:
    lasts = np.diff(bus.sample, append=bus.end_sample)
    return np.repeat(bus.value, lasts).astype(np.uint8)


def vcd(bus: Edges) -> str:
    lines = ["$timescale 100 ns $end", "$scope module phy $end"]
    lines += [f"$var wire 1 {n} {name.lower()}_o $end" for n, name in enumerate(bus.channels)]
    lines += ["$upscope $end", "$enddefinitions $end"]
    for sample, value in zip(bus.sample.tolist(), bus.value.tolist(), strict=True):
        lines += [f"#{sample}", *(f"{value >> n & 1}{n}" for n in range(2))]
    return "\n".join([*lines, f"#{bus.end_sample}", ""])


def rows(*arguments: str) -> list[dict[str, object]]:
    done = run_inside("decode", *arguments, "--json")
    assert (done.code, done.err) == (0, "")
    ((table),) = json.loads(done.out)["tables"]
    return [{k: v for k, v in row.items() if k != "source"} for row in table["rows"]]


def test_every_format_gives_the_rows_of_the_session(bus: Edges, tmp_path: Path) -> None:
    session, dump, raw, table = (tmp_path / f"a.{end}" for end in ("sr", "vcd", "bin", "csv"))
    write_sr(bus, session)
    dump.write_text(vcd(bus))
    raw.write_bytes(samples(bus).tobytes())
    lines = [f"{value & 1},{1.65 * (value >> 1):.2f}" for value in samples(bus).tolist()]
    table.write_text("\n".join(["mdc,mdio", *lines, ""]))
    want = rows(str(session), "-d", "mdio")
    assert [row["data"] for row in want] == [0x1000, 0x1001, 0x1002, 0x1003]
    names = ("--channel", "mdc=mdc_o", "--channel", "mdio=mdio_o")
    assert rows(str(dump), "-d", "mdio", *names) == want
    layout = f"binary:channels=2,rate={RATE_HZ},names=mdc;mdio"
    assert rows(str(raw), "-d", "mdio", "--format", layout) == want
    analog = ("--threshold", "mdio=1.2/0.4", "--samplerate", "10MHz")
    assert rows(str(table), "-d", "mdio", *analog) == want


def test_a_cut_decodes_only_what_lies_in_it(bus: Edges, tmp_path: Path) -> None:
    path = tmp_path / "a.sr"
    write_sr(bus, path)
    whole = rows(str(path), "-d", "mdio")
    # In the idle time before the second frame's preamble is over, to the end.
    begin_ns = bus.end_sample // len(FRAMES) * 100
    some = rows(str(path), "-d", "mdio", "--cut", f"{begin_ns}ns..")
    assert [row["data"] for row in some if row["kind"] == "frame"] == [
        row["data"] for row in whole[1:]
    ]
    assert some[-1]["t_ps"] == int(str(whole[-1]["t_ps"])) - begin_ns * 1000


def test_what_had_to_be_assumed_is_a_note(bus: Edges, tmp_path: Path) -> None:
    path = tmp_path / "a.vcd"
    path.write_text(vcd(bus).replace("#0\n", "#0\nx0\n", 1))
    done = run_inside("decode", str(path), "-d", "mdio:mdc=mdc_o,mdio=mdio_o")
    assert done.code == 0
    assert done.err == f"note: {path}: 1 values with x or z are read as x=0, z=0\n"


def test_a_sigrok_decoder_is_not_sent_through_hours_of_picoseconds(
    bus: Edges, tmp_path: Path
) -> None:
    path = tmp_path / "a.vcd"
    path.write_text(vcd(bus).replace("100 ns", "1 ps") + "#1000000000000\n")
    said = refusal("decode", str(path), "-d", "srd-uart:rx=mdio_o")
    assert "1000000000000 samples, more than the 4294967296 allowed" in said
    assert run_inside("decode", str(path), "-d", "mdio:mdc=mdc_o,mdio=mdio_o").code == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--format", "mp3"], "--format mp3: not known"),
        (["--format", "binary"], "give channels=1..64"),
        (["--channel", "mdc=nope"], "no channel or bus nope"),
        (["--threshold", "high"], "threshold 'high': not"),
        (["--cut", "1ms"], "cut '1ms': not BEGIN..END"),
        (["--cut", "1s.."], "the capture ends at"),
    ],
)
def test_a_wish_that_cannot_be_is_one_line(
    bus: Edges, tmp_path: Path, arguments: list[str], message: str
) -> None:
    path = tmp_path / "a.sr"
    write_sr(bus, path)
    assert message in refusal("decode", str(path), "-d", "mdio", *arguments)
