"""Taps that keep parts of packets, in a device that ``card build`` wrote: what they hold, and what is told of it."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest

import freezeframe as ff
from freezeframe.capture.folder.card_folder import CardFolder
from freezeframe.decoders.tap.tables import packet_tables
from tests.gui.cli import run_inside
from tests.rtl.card.test_card_device import bench_of, running, told

LOST_B = 1238  # bench_brief.cpp: frames of this length are lost, and no others


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the bench of the card brief; return the program."""
    folder = tmp_path_factory.mktemp("brief")
    return bench_of("brief", "bench_brief.cpp", folder, "-CFLAGS", "-O0")


def test_2048_records_hold_a_thousand_packets_and_a_drop_among_them_is_named_at_taps_of_any_store_and_width(
    bench: Path, tmp_path: Path
) -> None:
    capture = str(tmp_path / "brief.ff")
    with running(bench, 5) as url:
        told(run_inside("arm", url, "--discard"))
        for _ in range(600):
            (device,) = json.loads(told(run_inside("status", url, "--json")))["devices"]
            if all(memory["wrapped"] for memory in device["memories"].values()):
                break
            time.sleep(0.1)
        told(run_inside("pull", url, "-o", capture, "--freeze"))
    folder = ff.open(capture)
    assert isinstance(folder, CardFolder)
    lengths_B = {
        name.removeprefix("A."): [row["wire_B"] for row in table.to_pylist() if row["kind"] == "packet"]
        for name, table in packet_tables(folder)
    }  # fmt: skip
    assert min(len(lengths_B[tap]) for tap in ("in_sums", "out_sums", "out_wide")) >= 1000
    (device,) = json.loads(told(run_inside("explain", capture, "--json")))["devices"]
    named = {f["direction"]: f for f in device["findings"]}
    assert set(named) == {
        "in_sums -> out_sums", "in_whole -> out_sums", "in_sums -> out_wide", "in_heads -> out_wide",
    }  # fmt: skip
    for finding in named.values():
        assert finding["diagnosis"] == "packet-dropped"
        first = finding["direction"].partition(" ")[0]
        assert lengths_B[first][finding["packet"]] == LOST_B
