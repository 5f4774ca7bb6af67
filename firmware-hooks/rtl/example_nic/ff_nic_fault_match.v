// SPDX-License-Identifier: Apache-2.0
// ff_nic_fault_match: tells the one word on which an injected fault strikes.
//
// It counts packets whose header announces at least cfg_min_length payload words (credit words never count), lets
// cfg_count of them pass, and is high with word cfg_word of the next (0 the header, 1 the address, 2 the first payload
// word). It strikes once after each reset. Latency: none from s_valid to hit. Throughput: one word a cycle.
// Back-pressure: none. Clock domain: clk; cfg_* stand still while en is high.
`default_nettype none
module ff_nic_fault_match (
    input  wire        clk, rst,
    input  wire        en,
    input  wire        s_valid, s_first,
    input  wire [63:0] s_data,
    input  wire [15:0] cfg_count,
    input  wire [9:0]  cfg_min_length,
    input  wire [9:0]  cfg_word,
    output wire        hit,
    output reg         stat_done,   // it has struck
    output reg  [15:0] stat_seq,    // where: the packet's sequence number
    output reg  [6:0]  stat_flow
);
    localparam [3:0] CREDIT = 4'd4;
    reg  [15:0] passed_q;
    reg  [9:0]  index_q;
    reg         chosen_q;
    wire eligible = s_data[3:0] != CREDIT && s_data[25:16] >= cfg_min_length;
    wire chosen = s_first ? en && !stat_done && eligible && passed_q == cfg_count : chosen_q;
    wire [9:0] index = s_first ? 10'd0 : index_q;
    assign hit = s_valid && chosen && index == cfg_word && !stat_done;
    always @(posedge clk) begin
        if (s_valid) begin
            index_q <= index + {9'd0, index != 10'h3FF};
            chosen_q <= chosen;
            if (s_first && en && eligible && !chosen) passed_q <= passed_q + {15'd0, passed_q != cfg_count};
            if (s_first && chosen) begin
                stat_seq <= s_data[47:32];
                stat_flow <= s_data[14:8];
            end
            if (hit) stat_done <= 1'b1;
        end
        if (rst) begin
            passed_q <= 16'd0;
            index_q <= 10'd0;
            chosen_q <= 1'b0;
            stat_done <= 1'b0;
            stat_seq <= 16'd0;
            stat_flow <= 7'd0;
        end
    end
    wire unused = &{1'b0, s_data[63:48], s_data[31:26], s_data[15], s_data[7:4]};
endmodule
`default_nettype wire
