"""The ports of a card's device, and the names that its generated files share."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from freezeframe.capture.card.elaborated import ElaboratedCard, ElaboratedClock, ElaboratedTap
from freezeframe.capture.card.wires import wires_of

POST_W = 16
_BUS_PORTS = {
    "axi4-lite": (
        "input  wire s_axi_awvalid", "output wire s_axi_awready", "input  wire [31:0] s_axi_awaddr",
        "input  wire s_axi_wvalid", "output wire s_axi_wready", "input  wire [31:0] s_axi_wdata",
        "input  wire [3:0] s_axi_wstrb", "output wire s_axi_bvalid", "input  wire s_axi_bready",
        "output wire [1:0] s_axi_bresp", "input  wire s_axi_arvalid", "output wire s_axi_arready",
        "input  wire [31:0] s_axi_araddr", "output wire s_axi_rvalid", "input  wire s_axi_rready",
        "output wire [31:0] s_axi_rdata", "output wire [1:0] s_axi_rresp",
    ),
    "wishbone": (
        "input  wire wb_cyc", "input  wire wb_stb", "input  wire wb_we", "input  wire [31:2] wb_adr",
        "input  wire [31:0] wb_dat_w", "input  wire [3:0] wb_sel", "output wire wb_ack", "output wire wb_err",
        "output wire [31:0] wb_dat_r",
    ),
    "uartbone": ("input  wire rx", "output wire tx"),
    "avalon-mm": (
        "input  wire avs_read", "input  wire avs_write", "input  wire [31:0] avs_address",
        "input  wire [31:0] avs_writedata", "output wire avs_waitrequest", "output wire [31:0] avs_readdata",
        "output wire [1:0] avs_response",
    ),
}  # fmt: skip


def module_name(card: ElaboratedCard) -> str:
    """Return the name of the device's top."""
    return f"{card.name.replace('-', '_')}_freezeframe"


def bus_ports(card: ElaboratedCard) -> tuple[str, ...]:
    """Return the port declarations of the register bus."""
    return _BUS_PORTS[card.said.transport.bus]


def stream_ports(tap: ElaboratedTap) -> list[tuple[str, int]]:
    """Return the ports of a tap, name and width, all inputs of its clock; those that the card has."""
    said, name = tap.said, tap.name
    ports = [(f"{name}_tvalid", 1)]
    if said.ready:
        ports.append((f"{name}_tready", 1))
    if said.kind == "axi-stream":
        ports.append((f"{name}_tlast", 1))
    ports.append((f"{name}_tdata", said.bits))
    if said.keep != "none":
        ports.append((f"{name}_tkeep", said.bits // 8))
    if said.user is not None:
        ports.append((f"{name}_tuser", said.user.bits))
    return ports


def wire_ports(card: ElaboratedCard) -> list[tuple[str, int, ElaboratedClock]]:
    """Return the card's own wires: port, width, clock; each port once."""
    clocks = {clock.name: clock for clock in card.clocks}
    bus = card.clocks[0]
    ports: dict[str, tuple[str, int, ElaboratedClock]] = {}
    for named in wires_of(card.said):
        ports.setdefault(named.wire, (named.wire, named.bits, clocks.get(named.clock, bus)))
    return list(ports.values())


def top_ports(card: ElaboratedCard) -> list[str]:
    """Return the port declarations of the device's top, in Verilog, in their order."""
    ports = [f"input  wire clk_{clock.name}" for clock in card.clocks]
    ports += [
        "input  wire rst",
        "input  wire bus_rst",
        "input  wire [31:0] boot_nonce",
        *bus_ports(card),
    ]
    for tap in card.taps:
        ports += [f"input  wire {vector(width)}{port}" for port, width in stream_ports(tap)]
    ports += [f"input  wire {vector(width)}{port}" for port, width, _ in wire_ports(card)]
    if card.said.trigger.pin:
        ports.append("input  wire trigger_pin")
    ports += [
        "input  wire trigger_in", "output wire trigger_out", "input  wire cross_in", "output wire cross_out",
        "input  wire [32:0] time_in", "output wire [32:0] time_out", "output wire hold", "output wire frozen",
    ]  # fmt: skip
    return ports


def rom_module(card: ElaboratedCard) -> str:
    """Return the name of the ROM's module."""
    return f"{card.name.replace('-', '_')}_rom"


def vector(width: int) -> str:
    """Return the range of a declaration, with a space after it; nothing for one bit."""
    return "" if width == 1 else f"[{width - 1}:0] "


def joined(values: Iterable[str]) -> str:
    """Return a concatenation with the first value lowest."""
    return "{" + ", ".join(reversed(list(values))) + "}"


def packed(numbers: Sequence[int], bits: int) -> str:
    """Return numbers of so many bits each as one constant, the first lowest."""
    value = sum(number << bits * n for n, number in enumerate(numbers))
    return f"{bits * len(numbers)}'h{value:x}"


def stream(tap: ElaboratedTap) -> str:
    """Return how a block listens to a tap's stream: its connections up to tlast."""
    said, name, c = tap.said, tap.name, tap.clock.name
    ready = f"{name}_tready" if said.ready else "1'b1"
    last = f"{name}_tlast" if said.kind == "axi-stream" else "1'b0"
    return f".clk(clk_{c}), .rst(rst_{c}), .tvalid({name}_tvalid), .tready({ready}), .tlast({last})"


def keep(tap: ElaboratedTap) -> str:
    """Return the connection of tkeep; all ones where the stream has none."""
    bytes_ = tap.said.bits // 8
    return (
        f".tkeep({tap.name}_tkeep)" if tap.said.keep != "none" else f".tkeep({{{bytes_}{{1'b1}}}})"
    )


def shape(tap: ElaboratedTap) -> str:
    """Return the parameters of a block that reads a tap's bytes."""
    return f".BITS({tap.said.bits}), .KEEP({int(tap.said.keep != 'none')})"


def recorder_wires(tap: ElaboratedTap) -> str:
    """Return the wires by which a recorder tells of itself: a tap's, or the event log's."""
    name, slot_w = tap.name, (tap.said.depth - 1).bit_length()
    return f"""    wire [{slot_w - 1}:0] {name}_write_ptr;
    wire {name}_wrapped, {name}_closed, {name}_word_valid;
    wire [31:0] {name}_stored, {name}_offered;
    wire [3:0] {name}_word_kind;
    wire [63:0] {name}_word_data;"""


def recorder_ports(tap: ElaboratedTap) -> str:
    """Return a recorder's connections to its clock, its configuration and those wires."""
    name, c, n = tap.name, tap.clock.name, tap.number
    return f""".now(now_{c}), .arm(arm_{c}), .triggered_next(next_{c}), .triggered(triggered_{c}), .causes(causes_{c}),
        .since(since_{c}), .drain(drain_{c}),
        .cfg_post(cfg_post[{POST_W * n} +: POST_W]), .cfg_kinds(cfg_kinds[{16 * n} +: 16]),
        .stat_write_ptr({name}_write_ptr), .stat_wrapped({name}_wrapped), .stat_stored({name}_stored),
        .stat_offered({name}_offered), .stat_closed({name}_closed), .word_valid({name}_word_valid),
        .word_kind({name}_word_kind), .word_data({name}_word_data)"""
