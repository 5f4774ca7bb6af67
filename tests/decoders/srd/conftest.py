"""The catalogue of sigrok decoders is kept apart from the user's, and these tests need sigrok."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from freezeframe.decoders.registry import Registry, load_decoders
from tests.decoders.srd.sigrok_side import add_decoder


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


@pytest.fixture(scope="session")
def registry(tmp_path_factory: pytest.TempPathFactory, cache_home: Path) -> Registry:
    """The installed decoders, and one for each protocol that says what objects it gets."""
    folder = tmp_path_factory.mktemp("decoders")
    for kind in ("spi", "i2c", "uart"):
        add_decoder(
            folder,
            f"ff_seen_{kind}",
            "self.put(ss, es, self.ann, [0, [repr(packet)]])",
            inputs=f"['{kind}']",
        )
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SIGROKDECODE_DIR", str(folder))
        patch.setenv("XDG_CACHE_HOME", str(cache_home))
        registry = load_decoders()
        registry.find("srd-ff_seen_spi")  # those of sigrok are looked for now
        return registry
