"""A proposal states what a decode of the same stretch gives, row by row, and which stretch that is."""

from __future__ import annotations

from pathlib import Path

import pytest

from freezeframe.capture.files.choice import SourceChoice
from freezeframe.capture.files.edges import Edges
from freezeframe.capture.files.sigrok_sr_writer import write_sr
from freezeframe.capture.files.source import ReadSettings
from freezeframe.decoders.guess import trial
from freezeframe.decoders.guess.candidate import Candidate
from freezeframe.decoders.guess.propose import guess
from freezeframe.decoders.guess.weigh import MOST
from freezeframe.decoders.registry import load_decoders
from freezeframe.decoders.run import decode_file
from tests.capture.files.captures import real_capture
from tests.decoders.test_guess import draw, i2c_write, uart_text


def proposals(path: Path) -> list[Candidate]:
    source = SourceChoice().open(path, ReadSettings())
    return [each for each in guess(source, load_decoders()).proposals if each.counted]


def errors_until(path: Path, spec: str, end_ps: int | None) -> int:
    """Count rows of kind ``error`` in all tables of the decode of the whole file, those that are over by a time."""
    count = 0
    for _, table in decode_file(path, [spec]):
        ends = table.column("t_end_ps" if "t_end_ps" in table.column_names else "t_ps").to_pylist()
        kinds = table.column("kind").to_pylist()
        count += sum(
            kind == "error" and (end_ps is None or end <= end_ps)
            for kind, end in zip(kinds, ends, strict=True)
        )
    return count


def long_bus() -> Edges:
    """20 sound transfers, then ten whose last byte breaks off: each is an error."""
    sound = [step for n in range(20) for step in i2c_write(0x50, bytes((n, 0x35)))]
    broken = [*i2c_write(0x50, b"\x35")[:-20], {"scl": 1, "sda": 0}, {}, {"sda": 1}, {}]
    return draw([*sound, *broken * 10], ("scl", "sda"))


def test_errors_behind_the_stretch_that_was_looked_at_are_not_told_away(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.sr"
    write_sr(long_bus(), path)
    assert errors_until(path, "i2c", None) >= 10
    monkeypatch.setattr(trial, "MOST_EDGES", 500)
    (best,) = (each for each in proposals(path) if each.spec == "i2c")
    assert best.counted is not None
    assert (best.counted.errors, best.counted.whole, best.counted.edges) == (0, False, 500)
    (said,) = (reason for reason in best.why if " transfers, " in reason)
    assert said.startswith("7 transfers, 0 errors in the first 500 edges of its lines, to ")


def test_errors_in_the_stretch_are_counted_and_named(tmp_path: Path) -> None:
    path = tmp_path / "a.sr"
    write_sr(long_bus(), path)
    best = next(each for each in proposals(path) if each.spec == "i2c")
    assert best.counted is not None
    assert best.counted.whole
    assert best.counted.errors == errors_until(path, "i2c", None)
    (said,) = (reason for reason in best.against if " errors (" in reason)
    assert said.endswith(") in the whole capture")


def test_what_the_end_of_the_stretch_cuts_is_no_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Wherever a run ends, in a byte or between two, it has the rows of the capture and none of its own."""
    path = tmp_path / "a.sr"
    steps = [step for n in range(30) for step in i2c_write(0x50 + n, bytes(range(n, n + 3)))]
    write_sr(draw(steps, ("scl", "sda")), path)
    for most in (300, 301, 317, 333, 350):
        monkeypatch.setattr(trial, "MOST_EDGES", most)
        best = next(each for each in proposals(path) if each.spec == "i2c")
        assert best.counted is not None
        assert (best.counted.errors, best.counted.whole) == (0, False)


def test_a_pattern_that_repeats_is_not_told_as_text(tmp_path: Path) -> None:
    path = tmp_path / "a.sr"
    for text, reads in ((b"U" * 30, False), (b"login: root 12:30", True)):
        write_sr(draw(uart_text(text, 40), ("rx",)), path)
        found = [each for each in proposals(path) if each.spec.startswith("uart")]
        assert all(("reads as text" in each.why) == reads for each in found)


def test_no_score_is_more_than_was_measured(tmp_path: Path) -> None:
    path = tmp_path / "a.sr"
    steps = [step for n in range(99) for step in i2c_write(0x50, bytes((n, 1, 2)))]
    write_sr(draw(steps, ("scl", "sda")), path)
    best = proposals(path)[0]
    assert best.score > 0.999
    assert best.stated == MOST < 1


@pytest.mark.parametrize(
    "name",
    [
        "24aa025uid_bytewrite16_6ms_delay.sr",
        "clause45_read_no_address.sr",
        "enc28j60-init-and-ping.sr",
        "lan8720a_read_all_plugged.sr",
        "olimex_stm32-h103_irscan_drscan.sr",
        "uart_count_19200_8n1.sr",
        "xfp.sr",
        "dumps/dmx512/ma_lighting/dot2_0-255.sr",
        "dumps/dmx512/dmx4all_mini_usb_dmx/12mhz_all_85.sr",
        "dumps/onewire/owfs/owdir.sr",
    ],
)
def test_on_real_captures_the_errors_are_those_of_the_full_decode(name: str) -> None:
    path = real_capture(name)
    found = proposals(path)
    assert found
    for each in found:
        assert each.counted is not None
        end_ps = None if each.counted.whole else each.counted.end_ps
        assert each.counted.errors == errors_until(path, each.spec, end_ps), each.spec
