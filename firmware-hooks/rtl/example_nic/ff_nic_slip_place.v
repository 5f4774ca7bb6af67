// SPDX-License-Identifier: Apache-2.0
// ff_nic_slip_place: keeps where the first slip of both lanes struck that did harm: packet, flow and word.
//
// It follows the words on one side of the synchronization FIFOs. A slip on a word is harmful (a lost credit word is
// not: the next one tells the same and more); a slip between two words loses the gap between their packets. Latency:
// one cycle; of a lost gap, two. Throughput: one slot a cycle. Back-pressure: none. Clock domain: clk.
`default_nettype none
module ff_nic_slip_place (
    input  wire        clk, rst,
    input  wire        en,
    input  wire        s_slot,          // a slot passes: a half of each lane
    input  wire        s_word, s_first, // it holds a word, the first of its frame
    input  wire [63:0] s_data,
    input  wire        s_lost,          // the slot was lost
    input  wire        s_again,         // the slot repeats the one before
    output reg         stat_done,
    output reg  [15:0] stat_seq,
    output reg  [6:0]  stat_flow,
    output reg  [9:0]  stat_word        // index in the packet, 0 where it is none of the payload; 1023: no packet's
);
    localparam [3:0] CREDIT = 4'd4;
    localparam [9:0] NO_PACKET = 10'h3FF;
    reg  [63:0] header_q;
    reg  [9:0]  index_q;        // of the next word
    reg         before_q;       // the slot before held a word
    reg         gap_q;          // the slot before was lost, behind a word, and held none
    wire [63:0] header = s_word && s_first ? s_data : header_q;
    wire [9:0]  index = s_first ? 10'd0 : index_q;
    wire credit = header[3:0] == CREDIT;
    wire payload = index > 10'd1 && index < header[25:16] + 10'd2;
    wire harmed = s_slot && s_word && (s_again || (s_lost && !(credit && s_first)));
    wire merged = s_slot && s_word && gap_q;
    always @(posedge clk) begin
        if (s_slot) begin
            gap_q <= s_lost && !s_word && before_q;
            before_q <= s_word;
            if (s_word) begin
                header_q <= header;
                index_q <= index + {9'd0, index != 10'h3FE};
            end
        end
        if (en && !stat_done && (harmed || merged)) begin
            stat_done <= 1'b1;
            // Of two packets in one the first is the one that does not end where it should.
            stat_seq <= merged ? header_q[47:32] : header[47:32];
            stat_flow <= merged ? header_q[14:8] : header[14:8];
            stat_word <= (merged ? header_q[3:0] == CREDIT : credit) ? NO_PACKET : harmed && payload ? index : 10'd0;
        end
        if (rst) begin
            header_q <= 64'd0;
            index_q <= 10'd0;
            before_q <= 1'b0;
            gap_q <= 1'b0;
            stat_done <= 1'b0;
            stat_seq <= 16'd0;
            stat_flow <= 7'd0;
            stat_word <= 10'd0;
        end
    end
    wire unused = &{1'b0, header[63:48], header[31:26], header[15], header[7:4]};
endmodule
`default_nettype wire
