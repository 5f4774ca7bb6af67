// SPDX-License-Identifier: Apache-2.0
// ff_status_window: the register port's view of the memories' pointers and counts and of the time pairs.
//
// Latency: what stands in clk_bus is answered in one cycle; what stands in clk_link (memories 1 and 2, pair 1, and the far words
// of the freeze bank) crosses by a handshake, whole, about three cycles of each clock later. Where clk_link stands still
// the answer is an error. Throughput: one access at a time. Back-pressure: none. Clock domains: clk_bus, clk_link.
`default_nettype none
module ff_status_window (
    input  wire          clk_bus, rst_bus,
    input  wire          clk_link, rst_link,
    // windows
    input  wire          sel_memory, sel_pair,
    input  wire          sel_far,            // a word of far_bank is asked for
    input  wire [8:0]    win_word,
    output reg           win_ack, win_err,
    output reg  [31:0]   win_rdata,
    input  wire [31:0]   far_bank,           // clk_link, selected by win_word
    // memories, element i of an array at [i*WIDTH +: WIDTH]; 1 and 2 in clk_link, all else in clk_bus
    input  wire [69:0]   stat_write_ptr,     // 14 bits each
    input  wire [4:0]    stat_wrapped,
    input  wire [159:0]  stat_stored, stat_offered,
    input  wire [31:0]   stat_lost,          // of memory 4; a tap loses nothing
    input  wire [34:0]   stat_chunks_done,   // 7 bits each, clk_bus
    // pairs: 0 of clk_bus, 1 of clk_link; each {last_cycle, last_number, first_cycle, first_number}
    input  wire [383:0]  stat_pair,
    input  wire [1:0]    stat_first_valid, stat_last_valid
);
    wire [2:0] memory = win_word[5:3];
    wire       domain = win_word[3];
    wire link_memory = memory == 3'd1 || memory == 3'd2;

    function [31:0] of_memory(
        input [2:0] word, input [13:0] write_ptr, input wrapped, input [31:0] stored, input [31:0] offered, input [31:0] lost
    );
        case (word)
            3'd0: of_memory = {18'd0, write_ptr};
            3'd1: of_memory = {31'd0, wrapped};
            3'd2: of_memory = stored;
            3'd3: of_memory = offered;
            3'd4: of_memory = lost;
            default: of_memory = 32'd0;
        endcase
    endfunction
    function [31:0] of_pair(input [2:0] word, input [191:0] pair, input first_valid, input last_valid);
        case (word)
            3'd0: of_pair = pair[31:0];
            3'd1: of_pair = pair[63:32];
            3'd2: of_pair = pair[95:64];
            3'd3: of_pair = pair[127:96];
            3'd4: of_pair = pair[159:128];
            3'd5: of_pair = pair[191:160];
            3'd6: of_pair = {30'd0, last_valid, first_valid};
            default: of_pair = 32'd0;
        endcase
    endfunction

    wire [31:0] of_far = win_word[8] ? far_bank : win_word[6]
        ? of_pair(win_word[2:0], stat_pair[383:192], stat_first_valid[1], stat_last_valid[1])
        : memory == 3'd1
        ? of_memory(win_word[2:0], stat_write_ptr[27:14], stat_wrapped[1], stat_stored[63:32], stat_offered[63:32], 32'd0)
        : of_memory(win_word[2:0], stat_write_ptr[41:28], stat_wrapped[2], stat_stored[95:64], stat_offered[95:64], 32'd0);
    wire far = sel_far || (sel_memory && link_memory) || (sel_pair && domain);
    wire far_ack, far_err;
    wire [31:0] far_data;
    ff_cdc_read i_far (
        .clk(clk_bus), .rst(rst_bus), .req(far), .ack(far_ack), .err(far_err), .data(far_data),
        .far_clk(clk_link), .far_rst(rst_link), .far_data(of_far)
    );

    reg  [31:0] of_near;
    always @* begin
        if (sel_pair) of_near = of_pair(win_word[2:0], stat_pair[191:0], stat_first_valid[0], stat_last_valid[0]);
        else case (memory)
            3'd0: of_near = of_memory(win_word[2:0], stat_write_ptr[13:0], stat_wrapped[0], stat_stored[31:0], stat_offered[31:0], 32'd0);
            3'd3: of_near = of_memory(win_word[2:0], stat_write_ptr[55:42], stat_wrapped[3], stat_stored[127:96], stat_offered[127:96], 32'd0);
            3'd4: of_near = of_memory(win_word[2:0], stat_write_ptr[69:56], stat_wrapped[4], stat_stored[159:128], stat_offered[159:128], stat_lost);
            default: of_near = 32'd0;
        endcase
    end
    reg  [6:0] chunks;
    always @* begin
        case (memory)
            3'd0: chunks = stat_chunks_done[6:0];
            3'd1: chunks = stat_chunks_done[13:7];
            3'd2: chunks = stat_chunks_done[20:14];
            3'd3: chunks = stat_chunks_done[27:21];
            default: chunks = stat_chunks_done[34:28];
        endcase
    end
    wire near = (sel_memory || sel_pair) && !far;
    always @(posedge clk_bus) begin
        win_ack <= !win_ack && !rst_bus && (near || (far && far_ack));
        win_err <= far && far_err;
        win_rdata <= 32'd0;
        if (near || far) win_rdata <= (near ? of_near : far_data)
            | (sel_memory && win_word[2:0] == 3'd1 ? {9'd0, chunks, 16'd0} : 32'd0);
    end
    wire unused = &{1'b0, win_word[7]};
endmodule
`default_nettype wire
