"""The designs of other people's blocks, with the recorder of a card file in them, as Verilog.

Run as ``python -m tests.rtl.foreign.design FOLDER NAME BITS``: the folder holds what ``card build`` wrote of the card,
and gets ``top.v``. Three streams between the blocks lead out of the top and back (``s1`` to ``s3``), so that the bench
can spoil them: the blocks and the recorder know nothing of it. Of the design ``small`` these places are joined.
"""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from typing import Any

from liteeth.common import eth_phy_description
from liteeth.mac.core import LiteEthMACCore
from litex.gen import LiteXModule
from litex.soc.interconnect.axi import AXIStreamInterface
from litex.soc.interconnect.packet import PacketFIFO
from litex.soc.interconnect.stream import ClockDomainCrossing, Demultiplexer, Endpoint, SyncFIFO
from migen import ClockDomain, ClockDomainsRenamer, ClockSignal, If, ResetSignal, Signal
from migen.fhdl import verilog

LINE_BITS = 8  # of LiteEth's PHY


class Apart(LiteXModule):
    """A stream cut in two: ``out`` leaves the design, ``back`` comes into it again."""

    def __init__(self, name: str, layout: Any) -> None:
        self.out, self.back = (
            Endpoint(layout, name=f"{name}_out"),
            Endpoint(layout, name=f"{name}_in"),
        )


class Loop(LiteXModule):
    """A PHY of 8 bits in the clock ``line``."""

    def __init__(self) -> None:
        self.dw = LINE_BITS
        self.cd_eth_tx, self.cd_eth_rx = ClockDomain("eth_tx"), ClockDomain("eth_rx")
        for domain in (self.cd_eth_tx, self.cd_eth_rx):
            self.comb += domain.clk.eq(ClockSignal("line")), domain.rst.eq(ResetSignal("line"))
        self.sink, self.source = (Endpoint(eth_phy_description(LINE_BITS)) for _ in range(2))


class LiteEth(LiteXModule):
    """LiteEth's MAC, sending to itself: s1 is the line, s2 stands before the receiving side, s3 behind it."""

    def __init__(self, bits: int) -> None:
        line, core = eth_phy_description(LINE_BITS), eth_phy_description(bits)
        self.phy = phy = Loop()
        self.mac = mac = LiteEthMACCore(phy, dw=bits)
        self.s1, self.s2, self.s3 = Apart("s1", line), Apart("s2", line), Apart("s3", core)
        self.gen, self.sent = Endpoint(core, name="gen_in"), Endpoint(core, name="rx")
        self.comb += [
            self.gen.connect(mac.sink),
            phy.sink.connect(self.s1.out),
            self.s1.back.connect(self.s2.out),
            self.s2.back.connect(phy.source),
            mac.source.connect(self.s3.out),
            self.s3.back.connect(self.sent),
        ]
        self.taps, self.wires = {"wire": self.s1.back, "mac": self.s3.back}, dict[str, Any]()


class Axis(LiteXModule):
    """A receive path: frames are stored whole or dropped whole, then cross to the clock sys; s1, s2 in line, s3 in sys.

    A frame for which there is no room at its first beat is dropped; so is a bad one, when it has been stored.
    """

    most_beats = 160  # of 512 bits: more than a frame of 9,018 B has
    stored_beats, crossing_beats, fifo_beats = 512, 16, 64

    def __init__(self, bits: int) -> None:
        def stream(name: str | None = None) -> Any:
            return AXIStreamInterface(bits, user_width=1, name=name)

        layout = stream().description
        self.gen, self.sent = stream("gen_in"), stream("rx")
        self.s1, self.s2, self.s3 = (Apart(f"s{n}", layout) for n in (1, 2, 3))
        on_line = ClockDomainsRenamer("line")
        self.room = Demultiplexer(layout, 2)
        self.store = on_line(PacketFIFO(layout, self.stored_beats))
        self.good = Demultiplexer(layout, 2)
        self.crossing = ClockDomainCrossing(layout, "line", "sys", self.crossing_beats)
        self.fifo = SyncFIFO(layout, self.fifo_beats)
        drop, within, refused = Signal(), Signal(), Signal()
        full = self.store.payload_fifo.level > self.stored_beats - self.most_beats
        into = self.s1.back
        self.sync.line += If(
            into.valid & into.ready, within.eq(~into.last), refused.eq(self.room.sel)
        )
        self.comb += [
            self.gen.connect(self.s1.out, omit={"ready"}),
            self.room.sel.eq((within & refused) | (~within & full)),
            into.connect(self.room.sink),
            self.room.source0.connect(self.store.sink),
            self.room.source1.ready.eq(1),
            self.good.sel.eq(self.store.source.user),
            self.store.source.connect(self.good.sink),
            self.good.source0.connect(self.s2.out),
            self.good.source1.ready.eq(1),
            self.s2.back.connect(self.crossing.sink),
            self.crossing.source.connect(self.fifo.sink),
            self.fifo.source.connect(self.s3.out),
            self.s3.back.connect(self.sent),
            self.gen.ready.eq(1),
        ]
        gone = [self.room.source1, self.good.source1]
        self.comb += drop.eq(gone[0].valid & gone[0].last | gone[1].valid & gone[1].last)
        self.taps = {"rx_in": self.gen, "stored": self.s2.back, "rx_out": self.s3.back}
        self.wires = {"rx_drop": drop}


class Small(Axis):
    """The same with little room, for a slow simulator; ``flip`` are bits of each beat that change at s2."""

    most_beats, stored_beats, crossing_beats, fifo_beats = 4, 8, 4, 2

    def __init__(self, bits: int) -> None:
        super().__init__(bits)
        self.flip = Signal(bits, name="flip")
        for site, changed in ((self.s1, 0), (self.s2, self.flip), (self.s3, 0)):
            self.comb += [
                site.out.connect(site.back, omit={"data"}),
                site.back.data.eq(site.out.data ^ changed),
            ]


DESIGNS: dict[str, Any] = {"liteeth": LiteEth, "axis": Axis, "small": Small}


class Top(LiteXModule):
    """A design and the recorder on its streams, with their clocks."""

    def __init__(self, name: str, bits: int, recorder: Any) -> None:
        self.cd_sys, self.cd_line = ClockDomain("sys"), ClockDomain("line")
        self.design = design = DESIGNS[name](bits)
        self.ff = recorder(None, design.taps, design.wires)
        sites = () if name == "small" else (design.s1, design.s2, design.s3)
        streams = [
            design.gen,
            *(end for site in sites for end in (site.out, site.back)),
            design.sent,
        ]
        signals = [signal for stream in streams for signal, _ in stream.iter_flat()]
        bus = self.ff.bus
        signals += [
            bus.cyc,
            bus.stb,
            bus.we,
            bus.adr,
            bus.dat_w,
            bus.dat_r,
            bus.sel,
            bus.ack,
            bus.err,
        ]
        signals += [domain for d in (self.cd_sys, self.cd_line) for domain in (d.clk, d.rst)]
        self.frozen, self.drop = Signal(name="frozen"), Signal(name="drop")
        self.comb += self.frozen.eq(self.ff.frozen), self.drop.eq(design.wires.get("rx_drop", 0))
        self.ios = {*signals, self.frozen, self.drop, *([] if sites else [design.flip])}


def main(folder: str, name: str, bits: str) -> None:
    """Write ``top.v`` into the folder."""
    sys.path.insert(0, folder)
    module = importlib.import_module(f"{name}_freezeframe_litex")
    top = Top(name, int(bits), getattr(module, f"{name.capitalize()}Freezeframe"))
    verilog.convert(top, top.ios, name="top").write(str(Path(folder) / "top.v"))


if __name__ == "__main__":
    main(*sys.argv[1:])
