"""Whether a capture folder is of cards of map 2: told by the first bytes of its manifest, before anything reads it.

Source: docs/formats.md, section 7.
"""

from __future__ import annotations

import re
from pathlib import Path

from freezeframe.capture.folder.manifest import MANIFEST
from freezeframe.capture.folder.one_file import place_of

_HEAD_B = 4096
_VERSION = re.compile(rb'"format"\s*:\s*\[\s*"freezeframe-capture"\s*,\s*2\s*,')
_MAP_1 = re.compile(rb'"map"\s*:\s*1\b')


def is_card_folder(path: Path) -> bool:
    """Return whether a folder says that it holds cards of map 2; whether that is true, ``CardFolder.open`` finds."""
    try:
        with (place_of(path) / MANIFEST).open("rb") as file:
            head = file.read(_HEAD_B)
        return bool(_VERSION.search(head)) and not _MAP_1.search(head)
    except OSError:
        return False
