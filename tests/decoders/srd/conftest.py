"""The catalogue of sigrok decoders is kept apart from the user's, and these tests need sigrok."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def cache_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cache")


@pytest.fixture(autouse=True)
def apart(cache_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if shutil.which("sigrok-cli") is None:
        pytest.skip("sigrok-cli is not installed (apt-get install sigrok-cli)")
    monkeypatch.setenv("XDG_CACHE_HOME", str(cache_home))
    for name in (
        "SIGROKDECODE_DIR",
        "FREEZEFRAME_SIGROK_LIBRARY",
        "FREEZEFRAME_SIGROK_TIMEOUT_S",
    ):
        monkeypatch.delenv(name, raising=False)
