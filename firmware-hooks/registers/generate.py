"""Make every file that comes from freezeframe.rdl and formats.toml, or check that none is stale.

``python firmware-hooks/registers/generate.py`` writes. With ``--check`` it writes nothing, prints
one line for each file that is not what it would write, and exits 1 if there is one. With
``--site FOLDER`` it also writes the stock PeakRDL-html site, which is too large to keep.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

from exporters import c_headers, formats, html_page, model, python_tables, quad, select, verilog  # noqa: E402

GENERATED = "firmware-hooks/registers/generated"
TABLES = "capture/registers"


def render(source: Path = HERE) -> dict[str, bytes]:
    """Return the content of every generated file, by its path from the repository.

    Args:
        source: the folder that holds freezeframe.rdl and formats.toml.
    Raises:
        ValueError: the sources contradict each other or cannot be exported; the message says where.
    """
    root = model.elaborate(source / "freezeframe.rdl")
    device = model.load(root)
    wire = formats.load(source / "formats.toml")
    told = (device.reset_of("id.format", "major"), device.reset_of("id.format", "minor"))
    if told != wire.version:
        raise ValueError(f"id.format is {told} in the map and {wire.version} in formats.toml")
    texts = {
        f"{TABLES}/map.json": python_tables.map_table(device, wire.version),
        f"{TABLES}/layouts.json": python_tables.layout_table(wire),
        f"{TABLES}/layouts.py": python_tables.layouts(wire),
        f"{GENERATED}/map.txt": device.canonical_text(),
        f"{GENERATED}/{c_headers.REGISTER_HEADER}": c_headers.register_header(root),
        f"{GENERATED}/{c_headers.FORMATS_HEADER}": c_headers.formats_header(
            wire, device.map_hash()
        ),
        f"{GENERATED}/{verilog.MODULE}.v": verilog.register_file(device),
        f"{GENERATED}/{select.MODULE}.v": select.small_register_file(device),
        f"{GENERATED}/{quad.MODULE}.v": quad.quad_register_file(device),
        f"{GENERATED}/html/index.html": html_page.page(root, device),
    }
    return {path: text.encode() for path, text in texts.items()}


def stale(wanted: dict[str, bytes], repository: Path) -> list[str]:
    """Return one line for each file that is missing, differs, or that nothing makes any more."""
    found = []
    for path, content in sorted(wanted.items()):
        file = repository / path
        if not file.is_file():
            found.append(f"{path}: missing")
        elif file.read_bytes() != content:
            found.append(f"{path}: stale, {_first_difference(file.read_bytes(), content)}")
    made = {repository / path for path in wanted}
    found += [
        f"{file.relative_to(repository).as_posix()}: made by no exporter; remove it"
        for file in sorted((repository / GENERATED).rglob("*"))
        if file.is_file() and file not in made
    ]
    return found


def main(arguments: list[str] | None = None) -> int:
    """Run the command line; return the exit code: 0, or 1 for stale files, or 2 for bad sources."""
    parser = argparse.ArgumentParser(description="Make the files that come from the register map.")
    parser.add_argument(
        "--check", action="store_true", help="write nothing; exit 1 if any is stale"
    )
    parser.add_argument("--source", type=Path, default=HERE, help="folder of the two sources")
    parser.add_argument("--root", type=Path, default=HERE.parents[1], help="the repository")
    parser.add_argument("--site", type=Path, help="also write the stock HTML site to this folder")
    options = parser.parse_args(arguments)
    try:
        wanted = render(options.source)
    except (ValueError, OSError) as error:
        print(error, file=sys.stderr)
        return 2
    if options.check:
        lines = stale(wanted, options.root)
        for line in lines:
            print(line)
        if lines:
            print("run: python firmware-hooks/registers/generate.py", file=sys.stderr)
        return 1 if lines else 0
    for path, content in wanted.items():
        file = options.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        if not file.is_file() or file.read_bytes() != content:
            file.write_bytes(content)
            print(path)
    if options.site is not None:
        html_page.site(model.elaborate(options.source / "freezeframe.rdl"), options.site)
    return 0


def _first_difference(have: bytes, want: bytes) -> str:
    same = 0
    while same < min(len(have), len(want)) and have[same] == want[same]:
        same += 1
    return f"first difference in line {1 + have[:same].count(10)}"


if __name__ == "__main__":
    sys.exit(main())
