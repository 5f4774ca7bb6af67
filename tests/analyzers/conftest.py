"""What tests of this room share: write a pair's capture and have it explained."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from freezeframe.analyzers.explain import Explanation, explain
from freezeframe.analyzers.view import CaptureView
from tests.analyzers.bench_pair import Pair

Explain = Callable[..., Explanation]
View = Callable[..., CaptureView]


@pytest.fixture
def explained(tmp_path: Path) -> Explain:
    """Return a function: the explanation of a pair, of both ends or of the one named."""

    def run(pair: Pair, devices: str = "AB", captured: str = "AB") -> Explanation:
        folder = pair.write(tmp_path / f"{len(list(tmp_path.iterdir()))}.ff", captured)
        return explain(folder, None if devices == captured else list(devices))

    return run


@pytest.fixture
def viewed(tmp_path: Path) -> View:
    """Return a function: the view of a pair."""

    def run(pair: Pair) -> CaptureView:
        folder = pair.write(tmp_path / "pair.ff")
        return CaptureView(folder)

    return run
