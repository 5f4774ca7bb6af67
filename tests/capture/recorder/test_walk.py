"""Whoever reads `pull` from its first line to its last opens few files, each once."""

from __future__ import annotations

import sys
from collections.abc import Callable
from itertools import groupby
from pathlib import Path
from types import CodeType, FrameType

from freezeframe.capture import recorder
from freezeframe.capture.recorder.pull import pull
from tests.capture.recorder.fake_recorder import FakeRecorder

ROOM = Path(recorder.__file__).parent


def stays(call: Callable[[], object]) -> list[str]:
    """Return the files of the recorder's folder in the order of a walk through ``call``: each function
    counts when it is entered for the first time, and a stay lasts until one of another file is."""
    entered: dict[CodeType, str] = {}

    def enter(frame: FrameType, event: str, _: object) -> None:
        file = Path(frame.f_code.co_filename)
        if event == "call" and file.parent == ROOM and frame.f_code.co_name[0] != "<":
            entered.setdefault(frame.f_code, file.stem)

    before = sys.getprofile()
    sys.setprofile(enter)
    try:
        call()
    finally:
        sys.setprofile(before)
    return [file for file, _ in groupby(entered.values())]


def test_a_pull_is_a_straight_line_through_the_recorders_files(tmp_path: Path) -> None:
    walk = stays(lambda: pull(FakeRecorder(), tmp_path / "x.ff"))
    assert walk == [
        "pull",
        "progress",
        "patience",  # a target whose reads are repeated
        "state",
        "plan",
        "agreed",
        "chunks",
        "pull",  # what was read becomes a capture
    ]
