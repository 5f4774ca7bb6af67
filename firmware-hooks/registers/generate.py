"""Make every file that comes from freezeframe.rdl and formats.toml, or check that none is stale.

``python firmware-hooks/registers/generate.py`` writes; with ``--check`` it writes nothing, prints one line
for each file that differs from what it would write, and exits 1 if there is one.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

from exporters import formats, model, python_tables, verilog  # noqa: E402

__all__ = ["main", "render"]


def render(source: Path = HERE) -> dict[str, bytes]:
    """Return the content of every generated file, by path from the repository."""
    root = model.elaborate(source / "freezeframe.rdl")
    device = model.load(root)
    wire = formats.load(source / "formats.toml")
    texts = {
        "capture/registers/map_table.py": python_tables.map_table(device, wire.version),
        "capture/registers/layouts.py": python_tables.layouts(wire),
        "firmware-hooks/registers/generated/map.txt": device.canonical_text(),
        "firmware-hooks/registers/generated/ff_regs.v": verilog.register_file(device),
    }
    return {path: text.encode() for path, text in texts.items()}


def main(arguments: list[str] | None = None) -> int:
    """Run the command line; the exit code says whether anything was stale."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 if a file is stale")
    parser.add_argument("--root", type=Path, default=HERE.parents[1], help="the repository")
    options = parser.parse_args(arguments)
    wanted = render()
    for path, content in wanted.items():
        file = options.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)
    return 0


if __name__ == "__main__":
    sys.exit(main())
