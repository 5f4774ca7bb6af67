"""The faces know nothing of each other: what two of them need stands in `gui` itself, or below."""

from __future__ import annotations

from pathlib import Path

from tests.house.test_import_rule import imported_modules

GUI = Path(__file__).parents[2] / "gui"
FACES = ("cli", "dashboard", "desktop", "report", "export", "plots", "metrics")
# The command line starts every face. Drawings and the files of other tools are made in one place for all.
MAY_IMPORT = {"cli": set(FACES), "desktop": {"plots", "export"}, "report": {"plots"}}


def test_no_face_imports_another() -> None:
    wrong = [
        f"{path.relative_to(GUI)}:{line}: {module}"
        for face in FACES
        for path in sorted((GUI / face).rglob("*.py"))
        for line, module in imported_modules(path)
        if module.startswith("freezeframe.gui.")
        and (other := module.split(".")[2]) in FACES
        and other != face
        and other not in MAY_IMPORT.get(face, set())
    ]
    assert wrong == []
