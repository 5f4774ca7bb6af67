"""``freezeframe serve``: sources read at their own pace, and a server for whoever asks."""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from types import FrameType

from freezeframe.capture.counters.contract import Sample
from freezeframe.capture.counters.reader import SourceReader
from freezeframe.capture.counters.recording import Recording
from freezeframe.capture.errors import InputError
from freezeframe.capture.listen import listen_address
from freezeframe.gui.cli.output import count_text
from freezeframe.gui.cli.work.sources import check_period, opened_readers
from freezeframe.gui.metrics.http import MetricsServer, read_token
from freezeframe.gui.places import refuse_evidence
from freezeframe.gui.text import printable


def serve(
    sources: Sequence[str],
    listen: str,
    token_file: Path | None,
    every_s: float,
    root: Path | None,
    record: Path | None = None,
    record_keep_B: int | None = None,
) -> None:
    """Serve live counters until interrupted.

    Raises:
        InputError: an argument that cannot be used, or the address is taken.
        TargetError: a card cannot be reached.
    """
    if record_keep_B is not None and record is None:
        raise InputError("--record-keep: is of a recording; name it: --record NAME.ffrec")
    host, port = listen_address(listen, name="--listen", hint="for instance 127.0.0.1:9464")
    check_period(every_s)
    token = None if token_file is None else read_token(token_file)
    with (
        opened_readers(sources, root, every_s) as readers,
        MetricsServer(host, port, readers, token) as server,
        _recorded(readers, record, record_keep_B, every_s),
    ):
        for reader in readers:
            reader.start()
        shown = f"[{host}]" if ":" in host else host
        print(printable(f"ready http://{shown}:{server.server_port}/metrics and /json"), flush=True)
        _run_until_interrupted(server)


@contextmanager
def _recorded(
    readers: Sequence[SourceReader], path: Path | None, keep_B: int | None, every_s: float
) -> Iterator[None]:
    """Take every sample of the sources, into a recording where one is asked for; so none waits in memory.

    At the end the readers are stopped and their last samples taken: what was read is recorded, or said to be lost.
    """
    recording = None
    if path is not None:
        refuse_evidence(path)
        recording = Recording(path, keep_B=keep_B)
    ended = threading.Event()

    def take() -> None:
        without_room = False
        while True:
            last = ended.wait(every_s)
            if last:
                for reader in readers:
                    reader.stop()
            taken = [(reader, sample) for reader in readers for sample in reader.take()]
            if recording is not None:
                try:
                    _record(recording, readers, taken)
                except OSError as error:
                    print(
                        f"freezeframe: {printable(recording.path)}: {error.strerror}; not recorded",
                        file=sys.stderr,
                    )
                    return
                if recording.lost and not without_room:
                    print(
                        f"freezeframe: {printable(recording.path)}: no room on the disk; samples are lost",
                        file=sys.stderr,
                    )
                without_room = bool(recording.lost)
            if last:
                return

    thread = threading.Thread(target=take, name="record", daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()
        if recording is not None:
            with suppress(OSError):  # told when it happened
                recording.close()
            if recording.lost:
                more = (
                    f"{count_text(recording.lost)} samples more were lost than the recording says"
                )
                print(
                    f"freezeframe: {printable(recording.path)}: {more}, for there was no room until its end",
                    file=sys.stderr,
                )


def _record(
    recording: Recording,
    readers: Sequence[SourceReader],
    taken: Sequence[tuple[SourceReader, Sample]],
) -> None:
    for reader, sample in taken:
        recording.add(reader.url, reader.source.counters, sample)
    for reader in readers:
        recording.missed(reader.url, reader.missed)
    recording.sync()


def _run_until_interrupted(server: MetricsServer) -> None:
    """Serve until SIGINT, SIGTERM or SIGHUP; they are the normal end."""
    ended = threading.Event()

    def end(number: int, frame: FrameType | None) -> None:
        ended.set()

    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, end)
    thread = threading.Thread(target=server.serve_forever, name="http", daemon=True)
    thread.start()
    ended.wait()
    server.shutdown()
    thread.join()
