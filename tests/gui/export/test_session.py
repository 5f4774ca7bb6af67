"""sr: what sigrok-cli reads in the session file."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from freezeframe.capture.errors import InputError
from freezeframe.gui.export.sr import write_session
from tests.gui.export.material import golden_recording, samples, small, tool


def test_sigrok_reads_every_sample_at_its_rate(tmp_path: Path) -> None:
    wrote = write_session(samples(small()), tmp_path / "x.sr")
    assert wrote.counts == {"samples": 12}
    read = tool("sigrok-cli", "-i", tmp_path / "x.sr", "-O", "csv:dedup=false").splitlines()
    assert "; Channels (2/2): clk, data out" in read
    assert "; Samplerate: 3 MHz" in read
    at = read.index("logic,logic")
    assert read[at + 1 :] == ["1,0"] * 3 + ["0,1"] * 4 + ["1,1"] + ["0,0"] * 4


def test_more_samples_than_allowed_are_refused(tmp_path: Path) -> None:
    material = replace(samples(small()), max_samples=11)
    with pytest.raises(InputError, match=r"made\.sr: more than 11 samples of 3000000 Hz; .*vcd"):
        write_session(material, tmp_path / "x.sr")
    assert list(tmp_path.iterdir()) == []


def test_a_recording_has_no_samples(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"made\.ff: nothing to export as sr: .*leave out -d"):
        write_session(golden_recording(), tmp_path / "x.sr")
    assert list(tmp_path.iterdir()) == []


def test_a_name_that_cannot_stand_in_the_file_is_bad_input(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"made\.sr: cannot be exported as sr: .*'a\\nb'"):
        write_session(samples(replace(small(), channels=("a\nb", "c"))), tmp_path / "x.sr")
    assert list(tmp_path.iterdir()) == []
