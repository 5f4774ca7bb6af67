"""Small files of sysfs and procfs below a root, kept open from one reading to the next.

An open file is read again from its start, which the kernel answers with fresh text; that costs a tenth of opening
it each time. The root is ``/``, or a folder that a tree was recorded into.
"""

from __future__ import annotations

import os
from pathlib import Path

_MOST_B = 4096  # sysfs never gives more than a page


class Tree:
    """The files below a root. Paths are relative to it: ``sys/class/net/eth0/mtu``."""

    def __init__(self, root: Path | str = "/") -> None:
        self.root = Path(root)
        self._open: dict[str, int] = {}

    def place(self, path: str) -> Path:
        """Return where a path of the tree stands on this machine."""
        return self.root / path

    def names(self, path: str) -> list[str]:
        """Return the names in a folder, sorted; none where there is no such folder."""
        try:
            return sorted(entry.name for entry in self.place(path).iterdir())
        except OSError:
            return []

    def text(self, path: str) -> str | None:
        """Return a small file, None where it is not there or its driver refuses to tell."""
        raw = self._raw(path)
        return None if raw is None else raw.decode("utf-8", "replace").strip()

    def number(self, path: str) -> int | None:
        """Return a file that holds one whole number, None where it does not."""
        raw = self._raw(path)
        return None if raw is None else whole(raw.decode("latin-1").strip())

    def lines(self, path: str) -> list[str]:
        """Return the lines of a file of any length, none where it cannot be read."""
        try:
            text = self.place(path).read_text(encoding="utf-8", errors="replace")
        except OSError:
            return []
        return text.splitlines()

    def identity(self, path: str) -> tuple[int, int] | None:
        """Return what distinguishes a folder from a later one of the same name, None where there is none."""
        try:
            status = self.place(path).stat()
        except OSError:
            return None
        return status.st_dev, status.st_ino

    def _raw(self, path: str) -> bytes | None:
        try:
            descriptor = self._open.get(path)
            if descriptor is None:
                descriptor = os.open(self.place(path), os.O_RDONLY | os.O_CLOEXEC)
                self._open[path] = descriptor
            return os.pread(descriptor, _MOST_B, 0)
        except OSError:
            return None

    def close(self) -> None:
        """Close all files; they are opened again when they are asked for."""
        for descriptor in self._open.values():
            os.close(descriptor)
        self._open.clear()


def whole(text: str | None) -> int | None:
    """Return text as a number in decimal, None where it is none."""
    if text is None:
        return None
    digits = text.removeprefix("-")
    return int(text) if digits.isascii() and digits.isdigit() and len(digits) <= 20 else None
