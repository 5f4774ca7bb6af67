"""The picture of the README: the first page of the report of the demo's fault, as Chromium shows it.

.venv/bin/python -m tests.gui.report_screenshot docs/images
"""

from __future__ import annotations

import re
import sys
import tempfile
from pathlib import Path

from freezeframe.capture.recorder.pull import pull
from freezeframe.emulator.target import EmulatorTarget
from freezeframe.gui.report.write import report
from tests.gui.browser import dump_dom, screenshot

_WIDTH, _MOST = 1200, 1900
# The page says, as its title, where the last table ends that is whole in so many pixels.
_CUT = """<script>document.title = Math.max(...[...document.querySelectorAll("table")].map(
t => Math.ceil(t.getBoundingClientRect().bottom)).filter(y => y < %d)) + 20</script>"""


def take(folder: Path, picture: Path) -> None:
    """Make the demo's capture and its report in a folder, and save how it is shown."""
    capture = folder / "demo" / "capture.ff"
    capture.parent.mkdir()
    target = EmulatorTarget(profile="forth", fault="word-omitted", seed=2)
    target.run_until_frozen(20_000_000_000)
    pull(target, capture, freeze=True)
    target.close()
    page = folder / "report.html"
    report(capture, page)
    probe, home = folder / "probe.html", folder / "chromium"
    open_to_scripts = re.sub(
        r'<meta http-equiv="Content-Security-Policy"[^>]*>', "", page.read_text()
    )
    probe.write_text(open_to_scripts + _CUT % _MOST)
    shown = re.search(r"<title>(\d+)<", dump_dom(probe, home, f"--window-size={_WIDTH},{_MOST}"))
    assert shown is not None
    screenshot(page, home, picture, _WIDTH, int(shown[1]))


def main() -> None:
    """Make the picture."""
    if len(sys.argv) != 2:
        sys.exit("say where the picture goes: python -m tests.gui.report_screenshot docs/images")
    picture = Path(sys.argv[1]).resolve() / "report.png"
    with tempfile.TemporaryDirectory() as folder:
        take(Path(folder), picture)
    print(picture)


if __name__ == "__main__":
    main()
