"""Atomic operations: what becomes of the word, what comes back, in what order; literal octets of RFC 7306."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from dataclasses import replace

import pytest

from freezeframe.capture.errors import InputError
from freezeframe.emulator.iwarp.completion import CompletionQueue
from freezeframe.emulator.iwarp.ddp_kernels import REMOTE_ATOMIC
from freezeframe.emulator.iwarp.layout import Opcode, Segment
from freezeframe.emulator.iwarp.memory import ProtectionDomain
from freezeframe.emulator.iwarp.verbs import Listener, accept, connect
from tests.emulator.iwarp.ends import QUICK, raw_and_ours, two_ends


def request(first: str, stag: int, to: int, operands: str) -> Segment:
    octets = bytes.fromhex(first) + stag.to_bytes(4) + to.to_bytes(8) + bytes.fromhex(operands)
    return Segment(Opcode.ATOMIC_REQUEST, octets, queue=1)


ADD_5 = "0000000000000005 0000000000000000 0000000000000000 0000000000000000"


def test_an_atomic_request_and_its_response_octet_by_octet() -> None:
    with raw_and_ours() as (raw, end):
        end.region.data[8:16] = (0x0102030405060708).to_bytes(8, sys.byteorder)
        # Reserved bits set, operation 0 (FetchAdd), identifier cafe0001.
        raw.send_segment(request("fffffff0 cafe0001", end.region.stag, 8, ADD_5))
        answer = raw.receive_fpdu()
        assert answer is not None
        # Untagged and last, opcode 11, queue 3, MSN 1, MO 0; the identifier, and the word as it was.
        head = "414b 00000000 00000003 00000001 00000000"
        assert answer.ulpdu == bytes.fromhex(head + "cafe0001 0102030405060708")
        assert int.from_bytes(end.region.data[8:16], sys.byteorder) == 0x010203040506070D


# name: operation, STag changed by, offset, and the first two octets of the Terminate.
REFUSED = {
    "operation 3": ("00000003 00000001", 0, 0, "0206"),
    "not aligned": ("00000000 00000001", 0, 4, "01ff"),
    "no such STag": ("00000000 00000001", 1, 0, "0100"),
    "behind the end": ("00000000 00000001", 0, 4096, "0101"),
    "over the end of offsets": ("00000000 00000001", 0, 2**64 - 8, "0101"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_an_atomic_operation_that_may_not_be_is_refused(name: str) -> None:
    first, flipped, to, expected = REFUSED[name]
    with raw_and_ours() as (raw, end):
        raw.send_segment(request(first, end.region.stag ^ flipped, to, ADD_5))
        answer = raw.receive_fpdu()
        assert answer is not None and answer.ulpdu[1] & 15 == Opcode.TERMINATE
        assert answer.ulpdu[18:20].hex() == expected
        assert end.region.data == bytes(4096)


def test_memory_without_the_right_is_not_changed_and_requests_of_another_length_are_refused() -> (
    None
):
    with raw_and_ours() as (raw, end):
        other = end.domain.register(8, 3)
        raw.send_segment(request("00000000 00000001", other.stag, 0, ADD_5))
        answer = raw.receive_fpdu()
        assert answer is not None and answer.ulpdu[18:20].hex() == "0102"
    for size in (0, 51, 53):
        with raw_and_ours() as (raw, end):
            raw.send_segment(Segment(Opcode.ATOMIC_REQUEST, bytes(size), queue=1))
            answer = raw.receive_fpdu()
            assert answer is not None and answer.ulpdu[18:20].hex() == "02ff"


def test_atomic_operations_change_a_word_of_the_peer_and_bring_what_it_was() -> None:
    with two_ends() as (a, b):
        there = {"stag": b.region.stag, "to": 16}
        word = memoryview(b.region.data).cast("Q")
        was = memoryview(a.region.data).cast("Q")
        word[2] = 7
        posts: list[tuple[Callable[[], None], int, int]] = [
            (lambda: a.pair.post_fetch_add(a.region, **there, add=5), 7, 12),
            (lambda: a.pair.post_fetch_add(a.region, **there, add=(1 << 64) - 13), 12, (1 << 64) - 1),
            (lambda: a.pair.post_fetch_add(a.region, **there, add=1, mask=1 << 31), (1 << 64) - 1, 0xFFFFFFFF << 32),
            (lambda: a.pair.post_swap(a.region, **there, swap=0x1234), 0xFFFFFFFF << 32, 0x1234),
            (lambda: a.pair.post_swap(a.region, **there, swap=0xFFFF, mask=0xF0), 0x1234, 0x12F4),
            (lambda: a.pair.post_compare_swap(a.region, **there, compare=1, swap=2), 0x12F4, 0x12F4),
            (lambda: a.pair.post_compare_swap(a.region, **there, compare=0x12F4, swap=2), 0x12F4, 2),
            (lambda: a.pair.post_compare_swap(a.region, **there, compare=0xF2, compare_mask=15, swap=9, mask=8), 2, 10),
        ]  # fmt: skip
        for number, (post, before, after) in enumerate(posts):
            post()
            done = a.completions.wait()
            assert (number, done.kind, done.length) == (number, "atomic", 8)
            assert (number, was[0], word[2]) == (number, before, after)
        with pytest.raises(InputError, match="have 64 bits"):
            a.pair.post_swap(a.region, **there, swap=1 << 64)


def test_atomic_operations_and_reads_are_answered_in_order_and_count_together() -> None:
    options = replace(QUICK, ord=2, ird=2)
    with two_ends(options, options) as (a, b):
        word = memoryview(b.region.data).cast("Q")
        for number in range(50):
            a.pair.post_fetch_add(a.region, 8 * number, stag=b.region.stag, to=0, add=1, id=number)
            a.pair.post_read(a.region, 4096, 8, stag=b.region.stag, to=0, id=-number)
        ids = [a.completions.wait().id for _ in range(100)]
        assert ids == [n for number in range(50) for n in (number, -number)]
        assert memoryview(a.region.data).cast("Q")[:50].tolist() == list(range(50))
        assert word[0] == 50


def test_atomic_operations_of_many_connections_lose_none() -> None:
    count, ends = 200, 4
    with Listener() as listener:
        domain = ProtectionDomain()
        region = domain.register(8, REMOTE_ATOMIC)

        def serve() -> None:
            for _ in range(ends):
                accept(listener.take(5), domain, CompletionQueue(), QUICK).start()

        def add() -> None:
            own, completions = ProtectionDomain(), CompletionQueue()
            local = own.register(8)
            with connect("127.0.0.1", listener.port, own, completions, QUICK) as pair:
                for _ in range(count):
                    pair.post_fetch_add(local, stag=region.stag, to=0, add=3)
                    assert completions.wait().kind == "atomic"

        threads = [threading.Thread(target=target) for target in (serve, *[add] * ends)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert int.from_bytes(region.data, sys.byteorder) == 3 * count * ends
