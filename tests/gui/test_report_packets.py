"""The report of packets: the verdict, the time line, connections; whole in a browser and without one."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import freezeframe as ff
from freezeframe.analyzers.packets.activity import packet_activity
from freezeframe.analyzers.packets.reduced import Summed
from freezeframe.analyzers.packets.survey import survey_packets
from freezeframe.gui.desktop.progress import Progress
from freezeframe.gui.desktop.sources.packets import load_packets
from freezeframe.gui.plots.track_lanes import lane_of
from freezeframe.gui.report.packet_lanes import activity_lanes
from freezeframe.gui.report.packet_write import chosen_connections, packet_report
from freezeframe.gui.tracks.packets import sums_track
from freezeframe.gui.tracks.tracks import SliceTrack
from tests.capture.packets import build
from tests.decoders.iwarp.breaches import break_stream
from tests.gui.browser import dump_dom, screenshot
from tests.gui.cli import refusal, run_inside
from tests.gui.test_report import read
from tests.gui.test_report_browser import picture


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("packets") / "crc <b>.pcap"
    path.write_bytes(break_stream("mpa-crc", 3)[0].pcap())
    return path


@pytest.fixture(scope="module")
def html(source: Path) -> str:
    return packet_report(source)[0]


def test_the_top_says_which_rule_who_broke_it_and_how_the_peer_answered(html: str) -> None:
    top = html[: html.index("</dl>")]
    assert "<h1>mpa-crc, by [2001:db8::32b:1eb6:6245]:55167</h1>" in top
    assert "octets in the other order (RFC 5044, 4.4)" in top
    assert (
        "packet 1410: Terminate: MPA: CRC, about FPDU 6 of the other side, as the RFC asks" in top
    )
    assert "2020-02-27 15:17:31.759512 UTC" in top


def test_both_ends_have_lanes_for_operations_fpdus_rules_and_tcp(html: str) -> None:
    labels = re.findall(r">((?:initiator|responder) \w+)</text>", html)
    assert set(labels) == {f"{who} {what}" for who in ("initiator", "responder")
                           for what in ("operations", "FPDUs", "rules", "TCP")}  # fmt: skip
    assert html.count('class="bad"') >= 2  # the bar of the FPDU, and its row
    assert "retransmission" in html


def test_the_lanes_of_the_report_are_the_tracks_of_the_window(source: Path) -> None:
    survey = survey_packets(source)
    chosen = chosen_connections(survey)
    activity = packet_activity(source, survey, [each.number for each in chosen], most=400, near=40)
    lanes = {lane.name: lane for lane in activity_lanes(activity, chosen)}
    tracks = {track.name: track for track in load_packets("1", source, Progress()).tracks}
    for what in ("operations", "rules", "TCP"):
        for role in ("initiator", "responder"):
            lane, track = lanes[f"{role} {what}"], tracks[f"{role} {what}"]
            assert isinstance(track, SliceTrack) and lane.tip == track.note
            drawn = lane_of(track)
            assert (lane.bars, lane.ticks) == (drawn.bars, drawn.ticks)
            assert set(lane.legend) == set(drawn.legend)


def test_rows_that_are_too_many_are_summed_and_the_colour_is_that_of_the_most() -> None:
    stretches = [Summed(0, 10, {"Write": 3, "Read": 1}), Summed(20, 30, {"Read": 2000})]
    said = {"key": "1/packets/0/0/operations", "name": "initiator operations"}
    track = sums_track("iwarp.operations", stretches, said)
    assert (
        track is not None and track.t_ps.tolist() == [0, 20] and track.t_end_ps.tolist() == [10, 30]
    )
    assert [track.label_of(item) for item in (0, 1)] == ["1 Read, 3 Write", "2,000 Read"]
    assert [track.roles[track.colour[item]] for item in (0, 1) if track.colour is not None] == [
        "a",
        "b",
    ]
    rules = sums_track("iwarp.events", [Summed(0, 10, {"mpa-crc": 500})], said)
    assert rules is not None and rules.roles == ("warn",)
    assert sums_track("tcp.events", [], said) is None


def test_it_is_one_well_formed_file_in_which_a_name_is_no_markup(html: str) -> None:
    page = read(html)
    ids = [attrs["id"] for _, attrs in page.elements if "id" in attrs]
    assert len(ids) == len(set(ids))
    links = {attrs["href"] for tag, attrs in page.elements if tag == "a"}
    assert links <= {f"#{name}" for name in ids}
    assert "b" not in {tag for tag, _ in page.elements}


def test_the_verb_writes_it_and_names_the_rule(source: Path, tmp_path: Path) -> None:
    place = tmp_path / "r.html"
    done = run_inside("report", str(source), "-o", str(place), "--json")
    assert (done.code, '"findings": [\n    "mpa-crc"' in done.out) == (0, True)
    assert run_inside("report", str(source), "-o", str(place)).code == 2
    assert ff.report(source, place, overwrite=True) == place


def test_a_capture_without_iwarp_has_its_connections(tmp_path: Path) -> None:
    ends = ("10.0.0.1", 7000), ("10.0.0.2", 80)
    packets = [
        build.tcp(*ends, 0, b"a" * 100),
        build.tcp(*ends, 0, b"a" * 100),
        build.tcp(*ends, 300, b"b" * 10),
    ]
    timed = [(10**6 * at, build.ethernet(packet)) for at, packet in enumerate(packets)]
    (tmp_path / "web.pcap").write_bytes(build.pcap(timed))
    text, broken = packet_report(tmp_path / "web.pcap")
    assert broken == []
    assert "<h1>No iWARP in 3 packets</h1>" in text
    assert "1 TCP connection: 1 segment sent again, 1 hole in the streams." in text
    assert "200 B in 1" in text


def test_a_capture_without_a_packet_has_a_report(tmp_path: Path) -> None:
    (tmp_path / "none.pcap").write_bytes(build.pcap([]))
    assert "There is no TCP connection." in packet_report(tmp_path / "none.pcap")[0]


def test_what_can_be_read_only_once_is_refused_with_the_way_out(tmp_path: Path) -> None:
    said = refusal("report", "-", "-o", str(tmp_path / "r.html"))
    assert "reads its packets twice; write them to a file first" in said


def test_the_capture_itself_is_never_replaced(source: Path) -> None:
    before = source.read_bytes()
    assert "is the capture itself" in refusal("report", str(source), "-o", str(source), "--force")
    assert source.read_bytes() == before


def test_a_browser_draws_and_zooms_it(html: str, tmp_path: Path) -> None:
    (tmp_path / "r.html").write_text(html)
    document = dump_dom(tmp_path / "r.html", tmp_path / "home")
    assert 'data-enhanced="3"' in document  # around the finding, the whole, throughput
    screenshot(tmp_path / "r.html", tmp_path / "home", tmp_path / "s.png", 1200, 1400)
    width, rows = picture(tmp_path / "s.png")
    assert width == 1200
    assert rows > 300
