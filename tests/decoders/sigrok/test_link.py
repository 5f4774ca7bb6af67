"""Our decoders ``8b10b`` and ``ff_link`` inside sigrok-cli give what the native ones give on the same files.

The sigrok library does not say where a capture ends: the last runs, and what they complete, are not there.
"""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from freezeframe.capture.files.edges import Edges
from freezeframe.capture.files.sigrok_sr_writer import write_sr
from freezeframe.capture.registers.layouts import PacketType
from freezeframe.decoders.link.bonded import BONDED
from freezeframe.decoders.link.link import LINK
from freezeframe.decoders.link.symbols import EIGHT_TEN
from freezeframe.decoders.registry import Registry
from freezeframe.decoders.run import decode_file
from freezeframe.decoders.trace.encode import credit_word, packet_words
from tests.decoders.link.line_model import damaged, draw, line_bits, random_symbols
from tests.decoders.link.link_model import draw_lanes, lanes, send, side_by_side
from tests.decoders.serial.sigrok_reference import sigrok_annotations

REGISTRY = Registry({"8b10b": EIGHT_TEN, "bonded": BONDED, "link": LINK})
FOLDER = Path(__file__).parents[3] / "decoders" / "sigrok"
RATE_HZ = 10**9


@pytest.fixture(autouse=True)
def _our_decoders(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SIGROKDECODE_DIR", str(FOLDER))


def rows(path: Path, *specs: str) -> dict[str, list[dict[str, Any]]]:
    return {d.name: d.table.to_pylist() for d in decode_file(path, specs, registry=REGISTRY)}


def symbol(row: dict[str, Any]) -> str:
    if row["error"] == "code":
        return "code error"
    if row["error"]:
        return f"{row['symbol']} disparity error"
    return f"{row['symbol']} 0x{row['byte']:02X}"


def word(row: dict[str, Any]) -> str:
    text = f"{row['kind']} {row['data'] & (1 << 64) - 1:016X}"
    return f"{text} bad bytes {row['bad']:02X}" if row["bad"] else text


def same_but_the_end(ours: list[Any], theirs: list[Any], missing: int) -> None:
    assert len(theirs) > 0
    assert ours[: len(theirs)] == theirs
    assert len(ours) - len(theirs) <= missing


@pytest.mark.parametrize("seed", range(4))
def test_symbols_and_events_of_damaged_lanes(tmp_path: Path, seed: int) -> None:
    rng = np.random.default_rng(seed)
    bits = line_bits(random_symbols(rng, 600, 12))
    bits = damaged(bits, rng, 12 * (seed % 2), 4 * (seed % 2))
    bits = bits[:2000] + "1" * 40 * (seed // 2) + bits[2000:]
    samples_a_bit = (4, 4.3, 3, 10)[seed]
    path = tmp_path / "lane.sr"
    write_sr(replace(draw(bits, samples_a_bit), channels=("data",)), path)
    options = f"bitrate={round(RATE_HZ / samples_a_bit)},realign={('lost', 'always')[seed % 2]}"
    made = rows(path, f"8b10b:{options}")
    spec = f"8b10b:data=data:{options.replace(',', ':')}"
    ours = [(row["sample"], symbol(row)) for row in made["8b10b.symbols"]]
    theirs = [(a.begin, a.text) for a in sigrok_annotations(path, spec, "8b10b=data:control:error")]
    same_but_the_end(ours, theirs, 2)
    events = [(row["sample"], f"{row['code']} {row['value']}") for row in made["8b10b.events"]]
    found = [(a.begin, a.text) for a in sigrok_annotations(path, spec, "8b10b=event")]
    same_but_the_end(sorted(events), sorted(found), 2)


@pytest.mark.parametrize("edge", ["rising", "both"])
def test_symbols_with_a_clock(tmp_path: Path, edge: str) -> None:
    bits = line_bits(random_symbols(np.random.default_rng(9), 200, 12))
    data = np.repeat([int(bit) for bit in bits], 4)
    at = np.arange(len(data))
    clock = (at + 2) // 4 & 1 if edge == "both" else at // 2 & 1  # it takes a bit in its middle
    value = (data | clock << 1).astype(np.uint64)
    keep = np.concatenate(([True], value[1:] != value[:-1]))
    edges = Edges(np.flatnonzero(keep), value[keep], ("data", "clk"), RATE_HZ, 0, len(value))
    path = tmp_path / "lane.sr"
    write_sr(edges, path)
    ours = rows(path, f"8b10b:clock_edge={edge}")["8b10b.symbols"]
    spec = f"8b10b:data=data:clk=clk:clock_edge={edge}"
    theirs = sigrok_annotations(path, spec, "8b10b=data:control:error")
    same_but_the_end([symbol(row) for row in ours], [a.text for a in theirs], 2)


@pytest.mark.parametrize("seed", range(4))
def test_words_packets_and_events_of_a_link(tmp_path: Path, seed: int) -> None:
    rng = np.random.default_rng(seed)
    units: list[list[int]] = []
    for seq in range(30):
        payload = rng.integers(0, 1 << 63, int(rng.integers(12)), np.int64).tolist()
        units.append(
            [word for _, word in packet_words(PacketType.RDMA_WRITE, 5, seq, 64 * seq, payload)]
        )
        units.append([credit_word(int(rng.integers(128)), 7 * seq)])
    columns = send(units, rng.choice([-1, 1, 2, 3], 60).tolist())
    both = [damaged(bits, rng, 6 * (seed % 2), seed // 2) for bits in lanes(columns)]
    path = tmp_path / "link.sr"
    drawn = draw_lanes(*side_by_side(both[0], both[1], int(rng.integers(-90, 90))))
    write_sr(drawn.select(["L0", "L1"]), path)
    lane = "lane0=L0,lane1=L1,bitrate=250000000"
    made = rows(path, f"bonded:{lane}", f"bonded:{lane}+link")
    spec = f"ff_link:{lane.replace(',', ':')}"

    said = sigrok_annotations(path, spec, "ff_link")
    ours = [(row["sample"], word(row)) for row in made["bonded.words"] if row["kind"] != "error"]
    theirs = [(a.begin, a.text) for a in said if re.match(r"[A-Z]+ [0-9A-F]{16}", a.text)]
    same_but_the_end(ours, theirs, 12)

    where = {0: "lane 0", 1: "lane 1", -1: "link"}
    told = [
        (row["sample"], f"{where[row['lane']]}: {row['code']} {row['value']}")
        for row in made["bonded.lane_events"]
    ]
    found = [(a.begin, a.text) for a in said if re.match(r"(lane \d|link): ", a.text)]
    same_but_the_end(sorted(told), sorted(found), 4)

    packets = [
        f"{row['kind']} #{row['seq']} flow {row['flow']} length {row['length']}"
        for row in made["bonded+link.packets"]
    ]
    same_but_the_end(packets, [a.text for a in said if " #" in a.text], 1)
    credits = [
        f"credit flow {row['flow']} freed {row['freed']}" for row in made["bonded+link.credits"]
    ]
    same_but_the_end(credits, [a.text for a in said if a.text.startswith("credit ")], 1)
    errors = [
        f"sequence {row['value']}" if row["code"] == "sequence" else row["code"]
        for row in made["bonded+link.errors"]
        if row["code"] != "stray-words"
    ]
    wrong = re.compile(r"(sequence \d+|(bad|no|short|cut)-\w+)")
    found_errors = [a.text for a in said if wrong.fullmatch(a.text)]
    if errors:
        same_but_the_end(errors, found_errors, 3)
    else:
        assert found_errors == []
