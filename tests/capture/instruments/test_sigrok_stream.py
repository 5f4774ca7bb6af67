"""A file of samples that grows is followed to its end; literal bytes in, literal samples out."""

from __future__ import annotations

from pathlib import Path

import pytest

from freezeframe.capture.errors import TargetError
from freezeframe.capture.instruments.sigrok_stream import StreamLayout, follow
from freezeframe.gui.cli.work.capture_live import _Behind

LAYOUT = StreamLayout(("D0", "D1"), 2, 1000)


def followed(path: Path, *later: bytes) -> list[tuple[int, list[int]]]:
    """Follow a file to which some bytes are added each time that its reader waits."""
    left = list(later)

    def wait() -> bool:
        if left:
            with path.open("ab") as file:
                file.write(left.pop(0))
        return bool(left)

    pieces = [(piece.begin_sample, piece.data.tolist()) for piece in follow(path, LAYOUT, wait)]
    assert not left
    return pieces


def test_samples_come_as_the_file_grows_and_an_empty_piece_is_the_last(tmp_path: Path) -> None:
    pieces = followed(tmp_path / "x.bin", b"", b"\1\0\2", b"\0", b"\3\0\0\1")
    assert pieces == [(0, [1]), (1, [2]), (2, [3, 256]), (4, [])]


def test_a_file_that_ends_inside_a_sample_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(TargetError, match="ends 1 B inside a sample"):
        followed(tmp_path / "x.bin", b"\1\0\2")


def test_a_layout_is_stored_as_the_format_that_reads_the_file() -> None:
    assert LAYOUT.format() == "binary:channels=2,unit=2,rate=1000,names=D0;D1"


def test_decoding_that_falls_behind_says_so_once(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "x.bin"
    file.write_bytes(bytes(2 * 3500))
    behind = _Behind(file, LAYOUT)
    for decoded in (2500, 500, 1000):
        behind.look(decoded)
    assert capsys.readouterr().err == (
        "decoding is behind by 3,000 samples, 3.0 s; all samples are stored, and their rows follow\n"
    )
