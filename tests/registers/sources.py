"""What the tests of the register map share: where things stand, and the generator as a program."""

from __future__ import annotations

import importlib
import subprocess
import sys
from pathlib import Path
from types import ModuleType

REPOSITORY = Path(__file__).resolve().parents[2]
REGISTERS = REPOSITORY / "firmware-hooks" / "registers"
GENERATED = REGISTERS / "generated"


def exporter(name: str) -> ModuleType:
    """Return a module of the generator, which is no package of ours that could be imported."""
    if str(REGISTERS) not in sys.path:
        sys.path.append(str(REGISTERS))
    return importlib.import_module(f"exporters.{name}")


def generate(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    """Run generate.py as its users do."""
    command = [sys.executable, str(REGISTERS / "generate.py"), *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
