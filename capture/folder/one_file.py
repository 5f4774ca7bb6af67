"""A capture as one file to mail, ``NAME.ff.zip``: a zip archive that is read as the folder in it.

What is packed here is stored, not deflated, so that a flipped bit loses no more than it does in the folder; dates
are fixed, so that the same files give the same bytes. An archive that another program made is read as well.

Source: PKWARE APPNOTE 6.3.10, 4.3.7 (local header), 4.3.12 (directory), 4.3.16 (end record).
"""

from __future__ import annotations

import re
import shutil
import struct
import tempfile
import zlib
from collections import deque
from collections.abc import Iterator, Mapping
from functools import cache
from heapq import heapify, heappop, heappush
from pathlib import Path
from typing import NamedTuple

from freezeframe.capture.errors import CaptureFormatError, InputError, NoRoomError
from freezeframe.capture.files._zip_members import ZipMembers
from freezeframe.capture.files.bytes_of import refuse_empty
from freezeframe.capture.files.packed import temporary_folder
from freezeframe.capture.folder.manifest import MANIFEST, MANIFEST_COPY, SALVAGE
from freezeframe.capture.stand_ins import stands_for

SUFFIX = ".ff.zip"
_MEMBERS = 100_000
_SALVAGED_B = 1 << 26  # of a damaged archive, what its packed members may unpack to
_LOCAL, _ENTRY, _END = (
    struct.Struct("<4s5H3L2H"),
    struct.Struct("<4s6H3L5H2L"),
    struct.Struct("<4s4H2LH"),
)
_MARKS = (b"PK\x03\x04", b"PK\x01\x02", b"PK\x05\x06")
_VERSION, _DATE, _FILE = 20, 0x21, 0o100644 << 16  # 1980-01-01; a regular file
_COMMENT = b"freezeframe 1"
_LARGEST_B = (1 << 32) - 2
_NAME = re.compile(r"[^/\\\0-\x1f][^\\\0-\x1f]*")


class Stored(NamedTuple):
    """A member of an archive: its name, the CRC-32 that the archive states, and its bytes."""

    name: str
    crc: int
    data: bytes


class _Statement(NamedTuple):
    """What a header or the directory says of a member; its packed bytes begin at ``begin``."""

    name: bytes
    crc: int
    method: int
    begin: int
    packed_B: int


class Beside(NamedTuple):
    """What lies beside the capture in an archive: so many files whose sums were compared, and what came of it.

    ``altered``: name, bytes and what is wrong. ``unchecked``: a line each for what has no sum that can be compared.
    """

    files: int
    altered: list[tuple[str, int, str]]
    unchecked: list[str]


def place_of(path: Path | str) -> Path:
    """Return the folder of a capture: the path itself, or where the archive that it names was unpacked.

    Raises:
        CaptureFormatError: the archive is damaged, or its members overlap, stand twice or contradict themselves.
        InputError: it unpacks to more than is unpacked (`unpack_limit`), or the disk has no room for it.
    """
    place = Path(path)
    if place.name.endswith(SUFFIX):
        refuse_empty(place)  # of which nothing is left to read
    try:
        return unpacked(place)
    except CaptureFormatError as error:
        if place.name.endswith(SUFFIX):
            raise CaptureFormatError(f"{error}; {SALVAGE}") from None
        raise


def unpacked(place: Path) -> Path:
    """Return what `place_of` does; an error does not say what else can be done, for who salvages does that."""
    if place.suffix.lower() != ".zip" or not place.is_file():
        return place
    stat = place.stat()
    return _unpacked(place.resolve(), place, stat.st_mtime_ns, stat.st_size)


def pack(files: Mapping[str, bytes]) -> bytes:
    """Return an archive of these files, in this order.

    Raises:
        InputError: they are more than a zip archive holds.
    """
    return _archive([Stored(name, zlib.crc32(data), data) for name, data in files.items()])


def files_below(folder: Path, prefix: str) -> dict[str, bytes]:
    """Return the evidence of a capture folder by its names in an archive; the manifest first, no tables."""
    names = sorted(
        path.relative_to(folder).as_posix()
        for path in folder.rglob("*")
        if path.is_file() and path.relative_to(folder).parts[0] != "tables"
    )
    names.sort(key=lambda name: name not in (MANIFEST, MANIFEST_COPY))
    return {f"{prefix}/{name}": (folder / name).read_bytes() for name in names}


def salvage_members(data: bytes) -> dict[str, bytes]:
    """Return what can be read of the members of a damaged archive: by the header before each, or the directory."""
    return {member.name: member.data for member in reversed([*_found(data)])}


def altered_members(data: bytes) -> dict[str, int]:
    """Return the members of an archive that no CRC-32 stated for them fits, with their bytes."""
    found = [(member, zlib.crc32(member.data) == member.crc) for member in _found(data)]
    whole = {member.name for member, right in found if right}
    return {member.name: len(member.data) for member, _ in found if member.name not in whole}


def examine_beside(path: Path) -> Beside:
    """Hold what lies beside the capture in a whole archive against the sums that the archive has of it.

    Raises:
        CaptureFormatError: the archive is damaged, or its members overlap, stand twice or contradict themselves.
    """
    altered, unchecked, files = [], [], 0
    with ZipMembers(path) as archive:
        prefix = capture_in(archive.names)
        others = {p for p in map(_capture_of, archive.names) if p is not None} - {prefix}
        lead = f"{prefix}/" if prefix else ""
        for name in archive.names:
            if name.startswith(lead) or name.endswith("/"):
                continue
            if why := archive.why_unread(name):
                unchecked.append(f"{name}: {why}")
                continue
            files += 1
            try:
                deque(archive.stream([name]), 0)
            except CaptureFormatError as error:
                why = str(error).partition(f"{name}: ")[2].partition(";")[0]
                altered.append((name, archive.declared_B(name), why))
    unchecked += [
        f"{other}: is a capture, too, and was held against the archive's sums alone; unpack it to verify it"
        for other in sorted(others)
    ]
    return Beside(files, altered, unchecked)


def is_ours(data: bytes) -> bool:
    """Return whether an archive was packed here, also where a bit of that mark is damaged."""
    dated = data[10:14] == struct.pack("<2H", 0, _DATE)
    return data.endswith(_COMMENT) or (dated and data[8:10] == b"\0\0")


def first_difference(data: bytes) -> int | None:
    """Return the first byte of an archive of ours that is not as it was packed, beside the members' own; else None."""
    again, _ = _packed_again(data)
    if again == data:
        return None
    return next(
        (at for at, (a, b) in enumerate(zip(data, again, strict=False)) if a != b),
        min(len(data), len(again)),
    )


def cut_at_end(data: bytes) -> str:
    """Return what the end of an archive of ours lacks, in words; "" where it is there, altered or not."""
    if data.endswith(_COMMENT):
        return ""
    again, at = _packed_again(data)
    if data[at : at + 4] == _MARKS[0] and at + _LOCAL.size <= len(data):
        *_, packed_B, _, name_B, extra_B = _LOCAL.unpack_from(data, at)
        begin = at + _LOCAL.size + name_B + extra_B
        name = data[at + _LOCAL.size : at + _LOCAL.size + name_B].decode("utf-8", "replace")
        if len(data) - 4 < begin + packed_B <= len(data):
            return f"cut at its end, behind {name}: the directory is missing"
        if begin + packed_B > len(data):
            here_B = max(0, len(data) - begin)
            return (
                f"cut at its end, within {name}: {here_B:,} of {packed_B:,} B of that are here, and nothing that was "
                "behind it"
            )
    if len(data) < len(again) and again.startswith(data):
        missing_B = len(again) - len(data)
        return f"cut at its end: {missing_B:,} B of its directory {'is' if missing_B == 1 else 'are'} missing"
    return ""


def _packed_again(data: bytes) -> tuple[bytes, int]:
    """Return the archive that the members at the start of one of ours make, and where the last of them ends."""
    members: dict[int, Stored] = {}
    for at, stored in _by_place(data):
        known = members.get(at)
        if known is None or known.crc != zlib.crc32(known.data):
            members[at] = stored
    packed, at = [], 0
    while at in members:  # one behind the other: an entry that points elsewhere adds nothing
        packed.append(members[at])
        at += _LOCAL.size + len(members[at].name.encode()) + len(members[at].data)
    return _archive(packed), at


def capture_in(names: tuple[str, ...]) -> str | None:
    """Return the folder of the one capture among the names of an archive's members; None where there is none."""
    places = {place for place in map(_capture_of, names) if place is not None}
    found = sorted(places, key=lambda place: (place.count("/"), place))
    return found[0] if found else None


def _capture_of(name: str) -> str | None:
    """Return the folder of which a member is the manifest; None of another member."""
    place, _, file = name.rpartition("/")
    return place if file in (MANIFEST, MANIFEST_COPY) else None


@cache
def _unpacked(path: Path, shown: Path, _changed_ns: int, _size_B: int) -> Path:
    with ZipMembers(path) as archive:
        prefix = capture_in(archive.names)
        if prefix is None:
            return shown
        lead = f"{prefix}/" if prefix else ""
        wanted = [n for n in archive.names if n.startswith(lead) and not n.endswith("/")]
        total_B = sum(archive.declared_B(name) for name in wanted)
        _check(shown, [name for name in archive.names if not name.endswith("/")])
        place = Path(tempfile.mkdtemp(dir=temporary_folder().name)) / _folder_name(path, prefix)
        free_B = shutil.disk_usage(temporary_folder().name).free
        if total_B > free_B:
            raise NoRoomError(
                f"{shown}: unpacks to {total_B} B, and {free_B} B are free; let TMPDIR name another folder"
            )
        for name in wanted:
            file = place / name[len(lead) :]
            file.parent.mkdir(parents=True, exist_ok=True)
            with file.open("xb") as out:
                out.writelines(archive.stream([name]))
    stands_for(place, shown)
    return place


def _check(path: Path, names: list[str]) -> None:
    if len(names) > _MEMBERS:
        raise InputError(f"{path}: holds {len(names)} files; at most {_MEMBERS} are unpacked")
    for name in names:
        if not _NAME.fullmatch(name) or {"..", ".", ""} & set(name.split("/")):
            raise CaptureFormatError(
                f"{path}: holds {name[:80]!r}, which is no name inside of a folder; it is not unpacked"
            )


def _folder_name(path: Path, prefix: str) -> str:
    name = prefix.rpartition("/")[2] or path.name[: -len(".zip")]
    return name if name.endswith(".ff") else f"{name}.ff"


def _archive(members: list[Stored]) -> bytes:
    parts, entries, at = [], [], 0
    for name, crc, data in members:
        text, size_B = name.encode(), len(data)
        utf8 = 0 if text.isascii() else 0x800
        head = (_VERSION, utf8, 0, 0, _DATE, crc, size_B, size_B, len(text), 0)
        if at + size_B > _LARGEST_B:
            raise InputError(
                f"{name}: one file holds at most {_LARGEST_B} B; mail the folder another way"
            )
        parts += [_LOCAL.pack(_MARKS[0], *head), text, data]
        entries += [_ENTRY.pack(_MARKS[1], 3 << 8 | _VERSION, *head, 0, 0, 0, _FILE, at), text]
        at += _LOCAL.size + len(text) + size_B
    size_B = sum(map(len, entries))
    count = len(members)
    end = _END.pack(_MARKS[2], 0, 0, count, count, size_B, at, len(_COMMENT))
    return b"".join([*parts, *entries, end, _COMMENT])


def _by_place(data: bytes) -> Iterator[tuple[int, Stored]]:
    """Give every member with where its header begins, as the header says and as the directory says.

    All of them together have at most the bytes that whole members have twice, and `_SALVAGED_B` that unpack: a
    directory in which many entries stand for the same bytes ends there.
    """
    left_B = 2 * len(data) + _SALVAGED_B
    for at, stored in _stated(data):
        left_B -= len(stored.data)
        if left_B < 0:
            return
        yield at, stored


def _stated(data: bytes) -> Iterator[tuple[int, Stored]]:
    """Give members where a header follows on another from the start, and where the archive's own directory says.

    What stands inside of a member is never looked at: it can be an archive, with headers and a directory of its own.
    """
    first, upto = _directory(data)
    entries: dict[int, list[_Statement]] = {}
    for at in _places(data, _MARKS[1], first, upto):
        # An entry whose name is cut names nothing.
        if at + _ENTRY.size + int.from_bytes(data[at + 28 : at + 30], "little") <= upto:
            where, said = _entry(data, at)
            entries.setdefault(where, []).append(said)
    ahead = [0, *entries, *_places(data, _MARKS[0], first, upto)]
    heapify(ahead)
    last = -1
    while ahead:
        at = heappop(ahead)
        if at == last:
            continue
        last = at
        header = _header(data, at)
        for said in [*([header] if header else []), *entries.get(at, ())]:
            end = said.begin + said.packed_B
            if end <= len(data):
                packed = data[said.begin : end]
                yield from _member(at, said.name, said.crc, said.method, packed)
            if data[end : end + 4] == _MARKS[0]:
                heappush(ahead, end)


def _directory(data: bytes) -> tuple[int, int]:
    """Return from where to where the directory is; without one, everything behind the whole headers at the start."""
    at = len(data)
    while (at := data.rfind(_MARKS[2], 0, at)) >= 0:
        if at + _END.size > len(data):
            continue
        *_, size_B, first, comment_B = _END.unpack_from(data, at)
        # The end record of a member that is an archive counts from that member's start.
        last = at + _END.size + comment_B == len(data)
        for begin in (first, at - size_B):
            if (last or begin == first == at - size_B) and data[begin : begin + 4] == _MARKS[1]:
                return begin, at
    at = 0
    while header := _header(data, at):
        at = header.begin + header.packed_B
    if data[at : at + 4] == _MARKS[0] and at + _LOCAL.size <= len(data):
        packed_B = _LOCAL.unpack_from(data, at)[7]
        if at + packed_B > len(data) and not data.endswith(_COMMENT):
            return len(data), len(data)  # the archive was cut inside of this member
    return at, len(data)


def _places(data: bytes, mark: bytes, first: int, upto: int) -> Iterator[int]:
    at = first - 1
    while (at := data.find(mark, at + 1, upto)) >= 0:
        yield at


def _header(data: bytes, at: int) -> _Statement | None:
    """Return what the header at a place says; None where none is, or none that another or the directory follows."""
    if data[at : at + 4] != _MARKS[0] or at + _LOCAL.size > len(data):
        return None
    _, _, flags, method, _, _, crc, packed_B, _, name_B, extra_B = _LOCAL.unpack_from(data, at)
    begin = at + _LOCAL.size + name_B + extra_B
    name = data[at + _LOCAL.size : at + _LOCAL.size + name_B]
    if flags & 0x8 or data[begin + packed_B : begin + packed_B + 4] not in _MARKS[:2]:
        return None
    return _Statement(name, crc, method, begin, packed_B)


def _entry(data: bytes, at: int) -> tuple[int, _Statement]:
    """Return where a header begins by the entry of the directory at a place, and what this says of the member."""
    said = _ENTRY.unpack_from(data, at)
    method, crc, packed_B, name_B, where = said[4], said[7], said[8], said[10], said[16]
    name = data[at + _ENTRY.size : at + _ENTRY.size + name_B]
    extra_B = int.from_bytes(data[where + 28 : where + 30], "little")
    begin = where + _LOCAL.size + name_B + (extra_B if method else 0)
    return where, _Statement(name, crc, method, begin, packed_B)


def _member(
    at: int, name: bytes, crc: int, method: int, packed: bytes
) -> Iterator[tuple[int, Stored]]:
    text = name.decode("utf-8", "replace")
    if not _NAME.fullmatch(text) or {"..", "."} & set(text.split("/")):
        return
    data = packed
    if method == 8:
        inflate, data = zlib.decompressobj(-zlib.MAX_WBITS), b""
        try:
            data = inflate.decompress(packed, _SALVAGED_B)
        except zlib.error:
            data = _whole_part(packed)
    yield at, Stored(text, crc, data)


def _whole_part(packed: bytes) -> bytes:
    """Return what a damaged deflate stream gives up to its damage, within 256 B of it."""
    inflate, parts, left_B = zlib.decompressobj(-zlib.MAX_WBITS), [], _SALVAGED_B
    for at in range(0, len(packed), 256):
        try:
            parts.append(inflate.decompress(packed[at : at + 256], 1 << 24))
        except zlib.error:
            break
        left_B -= len(parts[-1])
        if left_B < 0:
            break
    return b"".join(parts)


def _found(data: bytes) -> Iterator[Stored]:
    """Give members, those whose bytes have the CRC-32 that is stated first."""
    everything = [stored for _, stored in _by_place(data)]
    yield from (s for s in everything if zlib.crc32(s.data) == s.crc)
    yield from (s for s in everything if zlib.crc32(s.data) != s.crc)
