// ff_regs_tb: accesses from a file to one ff_regs, one line of result for each.
// +script=FILE holds lines "OP ADDRESS DATA" in hex; OP: r read, w write, b bus reset while an access to a
// window hangs, R recorder's reset, s set the state, c print what the hardware sees of the configuration.
`default_nettype none
module ff_regs_tb #(
    parameter INDEX = 0
);
    reg clk = 1'b0;
    always #5 clk = !clk;

    reg         rst = 1'b1, bus_rst = 1'b0, req = 1'b0, we = 1'b0;
    reg  [31:0] addr = 32'd0, wdata = 32'd0;
    reg  [1:0]  state = 2'd0;
    wire        ack, err;
    wire [31:0] rdata;

    wire        hold, arm, freeze, inject, strobe;
    wire [2:0]  tap, memory;
    wire [23:0] record;
    wire [8:0]  wr_word;
    wire [31:0] wr_data, cause_mask, snapshot_log2, sample_period, gap, seed;
    wire [159:0] kinds, post;
    wire [63:0] mask_hi;
    wire        win_we;
    wire [21:0] win_word;
    wire [31:0] win_wdata;
    wire [17:0] sel;
    reg         win_ack = 1'b0, win_err = 1'b0, hang = 1'b0;
    reg  [31:0] win_rdata = 32'd0;

    ff_regs #(
        .ID_BUILD_HASH(32'hB111D000), .ID_DEVICES_COUNT(2), .ID_DEVICES_INDEX(INDEX),
        .ID_DEVICES_TIME_MASTER(1), .ID_TRACE_MODE(1), .ID_TRACE_TAPS(4), .ID_TRACE_DATA_W(64),
        .ID_TAP_DEPTH(2048), .ID_CLK_BUS(100000000), .ID_FLOWS_COUNT(128), .ID_FLOWS_CREDIT_W(13),
        .ID_POST_DRAIN(1024)
    ) dut (
        .clk(clk), .rst(rst), .bus_rst(bus_rst),
        .s_req(req), .s_we(we), .s_addr(addr), .s_wdata(wdata),
        .s_ack(ack), .s_err(err), .s_rdata(rdata),
        .stat_id_boot_nonce(32'h0B00700C), .stat_ctl_generation(32'd41),
        .stat_ctl_state_state(state), .stat_ctl_state_held(1'b1), .stat_ctl_state_closed(5'b10110),
        .stat_ctl_causes(32'h00000804), .stat_ctl_cause_cycle_lo(32'h11111111),
        .stat_ctl_cause_cycle_hi(32'h22222222), .stat_ctl_snapshot_seq(32'd7),
        .stat_provoke_inject_count(32'd3),
        .cfg_ctl_cause_mask(cause_mask), .cfg_ctl_options_hold(hold), .cfg_ctl_options_select_tap(tap),
        .cfg_ctl_kinds(kinds), .cfg_ctl_post(post), .cfg_ctl_snapshot_log2(snapshot_log2),
        .cfg_ctl_sample_period(sample_period),
        .cfg_ctl_index_record(record), .cfg_ctl_index_memory(memory),
        .cfg_trigger_term_mask_hi(mask_hi),
        .cfg_provoke_traffic_gap(gap), .cfg_provoke_traffic_seed(seed),
        .pulse_ctl_arm(arm), .pulse_ctl_freeze(freeze), .pulse_provoke_inject(inject),
        .wr_strobe(strobe), .wr_word(wr_word), .wr_data(wr_data),
        .win_we(win_we), .win_word(win_word), .win_wdata(win_wdata),
        .win_ack(win_ack), .win_err(win_err), .win_rdata(win_rdata),
        .sel_ctl_index_data(sel[0]), .sel_memory(sel[1]), .sel_pair(sel[2]), .sel_frozen(sel[3]),
        .sel_snapshot(sel[4]), .sel_frozen_counters(sel[5]), .sel_frozen_flow(sel[6]),
        .sel_length_histogram(sel[7]), .sel_occupancy_histogram(sel[8]), .sel_sampler(sel[9]),
        .sel_crc_table(sel[10]), .sel_inject_buffer(sel[11]), .sel_samples(sel[12]),
        .sel_trace_tx_enq(sel[13]), .sel_trace_tx_deq(sel[14]), .sel_trace_rx_enq(sel[15]),
        .sel_trace_rx_deq(sel[16]), .sel_trace_event_log(sel[17])
    );

    // The blocks behind the windows: answer in the third cycle; the CRC table ends after 40 words.
    reg [1:0] wait_q = 2'd0;
    reg [7:0] stores = 8'd0; // writes that reached a window
    always @(posedge clk) begin
        win_ack <= 1'b0;
        win_err <= 1'b0;
        win_rdata <= 32'd0;
        wait_q <= |sel && !win_ack ? wait_q + 2'd1 : 2'd0;
        if (|sel && wait_q == 2'd2 && !hang) begin
            win_ack <= 1'b1;
            win_err <= sel[10] && win_word[8:0] >= 9'd40;
            win_rdata <= {10'h2A5, win_word};
            if (win_we) stores <= stores + 8'd1;
        end
    end

    // What one access set off, gathered until its line is printed.
    reg [17:0] sels;
    reg [7:0]  arms, freezes, injects, strobes;
    reg [31:0] value;
    always @(posedge clk) begin
        sels <= sels | sel;
        arms <= arms + {7'd0, arm};
        freezes <= freezes + {7'd0, freeze};
        injects <= injects + {7'd0, inject};
        strobes <= strobes + {7'd0, strobe};
        if (strobe) value <= wr_data;
    end

    task clear;
        begin
            sels = 18'd0; arms = 8'd0; freezes = 8'd0; injects = 8'd0; strobes = 8'd0;
            value = 32'd0; stores = 8'd0;
        end
    endtask

    integer cycles;
    reg [31:0] data;
    reg        wrong;
    task access(input w, input [31:0] a, input [31:0] d);
        begin
            clear;
            @(negedge clk);
            req = 1'b1; we = w; addr = a; wdata = d;
            cycles = 0;
            @(negedge clk);
            while (!ack && cycles < 100) begin
                @(negedge clk);
                cycles = cycles + 1;
            end
            data = rdata;
            wrong = err;
            if (!ack) $display("no answer");
            @(negedge clk);
            req = 1'b0;
            @(negedge clk);
            $display("%h %b %0d %h %0d %0d %0d %0d %h %0d", data, wrong, cycles, sels, arms, freezes,
                     injects, strobes, value, stores);
        end
    endtask

    reg [8*400:1] script;
    reg [7:0]     op;
    reg [31:0]    arg0, arg1;
    integer       file, found;
    initial begin
        if (!$value$plusargs("script=%s", script)) $finish;
        file = $fopen(script, "r");
        repeat (3) @(negedge clk);
        rst = 1'b0;
        found = $fscanf(file, "%c %h %h\n", op, arg0, arg1);
        while (found == 3) begin
            case (op)
                "r": access(1'b0, arg0, arg1);
                "w": access(1'b1, arg0, arg1);
                "s": state = arg0[1:0];
                "R": begin
                    @(negedge clk) rst = 1'b1;
                    @(negedge clk) rst = 1'b0;
                end
                "b": begin
                    @(negedge clk);
                    hang = 1'b1; req = 1'b1; we = 1'b0; addr = arg0;
                    repeat (5) @(negedge clk);
                    $display("selected %b", |sel);
                    bus_rst = 1'b1; req = 1'b0;
                    @(negedge clk);
                    $display("selected %b ack %b", |sel, ack);
                    bus_rst = 1'b0; hang = 1'b0;
                end
                "c": $display("%h %b %0d %h %h %h %h %0d %0d %h %h %h", cause_mask, hold, tap, kinds, post,
                              snapshot_log2, sample_period, memory, record, mask_hi, gap, seed);
                default: $display("unknown %c", op);
            endcase
            found = $fscanf(file, "%c %h %h\n", op, arg0, arg1);
        end
        $finish;
    end
endmodule
`default_nettype wire
