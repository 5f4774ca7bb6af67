"""The recorder's modules at both ends of their parameters: what Verilator and Icarus say."""

from __future__ import annotations

import pytest

from tests.rtl.linted import elaborated, linted
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


@pytest.mark.parametrize("top", ENDS)
def test_verilator_and_icarus_find_nothing_at_either_end_of_the_parameters(top: str) -> None:
    assert linted(top, ENDS[top]) == ""
    assert elaborated(top, ENDS[top]) == ""


def test_every_header_says_latency_throughput_back_pressure_and_clock_domain() -> None:
    for name in ENDS:
        header = (RTL / f"{name}.v").read_text("utf-8").split("`default_nettype")[0]
        for word in (f"{name}: ", "Latency: ", "Throughput: ", "Back-pressure: ", "Clock domain"):
            assert word.lower() in " ".join(header.replace("//", "").lower().split()), (
                f"{name}: {word}"
            )
