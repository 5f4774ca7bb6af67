"""The device's top in Verilog-2005: blocks of ``firmware-hooks/rtl`` and wires between them, no logic."""

from __future__ import annotations

from collections.abc import Iterator

from freezeframe.capture.card.build.checks import checker
from freezeframe.capture.card.build.counts import counts, unused_counts
from freezeframe.capture.card.build.log import event_log
from freezeframe.capture.card.build.ports import (
    POST_W,
    bus_ports,
    joined,
    keep,
    module_name,
    packed,
    recorder_ports,
    recorder_wires,
    rom_module,
    stream,
    top_ports,
)
from freezeframe.capture.card.build.trigger import fires, trigger, unused_trigger
from freezeframe.capture.card.elaborated import ElaboratedCard, ElaboratedClock, ElaboratedTap
from freezeframe.capture.card.finding import rom_words
from freezeframe.capture.card.recording import built_features
from freezeframe.capture.card.registers import memories_of_card, stride_log2

LEAST_CAUSES = 12  # bits of the cause registers
NONE = "1'b0"
UART_BAUD = 115_200
_ADAPTERS = {
    "axi4-lite": "ff_axi_lite", "wishbone": "ff_wishbone", "uartbone": "ff_uartbone", "avalon-mm": "ff_avalon",
}  # fmt: skip
_KEEP = {"none": 0, "tail": 1, "any": 2}
_STORE = {"all": 0, "summary": 1}
# What a clock's recorders share, and its news for the register bus.
_SHARED = ("now", "arm", "next", "triggered", "causes", "since", "drain")
_NEWS = ("level", "armed", "closed", "beats", "told", "parity")


def verilog_top(card: ElaboratedCard) -> str:
    """Return the text of the device's top."""
    parts = [_head(card), _shared(card)]
    parts += [_clock(card, clock) for clock in card.clocks]
    parts += [_tap(card, tap) for tap in card.taps]
    parts += event_log(card)
    parts += trigger(card)
    for cause in card.causes:
        if cause.said is not None and cause.said.check:
            parts.append(f"    wire cause_{cause.name};")
            tap = card.tap(cause.said.tap)
            parts.append(checker(card, cause.said.check, tap, cause.said, f"cause_{cause.name}"))
    return "\n".join(
        [*parts, *counts(card), *_core(card), "endmodule", "`default_nettype wire", ""]
    )


def causes_width(card: ElaboratedCard) -> int:
    """Return how many causes the device's registers hold."""
    return max(LEAST_CAUSES, len(card.causes))


def _head(card: ElaboratedCard) -> str:
    bus = card.clocks[0]
    uart = ""
    if card.said.transport.bus == "uartbone":
        cycles = max(8, bus.said.hz // UART_BAUD)
        uart = f"    parameter UART_CYCLES = {cycles}, // cycles of clk_{bus.name} in a bit\n"
    declared = ",\n".join(f"    {port}" for port in top_ports(card))
    return f"""// {module_name(card)}: the recorder of card {card.name}, made by 'freezeframe card build'.
// A change belongs into the card file; the card's hash is {card.hash:016x}.
//
// Latency, throughput, back-pressure: it only listens to the taps (ff_card_tap); a register access is ff_card_core's.
// Clock domains: a tap's ports and the card's own wires are of their clock in the card file; rst, the recorder's own
// reset, bus_rst and the register bus of clk_{bus.name}. time_in is the master's time_out.
`default_nettype none
module {module_name(card)} #(
{uart}    parameter [31:0] BUILD_HASH = 0,
    parameter DEVICES = 1, INDEX = 0, TIME_MASTER = 1
) (
{declared}
);"""


def _shared(card: ElaboratedCard) -> str:
    names = [clock.name for clock in card.clocks]
    spare = max(2, len(names)) - len(names)  # a card of one clock has a second one that never runs
    lanes, taps = card.memories, len(card.recorders)
    return f"""    localparam CAUSES = {causes_width(card)}, CLOCKS = {len(names) + spare}, POST_W = {POST_W};
    wire [32:0] line = time_in;
    wire arm_toggle, level;
    wire [CAUSES-1:0] cause_mask;
    wire [{lanes - 1}:0] rd_en;
    wire [15:0] rd_slot;
    wire [{72 * lanes - 1}:0] rd_record;
    wire [{16 * taps - 1}:0] cfg_kinds;
    wire [{POST_W * taps - 1}:0] cfg_post;
    wire rst_{names[0]} = rst;
    wire [CLOCKS-1:0] clks = {joined([f"clk_{name}" for name in names] + ["1'b0"] * spare)};
    wire [CLOCKS-1:0] rsts = {joined([f"rst_{name}" for name in names] + ["1'b1"] * spare)};
    wire [CLOCKS-1:0] ended = {joined([f"ended_{name}" for name in names] + ["1'b0"] * spare)};"""


def _clock(card: ElaboratedCard, clock: ElaboratedClock) -> str:
    c, bus = clock.name, card.clocks[0].name
    taps = [tap.name for tap in card.recorders if tap.clock is clock]
    raised = [_raised(card, bit, clock) for bit in range(len(card.causes))]
    raised += ["1'b0"] * (causes_width(card) - len(raised))
    closed = " && ".join(f"{tap}_closed" for tap in taps) or f"triggered_{c}"
    text = f"""    wire [63:0] now_{c};
    wire arm_{c}, next_{c}, triggered_{c}, drain_{c};
    wire [CAUSES-1:0] causes_{c};
    wire [31:0] since_{c};
    wire [CAUSES-1:0] raised_{c} = {joined(raised)};
    wire closed_{c} = {closed};
    wire ended_{c} = closed_{c} && triggered_{c};"""
    if clock.number == 0:
        return text
    news = ", ".join(f".{name}(far_{name}_{c})" for name in _NEWS)
    return f"""{text}
    wire rst_{c}, {", ".join(f"far_{name}_{c}" for name in _NEWS)};
    wire [63:0] far_at_{c};
    ff_card_domain #(.CAUSES(CAUSES)) i_domain_{c} (
        .clk(clk_{c}), .bus_rst(rst), .line_in(line), .bus_arm_toggle(arm_toggle), .bus_level(level),
        .bus_causes(causes_{bus}), .bus_cause_mask(cause_mask), .rst(rst_{c}), .causes_in(raised_{c}),
        .all_closed(closed_{c}), .now(now_{c}), .arm(arm_{c}), .triggered_next(next_{c}), .triggered(triggered_{c}),
        .causes(causes_{c}), .since(since_{c}), .drain(drain_{c}),
        {news}, .at(far_at_{c})
    );"""


def _raised(card: ElaboratedCard, bit: int, clock: ElaboratedClock) -> str:
    """Return what raises a cause in a clock's domain."""
    cause = card.causes[bit]
    if cause.name == "trigger":
        raising = fires(card, clock) + ([] if clock.number else ["trigger_in"])
        return " || ".join(raising) or NONE
    if cause.said is None:
        return "1'b0"
    if cause.said.wire:
        at = cause.said.clock or card.clocks[0].name
        return cause.said.wire if at == clock.name else "1'b0"
    return f"cause_{cause.name}" if card.tap(cause.said.tap).clock is clock else "1'b0"


def _tap(card: ElaboratedCard, tap: ElaboratedTap) -> str:
    said, name, lanes = tap.said, tap.name, tap.lanes
    store = _STORE[said.store] if isinstance(said.store, str) else said.store.first_bytes
    slot_w = (said.depth - 1).bit_length()
    user = said.user
    marks, bit = (user.bits, user.bad_frame or 0) if user else (0, 0)
    return f"""{recorder_wires(tap)}
    ff_card_tap #(
        .BITS({said.bits}), .KEEP({_KEEP[said.keep]}), .USER_W({marks}), .BAD_BIT({bit}), .READY({int(said.ready)}),
        .LAST({int(said.kind == "axi-stream")}), .LOOSE({int(said.time == "loose")}),
        .FAST({int(said.recorder == "fast")}), .STORE({store}), .DEPTH({said.depth}), .POST_W(POST_W), .CAUSES(CAUSES)
    ) i_tap_{name} (
        {stream(tap)},
        .tdata({name}_tdata), {keep(tap)}, .tuser({f"{name}_tuser" if user else "1'b0"}),
        {recorder_ports(tap)},
        .rd_clk(clk_{card.clocks[0].name}),
        .rd_en(rd_en[{lanes.start} +: {len(lanes)}]), .rd_slot(rd_slot[{slot_w - 1}:0]),
        .rd_record(rd_record[{72 * lanes.start} +: {72 * len(lanes)}])
    );"""


def _core(card: ElaboratedCard) -> Iterator[str]:
    bus, far = card.clocks[0].name, [clock.name for clock in card.clocks[1:]]
    memories = memories_of_card(card)
    transport = card.said.transport.bus
    names = [port.split()[-1] for port in bus_ports(card)]
    yield f"""    wire m_req, m_we, m_ack, m_err;
    wire [31:0] m_addr, m_wdata, m_rdata, rom_data;
    wire [12:0] rom_word;
    {_ADAPTERS[transport]}{" #(.CYCLES(UART_CYCLES))" if transport == "uartbone" else ""} i_port (
        .clk(clk_{bus}), .rst(bus_rst),
        {", ".join(f".{name}({name})" for name in names)},
        .m_req(m_req), .m_we(m_we), .m_addr(m_addr), .m_wdata(m_wdata), .m_ack(m_ack), .m_err(m_err), .m_rdata(m_rdata)
    );"""
    if card.said.card.rom:
        yield f"    {rom_module(card)} i_rom (.clk(clk_{bus}), .word(rom_word), .data(rom_data));"
    else:
        yield "    assign rom_data = 32'd0;"
    enabled = sum(
        1 << cause.bit for cause in card.causes if cause.said is None or cause.said.enabled
    )
    words = len(rom_words(card.text)) if card.said.card.rom else 0
    hz = [clock.said.hz for clock in card.clocks] + [0] * (not far)
    pointers = [
        f"{tap.name}_write_ptr" if (spare := 16 - (tap.said.depth - 1).bit_length()) == 0
        else f"{{{spare}'d0, {tap.name}_write_ptr}}"
        for tap in card.recorders
    ]  # fmt: skip
    news = ", ".join(
        f".far_{what}({joined([f'far_{what}_{name}' for name in far] or [NONE])})" for what in _NEWS
    )  # fmt: skip
    of_taps = ", ".join(
        f".tap_{what}({joined(f'{tap.name}_{what}' for tap in card.recorders)})"
        for what in ("wrapped", "closed", "stored", "offered")
    )
    yield f"""    ff_card_core #(
        .CARD_HASH(64'h{card.hash:016x}), .BUILD_HASH(BUILD_HASH), .FEATURES(32'h{int(built_features(card)):x}),
        .DEVICES(DEVICES), .INDEX(INDEX), .TIME_MASTER(TIME_MASTER), .STRIDE_LOG2({stride_log2(card)}), .CLOCKS(CLOCKS),
        .SHOWN_CLOCKS({len(card.clocks)}), .CLK_HZ({packed(hz, 32)}), .TAPS({len(card.recorders)}),
        .TAP_DOMAIN({packed([tap.clock.number for tap in card.recorders], 8)}), .MEMORIES({len(memories)}),
        .DEPTH_LOG2({packed([(memory.depth - 1).bit_length() for memory in memories], 8)}),
        .ADDRESS({packed([memory.address for memory in memories], 32)}),
        .CAUSES(CAUSES), .SHOWN_CAUSES({len(card.causes)}), .CAUSE_RESET({causes_width(card)}'h{enabled:x}),
        .COUNTERS({len(card.counters)}), .BANK({len(card.said.bank)}), .HISTOGRAMS({len(card.said.histogram)}),
        .ROM_WORDS({words}), .POST_W(POST_W)
    ) i_core (
        .clk(clk_{bus}), .rst(rst), .bus_rst(bus_rst), .clks(clks), .rsts(rsts), .boot_nonce(boot_nonce),
        .s_req(m_req), .s_we(m_we), .s_addr(m_addr), .s_wdata(m_wdata), .s_ack(m_ack), .s_err(m_err), .s_rdata(m_rdata),
        .now(now_{bus}), .arm(arm_{bus}), .triggered_next(next_{bus}), .triggered(triggered_{bus}),
        .causes(causes_{bus}), .since(since_{bus}), .drain(drain_{bus}), .causes_in(raised_{bus}),
        .near_closed(closed_{bus}),        .arm_toggle(arm_toggle), .level(level), .cause_mask(cause_mask),
        {news},
        .far_causes({joined([f"causes_{name}" for name in far] or ["{CAUSES{1'b0}}"])}),
        .far_at({joined([f"far_at_{name}" for name in far] or ["64'd0"])}),
        .cfg_post(cfg_post), .cfg_kinds(cfg_kinds), .tap_write_ptr({joined(pointers)}),
        {of_taps},
        .trigger_write(trigger_write), .trigger_wdata(trigger_wdata), .trigger_known(trigger_known),
        .trigger_writable(trigger_writable), .trigger_rdata(trigger_rdata),
        .rd_en(rd_en), .rd_slot(rd_slot), .rd_record(rd_record), .sel_counts(sel_counts), .win_addr(win_addr),
        .counts_ack(counts_ack), .counts_err(counts_err), .counts_rdata(counts_rdata),
        .cfg_snapshot_log2(snapshot_log2), .stat_snapshot_seq(snapshot_seq), .rom_word(rom_word), .rom_data(rom_data),
        .cross_in(cross_in),        .cross_out(cross_out),
        .time_in(line), .time_out(time_out),
        .hold(hold), .frozen(frozen), .held(hold)
    );"""
    own = " || ".join(fires(card, card.clocks[0]))
    yield f"    assign trigger_out = {own or NONE};"
    unused = [
        f"cause_{c.name}_checked"
        for c in card.causes
        if c.said is not None and c.said.check == "fcs"
    ]
    unused += [f"{name}_{clock.name}" for clock in card.clocks for name in _SHARED]
    unused += unused_counts(card) + unused_trigger(card)
    unused += [
        "ended",
        "rd_slot",
        "arm_toggle",
        "level",
        "cause_mask",
        "win_addr",
        "snapshot_log2",
        "sel_counts",
        "rom_word",
    ]
    yield f"    wire unused = &{{1'b0, {', '.join(unused)}}};"
