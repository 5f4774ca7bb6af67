"""Read packets from pcap and pcapng: a file, also packed by gzip, or a pipe, in blocks of bounded memory.

Source: draft-ietf-opsawg-pcap (pcap); draft-ietf-opsawg-pcapng (pcapng); https://www.tcpdump.org/linktypes.html.
"""

from __future__ import annotations

import select
import struct
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Protocol, Self

import numpy as np

from freezeframe.capture.errors import CaptureFormatError, InputError
from freezeframe.capture.files.bytes_of import first_bytes
from freezeframe.capture.packets import scan_kernels as kernels
from freezeframe.capture.packets.block import MOST_PACKETS, Interface, PacketBlock
from freezeframe.capture.packets.recognise import GZIP_MARK, SECTION_MARK, STANDARD_INPUT
from freezeframe.capture.packets.section import interface_of, pcap_header, section_length
from freezeframe.capture.packets.unpacked import Unpacked

CHUNK_B, SPARE_B = 1 << 22, 1 << 23
_PCAP_HEADER_B = 24
_WAIT_S = 0.1  # what a pipe gave is handed on when nothing more comes for so long


class ByteSource(Protocol):
    """Where the bytes come from; ``readinto`` returns 0 at the end."""

    def readinto(self, buffer: memoryview, /) -> int | None: ...

    def fileno(self) -> int: ...

    def close(self) -> None: ...


def open_packets(
    path: str | Path, progress: Callable[[int, int], None] | None = None
) -> PacketFile:
    """Open a file of packets, or standard input for ``-``.

    Args:
        progress: called with bytes read and bytes there are, 0 where that is not known.
    Raises:
        InputError: it cannot be read.
        CaptureFormatError: it is neither pcap nor pcapng.
    """
    if str(path) == STANDARD_INPUT:
        return PacketFile(_standard_input(), "standard input", 0, progress)
    try:
        size_B = Path(path).stat().st_size
        if first_bytes(path, 2) == GZIP_MARK:
            return PacketFile(Unpacked(path), str(path), 0, progress)
        return PacketFile(Path(path).open("rb", buffering=0), str(path), size_B, progress)
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}") from None


def _standard_input() -> ByteSource:
    return open(sys.stdin.fileno(), "rb", buffering=0, closefd=False)


class PacketFile:
    """Packets that are read once, from front to back. Use it in a ``with`` statement.

    Attributes:
        format: ``pcap`` or ``pcapng``.
        interfaces: those that are described so far; each block has what its packets need.
        notes: what is wrong with the file, a line each; complete behind the last block.
    """

    def __init__(
        self,
        source: ByteSource,
        name: str,
        size_B: int,
        progress: Callable[[int, int], None] | None = None,
        chunk_B: int = CHUNK_B,
    ) -> None:
        """Read the head of the file.

        Raises:
            CaptureFormatError: it is neither pcap nor pcapng, or of a form that cannot be read.
        """
        self.interfaces: list[Interface] = []
        self.notes: list[str] = []
        self._source, self._name, self._size_B, self._progress = source, name, size_B, progress
        self._buffer = np.empty(chunk_B + SPARE_B, np.uint8)
        self._room = self._buffer.data[:chunk_B]
        self._begin = self._end = self._before = (
            0  # of what is not scanned yet; bytes before the buffer
        )
        self._ended = False
        self._big = self._nano = False
        self._base = 0  # of the interfaces of this section
        self._known = np.zeros((0, kernels.INTERFACE_COLUMNS), np.int64)
        self._known_room = np.zeros((16, kernels.INTERFACE_COLUMNS), np.int64)
        self._clock = np.zeros(3, np.int64)
        self._count = 0
        self._out = np.empty((6, MOST_PACKETS), np.int64)
        while self._end < _PCAP_HEADER_B and not self._ended:
            self._fill()
        head = bytes(self._room[: min(self._end, _PCAP_HEADER_B)])
        self.format = "pcapng" if head[:4] == SECTION_MARK else "pcap"
        if self.format == "pcap":
            self._big, self._nano, interface = pcap_header(name, head)
            self._add(interface, 0, 0)
            self._begin = _PCAP_HEADER_B

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close what is read from."""
        self._source.close()

    @property
    def name(self) -> str:
        return self._name

    @property
    def epoch_ns(self) -> int:
        """The time of the first packet, in ns since 1970; 0 where there is none yet."""
        return int(self._clock[kernels.EPOCH_NS])

    @property
    def packets(self) -> int:
        """How many packets were read so far."""
        return self._count

    def __iter__(self) -> Iterator[PacketBlock]:
        """Yield the packets in blocks, each good until the next; damage ends them with a note."""
        while True:
            count, why = self._scan()
            if count:
                yield self._block(count)
            if why == kernels.FULL:
                continue
            if why == kernels.HEADER:
                proceed = self._section() if self.format == "pcapng" else self._next_pcap()
            elif why == kernels.INTERFACE:
                proceed = self._interface()
            elif why == kernels.SKIP:
                proceed = self._skip()
            elif why == kernels.MORE:
                proceed = self._more()
            else:
                self._damaged(why)
                proceed = False
            if not proceed:
                return

    def _scan(self) -> tuple[int, int]:
        if self.format == "pcap":
            count, self._begin, why = kernels.scan_pcap(
                self._buffer, self._begin, self._end, self._big, self._nano, self._clock, self._out
            )
        else:
            count, self._begin, why = kernels.scan_pcapng(
                self._buffer, self._begin, self._end, self._big, self._clock, self._known, self._base, self._out
            )  # fmt: skip
        return count, why

    def _block(self, count: int) -> PacketBlock:
        out = self._out[:, :count]
        ng = self.format == "pcapng"
        interface = out[4].astype(np.int32) if ng else np.zeros(count, np.int32)
        block = PacketBlock(
            self._buffer,
            out[0],
            out[1],
            out[2],
            out[3],
            self._known[:, kernels.LINKTYPE].astype(np.int32)[interface],
            interface,
            self._count + 1,
            out[5] if ng else None,
            tuple(self.interfaces),
            self._end,
        )
        self._count += count
        return block

    def _more(self) -> bool:
        """Read on; return whether there is anything new. What is left of a record is noted."""
        if self._ended:
            left_B = self._end - self._begin
            if left_B:
                self._note(f"the file ends {left_B:,} B into a record; it was cut short")
            return False
        self._fill()
        return True

    def _fill(self) -> None:
        """Move what is left to the front, and read behind it until the chunk is full or nothing comes."""
        left_B = self._end - self._begin
        self._room[:left_B] = bytes(self._room[self._begin : self._end])
        self._before += self._begin
        self._begin, self._end = 0, left_B
        room_B = len(self._room)
        while self._end < room_B:
            try:
                read_B = self._source.readinto(self._room[self._end :])
            except OSError as error:
                self._note(f"cannot be read on: {error}")
                read_B = 0
            if not read_B:
                self._ended = True
                break
            self._end += read_B
            if not self._size_B and not self._is_ready():
                break
        if self._progress is not None:
            self._progress(self._before + self._end, self._size_B)

    def _is_ready(self) -> bool:
        """Return whether a pipe has more soon; what is no pipe always has."""
        if isinstance(self._source, Unpacked):
            return True
        return bool(select.select([self._source], [], [], _WAIT_S)[0])

    def _section(self) -> bool:
        """Take the header of a section; return whether it is there and right."""
        while self._end - self._begin < 28 and not self._ended:
            self._fill()
        head = bytes(self._room[self._begin : min(self._end, self._begin + 28)])
        try:
            self._big, length = section_length(head)
        except CaptureFormatError as error:
            if not self._before + self._begin:
                raise CaptureFormatError(f"{self._name}: {error}") from None
            self._note(str(error))
            return False
        self._base = len(self.interfaces)
        return self._skip(length)

    def _next_pcap(self) -> bool:
        """Take the header of another pcap that was put behind this one; return whether its packets can be read too."""
        while self._end - self._begin < _PCAP_HEADER_B and not self._ended:
            self._fill()
        head = bytes(self._room[self._begin : min(self._end, self._begin + _PCAP_HEADER_B)])
        try:
            self._big, self._nano, interface = pcap_header("the pcap behind it", head)
        except CaptureFormatError as error:
            self._note(str(error))
            return False
        first = self.interfaces[0]
        if (interface.linktype, interface.fcs_B) != (first.linktype, first.fcs_B):
            self._note(
                "another pcap begins, of another link type; it is not read: mergecap puts them together"
            )
            return False
        return self._skip(_PCAP_HEADER_B)

    def _interface(self) -> bool:
        order = ">" if self._big else "<"
        (length,) = struct.unpack_from(f"{order}I", self._room, self._begin + 4)
        body = bytes(self._room[self._begin + 8 : self._begin + length - 4])
        self._begin += length
        try:
            self._add(*interface_of(body, order))
        except CaptureFormatError as error:
            self._note(str(error))
            return False
        return True

    def _add(self, interface: Interface, resolution: int, offset_s: int) -> None:
        self.interfaces.append(interface)
        row = [interface.linktype, interface.snap_B, resolution, offset_s]
        count = len(self.interfaces)
        if count > len(self._known_room):  # a file may have 100,000: not a copy for each
            self._known_room = np.concatenate([self._known_room, self._known_room])
        self._known_room[count - 1] = row
        self._known = self._known_room[:count]

    def _skip(self, length: int | None = None) -> bool:
        """Step over a block; return whether the file goes on so far."""
        if length is None:
            length = struct.unpack_from(
                f"{'>' if self._big else '<'}I", self._room, self._begin + 4
            )[0]
        while length > self._end - self._begin:
            length -= self._end - self._begin
            self._begin = self._end
            if self._ended:
                self._note("the file ends inside a block; it was cut short")
                return False
            self._fill()
        self._begin += length
        return True

    def _damaged(self, why: int) -> None:
        if why == kernels.UNKNOWN_INTERFACE:
            self._note("the packet is of an interface that the file has not described")
            return
        order = ">" if self._big else "<"
        at = 8 if self.format == "pcap" else 4
        (length,) = struct.unpack_from(f"{order}I", self._room, self._begin + at)
        what = (
            f"of {length:,} B, more than the {kernels.LARGEST_B:,} B that one can have"
            if self.format == "pcap"
            else f"whose length of {length:,} B does not fit what it holds"
        )
        self._note(f"a record {what}; the file is damaged from there on")

    def _note(self, what: str) -> None:
        """Note what is wrong at the present place; what was read before it stands."""
        place = self._before + self._begin
        self.notes.append(
            f"{self._name}: byte {place:,} ({place:#x}), behind packet {self._count:,}: {what}"
        )
