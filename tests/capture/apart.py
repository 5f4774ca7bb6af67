"""Both cards of an emulated pair at ports of their own, each with its own time line, served by a thread."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from freezeframe.capture.targets.base import Target, open_target
from freezeframe.capture.targets.server import EtherboneServer, poll_any
from freezeframe.emulator.apart import cards_apart
from freezeframe.emulator.target import EmulatorTarget
from tests.threads import beside

STEP_PS = 20_000_000  # of simulated time between two looks at the sockets


@contextmanager
def served_apart(target: EmulatorTarget) -> Iterator[list[Target]]:
    """Yield a client for each card of a pair made with ``apart``; nothing else may use the pair meanwhile."""
    with ExitStack() as closing:
        servers = [EtherboneServer(card, "127.0.0.1") for card in cards_apart(target)]

        def serve(ended: Callable[[], bool]) -> None:
            while not ended():
                poll_any(servers, 0.002)
                target.advance(STEP_PS)

        for server in servers:
            closing.callback(server.close)
        closing.enter_context(beside(serve))
        clients = [open_target(f"etherbone://127.0.0.1:{server.port}") for server in servers]
        for client in clients:
            closing.callback(client.close)
        yield clients


def pair_apart(fault: str, seed: int, truth: Path | None = None) -> EmulatorTarget:
    """Return a pair that has run until its fault froze it, or for 400 us without one."""
    target = EmulatorTarget("forth", fault, seed, truth, apart=True, access_ps=0)
    target.run_until_frozen(400_000_000 if fault == "none" else 20_000_000_000)
    return target
