"""LiteX's own programs against ours: two independent readers and writers of the same bytes."""

from __future__ import annotations

import time
from collections.abc import Iterator

import numpy as np
import pytest

pytest.importorskip("litex", reason="LiteX comes with the extra 'peers'")

from litex.tools.remote.comm_uart import CommUART
from litex.tools.remote.comm_udp import CommUDP
from litex.tools.remote.etherbone import (
    EtherbonePacket,
    EtherboneReads,
    EtherboneRecord,
    EtherboneWrites,
)

from freezeframe.capture.targets.base import Words, open_target
from freezeframe.capture.targets.etherbone_codec import (
    PROBE,
    PROBE_REPLY,
    decode_reply,
    decode_request,
    encode_reads,
    encode_reply,
    encode_writes,
)
from freezeframe.capture.targets.uart_server import UartBoneServer
from tests.capture.serving import line
from tests.capture.targets.fake_device import OUTSIDE, FakeTarget
from tests.capture.targets.serve_fake import python_module, spawned
from tests.peers.serve_litex import comm_udp
from tests.threads import beside

FAKE = FakeTarget(depth=512)
TRACE = (0x40000 + 4 * np.arange(2048)).astype(np.uint32)
SEED_AT = 0x50C


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with spawned("etherbone", depth=512) as url:
        yield url


@pytest.fixture(scope="module")
def where(url: str) -> tuple[str, int]:
    host, port = url.removeprefix("etherbone://").split(":")
    return host, int(port)


@pytest.fixture
def comm(where: tuple[str, int]) -> Iterator[CommUDP]:
    comm = comm_udp(*where)
    yield comm
    comm.close()


def u32(*words: int) -> Words:
    return np.array(words, np.uint32)


# LiteX's client at our server


def test_commudp_finds_our_server_by_its_probe(comm: CommUDP, where: tuple[str, int]) -> None:
    assert comm.probe(*where) == 1


def test_commudp_reads_our_server(comm: CommUDP) -> None:
    assert comm.read(0x0) == 0x46525A46
    assert comm.read(0x40000, 255) == FAKE.read(TRACE[:255]).tolist()
    assert comm.read(0x1000014, 1) == FAKE.read([0x1000014]).tolist()


def test_commudp_writes_through_our_server(comm: CommUDP) -> None:
    comm.write(SEED_AT, 0x12345678)
    assert comm.read(SEED_AT) == 0x12345678
    comm.write(0x6000, list(range(200)))
    assert comm.read(0x6000, 200) == list(range(200))


def test_commudp_gets_all_ones_for_an_error_and_the_error_is_counted(comm: CommUDP) -> None:
    before = comm.read(0x5C)
    assert comm.read(OUTSIDE) == 0xFFFFFFFF
    assert comm.read(0x5C) > before
    assert comm.read(0x60) == OUTSIDE


def test_our_client_is_many_times_faster_than_commudp_at_a_word_a_request(
    comm: CommUDP, url: str
) -> None:
    words = FAKE.read(TRACE).tolist()
    target = open_target(url)
    target.read(TRACE)
    begun_s = time.process_time()  # CPU, both ends': what else the machine does is no measure
    for _ in range(8):
        assert target.read(TRACE).tolist() == words
    ours = 8 * len(TRACE) / (time.process_time() - begun_s)
    begun_s = time.process_time()
    assert [comm.read(int(address)) for address in TRACE] == words
    theirs = len(TRACE) / (time.process_time() - begun_s)
    target.close()
    assert ours > 30 * theirs, (
        f"{ours:.0f} words a second of CPU, {ours / theirs:.0f} times LiteX's {theirs:.0f}"
    )


# LiteX's packets against ours


def litex_read(id_: int, addresses: list[int]) -> bytes:
    record = EtherboneRecord()
    record.reads = EtherboneReads(base_ret_addr=id_, addrs=addresses)
    packet = EtherbonePacket()
    packet.records = [record]
    packet.encode()
    return bytes(packet.bytes)


def litex_write(base: int, words: list[int]) -> bytes:
    record = EtherboneRecord()
    record.writes = EtherboneWrites(base_addr=base, datas=words)
    packet = EtherbonePacket()
    packet.records = [record]
    packet.encode()
    return bytes(packet.bytes)


@pytest.mark.parametrize("count", [1, 2, 255])
def test_a_read_has_the_bytes_that_litex_makes(count: int) -> None:
    addresses = [0x40000 + 8 * i for i in range(count)]
    (ours,) = encode_reads(u32(*addresses), u32(0xCAFE), 255)
    assert bytes(ours) == litex_read(0xCAFE, addresses)
    (record,) = decode_request(litex_read(0xCAFE, addresses)) or []
    assert (record.return_address, record.addresses.tolist()) == (0xCAFE, addresses)


@pytest.mark.parametrize("count", [1, 2, 255])
def test_a_write_and_an_answer_have_the_bytes_that_litex_makes(count: int) -> None:
    words = [0x11111111 * (i % 15) + i for i in range(count)]
    assert encode_writes(0x20, u32(*words)) == [litex_write(0x20, words)]
    # On the wire an answer is a write to the request's return address.
    assert encode_reply([(0x20, u32(*words))]) == litex_write(0x20, words)
    assert decode_reply(litex_write(0x20, words)).words.tolist() == words


def test_litex_reads_our_probe_and_its_answer_as_such() -> None:
    for ours, probe, answer in ((PROBE, 1, 0), (PROBE_REPLY, 0, 1)):
        packet = EtherbonePacket(init=ours)
        packet.decode()
        assert (packet.magic, packet.version, packet.pf, packet.pr) == (0x4E6F, 1, probe, answer)
        assert packet.records == []


# Our client at LiteX's server


def test_our_litex_client_reads_and_writes_through_remoteserver(where: tuple[str, int]) -> None:
    with python_module("tests.peers.serve_litex", where[0], str(where[1])) as litex_url:
        target = open_target(litex_url)
        assert target.bridge == "CommUDP"  # type: ignore[attr-defined]  # of LitexTarget
        assert (target.read(TRACE[:600]) == FAKE.read(TRACE[:600])).all()
        target.write(SEED_AT, [0xA5A5A5A5])
        assert target.read([SEED_AT]).tolist() == [0xA5A5A5A5]
        second = open_target(litex_url)
        assert second.read([0]).tolist() == target.read([0]).tolist()
        second.close()
        target.close()


# LiteX's serial client at our serial server


def test_commuart_reads_and_writes_through_our_uartbone_server() -> None:
    fake = FakeTarget(depth=512)
    with line() as (master, path), beside(UartBoneServer(fake, master).serve_forever):
        comm = CommUART(path, 921600)
        assert comm.read(0x0) == 0x46525A46
        assert comm.read(0x40000, 255) == fake.read(TRACE[:255]).tolist()
        assert comm.read(0x40000, 4, burst="fixed") == fake.read(TRACE[:1]).tolist() * 4
        comm.write(SEED_AT, 0x12345678)
        comm.write(0x6000, list(range(30)))
        assert comm.read(SEED_AT) == 0x12345678
        assert comm.read(0x6000, 30) == list(range(30))
        comm.close()
