"""What the tests of the faces share."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest

from freezeframe.capture.files.sigrok_sr_writer import write_sr
from freezeframe.decoders.serial.mdio_encode import encode_frames
from tests.gui.mdio import FRAMES


@pytest.fixture(scope="session", autouse=True)
def ctrl_c_reaches_programs() -> None:
    """Where the shell that started pytest ignores Ctrl-C, each program that a test starts would ignore it too."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture
def phy(tmp_path: Path) -> Path:
    """A logic analyzer's samples of a PHY that is read and written."""
    path = tmp_path / "phy.sr"
    write_sr(encode_frames(FRAMES, samplerate_hz=10_000_000), path)
    return path
