"""Bytes of a file that is packed by gzip, up to where it is cut or damaged.

Source: RFC 1952. Not ``GzipFile``: of a file that was cut it raises before it has given what is there.
"""

from __future__ import annotations

from pathlib import Path

from isal import igzip_lib

from freezeframe.capture.unpack_limit import check_unpacked

_READ_B = 1 << 17
_MADE_B = 1 << 16  # at a time: what is damaged takes no more than that with it


class Unpacked:
    """A file of one or more members of gzip, read from front to back."""

    def __init__(self, path: str | Path) -> None:
        self._file = Path(path).open("rb", buffering=0)  # noqa: SIM115 - closed by `close`
        self._member = _member()
        self._packed = b""
        self._begun = False
        self._path, self._total_B = path, 0

    def readinto(self, buffer: memoryview, /) -> int:
        """Fill the front of ``buffer`` and return how many bytes that is; 0 at the end.

        Raises:
            OSError: the file is damaged within the next 64 KB, or ends inside a member.
            InputError: it unpacks to more than is unpacked (`unpack_limit`).
        """
        while True:
            if self._member.eof:  # zeros may pad a member, as tar does
                self._packed = self._member.unused_data.lstrip(b"\0")
                self._member, self._begun = _member(), False
            if self._member.needs_input and not self._packed:
                self._packed = self._file.read(_READ_B) or b""
                if not self._begun:
                    self._packed = self._packed.lstrip(b"\0")
                if not self._packed:
                    if self._begun:
                        raise OSError("what is packed ends early; it was cut short")
                    return 0
            self._begun = True
            try:
                made = self._member.decompress(self._packed, min(len(buffer), _MADE_B))
            except igzip_lib.error as error:  # type: ignore[misc]  # its stub has no base class
                raise OSError(f"what is packed is damaged: {error}") from None
            self._packed = b""
            if made:
                self._total_B += len(made)
                check_unpacked(self._path, self._total_B)
                buffer[: len(made)] = made
                return len(made)

    def fileno(self) -> int:
        return self._file.fileno()

    def close(self) -> None:
        self._file.close()


def _member() -> igzip_lib.IgzipDecompressor:
    return igzip_lib.IgzipDecompressor(flag=igzip_lib.DECOMP_GZIP)
