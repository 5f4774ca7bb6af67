"""A card that vanishes while it is identified: from some word on a PCI bus reads all ones, whatever stands there."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import count
from pathlib import Path

import numpy as np
import pytest

from freezeframe.capture.card.device import open_any
from freezeframe.capture.counters.sources import open_source
from freezeframe.capture.errors import TargetError
from freezeframe.capture.targets.base import Target, Words, open_target
from tests.capture.recorder.fake_recorder import FakeRecorder
from tests.capture.serving import serving
from tests.gui.cli import run_inside


class Vanishing:
    """A target that answers so many words, then all ones; for so many words, or for good."""

    def __init__(self, inner: Target, words: int, away: int = 1 << 60) -> None:
        self.inner, self.url = inner, inner.url
        self._before, self._until = words, words + away
        self.asked = 0

    def read(self, addresses: Words | Sequence[int]) -> Words:
        words = np.array(self.inner.read(addresses))
        numbers = self.asked + np.arange(len(words))
        self.asked += len(words)
        words[(numbers >= self._before) & (numbers < self._until)] = 0xFFFFFFFF
        return words

    def write(self, address: int, words: Sequence[int] | Words) -> None:
        self.inner.write(address, words)

    def close(self) -> None:
        self.inner.close()


@pytest.fixture(params=["map 1", "map 2"])
def card(request: pytest.FixtureRequest) -> Iterator[Target]:
    if request.param == "map 1":
        yield FakeRecorder()
        return
    target = open_target("emu:?profile=pci-sci-pair")
    yield target
    target.close()


def test_wherever_it_vanishes_it_is_said_to_be_gone_and_not_to_be_another_device(
    card: Target,
) -> None:
    whole = Vanishing(card, 1 << 60)
    open_any(whole)
    for words in count():
        target = Vanishing(card, words)
        try:
            open_any(target)
        except TargetError as error:
            assert type(error) is TargetError, (words, str(error))
            assert "reads all ones: nothing answers there; is the device powered" in str(error)
            assert "\n" not in str(error)
        else:
            break
    assert words >= whole.asked // 2  # every word is read twice


@pytest.mark.parametrize("words", [0, 1, 3, 20, 40])
def test_the_verbs_that_read_say_so_in_one_line(words: int, tmp_path: Path) -> None:
    for verb in (["status"], ["counters"], ["pull", "-o", str(tmp_path / "x.ff"), "--wait", "0.1"]):
        with serving(Vanishing(FakeRecorder(), words)) as url:
            done = run_inside(verb[0], url, *verb[1:])
        assert (done.code, done.out, done.err.count("\n")) == (3, "", 1), done
        assert "reads all ones: nothing answers there" in done.err
    assert not list(tmp_path.iterdir())


def test_a_guard_waits_until_it_is_there_again(tmp_path: Path) -> None:
    with serving(Vanishing(FakeRecorder(), 20, away=60)) as url:
        done = run_inside(
            "guard", url, "-o", str(tmp_path / "caught"), "--count", "1", "--poll", "0.05"
        )
    assert (done.code, done.err) == (0, "")
    assert "reads all ones: nothing answers there" in done.out
    assert len(list((tmp_path / "caught").glob("*.ff"))) == 1


def test_what_watch_and_serve_read_is_refused_as_gone() -> None:
    with (
        serving(Vanishing(FakeRecorder(), 20)) as url,
        pytest.raises(TargetError, match="reads all ones: nothing answers there") as caught,
    ):
        open_source(url)
    assert type(caught.value) is TargetError
