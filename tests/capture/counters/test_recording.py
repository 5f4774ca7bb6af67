"""--record: every value of every sample in one Parquet file, also after a crash."""

from __future__ import annotations

import random
import sys
from pathlib import Path

import pytest

from freezeframe.capture.counters.contract import Sample
from freezeframe.capture.counters.recording import Recording, finish, journal_of
from freezeframe.capture.errors import CaptureFormatError, InputError
from freezeframe.capture.parquet import read_table
from tests.capture.counters.played import counter, gauge

COUNTERS = {"a": counter("a"), "level": gauge("level")}


def recorded(path: Path, samples: list[tuple[str, Sample]]) -> Recording:
    recording = Recording(path)
    for source, sample in samples:
        recording.add(source, COUNTERS, sample)
    return recording


def test_every_value_of_every_sample_is_a_row(tmp_path: Path) -> None:
    path = tmp_path / "run.parquet"
    samples = [
        ("made:x", Sample(5_000_000, {"a": 1, "level": 9})),
        ("made:y", Sample(5_000_300, {"a": -2})),
        ("made:x", Sample(6_000_001, {"a": (1 << 64) - 1, "level": 9})),
    ]
    assert recorded(path, samples).close() == 5
    rows = read_table(path).to_pylist()
    assert [tuple(row.values()) for row in rows] == [
        (0, "made:x", "counter", "a", "packets", 1, True),
        (0, "made:x", "gauge", "level", "words", 9, True),
        (300_000, "made:y", "counter", "a", "packets", -2, True),
        (1_000_001_000, "made:x", "counter", "a", "packets", -1, True),  # 64 ones, as int64
        (1_000_001_000, "made:x", "gauge", "level", "words", 9, False),
    ]
    assert list(rows[0]) == ["t_ps", "source", "kind", "counter", "unit", "value", "changed"]
    assert not journal_of(path).exists()


def test_counters_may_come_and_go(tmp_path: Path) -> None:
    path = tmp_path / "run.parquet"
    samples = [
        ("s", Sample(0, {"a": 1})),
        ("s", Sample(1, {"new": 2, "a": 1})),
        ("s", Sample(2, {"new": 3})),
    ]
    recorded(path, samples).close()
    assert [(row["counter"], row["value"]) for row in read_table(path).to_pylist()] == [
        ("a", 1), ("new", 2), ("a", 1), ("new", 3),
    ]  # fmt: skip


@pytest.mark.parametrize("seed", range(5))
def test_what_is_read_again_is_what_was_recorded(tmp_path: Path, seed: int) -> None:
    made = random.Random(seed)
    path = tmp_path / "run.parquet"
    samples = [
        (
            f"s{made.randrange(3)}",
            Sample(n * 1000, {f"k{k}": made.getrandbits(62) for k in range(made.randrange(5))}),
        )
        for n in range(200)
    ]
    recorded(path, samples).close()
    assert [
        (r["t_ps"], r["source"], r["counter"], r["value"]) for r in read_table(path).to_pylist()
    ] == [
        (sample.t_ns * 1000, source, key, value)
        for source, sample in samples
        for key, value in sample.values.items()
    ]


def test_a_recording_without_a_sample_is_an_empty_table(tmp_path: Path) -> None:
    assert recorded(tmp_path / "run.parquet", []).close() == 0
    assert read_table(tmp_path / "run.parquet").num_rows == 0


def test_what_a_crash_left_becomes_the_table_and_the_new_recording_is_refused(
    tmp_path: Path,
) -> None:
    path = tmp_path / "run.parquet"
    recorded(path, [("s", Sample(0, {"a": 1})), ("s", Sample(1, {"a": 2}))])
    journal = journal_of(path)
    journal.write_bytes(journal.read_bytes()[:-4])  # cut in the middle of its last line
    with pytest.raises(
        InputError, match=r"was cut short; its 1 rows stand there now; choose another name"
    ):
        Recording(path)
    assert [row["value"] for row in read_table(path).to_pylist()] == [1]
    assert not journal.exists()


def test_a_journal_that_is_damaged_inside_is_refused_and_kept(tmp_path: Path) -> None:
    path = tmp_path / "run.parquet"
    recorded(path, [("s", Sample(0, {"a": 1})), ("s", Sample(1, {"a": 2}))])
    lines = journal_of(path).read_text().splitlines(keepends=True)
    journal_of(path).write_text(lines[0] + "[nonsense\n" + lines[2])
    with pytest.raises(CaptureFormatError, match="line 2 is damaged"):
        finish(path)
    assert journal_of(path).exists()
    assert not path.exists()


def test_nothing_is_replaced_unless_it_is_asked_for(tmp_path: Path) -> None:
    path = tmp_path / "run.parquet"
    path.write_text("mine")
    with pytest.raises(InputError, match="exists already"):
        Recording(path)
    assert path.read_text() == "mine"
    Recording(path, overwrite=True).close()
    assert read_table(path).num_rows == 0
    with pytest.raises(InputError, match="there is no folder"):
        Recording(tmp_path / "no" / "run.parquet")
    with pytest.raises(InputError, match="exists already"):
        Recording(tmp_path, overwrite=True)


def test_while_it_runs_no_parquet_writer_is_in_memory(tmp_path: Path) -> None:
    import subprocess

    code = (
        "import sys; from pathlib import Path\n"
        "from freezeframe.capture.counters.recording import Recording\n"
        "from freezeframe.capture.counters.contract import Sample\n"
        f"Recording(Path({str(tmp_path / 'run.parquet')!r})).add('s', {{}}, Sample(0, {{'a': 1}}))\n"
        "print([name for name in ('pyarrow', 'pandas', 'numba') if name in sys.modules])\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
