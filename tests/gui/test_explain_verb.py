"""explain and report on a capture folder: what they print, write, and refuse."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from freezeframe.analyzers.contract import Evidence, Finding
from freezeframe.analyzers.explain import Explanation
from tests.gui.cli import refusal, run_inside
from tests.gui.made_capture import BAD_PACKET, BAD_WORD, made_capture


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return made_capture(tmp_path_factory.mktemp("made") / "made.ff").path


def test_explain_names_fault_tap_packet_and_word(path: Path) -> None:
    done = run_inside("explain", str(path))
    assert (done.code, done.err) == (0, "")
    assert done.out.splitlines()[0] == "made.ff: 1 finding, frozen by pay-crc at B"
    assert "word-omitted: a 64-bit word was lost in A's outgoing FIFO" in done.out
    assert f"packet {BAD_PACKET}, word {BAD_WORD}" in done.out


def test_explain_says_the_same_to_a_machine(path: Path) -> None:
    (finding,) = json.loads(run_inside("explain", str(path), "--json").out)["findings"]
    place = [finding[key] for key in ("diagnosis", "device", "tap", "direction", "packet", "word")]
    assert place == ["word-omitted", "A", "tx_deq", "A->B", BAD_PACKET, BAD_WORD]
    assert finding["evidence"][0]["rows"]


def test_findings_are_a_failure_only_where_asked(path: Path) -> None:
    assert run_inside("explain", str(path)).code == 0
    assert run_inside("explain", str(path), "--fail-on-findings").code == 1


def test_one_end_alone_is_right_or_undetermined(path: Path) -> None:
    said = json.loads(run_inside("explain", str(path), "--json", "--device", "B").out)["findings"]
    for finding in said[:1]:
        assert finding["diagnosis"] in ("word-omitted", "undetermined")
        assert finding["word"] in (None, BAD_WORD)


def test_a_device_that_the_capture_does_not_hold_is_bad_input(path: Path) -> None:
    said = refusal("explain", str(path), "--device", "C")
    assert "no device 'C'; the capture holds A, B" in said


def test_an_altered_capture_is_not_explained(tmp_path: Path) -> None:
    folder = made_capture(tmp_path / "made.ff")
    file = folder.path / "raw" / "B.rx_enq.rec"
    data = bytearray(file.read_bytes())
    data[100] ^= 1
    file.write_bytes(data)
    for verb in ("explain", "report"):
        assert "B.rx_enq.rec: altered" in refusal(verb, str(folder.path))


def test_report_writes_one_file_and_says_its_size(path: Path, tmp_path: Path) -> None:
    out = tmp_path / "fault.html"
    done = run_inside("report", str(path), "-o", str(out))
    assert (done.code, done.out) == (0, f"{out}: {out.stat().st_size:,} B\n")
    assert "word-omitted: a 64-bit word was lost in A&#x27;s outgoing FIFO" in out.read_text()
    assert "--force" in refusal("report", str(path), "-o", str(out))
    assert run_inside("report", str(path), "-o", str(out), "--force").code == 0


def test_the_capture_is_not_touched(tmp_path: Path) -> None:
    folder = made_capture(tmp_path / "made.ff").path
    before = {p: p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}
    assert run_inside("explain", str(folder)).code == 0
    assert run_inside("report", str(folder), "-o", str(tmp_path / "r.html")).code == 0
    raw = {p: data for p, data in before.items() if "tables" not in p.parts}
    assert {p: p.read_bytes() for p in raw} == raw


@pytest.mark.parametrize(
    ("candidates", "code"),
    [(("credit-lost", "none"), 0), (("credit-lost", "header-miscounted"), 1)],
    ids=["may be in order", "certainly not in order"],
)
def test_what_also_fits_a_card_in_order_is_no_failure(
    path: Path, monkeypatch: pytest.MonkeyPatch, candidates: tuple[str, ...], code: int
) -> None:
    from freezeframe.analyzers.explain import explain

    def unsure(*given: Any) -> Explanation:
        evidence = (Evidence("Seen."),)
        finding = Finding("undetermined", "Either.", evidence=evidence, candidates=candidates)
        return Explanation([finding], [], explain(*given).trace)

    monkeypatch.setattr("freezeframe.gui.cli.work.explain.explain", unsure)
    assert run_inside("explain", str(path), "--fail-on-findings").code == code


def test_words_in_json_have_all_their_digits_and_registers_eight(path: Path) -> None:
    (finding,) = json.loads(run_inside("explain", str(path), "--json").out)["findings"]
    widths = {
        (row["table"], len(row["value"]))
        for piece in finding["evidence"]
        for row in piece["rows"]
        if row["value"] is not None
    }
    assert widths == {("words", 18), ("registers", 10)}


def test_the_causes_are_read_as_names(path: Path) -> None:
    assert "ctl.causes  0x00000008 (pay-crc)" in run_inside("explain", str(path)).out


def test_the_capture_is_named_also_where_it_is_the_directory_one_stands_in(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(path)
    assert run_inside("explain", ".").out.startswith("made.ff: 1 finding")
