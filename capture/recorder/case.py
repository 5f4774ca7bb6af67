"""Several targets in one capture: both ends of a link in computers of their own, and what the host saw.

Each target is pulled as alone, all at the same time; the folder is written when all have answered, or not at
all. How their time lines relate is not decided here: packets and pairs of instants say it when the capture
is decoded.

Source: docs/formats.md, section 7, "Several targets".
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any

from freezeframe.capture.custody.ledger import Ledger, RecordingKey
from freezeframe.capture.custody.recordings import generations_of, recordings_in
from freezeframe.capture.errors import FreezeframeError, InputError
from freezeframe.capture.folder import CaptureWriter, DeviceCapture, HostTrace
from freezeframe.capture.folder.history import history_of
from freezeframe.capture.folder.manifest import host_file
from freezeframe.capture.recorder.progress import Progress, Tally
from freezeframe.capture.recorder.pull import (
    PullReport,
    Stands,
    armed_of,
    cards_of,
    gather,
    report_of,
    write_cards,
)
from freezeframe.capture.registers.layouts import DOMAIN_NAMES
from freezeframe.capture.targets.base import Target

_MOST_HOST_B = 1 << 30


@dataclass(frozen=True, slots=True)
class SameTime:
    """Two instants that are one: a cycle of a clock of one device, and one of another's, within ``unc_ps``."""

    a: tuple[str, str, int]
    b: tuple[str, str, int]
    unc_ps: int = 0

    @classmethod
    def parse(cls, text: str) -> SameTime:
        """Read ``A.bus:12345=B.bus:67890+-100``: device, clock, cycle; then the uncertainty in ns.

        Raises:
            InputError: it is not of that form; the message says what is missing.
        """
        pair, _, within = text.partition("+-")
        left, equals, right = pair.partition("=")
        if not equals or (within and not within.strip().isdigit()):
            raise InputError(
                f"--same-time {text!r}: write A.bus:CYCLE=B.bus:CYCLE, and behind it +-NANOSECONDS "
                "where they agree only within so much"
            )
        return cls(_instant(left, text), _instant(right, text), 1000 * int(within or 0))

    def to_json(self) -> dict[str, Any]:
        return {"a": list(self.a), "b": list(self.b), "unc_ps": self.unc_ps}


def pull_case(
    targets: Sequence[Target],
    path: Path | str,
    *,
    freeze: bool = False,
    wait_s: float = 30.0,
    progress: Callable[[Sequence[Progress]], None] | None = None,
    overwrite: bool = False,
    reopen: Sequence[Callable[[], Target]] | None = None,
    same_time: Sequence[SameTime] = (),
    host: Callable[[], Sequence[HostTrace]] = tuple,
    card: Path | None = None,
    ledger: Ledger | None = None,
    ran: datetime | None = None,
    stands: Stands | None = None,
) -> PullReport:
    """Pull one or several targets into one capture folder; devices are named in the order of the targets.

    Args:
        progress: called with the progress of each target, from several threads.
        same_time: instants of clocks of different targets that are known to be the same.
        host: returns traces of the computers the cards are in, which are kept as they are; called when all
            recorders have been read, so that the traces reach as far as the recordings.
        ledger, ran: as of `pull`.
        stands: called as soon as the capture stands on the disk, before it is read again and noted.
        others: as of `freezeframe.capture.recorder.pull.pull`.
    Raises:
        InputError: a pair or a trace names a device that is not there, a trace is empty or above 1 GiB,
            or the folder cannot be written.
        RecorderStateError, DeviceUnknownError, TargetError: as `pull`, of whichever target failed first;
            nothing is written then.
    """
    sources = list(dict.fromkeys(target.url.partition("?")[0] for target in targets))
    writer = CaptureWriter(path, source=", ".join(sources), overwrite=overwrite)
    latest: list[Progress] = [Progress("identity", 0, 0, 0, 0)] * len(targets)

    def reporter(number: int) -> Callable[[Progress], None]:
        def report(now: Progress) -> None:
            latest[number] = now
            if progress is not None:
                progress(tuple(latest))

        return report

    tallies = [Tally(reporter(number)) for number in range(len(targets))]
    with ThreadPoolExecutor(max(1, len(targets)), "pull") as pool:
        running = [
            pool.submit(
                gather,
                target,
                tallies[number],
                freeze=freeze,
                wait_s=wait_s,
                reopen=reopen[number] if reopen else None,
                card=card,
            )
            for number, target in enumerate(targets)
        ]
        failed = [error for one in running if (error := one.exception()) is not None]
    for error in failed:
        if isinstance(error, FreezeframeError):
            raise error
    results = [one.result() for one in running]
    book = ledger or Ledger()
    cards = [card for found in results for card in cards_of(found)]
    if cards:
        traces = host()
        if len(targets) > 1 or same_time or traces:
            raise InputError(
                f"{sources[0]}: a card that is described by a file is pulled alone, without --same-time and "
                "--host-trace: pull each target into a capture of its own"
            )
        return write_cards(
            path, cards, targets[0].url, tallies[0], book, overwrite=overwrite,
            armed=armed_of(results, book), ran=ran, stands=stands,
        )  # fmt: skip
    _refuse_twice([target.url for target in targets], [recordings_in(found) for found in results])
    devices = _named(
        [[device for device in found if isinstance(device, DeviceCapture)] for found in results]
    )
    for device in devices:
        writer.add_device(device)
    _state(writer, devices, sources if len(targets) > 1 else [], same_time, host())
    frozen = [tally.frozen for tally in tallies if tally.frozen is not None]
    froze = any(tally.froze for tally in tallies)
    source = ", ".join(sources)
    writer.tell(
        history_of(
            generations_of(devices), max(frozen, default=None), source, froze=froze,
            armed=armed_of(_by_target(devices, len(targets)), book), ran=ran,
        )
    )  # fmt: skip
    written = writer.commit()
    if stands is not None:
        stands(written, [recordings_in(found) for found in results], tallies)
    return report_of(written, tallies, results, book)


def _refuse_twice(urls: Sequence[str], of_targets: Sequence[Sequence[RecordingKey]]) -> None:
    """Refuse one recording over two ways: nonce, generation and cycle of its cause say which it is."""
    way_of: dict[RecordingKey, int] = {}
    for number, keys in enumerate(of_targets):
        for key in keys:
            if key.cause_cycle is None:
                continue
            first = way_of.setdefault(key, number)
            if first != number:
                raise InputError(
                    f"{urls[first]} and {urls[number]}: lead to the same card, boot nonce {key.nonce:#010x}; "
                    "name it once"
                )


def _by_target(devices: Sequence[DeviceCapture], targets: int) -> list[list[DeviceCapture]]:
    return [[each for each in devices if each.target == number] for number in range(targets)]


def _named(of_targets: Sequence[Sequence[DeviceCapture]]) -> list[DeviceCapture]:
    devices = [(number, device) for number, of in enumerate(of_targets) for device in of]
    return [
        replace(device, index=index, target=number)
        for index, (number, device) in enumerate(devices)
    ]


def _state(
    writer: CaptureWriter,
    devices: Sequence[DeviceCapture],
    sources: Sequence[str],
    same_time: Sequence[SameTime],
    host: Sequence[HostTrace],
) -> None:
    known = [device.name for device in devices]
    for pair in same_time:
        for name, _, _ in (pair.a, pair.b):
            _must_know(name, known, "--same-time")
    if sources:
        writer.add_statement("targets", list(sources))
    if same_time:
        writer.add_statement("time_pairs", [pair.to_json() for pair in same_time])
    if host:
        entries, files = [], {}
        for number, trace in enumerate(host):
            _must_know(trace.device, known, "--host-trace")
            if not trace.text.strip():
                raise InputError(f"--host-trace {trace.name}: is empty")
            if len(trace.text) > _MOST_HOST_B:
                raise InputError(
                    f"--host-trace {trace.name}: {len(trace.text)} B are more than {_MOST_HOST_B} B; "
                    "cut it to the time around the fault"
                )
            files[host_file(number)] = trace.text
            entries.append({"name": trace.name, "device": trace.device, "file": host_file(number)})
        writer.add_statement("host", entries, files)


def _must_know(name: str, known: Sequence[str], option: str) -> None:
    if name not in known:
        raise InputError(f"{option}: no device {name!r}; the capture holds {', '.join(known)}")


def _instant(text: str, whole: str) -> tuple[str, str, int]:
    clock, colon, cycle = text.strip().partition(":")
    device, dot, domain = clock.partition(".")
    if not colon or not dot or domain not in DOMAIN_NAMES or not cycle.strip().isdigit():
        raise InputError(
            f"--same-time {whole!r}: {text.strip()!r} is no instant; write DEVICE.CLOCK:CYCLE with "
            f"CLOCK {' or '.join(DOMAIN_NAMES)}, as in A.bus:12345"
        )
    return device, domain, int(cycle)
