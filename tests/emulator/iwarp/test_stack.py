"""The stack with itself, over real sockets: every operation, in every framing."""

from __future__ import annotations

import asyncio
import itertools
import random
from dataclasses import replace

import numpy as np
import pytest

from freezeframe.capture.errors import InputError
from freezeframe.emulator.iwarp import ddp_kernels
from freezeframe.emulator.iwarp.ddp_kernels import REMOTE_READ, REMOTE_WRITE
from freezeframe.emulator.iwarp.errors import (
    PeerGoneError,
    PeerSilentError,
    TerminatedError,
)
from freezeframe.emulator.iwarp.layout import Opcode
from freezeframe.emulator.iwarp.memory import ProtectionDomain
from freezeframe.emulator.iwarp.mpa import mulpdu
from tests.emulator.iwarp.ends import QUICK, End, two_ends

SIZES = (0, 1, 3, 4, 1453, 1454, 4096, 70_000)


def filled(end: End, seed: int = 1) -> bytes:
    data = random.Random(seed).randbytes(end.region.length)
    end.region.data[:] = data
    return data


@pytest.mark.parametrize(
    ("markers_out", "markers_in", "crc", "mulpdu_B"),
    [*itertools.product((False, True), (False, True), (False, True), (0, 1454)), (True, True, True, 128)],
)  # fmt: skip
def test_every_operation_arrives_octet_by_octet(
    markers_out: bool, markers_in: bool, crc: bool, mulpdu_B: int
) -> None:
    a_offers = replace(QUICK, markers=markers_in, crc=crc, mulpdu_B=mulpdu_B)
    b_offers = replace(QUICK, markers=markers_out, crc=crc, mulpdu_B=mulpdu_B)
    with two_ends(a_offers, b_offers, receives=len(SIZES)) as (a, b):
        data = filled(a)
        for number, size in enumerate(SIZES):
            a.pair.post_send(a.region, number, size, id=size)
            sent, came = a.completions.wait(), b.completions.wait()
            assert (sent.kind, sent.id, sent.length) == ("send", size, size)
            assert (came.kind, came.id, came.length, came.opcode) == ("receive", number, size, 3)
            assert b.region.data[:size] == data[number : number + size]
            a.pair.post_write(a.region, 0, size, stag=b.region.stag, to=number, id="w")
            assert a.completions.wait()[:3] == ("write", "w", size)
            into = a.domain.register(size + 2)
            a.pair.post_read(into, 1, size, stag=b.region.stag, to=number, id="r")
            assert a.completions.wait()[:3] == ("read", "r", size)
            assert into.data[1 : 1 + size] == data[:size]
            assert not any((into.data[0], into.data[size + 1]))
        assert a.pair.agreed.markers_out is markers_out and a.pair.agreed.markers_in is markers_in
        assert a.pair.agreed.crc is crc


@pytest.mark.parametrize("crc", [False, True])
def test_a_list_of_writes_is_a_message_each_and_one_completion(crc: bool) -> None:
    offers = replace(QUICK, crc=crc, mulpdu_B=1454)
    with two_ends(offers, offers, size=1 << 20) as (a, b):
        data = filled(a)
        parts = [(size, size, 2 * size + 7) for size in SIZES]
        a.pair.post_writes(a.region, parts, stag=b.region.stag, id="list")
        assert a.completions.wait()[:3] == ("write", "list", sum(SIZES))
        a.pair.post_send(a.region, 0, 0)
        assert b.completions.wait().kind == "receive"
        for offset, size, to in parts[-3:]:  # none of these overlaps another
            assert b.region.data[to : to + size] == data[offset : offset + size]


def test_a_list_of_writes_goes_on_where_the_socket_was_full() -> None:
    with two_ends(size=1 << 20) as (a, b):
        data = filled(a)
        parts = [(n % 64 << 14, 1 << 14, n % 64 << 14) for n in range(640)]  # 10 MB at once
        a.pair.post_writes(a.region, parts, stag=b.region.stag, id=1)
        a.pair.post_writes(a.region, [(0, 8, 0)], stag=b.region.stag, id=2)
        assert [a.completions.wait().id for _ in range(2)] == [1, 2]
        a.pair.post_send(a.region, 0, 0)
        assert b.completions.wait().kind == "receive"
        assert b.region.data == data


@pytest.mark.parametrize(
    "parts",
    [
        [(0, 8, 0), (131_065, 8, 0)],
        [(-1, 8, 0), (0, 8, 0)],
        [(0, 8, 0), (8, -1, 0)],
        [(0, 1 << 32, 0)],
        [(0, 8)],
    ],
)
def test_a_list_of_writes_with_one_outside_the_region_sends_none(
    parts: list[tuple[int, ...]],
) -> None:
    with two_ends() as (a, b):
        a.region.data[:8] = b"new data"
        with pytest.raises(InputError):
            a.pair.post_writes(a.region, parts, stag=b.region.stag)
        a.pair.post_writes(a.region, np.empty((0, 3), np.int64), stag=b.region.stag)
        a.pair.post_send(a.region, 0, 0)
        assert b.completions.wait().kind == "receive"
        assert bytes(b.region.data[:8]) == bytes(8)


def test_the_four_kinds_of_send_and_immediate_data() -> None:
    with two_ends(receives=6) as (a, b):
        a.region.data[:8] = b"abcdefgh"
        spare = b.domain.register(8, REMOTE_READ)
        more = b.domain.register(8, REMOTE_READ)
        a.pair.post_send(a.region, 0, 3)
        a.pair.post_send(a.region, 0, 3, solicited=True)
        a.pair.post_send(a.region, 0, 3, invalidate=spare.stag)
        a.pair.post_send(a.region, 0, 3, solicited=True, invalidate=more.stag)
        a.pair.post_immediate(a.region)
        a.pair.post_immediate(a.region, solicited=True)
        came = [b.completions.wait() for _ in range(6)]
        assert [c.opcode for c in came] == [3, 5, 4, 6, 8, 9]
        assert [c.stag for c in came] == [0, 0, spare.stag, more.stag, 0, 0]
        assert [c.length for c in came] == [3, 3, 3, 3, 8, 8]
        assert not spare.valid and not more.valid and b.region.valid


def test_reads_wait_for_the_others_ird_and_end_in_order() -> None:
    with two_ends(QUICK, replace(QUICK, ird=2)) as (a, b):
        filled(b)
        assert a.pair.agreed.ord == 2
        for number in range(50):
            a.pair.post_read(a.region, number, 1, stag=b.region.stag, to=number, id=number)
        assert [a.completions.wait().id for _ in range(50)] == list(range(50))
        assert a.region.data[:50] == b.region.data[:50]


def test_both_ends_read_a_megabyte_from_each_other_at_once_without_waiting() -> None:
    both = replace(QUICK, posts_wait=False, mulpdu_B=1454)
    with two_ends(both, both, size=1 << 20) as (a, b):
        ours, theirs = filled(a, 1), filled(b, 2)
        first, second = a.domain.register(1 << 20), b.domain.register(1 << 20)
        a.pair.post_send(a.region, 0, 1)  # a responder is silent until then
        assert b.completions.wait().kind == "receive" and a.completions.wait().kind == "send"
        for _ in range(4):
            a.pair.post_read(first, stag=b.region.stag, to=0)
            b.pair.post_read(second, stag=a.region.stag, to=0)
        assert [a.completions.wait().kind for _ in range(4)] == ["read"] * 4
        assert [b.completions.wait().kind for _ in range(4)] == ["read"] * 4
        assert first.data[1:] == theirs[1:] and second.data == ours


def test_what_a_responder_posts_early_waits_for_the_initiators_first_fpdu() -> None:
    with two_ends() as (a, b):
        a.pair.post_receive(a.region, 0, 64)
        b.pair.post_send(b.region, 0, 5)
        with pytest.raises(PeerSilentError, match=r"nothing ended within 0\.1 s"):
            b.completions.wait(0.1)
        a.pair.post_write(a.region, 0, 0, stag=0, to=0)
        assert {b.completions.wait().kind} == {"send"}
        assert {a.completions.wait().kind for _ in range(2)} == {"write", "receive"}


@pytest.mark.parametrize("rtr", [1, 2, 4, 7])
def test_peer_to_peer_the_responder_may_send_first(rtr: int) -> None:
    offers = replace(QUICK, peer_to_peer=True, rtr=rtr)
    with two_ends(offers, replace(offers, rtr=7)) as (a, b):
        a.pair.post_receive(a.region, 0, 64, id="first")
        b.pair.post_send(b.region, 0, 5)
        assert a.completions.wait()[:3] == ("receive", "first", 5)
        assert b.completions.wait().kind == "send"
        a.pair.post_send(a.region, 0, 2)
        assert b.completions.wait()[:3] == ("receive", 0, 2)
        assert a.pair.agreed.rtr == rtr


def test_offsets_of_a_region_begin_where_its_owner_says_up_to_the_last_octet_of_64_bits() -> None:
    with two_ends() as (a, b):
        high = b.domain.register(16, REMOTE_WRITE | REMOTE_READ, base=2**64 - 16)
        a.region.data[:16] = bytes(range(16))
        a.pair.post_write(a.region, 0, 16, stag=high.stag, to=2**64 - 16)
        a.pair.post_read(a.region, 32, 1, stag=high.stag, to=2**64 - 1)
        assert [a.completions.wait().kind for _ in range(2)] == ["write", "read"]
        assert high.data == bytes(range(16)) and a.region.data[32] == 15
        for stag, to in ((-1, 0), (1 << 32, 0), (1, -5), (1, 1 << 64)):
            for post in (a.pair.post_write, a.pair.post_read):
                with pytest.raises(InputError, match="an STag has 32 bits, and an offset 64"):
                    post(a.region, 0, 1, stag=stag, to=to)


def test_a_write_is_told_where_that_is_asked_for() -> None:
    with two_ends() as (a, b):
        b.pair.tell_writes()
        a.pair.post_write(a.region, 0, 7, stag=b.region.stag, to=0)
        told = b.completions.wait()
        assert (told.kind, told.stag, told.length) == ("written", b.region.stag, 7)


def test_what_the_peer_may_not_reach_ends_in_its_terminate_and_no_octet_changes() -> None:
    with two_ends() as (a, b):
        secret = b.domain.register(8)
        a.region.data[:8] = b"attacked"
        a.pair.post_write(a.region, 0, 8, stag=secret.stag, to=0)
        assert a.completions.wait().kind == "write"
        with pytest.raises(TerminatedError, match="layer 1, type 1, code 0x00") as error:
            a.completions.wait()
        assert error.value.cause == (1, 1, 0)
        assert secret.data == bytes(8)
        with pytest.raises(TerminatedError):
            a.pair.post_send(a.region)


def test_all_that_was_posted_ends_when_the_peer_goes() -> None:
    with two_ends() as (a, b):
        for number in range(3):
            a.pair.post_receive(a.region, 0, 8, id=number)
        b.pair.mpa.abort()
        a.pair.close()
        ended = [c for _ in range(4) if (c := a.completions.poll()) is not None]
        assert [(c.kind, c.id) for c in ended] == [
            ("receive", 0), ("receive", 1), ("receive", 2), ("closed", None),
        ]  # fmt: skip
        assert all(isinstance(c.error, PeerGoneError) for c in ended[:3])


def test_asyncio_takes_completions_of_both_ends() -> None:
    async def talk() -> list[int]:
        options = replace(QUICK, posts_wait=False)
        with two_ends(options, options, receives=100) as (a, b):
            for number in range(100):
                a.pair.post_send(a.region, 0, number)
            sent = [(await a.completions.arrives()).length for _ in range(100)]
            came = [(await b.completions.arrives()).length for _ in range(100)]
            with pytest.raises(PeerSilentError, match=r"nothing ended within 0\.05 s"):
                await b.completions.arrives(0.05)
            for end in (a, b):
                end.completions.close()
            assert sent == came
            return came

    assert asyncio.run(talk()) == list(range(100))


def test_wrong_use_is_said_before_anything_is_sent() -> None:
    domain = ProtectionDomain()
    region = domain.register(bytearray(16))
    with pytest.raises(InputError, match="octets 8 to 24 of a region of 16"):
        region.place(8, 16)
    with pytest.raises(InputError, match="writable and in one piece"):
        domain.register(b"read only")
    with two_ends() as (a, _):
        with pytest.raises(InputError, match="octets 0 to 131073 of a region of 131072"):
            a.pair.post_send(a.region, 0, (1 << 17) + 1)
        for _ in range(ddp_kernels.DEPTH):
            a.pair.post_receive(a.region, 0, 1)
        with pytest.raises(InputError, match="4,096 receives are posted"):
            a.pair.post_receive(a.region, 0, 1)


def test_a_deregistered_stag_is_gone_and_its_row_comes_back_with_another_key() -> None:
    domain = ProtectionDomain()
    first = domain.register(8, REMOTE_READ)
    assert domain.reach(first.stag, 0, 8, REMOTE_READ) == first.address
    first.deregister()
    second = domain.register(8, REMOTE_READ)
    assert domain.reach(first.stag, 0, 8, REMOTE_READ) == "stag"
    assert second.stag >> 8 == first.stag >> 8 and second.stag != first.stag
    assert ProtectionDomain().reach(second.stag, 0, 8, REMOTE_READ) == "domain"
    assert domain.reach(second.stag, 0, 8, REMOTE_WRITE) == "rights"
    assert domain.reach(second.stag, 1, 8, REMOTE_READ) == "bounds"
    assert domain.reach(second.stag, 2**64 - 1, 2, REMOTE_READ) == "wrap"
    assert domain.reach(0, 0, 8, REMOTE_READ) == "stag"


@pytest.mark.parametrize(
    ("emss", "markers", "most"),
    [(1460, False, 1454), (1448, False, 1442), (1460, True, 1442), (1448, True, 1430),
     (100, False, 128), (65483, False, 64768)],
)  # fmt: skip
def test_the_longest_ulpdu_by_the_rfcs_formula(emss: int, markers: bool, most: int) -> None:
    assert mulpdu(emss, markers=markers) == most


def test_opcodes_are_those_of_the_rfcs() -> None:
    assert list(Opcode) == list(range(12))
