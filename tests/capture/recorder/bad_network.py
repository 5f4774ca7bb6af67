"""Pulls over a UDP path that loses, doubles, reorders and alters, from a target that restarts.

Each is held against the truth, word for word.

The path is a real proxy: the client's datagrams go to its port, and it sends its own to the server.
What it alters therefore has a valid UDP checksum.
"""

from __future__ import annotations

import heapq
import random
import socket
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from freezeframe.capture.errors import TargetError, TargetTimeout
from freezeframe.capture.folder import CaptureFolder, DeviceCapture
from freezeframe.capture.recorder.pull import pull
from freezeframe.capture.registers import names
from freezeframe.capture.targets.base import Target, open_target
from freezeframe.capture.targets.server import EtherboneServer
from tests.capture.recorder.fake_recorder import FakeRecorder

HOST = "127.0.0.1"


@dataclass(frozen=True)
class Fates:
    """Shares of datagrams, in either direction, that meet each fate."""

    lost: float = 0.05
    doubled: float = 0.02
    delayed: float = 0.05  # by 1 to 30 ms, so that later ones overtake them
    altered: float = 0.01  # 1 to 8 bits


@dataclass(frozen=True)
class Restart:
    """After so many requests the server is gone for a while; then it serves ``target``."""

    after_requests: int
    gone_s: float
    target: Target


class BadNetwork:
    """Proxy and server in one thread; ``url`` is where a client finds them."""

    def __init__(
        self, target: Target, seed: int, fates: Fates, restarts: Sequence[Restart] = ()
    ) -> None:
        self.random = random.Random(seed)
        self.fates = fates
        self.restarts = sorted(restarts, key=lambda restart: restart.after_requests)
        self.restarted = 0
        self.requests = 0
        self.altered = 0
        self._back_at_s = 0.0
        self._next: Target | None = None
        self._server: EtherboneServer | None = EtherboneServer(target, HOST, 0)
        self._server_at = (HOST, self._server.port)
        self._front = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._front.bind((HOST, 0))
        self._front.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 20)
        self._front.settimeout(0.001)
        self._back = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._back.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 20)
        self._back.bind((HOST, 0))
        self._back.setblocking(False)
        self._client: tuple[str, int] | None = None
        self._waiting: list[tuple[float, int, bool, bytes]] = []  # due, order, to the server?, data
        self._order = 0
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    @property
    def url(self) -> str:
        return f"etherbone://{HOST}:{self._front.getsockname()[1]}?timeout=0.5"

    def __enter__(self) -> BadNetwork:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join(10)
        for sock in (self._front, self._back):
            sock.close()
        if self._server is not None:
            self._server.close()

    def _run(self) -> None:
        while not self._stop.is_set():
            self._take_from_client()
            self._restart_when_due()
            self._deliver()
            if self._server is not None:
                self._server.poll(0)
            self._take_from_server()
            self._deliver()

    def _take_from_client(self) -> None:
        block = not self._waiting
        for _ in range(64):
            try:
                self._front.settimeout(0.001 if block else 0)
                data, self._client = self._front.recvfrom(65536)
            except (BlockingIOError, TimeoutError):
                return
            block = False
            self.requests += 1
            self._meet_fate(True, data)

    def _take_from_server(self) -> None:
        for _ in range(64):
            try:
                data = self._back.recv(65536)
            except (BlockingIOError, ConnectionRefusedError):
                return
            self._meet_fate(False, data)

    def _meet_fate(self, to_server: bool, data: bytes) -> None:
        fates, draw = self.fates, self.random.random
        if draw() < fates.lost:
            return
        for _ in range(2 if draw() < fates.doubled else 1):
            delay_s = self.random.uniform(0.001, 0.03) if draw() < fates.delayed else 0.0
            if draw() < fates.altered:
                data = self._alter(data)
            self._order += 1
            due_s = time.monotonic() + delay_s
            heapq.heappush(self._waiting, (due_s, self._order, to_server, data))

    def _alter(self, data: bytes) -> bytes:
        altered = bytearray(data)
        for _ in range(self.random.randint(1, 8)):
            altered[self.random.randrange(len(altered))] ^= 1 << self.random.randrange(8)
        self.altered += 1
        return bytes(altered)

    def _deliver(self) -> None:
        while self._waiting and self._waiting[0][0] <= time.monotonic():
            _, _, to_server, data = heapq.heappop(self._waiting)
            if to_server:
                self._back.sendto(data, self._server_at)
            elif self._client is not None:
                self._front.sendto(data, self._client)

    def _restart_when_due(self) -> None:
        if self._server is None:
            if time.monotonic() >= self._back_at_s and self._next is not None:
                self._server = EtherboneServer(self._next, *self._server_at)
                self.restarted += 1
            return
        if self.restarts and self.requests >= self.restarts[0].after_requests:
            restart = self.restarts.pop(0)
            self._server.close()
            self._server = None
            self._next = restart.target
            self._back_at_s = time.monotonic() + restart.gone_s


@dataclass(frozen=True)
class Outcome:
    """What one pull brought: words that differ from the device's, slots missing, or the error."""

    seed: int
    wrong_words: int
    missing_slots: int
    identical: bool
    restarts: int
    altered: int
    retries: int
    outages: int
    recording_lost: bool
    seconds: float
    error: str = ""

    @property
    def honest(self) -> bool:
        """Whether every word is right, and what is missing is stated."""
        stated = self.missing_slots > 0 or bool(self.error)
        return self.wrong_words == 0 and (self.identical or stated)


def one_pull(seed: int, folder: Path, *, depth: int = 2048, fates: Fates | None = None) -> Outcome:
    """Pull through a bad network from a target that restarts twice; the second time, in every third
    run, without its recording."""
    plan = random.Random(seed)
    truth = FakeRecorder(depth=depth, seed=seed)
    lost = seed % 3 == 2
    other = FakeRecorder(depth=depth, seed=seed + 1_000_000, nonce=0x5EC0_0000)
    requests = 2 * 5 * depth * 4 // 255
    restarts = [
        Restart(plan.randrange(40, 60), plan.uniform(0.05, 0.5), truth),
        Restart(60 + plan.randrange(requests), plan.uniform(0.05, 0.5), other if lost else truth),
    ]
    served = FakeRecorder(depth=depth, seed=seed)
    started_s = time.monotonic()
    error = ""
    retries = outages = 0
    with BadNetwork(served, seed, fates or Fates(), restarts) as network:
        target = _opened(network.url)
        try:
            report = pull(target, folder, wait_s=20.0)
            retries, outages = report.retries, report.outages
        except TargetError as failed:
            error = str(failed)
        finally:
            target.close()
        restarted, altered = network.restarted, network.altered
    wrong, missing = (0, 0) if error else against(folder, truth)
    return Outcome(
        seed=seed,
        wrong_words=wrong,
        missing_slots=missing,
        identical=not error and identical(folder, truth),
        restarts=restarted,
        altered=altered,
        retries=retries,
        outages=outages,
        recording_lost=lost,
        seconds=time.monotonic() - started_s,
        error=error,
    )


def _opened(url: str) -> Target:
    """Open through the bad network: all of its few probes may get lost, one time in a thousand."""
    for _ in range(4):
        try:
            return open_target(url)
        except TargetTimeout:
            continue
    return open_target(url)


def against(folder: Path, truth: FakeRecorder) -> tuple[int, int]:
    """Return (wrong records, samples and registers; slots not read)."""
    wrong = missing = 0
    for device in CaptureFolder.open(folder).devices:
        for name, memory in device.memories.items():
            true = np.frombuffer(truth.records(device.index, name), np.uint8).reshape(-1, 9)
            read = memory.read_mask()
            wrong += int((memory.records[read] != true[read]).any(axis=1).sum())
            wrong += int(memory.records[~read].any(axis=1).sum())
            missing += int((~read).sum())
        wrong += sum(
            value != int(truth.words[device.index, address // 4])
            for address, value in device.registers
        )
        missing += len(device.not_read)
        wrong += _wrong_samples(device, truth)
        missing += sum(gap.slots for gap in device.sample_gaps)
    return wrong, missing


def _wrong_samples(device: DeviceCapture, truth: FakeRecorder) -> int:
    at = names.window("samples").address // 4
    true = truth.words[device.index, at : at + 2 * truth.sampler_depth].reshape(-1, 2)
    read = np.ones(truth.sampler_depth, bool)
    for gap in device.sample_gaps:
        read[gap.first_slot : gap.first_slot + gap.slots] = False
    assert device.samples is not None
    return int((device.samples[read] != true[read]).any(axis=1).sum())


def identical(folder: Path, truth: FakeRecorder) -> bool:
    """Return whether the raw files are, byte for byte, those of a pull over no network at all."""
    clean = folder.with_name(f"clean-{folder.name}")
    pull(truth, clean)
    files = sorted(path.name for path in (clean / "raw").iterdir())
    return files == sorted(path.name for path in (folder / "raw").iterdir()) and all(
        (clean / "raw" / name).read_bytes() == (folder / "raw" / name).read_bytes()
        for name in files
    )
