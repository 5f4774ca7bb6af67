"""The recorder's modules at both ends of their parameters: Verilator, Icarus, and the sentence out of range."""

from __future__ import annotations

import pytest

from tests.rtl.linted import elaborated, linted, refusals
from tests.rtl.simulation import RTL

Parameters = dict[str, int | str]

ENDS: dict[str, list[Parameters]] = {
    "ff_cdc_sync": [{"W": 1}, {"W": 256}],
    "ff_cdc_edge": [{}],
    "ff_cdc_held": [{"W": 1}, {"W": 256}],
    "ff_time": [
        {"MASTER": 0, "PERIOD": 64, "TIME_W": 40},
        {"MASTER": 1, "PERIOD": 64, "TIME_W": 64},
        {"MASTER": 0, "PERIOD": 1 << 24, "TIME_W": 64},
        {"MASTER": 1, "PERIOD": 1 << 24, "TIME_W": 40},
    ],
    "ff_time_told": [{"TIME_W": 40}, {"TIME_W": 64}],
    "ff_time_line": [
        {"MASTER": 0, "PERIOD": 64, "TIME_W": 40},
        {"MASTER": 1, "PERIOD": 1 << 24, "TIME_W": 64},
    ],
    "ff_cause_latch": [
        {"POST_DRAIN": 2, "SINCE_W": 2},
        {"POST_DRAIN": 1 << 20, "SINCE_W": 32},
        {"DRAIN_ON": 0, "SINCE_W": 19},
    ],
    "ff_freeze": [
        {
            "MEMORIES": "5'd1",
            "FAR": "5'd0",
            "CROSS_LATENCY": 1,
            "POST_DRAIN": 2,
            "SINCE_W": 2,
        },
        {
            "MEMORIES": "5'd31",
            "FAR": "5'd6",
            "CROSS_LATENCY": 100_000,
            "POST_DRAIN": 1 << 20,
            "SINCE_W": 32,
        },
    ],
    "ff_freeze_remote": [{"POST_DRAIN": 2, "SINCE_W": 2}, {"POST_DRAIN": 1 << 20, "SINCE_W": 32}],
    "ff_freeze_lean": [
        {"CROSS_LATENCY": 1, "POST_DRAIN": 2, "SINCE_W": 2},
        {"CROSS_LATENCY": 100_000, "POST_DRAIN": 1 << 20, "SINCE_W": 32},
    ],
    "ff_freeze_single": [
        {"WITH_CROSS": 0, "CROSS_LATENCY": 1, "POST_DRAIN": 2, "SINCE_W": 2},
        {"CROSS_LATENCY": 100_000, "POST_DRAIN": 1 << 20, "SINCE_W": 32},
    ],
    "ff_tap_recorder": [
        {"DEPTH": 16, "POST_W": 1, "COUNT_W": 5},
        {"DEPTH": 16384},
        {"ALL_KINDS": 1},
    ],
    "ff_trace_memory": [{"DEPTH": 16}, {"DEPTH": 65536}],
    "ff_trace_memory_half": [{"DEPTH": 16}, {"DEPTH": 16384}],
    "ff_tap_select": [{}],
    "ff_event_log": [
        {"SOURCES": 1, "DEPTH": 16, "PLACES": 4, "POST_W": 1},
        {"SOURCES": 32, "DEPTH": 16384, "PLACES": 256, "POST_W": 32},
    ],
    "ff_trigger": [
        {"TERMS": 1, "WITH_EDGE": 0, "COUNT_W": 1, "LIMIT_W": 1},
        {"TERMS": 2, "WITH_EDGE": 0, "COUNT_W": 1, "LIMIT_W": 1},
        {"TERMS": 2, "WITH_EDGE": 1, "COUNT_W": 32, "LIMIT_W": 32},
    ],
    "ff_trigger_steps": [{"WITH_EDGE": 0, "WITH_SEQUENCE": 0, "COUNT_W": 1, "LIMIT_W": 1}, {}],
    "ff_trigger_srl": [{}],
    "ff_trigger_fill": [{}],
    "ff_trigger_table": [{}],
}

REFUSED: list[tuple[str, Parameters, str]] = [
    ("ff_cdc_sync", {"W": 257}, "ff_error_W_must_be_1_to_256"),
    ("ff_cdc_held", {"W": 0}, "ff_error_W_must_be_1_to_256"),
    ("ff_time", {"MASTER": 2}, "ff_error_MASTER_must_be_0_or_1"),
    ("ff_time", {"PERIOD": 100}, "ff_error_PERIOD_must_be_a_power_of_two_from_64_to_16777216"),
    ("ff_time", {"TIME_W": 39}, "ff_error_TIME_W_must_be_40_to_64"),
    (
        "ff_cause_latch",
        {"POST_DRAIN": 3},
        "ff_error_POST_DRAIN_must_be_a_power_of_two_from_2_to_1048576",
    ),
    ("ff_cause_latch", {"DRAIN_ON": 2}, "ff_error_DRAIN_ON_must_be_0_or_1"),
    ("ff_cause_latch", {"SINCE_W": 10}, "ff_error_SINCE_W_must_be_log2_POST_DRAIN_plus_1_to_32"),
    ("ff_freeze", {"FAR": 0b11111}, "ff_error_MEMORIES_must_hold_those_of_FAR_and_one_more"),
    ("ff_freeze", {"MEMORIES": 0b00001}, "ff_error_MEMORIES_must_hold_those_of_FAR_and_one_more"),
    (
        "ff_freeze",
        {"CROSS_LATENCY": 0},
        "ff_error_CROSS_LATENCY_must_be_1_to_100000_and_fit_SINCE_W",
    ),
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
]


@pytest.mark.parametrize("top", ENDS)
def test_verilator_and_icarus_find_nothing_at_either_end_of_the_parameters(top: str) -> None:
    assert linted(top, ENDS[top]) == ""
    assert elaborated(top, ENDS[top]) == ""


@pytest.mark.parametrize("top", dict.fromkeys(top for top, *_ in REFUSED))
def test_a_parameter_out_of_range_ends_elaboration_with_a_sentence(top: str) -> None:
    cases = [(parameters, sentence) for of, parameters, sentence in REFUSED if of == top]
    told = refusals(top, [parameters for parameters, _ in cases])
    for (parameters, sentence), said in zip(cases, told, strict=True):
        assert sentence in said, parameters


def test_every_header_says_latency_throughput_back_pressure_and_clock_domain() -> None:
    for name in ENDS:
        header = (RTL / f"{name}.v").read_text("utf-8").split("`default_nettype")[0]
        for word in (f"{name}: ", "Latency: ", "Throughput: ", "Back-pressure: ", "Clock domain"):
            assert word.lower() in " ".join(header.replace("//", "").lower().split()), (
                f"{name}: {word}"
            )
