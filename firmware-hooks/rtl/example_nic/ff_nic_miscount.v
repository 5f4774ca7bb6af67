// SPDX-License-Identifier: Apache-2.0
// ff_nic_miscount: tells which words a miscounting counter of flow control leaves out: of one packet in cfg_every its
// header word, its address word, its CRC word, or more than one of them.
//
// Packets of cfg_flow count, or of every flow (cfg_all); the last of each cfg_every is hit. Latency: none from s_valid
// to skip. Throughput: one word a cycle. Back-pressure: none. Clock domain: clk; cfg_* stand still between resets.
`default_nettype none
module ff_nic_miscount (
    input  wire        clk, rst,
    input  wire        en, cfg_all,
    input  wire [6:0]  cfg_flow,
    input  wire [15:0] cfg_every,   // packets, 1 or more
    input  wire [2:0]  cfg_words,   // bit 0 the header, 1 the address, 2 the CRC word
    input  wire        s_valid, s_first, s_last,
    input  wire [6:0]  s_flow,
    output wire        skip,        // the word of this cycle is not counted
    output reg         stat_done    // one has not been counted
);
    reg  [15:0] passed_q;
    reg         chosen_q, second_q;
    wire mine = en && (cfg_all || s_flow == cfg_flow);
    wire due = passed_q + 16'd1 >= cfg_every;
    wire chosen = s_first ? mine && due : chosen_q;
    assign skip = s_valid && chosen
        && ((s_first && cfg_words[0]) || (!s_first && second_q && cfg_words[1]) || (s_last && cfg_words[2]));
    always @(posedge clk) begin
        if (s_valid) begin
            chosen_q <= chosen;
            second_q <= s_first;
            if (s_first && mine) passed_q <= due ? 16'd0 : passed_q + 16'd1;
            if (skip) stat_done <= 1'b1;
        end
        if (rst) begin
            passed_q <= 16'd0;
            chosen_q <= 1'b0;
            second_q <= 1'b0;
            stat_done <= 1'b0;
        end
    end
endmodule
`default_nettype wire
