"""The tables of TCP connections: a row for each, and its events."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from freezeframe.decoders.net.tcp import TCP
from freezeframe.decoders.run import decode_file
from tests.capture.packets import build
from tests.decoders.net.test_tcp_streams import answered, sent

_MS = 1_000_000


def tables(tmp_path: Path, *packets: bytes) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Return connections and events of packets that are a millisecond apart."""
    path = tmp_path / "x.pcap"
    path.write_bytes(build.pcap([(n * _MS, packet) for n, packet in enumerate(packets)], nano=True))
    connections, events = decode_file(path, ["tcp"])
    assert (connections.name, events.name) == ("tcp.connections", "tcp.events")
    return connections.table.to_pylist(), events.table.to_pylist()


def test_a_connection_is_a_row_with_what_went_each_way(tmp_path: Path) -> None:
    (row,), events = tables(
        tmp_path,
        sent(99, flags=build.SYN),
        answered(499, flags=build.SYN | build.ACK, ack=100),
        sent(100, ack=500),
        sent(100, b"x" * 1000, ack=500),
        sent(1100, b"y" * 1000, ack=500),
        answered(500, b"z" * 10, ack=2100),
        sent(2100, flags=build.FIN | build.ACK, ack=510),
        answered(510, flags=build.FIN | build.ACK, ack=2101),
    )
    assert events == []
    assert row["kind"] == "connection"
    assert (row["t_ps"], row["t_end_ps"]) == (0, 7 * 10**9)
    assert (row["src"], row["src_port"]) == ("10.0.0.1", 4000)
    assert (row["dst"], row["dst_port"]) == ("10.0.0.2", 80)
    assert (row["opened"], row["ended"], row["handshake_ps"]) == (
        "both SYN seen",
        "FIN both ways",
        2 * 10**9,
    )
    assert (row["packets_there"], row["stream_there_B"], row["payload_there_B"]) == (5, 2000, 2000)
    assert (row["packets_back"], row["stream_back_B"], row["wire_back_B"]) == (3, 10, 54 * 3 + 10)
    assert row["rate_there_bps"] == 2000 * 8 * 1000 // 6
    assert TCP.texts is not None
    assert TCP.texts(row).normal == (
        "#0 10.0.0.1:4000 -> 10.0.0.2:80: there 2000 B in 5 packets, 2.67 Mbit/s; back 10 B in 3 packets, "
        "0.0133 Mbit/s; FIN both ways, round trip 2 ms"
    )


def test_bytes_that_the_snap_length_cut_were_carried_too(tmp_path: Path) -> None:
    path = tmp_path / "x.pcap"
    whole = [sent(0, b"a" * 1000), sent(1000, b"b" * 1000), answered(1, b"c" * 10, ack=2000)]
    timed = [(n * _MS, packet) for n, packet in enumerate(whole)]
    path.write_bytes(build.pcap(timed, nano=True, snap=70))
    row = decode_file(path, ["tcp"])[0].table.to_pylist()[0]
    assert (row["stream_there_B"], row["cut_there_B"]) == (2 * 16, 2 * 984)
    assert row["rate_there_bps"] == 2000 * 8 * 1000
    assert TCP.texts is not None
    assert (
        "there 2000 B in 2 packets, 1968 B of them not captured, 16 Mbit/s; "
        in TCP.texts(row).normal
    )


def test_what_went_wrong_is_an_event_each(tmp_path: Path) -> None:
    (row,), events = tables(
        tmp_path,
        sent(0, b"abcd"),
        sent(0, b"abcd"),
        sent(0, b"abXd"),
        sent(8, b"ijkl"),
        answered(50, flags=build.RST),
    )
    assert [
        (e["kind"], e["error"], e["packet"], e["position"], e["length_B"], e["src"]) for e in events
    ] == [
        ("retransmission", "", 2, 0, 4, "10.0.0.1"),
        ("retransmission", "", 3, 0, 4, "10.0.0.1"),
        ("error", "differs", 3, 0, 4, "10.0.0.1"),
        ("gap", "", 5, 4, 4, "10.0.0.1"),
        ("reset", "", 5, 0, 0, "10.0.0.2"),
    ]
    assert (row["repeated_there"], row["repeated_bytes_there_B"], row["different_there"]) == (2, 8, 1)  # fmt: skip
    assert (row["early_there"], row["gaps_there"], row["lost_there_B"]) == (1, 1, 4)
    assert (row["ended"], row["resets_back"]) == ("reset", 1)
    assert TCP.texts is not None
    assert TCP.texts(events[2]).normal == (
        "#3 connection 0 10.0.0.1:4000 -> 10.0.0.2:80: 4 B sent again at byte 0 with other content"
    )
