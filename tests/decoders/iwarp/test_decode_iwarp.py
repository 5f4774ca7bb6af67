"""The iWARP decoder on generated streams: legal ones, one breach each, and captures that lost packets."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from freezeframe.capture.packets.file import open_packets
from freezeframe.decoders.contract import OptionValues
from freezeframe.decoders.iwarp.iwarp import IWARP
from freezeframe.decoders.iwarp.iwarp_code import IwarpState, decode_iwarp
from freezeframe.decoders.iwarp.rules import RULES
from tests.decoders.iwarp.breaches import NAMES, break_stream
from tests.decoders.iwarp.bulk import write_bulk
from tests.decoders.iwarp.compare import (
    breach_differences,
    breaches_found,
    decode,
    decode_file,
    found_whole,
    fpdu_differences,
    operation_differences,
    source_of,
    strays,
    unfounded,
)
from tests.decoders.iwarp.damage import DAMAGE as KINDS
from tests.decoders.iwarp.damage import damaged
from tests.decoders.iwarp.make import make_stream
from tests.decoders.iwarp.packets import Capture, Packing, build
from tests.decoders.iwarp.truth import complete
from tests.gui.cli import run_inside


def _legal(seed: int, path: Path, **fixed: Any) -> None:
    """See that a legal capture is decoded whole, and nothing is found in it."""
    capture, truth = make_stream(seed, **fixed)
    tables = decode(capture, path)
    assert [row["text"] for row in breaches_found(tables)] == []
    assert fpdu_differences(tables, truth) == []
    assert operation_differences(tables, truth) == []


@pytest.mark.parametrize("seed", range(12))
def test_a_legal_capture_is_decoded_field_by_field_and_nothing_is_found(
    seed: int, tmp_path: Path
) -> None:
    _legal(seed, tmp_path / "x.pcap")


@pytest.mark.parametrize("how", ["aligned", "several", "straddle", "octets"])
@pytest.mark.parametrize("markers", [(False, False), (True, False), (False, True), (True, True)])
def test_fpdus_are_found_in_every_packing_with_markers_in_either_direction(
    how: str, markers: tuple[bool, bool], tmp_path: Path
) -> None:
    fixed: dict[str, Any] = {
        "messages": 6 if how == "octets" else 20,
        "mulpdu_B": 700,
        "largest_B": 1500,
    }
    fixed |= {"revision": 1, "reject": False, "wants_markers": markers}
    _legal(3, tmp_path / "x.pcap", connections=1, packing=Packing(how, 1448, 0.05, 0.05), **fixed)


def test_the_longest_ulpdu_is_decoded(tmp_path: Path) -> None:
    fixed: dict[str, Any] = {
        "mulpdu_B": 64_768,
        "largest_B": 200_000,
        "messages": 30,
        "reject": False,
    }
    _legal(5, tmp_path / "x.pcap", connections=1, **fixed)


@pytest.mark.parametrize("name", NAMES)
def test_a_breach_is_found_where_it_stands_by_its_name_and_no_other(
    name: str, tmp_path: Path
) -> None:
    for seed in range(2):
        capture, truth = break_stream(name, seed)
        assert breach_differences(decode(capture, tmp_path / "x.pcap"), truth) == [], seed


def test_an_event_says_clause_severity_and_the_terminate_of_a_receiver(tmp_path: Path) -> None:
    capture, _ = break_stream("ddp-queue", 1)
    (event,) = breaches_found(decode(capture, tmp_path / "x.pcap"))
    rule = next(rule for rule in RULES if rule.name == "ddp-queue")
    assert (event["kind"], event["clause"], event["terminate"]) == ("error", rule.clause, "1.2.01")


LONG: dict[str, Any] = {
    "connections": 1, "reject": False, "messages": 60, "largest_B": 3000, "mulpdu_B": 1430, "revision": 1,
    "streaming_B": (0, 0), "ending": "close", "wants_crc": (True, True), "calm": True,
}  # fmt: skip


def _late(seed: int, capture: Capture) -> Capture:
    """Return the capture without its beginning."""
    return capture.without(range(1, random.Random(seed).randint(4, len(capture.packets) // 2)))


def _lossy(seed: int, capture: Capture) -> Capture:
    """Return the capture without three of its packets."""
    return capture.without(random.Random(seed).sample(range(6, len(capture.packets)), 3))


def _cut(seed: int, capture: Capture) -> Capture:
    """Return the capture with packets cut to 160 octets."""
    return replace(capture, snap=160 + seed)


DAMAGE = {"late": _late, "lossy": _lossy, "cut": _cut}


@pytest.mark.parametrize("markers", [False, True])
@pytest.mark.parametrize("how", ["late", "lossy"])
def test_fpdus_are_found_again_behind_what_a_capture_has_not(
    how: str, markers: bool, tmp_path: Path
) -> None:
    found = there = 0
    for seed in range(8):
        capture, truth = make_stream(seed, wants_markers=(markers, markers), **LONG)
        capture = DAMAGE[how](seed, capture)
        complete(capture, truth)
        tables = decode(capture, tmp_path / "x.pcap")
        assert strays(tables, truth) == [], seed
        counts = found_whole(tables, truth)
        found, there = found + counts[0], there + counts[1]
    assert found >= 0.9 * there


@pytest.mark.parametrize("markers", [False, True])
@pytest.mark.parametrize("how", ["late", "lossy", "cut"])
def test_nothing_is_found_in_a_legal_capture_that_lost_packets(
    how: str, markers: bool, tmp_path: Path
) -> None:
    for seed in range(12):
        capture, truth = make_stream(seed, wants_markers=(markers, markers), **LONG)
        tables = decode(DAMAGE[how](seed, capture), tmp_path / "x.pcap")
        assert [row["text"] for row in breaches_found(tables)] == [], seed
        assert strays(tables, truth) == [], seed


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_nothing_is_found_in_a_legal_capture_whatever_was_done_to_it(
    kind: str, tmp_path: Path
) -> None:
    for seed in range(5):
        capture, truth = make_stream(500 + seed)
        capture = KINDS[kind](random.Random(seed), capture, truth)
        tables = decode(capture, tmp_path / "x.pcap")
        assert unfounded(tables, truth) == [], seed
        assert strays(tables, truth) == [], seed


def test_a_breach_in_a_damaged_capture_is_found_where_it_stands_or_not_at_all(
    tmp_path: Path,
) -> None:
    found = 0
    for seed, name in enumerate(NAMES):
        capture, truth = break_stream(name, 100)
        how, capture = damaged(seed, capture, truth)
        complete(capture, truth)
        if truth.breaches[0].fpdu is None:  # no packet completes it
            truth.breaches[0].packet = 0
        tables = decode(capture, tmp_path / "x.pcap")
        assert unfounded(tables, truth) == [], (name, how)
        found += any(row["error"] == name for row in tables["events"])
    assert found >= len(NAMES) // 4


def test_octets_that_come_one_a_packet_keep_their_packets_when_they_are_held(
    tmp_path: Path,
) -> None:
    capture, truth = break_stream("ddp-message-length", 0)
    single = []
    for packet in capture.packets:
        for place, octet in enumerate(packet.data):
            one = replace(packet, position=packet.position + place, data=bytes([octet]))
            one.frame = build(one, truth.connections[one.connection].ends)
            single.append(one)
    capture = replace(capture, packets=single)
    complete(capture, truth)
    tables = decode(capture, tmp_path / "x.pcap")
    sent: dict[tuple[str, bytes], set[int]] = {}
    for fpdu in truth.fpdus:
        source = source_of(truth, fpdu.connection, fpdu.side)
        sent.setdefault((source, fpdu.payload), set()).add(fpdu.packet)
    whole = [row for row in tables["fpdus"] if row["verdict"] != "cut"]
    assert len(whole) > 2
    for row in whole:
        assert row["packet"] in sent[row["source"], row["payload"]], row


def test_rows_that_were_handed_on_stay_as_they_are(tmp_path: Path) -> None:
    capture, _ = make_stream(1, connections=1, reject=False, messages=4)
    path = tmp_path / "x.pcap"
    path.write_bytes(capture.pcap())
    options = OptionValues(IWARP.options, {})
    state = IwarpState(options)
    with open_packets(path) as file:
        (block,) = file
    fpdus = []
    for at in range(len(block)):  # a packet at a time: tables of one row
        one = {
            name: getattr(block, name)[at : at + 1]
            for name in ("offset", "length", "wire_B", "t_ps")
        }
        kinds = {name: getattr(block, name)[at : at + 1] for name in ("linktype", "interface")}
        piece = replace(block, **one, **kinds, first=block.first + at, flags=None)
        fpdus.append(decode_iwarp(piece, options, state, False)["iwarp.fpdus"])
    numbers = [number for table in fpdus for number in table["number"].to_pylist()]
    assert len(numbers) > 3
    assert numbers == list(range(1, len(numbers) + 1))


def test_twenty_thousand_fpdus_pass_without_a_finding(tmp_path: Path) -> None:
    for seed in range(2):
        made, payload_B = write_bulk(tmp_path / "x.pcap", 20_000, seed, chunk=400)
        tables = decode_file(tmp_path / "x.pcap", payload=False)
        assert tables["events"].num_rows == 0
        assert tables["fpdus"].num_rows == made
        assert sum(tables["fpdus"]["payload_B"].to_pylist()) == payload_B


def test_the_command_line_prints_a_breach(tmp_path: Path) -> None:
    capture, _ = break_stream("rdmap-opcode", 1)
    path = tmp_path / "x.pcap"
    path.write_bytes(capture.pcap())
    outcome = run_inside("decode", str(path), "-d", "iwarp")
    assert outcome.code in (0, 1)
    assert "rdmap-opcode" in outcome.out or "is reserved" in outcome.out
