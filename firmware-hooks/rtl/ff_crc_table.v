// SPDX-License-Identifier: Apache-2.0
// ff_crc_table: after the freeze, CRC-32/ISO-HDLC over the 9-byte records of every CHUNK records, one memory after another.
//
// Latency: nine cycles a record from the freeze on, and one more for each access of the host to a trace memory, which
// goes first. Throughput: a byte a cycle, 8 table bits a cycle. Back-pressure: `grant`. A bus reset starts the table again
// from its beginning. Clock domain: clk. A window answers in two cycles; an entry that is not ready yet reads 0.
`default_nettype none
module ff_crc_table #(
    parameter CHUNK = 256,         // records an entry covers, power of two, 16..256
    parameter MEMORIES = 5,        // memories, 1..5
    parameter DEPTH_LOG2 = 14,     // log2 of the deepest memory's records, 8..14
    // records in each memory, 15 bits each, memory 0 lowest; 0: there is none
    parameter [74:0] DEPTHS = {15'd2048, 15'd2048, 15'd2048, 15'd2048, 15'd2048}
) (
    input  wire         clk, rst, bus_rst,
    input  wire         frozen,
    // memories: rd_record is the record of rd_slot one cycle after rd_en && grant
    output wire         rd_en,
    output wire [2:0]   rd_memory,
    output wire [13:0]  rd_slot,
    input  wire         grant,
    input  wire [71:0]  rd_record,
    // entries that are ready
    output wire [MEMORIES*7-1:0] stat_chunks_done,
    // window
    input  wire         sel,
    input  wire [8:0]   win_word,   // bits 8:6 memory, 5:0 entry
    output reg          win_ack, win_err,
    output reg  [31:0]  win_rdata
);
    generate
        if (CHUNK < 16 || CHUNK > 256 || (CHUNK & (CHUNK - 1)) != 0) begin : g_check_CHUNK
            ff_error_CHUNK_must_be_a_power_of_two_16_to_256 stop (); // none such
        end
        if (MEMORIES < 1 || MEMORIES > 5) begin : g_check_MEMORIES
            ff_error_MEMORIES_must_be_1_to_5 stop (); // none such
        end
        if (DEPTH_LOG2 < 8 || DEPTH_LOG2 > 14) begin : g_check_DEPTH_LOG2
            ff_error_DEPTH_LOG2_must_be_8_to_14 stop (); // none such
        end
        if ((CHUNK << 6) < (1 << DEPTH_LOG2)) begin : g_check_entries
            ff_error_a_memory_must_have_at_most_64_CHUNKs stop (); // none such
        end
    endgenerate
    localparam C = $clog2(CHUNK);
    localparam E = DEPTH_LOG2 > C ? DEPTH_LOG2 - C : 1; // bits of the number of an entry within its memory
    localparam M = MEMORIES > 1 ? $clog2(MEMORIES) : 1;

    function [6:0] entries(input [2:0] memory); // of a memory
        entries = {29'd0, memory} < MEMORIES ? DEPTHS[memory*15+C +: 7] & ((7'd1 << (15 - C)) - 7'd1) : 7'd0;
    endfunction

    function [31:0] next_crc(input [31:0] crc, input [7:0] octet); // polynomial 0xEDB88320, least significant bit first
        integer bit_number;
        begin
            next_crc = crc ^ {24'd0, octet};
            for (bit_number = 0; bit_number < 8; bit_number = bit_number + 1)
                next_crc = {1'b0, next_crc[31:1]} ^ (next_crc[0] ? 32'hEDB88320 : 32'd0);
        end
    endfunction

    // -- reading ahead: one byte of one record a cycle -----------------------------------------------
    reg  [2:0]  memory_q;
    reg  [14:0] slot_q;
    reg  [3:0]  octet_q;
    wire left = {29'd0, memory_q} < MEMORIES;
    wire over = {{C{1'b0}}, slot_q[14:C]} == {8'd0, entries(memory_q)}; // this memory is through, or there is none
    assign rd_en = frozen && left && !over;
    assign rd_memory = memory_q;
    assign rd_slot = slot_q[13:0];
    always @(posedge clk) begin
        if (!frozen || rst || bus_rst) begin
            memory_q <= 3'd0;
            slot_q <= 15'd0;
            octet_q <= 4'd0;
        end else if (left && over) begin
            memory_q <= memory_q + 3'd1;
            slot_q <= 15'd0;
        end else if (rd_en && grant) begin
            octet_q <= octet_q == 4'd8 ? 4'd0 : octet_q + 4'd1;
            if (octet_q == 4'd8) slot_q <= slot_q + 15'd1;
        end
    end

    // -- the byte read in the cycle before ------------------------------------------------------------
    reg         have_q, last_q;             // a byte stands at rd_record; it ends a chunk
    reg  [3:0]  have_octet_q;
    reg  [2:0]  have_memory_q;
    reg  [31:0] crc_q;
    reg  [6:0]  done_q;                     // entries of have_memory_q that are ready
    wire [31:0] crc_next = next_crc(crc_q, rd_record[{have_octet_q, 3'd0} +: 8]);
    reg  [31:0] ram [0:(1<<(M+E))-1];
    always @(posedge clk) if (have_q && last_q) ram[{have_memory_q[M-1:0], done_q[E-1:0]}] <= ~crc_next;
    always @(posedge clk) begin
        have_q <= rd_en && grant;
        have_octet_q <= octet_q;
        last_q <= octet_q == 4'd8 && &slot_q[C-1:0];
        have_memory_q <= memory_q;
        if (have_memory_q != memory_q && !have_q) done_q <= 7'd0;
        if (have_q) begin
            crc_q <= last_q ? 32'hFFFFFFFF : crc_next;
            if (last_q) done_q <= done_q + 7'd1;
        end
        if (!frozen || rst || bus_rst) begin
            have_q <= 1'b0;
            have_memory_q <= 3'd0;
            crc_q <= 32'hFFFFFFFF;
            done_q <= 7'd0;
        end
    end

    function [6:0] ready(input [2:0] memory, input [2:0] at, input [6:0] done);
        ready = memory < at ? entries(memory) : memory == at ? done : 7'd0;
    endfunction
    genvar m;
    generate
        for (m = 0; m < MEMORIES; m = m + 1) begin : g_stat
            localparam [2:0] SELF = m;
            assign stat_chunks_done[m*7 +: 7] = ready(SELF, have_memory_q, done_q);
        end
    endgenerate

    // -- window ---------------------------------------------------------------------------------------
    wire beyond = {1'b0, win_word[5:0]} >= entries(win_word[8:6]);
    wire stands = {1'b0, win_word[5:0]} < ready(win_word[8:6], have_memory_q, done_q);
    reg  [31:0] entry_q;
    reg         looked_q, stands_q;         // entry_q holds what is asked for; it is ready
    always @(posedge clk) begin
        entry_q <= ram[{win_word[6 +: M], win_word[0 +: E]}];
        looked_q <= sel && !win_ack;
        stands_q <= stands;
        win_ack <= sel && looked_q && !win_ack && !rst;
        win_err <= sel && beyond;
        win_rdata <= sel && looked_q && stands_q && !beyond ? entry_q : 32'd0;
    end
endmodule
`default_nettype wire
