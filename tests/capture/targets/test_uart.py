"""UARTBone, byte for byte and over a pseudo-terminal (docs/formats.md, section 9)."""

from __future__ import annotations

import os
import pty
import time
import tty
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

from freezeframe.capture.errors import InputError, TargetError, TargetTimeout
from freezeframe.capture.targets.uart import UartTarget, open_uart
from freezeframe.capture.targets.uart_server import UartBoneServer
from freezeframe.capture.targets.uartbone_codec import (
    encode_read,
    encode_write,
    next_command,
)
from tests.capture.serving import line
from tests.capture.targets.fake_device import FakeTarget
from tests.threads import beside

FAKE = FakeTarget(depth=512)
TRACE = (0x40000 + 4 * np.arange(1024)).astype(np.uint32)


@contextmanager
def answering(script: Callable[[bytes, int], bytes]) -> Iterator[tuple[str, list[bytes]]]:
    """A far end that answers each chunk of bytes it hears by ``script(chunk, number)``."""
    with line() as (master, path):
        heard: list[bytes] = []
        os.set_blocking(master, False)

        def run(ended: Callable[[], bool]) -> None:
            while not ended():
                try:
                    chunk = os.read(master, 4096)
                except BlockingIOError:
                    time.sleep(0.002)
                    continue
                heard.append(chunk)
                answer = script(chunk, len(heard) - 1)
                if answer:
                    os.write(master, answer)

        with beside(run):
            yield path, heard


@contextmanager
def served(fake: FakeTarget) -> Iterator[tuple[str, UartBoneServer]]:
    with line() as (master, path):
        server = UartBoneServer(fake, master)
        with beside(server.serve_forever):
            yield path, server


def hexed(*words: int) -> bytes:
    return b"".join(word.to_bytes(4, "big") for word in words)


# Codec


def test_a_read_has_the_command_count_and_word_address() -> None:
    assert encode_read(0x40, 3) == bytes.fromhex("02 03 00000010")


def test_a_write_has_the_command_count_word_address_and_data() -> None:
    words = np.array([0x11223344, 0x55667788], np.uint32)
    assert encode_write(0x20, words) == bytes.fromhex("01 02 00000008 11223344 55667788")


@pytest.mark.parametrize("count", [0, 256])
def test_a_count_that_one_byte_cannot_hold_is_refused(count: int) -> None:
    with pytest.raises(ValueError, match=r"out of range \(1\.\.255\)"):
        encode_read(0, count)


def test_commands_are_taken_off_a_stream_one_by_one() -> None:
    stream = bytes.fromhex("02 03 0000001001 01 00000008 1122334404 02 0000000102 01")
    first, took = next_command(stream)
    assert first is not None
    assert (first.code, first.words, first.address, first.step_B, took) == (2, 3, 0x40, 4, 6)
    second, took = next_command(stream[6:])
    assert second is not None
    assert (second.code, second.address, second.data.tolist(), took) == (1, 0x20, [0x11223344], 10)
    third, took = next_command(stream[16:])
    assert third is not None
    assert (third.code, third.words, third.address, third.step_B, took) == (4, 2, 4, 0, 6)
    assert next_command(stream[22:]) == (None, 0)


@pytest.mark.parametrize("head", ["00 01 00000000", "05 01 00000000", "02 00 00000000"])
def test_an_unknown_command_or_one_of_no_words_takes_six_bytes(head: str) -> None:
    command, took = next_command(bytes.fromhex(head) + b"rest")
    assert command is not None
    assert (command.known, took) == (False, 6)


# Server


@contextmanager
def near_end(fake: FakeTarget) -> Iterator[tuple[UartBoneServer, int]]:
    """A server that is polled by hand, and the other end of its line."""
    with line() as (master, path):
        near = os.open(path, os.O_RDWR | os.O_NOCTTY)
        yield UartBoneServer(fake, master), near
        os.close(near)


def poll_until(server: UartBoneServer, handled: int) -> None:
    for _ in range(100):
        handled -= server.poll(0.01)
        if handled <= 0:
            return
    raise AssertionError("the server did not handle the command")


@pytest.mark.parametrize(
    ("command", "answer"),
    [
        ("02 02 00000000", hexed(0x46525A46, 0x00010000)),
        ("04 03 00000000", hexed(0x46525A46, 0x46525A46, 0x46525A46)),
        ("02 01 003c0000", hexed(0xFFFFFFFF)),
        ("02 01 ffffffff", hexed(0xFFFFFFFF)),
    ],
    ids=["incrementing", "fixed", "outside the map", "above 32 bits"],
)
def test_the_server_answers_a_read(command: str, answer: bytes) -> None:
    with near_end(FakeTarget()) as (server, near):
        os.write(near, bytes.fromhex(command))
        poll_until(server, 1)
        assert os.read(near, 100) == answer


def test_the_server_carries_out_incrementing_and_fixed_writes() -> None:
    fake = FakeTarget()
    with near_end(fake) as (server, near):
        os.write(near, bytes.fromhex("01 02 00000142 00000001 00000002"))
        os.write(near, bytes.fromhex("03 02 00000143 00000003 00000004"))
        poll_until(server, 2)
        assert fake.writes == [(0x508, [1, 2]), (0x50C, [3]), (0x50C, [4])]
        assert server.stats.words_written == 4


def test_the_server_forgets_an_unfinished_command_and_takes_the_next() -> None:
    with near_end(FakeTarget()) as (server, near):
        os.write(near, bytes.fromhex("02 02 00"))
        server.poll(0.05)
        time.sleep(0.15)
        os.write(near, bytes.fromhex("02 01 00000000"))
        poll_until(server, 1)
        assert os.read(near, 100) == hexed(0x46525A46)
        assert server.stats.forgotten_B == 3


def test_the_server_lives_on_when_the_other_end_is_closed_and_opened_again() -> None:
    with served(FakeTarget(depth=64)) as (path, _):
        for _ in range(2):
            target = UartTarget(path)
            assert target.read([0]).tolist() == [0x46525A46]
            target.close()
            time.sleep(0.03)


# Client


def test_neighbours_are_read_in_one_command_whatever_their_order() -> None:
    with answering(lambda chunk, _: hexed(*range(chunk[1]))) as (path, heard):
        assert UartTarget(path).read([0x18, 0x10, 0x14, 0x10]).tolist() == [2, 0, 1, 0]
        assert heard == [bytes.fromhex("02 03 00000004")]


def test_a_command_takes_no_longer_than_the_gateware_allows() -> None:
    with answering(lambda chunk, _: hexed(*range(chunk[1]))) as (path, heard):
        UartTarget(path, 9600).read(TRACE[:40])
    # 9600 baud: 960 B/s, 80 ms carry 76 B, 19 words.
    assert [chunk[1] for chunk in heard] == [19, 19, 2]


def test_a_long_write_is_cut_into_commands() -> None:
    fake = FakeTarget()
    with served(fake) as (path, server):
        UartTarget(path, burst=100).write(0x6000, list(range(250)))
        for _ in range(200):
            if server.stats.words_written == 250:
                break
            time.sleep(0.01)
        assert [(at, len(words)) for at, words in fake.writes] == [
            (0x6000, 100), (0x6190, 100), (0x6320, 50),
        ]  # fmt: skip


def test_a_short_answer_is_asked_for_again_after_silence() -> None:
    def cut_at_first(chunk: bytes, number: int) -> bytes:
        return hexed(1, 2, 3)[:7] if number == 0 else hexed(1, 2, 3)

    with answering(cut_at_first) as (path, heard):
        target = UartTarget(path)
        assert target.read([0, 4, 8]).tolist() == [1, 2, 3]
        assert len(heard) == 2
        assert target.stats.retries == 1
        assert target.stats.stray_B == 7


def test_the_late_end_of_a_short_answer_is_not_taken_for_the_next_answer() -> None:
    with line() as (master, path):
        os.set_blocking(master, False)
        heard: list[bytes] = []

        def run(ended: Callable[[], bool]) -> None:
            while not ended():
                try:
                    heard.append(os.read(master, 4096))
                except BlockingIOError:
                    time.sleep(0.002)
                    continue
                os.write(master, hexed(1, 2) if len(heard) > 1 else hexed(1, 2)[:5])
                if len(heard) == 1:
                    time.sleep(0.33)  # after the client gave up on it, before it asks again
                    os.write(master, hexed(1, 2)[5:])

        with beside(run):
            target = UartTarget(path)
            assert target.read([0, 4]).tolist() == [1, 2]
            assert target.stats.stray_B == 8


def test_bytes_that_nobody_asked_for_are_thrown_away_before_a_command() -> None:
    with line() as (master, path):
        target = UartTarget(path)
        os.write(master, b"boot\n")
        time.sleep(0.05)
        with beside(UartBoneServer(FakeTarget(depth=64), master).serve_forever):
            assert target.read([0]).tolist() == [0x46525A46]
            assert target.stats.stray_B == 5


def test_a_line_that_never_falls_silent_is_a_clear_error() -> None:
    with line() as (master, path):

        def babble(ended: Callable[[], bool]) -> None:
            os.set_blocking(master, False)
            while not ended():
                try:
                    os.write(master, b"login: ")
                    os.read(master, 4096)
                except BlockingIOError:
                    pass
                time.sleep(0.01)

        with beside(babble):
            target = UartTarget(path, timeout_s=0.6)
            os.write(
                master, b"login: "
            )  # else the first command may have its answer in the babble,
            time.sleep(0.1)  # as where the terminal has not handed it on yet
            with pytest.raises(TargetTimeout, match=r"does not fall silent.*a console"):
                target.read([0])


def test_no_answer_is_a_timeout_that_says_how_much_came() -> None:
    with answering(lambda chunk, _: b"\x01\x02") as (path, _):
        target = UartTarget(path, timeout_s=0.5)
        with pytest.raises(TargetTimeout, match=r"2 words at 0x00000010: 2 of 8 B came in 0\.5 s"):
            target.read([0x10, 0x14])


def test_a_missing_device_is_a_clear_error() -> None:
    with pytest.raises(TargetError, match="no such device; is the cable plugged in"):
        open_uart("uart:/dev/ttyNOSUCH")


def test_a_line_in_use_is_a_clear_error() -> None:
    with line() as (_, path):
        first = UartTarget(path)
        with pytest.raises(TargetError, match="another program has it open"):
            UartTarget(path)
        first.close()
        UartTarget(path).close()


def test_a_line_that_is_unplugged_is_a_target_error(tmp_path: Path) -> None:
    master, slave = pty.openpty()
    tty.setraw(slave)
    target = UartTarget(os.ttyname(slave), timeout_s=0.5)
    os.close(slave)
    os.close(master)
    with pytest.raises(TargetError, match=r"was it unplugged\?"):
        target.read([0])
    target.close()


@pytest.mark.parametrize(
    "url",
    ["uart:", "uart:@115200", "uart:/dev/ttyS0@", "uart:/dev/ttyS0@fast", "uart:/dev/ttyS0@0"],
)
def test_a_wrong_url_says_what_to_write(url: str) -> None:
    with pytest.raises(InputError, match=r"write uart:/dev/ttyX\[@baud\]"):
        open_uart(url)


def test_the_baud_rate_of_the_url_is_the_line_s() -> None:
    with line() as (_, path):
        target = open_uart(f"uart:{path}@921600")
        assert target.url == f"uart:{path}@921600"
        assert target._port is not None
        assert target._port.baudrate == 921600
        target.close()
