"""`freezeframe decode` of packets: as text, JSON and Parquet, from files and pipes, and what is refused."""

from __future__ import annotations

import json
import os
import signal
import socket
import struct
import subprocess
import sys
import time
from pathlib import Path

import pytest
from pyarrow.parquet import read_table

from freezeframe.decoders.api import decode
from tests.capture.packets import build
from tests.decoders.net.test_tcp_streams import answered, sent
from tests.gui.cli import process_environment, refusal, run_inside

T_NS = 1_700_000_000 * 10**9


def small(path: Path) -> Path:
    packets = [sent(0, b"ab"), answered(7, b"c", ack=2), sent(0, b"ab")]
    path.write_bytes(build.pcap([(T_NS + n * 1000, packet) for n, packet in enumerate(packets)]))
    return path


def test_rows_are_printed_one_a_line(tmp_path: Path) -> None:
    file = small(tmp_path / "x.pcap")
    done = run_inside("decode", str(file), "-d", "ethernet")
    assert done.code == 0
    assert done.out.splitlines() == [
        "                 0 s  #1 10.0.0.1:4000 -> 10.0.0.2:80: TCP A seq 0 ack 0, 2 B of data, 56 B",
        "          0.000001 s  #2 10.0.0.2:80 -> 10.0.0.1:4000: TCP A seq 7 ack 2, 1 B of data, 55 B",
        "          0.000002 s  #3 10.0.0.1:4000 -> 10.0.0.2:80: TCP A seq 0 ack 0, 2 B of data, 56 B",
    ]
    done = run_inside("decode", str(file), "-d", "tcp")
    assert [line[22:80].rstrip() for line in done.out.splitlines()] == [
        "events        #3 connection 0 10.0.0.1:4000 -> 10.0.0.2:80",
        "connections   #0 10.0.0.1:4000 -> 10.0.0.2:80: there 2 B i",
    ]


def test_json_is_the_document_of_every_other_capture(tmp_path: Path) -> None:
    file = small(tmp_path / "x.pcap")
    document = json.loads(
        run_inside("decode", str(file), "-d", "tcp", "-d", "ethernet", "--json").out
    )
    assert document["file"] == str(file)
    assert [(each["name"], len(each["rows"])) for each in document["tables"]] == [
        ("tcp.connections", 1),
        ("tcp.events", 1),
        ("ethernet", 3),
    ]
    assert [row["number"] for row in document["tables"][2]["rows"]] == [1, 2, 3]


def test_tables_are_written_as_parquet_all_or_none(tmp_path: Path) -> None:
    file = small(tmp_path / "x.pcap")
    done = run_inside("decode", str(file), "-d", "tcp", "-o", str(tmp_path / "o.parquet"))
    assert done.out.splitlines() == [
        f"{tmp_path}/o.tcp.connections.parquet: tcp.connections, 1 row",
        f"{tmp_path}/o.tcp.events.parquet: tcp.events, 1 row",
    ]
    assert read_table(tmp_path / "o.tcp.events.parquet")["packet"].to_pylist() == [3]
    assert refusal("decode", str(file), "-d", "tcp", "-o", str(tmp_path / "o.parquet")) == (
        f"freezeframe: {tmp_path}/o.tcp.connections.parquet: exists already; choose another name, or ask for it to "
        "be replaced (--force)\n"
    )
    assert sorted(each.name for each in tmp_path.iterdir()) == [
        "o.tcp.connections.parquet",
        "o.tcp.events.parquet",
        "x.pcap",
    ]


def test_a_program_gets_the_tables_as_frames(tmp_path: Path) -> None:
    tables = decode(small(tmp_path / "x.pcap"), "ethernet")
    assert tables["ethernet"]["payload_B"].tolist() == [2, 1, 2]


def test_a_file_that_was_cut_is_decoded_as_far_as_it_goes_with_a_note(tmp_path: Path) -> None:
    file = small(tmp_path / "x.pcap")
    file.write_bytes(file.read_bytes()[:-1])
    done = run_inside("decode", str(file), "-d", "ethernet")
    assert (done.code, len(done.out.splitlines())) == (0, 2)
    assert done.err == (
        f"note: {file}: byte 167 (0xa7), behind packet 2: the file ends 71 B into a record; it was cut short\n"
    )


def test_without_a_decoder_it_says_what_is_in_the_file(tmp_path: Path) -> None:
    file = small(tmp_path / "x.pcap")
    done = run_inside("decode", str(file))
    assert done.out.splitlines()[:3] == [
        f"{file}: pcap, 3 packets, 167 B in 2 µs from 2023-11-14 22:13:20 UTC",
        "  interface 0 (Ethernet): 3 packets",
        "  TCP: 3",
    ]
    assert f"   freezeframe decode {file} -d tcp" in done.out.splitlines()
    document = json.loads(run_inside("decode", str(file), "--json").out)
    assert (document["packets"], document["protocols"]) == (3, {"TCP": 3})


@pytest.mark.parametrize("form", [[], ["--json"]])
def test_a_file_in_which_no_packet_can_be_read_has_nothing_to_decode(
    tmp_path: Path, form: list[str]
) -> None:
    file = tmp_path / "none.pcap"
    file.write_bytes(build.pcap([]))
    assert refusal("decode", str(file), *form) == (
        f"freezeframe: {file}: holds no packet that can be read: there is nothing to decode\n"
    )


def test_explain_advises_a_decoder_that_shows_something(tmp_path: Path) -> None:
    tcp, other, none = small(tmp_path / "t.pcap"), tmp_path / "icmp.pcap", tmp_path / "none.pcap"
    echo = build.ethernet(build.ipv4("10.0.0.1", "10.0.0.2", 1, b"\x08\0\xf7\xff\0\0\0\0"))
    other.write_bytes(build.pcap([(T_NS, echo)]))
    none.write_bytes(build.pcap([]))
    said = [run_inside("explain", str(file)).out.strip() for file in (tcp, other, none)]
    assert said == [
        f"t.pcap: no iWARP in 3 packets; freezeframe decode {tcp} -d tcp shows the connections that there are",
        f"icmp.pcap: no iWARP in 1 packet; freezeframe decode {other} -d ethernet shows the packets that there are",
        "none.pcap: no iWARP in 0 packets",
    ]
    assert run_inside("decode", str(other), "-d", "ethernet").out.strip()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["-d", "ethernet", "--cut", "0..1ms"], "--cut: is for samples, and {} is a source of packets"),
        (["-d", "ethernet", "--max-samples", "5"], "--max-samples: is for samples, and {} is a source of packets"),
        (["-d", "ethernet+tcp"], "decoder spec 'ethernet+tcp': tcp takes packets, but ethernet makes ethernet.packets"),
        (["-d", "mdio"], "{} is a source of packets, but mdio takes edges; decoders for a source of packets: "),
        (["-o", "x.parquet"], "-o x.parquet: without a decoder nothing is written; name one with -d"),
    ],
)  # fmt: skip
def test_what_does_not_fit_packets_is_refused_in_one_line(
    tmp_path: Path, arguments: list[str], message: str
) -> None:
    file = small(tmp_path / "x.pcap")
    said = refusal("decode", str(file), *arguments)
    assert said.startswith(f"freezeframe: {message.format(file)}")


def test_readers_of_samples_say_that_it_holds_packets(tmp_path: Path) -> None:
    file = small(tmp_path / "x.pcap")
    said = refusal("import", str(file), "-o", str(tmp_path / "o.ff"))
    assert "holds packets, not samples" in said


def _started(*arguments: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-m", "freezeframe", "decode", *arguments],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=process_environment(),
    )  # fmt: skip


def test_packets_of_a_pipe_are_printed_while_it_is_open() -> None:
    data = build.pcap([(T_NS, sent(0, b"ab")), (T_NS, sent(2, b"cd"))])
    with _started("-", "-d", "ethernet") as program:
        assert program.stdin and program.stdout and program.stderr
        program.stdin.write(data[: 24 + 16 + 56 + 5])
        program.stdin.flush()
        assert b"#1 10.0.0.1:4000" in program.stdout.readline()
        program.stdin.write(data[24 + 16 + 56 + 5 :])
        program.stdin.close()
        assert b"#2 10.0.0.1:4000" in program.stdout.read()
        assert program.stderr.read() == b""
        assert program.wait() == 0


def test_an_interface_is_listened_to_until_it_is_interrupted(tmp_path: Path) -> None:
    try:
        socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0).close()
    except (PermissionError, OSError, AttributeError):
        pytest.skip("this user may not open packet sockets")
    with (
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as receiver,
        _started("netdev:lo", "-d", "ethernet", "--json") as program,
    ):
        receiver.bind(("127.0.0.1", 0))
        port = receiver.getsockname()[1]
        mine = f'"dst_port": {port},'.encode()
        assert program.stdout and program.stderr
        os.set_blocking(program.stdout.fileno(), False)
        out = b""
        for _ in range(600):  # until it listens
            receiver.sendto(b"hello", ("127.0.0.1", port))
            out += program.stdout.read() or b""
            if mine in out:
                break
            time.sleep(0.1)
        os.set_blocking(program.stdout.fileno(), True)
        program.send_signal(signal.SIGINT)
        out += program.stdout.read()
        assert program.wait() == 0
    rows = json.loads(out)["tables"][0]["rows"]
    numbers = [row["number"] for row in rows]
    assert numbers == list(range(1, len(rows) + 1))
    found = [row for row in rows if row["dst_port"] == port]
    assert {(row["protocol"], row["payload_B"], row["source"]) for row in found} == {
        ("UDP", 5, "lo")
    }


def test_an_interface_that_is_not_there_is_told_in_one_line() -> None:
    said = refusal("decode", "netdev:nope", "-d", "ethernet", code=3)
    assert said == "freezeframe: netdev:nope: there is no interface 'nope' on this machine\n"


def _peak_kB(packets: int, output: Path) -> int:
    """Return the memory at most of decoding so many packets, each of a connection of its own, from a pipe."""
    packet = sent(0, b"x" * 100)
    record = struct.pack("<IIII", 0, 0, len(packet), len(packet)) + packet
    many = bytearray(record * 1024)
    code = (
        "import sys; from freezeframe.gui.cli.main import main\n"
        "try: main()\n"
        "finally:\n"  # not getrusage, which counts what the parent had before this program began
        "    print(open('/proc/self/status').read().split('VmHWM:')[1].split()[0], file=sys.stderr)"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code, "decode", "-", "-d", "tcp", "-o", str(output), "--force"],
        stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env=process_environment(),
    ) as program:  # fmt: skip
        assert program.stdin and program.stderr
        program.stdin.write(build.pcap([]))
        for part in range(packets // 1024):
            for n in range(1024):
                at = n * len(record) + 16 + 26
                many[at : at + 4] = struct.pack(">I", (10 << 24) + part * 1024 + n)
            program.stdin.write(many)
        program.stdin.close()
        said = program.stderr.read().decode()
        assert program.wait() == 0
    return int(said.split()[-1])


def test_memory_does_not_grow_with_the_capture(tmp_path: Path) -> None:
    # 65,536 connections at a time are remembered, and a block holds up to 32,768 packets.
    output = tmp_path / "o.parquet"
    _peak_kB(1024, output)  # kernels are compiled now, if they were not, which takes memory
    most_kB = _peak_kB(200 * 1024, output)
    assert most_kB < _peak_kB(110 * 1024, output) + 20_000
    assert most_kB * 1024 < 300e6
