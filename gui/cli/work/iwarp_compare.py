"""iWARP and bare TCP measured in turns, so that whatever else the machine does meets both: ratios, not times.

The other end is a process of its own, ``freezeframe iwarp listen``; both ends are ours. A round measures each of them
once, in a different order each time; a ratio is the median of those of the rounds.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass

from freezeframe.capture.errors import TargetError
from freezeframe.emulator.iwarp import plain_tcp
from freezeframe.emulator.iwarp.mpa import Options
from freezeframe.emulator.iwarp.service import Client

OFF, ON, TCP, GATHER = "CRC off", "CRC on", "TCP sendall", "TCP sendmsg"
_MEMORY_B = 1 << 20


@dataclass(frozen=True, slots=True)
class Measured:
    """What a call took: nanoseconds by the clock, and of the processor in this process and in the other end's."""

    wall_ns: float
    sender_ns: int
    receiver_ns: int


@contextmanager
def listener(*options: str) -> Iterator[tuple[str, int, int]]:
    """Run ``freezeframe iwarp listen`` on a free port; yield host, port and process number.

    Raises:
        TargetError: it does not begin to listen.
    """
    command = [sys.executable, "-m", "freezeframe", "iwarp", "listen", "127.0.0.1:0", *options]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            said = process.stdout.readline().split()
            if len(said) != 2:
                raise TargetError("the listener has ended before it was ready")
            host, _, port = said[1].rpartition(":")
            yield host, int(port), process.pid
        finally:
            process.terminate()
            process.stdout.close()


class Comparison:
    """Connections to all ends that are compared; `close` ends them."""

    def __init__(self) -> None:
        self._stack = ExitStack()
        try:
            listeners = {
                OFF: self._stack.enter_context(listener("--no-crc")),
                ON: self._stack.enter_context(listener()),
            }
            # Of their own for round trips: whoever wants Writes answered has all of them answered.
            self._pinging, self._streaming = (
                {
                    name: self._client(*where, crc=name == ON, writes_back=back)
                    for name, where in listeners.items()
                }
                for back in (True, False)
            )
            host, port, pid = self._stack.enter_context(listener("--tcp"))
            self._plain = {
                name: (plain_tcp.Client(host, port, gather=name == GATHER), pid)
                for name in (TCP, GATHER)
            }
        except BaseException:
            self._stack.close()
            raise

    def _client(
        self, host: str, port: int, pid: int, *, crc: bool, writes_back: bool
    ) -> tuple[Client, int]:
        client = Client(host, port, Options(crc=crc), _MEMORY_B, writes_back=writes_back)
        client.pair.start()
        self._stack.callback(client.pair.mpa.abort)
        return client, pid

    def __enter__(self) -> Comparison:
        return self

    def __exit__(self, *_: object) -> None:
        for plain, _pid in self._plain.values():
            plain.close()
        self._stack.close()

    def pings(self, size_B: int, count: int, rounds: int) -> dict[str, list[Measured]]:
        """Measure half round trips by RDMA Writes, and of bare TCP: for each round the median of ``count``."""

        def iwarp(client: Client) -> float:
            times = [client.ping(size_B, write=True) for _ in range(count)]
            return statistics.median(times) / 2

        def plain(client: plain_tcp.Client) -> float:
            return statistics.median(client.pings(size_B, count)) / 2

        calls = self._calls(self._pinging, iwarp, plain, (OFF, ON, TCP))
        return _in_turns(calls, rounds, count)

    def streams(self, size_B: int, count: int, rounds: int) -> dict[str, list[Measured]]:
        """Measure ``count`` messages one way, by RDMA Writes and of bare TCP: for each round the time of one."""
        calls = self._calls(
            self._streaming,
            lambda client: client.stream(size_B, count) / count,
            lambda client: client.stream(size_B, count) / count,
            (OFF, ON, TCP, GATHER),
        )
        return _in_turns(calls, rounds, count)

    def _calls(
        self, clients: Mapping[str, tuple[Client, int]], iwarp: Callable[[Client], float],
        plain: Callable[[plain_tcp.Client], float], names: tuple[str, ...],
    ) -> dict[str, tuple[Callable[[], float], int]]:  # fmt: skip
        calls: dict[str, tuple[Callable[[], float], int]] = {}
        for name in names:
            if name in clients:
                client, pid = clients[name]
                calls[name] = (lambda client=client: iwarp(client), pid)  # type: ignore[misc]
            else:
                bare, pid = self._plain[name]
                calls[name] = (lambda bare=bare: plain(bare), pid)  # type: ignore[misc]
        return calls


def ratio(
    found: Mapping[str, list[Measured]], name: str, against: str,
    of: Callable[[Measured], float] = lambda m: m.wall_ns,
) -> float:  # fmt: skip
    """Return the median over the rounds of one's figure by another's."""
    pairs = zip(found[name], found[against], strict=True)
    return statistics.median(of(mine) / of(theirs) for mine, theirs in pairs)


def faster(found: Mapping[str, list[Measured]], *names: str) -> str:
    """Return which of several is the faster over all rounds."""
    return min(names, key=lambda name: middle(found, name))


def middle(found: Mapping[str, list[Measured]], name: str) -> float:
    """Return the median time over the rounds, nanoseconds."""
    return statistics.median(m.wall_ns for m in found[name])


def _in_turns(
    calls: Mapping[str, tuple[Callable[[], float], int]], rounds: int, count: int
) -> dict[str, list[Measured]]:
    found: dict[str, list[Measured]] = {name: [] for name in calls}
    names = list(calls)
    for call, _ in calls.values():
        call()
    for number in range(rounds):
        for name in names[number % len(names) :] + names[: number % len(names)]:
            call, pid = calls[name]
            ours, theirs = time.process_time_ns(), _processor_ns(pid)
            wall_ns = call()
            spent = time.process_time_ns() - ours, _processor_ns(pid) - theirs
            found[name].append(Measured(wall_ns, spent[0] // count, spent[1] // count))
    return found


def _processor_ns(pid: int) -> int:
    """Return the processor time of a process, with that of threads that have ended (the clock that Linux has of it)."""
    return time.clock_gettime_ns(~pid << 3 | 2)
