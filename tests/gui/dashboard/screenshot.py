"""The picture of docs/command-line.md: the dashboard when the demo's fault has frozen its card.

    .venv/bin/python -m tests.gui.dashboard.screenshot docs/images

The emulated pair runs in a process of its own and is read over UDP, as ``freezeframe watch`` does; what
is saved is the screen as Textual exports it, drawn by Chromium.
"""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from freezeframe.capture.counters.monitor import Monitor
from freezeframe.gui.cli.card_process import card_process
from freezeframe.gui.cli.work.sources import opened_readers
from freezeframe.gui.dashboard.app import Dashboard, DashboardOptions

_SIZE = (92, 31)
_SPEED = 4e-5  # simulated seconds a second: the fault comes some seconds after the start
_AFTER_S = 2.5  # how long the frozen card is watched, so that rates have come to rest
_WAIT_S = 120.0
_PERIOD_S = 0.5


async def take(url: str, svg: Path) -> None:
    """Watch a card until it is frozen, and save the screen.

    Raises:
        TimeoutError: it does not freeze.
    """
    with opened_readers([url], None, _PERIOD_S) as readers:
        app = Dashboard(Monitor(readers, []), DashboardOptions(_PERIOD_S))
        async with app.run_test(size=_SIZE) as pilot:
            end_s = time.monotonic() + _WAIT_S
            while not _frozen(app):
                if time.monotonic() > end_s:
                    raise TimeoutError(f"{url} did not freeze")
                await pilot.pause(_PERIOD_S)
            await pilot.pause(_AFTER_S)
            svg.write_text(app.export_screenshot(), "utf-8")


def _frozen(app: Dashboard) -> bool:
    states = [state.state for watched in app.monitor.sources for state in watched.recorders]
    return bool(states) and all(state == "frozen" for state in states)


def _draw(svg: Path, png: Path, home: Path) -> None:
    """Draw the picture in its own size."""
    viewbox = svg.read_text("utf-8").partition('viewBox="')[2].partition('"')[0].split()
    width, height = (round(float(number)) for number in viewbox[2:])
    subprocess.run(
        ["chromium", "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars",
         f"--user-data-dir={home}", f"--screenshot={png}", f"--window-size={width},{height}", svg.as_uri()],
        check=True, capture_output=True, timeout=120,
    )  # fmt: skip


def main() -> None:
    """Make the picture."""
    if len(sys.argv) != 2:
        sys.exit("say where the picture goes: python -m tests.gui.dashboard.screenshot docs/images")
    os.environ.pop("NO_COLOR", None)
    png = Path(sys.argv[1]).resolve() / "watch.png"
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        truth = folder / "truth.json"
        with card_process("emulate", "word-omitted", 2, truth, _SPEED) as (url, _):
            asyncio.run(take(url, folder / "watch.svg"))
        _draw(folder / "watch.svg", png, folder / "chromium")
    print(png)


if __name__ == "__main__":
    main()
