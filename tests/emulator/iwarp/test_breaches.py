"""What our end answers to a peer that breaks rules: the Terminate of the RFC, octet by octet, and nothing after it."""

from __future__ import annotations

import socket
import struct
import threading
from collections.abc import Callable
from dataclasses import replace

import pytest

from freezeframe.emulator.iwarp.completion import CompletionQueue
from freezeframe.emulator.iwarp.errors import (
    BreachError,
    IwarpError,
    PeerGoneError,
    PeerSilentError,
    RejectedError,
    StartupError,
)
from freezeframe.emulator.iwarp.fpdu import build_fpdu, with_crc
from freezeframe.emulator.iwarp.layout import Opcode, ReadRequest, Segment
from freezeframe.emulator.iwarp.memory import ProtectionDomain
from freezeframe.emulator.iwarp.raw import RawPeer
from freezeframe.emulator.iwarp.startup import SEND, Enhanced, StartupFrame
from freezeframe.emulator.iwarp.verbs import Listener, accept, connect
from tests.emulator.iwarp.ends import QUICK, End, raw_and_ours, two_ends

SEND_4 = Segment(Opcode.SEND, b"abcd")
WRITE_4 = Segment(Opcode.WRITE, b"abcd", tagged=True)
READ = Segment(Opcode.READ_REQUEST, queue=1)


def read_of(size: int, stag: int, to: int, sink_to: int = 0) -> Segment:
    return replace(READ, payload=ReadRequest(7, sink_to, size, stag, to).to_bytes())


def terminate_of(raw: RawPeer) -> Segment:
    """Return the Terminate that comes next, and see that it is whole, right, and the last."""
    fpdu = raw.receive_fpdu()
    assert fpdu is not None and fpdu.crc_right and fpdu.markers_right
    segment = Segment.of(fpdu.ulpdu)
    assert (segment.opcode, segment.queue, segment.msn, segment.mo) == (7, 2, 1, 0)
    assert segment.last and not segment.tagged
    assert raw.receive_fpdu() is None
    return segment


# name: what the peer sends (to the STag of a region of 4,096 octets), and the first two octets of the answer.
BREACHES: dict[str, tuple[Callable[[int], Segment], str]] = {
    "ddp-version-tagged": (lambda stag: replace(WRITE_4, stag=stag, ddp_version=2), "1104"),
    "ddp-version-untagged": (lambda stag: replace(SEND_4, ddp_version=0), "1206"),
    "rdmap-version": (lambda stag: replace(SEND_4, rdmap_version=0), "0205"),
    "queue": (lambda stag: replace(SEND_4, queue=4), "1201"),
    "queue-of-32-bits": (lambda stag: replace(SEND_4, queue=1 << 31), "1201"),
    "msn": (lambda stag: replace(SEND_4, msn=2), "1203"),
    "msn-of-the-past": (lambda stag: replace(SEND_4, msn=0), "1203"),
    "mo": (lambda stag: replace(SEND_4, mo=4), "1204"),
    "too-long": (lambda stag: replace(SEND_4, payload=bytes(1025)), "1205"),
    "stag": (lambda stag: replace(WRITE_4, stag=stag ^ 0xFF), "1100"),
    "stag-far": (lambda stag: replace(WRITE_4, stag=0xFFFFFFFF), "1100"),
    "stag-0": (lambda stag: WRITE_4, "1100"),
    "bounds": (lambda stag: replace(WRITE_4, stag=stag, to=4093), "1101"),
    "bounds-far": (lambda stag: replace(WRITE_4, stag=stag, to=1 << 63), "1101"),
    "to-wraps": (lambda stag: replace(WRITE_4, stag=stag, to=2**64 - 2), "1103"),
    "opcode-reserved": (lambda stag: replace(SEND_4, opcode=15), "0206"),
    "opcode-of-the-other-kind": (lambda stag: replace(SEND_4, opcode=0), "0206"),
    "send-tagged": (lambda stag: replace(WRITE_4, stag=stag, opcode=3), "0206"),
    "send-on-queue-1": (lambda stag: replace(SEND_4, queue=1), "0206"),
    "read-on-queue-0": (lambda stag: replace(SEND_4, opcode=1), "0206"),
    "response-unasked": (lambda stag: replace(WRITE_4, stag=stag, opcode=2), "0206"),
    "atomic-response-unasked": (lambda stag: replace(SEND_4, opcode=11, queue=3), "0206"),
    "read-request-short": (lambda stag: replace(READ, payload=bytes(27)), "02ff"),
    "read-stag": (lambda stag: read_of(4, stag ^ 1, 0), "0100"),
    "read-bounds": (lambda stag: read_of(4097, stag, 0), "0101"),
    "read-wraps": (lambda stag: read_of(4, stag, 2**64 - 1), "0104"),
    "read-sink-wraps": (lambda stag: read_of(4, stag, 0, 2**64 - 1), "0104"),
    "invalidates-nothing": (lambda stag: replace(SEND_4, opcode=4, invalidates=9), "0109"),
}  # fmt: skip


@pytest.mark.parametrize("name", BREACHES)
@pytest.mark.parametrize("markers", [False, True])
def test_a_breach_is_answered_by_its_terminate(name: str, markers: bool) -> None:
    make, expected = BREACHES[name]
    frame = StartupFrame(False, markers=markers, revision=2, enhanced=Enhanced(16, 16))
    with raw_and_ours(replace(QUICK, markers=markers), frame=frame) as (raw, end):
        raw.send_segment(replace(WRITE_4, stag=end.region.stag))  # something right before it
        segment = make(end.region.stag)
        raw.send_segment(segment)
        payload = terminate_of(raw).payload
        assert payload[:2].hex() == expected
        assert payload[2] & 0xC0 == 0xC0
        ulpdu = segment.to_bytes()
        header = segment.header
        assert payload[4 : 6 + len(header)] == struct.pack(">H", len(ulpdu)) + header
        has_read = name.startswith("read-") and expected.startswith("01")
        assert payload[6 + len(header) :] == (segment.payload if has_read else b"")
        assert bool(payload[2] & 0x20) is has_read
        assert end.region.data == b"abcd" + bytes(4092)
        assert isinstance(ended(end), BreachError)


def test_a_foreign_domain_and_missing_rights() -> None:
    for right, expected in ((0, "0102"), (1, "0103")):
        with raw_and_ours() as (raw, end):
            domain = end.domain if right == 0 else ProtectionDomain()
            other = domain.register(8, right)
            raw.send_segment(read_of(4, other.stag, 0))
            assert terminate_of(raw).payload[:2].hex() == expected
    with raw_and_ours() as (raw, end):
        other = ProtectionDomain().register(8, 3)
        raw.send_segment(replace(WRITE_4, stag=other.stag))
        assert terminate_of(raw).payload[:2].hex() == "1102"


def test_no_buffer_more_reads_than_negotiated_and_a_message_of_two_opcodes() -> None:
    with raw_and_ours(receives=0) as (raw, _):
        raw.send_segment(SEND_4)
        assert terminate_of(raw).payload[:2].hex() == "1202"
    with raw_and_ours() as (raw, _):
        raw.send_segment(replace(SEND_4, last=False))
        raw.send_segment(replace(SEND_4, mo=4, opcode=5))
        assert terminate_of(raw).payload[:2].hex() == "0206"
    with raw_and_ours(replace(QUICK, ird=0)) as (raw, end):
        raw.send_segment(read_of(4, end.region.stag, 0))
        assert terminate_of(raw).payload[:2].hex() == "1202"


@pytest.mark.parametrize("at", [2, 7, 20, 21, 24])
def test_any_flipped_octet_is_a_wrong_crc_and_no_other_breach(at: int) -> None:
    with raw_and_ours() as (raw, end):
        raw.send_segment(SEND_4)
        fpdu = bytearray(build_fpdu(replace(SEND_4, msn=2).to_bytes()))
        fpdu[at] ^= 0x10
        raw.send(bytes(fpdu))
        assert terminate_of(raw).payload == bytes.fromhex("20020000")
        assert end.completions.wait().kind == "receive"


@pytest.mark.parametrize("length", [0, 13, 64_769, 65_535])
def test_an_impossible_ulpdu_length_is_answered_at_once(length: int) -> None:
    with raw_and_ours() as (raw, _):
        raw.send(struct.pack(">H", length))
        assert terminate_of(raw).payload == bytes.fromhex("20030000")


def test_a_marker_that_points_elsewhere_is_answered_where_the_crc_is_right() -> None:
    with raw_and_ours(replace(QUICK, markers=True)) as (raw, _):
        covered = bytes.fromhex("00000004") + build_fpdu(SEND_4.to_bytes())[:-4]
        raw.send(with_crc(covered))
        assert terminate_of(raw).payload == bytes.fromhex("20030000")


def test_reserved_bits_padding_and_pointers_low_bits_are_not_looked_at() -> None:
    with raw_and_ours() as (raw, end):
        raw.send_segment(replace(SEND_4, reserved=15, rdmap_reserved=3))
        assert end.completions.wait().length == 4
        raw.send_segment(replace(WRITE_4, payload=b"", stag=0xDEAD, to=1 << 63))
        raw.send_segment(read_of(0, 0xDEAD, 5))
        answer = raw.receive_fpdu()
        assert answer is not None
        assert answer.ulpdu == bytes.fromhex("c142 00000007 0000000000000000")
        assert end.pair.error is None


def test_with_the_crc_off_on_both_ends_any_octets_stand_in_its_place() -> None:
    frame = StartupFrame(False, crc=False, revision=1)
    with raw_and_ours(replace(QUICK, crc=False), frame=frame) as (raw, end):
        raw.send(build_fpdu(SEND_4.to_bytes())[:-4] + b"any!")
        assert end.completions.wait().length == 4


def test_a_permissive_answer_to_a_peer_of_the_rdma_consortium() -> None:
    frame = StartupFrame(False, markers=True, revision=0)
    with raw_and_ours(frame=frame) as (raw, end):
        assert (end.pair.agreed.version, end.pair.agreed.markers_in) == (0, True)
        raw.send_segment(replace(SEND_4, ddp_version=0, rdmap_version=0))
        assert end.completions.wait().length == 4
        raw.send_segment(replace(SEND_4, msn=2))
        fpdu = raw.receive_fpdu()
        assert fpdu is not None and fpdu.ulpdu[:2].hex() == "4007"


def test_a_first_fpdu_that_is_none_of_the_agreed_ready_messages() -> None:
    frame = StartupFrame(False, revision=2, enhanced=Enhanced(1, 1, True, SEND))
    with raw_and_ours(frame=frame) as (raw, _):
        raw.send_segment(SEND_4)
        assert terminate_of(raw).payload == bytes.fromhex("20070000")


# How a peer spoils its startup, against our responder.
SPOILED = {
    "silence": (b"", PeerSilentError, "0 of 20 octets"),
    "half a frame": (b"MPA ID Req", PeerSilentError, "10 of 20 octets"),
    "half the private data": (StartupFrame(False, b"private", revision=1).to_bytes()[:-3], PeerSilentError, "4 of 7"),
    "garbage": (bytes(range(64)), StartupError, "its key is"),
    "http": (b"GET / HTTP/1.1\r\nHost: x\r\n\r\n", StartupError, "its key is b'GET /"),
    "too much private data": (StartupFrame(False, bytes(513), revision=1).to_bytes(), StartupError, "513 octets"),
    "a reply": (StartupFrame(True, revision=1).to_bytes(), StartupError, "without a Request"),
    "revision 3": (StartupFrame(False, revision=3).to_bytes(), StartupError, "revision 3"),
    "cut enhanced data": (bytes.fromhex("4d504120494420526571204672616d65 50 02 0002 0000"),
                          StartupError, "flag S and 2"),
    "nothing offered": (StartupFrame(False, revision=2, enhanced=Enhanced(1, 1, True, 0)).to_bytes(),
                        StartupError, "no message"),
}  # fmt: skip


def test_a_spoiled_startup_is_a_typed_error_and_the_listener_lives_on() -> None:
    options = replace(QUICK, startup_s=0.2)
    domain, completions = ProtectionDomain(), CompletionQueue()
    with Listener() as listener:
        for octets, error, text in SPOILED.values():
            with RawPeer.connect("127.0.0.1", listener.port) as raw:
                raw.send(octets)
                with pytest.raises(error, match=text):
                    accept(listener.take(5), domain, completions, options)
                with pytest.raises(PeerGoneError):  # a reset, where octets were left
                    raw.receive_frame()
        with RawPeer.connect("127.0.0.1", listener.port) as raw:
            raw.send(b"MPA ID Req Fra")
            raw.end()
            with pytest.raises(PeerGoneError, match="ended after 14 of 20"):
                accept(listener.take(5), domain, completions, options)
        with RawPeer.connect("127.0.0.1", listener.port) as raw:
            raw.send_frame(StartupFrame(False, revision=1))
            accept(listener.take(5), domain, completions, options).mpa.socket.close()
            assert raw.receive_frame() == StartupFrame(True, revision=1)


# How a responder spoils its Reply, against our initiator that offers enhanced data, ird 16, peer to peer by a Send.
REPLIES = {
    "a request": (StartupFrame(False, revision=2), "by a Request"),
    "revision 1": (StartupFrame(True, revision=1), "revision 1 in the Reply, 2"),
    "no enhanced data": (StartupFrame(True, revision=2), "no enhanced data"),
    "the other model": (StartupFrame(True, revision=2, enhanced=Enhanced(1, 1)), "other model"),
    "more reads": (StartupFrame(True, revision=2, enhanced=Enhanced(1, 17, True, SEND)), "ORD 17 is more"),
    "no message": (StartupFrame(True, revision=2, enhanced=Enhanced(1, 1, True)), "takes no message"),
    "another message": (StartupFrame(True, revision=2, enhanced=Enhanced(1, 1, True, 4)), "not offered"),
    "rejects": (StartupFrame(True, b"why", revision=2, reject=True), "private data b'why'"),
}  # fmt: skip


@pytest.mark.parametrize("name", REPLIES)
def test_a_spoiled_reply_is_a_typed_error(name: str) -> None:
    frame, text = REPLIES[name]
    with Listener() as listener:

        def answer() -> None:
            with RawPeer(listener.take(5)) as raw:
                raw.receive_frame()
                raw.send_frame(frame)
                raw.socket.recv(1)

        thread = threading.Thread(target=answer)
        thread.start()
        options = replace(QUICK, peer_to_peer=True, rtr=SEND)
        kind = RejectedError if frame.reject else StartupError
        with pytest.raises(kind, match=text):
            connect("127.0.0.1", listener.port, ProtectionDomain(), CompletionQueue(), options)
        thread.join()


def test_a_listener_that_is_not_there_and_one_that_says_nothing() -> None:
    with Listener() as listener:
        port = listener.port
        options = replace(QUICK, startup_s=0.2)
        with pytest.raises(PeerSilentError, match=r"no MPA frame within 0\.2 s"):
            connect("127.0.0.1", port, ProtectionDomain(), CompletionQueue(), options)
    with pytest.raises(PeerGoneError, match=f"127.0.0.1:{port}: Connection refused"):
        connect("127.0.0.1", port, ProtectionDomain(), CompletionQueue())


def ended(end: End) -> IwarpError:
    """Return why the connection of an end has ended."""
    with pytest.raises(IwarpError) as error:
        while True:
            end.completions.wait()
    return error.value


def test_a_peer_that_closes_inside_an_fpdu_resets_or_falls_silent_inside_one() -> None:
    fpdu = build_fpdu(SEND_4.to_bytes())
    for cut in (1, 2, 20, 27):
        with raw_and_ours() as (raw, end):
            raw.send(fpdu[:cut])
            raw.end()
            error = ended(end)
            assert isinstance(error, PeerGoneError) and error.inside
    with raw_and_ours() as (raw, end):
        raw.end()
        error = ended(end)
        assert isinstance(error, PeerGoneError) and not error.inside
    with raw_and_ours() as (raw, end):
        raw.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        raw.socket.close()
        assert "Connection reset" in str(ended(end))
    with raw_and_ours(replace(QUICK, stall_s=0.2)) as (raw, end):
        raw.send(fpdu[:10])
        assert isinstance(ended(end), PeerSilentError)


def test_a_peer_that_reads_nothing_stalls_the_sender_no_longer_than_its_limit() -> None:
    options = replace(QUICK, stall_s=0.2)
    with Listener() as listener, RawPeer.connect("127.0.0.1", listener.port) as raw:
        raw.send_frame(StartupFrame(False, revision=1))
        domain, completions = ProtectionDomain(), CompletionQueue()
        pair = accept(listener.take(5), domain, completions, options)
        pair.start()
        raw.receive_frame()
        raw.send_segment(replace(WRITE_4, payload=b""))
        region = domain.register(1 << 26)
        pair.post_write(region, stag=1, to=0)
        with pytest.raises(PeerSilentError, match=r"takes nothing for 0\.2 s"):
            while True:
                completions.wait()
        pair.close()


def test_a_right_peer_is_never_terminated_by_ten_thousand_small_messages() -> None:
    with two_ends(receives=0) as (a, b):
        for number in range(10_000):
            b.pair.post_receive(b.region, 0, 64)
            a.pair.post_send(a.region, 0, number % 64)
            if number % 100 == 99:
                assert [b.completions.wait().length for _ in range(100)] == [
                    n % 64 for n in range(number - 99, number + 1)
                ]
        assert a.pair.error is None and b.pair.error is None
