"""What a user installs holds everything that runs: also the Verilog and C++ that the simulated board is built from."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path

ROOT = Path(__file__).parents[2]
DEVICE_SIDE = ("rtl", "board", "c", "registers/generated")


def test_a_wheel_brings_the_device_side_and_finds_it_there(tmp_path: Path) -> None:
    build = [sys.executable, "-m", "pip", "wheel", "--quiet", "--disable-pip-version-check"]
    build += ["--no-deps", "--no-build-isolation", "--wheel-dir", str(tmp_path), str(ROOT)]
    subprocess.run(build, check=True)
    (wheel,) = tmp_path.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(tmp_path / "installed")
    code = "from freezeframe.emulator.board import hooks_folder; print(hooks_folder())"
    # The unpacked wheel stands before the checkout on the path.
    command = [
        sys.executable,
        "-c",
        f"import sys; sys.path.insert(0, {str(tmp_path / 'installed')!r}); {code}",
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=tmp_path)
    found = Path(done.stdout.strip())
    assert found == tmp_path / "installed" / "freezeframe" / "firmware_hooks"
    hooks = ROOT / "firmware-hooks"
    for part in DEVICE_SIDE:
        ours = {
            path.relative_to(hooks)
            for path in (hooks / part).rglob("*")
            if path.suffix in (".v", ".cpp", ".c", ".h")
        }
        assert ours
        assert ours <= {path.relative_to(found) for path in found.rglob("*")}
