"""The LiteX module of a card with a Wishbone bus: the device with its streams, clocks and wires connected by name."""

from __future__ import annotations

from freezeframe.capture.card.build.ports import module_name, wire_ports
from freezeframe.capture.card.elaborated import ElaboratedCard, ElaboratedTap
from freezeframe.capture.card.registers import stride_log2


def litex_module(card: ElaboratedCard) -> str:
    """Return the text of a Python module with one class, to be imported beside the generated Verilog."""
    name = module_name(card)
    title = "".join(part.capitalize() for part in name.split("_"))
    clocks = "".join(
        f'            i_clk_{clock.name}=ClockSignal(domains.get("{clock.name}", "{usual}")),\n'
        for clock in card.clocks
        for usual in (clock.name if clock.number else "sys",)
    )
    taps = "".join(_tap(tap) for tap in card.taps)
    wires = "".join(f'            i_{port}=wires["{port}"],\n' for port, _, _ in wire_ports(card))
    pin, signal = "", ""
    if card.said.trigger.pin:
        pin, signal = "i_trigger_pin=self.trigger_pin, ", "\n        self.trigger_pin = Signal()"
    return f'''"""The recorder of card {card.name} in a LiteX SoC, made by 'freezeframe card build'.

    self.ff = {title}(platform, taps={{{", ".join(f'"{tap.name}": ...' for tap in card.taps[:2])}}})
    region = SoCRegion(origin=0x90000000, size=self.ff.SIZE, cached=False)  # a free place among the SoC's IO regions
    self.bus.add_slave("ff", self.ff.bus, region)
"""

from pathlib import Path

from litex.gen import LiteXModule
from litex.soc.interconnect import wishbone
from migen import C, ClockSignal, If, Instance, Mux, Replicate, ResetSignal, Signal


class {title}(LiteXModule):
    """Listens to LiteX streams.

    taps: an Endpoint for each tap. wires: the card's own signals. domains: clock domains of other names.
    boot_nonce: a number or Signal, another at every power-up; by default the cycle of the first access, which a host
    makes at any time: give one where a CPU makes it.
    """

    SIZE = 0x{1 << stride_log2(card):x}

    def __init__(self, platform, taps, wires=None, domains=None, boot_nonce=None):
        wires, domains = wires or {{}}, domains or {{}}
        self.bus = wishbone.Interface(data_width=32, adr_width=30, addressing="word")
        self.frozen, self.hold = Signal(), Signal(){signal}
        line = Signal(33)
        if boot_nonce is None:
            boot_nonce, accessed = Signal(32, reset_less=True), Signal()
            sync = getattr(self.sync, domains.get("{card.clocks[0].name}", "sys"))
            sync += If(self.bus.cyc & self.bus.stb, accessed.eq(1)).Elif(~accessed, boot_nonce.eq(boot_nonce + 1))
        if platform is not None:
            folder = Path(__file__).parent
            for place in (folder / "{name}.f").read_text().split():
                platform.add_source(str(folder / place))
        self.specials += Instance(
            "{name}",
{clocks}            i_rst=ResetSignal("sys"), i_bus_rst=ResetSignal("sys"),
            i_boot_nonce=C(boot_nonce, 32) if isinstance(boot_nonce, int) else boot_nonce,
            i_wb_cyc=self.bus.cyc, i_wb_stb=self.bus.stb, i_wb_we=self.bus.we, i_wb_adr=self.bus.adr,
            i_wb_dat_w=self.bus.dat_w, i_wb_sel=self.bus.sel, o_wb_ack=self.bus.ack, o_wb_err=self.bus.err,
            o_wb_dat_r=self.bus.dat_r,
{taps}{wires}            i_trigger_in=0, {pin}i_cross_in=0, i_time_in=line, o_time_out=line,
            o_hold=self.hold, o_frozen=self.frozen,
        )


def _keep(stream, bytes_):
    """Return the bytes that are on, of last_be (one bit: the last byte's), be, or keep (AXIStreamInterface)."""
    if hasattr(stream, "last_be"):
        upto = (stream.last_be << 1) - 1
        return Mux(stream.last & (stream.last_be != 0), upto, Replicate(C(1, 1), bytes_))
    return stream.be if hasattr(stream, "be") else stream.keep


def _user(stream):
    """Return error (LiteEth: a bit for each byte of the beat), or user (AXIStreamInterface)."""
    return stream.error if hasattr(stream, "error") else stream.user
'''


def _tap(tap: ElaboratedTap) -> str:
    said, name = tap.said, tap.name
    stream = f'taps["{name}"]'
    lines = [f"i_{name}_tvalid={stream}.valid", f"i_{name}_tdata={stream}.data"]
    if said.ready:
        lines.append(f"i_{name}_tready={stream}.ready")
    if said.kind == "axi-stream":
        lines.append(f"i_{name}_tlast={stream}.last")
    if said.keep != "none":
        lines.append(f"i_{name}_tkeep=_keep({stream}, {said.bits // 8})")
    if said.user is not None:
        bits = f"_user({stream})"
        lines.append(f"i_{name}_tuser={bits}{' != 0' if said.user.bits == 1 else ''}")
    return "".join(f"            {line},\n" for line in lines)
