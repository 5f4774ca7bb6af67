"""The Etherbone client against peers and networks that behave badly."""

from __future__ import annotations

import select
import socket
import threading
import time
from collections.abc import Callable
from contextlib import closing
from itertools import cycle, pairwise

import numpy as np
import pytest

from freezeframe.capture.errors import InputError, TargetError, TargetTimeout
from freezeframe.capture.registers.access import open_devices
from freezeframe.capture.targets.base import open_target
from freezeframe.capture.targets.etherbone import Clock, EtherboneTarget, open_etherbone
from freezeframe.capture.targets.etherbone_codec import PROBE, PROBE_REPLY, decode_request
from freezeframe.capture.targets.server import EtherboneServer
from tests.capture.targets.fake_device import FakeTarget
from tests.capture.targets.scripted_peer import honest, scripted
from tests.capture.targets.serve_fake import spawned
from tests.capture.targets.udp_proxy import BadNetwork, bad_network
from tests.threads import beside

FAKE = FakeTarget(depth=512, seed=5)
ANSWER = honest(FAKE)
TRACE = (0x40000 + 4 * np.arange(2048)).astype(np.uint32)
FRZF = 0x46525A46


class SteppedClock(Clock):
    """A clock that stands still, but for waits that end without an answer; each look takes ``look_s``."""

    def __init__(self, look_s: float = 0.0) -> None:
        self.time_s = 0.0
        self.look_s = look_s
        self.waits_s: list[float] = []
        self.patience_ms = 2000  # that a peer which answers may really need

    def now_s(self) -> float:
        self.time_s += self.look_s
        return self.time_s

    def wait(self, poll: select.poll, seconds: float) -> None:
        self.waits_s.append(seconds)
        if not poll.poll(self.patience_ms):
            self.time_s += max(0.0, seconds) + 0.001


def opened(url: str, clock: Clock | None = None, **options: float) -> EtherboneTarget:
    query = "&".join(f"{name}={value}" for name, value in options.items())
    return open_etherbone(f"{url}?{query}" if query else url, clock)


def addresses_of(packet: bytes) -> list[int]:
    (record,) = decode_request(packet) or []
    found: list[int] = record.addresses.tolist()
    return found


# What goes out


def test_one_word_is_asked_for_in_one_request_without_asking_for_the_burst_first() -> None:
    with scripted(lambda packet, _: [ANSWER(packet)]) as peer:
        target = opened(peer.url)
        assert target.read([0]).tolist() == [FRZF]
        assert [addresses_of(packet) for packet in peer.requests] == [[0]]
        assert target.burst is None


def test_the_burst_is_what_the_device_advertises_and_single_words_until_then() -> None:
    with spawned("etherbone", max_burst=16, depth=64) as url:
        target = opened(url)
        assert target.burst is None
        target.read([0, 4])
        assert target.burst == 16


def test_the_advertised_burst_is_asked_for_once_and_in_single_words() -> None:
    fake = FakeTarget(max_burst=16)
    with scripted(lambda packet, _: [honest(fake)(packet)]) as peer:
        target = opened(peer.url, window=1)
        target.read(TRACE[:40])
        target.read(TRACE[:40])
        asked = [addresses_of(packet) for packet in peer.requests]
        assert asked[:4] == [[0x00], [0x28], [0x00], [0x28]]  # id.magic, id.max_burst, twice
        assert [len(addresses) for addresses in asked[4:]] == [16, 16, 8] * 2


@pytest.mark.parametrize(("advertised", "used"), [(1, 1), (255, 255), (256, 255), (100000, 255)])
def test_no_request_is_larger_than_etherbone_allows(advertised: int, used: int) -> None:
    fake = FakeTarget(max_burst=advertised)
    with scripted(lambda packet, _: [honest(fake)(packet)]) as peer:
        target = opened(peer.url)
        target.read(TRACE[:300])
        assert target.burst == used


def test_what_is_no_freezeframe_device_gets_one_word_a_request() -> None:
    fake = FakeTarget()
    fake.set(0, "id.magic", 0x12345678)
    with scripted(lambda packet, _: [honest(fake)(packet)]) as peer:
        target = opened(peer.url)
        assert target.read([0, 4, 8]).tolist() == fake.read([0, 4, 8]).tolist()
        assert {len(addresses_of(packet)) for packet in peer.requests} == {1}


def test_a_burst_in_the_url_is_used_without_asking() -> None:
    with scripted(lambda packet, _: [ANSWER(packet)]) as peer:
        opened(peer.url, burst=100).read(TRACE[:250])
        assert [len(addresses_of(p)) for p in peer.requests] == [100, 100, 50]


def test_no_more_requests_are_in_flight_than_the_window_allows() -> None:
    with scripted(lambda packet, _: [], answer_probes=True) as peer:
        target = opened(peer.url, burst=1, window=3, timeout=0.08)
        with pytest.raises(TargetTimeout):
            target.read(TRACE[:100])
        assert len(set(peer.requests)) == 3


def test_base_is_added_to_every_address() -> None:
    with scripted(lambda packet, _: [ANSWER(packet)]) as peer:
        target = opened(peer.url, base=0x1000000, burst=4)
        assert target.read([0x14]).tolist() == FAKE.read([0x1000014]).tolist()
        target.write(0x20, [5])
        time.sleep(0.05)
        assert peer.requests[-1] == bytes.fromhex("4e6f104400000000 000f0100 01000020 00000005")
        with pytest.raises(ValueError, match="with the base 0x1000000"):
            target.read([0xFF000000])


def test_a_write_is_sent_once_and_not_waited_for() -> None:
    with scripted(lambda packet, _: []) as peer:
        clock = SteppedClock()
        target = opened(peer.url, clock, burst=255)
        clock.waits_s.clear()
        target.write(0x20, [0x11223344])
        assert clock.waits_s == []
        time.sleep(0.3)
        assert peer.requests == [bytes.fromhex("4e6f104400000000 000f0100 00000020 11223344")]


def test_a_long_write_is_interrupted_by_probes_so_that_it_cannot_overrun_the_device() -> None:
    with scripted(lambda packet, _: []) as peer:
        opened(peer.url, burst=1, window=4).write(0, list(range(10)))
        time.sleep(0.05)
        kinds = ["probe" if packet == PROBE else "write" for packet in peer.heard[1:]]
        assert kinds == [*["write"] * 4, "probe", *["write"] * 4, "probe", *["write"] * 2]


def test_a_local_port_can_be_asked_for_because_liteeth_answers_to_its_own() -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.bind(("", 0))
        free = probe.getsockname()[1]
    with scripted(lambda packet, _: [ANSWER(packet)]) as peer:
        target = opened(peer.url, bind=free)
        target.read([0])
        assert peer.clients == {("127.0.0.1", free)}
        with pytest.raises(TargetError, match=rf"local port {free}.*another program holds"):
            opened(peer.url, bind=free)
        target.close()


# What comes back


def test_a_lost_request_or_answer_is_asked_for_again() -> None:
    def every_third_gets_lost(packet: bytes, number: int) -> list[bytes]:
        return [] if number % 3 == 1 else [ANSWER(packet)]

    with scripted(every_third_gets_lost) as peer:
        target = opened(peer.url, burst=16)
        assert (target.read(TRACE[:320]) == FAKE.read(TRACE[:320])).all()
        assert target.stats.retries > 0


def test_a_request_that_is_repeated_waits_longer_each_time() -> None:
    with scripted(lambda packet, _: []) as peer:
        clock = SteppedClock()
        target = opened(peer.url, clock, timeout=1.2)
        clock.waits_s.clear()
        clock.patience_ms = 1
        with pytest.raises(TargetTimeout):
            target.read([0])
        waits_s = clock.waits_s[:-1]  # the last is what is left of the timeout
        assert len(waits_s) >= 3
        assert [round(later / sooner) for sooner, later in pairwise(waits_s)] == [2] * (
            len(waits_s) - 1
        )
        assert len(set(peer.requests)) == 1


def test_a_target_that_has_become_slow_is_waited_for_until_an_answer_can_be_measured() -> None:
    # An answer to a request that was sent twice measures nothing, so without this it would be sent twice for ever.
    waits = threading.Event()

    class FirstWaits(SteppedClock):
        """Of each read the first wait; in two reads it is in vain."""

        firsts_s: list[float] = []  # noqa: RUF012
        fresh = False

        def wait(self, poll: select.poll, seconds: float) -> None:
            self.patience_ms = 1 if self.fresh and len(self.firsts_s) < 2 else 10_000
            if self.fresh:
                self.firsts_s.append(round(seconds, 3))
            self.fresh = False
            waits.set()
            super().wait(poll, seconds)

    def answer(packet: bytes, number: int) -> list[bytes]:
        if number not in (0, 2):
            waits.wait(10)
        return [] if number in (0, 2) else [ANSWER(packet)]

    with scripted(answer) as peer:
        clock = FirstWaits()
        target = opened(peer.url, clock, burst=1)
        for _ in range(4):
            waits.clear()
            clock.fresh = True
            target.read([0])
    assert clock.firsts_s == [0.1, 0.2, 0.4, 0.02]
    assert target.stats.retries == 2


def test_answers_in_any_order_and_twice_are_put_in_their_places() -> None:
    kept: list[bytes] = []

    def backwards_and_twice(packet: bytes, number: int) -> list[bytes]:
        kept.append(packet)
        if len(kept) < 8:
            return []
        answers = [ANSWER(p) for p in reversed(kept)] * 2
        kept.clear()
        return answers

    with scripted(backwards_and_twice) as peer:
        target = opened(peer.url, burst=8)
        assert (target.read(TRACE[:64]) == FAKE.read(TRACE[:64])).all()
        assert target.stats.retries == 0


def test_a_late_answer_to_an_earlier_read_is_never_believed() -> None:
    first: list[bytes] = []

    def answers_the_first_read_late(packet: bytes, number: int) -> list[bytes]:
        if addresses_of(packet) == [0x10]:
            first[:] = [packet]
            return []
        forged = ANSWER(first[0])[:-4] + b"\xde\xad\xbe\xef"
        return [forged, ANSWER(packet)]

    with scripted(answers_the_first_read_late) as peer:
        target = opened(peer.url, timeout=0.1)
        with pytest.raises(TargetTimeout):
            target.read([0x10])
        assert target.read([0x0C]).tolist() == FAKE.read([0x0C]).tolist()
        assert target.stats.unmatched == 1


def test_the_second_of_two_answers_is_dropped_even_when_it_differs() -> None:
    def contradicts_itself(packet: bytes, number: int) -> list[bytes]:
        good = ANSWER(packet)
        return [good, good[:-4] + b"\0\0\0\0"]

    with scripted(contradicts_itself) as peer:
        target = opened(peer.url, burst=4, window=1)
        assert (target.read(TRACE[:40]) == FAKE.read(TRACE[:40])).all()
        assert target.stats.unmatched >= 9


SPOILT: dict[str, Callable[[bytes], bytes]] = {
    "cut": lambda good: good[:-1],
    "a word short": lambda good: good[:-4],
    "a word long": lambda good: good + bytes(4),
    "a word short and saying so": lambda good: good[:10] + bytes([good[10] - 1]) + good[11:-4],
    "a word long and saying so": lambda good: (
        good[:10] + bytes([good[10] + 1]) + good[11:] + b"\0" * 4
    ),
    "wrong magic": lambda good: b"\x4e\x6e" + good[2:],
    "wrong version": lambda good: good[:2] + b"\x20" + good[3:],
    "wrong widths": lambda good: good[:3] + b"\x48" + good[4:],
    "with a read count": lambda good: good[:11] + b"\x01" + good[12:],
    "with a flag": lambda good: good[:8] + b"\x04" + good[9:],
    "of another id": lambda good: good[:12] + bytes([good[12] ^ 1]) + good[13:],
    "empty": lambda good: b"",
    "a probe's answer": lambda good: PROBE_REPLY,
    "its own question": lambda good: b"\x4e\x6f\x10\x44" + bytes(4) + b"\0\x0f\0\x04" + bytes(20),
}


@pytest.mark.parametrize("how", SPOILT)
def test_an_answer_that_is_not_exactly_one_is_dropped_counted_and_asked_for_again(how: str) -> None:
    def spoils_every_first_answer(packet: bytes, number: int) -> list[bytes]:
        good = ANSWER(packet)
        return [SPOILT[how](good)] if number % 2 == 0 else [good]

    with scripted(spoils_every_first_answer) as peer:
        target = opened(peer.url, burst=4, window=1)
        assert (target.read(TRACE[:8]) == FAKE.read(TRACE[:8])).all()
        assert target.stats.malformed + target.stats.unmatched == 2
        assert target.stats.retries == 2


def test_ids_in_flight_together_are_so_far_apart_that_few_flipped_bits_cannot_swap_them() -> None:
    with scripted(lambda packet, _: [ANSWER(packet)]) as peer:
        opened(peer.url, burst=1).read(TRACE[:200])
        ids = [int.from_bytes(packet[12:16], "big") for packet in peer.requests]
    assert len(set(ids)) == 200
    nearest = min((a ^ b).bit_count() for i, a in enumerate(ids) for b in ids[max(0, i - 16) : i])
    assert nearest >= 3


def test_an_answer_from_another_address_is_not_heard() -> None:
    def script(packet: bytes, number: int) -> list[bytes]:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as stranger:
            forged = ANSWER(packet)[:-4] + b"\xde\xad\xbe\xef"
            stranger.sendto(forged, next(iter(peer.clients)))
        return [ANSWER(packet)]

    with scripted(script) as peer:
        assert opened(peer.url).read([0]).tolist() == [FRZF]


@pytest.mark.parametrize(
    "answer", [b"HTTP/1.0 400 Bad Request\r\n", b"", bytes(64)], ids=["http", "empty", "zeros"]
)
def test_something_else_on_the_port_is_not_called_silent(answer: bytes) -> None:
    with (
        scripted(lambda _packet, _number: [], probe_answer=answer) as peer,
        pytest.raises(TargetError, match="something answers there, but it is not Etherbone"),
    ):
        opened(peer.url, timeout=0.3)


# Through a bad network


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_network_that_loses_doubles_and_reorders_changes_no_word(seed: int) -> None:
    with (
        spawned("etherbone", depth=512, seed=5) as url,
        bad_network(url, BadNetwork(loss=0.05, double=0.02, reorder=0.1, seed=seed)) as network,
    ):
        target = opened(network.url)
        got = [target.read(TRACE) for _ in range(5)]
        assert network.lost > 0
        assert all((words == FAKE.read(TRACE)).all() for words in got)


def test_a_network_that_alters_packets_changes_words_but_never_their_places() -> None:
    # Only data words can be altered unseen: whatever else is, is dropped and asked for again.
    places = cycle([*range(4), *range(8, 16)])

    def alters_all_but_data(packet: bytes) -> bytes:
        place = next(places)
        return packet[:place] + bytes([packet[place] ^ 0x20]) + packet[place + 1 :]

    with (
        spawned("etherbone", depth=512, seed=5) as url,
        bad_network(url, BadNetwork(alter=0.1, spoil=alters_all_but_data)) as network,
    ):
        target = opened(network.url, burst=16)
        for _ in range(5):
            assert (target.read(TRACE) == FAKE.read(TRACE)).all()
        assert network.altered > 20


# When it does not work


def test_an_unknown_host_is_a_clear_error() -> None:
    with pytest.raises(TargetError, match=r"host 'no-such-host\.invalid' is not known"):
        open_target("etherbone://no-such-host.invalid")


def test_a_closed_port_is_a_clear_error_at_once() -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as unused:
        unused.bind(("127.0.0.1", 0))
        port = unused.getsockname()[1]
    clock = SteppedClock()
    with pytest.raises(TargetError, match="nothing listens on this UDP port"):
        opened(f"etherbone://127.0.0.1:{port}", clock)
    assert clock.time_s < 1


def test_no_answer_to_the_probe_is_a_clear_error_when_the_time_is_up() -> None:
    with scripted(lambda packet, _: [], answer_probes=False) as peer:
        with pytest.raises(TargetTimeout, match=r"no answer to a probe in 0\.3 s.*\?bind=1234"):
            opened(peer.url, timeout=0.3)
        assert len(peer.heard) >= 2


def test_the_time_that_is_up_says_how_many_words_are_missing_and_from_where() -> None:
    def answers_only_the_first(packet: bytes, number: int) -> list[bytes]:
        return [ANSWER(packet)] if addresses_of(packet)[0] == 0x40000 else []

    with scripted(answers_only_the_first) as peer:
        target = opened(peer.url, burst=16, timeout=0.2)
        with pytest.raises(TargetTimeout, match=r"24 of 40 words, the first at 0x00040040") as info:
            target.read(TRACE[:40])
        assert "2 of 3 requests unanswered" in str(info.value)


def test_a_flood_of_no_answers_does_not_stop_the_clock() -> None:
    def flood(ended: Callable[[], bool]) -> None:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
            sock.bind(("127.0.0.1", port))
            while not ended():
                sock.sendto(b"not an answer", client)

    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as server:
        server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        server.bind(("127.0.0.1", 0))
        port = server.getsockname()[1]
        client = ("127.0.0.1", 0)

        def answer_the_probe() -> None:
            nonlocal client
            _, client = server.recvfrom(100)
            server.sendto(PROBE_REPLY, client)

        probing = threading.Thread(target=answer_the_probe)
        probing.start()
        clock = SteppedClock(look_s=0.001)
        target = opened(f"etherbone://127.0.0.1:{port}", clock, timeout=0.3)
        probing.join()
        with beside(flood):
            begun_s = clock.time_s
            with pytest.raises(TargetTimeout, match="1 of 1 words"):
                target.read([0])
            assert clock.time_s - begun_s < 2
            assert target.stats.malformed > 100


def test_a_peer_that_answers_a_word_now_and_then_is_given_up_at_the_deadline() -> None:
    with scripted(lambda packet, _: [ANSWER(packet)]) as peer:
        clock = SteppedClock(look_s=0.02)
        target = opened(peer.url, clock, burst=1, window=1, deadline=0.5)
        begun_s = clock.time_s
        with pytest.raises(TargetTimeout, match="did not come in"):
            target.read(TRACE[:100])
        assert clock.time_s - begun_s < 2


def test_a_server_that_goes_away_is_a_timeout_and_one_that_comes_back_is_read_again() -> None:
    with scripted(lambda packet, _: [ANSWER(packet)]) as peer:
        target = opened(peer.url, timeout=0.3)
        assert target.read([0]).tolist() == [FRZF]
    with pytest.raises(TargetTimeout, match="last error: Connection refused"):
        target.read([0])
    assert target.stats.refused > 0
    port = int(peer.url.rpartition(":")[2])
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as back:
        back.bind(("127.0.0.1", port))
        back.settimeout(5)
        target._timeout_s = 5  # the peer of this test answers from the same thread

        def once(packet: bytes, client: tuple[str, int]) -> None:
            back.sendto(ANSWER(packet), client)

        thread = threading.Thread(target=lambda: once(*back.recvfrom(65536)))
        thread.start()
        assert target.read([0]).tolist() == [FRZF]
        thread.join()


@pytest.mark.parametrize(
    ("url", "why"),
    [
        ("etherbone:", "write etherbone://host"),
        ("etherbone:localhost", "write etherbone://host"),
        ("etherbone://", "the host is missing"),
        ("etherbone://:1234", "the host is missing"),
        ("etherbone://h:0", "port '0' is not a number from 1 to 65535"),
        ("etherbone://h:65536", "port '65536' is not a number"),
        ("etherbone://h:x", "port 'x' is not a number"),
        ("etherbone://h/path", "nothing may follow the port"),
        ("etherbone://[::1", "write an IPv6 address as"),
        ("etherbone://h?brust=3", "no option 'brust'; there are bind="),
        ("etherbone://h?burst=0", r"option burst=0: out of range \(1\.\.255\)"),
        ("etherbone://h?burst=256", "out of range"),
        ("etherbone://h?burst=many", "not a whole number"),
        ("etherbone://h?burst=1&burst=2", "given twice"),
        ("etherbone://h?timeout=nan", "out of range"),
    ],
)
def test_a_wrong_url_says_what_is_wrong(url: str, why: str) -> None:
    with pytest.raises(InputError, match=why):
        open_etherbone(url)


def test_ipv6_works_where_the_machine_has_it() -> None:
    try:
        server = EtherboneServer(FAKE, "::1")
    except TargetError:
        pytest.skip("this machine has no IPv6 loopback")
    with closing(server), beside(server.serve_forever):
        target = open_etherbone(f"etherbone://[::1]:{server.port}")
        assert target.read([0]).tolist() == [FRZF]
        target.close()


def test_the_devices_behind_a_bad_network_are_found() -> None:
    def alters_some_data(packet: bytes) -> bytes:
        return packet[:-1] + bytes([packet[-1] ^ 1])

    with (
        spawned("etherbone", seed=5) as url,
        bad_network(url, BadNetwork(loss=0.05, alter=0.02, spoil=alters_some_data)) as network,
    ):
        devices = open_devices(opened(network.url))
        assert [device.identity.tap_depth for device in devices] == [2048, 2048]
