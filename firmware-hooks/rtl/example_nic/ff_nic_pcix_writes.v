// SPDX-License-Identifier: Apache-2.0
// ff_nic_pcix_writes: posts the card's writes: keeps the words of up to two of them, for PCI-X has no initiator waits and
// says the number of bytes beforehand.
//
// A request is acknowledged when its words have room. What the card writes counts with hb_wend. What a target has not
// taken is asked for again from where it stopped, until all is written; where nobody answered, or with a Target-Abort,
// the write waits for cfg_resume. Latency: the whole write. Throughput: one word a clock, the next is gathered meanwhile.
// card_rst is the card's standing still and its reset; both throw away a write that is not whole, cfg_flush all that is
// not on the bus. Clock domain: clk.
`default_nettype none
module ff_nic_pcix_writes #(
    parameter DEPTH_LOG2 = 8 // log2 of the 64-bit words kept, 3..10; twice the longest write or more
) (
    input  wire        clk, rst, card_rst, cfg_flush, cfg_resume,
    // the card: see ff_nic_bus.v
    input  wire        hb_req,
    input  wire [63:0] hb_addr,
    input  wire [9:0]  hb_len,
    output reg         hb_ack,
    input  wire        hb_wvalid, hb_wend,
    input  wire [63:0] hb_wdata,
    output wire        empty,           // nothing is posted
    // to the initiator
    output wire        r_valid,
    output wire [63:0] r_addr,
    output wire [12:0] r_count,
    input  wire        r_taken, e_valid,
    input  wire [2:0]  e_code,
    input  wire [12:0] e_moved,
    input  wire [9:0]  d_word,
    output wire [63:0] d_data,
    output wire        stat_halted
);
    localparam A = DEPTH_LOG2;
    generate if (DEPTH_LOG2 < 3 || DEPTH_LOG2 > 10) begin : g_check_DEPTH_LOG2
        ff_error_DEPTH_LOG2_must_be_3_to_10 stop (); // none such
    end endgenerate
    localparam [2:0] MOVED = 3'd0, RETRY = 3'd1;

    reg  [63:0] ram [0:(1<<A)-1];
    reg  [A:0]  put_q, begin_q, done_q;     // word that comes next, first of the write that comes, oldest kept
    reg         taking_q, fly_q, halted_q, drop_q;
    reg  [63:0] addr_q, head_addr_q, next_addr_q;
    reg  [A:0]  head_q, next_q;             // words of the two writes, 0 for none
    reg         half_q;                     // of the first word the lower half is written
    wire [A:0]  used = put_q - done_q;
    wire [A:0]  room = {1'b1, {A{1'b0}}} - used;
    wire [11:0] room_words = {{11-A{1'b0}}, room};
    wire [A:0]  came = put_q - begin_q;
    wire free = next_q == {A+1{1'b0}};
    wire ends = taking_q && hb_wend && came != {A+1{1'b0}};
    // Bytes that are written of the oldest, with what a 32-bit target took of a word.
    wire [15:0] moved = {3'd0, e_moved} + {13'd0, half_q, 2'd0};
    wire [15:0] head_B = {{12-A{1'b0}}, head_q, 3'd0};
    wire        answer = fly_q && e_valid;
    wire        gone = answer && e_code == MOVED && (drop_q || moved == head_B);
    wire        dropped = drop_q && answer;
    wire        shift = gone || dropped;
    assign empty = head_q == {A+1{1'b0}} && !taking_q;

    always @(posedge clk) begin
        hb_ack <= 1'b0;
        if (!taking_q && !hb_ack && hb_req && free && room_words >= {2'd0, hb_len}) begin
            hb_ack <= 1'b1;
            taking_q <= 1'b1;
            addr_q <= {hb_addr[63:3], 3'd0};
        end
        if (taking_q && hb_wvalid && room != {A+1{1'b0}}) begin
            ram[put_q[A-1:0]] <= hb_wdata;
            put_q <= put_q + {{A{1'b0}}, 1'b1};
        end
        if (taking_q && hb_wend) begin
            taking_q <= 1'b0;
            begin_q <= put_q;
        end
        if (r_taken) fly_q <= 1'b1;
        if (answer) begin
            fly_q <= 1'b0;
            if (e_code == MOVED) begin
                head_addr_q <= head_addr_q + {51'd0, e_moved};
                head_q <= head_q - moved[A+3:3];
                done_q <= done_q + moved[A+3:3];
                half_q <= moved[2];
            end else halted_q <= e_code != RETRY;
        end
        if (cfg_resume) halted_q <= 1'b0;
        if (shift || head_q == {A+1{1'b0}}) begin // the next becomes the oldest
            {head_q, head_addr_q, next_q} <= {next_q, next_addr_q, {A+1{1'b0}}};
            half_q <= 1'b0;
            if (dropped) done_q <= begin_q;
        end
        if (ends) {next_q, next_addr_q} <= {came, addr_q};
        if (dropped || (cfg_flush && !fly_q)) begin
            {head_q, next_q} <= {2*A+2{1'b0}};
            {begin_q, done_q} <= {put_q, put_q};
            {drop_q, halted_q, half_q} <= 3'd0;
        end else if (cfg_flush) drop_q <= 1'b1;
        if (card_rst) begin
            {taking_q, hb_ack} <= 2'd0;
            if (!cfg_flush) put_q <= begin_q;
        end
        if (rst) begin
            {taking_q, hb_ack, fly_q, halted_q, drop_q, half_q} <= 6'd0;
            {put_q, begin_q, done_q, head_q, next_q} <= {5*A+5{1'b0}};
            {addr_q, head_addr_q, next_addr_q} <= 192'd0;
        end
    end
    assign r_valid = head_q != {A+1{1'b0}} && !fly_q && !halted_q && !drop_q && !cfg_flush;
    assign r_addr = head_addr_q;
    assign r_count = head_B[12:0] - {10'd0, half_q, 2'd0};
    wire [A-1:0] place = done_q[A-1:0] + d_word[A-1:0];
    assign d_data = ram[place];
    assign stat_halted = halted_q;
    wire unused = &{1'b0, d_word, moved, head_B, hb_addr[2:0]};
endmodule
`default_nettype wire
