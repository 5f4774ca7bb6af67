"""``freezeframe capture -d``: rows are printed while the samples come, which are stored whole."""

from __future__ import annotations

import signal
import sys
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path
from threading import Event
from typing import Any

from freezeframe.capture.errors import FreezeframeError
from freezeframe.capture.instruments.sigrok import SigrokRequest, capture_sigrok
from freezeframe.capture.instruments.sigrok_stream import FORM, StreamLayout, follow
from freezeframe.decoders.contract import EDGES
from freezeframe.decoders.plugin import load_with_plugins
from freezeframe.decoders.run import StackRun, check_fit, with_different_names
from freezeframe.decoders.spec import match_channels, parse_spec
from freezeframe.gui.cli.compiling import compile_notice
from freezeframe.gui.cli.work.packets import TextRows

_POLL_S = 0.05
_BEHIND_S = 1.0  # of samples that wait, from which on it is said


class LiveDecoding:
    """The decoders that ``-d`` names, parsed before anything is captured."""

    def __init__(self, specs: Sequence[str]) -> None:
        """Parse the specs.

        Raises:
            InputError: one cannot be used, or takes no samples.
        """
        self._registry = load_with_plugins(())
        self._stacks = [parse_spec(spec, self._registry) for spec in specs]
        check_fit("what is captured", EDGES, self._stacks, self._registry)

    def capture(
        self, request: SigrokRequest, layout: StreamLayout, file: Path, wait_s: float
    ) -> FreezeframeError | BrokenPipeError | None:
        """Let sigrok-cli write samples to a file, and print the rows of what stands there meanwhile.

        Ctrl-C ends the capture, and what has come is decoded to its end; a second one leaves that out.

        Returns:
            Why decoding ended before the samples, which are in the file all the same; None if it did not.
        Raises:
            InputError: a decoder's channel has no probe.
            TargetError: the device fails.
        """
        probes = [
            match_channels(stack.steps[0].decoder, stack.steps[0].probes, layout.channels)
            for stack in self._stacks
        ]
        text = TextRows(self._registry)
        behind = _Behind(file, layout)
        failed: FreezeframeError | BrokenPipeError | None = None
        with ExitStack() as cleanup:
            runs = [StackRun(stack) for stack in self._stacks]
            for run in runs:
                cleanup.callback(run.close)
            stop = cleanup.enter_context(_stopped_by_interrupt())
            pool = cleanup.enter_context(ThreadPoolExecutor(1))
            cleanup.callback(stop.set)  # before the pool waits for it
            capture = pool.submit(
                capture_sigrok, request, file, wait_s=wait_s, form=FORM, stop=stop
            )

            def wait() -> bool:
                if capture.done():
                    capture.result()
                    return False
                time.sleep(_POLL_S)
                return True

            try:
                with compile_notice():
                    for piece in follow(file, layout, wait):
                        tables = [
                            table
                            for run, chosen in zip(runs, probes, strict=True)
                            for table in run.step(run.wanted(piece, chosen), last=not len(piece))
                        ]
                        text.take(with_different_names(tables))
                        behind.look(piece.end_sample)
            except KeyboardInterrupt:
                print("decoding is left out; all samples are stored", file=sys.stderr)
            except (FreezeframeError, BrokenPipeError) as error:
                failed = error
            capture.result()  # it goes on to its end also where decoding does not
        return failed


@contextmanager
def _stopped_by_interrupt() -> Iterator[Event]:
    """Give an event that the first Ctrl-C sets; the second raises as ever."""
    stop = Event()

    def on_interrupt(number: int, frame: Any) -> None:
        if stop.is_set():
            raise KeyboardInterrupt
        stop.set()

    before = signal.signal(signal.SIGINT, on_interrupt)
    try:
        yield stop
    finally:
        signal.signal(signal.SIGINT, before)


class _Behind:
    """Says that decoding does not keep up with the samples; once, until it has caught up."""

    def __init__(self, file: Path, layout: StreamLayout) -> None:
        self._file = file
        self._unit_B, self._rate_hz = layout.unit_B, layout.samplerate_hz
        self._said = False

    def look(self, decoded: int) -> None:
        """Compare the samples that are decoded with those that stand in the file."""
        waiting = self._file.stat().st_size // self._unit_B - decoded
        if waiting > _BEHIND_S * self._rate_hz and not self._said:
            print(
                f"decoding is behind by {waiting:,} samples, {waiting / self._rate_hz:.1f} s; all "
                "samples are stored, and their rows follow",
                file=sys.stderr,
            )
            self._said = True
        elif not waiting:
            self._said = False
