"""What is in a source of packets at a glance: how many, how long, of which protocols, on which interfaces."""

from __future__ import annotations

from collections import Counter

import numpy as np

from freezeframe.capture.packets.block import LINKTYPES, Interface, PacketBlock
from freezeframe.decoders.net import header_kernels as headers
from freezeframe.decoders.net.packets_code import protocol_codes


class PacketSummary:
    """Counts of the blocks that were taken.

    Attributes:
        cut: packets of which not all was captured.
        protocols: packets by protocol.
        on: packets by interface.
    """

    def __init__(self) -> None:
        self.packets = self.wire_B = self.cut = 0
        self.begin_ps = self.end_ps = 0
        self.protocols: Counter[str] = Counter()
        self.on: Counter[int] = Counter()
        self.interfaces: tuple[Interface, ...] = ()

    def take(self, block: PacketBlock) -> None:
        """Count the packets of a block."""
        if not len(block):
            return
        begin, end = int(block.t_ps.min()), int(block.t_ps.max())
        self.begin_ps = min(begin, self.begin_ps) if self.packets else begin
        self.end_ps = max(end, self.end_ps)
        self.packets += len(block)
        self.wire_B += int(block.wire_B.sum())
        self.cut += int((block.length < block.wire_B).sum())
        out = np.full((len(headers.COLUMNS), len(block)), -1, np.int64)
        headers.parse_headers(block.buffer, block.offset, block.length, block.linktype, out)
        codes, texts = protocol_codes(dict(zip(headers.COLUMNS, out, strict=True)))
        for text, count in zip(texts, np.bincount(codes, minlength=len(texts)), strict=True):
            self.protocols[text] += int(count)
        for place, count in enumerate(np.bincount(block.interface)):
            if count:
                self.on[place] += int(count)
        self.interfaces = block.interfaces

    def link(self, place: int) -> str:
        """Return what an interface is, in words."""
        linktype = self.interfaces[place].linktype
        return LINKTYPES.get(linktype, f"linktype {linktype}, whose headers are not read")
