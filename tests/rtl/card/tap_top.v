// One ff_card_tap with the clock domain around it, for tap_bench.cpp.
`default_nettype none
module tap_top #(
    parameter BITS = 64, KEEP = 1, USER_W = 1, LAST = 1, LOOSE = 0, FAST = 0, STORE = 0, DEPTH = 4096
) (
    input  wire                clk, rst, arm_next, cause,
    input  wire                tvalid, tready, tlast, tuser,
    input  wire [BITS-1:0]     tdata,
    input  wire [BITS/8-1:0]   tkeep,
    input  wire [15:0]         cfg_post,
    output reg  [63:0]         now,
    output wire                closed, wrapped,
    output wire [31:0]         stored, offered,
    output wire [15:0]         write_ptr,
    input  wire                rd_en,
    input  wire [15:0]         rd_slot,
    output wire [(BITS > 64 && STORE != 1 ? BITS / 64 : 1)*72-1:0] rd_record
);
    localparam LANES = BITS > 64 && STORE != 1 ? BITS / 64 : 1, SLOT_W = $clog2(DEPTH);
    reg  arm;
    wire next, triggered, drain, hit, level, word_valid;
    wire [23:0] causes;
    wire [31:0] since;
    wire [3:0] word_kind;
    wire [63:0] word_data;
    wire [SLOT_W-1:0] pointer;
    always @(posedge clk) begin
        arm <= arm_next && !rst;
        now <= rst ? 64'd0 : now + 64'd1;
    end
    ff_cause_latch #(.POST_DRAIN(16), .W(24)) i_latch (
        .clk(clk), .rst(rst), .arm_next(arm_next), .arm(arm), .causes_in({21'd0, cause, 2'd0}), .hit(hit), .level(level),
        .triggered_next(next), .triggered(triggered), .causes(causes), .since(since), .drain(drain)
    );
    ff_card_tap #(.BITS(BITS), .KEEP(KEEP), .USER_W(USER_W), .LAST(LAST), .LOOSE(LOOSE), .FAST(FAST), .STORE(STORE),
        .DEPTH(DEPTH)) i_tap (
        .clk(clk), .rst(rst), .tvalid(tvalid), .tready(tready), .tlast(tlast), .tdata(tdata), .tkeep(tkeep), .tuser(tuser),
        .now(now), .arm(arm), .triggered_next(next), .triggered(triggered), .causes(causes), .since(since), .drain(drain),
        .cfg_post(cfg_post), .cfg_kinds(16'hFFFF), .stat_write_ptr(pointer), .stat_wrapped(wrapped), .stat_stored(stored),
        .stat_offered(offered), .stat_closed(closed), .word_valid(word_valid), .word_kind(word_kind), .word_data(word_data),
        .rd_clk(clk), .rd_en({LANES{rd_en}}), .rd_slot(rd_slot[SLOT_W-1:0]), .rd_record(rd_record)
    );
    assign write_ptr = {{16-SLOT_W{1'b0}}, pointer};
    wire unused = &{1'b0, hit, level, word_valid, word_kind, word_data, rd_slot};
endmodule
`default_nettype wire
