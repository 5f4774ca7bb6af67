"""The register map as HTML: one page that opens from a file, and the stock site for browsing.

The stock site is 370 files and 9 MB, most of it fonts, carries its build time, needs a web server,
and brings scripts under a licence of their own. So what stands in the repository is the stock
exporter's walk through the map, rendered with the templates beside this module into a single page.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

from peakrdl_html import HTMLExporter
from systemrdl.node import AddressableNode, RootNode

from exporters.model import Map, Register

TEMPLATES = Path(__file__).resolve().parent / "templates"
PLACEHOLDER = "<!-- map -->"


def page(root: RootNode, device: Map) -> str:
    """Return the whole map as one page: no scripts, no other files, the same bytes every time."""
    context = {
        "registers": {register.name: register for register in device.registers},
        "windows": {window.name: window for window in device.windows},
        "blocks": [child for child in root.top.children() if isinstance(child, AddressableNode)],
        "map_hash": f"0x{device.map_hash():08X}",
        "name_of": _name,
        "place": _place,
    }
    with tempfile.TemporaryDirectory() as folder:
        exporter = HTMLExporter(
            user_template_dir=str(TEMPLATES), user_context=context, generate_source_links=False
        )
        exporter.export(root, folder)
        index = (Path(folder) / "index.html").read_text(encoding="utf-8")
        rendered = [
            (Path(folder) / "content" / f"{exporter.get_node_uid(node)}.html").read_text("utf-8")
            for node in root.top.descendants()
            if isinstance(node, AddressableNode)
        ]
    if index.count(PLACEHOLDER) != 1:
        raise ValueError(f"{TEMPLATES / 'index.html'}: needs {PLACEHOLDER} exactly once")
    text = index.replace(PLACEHOLDER, "\n".join(rendered))
    return "\n".join(line.strip() for line in text.splitlines() if line.strip()) + "\n"


def site(root: RootNode, folder: Path) -> None:
    """Write the stock exporter's own site; it wants a web server (``python -m http.server``)."""
    HTMLExporter(generate_source_links=False).export(root, str(folder))


def _name(node: AddressableNode) -> str:
    """Return the dotted name that the host's table uses."""
    parts = [segment.inst_name for segment in _path(node)]
    return ".".join(parts)


def _path(node: AddressableNode) -> list[AddressableNode]:
    above = node.parent
    if above is None or not isinstance(above, AddressableNode):
        return []
    return [*_path(above), node]


def _place(register: Register) -> str:
    """Return the address of every element: ``0x000200 + 0x20 i (i < 5)``."""
    steps = [
        f" + 0x{stride_B:X} {letter} ({letter} < {count})"
        for letter, (count, stride_B) in zip("ijk", register.dims, strict=False)
    ]
    return f"0x{register.address:06X}" + "".join(steps)
