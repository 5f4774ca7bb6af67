// SPDX-License-Identifier: Apache-2.0
// ff_quad_check: stops the elaboration of ff_quad with a sentence where a parameter is out of range; there is nothing else in it.
//
// Latency, Throughput, Back-pressure, Clock domain: none.
`default_nettype none
module ff_quad_check #(
    // those of ff_quad
    parameter DEVICES = 1,
    parameter INDEX = 0,
    parameter TAP_DEPTH = 2048,
    parameter EVENT_DEPTH = 2048,
    parameter EVENT_FIFO = 32,
    parameter EV_BUS = 6,
    parameter EV_LINK = 4,
    parameter [31:0] MAX_BURST = 255,
    parameter COUNTERS = 32,
    parameter [31:0] RX_FIFO = 2048,
    parameter POST_W = 32,
    parameter COUNT_W = 32,
    parameter TRIGGER_TERMS = 2
) ();
    generate
        if (TAP_DEPTH < 256 || TAP_DEPTH > 16384 || (TAP_DEPTH & (TAP_DEPTH - 1)) != 0) begin : g_check_TAP_DEPTH
            ff_error_TAP_DEPTH_must_be_a_power_of_two_from_256_to_16384 stop (); // none such
        end
        if (EVENT_DEPTH != 0 && (EVENT_DEPTH < 256 || EVENT_DEPTH > 16384 || (EVENT_DEPTH & (EVENT_DEPTH - 1)) != 0)) begin : g_check_EVENT_DEPTH
            ff_error_EVENT_DEPTH_must_be_0_or_a_power_of_two_from_256_to_16384 stop (); // none such
        end
        if (EV_BUS < 1 || EV_BUS > 14 || EV_LINK < 1 || EV_LINK > 14) begin : g_check_EV
            ff_error_EV_BUS_and_EV_LINK_must_be_1_to_14 stop (); // none such
        end
        if (DEVICES < 1 || DEVICES > 255) begin : g_check_DEVICES
            ff_error_DEVICES_must_be_1_to_255 stop (); // none such
        end
        if (INDEX < 0 || INDEX > 254) begin : g_check_INDEX
            ff_error_INDEX_must_be_0_to_254 stop (); // none such
        end
        if (EVENT_FIFO < 8 || EVENT_FIFO > 64 || EVENT_FIFO % 2 != 0) begin : g_check_EVENT_FIFO
            ff_error_EVENT_FIFO_must_be_even_from_8_to_64 stop (); // none such
        end
        if (MAX_BURST < 1 || MAX_BURST > 65535) begin : g_check_MAX_BURST
            ff_error_MAX_BURST_must_be_1_to_65535 stop (); // none such
        end
        if (POST_W < 1 || POST_W > 32) begin : g_check_POST_W
            ff_error_POST_W_must_be_1_to_32 stop (); // none such
        end
        if (COUNT_W < $clog2(TAP_DEPTH) + 1 || COUNT_W > 32) begin : g_check_COUNT_W
            ff_error_COUNT_W_must_be_log2_TAP_DEPTH_plus_1_to_32 stop (); // none such
        end
        if (TRIGGER_TERMS < 1 || TRIGGER_TERMS > 2) begin : g_check_TRIGGER_TERMS
            ff_error_TRIGGER_TERMS_must_be_1_or_2 stop (); // none such
        end
        if (COUNTERS != 0 && COUNTERS != 32) begin : g_check_COUNTERS
            ff_error_COUNTERS_must_be_0_or_32 stop (); // none such
        end
        if (RX_FIFO < 16 || RX_FIFO > 32768 || (RX_FIFO & (RX_FIFO - 1)) != 0) begin : g_check_RX_FIFO
            ff_error_RX_FIFO_must_be_a_power_of_two_from_16_to_32768 stop (); // none such
        end
    endgenerate
endmodule
`default_nettype wire
