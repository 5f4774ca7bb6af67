"""The thread that reads a source: at its pace, over failures, and nobody waits for it."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import TypeVar

from freezeframe.capture.counters.contract import CounterSource, Sample
from freezeframe.capture.counters.reader import Answer, SourceReader
from freezeframe.capture.errors import InputError, TargetError
from tests.capture.counters.played import PlayedSource

T = TypeVar("T")


def until(true: Callable[[], object], seconds: float = 20.0) -> bool:
    end = time.monotonic() + seconds
    while not true():
        if time.monotonic() > end:
            return False
        time.sleep(0.002)
    return True


def more(kept: list[T], new: list[T]) -> list[T]:
    kept += new
    return kept


def samples(first: int, count: int) -> list[Sample]:
    return [Sample(time.monotonic_ns(), {"a": first + n}) for n in range(count)]


def test_a_source_that_fails_is_closed_opened_again_and_goes_on() -> None:
    first = PlayedSource([*samples(0, 3), TargetError("made:a: gone")])
    second = PlayedSource(samples(100, 1000))
    refusals = [InputError("not yet"), InputError("not yet")]

    def reopen() -> CounterSource:
        if refusals:
            raise refusals.pop()
        return second

    reader = SourceReader(first, reopen, 0.001)
    reader.start()
    taken: list[Sample] = []
    assert until(lambda: any(s.values["a"] >= 105 for s in more(taken, reader.take())))
    reader.stop()
    assert [sample.values["a"] for sample in taken[:4]] == [0, 1, 2, 100]
    assert (first.closed, second.closed, reader.trouble) == (1, 1, None)


def test_while_a_source_is_gone_its_trouble_and_last_sample_stand() -> None:
    def reopen() -> CounterSource:
        raise TargetError("made:a: still gone")

    reader = SourceReader(PlayedSource(samples(7, 1)), reopen, 0.001)
    assert (reader.age_ns(), reader.is_stale(time.monotonic_ns())) == (None, False)
    reader.start()
    assert until(lambda: reader.trouble == "made:a: still gone")
    assert reader.last is not None
    assert reader.last.values == {"a": 7}
    assert reader.is_stale(time.monotonic_ns())
    reader.stop()


def test_what_is_asked_runs_in_the_readers_thread_between_two_readings() -> None:
    reader = SourceReader(PlayedSource(samples(0, 100_000)), lambda: PlayedSource([]), 0.001)
    reader.start()
    names = []

    def act(source: CounterSource) -> str:
        names.append(threading.current_thread().name)
        return f"done to {source.url}"

    def refuse(source: CounterSource) -> str:
        raise InputError("not with this one")

    reader.ask(act)
    reader.ask(refuse)
    answers: list[Answer] = []
    assert until(lambda: len(more(answers, reader.answers())) == 2)
    reader.stop()
    assert [(one.text, one.failed) for one in answers] == [
        ("done to made:a", False),
        ("not with this one", True),
    ]
    assert names == ["read made:a"]


def test_what_is_asked_of_a_source_that_is_gone_is_refused() -> None:
    def reopen() -> CounterSource:
        raise TargetError("gone")

    reader = SourceReader(PlayedSource([]), reopen, 0.001)
    reader.start()
    assert until(lambda: reader.trouble)
    reader.ask(lambda source: "never")
    answers: list[Answer] = []
    assert until(lambda: more(answers, reader.answers()))
    reader.stop()
    assert [(one.text, one.failed) for one in answers] == [
        ("made:a does not answer; nothing was done", True)
    ]


def test_a_mistake_of_the_program_ends_the_reading_but_not_unseen() -> None:
    class Wrong(PlayedSource):
        def read(self) -> Sample:
            raise ZeroDivisionError("by nothing")

    source = Wrong([])
    reader = SourceReader(source, lambda: source, 0.001)
    seen = []
    before, threading.excepthook = threading.excepthook, lambda args: seen.append(args.exc_type)
    reader.start()
    assert until(lambda: seen)
    threading.excepthook = before
    reader.stop()
    assert seen == [ZeroDivisionError]
    assert (
        reader.trouble
        == "reading has ended by a mistake of this program: ZeroDivisionError('by nothing')"
    )
    assert source.closed == 1


def test_a_source_that_hangs_does_not_hold_up_who_stops_it() -> None:
    free = threading.Event()

    class Hanging(PlayedSource):
        def read(self) -> Sample:
            free.wait(60)
            raise TargetError("ended")

    reader = SourceReader(Hanging([]), lambda: Hanging([]), 0.001)
    reader.start()
    began_s = time.monotonic()
    reader.stop(wait_s=0.05)
    assert time.monotonic() - began_s < 30
    assert reader.take() == []
    free.set()


def test_samples_that_nobody_takes_are_dropped_oldest_first_and_counted() -> None:
    reader = SourceReader(PlayedSource(samples(0, 5000)), lambda: PlayedSource([]), 0.0)
    reader.start()
    assert until(lambda: reader.trouble)
    reader.stop()
    taken = reader.take()
    assert [taken[0].values["a"], taken[-1].values["a"]] == [904, 4999]
    assert reader.missed == 904
