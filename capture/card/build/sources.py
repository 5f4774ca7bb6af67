"""Which Verilog files a generated top needs: those of the modules that it names, and that these name in turn."""

from __future__ import annotations

import re
from pathlib import Path

from freezeframe.capture.device_side import hooks_folder

_COMMENT = re.compile(r"//.*")
_INSTANCE = re.compile(r"\b(ff_[a-z0-9_]+)\s*(?:#\s*\(|[a-z])")


def device_sources(top: str) -> list[Path]:
    """Return the files of the blocks below a top, in the order of their names.

    Args:
        top: the text of the generated top.

    Raises:
        InputError: the installation lacks the device side.
    """
    blocks = {path.stem: path for path in (hooks_folder() / "rtl").rglob("ff_*.v")}
    needed: set[str] = set()
    waiting = [top]
    while waiting:
        text = _COMMENT.sub("", waiting.pop())
        for name in set(_INSTANCE.findall(text)) & blocks.keys() - needed:
            needed.add(name)
            waiting.append(blocks[name].read_text("utf-8"))
    return [blocks[name] for name in sorted(needed)]
