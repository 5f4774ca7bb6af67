"""Packets explained: the first rule that was broken on a connection, what came after it, how the peer answered."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import freezeframe as ff
from freezeframe.analyzers.iwarp.explain import PacketExplanation, explain_packets
from freezeframe.capture.packets.file import open_packets
from tests.decoders.iwarp.breaches import break_stream
from tests.decoders.iwarp.make import make_stream
from tests.gui.cli import run_inside


def _written(path: Path, name: str, seed: int) -> Path:
    path.write_bytes(break_stream(name, seed)[0].pcap())
    return path


def test_a_legal_capture_has_no_finding_and_its_operations_are_counted(tmp_path: Path) -> None:
    capture, truth = make_stream(1)
    (tmp_path / "legal.pcap").write_bytes(capture.pcap())
    made = explain_packets(tmp_path / "legal.pcap")
    assert made.findings == []
    assert (made.packets, made.fpdus) == (len(capture.packets), len(truth.fpdus))
    assert sum(made.operations.values()) == len(truth.operations)


@pytest.mark.parametrize("name", ["mpa-crc", "ddp-msn", "rdmap-response-to"])
def test_a_broken_rule_is_the_finding_at_its_packet(tmp_path: Path, name: str) -> None:
    capture, truth = break_stream(name, 3)
    (tmp_path / "x.pcap").write_bytes(capture.pcap())
    (finding,) = explain_packets(tmp_path / "x.pcap").findings
    breach = truth.breaches[0]
    assert breach.fpdu is not None
    assert (finding.first.rule, finding.first.severity) == (name, "error")
    assert finding.first.packet == truth.fpdus[breach.fpdu].packet


def test_the_terminate_of_the_peer_is_compared_with_the_one_the_rfc_asks_for(
    tmp_path: Path,
) -> None:
    (finding,) = explain_packets(_written(tmp_path / "crc.pcap", "mpa-crc", 3)).findings
    assert finding.answer is not None
    assert (finding.answer.packet, finding.answer.says) == (1410, (2, 0, 2))
    assert finding.answer_text.endswith("about FPDU 6 of the other side, as the RFC asks")
    assert finding.first.text.endswith("octets in the other order")


def test_a_terminate_without_a_rule_that_is_seen_broken_is_told(tmp_path: Path) -> None:
    capture, _ = break_stream("mpa-crc", 3)
    del capture.packets[1378]  # the one with the wrong CRC
    (tmp_path / "cut.pcap").write_bytes(capture.pcap())
    made = explain_packets(tmp_path / "cut.pcap")
    assert made.findings == []
    (said,) = made.terminates
    assert said.startswith("MPA: CRC") and said.endswith("in packet 1409")
    assert f"and yet there is a Terminate: {said}." in made.nothing_broken
    assert said in run_inside("explain", str(tmp_path / "cut.pcap")).out.replace("\n", " ")
    ff.report(tmp_path / "cut.pcap", tmp_path / "cut.html")
    assert "and yet there is a Terminate" in (tmp_path / "cut.html").read_text()


def test_the_tables_are_pandas_frames_also_where_rules_share_a_clause(tmp_path: Path) -> None:
    path = _written(tmp_path / "crc.pcap", "mpa-crc", 3)
    events = ff.decode(path, "iwarp")["iwarp.events"]
    assert list(zip(events["error"], events["clause"], events["terminate"], strict=True))[:1] == [
        ("mpa-crc", "RFC 5044, 4.4", "2.0.02")
    ]
    found = run_inside("decode", str(path), "-d", "iwarp:fpdus=no", "--where", "error == mpa-crc")
    assert (found.code, found.out.count("mpa-crc")) == (0, 1)


def test_the_verb_prints_the_finding_and_fails_on_it_when_asked(tmp_path: Path) -> None:
    path = str(_written(tmp_path / "crc.pcap", "mpa-crc", 3))
    done = run_inside("explain", path, "--fail-on-findings")
    assert done.code == 1
    assert "1. mpa-crc (error) by" in done.out
    found = json.loads(run_inside("explain", path, "--json").out)
    assert [each["rule"] for each in found["findings"]] == ["mpa-crc"]
    assert found["findings"][0]["clause"] == "RFC 5044, 4.4"


def test_python_explains_a_path_of_packets(tmp_path: Path) -> None:
    made = ff.explain(_written(tmp_path / "crc.pcap", "mpa-crc", 3))
    assert isinstance(made, PacketExplanation)
    assert [finding.first.rule for finding in made.findings] == ["mpa-crc"]


def test_a_device_is_refused_for_packets(tmp_path: Path) -> None:
    path = str(_written(tmp_path / "crc.pcap", "mpa-crc", 3))
    done = run_inside("explain", path, "--device", "A")
    assert done.code == 2
    assert "are for captures of cards" in done.err


def test_the_export_has_the_same_packets_and_a_comment_on_the_bad_one(tmp_path: Path) -> None:
    path = _written(tmp_path / "crc.pcap", "mpa-crc", 3)
    place = tmp_path / "commented.pcapng"
    done = run_inside("export", str(path), "--to", "pcapng", "-o", str(place))
    assert (done.code, "comments: 2" in done.out) == (0, True)
    with open_packets(path) as before, open_packets(place) as after:
        one = [(b.packet(i), int(b.wire_B[i])) for b in before for i in range(len(b))]
        other = [(b.packet(i), int(b.wire_B[i])) for b in after for i in range(len(b))]
        assert one == other
        assert before.epoch_ns == after.epoch_ns
    assert b"mpa-crc: CRC 0x0dc04dab, expected 0xab4dc00d" in place.read_bytes()


def test_the_export_takes_comments_of_iwarp_alone(tmp_path: Path) -> None:
    path = _written(tmp_path / "crc.pcap", "mpa-crc", 3)
    done = run_inside(
        "export", str(path), "-d", "tcp", "--to", "pcapng", "-o", str(tmp_path / "x.pcapng")
    )
    assert done.code == 2
    assert "-d tcp: packets are written as pcapng with the comments of iwarp" in done.err
