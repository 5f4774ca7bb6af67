// SPDX-License-Identifier: Apache-2.0
// ff_card_records: leads a card's register port to its trace memories, and makes the CRC table of what they hold when frozen.
//
// A record is four words: data 0-31, data 32-63, kind | dt << 4, 0. The table has CRC-32/ISO-HDLC over the 9-byte records of every CHUNK
// records, or of the whole of a memory that is smaller, one memory after another. Latency: an access answers in its fourth cycle; the
// table takes 12 cycles a record from the freeze on. Throughput: one access at a time, which goes before the table. Back-pressure: none.
// Clock domain: clk. A bus reset starts the table again.
`default_nettype none
module ff_card_records #(
    parameter MEMORIES = 2,                                    // 1..1024
    parameter [MEMORIES*8-1:0] DEPTH_LOG2 = {MEMORIES{8'd11}}, // 4..16 each, memory 0 lowest
    parameter [MEMORIES*32-1:0] ADDRESS = {MEMORIES{32'd0}},   // of each window, in bytes
    parameter CHUNK_LOG2 = 8,                                  // 4..8
    parameter WITH_CRC = 1
) (
    input  wire                   clk, rst, bus_rst,
    input  wire                   frozen,
    // register port: an access beyond the registers
    input  wire                   sel_trace, sel_crc,
    input  wire [31:0]            win_addr,  // of the device, in bytes; stands still until win_ack
    output reg                    win_ack, win_err,
    output reg  [31:0]            win_rdata,
    output wire [31:0]            stat_crc_done,
    // memories
    output reg  [MEMORIES-1:0]    rd_en,
    output wire [15:0]            rd_slot,
    input  wire [MEMORIES*72-1:0] rd_record
);
    function [31:0] all_entries(input begin_0);
        integer m;
        reg [31:0] log2;
        begin
            all_entries = {31'd0, 1'b0 & begin_0};
            for (m = 0; m < MEMORIES; m = m + 1) begin
                log2 = {24'd0, DEPTH_LOG2[8*m +: 8]};
                all_entries = all_entries + (log2 > CHUNK_LOG2 ? 32'd1 << (log2 - CHUNK_LOG2) : 32'd1);
            end
        end
    endfunction
    localparam [31:0] ENTRIES = all_entries(1'b0);
    localparam E = ENTRIES > 1 ? $clog2(ENTRIES) : 1;
    generate
        if (MEMORIES < 1 || MEMORIES > 1024) begin : g_check_MEMORIES
            ff_error_MEMORIES_must_be_1_to_1024 stop (); // none such
        end
        if (CHUNK_LOG2 < 4 || CHUNK_LOG2 > 8) begin : g_check_CHUNK_LOG2
            ff_error_CHUNK_LOG2_must_be_4_to_8 stop (); // none such
        end
        if (ENTRIES > 16384) begin : g_check_entries
            ff_error_the_CRC_table_has_at_most_16384_entries stop (); // none such
        end
    endgenerate

    // -- which memory an address is of -------------------------------------------------------------------
    reg  [MEMORIES-1:0] hit;
    integer m;
    always @* for (m = 0; m < MEMORIES; m = m + 1)
        hit[m] = ((win_addr ^ ADDRESS[32*m +: 32]) >> (DEPTH_LOG2[8*m +: 8] + 8'd4)) == 32'd0;
    wire exists = |hit;

    // -- fetch: 0 idle, 1 the memory reads, 2 its record is chosen, 3 it stands in record_q ------------------
    reg  [1:0]  step_q;
    reg         host_q;                 // the fetch is an access's
    reg  [MEMORIES-1:0] chosen_q;
    reg  [71:0] record, record_q;
    wire        host = sel_trace && exists && !win_ack && step_q == 2'd0;
    wire        crc_wants, crc_takes;
    wire [MEMORIES-1:0] crc_memory;
    wire [15:0] crc_slot;
    wire        starts = step_q == 2'd0 && (host || crc_wants);
    assign rd_slot = host ? win_addr[19:4] : crc_slot;
    always @* rd_en = (host ? hit : crc_memory) & {MEMORIES{starts && frozen}};
    always @* begin
        record = 72'd0;
        for (m = 0; m < MEMORIES; m = m + 1) record = record | (rd_record[72*m +: 72] & {72{chosen_q[m]}});
    end
    wire gives = step_q == 2'd3 && host_q;
    assign crc_takes = step_q == 2'd3 && !host_q;
    always @(posedge clk) begin
        if (starts) begin
            step_q <= 2'd2;
            host_q <= host;
            chosen_q <= rd_en;
        end else if (step_q == 2'd2) begin
            step_q <= 2'd3;
            record_q <= record;
        end else step_q <= 2'd0;
        if (rst || bus_rst || !frozen) step_q <= 2'd0;
    end

    // -- CRC table -------------------------------------------------------------------------------------------
    wire [31:0] entry;
    wire        entry_stands;
    generate if (WITH_CRC != 0) begin : g_crc
        function [31:0] next_crc(input [31:0] crc, input [7:0] octet); // polynomial 0xEDB88320, least significant bit first
            integer i;
            begin
                next_crc = crc ^ {24'd0, octet};
                for (i = 0; i < 8; i = i + 1) next_crc = {1'b0, next_crc[31:1]} ^ (next_crc[0] ? 32'hEDB88320 : 32'd0);
            end
        endfunction
        reg  [31:0] table_q [0:(1<<E)-1];
        reg  [31:0] crc_q, entry_q;
        reg  [15:0] done_q;             // entries that stand
        reg  [10:0] memory_q;
        reg  [16:0] slot_q;
        reg  [3:0]  octet_q;            // 9: none waits
        reg  [7:0]  depth_log2;
        integer k;
        genvar t;
        always @* begin
            depth_log2 = DEPTH_LOG2[7:0];
            for (k = 0; k < MEMORIES; k = k + 1) begin
                if (crc_memory[k]) depth_log2 = DEPTH_LOG2[8*k +: 8];
            end
        end
        for (t = 0; t < MEMORIES; t = t + 1) begin : g_turn
            assign crc_memory[t] = {21'd0, memory_q} == t;
        end
        wire more = {21'd0, memory_q} < MEMORIES;
        assign crc_wants = frozen && more && octet_q == 4'd9;
        assign crc_slot = slot_q[15:0];
        wire [16:0] following = slot_q + 17'd1;
        wire over = following == 17'd1 << depth_log2;
        wire whole = over || (following & ((17'd1 << CHUNK_LOG2) - 17'd1)) == 17'd0;
        wire last = octet_q == 4'd8;
        wire [31:0] crc_next = next_crc(crc_q, shift_q[7:0]);
        reg  [71:0] shift_q;
        wire ends = octet_q != 4'd9 && last && whole;
        always @(posedge clk) if (ends) table_q[done_q[E-1:0]] <= ~crc_next;
        always @(posedge clk) begin
            if (crc_takes) begin
                shift_q <= record_q;
                octet_q <= 4'd0;
            end else if (octet_q != 4'd9) begin
                shift_q <= {8'd0, shift_q[71:8]};
                octet_q <= octet_q + 4'd1;
                crc_q <= last && whole ? 32'hFFFFFFFF : crc_next;
                if (last) slot_q <= over ? 17'd0 : following;
                if (last && over) memory_q <= memory_q + 11'd1;
                if (ends) done_q <= done_q + 16'd1;
            end
            if (!frozen || rst || bus_rst) begin
                {done_q, memory_q, slot_q} <= 44'd0;
                octet_q <= 4'd9;
                crc_q <= 32'hFFFFFFFF;
            end
            entry_q <= table_q[win_addr[2 +: E]];
        end
        assign entry = entry_q;
        assign entry_stands = {18'd0, win_addr[15:2]} < {16'd0, done_q};
        assign stat_crc_done = {16'd0, done_q};
    end else begin : g_no_crc
        assign crc_wants = 1'b0;
        assign crc_slot = 16'd0;
        assign crc_memory = {MEMORIES{1'b0}};
        assign {entry, entry_stands, stat_crc_done} = 65'd0;
        wire unused = &{1'b0, crc_takes};
    end endgenerate

    // -- answers -----------------------------------------------------------------------------------------------
    reg  looked_q;
    wire beyond = WITH_CRC == 0 || {18'd0, win_addr[15:2]} >= ENTRIES;
    wire refused = (sel_trace && (!exists || !frozen)) || (sel_crc && (beyond || !frozen));
    always @(posedge clk) begin
        looked_q <= sel_crc && !win_ack;
        win_ack <= !win_ack && !rst && ((sel_trace && gives) || (sel_crc && looked_q) || refused);
        win_err <= refused;
        if (sel_crc) win_rdata <= entry & {32{entry_stands}};
        else case (win_addr[3:2])
            2'd0: win_rdata <= record_q[31:0];
            2'd1: win_rdata <= record_q[63:32];
            2'd2: win_rdata <= {24'd0, record_q[71:64]};
            default: win_rdata <= 32'd0;
        endcase
    end
endmodule
`default_nettype wire
