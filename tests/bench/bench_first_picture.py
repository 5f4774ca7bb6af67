"""From the start of a process to a demo capture whose first finding is chosen, marked and told, and an empty window.

Each is a process of its own, by turns; its processor time is compared, so that other programs do not count, and
what it holds at most. Kernels and bytecode are compiled before, as an installation has them, whatever the environment
says of bytecode. The empty window has pyarrow loaded, as every reader of tables has. The process is spared what the
program `freezeframe` spares it. What numba loads only because it is installed beside it for the tests, an installation
does not have, and neither has one of the two here.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import textwrap
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.bench.common import BenchResult, main
from tests.gui.desktop.captures import emulated

_TURNS = 3
_MOST = 1.5  # times what the empty window takes
_SAID = """
    import json, os, resource, sys, time
    sys.modules.update(dict.fromkeys(("coverage", "yaml")))  # they cannot be imported: of the tests alone
    def end():
        used = resource.getrusage(resource.RUSAGE_SELF)
        print(json.dumps([time.process_time(), used.ru_maxrss / 1024]), flush=True)
        os._exit(0)  # what is worked out behind the picture is not waited for
"""
_EMPTY = """
    import pyarrow.parquet
    from PyQt6.QtCore import QTimer
    from PyQt6.QtWidgets import QApplication, QMainWindow
    app = QApplication([])
    window = QMainWindow()
    window.resize(1600, 900)
    window.show()
    QTimer.singleShot(0, end)
    app.exec()
"""
_FIRST = """
    from freezeframe.gui.cli.main import spare_process
    spare_process()
    from freezeframe.gui.desktop import application
    from PyQt6.QtCore import QTimer
    from PyQt6.QtWidgets import QApplication
    from freezeframe.gui.desktop.window import MainWindow
    from freezeframe.gui.desktop.workspace import Workspace
    app = QApplication([])
    application.prepare_process()
    window = MainWindow(Workspace())
    window.show()
    window.open(sys.argv[1])
    def look():
        told = window.findings.list.currentRow() == 0 and window.findings.text.toPlainText()
        if told and window.timeline.hit_times and not window.timeline.is_building():
            window.repaint()
            end()
    timer = QTimer()
    timer.timeout.connect(look)
    timer.start(5)
    app.exec()
"""


def run() -> list[BenchResult]:
    """Measure both by turns."""
    with TemporaryDirectory() as folder:
        capture = emulated(Path(folder) / "demo.ff")
        bytecode = Path(folder) / "bytecode"
        for code in (_FIRST, _EMPTY):  # compiles kernels and bytecode
            _run(code, capture, bytecode)
        empty, first = zip(
            *(
                (_run(_EMPTY, capture, bytecode), _run(_FIRST, capture, bytecode))
                for _ in range(_TURNS)
            ),
            strict=True,
        )
    (empty_s, empty_MB), (first_s, first_MB) = (
        [statistics.median(column) for column in zip(*runs, strict=True)] for runs in (empty, first)
    )
    against = "an empty PyQt6 window with pyarrow"
    return [
        BenchResult("desktop: first picture of the demo", 1 / first_s, "a CPU second",
                    empty_s / first_s, against, 1 / _MOST),
        BenchResult("desktop: memory at that picture", 1000 / first_MB, "a GB",
                    empty_MB / first_MB, against, 1 / _MOST),
    ]  # fmt: skip


def _run(code: str, capture: Path, bytecode: Path) -> tuple[float, float]:
    """Return the CPU seconds and the MB of a process that does this."""
    text = textwrap.dedent(_SAID) + textwrap.dedent(code)
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    done = subprocess.run(
        [sys.executable, "-c", text, str(capture)],
        env={**kept, "QT_QPA_PLATFORM": "offscreen", "PYTHONPYCACHEPREFIX": str(bytecode)},
        capture_output=True,
        text=True,
        check=True,
        timeout=300,
    )
    seconds, held_MB = json.loads(done.stdout.strip().splitlines()[-1])
    return seconds, held_MB


if __name__ == "__main__":
    main(run)
