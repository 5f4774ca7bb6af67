"""The emulated pair on a UDP Etherbone server: one thread that simulates a little, answers, and so on.

The simulation runs at a fixed fraction of real time, so that traffic can be watched, a fault comes within
seconds, and a pair that runs for ever costs a part of one core. Once both cards are frozen and held, the
thread waits for requests and nothing else.
"""

from __future__ import annotations

import os
import shlex
import signal
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

from freezeframe.capture.card.elaborated import elaborate
from freezeframe.capture.card.reading import read_card
from freezeframe.capture.code import code
from freezeframe.capture.errors import InputError
from freezeframe.capture.folder.card_folder import CardFolder
from freezeframe.capture.folder.manifest import has_manifest
from freezeframe.capture.folder.of_cards import is_card_folder
from freezeframe.capture.folder.one_file import place_of
from freezeframe.capture.listen import listen_address
from freezeframe.capture.targets.base import Target
from freezeframe.capture.targets.server import EtherboneServer, poll_any
from freezeframe.emulator.apart import cards_apart
from freezeframe.emulator.card_image import CardImage, empty_recording
from freezeframe.emulator.running_card import RunningCard, Wanted, model_of
from freezeframe.emulator.target import EmulatorTarget

_is_samples = code("freezeframe.capture.folder.samples:is_sample_folder")  # numba, for its cuts
DEFAULT_SPEED = 5e-4
"""Simulated seconds a second. 500 us a second keeps one core 5-25 % busy and meets most faults within a
second or two.
"""

_SLICE_S = 0.001  # of work between two looks at the socket, so that answers stay prompt
_LAG_S = 0.05  # a greater lag is dropped instead of made up
_NAP_S = 0.002
_IDLE_S = 0.2  # how long a frozen pair may sleep before it looks whether it is to stop
# After a freeze: until the CRC table is ready and the last signals have crossed.
_SETTLE_PS = 2_000_000_000
# The cost of a request while the pair is held, so that its clocks are seen to run.
_REQUEST_PS = 2_000_000
_STEP_EVENTS = 64  # simulated between two looks at the time of day
_STEP_PS = 10**11  # at most, of which an idle stretch costs no more than they do
# For so long after a request an idle pair goes no faster than one that is simulated: hours that are skipped between two
# reads of one answer would leave no counters that belong together.
_ASKED_S, _ASKED_SPEED = 0.015, 0.5


class Pacer:
    """Lets simulated time follow real time at a fixed ratio, a slice at a time."""

    def __init__(self, target: EmulatorTarget, speed: float | None) -> None:
        """Begin now. ``speed`` in simulated seconds a second; None is as fast as it goes."""
        self._target = target
        self._speed = speed
        self._asked_s = float("-inf")
        self._asked_ps = 0
        self._anchor()

    def run_slice(self) -> float:
        """Simulate for at most about a millisecond; return how long to wait for requests, in seconds."""
        begin_s = time.monotonic()
        due_ps = self._due_ps(begin_s)
        while due_ps is None or self._target.now_ps < due_ps:
            step_ps = _STEP_PS if due_ps is None else min(_STEP_PS, due_ps - self._target.now_ps)
            self._target.advance_some(step_ps, _STEP_EVENTS)
            if time.monotonic() - begin_s > _SLICE_S:
                break
        if due_ps is None:
            return 0.0
        if self._speed and due_ps - self._target.now_ps > _LAG_S * self._speed * 1e12:
            self._anchor()
        return 0.0 if self._target.now_ps < due_ps else _NAP_S

    def asked(self) -> None:
        """Take note that requests were answered just now."""
        self._asked_s, self._asked_ps = time.monotonic(), self._target.now_ps

    def stand_still(self, settled: bool, requests: int) -> None:
        """Both cards are held: let the device finish once, then only requests take time."""
        self._target.advance(_REQUEST_PS * requests if settled else _SETTLE_PS)
        self._anchor()

    def _anchor(self) -> None:
        self._began_s = time.monotonic()
        self._began_ps = self._target.now_ps

    def _due_ps(self, now_s: float) -> int | None:
        if self._speed is None:
            since_s = now_s - self._asked_s
            if since_s > _ASKED_S:
                return None
            return self._asked_ps + int(since_s * _ASKED_SPEED * 1e12)
        return self._began_ps + int((now_s - self._began_s) * self._speed * 1e12)


def emulate(
    listen: str,
    profile: str = "forth",
    fault: str = "none",
    seed: int = 0,
    truth: Path | str | None = None,
    on_ready: Callable[[str], None] | None = None,
    *,
    speed: float | None = DEFAULT_SPEED,
    nonce: int | None = None,
    load: str | None = None,
    workload: str | None = None,
    apart: bool = False,
    host_traces: Mapping[str, Path] | None = None,
    through: str | None = None,
    monitor: str | None = None,
    stop: Callable[[], bool] | None = None,
    remark: Callable[[str], None] = lambda text: None,
) -> None:
    """Serve an emulated pair until SIGINT, SIGTERM, or ``stop`` says so.

    Args:
        listen: ``HOST:PORT``; port 0 takes a free one.
        on_ready: called once with the URL under which the pair can be reached; with ``apart``, with one
            for each card, with a blank between them; with ``monitor``, and behind them, with `` switch `` and the name
            of its console.
        speed: simulated seconds a second; None is as fast as one core goes.
        nonce: boot nonce; None draws a new one, as a power-up does.
        load, workload, host_traces, through, monitor: as `EmulatorTarget`.
        remark: called with a sentence for each thing that makes the run long.
        apart: each card has a port and a time line of its own: B's port is the next after A's, or any
            free one where that of A was.
    Raises:
        InputError: ``listen`` is not HOST:PORT, or as `EmulatorTarget` raises.
        TargetError: the address cannot be listened at.
    """
    host, port = listen_address(listen)
    if model_of(profile):
        if load or apart or host_traces or through or monitor:
            raise InputError(
                f"profile {profile} is one card: it has no --load, --apart, --host-trace, --through or --monitor"
            )
        card = RunningCard(
            Wanted(profile, fault, seed, workload or ""),
            None if truth is None else Path(truth),
            nonce,
        )
        _serve_image(card, host, port, on_ready or _nothing, stop)
        return
    if speed is not None and speed <= 0:
        raise InputError(f"speed {speed}: simulated seconds a second must be above 0")
    target = EmulatorTarget(
        profile, fault, seed, truth, access_ps=0, nonce=nonce,
        apart=apart, load=load, workload=workload, host_traces=host_traces,
        through=through, monitor=monitor,
    )  # fmt: skip
    for text in target.pair.remarks():
        remark(text)
    served: Sequence[Target] = cards_apart(target) if apart else (target,)
    with ExitStack() as closing:
        closing.callback(target.close)
        servers = []
        for number, device in enumerate(served):
            server = EtherboneServer(device, host, port + number if port else 0)
            closing.callback(server.close)
            servers.append(server)
        with _stopping(stop) as stopped:
            if on_ready is not None:
                shown = f"[{host}]" if ":" in host else host
                urls = " ".join(f"etherbone://{shown}:{server.port}" for server in servers)
                on_ready(urls + (f" switch {target.console}" if target.console else ""))
            _serve(target, servers, Pacer(target, speed), stopped)


def serve_card(
    listen: str,
    card: Path,
    on_ready: Callable[[str], None],
    stop: Callable[[], bool] | None = None,
) -> None:
    """Serve the registers of a card on which nothing happened, until SIGINT, SIGTERM, or ``stop`` says so.

    Args:
        card: its file, or a capture of such a card, whose recording is served.
    Raises:
        InputError: ``listen`` is not HOST:PORT, or the card cannot be used.
        TargetError: the address cannot be listened at.
    """
    host, port = listen_address(listen)
    place = place_of(card)
    if is_card_folder(place):
        recordings = [device.recording() for device in CardFolder.open(place).devices]
    elif place.is_dir():
        raise InputError(
            f"{card}: {_what_is(place, card)}; --card takes a card file, or a capture of a card that is described by "
            "one"
        )
    else:
        said = elaborate(read_card(card))
        if said.of_hooks:
            raise InputError(
                f"{card}: card {said.name} is of C hooks alone and has no registers to serve; its program's dump comes "
                "by freezeframe console"
            )
        recordings = [empty_recording(said)]
    nonce = int.from_bytes(os.urandom(4), "little")
    _serve_image(CardImage(recordings, boot_nonce=nonce), host, port, on_ready, stop)


def _what_is(place: Path, given: Path) -> str:
    """Return what a folder is that cannot be served."""
    if _is_samples(place):
        return "holds samples of a logic analyzer"
    if has_manifest(place):
        return (
            "is a capture of the built-in card, which is not served again; freezeframe status and reg read it as "
            f"file:{shlex.quote(str(given))}"
        )
    return "is a directory, and no capture folder (it has no manifest.json)"


def _nothing(url: str) -> None:
    return None


def _serve_image(
    card: CardImage,
    host: str,
    port: int,
    on_ready: Callable[[str], None],
    stop: Callable[[], bool] | None,
) -> None:
    server = EtherboneServer(card, host, port)
    try:
        with _stopping(stop) as stopped:
            on_ready(f"etherbone://{f'[{host}]' if ':' in host else host}:{server.port}")
            server.serve_forever(stopped)
    finally:
        server.close()


def _serve(
    target: EmulatorTarget,
    servers: Sequence[EtherboneServer],
    pacer: Pacer,
    stopped: Callable[[], bool],
) -> None:
    settled, requests = False, 0
    while not stopped():
        if target.pair.stands_still:
            pacer.stand_still(settled, requests)
            settled = True
            requests = poll_any(servers, _IDLE_S)
        else:
            settled = False
            if poll_any(servers, pacer.run_slice()):
                pacer.asked()


@contextmanager
def _stopping(stop: Callable[[], bool] | None) -> Iterator[Callable[[], bool]]:
    """Give a function that says whether to stop; signals are caught for the length of the ``with``."""
    caught = threading.Event()
    before = {}
    # Python allows handlers in the main thread only; elsewhere the caller's `stop` decides.
    if threading.current_thread() is threading.main_thread():
        for number in (signal.SIGINT, signal.SIGTERM):
            before[number] = signal.signal(number, lambda *_: caught.set())
    try:
        yield lambda: caught.is_set() or (stop is not None and stop())
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
