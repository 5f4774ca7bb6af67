"""The target ``emu:`` and the served pair."""

from __future__ import annotations

import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from queue import Queue

import pytest

from freezeframe.capture.errors import InputError, TargetError
from freezeframe.capture.targets.base import Target, open_target
from freezeframe.emulator.serve import emulate
from freezeframe.emulator.target import EmulatorTarget, open_emulator
from tests.emulator.reading import Card
from tests.processes import cpu_used_s
from tests.threads import beside

MAGIC = 0x46525A46


def test_the_url_opens_the_pair_that_it_describes(tmp_path: Path) -> None:
    truth = tmp_path / "t.json"
    target = open_target(f"emu:?profile=forth&fault=word-omitted&seed=7&truth={truth}")
    assert isinstance(target, EmulatorTarget)
    assert isinstance(target, Target)
    assert target.url == f"emu:?profile=forth&fault=word-omitted&seed=7&truth={truth}"
    assert target.read([0, 0x0100_0000]).tolist() == [MAGIC, MAGIC]
    assert target.read([]).tolist() == []
    assert truth.exists()


def test_the_shortest_url_is_a_clean_pair() -> None:
    assert open_emulator("emu:").url == "emu:?profile=forth&fault=none&seed=0"


@pytest.mark.parametrize(
    ("url", "says"),
    [
        ("emu:?colour=red", "unknown option 'colour'"),
        ("emu:?seed=1&seed=2", "option 'seed' is given twice"),
        ("emu:?seed=-1", "seed '-1'; a seed is a whole number from 0 on"),
        ("emu:?seed=", "seed ''"),
        ("emu:?fault=lost", "there is no fault 'lost'; there is none, word-omitted"),
        ("emu:?profile=fifth", "profile 'fifth' does not exist; there are .*, forth, "),
        ("emu://host", "an emulated pair is written emu:"),
    ],
)
def test_a_mistake_in_the_url_is_named(url: str, says: str) -> None:
    with pytest.raises(InputError, match=says):
        open_emulator(url)


def test_each_call_takes_the_same_simulated_time_so_that_whoever_polls_sees_progress() -> None:
    target = open_emulator("emu:?fault=payload-bit-flip&seed=2")
    assert isinstance(target, EmulatorTarget)
    card = Card(target, 1)
    for _ in range(1000):
        if card.state == 3:
            break
    assert card.state == 3
    assert card.read("ctl.causes") == 1 << 3


def test_the_same_calls_see_the_same_bits() -> None:
    def session() -> list[int]:
        target = open_emulator("emu:?fault=none&seed=9")
        seen: list[int] = []
        for _ in range(10):
            seen += target.read(range(0x200, 0x2A0, 4)).tolist()
            target.write(0x504, [1 | 8 << 16])
        return seen

    assert session() == session()


@pytest.mark.parametrize("address", [-4, 2, 1 << 32])
def test_an_address_that_is_none_is_refused(address: int) -> None:
    target = EmulatorTarget()
    with pytest.raises(ValueError, match="is not a multiple of 4 within 32 bits"):
        target.read([0, address])
    with pytest.raises(ValueError, match="is not a multiple of 4 within 32 bits"):
        target.write(address, [0])


def test_a_word_above_32_bits_is_refused_and_nothing_is_written() -> None:
    target = EmulatorTarget()
    before = target.read([0x15C, 0x160]).tolist()
    with pytest.raises(ValueError, match="word 4294967296 does not fit 32 bits"):
        target.write(0x15C, [1, 1 << 32])
    assert target.read([0x15C, 0x160]).tolist() == before


def test_a_closed_target_raises_and_closing_twice_is_harmless() -> None:
    target = EmulatorTarget()
    target.close()
    target.close()
    for use in (lambda: target.read([0]), lambda: target.write(0x15C, [0])):
        with pytest.raises(TargetError, match="has been closed"):
            use()


def test_a_boot_nonce_is_drawn_at_each_power_up_and_tells_nothing_of_seed_or_fault() -> None:
    def nonce(given: int | None = None) -> int:
        return int(EmulatorTarget(seed=1, nonce=given).read([0x10])[0])

    assert nonce() != nonce()
    assert nonce(77) == 77


@contextmanager
def served(truth: Path | None = None) -> Iterator[Target]:
    """Serve a pair that its fault freezes, until the end of the block; gives a client of it."""
    ready: Queue[str] = Queue()

    def run(ended: Callable[[], bool]) -> None:
        emulate("127.0.0.1:0", "forth", "word-omitted", 3, truth, ready.put, speed=None, stop=ended)

    with beside(run):
        target = open_target(ready.get(timeout=20))
        yield target
        target.close()


def test_a_served_pair_answers_freezes_by_itself_and_stops_when_told(tmp_path: Path) -> None:
    with served(tmp_path / "truth.json") as target:
        assert target.read([0, 0x0100_0000]).tolist() == [MAGIC, MAGIC]
        deadline = time.monotonic() + 20
        while int(target.read([0x0100_0104])[0]) & 3 != 3 and time.monotonic() < deadline:
            time.sleep(0.02)
        assert int(target.read([0x0100_0104])[0]) & 3 == 3
        # Once both are held the CRC tables become ready without anyone polling for them.
        time.sleep(0.3)
        assert int(target.read([0x284])[0]) >> 16 == 8
    assert "word-omitted" in (tmp_path / "truth.json").read_text()


def test_a_served_card_that_is_armed_and_held_can_be_frozen_while_the_other_stands_still() -> None:
    with served() as target:
        deadline_s = time.monotonic() + 20

        def wait_for_frozen(device: int) -> bool:
            while int(target.read([device << 24 | 0x104])[0]) & 3 != 3:
                if time.monotonic() > deadline_s:
                    return False
                time.sleep(0.02)
            return True

        assert wait_for_frozen(0) and wait_for_frozen(1)
        target.write(0x108, [0x4152 << 16 | 2])
        assert int(target.read([0x104])[0]) == 1 | 1 << 4  # armed, and held as long as B is frozen
        target.write(0x10C, [0x465A << 16 | 2])
        deadline_s = time.monotonic() + 3  # 655 us of simulation: post runs out by cycles alone
        assert wait_for_frozen(0)


SERVE = """
import sys
from freezeframe.emulator.serve import emulate
emulate("127.0.0.1:0", fault="none", seed=1, on_ready=lambda url: print(url, flush=True))
print("stopped", flush=True)
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_the_server_cleanly_and_a_clean_pair_leaves_most_of_a_core_free(
    number: signal.Signals,
) -> None:
    process = subprocess.Popen([sys.executable, "-c", SERVE], stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        url = process.stdout.readline().strip()
        target = open_target(url)
        before_s, words = cpu_used_s(process.pid), int(target.read([0x208])[0])
        begin_s = time.monotonic()
        time.sleep(1.0)
        assert int(target.read([0x208])[0]) > words
        assert cpu_used_s(process.pid) - before_s < 0.7 * (time.monotonic() - begin_s)
        target.close()
        process.send_signal(number)
        assert process.wait(5) == 0
        assert process.stdout.read() == "stopped\n"
    finally:
        process.kill()
        process.wait()


@pytest.mark.parametrize("listen", ["127.0.0.1", "127.0.0.1:", ":80", "127.0.0.1:70000", "h:x"])
def test_a_listen_address_that_is_none_is_refused(listen: str) -> None:
    with pytest.raises(InputError, match=r"write HOST:PORT, port 0\.\.65535"):
        emulate(listen)


def test_a_port_in_use_is_an_error_that_names_it() -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
        with pytest.raises(TargetError, match=str(port)):
            emulate(f"127.0.0.1:{port}")
