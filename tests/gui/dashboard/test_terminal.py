"""The dashboard is drawn on a terminal, also where standard error is a file."""

from __future__ import annotations

import os
import pty
import select
import subprocess
import sys
import time
from pathlib import Path


def test_the_dashboard_is_on_the_screen_when_standard_error_is_a_file(tmp_path: Path) -> None:
    shown, hidden = pty.openpty()
    with (tmp_path / "errors").open("wb") as errors:
        command = [sys.executable, "-m", "freezeframe", "watch", "netdev:lo"]
        running = subprocess.Popen(
            command, stdin=hidden, stdout=hidden, stderr=errors,
            env={**os.environ, "TERM": "xterm"}, start_new_session=True,
        )  # fmt: skip
    os.close(hidden)
    seen, end_s = b"", time.monotonic() + 120
    try:
        while b"freezeframe watch" not in seen and time.monotonic() < end_s:
            if select.select([shown], [], [], 1)[0]:
                seen += os.read(shown, 1 << 16)
    finally:
        running.kill()
        running.wait()
        os.close(shown)
    assert b"freezeframe watch" in seen
    assert b"freezeframe watch" not in (tmp_path / "errors").read_bytes()
