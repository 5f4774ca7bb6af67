"""Throughput, back-pressure and credits of the simulated board: the same analyses on the Verilog's own recording."""

from __future__ import annotations

from pathlib import Path

import pytest

from freezeframe.analyzers.credits.analysis import CREDITS
from freezeframe.analyzers.pressure.analysis import PRESSURE
from freezeframe.analyzers.throughput.analysis import THROUGHPUT
from freezeframe.analyzers.view import CaptureView
from freezeframe.capture.folder import CaptureFolder
from freezeframe.capture.recorder.pull import pull
from freezeframe.capture.targets.base import open_target
from tests.board.boards import running


@pytest.mark.slow
def test_the_books_of_a_clean_board_add_up(tmp_path: Path) -> None:
    with running("--seed", "1") as board:
        target = open_target(board.url)
        pull(target, tmp_path / "board.ff", freeze=True)
        target.close()
    view = CaptureView(CaptureFolder.open(tmp_path / "board.ff"))
    rates = THROUGHPUT.run(view)
    for out, into in (("A.out", "B.in"), ("B.out", "A.in")):
        sent = rates.figure(f"{out}.throughput.mean").value
        got = rates.figure(f"{into}.throughput.mean").value
        assert sent is not None
        assert got == pytest.approx(sent, rel=0.02, abs=8)
        assert sent <= 596.1
    credits = CREDITS.run(view)
    assert credits.findings == ()
    for figure in credits.figures:
        if figure.name.endswith(
            (".lost", ".refused", ".altered", ".backward", ".slip", ".beyond_limit")
        ):
            assert figure.value in (0, None), figure
    flights = [
        f
        for f in credits.figures
        if f.name.endswith("credit_flight.median") and f.value is not None
    ]
    assert flights
    assert all(0 < int(f.value or 0) < 20_000_000 for f in flights)
    waits = PRESSURE.run(view)
    assert waits.figure("A->B.pressure.count").value is not None
