"""A journal: nothing that was acknowledged is lost, and what is damaged takes one frame with it."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from freezeframe.capture.errors import CaptureFormatError, InputError
from freezeframe.capture.journal import Frame, Hole, Journal, frame, read, recover, segments
from tests.campaign.journals import SCHEDULES, run


def written(place: Path, *payloads: bytes, close: bool = True, segment_B: int = 1 << 20) -> Journal:
    journal = Journal(place, list, segment_B=segment_B)
    for payload in payloads:
        journal.append(payload)
    journal.sync()
    if close:
        journal.close()
    return journal


def test_the_bytes_of_a_segment_are_as_the_format_says(tmp_path: Path) -> None:
    written(tmp_path / "x.ffrec", b"abc")
    data = (tmp_path / "x.ffrec/00000001.ffj").read_bytes()
    assert data == bytes.fromhex(
        "4646524a524e4c31"
        "f546464a 03000000 0000000000000000 4ef1cb0c 616263"
        "f546464a 00000000 0100000000000000 f1c67fb7"
    )


def test_what_was_appended_is_read_also_while_it_grows(tmp_path: Path) -> None:
    place = tmp_path / "x.ffrec"
    journal = written(place, b"a", b"bc", close=False)
    assert list(read(place)) == [Frame(0, b"a"), Frame(1, b"bc")]
    journal.append(b"d")
    assert list(read(place))[-1] == Frame(2, b"d")
    journal.close()


def test_a_damaged_frame_is_a_hole_and_the_others_are_read(tmp_path: Path) -> None:
    place = tmp_path / "x.ffrec"
    written(place, b"one", b"two", b"three")
    path = place / "00000001.ffj"
    data = bytearray(path.read_bytes())
    data[data.index(b"two")] ^= 1
    path.write_bytes(data)
    assert list(read(place)) == [Frame(0, b"one"), Hole(path.name, 31, 23, 1), Frame(2, b"three")]


def test_what_was_half_written_at_the_end_is_cut_and_the_journal_goes_on(tmp_path: Path) -> None:
    place = tmp_path / "x.ffrec"
    written(place, b"one")
    path = place / "00000001.ffj"
    path.write_bytes(path.read_bytes()[:-20] + frame(1, b"two")[:-1])
    found = recover(place)
    assert (found.number, found.was_ended, found.cut_B) == (2, False, 22)
    assert recover(place).was_ended
    written(place, b"four")
    assert list(read(place)) == [Frame(0, b"one"), Frame(2, b"four")]


def test_segments_are_closed_in_turn_and_the_oldest_go(tmp_path: Path) -> None:
    place = tmp_path / "x.ffrec"
    journal = Journal(place, lambda: [b"head"], segment_B=100, keep_B=250)
    for _ in range(100):
        journal.append(b"0123456789")
    journal.close()
    kept = segments(place)
    assert 250 <= sum(path.stat().st_size for path in kept) < 600
    frames = list(read(place))
    assert frames[0].payload == b"head"  # type: ignore[union-attr]
    assert not [item for item in frames if isinstance(item, Hole)]


def test_a_segment_that_is_missing_in_the_middle_is_a_hole(tmp_path: Path) -> None:
    place = tmp_path / "x.ffrec"
    written(place, *[b"0123456789"] * 20, segment_B=100)
    (place / "00000002.ffj").unlink()
    (hole,) = [item for item in read(place) if isinstance(item, Hole)]
    assert (hole.segment, hole.size_B) == ("00000003.ffj", 0)
    assert hole.frames


@pytest.mark.parametrize(
    "begun", [[b""], [b"", b""], [b"FFRJRNL1", b"FFR"], [b"", b"", b"FFRJRNL1"]]
)
def test_numbers_go_on_behind_segments_that_had_only_begun(
    tmp_path: Path, begun: list[bytes]
) -> None:
    """A program was killed while it began, and so were those after it."""
    place = tmp_path / "x.ffrec"
    written(place, b"one", b"two")
    for number, data in enumerate(begun, 2):
        (place / f"{number:08d}.ffj").write_bytes(data)
    written(place, b"three")
    assert list(read(place)) == [Frame(0, b"one"), Frame(1, b"two"), Frame(3, b"three")]


def test_a_segment_whose_numbers_begin_again_is_read_and_said(tmp_path: Path) -> None:
    place = tmp_path / "x.ffrec"
    written(place, b"one", b"two")
    (place / "00000002.ffj").write_bytes(b"FFRJRNL1" + frame(1, b"again") + frame(2, b""))
    assert list(read(place)) == [
        Frame(0, b"one"),
        Frame(1, b"two"),
        Hole("00000002.ffj", 8, 0, -2),
        Frame(1, b"again"),
    ]
    (hole,) = [item for item in read(place) if isinstance(item, Hole)]
    assert hole.text == "00000002.ffj: its numbers begin 2 before the end of the segment before"


def test_one_program_records_at_a_time(tmp_path: Path) -> None:
    place = tmp_path / "x.ffrec"
    journal = written(place, b"a", close=False)
    with pytest.raises(InputError, match="another program records there"):
        Journal(place, list)
    journal.close()


def test_a_folder_that_is_no_journal_is_refused(tmp_path: Path) -> None:
    for asked in (lambda: list(read(tmp_path)), lambda: recover(tmp_path)):
        with pytest.raises(CaptureFormatError, match="is no recording"):
            asked()


@pytest.mark.parametrize("name", SCHEDULES)
def test_nothing_acknowledged_is_lost(name: str) -> None:
    assert run(name, 12, seed=7) == []


@pytest.mark.parametrize("verb", [lambda place: list(read(place)), recover])
def test_what_is_not_there_and_what_is_no_recording_are_told_apart(
    tmp_path: Path, verb: Callable[[Path], object]
) -> None:
    with pytest.raises(CaptureFormatError, match=r"x\.ffrec: there is no such file or folder"):
        verb(tmp_path / "x.ffrec")
    with pytest.raises(CaptureFormatError, match=r"is no recording .*no segment 00000001\.ffj"):
        verb(tmp_path)


def test_a_journal_needs_no_numbers_and_no_tables(tmp_path: Path) -> None:
    code = (
        "import sys; from pathlib import Path\n"
        "from freezeframe.capture.counters.recording import Recording\n"
        f"Recording(Path({str(tmp_path / 'x.ffrec')!r})).close()\n"
        "print([name for name in ('pyarrow', 'pandas', 'numba', 'numpy') if name in sys.modules])\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
