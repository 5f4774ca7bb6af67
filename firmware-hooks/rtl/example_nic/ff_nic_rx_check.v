// SPDX-License-Identifier: Apache-2.0
// ff_nic_rx_check: the checks of one receiver stage: header CRC at the second HEAD, payload CRC and length at the TAIL,
// or where the header's length says the tail should have been. After a bad header nothing else is judged.
//
// Latency: one cycle from a word to its verdict. Throughput: one word a cycle. Back-pressure: none. Clock domain: clk.
// Source: docs/formats.md section 3.
`default_nettype none
module ff_nic_rx_check (
    input  wire        clk, rst,
    input  wire        s_valid, s_first, s_last, // s_last: no other word of this packet comes
    input  wire [1:0]  s_kind,
    input  wire [63:0] s_data,
    output reg         m_header,            // a good header is complete
    output reg         m_header_bad, m_payload_bad, m_length_bad,
    // of the packet, from its first word on
    output reg  [3:0]  stat_type, stat_flags,
    output reg  [6:0]  stat_flow,
    output reg  [9:0]  stat_length,
    output reg  [15:0] stat_seq
);
    localparam [1:0] HEAD = 2'd1, TAIL = 2'd3;
    reg  [47:0] header_q;
    reg  [15:0] header_crc_q;
    reg  [10:0] index_q;            // of the next word
    reg         framed_q;           // the first word was a HEAD
    reg         good_q, judged_q;
    wire [10:0] index = s_first ? 11'd0 : index_q;
    wire        second = s_valid && index == 11'd1;
    wire [15:0] crc16;
    wire [31:0] crc32;
    ff_nic_crc16 #(.BYTES(14)) i_crc16 (.en(second), .header(header_q), .address(s_data), .crc(crc16));
    wire        payload = s_valid && index > 11'd1 && s_kind != TAIL;
    ff_nic_crc32 i_crc32 (.clk(clk), .s_first(second), .s_valid(payload), .s_data(s_data), .crc(crc32));

    wire good = framed_q && s_kind == HEAD && crc16 == header_crc_q;
    wire due = index == {1'b0, stat_length} + 11'd2;
    wire judge = s_valid && index > 11'd1 && good_q && !judged_q && (s_kind == TAIL || due);
    always @(posedge clk) begin
        m_header <= second && good;
        m_header_bad <= (second && !good) || (s_valid && s_first && s_last);
        m_payload_bad <= judge && crc32 != s_data[31:0];
        m_length_bad <= judge && !(s_kind == TAIL && due);
        if (s_valid) begin
            index_q <= index + {10'd0, index != 11'h7FF};
            if (s_first) begin
                {header_crc_q, header_q} <= s_data;
                {stat_type, stat_flags, stat_flow} <= {s_data[3:0], s_data[7:4], s_data[14:8]};
                {stat_length, stat_seq} <= {s_data[25:16], s_data[47:32]};
                framed_q <= s_kind == HEAD;
                good_q <= 1'b0;
                judged_q <= 1'b0;
            end
            if (second) good_q <= good;
            if (judge) judged_q <= 1'b1;
        end
        if (rst) begin
            m_header <= 1'b0;
            m_header_bad <= 1'b0;
            m_payload_bad <= 1'b0;
            m_length_bad <= 1'b0;
            index_q <= 11'd0;
            good_q <= 1'b0;
            judged_q <= 1'b0;
            framed_q <= 1'b0;
            {stat_type, stat_flags, stat_flow} <= 15'd0;
            {stat_length, stat_seq} <= 26'd0;
        end
    end
endmodule
`default_nettype wire
