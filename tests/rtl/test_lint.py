"""Every module of ours: clean in Verilator ``-Wall`` with its parameters at both ends, known to Icarus, and refusing
what is out of range with a sentence.
"""

from __future__ import annotations

import pytest

from tests.rtl.linted import elaborated, linted, refusals
from tests.rtl.simulation import modules

Parameters = dict[str, object]

LICENCE = "SPDX-License-" + "Identifier: Apache-2.0"  # in two: this file's own licence is another

QUAD_SMALL: Parameters = {
    "EVENT_DEPTH": 0, "SAMPLER_DEPTH": 0, "COUNTERS": 0, "WITH_BANK": 0, "WITH_CRC": 0, "WITH_PROVOKE": 0,
    "POST_W": 8, "COUNT_W": 9, "TIME_W": 40, "TRIGGER_TERMS": 1,
    "TAP_DEPTH": 256, "EV_BUS": 1, "EV_LINK": 1, "TIME_MASTER": 0, "INDEX": 1, "DEVICES": 2,
}  # fmt: skip
SELECT_LEAN: Parameters = {
    "WITH_KINDS": 0, "WITH_ERROR_ADDR": 0, "NONCE_W": 12, "POST_W": 8, "COUNT_W": 12, "TIME_W": 40,
}  # fmt: skip
QUAD_LEAN: Parameters = {"NONCE_W": 12, "POST_W": 8, "COUNT_W": 12, "TIME_W": 40}
QUAD_LARGE: Parameters = {
    "TAP_DEPTH": 16384, "EVENT_DEPTH": 16384, "EV_BUS": 14, "EV_LINK": 14, "FLOWS": 128, "COUNTER_W": 32,
    "SAMPLER_DEPTH": 4096, "EVENT_FIFO": 64, "RX_FIFO": 32768,
}  # fmt: skip
NIC_SMALL: Parameters = {"FLOWS": 1, "CREDIT_W": 10, "CREDIT_UNIT": 1}

ENDS: dict[str, list[Parameters]] = {
    "ff_cdc_fifo": [{"DATA_W": 1, "DEPTH_LOG2": 2}, {"DATA_W": 256, "DEPTH_LOG2": 6}],
    "ff_cdc_handshake": [{"DATA_W": 1}, {"DATA_W": 256}],
    "ff_cdc_read": [{"DATA_W": 1, "TIMEOUT_LOG2": 4}, {"DATA_W": 64, "TIMEOUT_LOG2": 16}],
    "ff_counters": [{"COUNT": 2, "COUNTER_W": 32}, {"COUNT": 32, "COUNTER_W": 64, "LINK_MASK": 0}],
    "ff_freeze_bank": [{"FLOWS": 1, "WAIT_LOG2": 4}, {"FLOWS": 128, "WAIT_LOG2": 16}],
    "ff_histogram": [{}],
    "ff_sampler": [{"DEPTH": 16}, {"DEPTH": 4096}],
    "ff_crc_table": [
        {"CHUNK": 16, "MEMORIES": 1, "DEPTH_LOG2": 8},
        {"CHUNK": 256, "MEMORIES": 5, "DEPTH_LOG2": 14},
    ],
    "ff_trace_window": [{"MEMORIES": 1}, {"MEMORIES": 5}],
    "ff_status_window": [{}],
    "ff_inject": [{}],
    "ff_regs_select": [
        {"POST_W": 7, "WITH_CRC": 1, "TAP_DEPTH": 256, "COUNT_W": 9},
        {"POST_W": 32, "TAP_DEPTH": 16384, "TIME_MASTER": 0},
        SELECT_LEAN,
    ],
    "ff_regs_quad": [
        {"POST_W": 7, "TAP_DEPTH": 256, "COUNT_W": 9, "TIME_W": 40, "NONCE_W": 8},
        {"POST_W": 32, "TAP_DEPTH": 16384, "TIME_MASTER": 0, "TIME_W": 64},
        QUAD_LEAN,
    ],
    "ff_mux4": [{"W": 1}, {"W": 256}],
    "ff_bit": [{"W": 1, "INDEX_W": 2}, {"W": 64, "INDEX_W": 6, "FIRST": 24}],
    "ff_pair_bits": [{"PERIOD": 64, "TIME_W": 40}, {"PERIOD": 16777216, "TIME_W": 64, "MASTER": 0}],
    "ff_node": [{"W": 1}, {"W": 256}],
    "ff_axi_lite": [{}],
    "ff_wishbone": [{}],
    "ff_uart_rx": [{"CYCLES": 8}, {"CYCLES": 65535}],
    "ff_uart_tx": [{"CYCLES": 8}, {"CYCLES": 65535}],
    "ff_uartbone": [{"CYCLES": 8, "TIMEOUT": 256}, {"CYCLES": 65535, "TIMEOUT": 2147483647}],
    "ff_tap_axi_stream": [{"DATA_W": 1, "HEADS": 0}, {"DATA_W": 64, "HEADS": 15}],
    "ff_tap_fifo": [{"READ_LATENCY": 0}, {"READ_LATENCY": 1}],
    "ff_tap_credit": [{}],
    "ff_select": [
        {"TAP_DEPTH": 256, "POST_W": 7, "COUNT_W": 9, "TIME_W": 40, "WITH_CRC": 1},
        {"TAP_DEPTH": 16384, "POST_W": 32, "COUNT_W": 32, "TIME_W": 64, "TIME_MASTER": 0},
        SELECT_LEAN,
        {**SELECT_LEAN, "TRIGGER_SRL": 1},
    ],
    "ff_crc32_step": [{"BITS": 8}, {"BITS": 1024}],
    "ff_check_fcs": [{"BITS": 8, "PREAMBLE": 1}, {"BITS": 1024, "KEEP": 0}],
    "ff_check_user": [{}, {"USER_W": 8, "BIT": 7}],
    "ff_check_no_ready": [{"CYCLES": 1}, {"CYCLES": "32'hFFFFFFFF"}],
    "ff_check_gap": [{}],
    "ff_check_watchdog": [{"CYCLES": 1}, {"CYCLES": "32'hFFFFFFFF"}],
    "ff_stream_field": [
        {"BITS": 8, "AT": 7, "WIDTH": 1},
        {"BITS": 1024, "KEEP": 0, "WIDTH": 64, "LITTLE": 1},
    ],
    "ff_check_length": [
        {"BITS": 8, "LONGEST": 9018},
        {"BITS": 1024, "WITH_FIELD": 1, "WIDTH": 64, "PLUS": -18, "SHORTEST": 131071},
    ],
    "ff_check_sequence": [{"BITS": 8, "AT": 65535, "WIDTH": 1}, {"BITS": 1024, "WIDTH": 64}],
    "ff_card_bank": [{"WIRES": 128, "CLOCKS": 32}, {}],
    "ff_card_core": [
        {},
        {"CLOCKS": 32, "TAPS": 64, "MEMORIES": 64, "CAUSES": 12, "TIME_W": 40, "WITH_CRC": 0},
    ],
    "ff_card_domain": [{"CAUSES": 12, "TIME_W": 40}, {"CAUSES": 24}],
    "ff_card_freeze": [{"FAR": 1, "CAUSES": 12}, {"FAR": 31}],
    "ff_card_histogram": [{}, {"GAPS": 1}],
    "ff_card_log": [{"SOURCES": 1, "DEPTH": 16, "CAUSES": 12, "POST_W": 8}, {"SOURCES": 80}],
    "ff_card_pairs": [{"TIME_W": 40}, {"CLOCKS": 32}],
    "ff_card_recorder": [{"DEPTH": 16, "POST_W": 4, "COUNT_W": 5}, {"DEPTH": 65536}],
    "ff_card_records": [{"MEMORIES": 1, "CHUNK_LOG2": 4}, {"MEMORIES": 64}],
    "ff_card_source": [
        {"VALUE_W": 1},
        {"VALUE_W": 40},
        {"MACHINE": 1, "VALUE_W": 1},
        {"MACHINE": 1, "VALUE_W": 8},
    ],
    "ff_card_status": [{"TAPS": 1}, {"TAPS": 64, "CLOCKS": 32}],
    "ff_card_tap": [{"BITS": 8, "KEEP": 0}, {"BITS": 1024, "KEEP": 2, "USER_W": 8, "FAST": 1}],
    "ff_card_trigger": [{}],
    "ff_card_trigger_port": [
        {"TAPS": 1},
        {"TAPS": 64, "TERMS": 4, "STEPS": 3, "COUNT_W": 32, "TIMER_W": 32, "PIN": 1},
        {"TERMS": 2, "STEPS": 1, "COUNT_W": 0, "TIMER_W": 0},
    ],
    "ff_card_trigger_sequence": [
        {"TAPS": 1, "STEPS": 1, "COUNT_W": 0, "TIMER_W": 0, "PIN": 0},
        {"TAPS": 64, "COUNT_W": 32, "TIMER_W": 32},
        {"COUNT_W": 1, "TIMER_W": 1},
    ],
    "ff_card_trigger_tap": [{"TERMS": 1}, {"TERMS": 4}],
    "ff_card_words": [{"WORDS": 128, "CLOCKS": 32}, {}],
    "ff_tap_beats": [{"BITS": 8, "KEEP": 2, "LOOSE": 1}, {"BITS": 1024, "LAST": 0}],
    "ff_tap_summary": [{"BITS": 8, "KEEP": 0}, {"BITS": 1024, "KEEP": 2}],
    "ff_tap_first": [{"FIRST": 2}, {"FIRST": 65535, "SIDE": 1088}],
    "ff_avalon": [{}],
    "ff_stream_counts": [{"BITS": 8, "KEEP": 0}, {"BITS": 1024}],
    "ff_count": [{"ADD_W": 1}, {"ADD_W": 31}],
    "ff_count_bank": [{"COUNT": 1, "DOMAINS": 1}, {"COUNT": 128, "DOMAINS": 32}],
    "ff_quad_check": [{}],
    "ff_quad_control": [{"TIME_W": 40, "MEMORIES": "5'd15"}, {"TIME_W": 64}],
    "ff_quad_counts": [{}, {"COUNTERS": 0, "SAMPLER_DEPTH": 0}],
    "ff_quad_events": [
        {"EV_BUS": 1, "EV_LINK": 1, "DEPTH": 256, "PLACES": 8},
        {"EV_BUS": 14, "EV_LINK": 14},
    ],
    "ff_quad_records": [{}, {"WITH_CRC": 0}],
    "ff_quad_taps": [
        {"TRIGGER_TERMS": 1, "TAP_DEPTH": 256, "POST_W": 1, "COUNT_W": 9},
        {"TAP_DEPTH": 16384},
    ],
    "ff_quad_lean": [
        {"TAP_DEPTH": 256, "POST_W": 7, "COUNT_W": 9, "TIME_W": 40, "NONCE_W": 8},
        {"TAP_DEPTH": 16384, "POST_W": 32, "TIME_W": 64, "TIME_MASTER": 0},
        QUAD_LEAN,
    ],
    "ff_nic_credits": [NIC_SMALL, {"FLOWS": 128, "CREDIT_W": 24, "CREDIT_UNIT": 65535}],
    "ff_nic_link_side": [NIC_SMALL, {"FLOWS": 128, "CREDIT_W": 24, "CREDIT_UNIT": 65535}],
    "ff_nic_core": [
        {},
        {**NIC_SMALL, "RX_FIFO_LOG2": 8, "BURST": 4, "DESCRIPTORS_LOG2": 1},
        {
            "FLOWS": 128,
            "CREDIT_W": 17,
            "CREDIT_UNIT": 65535,
            "TX_FIFO_LOG2": 15,
            "RX_FIFO_LOG2": 15,
            "BURST": 512,
            "DESCRIPTORS_LOG2": 8,
        },
    ],
    "ff_nic_pcix": [{"DEPTH_LOG2": 3}, {"DEPTH_LOG2": 10}],
    "ff_example_pair": [{}],
    "ff_pcix_pair": [{}],
    "ff_example_axi_stream": [
        {"TAP_DEPTH": 256, "FIFO_LOG2": 2},
        {"TAP_DEPTH": 16384, "FIFO_LOG2": 6},
    ],
    "ff_example_fifo_pair": [
        {"TAP_DEPTH": 256, "EVENT_DEPTH": 256, "FIFO_LOG2": 4, "UART_CYCLES": 8},
        {},
    ],
    "ff_quad": [{}, QUAD_SMALL, QUAD_LARGE, {"FLOWS": 1, "SAMPLER_DEPTH": 16, "RX_FIFO": 16}],
}

# a parameter out of its range, and what elaboration says then
REFUSED: list[tuple[str, Parameters, str]] = [
    ("ff_cdc_fifo", {"DEPTH_LOG2": 7}, "ff_error_DEPTH_LOG2_must_be_2_to_6"),
    ("ff_cdc_handshake", {"DATA_W": 257}, "ff_error_DATA_W_must_be_1_to_256"),
    ("ff_cdc_read", {"TIMEOUT_LOG2": 3}, "ff_error_TIMEOUT_LOG2_must_be_4_to_16"),
    ("ff_crc32_step", {"BITS": 12}, "ff_error_BITS_must_be_a_multiple_of_8_from_8_to_1024"),
    ("ff_card_log", {"SOURCES": 81}, "ff_error_SOURCES_must_be_1_to_80"),
    ("ff_card_source", {"MACHINE": 1, "VALUE_W": 9}, "ff_error_VALUE_W_must_be_1_to_40_and_of_a_state_at_most_8"),
    ("ff_card_words", {"WORDS": 129}, "ff_error_WORDS_must_be_1_to_128_and_CLOCKS_2_to_32"),
    ("ff_count", {"ADD_W": 32}, "ff_error_ADD_W_must_be_1_to_31"),
    ("ff_count_bank", {"COUNT": 129}, "ff_error_COUNT_must_be_1_to_128"),
    ("ff_count_bank", {"DOMAINS": 33}, "ff_error_DOMAINS_must_be_1_to_32"),
    ("ff_check_user", {"BIT": 1}, "ff_error_USER_W_must_be_1_to_8_and_BIT_below_it"),
    ("ff_check_watchdog", {"CYCLES": 0}, "ff_error_CYCLES_must_be_1_to_4294967295"),
    ("ff_stream_field", {"AT": 3, "LITTLE": 1}, "ff_error_WIDTH_must_be_1_to_64_AT_0_to_65535"),
    ("ff_counters", {"COUNT": 33}, "ff_error_COUNT_must_be_2_to_32"),
    ("ff_counters", {"COUNTER_W": 31}, "ff_error_COUNTER_W_must_be_32_to_64"),
    ("ff_freeze_bank", {"FLOWS": 129}, "ff_error_FLOWS_must_be_1_to_128"),
    ("ff_sampler", {"DEPTH": 1000}, "ff_error_DEPTH_must_be_a_power_of_two_16_to_4096"),
    ("ff_crc_table", {"CHUNK": 8}, "ff_error_CHUNK_must_be_a_power_of_two_16_to_256"),
    ("ff_crc_table", {"CHUNK": 16, "DEPTH_LOG2": 14}, "ff_error_a_memory_must_have_at_most_64_CHUNKs"),
    ("ff_trace_window", {"MEMORIES": 6}, "ff_error_MEMORIES_must_be_1_to_5"),
    ("ff_regs_select", {"POST_W": 6}, "ff_error_POST_W_must_be_7_to_32"),
    ("ff_mux4", {"W": 0}, "ff_error_W_must_be_1_to_256"),
    ("ff_bit", {"W": 65}, "ff_error_W_must_be_1_to_64"),
    ("ff_bit", {"W": 9, "INDEX_W": 3}, "ff_error_INDEX_W_must_be_2_to_6_and_reach_every_bit"),
    ("ff_bit", {"FIRST": 32}, "ff_error_FIRST_must_be_0_to_W_minus_1"),
    ("ff_pair_bits", {"PERIOD": 32}, "ff_error_PERIOD_must_be_a_power_of_two_from_64_to_16777216"),
    ("ff_node", {"W": 257}, "ff_error_W_must_be_1_to_256"),
    ("ff_select", {"DEVICES": 256}, "ff_error_DEVICES_must_be_1_to_255"),
    ("ff_select", {"INDEX": 255}, "ff_error_INDEX_must_be_0_to_254"),
    ("ff_select", {"MAX_BURST": 0}, "ff_error_MAX_BURST_must_be_1_to_65535"),
    ("ff_select", {"NONCE_W": 7}, "ff_error_NONCE_W_must_be_8_to_32"),
    ("ff_select", {"TRIGGER_SRL": 2}, "ff_error_TRIGGER_SRL_must_be_0_or_1"),
    ("ff_select", {"WITH_CROSS": 2}, "ff_error_WITH_CROSS_must_be_0_or_1"),
    ("ff_quad_lean", {"DEVICES": 256}, "ff_error_DEVICES_must_be_1_to_255"),
    ("ff_quad_lean", {"INDEX": 255}, "ff_error_INDEX_must_be_0_to_254"),
    ("ff_quad_lean", {"TIME_MASTER": 2}, "ff_error_TIME_MASTER_must_be_0_or_1"),
    ("ff_quad_lean", {"MAX_BURST": 0}, "ff_error_MAX_BURST_must_be_1_to_65535"),
    ("ff_quad_lean", {"NONCE_W": 7}, "ff_error_NONCE_W_must_be_8_to_32"),
    ("ff_quad_lean", {"POST_W": 6}, "ff_error_POST_W_must_be_7_to_32"),
    ("ff_quad_lean", {"COUNT_W": 11}, "ff_error_COUNT_W_must_be_log2_TAP_DEPTH_plus_1_to_32"),
    ("ff_quad_lean", {"TIME_W": 39}, "ff_error_TIME_W_must_be_40_to_64"),
    ("ff_quad_lean", {"TAP_DEPTH": 128}, "ff_error_TAP_DEPTH_must_be_a_power_of_two_from_256_to_16384"),
    ("ff_quad_lean", {"CROSS_LATENCY": 0}, "ff_error_CROSS_LATENCY_must_be_1_to_100000_and_fit_SINCE_W"),
    ("ff_quad", {"DEVICES": 0}, "ff_error_DEVICES_must_be_1_to_255"),
    ("ff_quad", {"INDEX": 255}, "ff_error_INDEX_must_be_0_to_254"),
    ("ff_quad", {"MAX_BURST": 65536}, "ff_error_MAX_BURST_must_be_1_to_65535"),
    ("ff_quad", {"POST_W": 33}, "ff_error_POST_W_must_be_1_to_32"),
    ("ff_quad", {"COUNT_W": 11}, "ff_error_COUNT_W_must_be_log2_TAP_DEPTH_plus_1_to_32"),
    ("ff_quad", {"TRIGGER_TERMS": 3}, "ff_error_TRIGGER_TERMS_must_be_1_or_2"),
    ("ff_quad", {"EVENT_FIFO": 66}, "ff_error_EVENT_FIFO_must_be_even_from_8_to_64"),
    ("ff_uart_rx", {"CYCLES": 7}, "ff_error_CYCLES_must_be_8_to_65535"),
    ("ff_uart_tx", {"CYCLES": 65536}, "ff_error_CYCLES_must_be_8_to_65535"),
    ("ff_uartbone", {"TIMEOUT": 255}, "ff_error_TIMEOUT_must_be_256_to_2147483647"),
    ("ff_tap_axi_stream", {"DATA_W": 65}, "ff_error_DATA_W_must_be_1_to_64"),
    ("ff_tap_axi_stream", {"HEADS": 16}, "ff_error_HEADS_must_be_0_to_15"),
    ("ff_tap_fifo", {"READ_LATENCY": 2}, "ff_error_READ_LATENCY_must_be_0_or_1"),
    ("ff_select", {"TAP_DEPTH": 128}, "ff_error_TAP_DEPTH_must_be_a_power_of_two_from_256_to_16384"),
    ("ff_quad", {"TAP_DEPTH": 3000}, "ff_error_TAP_DEPTH_must_be_a_power_of_two_from_256_to_16384"),
    ("ff_quad", {"EVENT_DEPTH": 100}, "ff_error_EVENT_DEPTH_must_be_0_or_a_power_of_two_from_256_to_16384"),
    ("ff_quad", {"EV_BUS": 15}, "ff_error_EV_BUS_and_EV_LINK_must_be_1_to_14"),
    ("ff_quad", {"COUNTERS": 8}, "ff_error_COUNTERS_must_be_0_or_32"),
    ("ff_nic_core", {"FLOWS": 129}, "ff_error_FLOWS_must_be_1_to_128"),
    ("ff_nic_core", {"BURST": 3}, "ff_error_BURST_must_be_4_to_512_and_half_the_FIFO_at_most"),
    ("ff_nic_core", {"TX_FIFO_LOG2": 9}, "ff_error_DEPTH_LOG2_must_be_10_to_15"),
    ("ff_nic_credits", {"FLOWS": 0}, "ff_error_FLOWS_must_be_1_to_128"),
    ("ff_nic_credits", {"CREDIT_W": 25}, "ff_error_CREDIT_W_must_be_10_to_24"),
    ("ff_nic_credits", {"CREDIT_UNIT": 65536}, "ff_error_CREDIT_UNIT_must_be_1_to_65535"),
    ("ff_nic_pcix", {"DEPTH_LOG2": 2}, "ff_error_DEPTH_LOG2_must_be_3_to_10"),
    ("ff_nic_link_side", {"FLOWS": 129}, "ff_error_FLOWS_must_be_1_to_128"),
    ("ff_nic_link_side", {"CREDIT_W": 9}, "ff_error_CREDIT_W_must_be_10_to_24"),
    ("ff_nic_link_side", {"CREDIT_UNIT": 0}, "ff_error_CREDIT_UNIT_must_be_1_to_65535"),
    ("ff_quad", {"RX_FIFO": 100}, "ff_error_RX_FIFO_must_be_a_power_of_two_from_16_to_32768"),
    ("ff_cdc_sync", {"W": 257}, "ff_error_W_must_be_1_to_256"),
    ("ff_cdc_held", {"W": 0}, "ff_error_W_must_be_1_to_256"),
    ("ff_time", {"MASTER": 2}, "ff_error_MASTER_must_be_0_or_1"),
    ("ff_time", {"PERIOD": 100}, "ff_error_PERIOD_must_be_a_power_of_two_from_64_to_16777216"),
    ("ff_time", {"TIME_W": 39}, "ff_error_TIME_W_must_be_40_to_64"),
    ("ff_cause_latch", {"POST_DRAIN": 3}, "ff_error_POST_DRAIN_must_be_a_power_of_two_from_2_to_1048576"),
    ("ff_cause_latch", {"DRAIN_ON": 2}, "ff_error_DRAIN_ON_must_be_0_or_1"),
    ("ff_cause_latch", {"SINCE_W": 10}, "ff_error_SINCE_W_must_be_log2_POST_DRAIN_plus_1_to_32"),
    ("ff_freeze", {"FAR": 0b11111}, "ff_error_MEMORIES_must_hold_those_of_FAR_and_one_more"),
    ("ff_freeze", {"MEMORIES": 0b00001}, "ff_error_MEMORIES_must_hold_those_of_FAR_and_one_more"),
    ("ff_freeze", {"CROSS_LATENCY": 0}, "ff_error_CROSS_LATENCY_must_be_1_to_100000_and_fit_SINCE_W"),
    ("ff_time_told", {"TIME_W": 65}, "ff_error_TIME_W_must_be_40_to_64"),
    ("ff_tap_recorder", {"ALL_KINDS": 2}, "ff_error_ALL_KINDS_must_be_0_or_1"),
    ("ff_tap_recorder", {"DEPTH": 2000}, "ff_error_DEPTH_must_be_a_power_of_two_from_16_to_16384"),
    ("ff_tap_recorder", {"POST_W": 33}, "ff_error_POST_W_must_be_1_to_32"),
    ("ff_tap_recorder", {"COUNT_W": 11}, "ff_error_COUNT_W_must_be_log2_DEPTH_plus_1_to_32"),
    ("ff_trace_memory", {"DEPTH": 8}, "ff_error_DEPTH_must_be_a_power_of_two_from_16_to_65536"),
    ("ff_event_log", {"SOURCES": 33}, "ff_error_SOURCES_must_be_1_to_32"),
    ("ff_event_log", {"PLACES": 5}, "ff_error_PLACES_must_be_even_from_4_to_256"),
    ("ff_trigger", {"TERMS": 3}, "ff_error_TERMS_must_be_1_or_2"),
    ("ff_trigger", {"COUNT_W": 0}, "ff_error_COUNT_W_must_be_1_to_32"),
    ("ff_trigger_steps", {"LIMIT_W": 33}, "ff_error_LIMIT_W_must_be_1_to_32"),
]  # fmt: skip


@pytest.mark.parametrize("top", ENDS)
def test_verilator_finds_nothing_at_either_end_of_the_parameters(top: str) -> None:
    assert linted(top, ENDS[top]) == ""


@pytest.mark.parametrize("top", ENDS)
def test_icarus_elaborates_it_without_a_word_as_it_is_and_at_either_end(top: str) -> None:
    assert elaborated(top, [{}, *ENDS[top]]) == ""


@pytest.mark.parametrize("top", dict.fromkeys(top for top, *_ in REFUSED))
def test_a_parameter_out_of_range_ends_elaboration_with_a_sentence(top: str) -> None:
    cases = [(parameters, sentence) for of, parameters, sentence in REFUSED if of == top]
    told = refusals(top, [parameters for parameters, _ in cases])
    for (parameters, sentence), said in zip(cases, told, strict=True):
        assert sentence in said, parameters


def test_every_module_says_what_a_user_must_know_of_it() -> None:
    """House rule: licence, latency, throughput, back-pressure, clock domains in the header; file = module."""
    for name, path in modules().items():
        text = path.read_text("utf-8")
        header = text[: text.index("`default_nettype none")]
        assert f"module {name}" in text, path
        assert LICENCE in header, path
        if name in ENDS:
            for word in ("Latency", "Throughput", "Back-pressure", "Clock domain"):
                assert word.lower() in header.lower(), f"{path.name}: {word}"
