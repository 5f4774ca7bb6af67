"""--record: every value of every sample, also after a crash, a full disk and damage."""

from __future__ import annotations

import errno
import json
import random
from pathlib import Path

import pyarrow as pa
import pytest

from freezeframe.capture.counters.contract import Sample
from freezeframe.capture.counters.recorded import Recorded
from freezeframe.capture.counters.recording import LINES, Recording
from freezeframe.capture.errors import CaptureFormatError, InputError
from freezeframe.capture.journal import Disk, frame, segments
from tests.capture.counters.played import counter, gauge

COUNTERS = {"a": counter("a"), "level": gauge("level")}


def recorded(path: Path, samples: list[tuple[str, Sample]]) -> Recorded:
    recording = Recording(path)
    for source, sample in samples:
        recording.add(source, COUNTERS, sample)
    recording.close()
    return Recorded(path)


def rows(recorded: Recorded) -> list[dict[str, object]]:
    found: list[dict[str, object]] = pa.concat_tables(recorded.tables()).to_pylist()
    return found


def test_every_value_of_every_sample_is_a_row(tmp_path: Path) -> None:
    samples = [
        ("made:x", Sample(5_000_000, {"a": 1, "level": 9})),
        ("made:y", Sample(5_000_300, {"a": -2})),
        ("made:x", Sample(6_000_001, {"a": (1 << 64) - 1, "level": 9})),
    ]
    found = rows(recorded(tmp_path / "run.ffrec", samples))
    assert [tuple(row.values())[:-1] for row in found] == [
        (0, "made:x", "counter", "a", "packets", 1, True),
        (0, "made:x", "gauge", "level", "words", 9, True),
        (300_000, "made:y", "counter", "a", "packets", -2, True),
        (1_000_001_000, "made:x", "counter", "a", "packets", -1, True),  # 64 ones, as int64
        (1_000_001_000, "made:x", "gauge", "level", "words", 9, False),
    ]
    assert list(found[0]) == [
        "t_ps", "source", "kind", "counter", "unit", "value", "changed", "utc_ns",
    ]  # fmt: skip


def test_counters_may_come_and_go(tmp_path: Path) -> None:
    samples = [
        ("s", Sample(0, {"a": 1})),
        ("s", Sample(1, {"new": 2, "a": 1})),
        ("s", Sample(2, {"new": 3})),
    ]
    found = rows(recorded(tmp_path / "run.ffrec", samples))
    assert [(row["counter"], row["value"]) for row in found] == [
        ("a", 1), ("new", 2), ("a", 1), ("new", 3),
    ]  # fmt: skip


@pytest.mark.parametrize("seed", range(3))
def test_what_is_read_again_is_what_was_recorded(tmp_path: Path, seed: int) -> None:
    made = random.Random(seed)
    samples = [
        (
            f"s{made.randrange(3)}",
            Sample(n * 1000, {f"k{k}": made.getrandbits(62) for k in range(made.randrange(5))}),
        )
        for n in range(200)
    ]
    found = rows(recorded(tmp_path / "run.ffrec", samples))
    assert [(r["t_ps"], r["source"], r["counter"], r["value"]) for r in found] == [
        (sample.t_ns * 1000, source, key, value)
        for source, sample in samples
        for key, value in sample.values.items()
    ]


def test_a_recording_without_a_sample_is_an_empty_table(tmp_path: Path) -> None:
    assert rows(recorded(tmp_path / "run.ffrec", [])) == []


def test_a_recording_that_is_there_goes_on_and_another_thing_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "run.ffrec"
    recorded(path, [("s", Sample(0, {"a": 1}))])
    found = rows(recorded(path, [("s", Sample(1, {"a": 2}))]))
    assert [row["value"] for row in found] == [1, 2]
    Recording(path, overwrite=True).close()
    assert rows(Recorded(path)) == []
    (tmp_path / "mine.ffrec").write_text("mine")
    with pytest.raises(InputError, match="is no recording; choose another name"):
        Recording(tmp_path / "mine.ffrec", overwrite=True)
    assert (tmp_path / "mine.ffrec").read_text() == "mine"
    with pytest.raises(InputError, match="there is no folder"):
        Recording(tmp_path / "no" / "run.ffrec")
    with pytest.raises(InputError, match=r"called NAME\.ffrec; .* -o run\.parquet makes a table"):
        Recording(tmp_path / "run.parquet")


class Full(Disk):
    """A disk that can be filled."""

    full = False

    def write(self, descriptor: int, data: bytes | memoryview) -> int:
        if self.full:
            raise OSError(errno.ENOSPC, "No space left on device")
        return super().write(descriptor, data)


def test_a_full_disk_is_waited_for_and_what_was_lost_is_said(tmp_path: Path) -> None:
    disk = Full()
    recording = Recording(tmp_path / "run.ffrec", disk=disk)
    for number in range(6):
        disk.full = number in (2, 3)
        recording.add("s", COUNTERS, Sample(number, {"a": number}))
    recording.close()
    read = Recorded(tmp_path / "run.ffrec")
    assert [row["value"] for row in rows(read)] == [0, 1, 4, 5]
    assert (read.lost, read.missing) == (
        2,
        ["2 were not written: there was no room on the disk"],
    )


def test_what_was_lost_up_to_the_end_is_recorded_where_there_is_room_again_and_else_counted(
    tmp_path: Path,
) -> None:
    for full_at_end, told, left in ((False, 2, 0), (True, 0, 2)):
        disk, path = Full(), tmp_path / f"{left}.ffrec"
        recording = Recording(path, disk=disk)
        for number in range(4):
            disk.full = number in (2, 3)
            recording.add("s", COUNTERS, Sample(number, {"a": number}))
        disk.full = full_at_end
        recording.close()
        read = Recorded(path)
        assert [row["value"] for row in rows(read)] == [0, 1]
        assert (read.lost, recording.lost) == (told, left)


def test_a_damaged_sample_is_left_out_and_said(tmp_path: Path) -> None:
    read = recorded(tmp_path / "run.ffrec", [("s", Sample(n, {"a": 100 + n})) for n in range(3)])
    (path,) = segments(tmp_path / "run.ffrec")
    path.write_bytes(path.read_bytes().replace(b"[101]", b"[901]"))
    assert [row["value"] for row in rows(read)] == [100, 102]
    (line,) = read.missing
    assert "altered, 1 frame is missing" in line


def test_lines_of_a_console_are_kept_with_their_time(tmp_path: Path) -> None:
    recording = Recording(tmp_path / "c.ffrec", LINES)
    recording.line("boot \x1b[31m")
    recording.close()
    (row,) = rows(Recorded(tmp_path / "c.ffrec"))
    assert (row["t_ps"], row["text"]) == (0, "boot \x1b[31m")


def test_a_folder_in_which_nothing_can_be_read_is_refused(tmp_path: Path) -> None:
    recorded(tmp_path / "run.ffrec", [])
    (path,) = segments(tmp_path / "run.ffrec")
    path.write_bytes(bytes(path.stat().st_size))
    with pytest.raises(CaptureFormatError, match="nothing of the recording can be read"):
        Recorded(tmp_path / "run.ffrec")


def test_what_nobody_took_in_time_is_said_once_by_its_source(tmp_path: Path) -> None:
    recording = Recording(tmp_path / "run.ffrec")
    for ever in (0, 3, 3, 10):
        recording.missed("s", ever)
        recording.missed("t", ever // 10)
    recording.add("s", COUNTERS, Sample(1, {"a": 1}))
    assert (recording.samples, recording.lost) == (1, 0)
    recording.close()
    read = Recorded(tmp_path / "run.ffrec")
    assert len(rows(read)) == 1
    assert read.missed == {"s": 10, "t": 1}
    assert read.missing == [
        "3 samples of s: read, and not taken in time",
        "7 samples of s: read, and not taken in time",
        "1 sample of t: read, and not taken in time",
    ]


def test_what_was_missed_on_a_full_disk_is_said_when_there_is_room(tmp_path: Path) -> None:
    disk = Full()
    recording = Recording(tmp_path / "run.ffrec", disk=disk)
    disk.full = True
    recording.missed("s", 4)
    disk.full = False
    recording.missed("s", 5)
    recording.close()
    read = Recorded(tmp_path / "run.ffrec")
    assert len(rows(read)) == 0
    assert (read.missed, read.lost) == ({"s": 5}, 0)


@pytest.mark.parametrize(
    ("payload", "said"),
    [
        ('["s", 5, [1e400]]', 'a frame that is of no known form: ["s", 5, [Infinity]]'),
        ('["s", 5, [NaN]]', 'a frame that is of no known form: ["s", 5, [NaN]]'),
        ('["s", 5, ["7"]]', 'a frame that is of no known form: ["s", 5, ["7"]]'),
        ('["s", 5, [true]]', 'a frame that is of no known form: ["s", 5, [true]]'),
        (
            '["s", 5, [18446744073709551616]]',
            'a frame that is of no known form: ["s", 5, [18446744073709551616]]',
        ),
        ('["s", 9223372036854775807, [1]]', "a sample of s at a time that is none"),
        ('["s", 10000000000000000, [1]]', "a sample of s at a time that is none"),
        (
            '{"source": "s", "columns": [["a", "counter"]]}',
            'a frame that is of no known form: {"source": "s", "columns": [["a", "counter"]]}',
        ),
        ('["\\ud800", 5, [1]]', "frame 3 is no JSON"),
    ],
)
def test_a_frame_whose_sum_is_right_and_whose_content_is_none_is_left_out_and_said(
    tmp_path: Path, payload: str, said: str
) -> None:
    texts = [
        '{"recording": 1, "kind": "counters", "tool": "x", "t_ns": 1, "utc_ns": 2}',
        '{"source": "s", "columns": [["a", "counter", "B"]]}',
        '["s", 3, [7]]',
        payload,
        '["s", 9, [8]]',
    ]
    frames = [frame(number, text.encode()) for number, text in enumerate(texts)]
    (tmp_path / "00000001.ffj").write_bytes(b"FFRJRNL1" + b"".join(frames) + frame(5, b""))
    found = Recorded(tmp_path)
    assert [(row["t_ps"], row["value"]) for row in rows(found)] == [(0, 7), (6000, 8)]
    assert found.missing == [said]


def test_a_recording_that_began_at_a_time_that_is_none_is_refused(tmp_path: Path) -> None:
    head = {"recording": 1, "kind": "counters", "tool": "x", "t_ns": 1, "utc_ns": 1 << 63}
    text = b"FFRJRNL1" + frame(0, json.dumps(head).encode()) + frame(1, b"")
    (tmp_path / "00000001.ffj").write_bytes(text)
    with pytest.raises(CaptureFormatError, match="nothing of the recording can be read"):
        Recorded(tmp_path)


def dated(path: Path, clocks: list[tuple[int, int]]) -> tuple[list[int], list[str]]:
    """Record a line at each (since boot, UTC) in s; return the times since the beginning in s, and what is said."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("time.monotonic_ns", lambda: 1_000_000_000 * clocks[0][0])
        patch.setattr("time.time_ns", lambda: 1_000_000_000 * clocks[0][1])
        recording = Recording(path, LINES)
        for boot_s, utc_s in clocks:
            patch.setattr("time.monotonic_ns", lambda boot_s=boot_s: 1_000_000_000 * boot_s)
            patch.setattr("time.time_ns", lambda utc_s=utc_s: 1_000_000_000 * utc_s)
            recording.line("x")
        recording.close()
    found = Recorded(path)
    return [event.t_ps // 10**12 for event in found.events()], found.shifts


@pytest.mark.parametrize(
    ("clocks", "times", "says"),
    [
        ([(100, 7000), (110, 7010), (120, 7020)], [0, 10, 20], []),
        # Set back by an hour: the clock since boot goes on.
        (
            [(100, 7000), (110, 3410), (120, 3420)],
            [0, 10, 20],
            ["at 1970-01-01T00:56:50Z UTC had been set back by 3,600.0 s"],
        ),
        # Set at the start of the machine by the network's time, or the machine slept.
        (
            [(100, 7000), (110, 10610)],
            [0, 3610],
            ["at 1970-01-01T02:56:50Z UTC had gone forward by 3,600.0 s more"],
        ),
        # Started again a minute later: UTC counts, and nothing is said.
        ([(100, 7000), (5, 7060), (15, 7070)], [0, 60, 70], []),
        # Started again, with a clock that is behind: no time is known to have passed.
        (
            [(100, 7000), (5, 3000), (15, 3010)],
            [0, 0, 10],
            ["at 1970-01-01T00:50:00Z UTC had been set back by 4,000.0 s"],
        ),
    ],
)
def test_the_time_since_the_beginning_never_goes_back_whatever_the_clock_is_set_to(
    clocks: list[tuple[int, int]], times: list[int], says: list[str], tmp_path: Path
) -> None:
    seconds, shifts = dated(tmp_path / "c.ffrec", clocks)
    assert seconds == times
    assert len(shifts) == len(says)
    assert all(shift.startswith(said) for shift, said in zip(shifts, says, strict=True))
