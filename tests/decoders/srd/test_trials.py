"""Many decoders of sigrok on one stretch, each in a child of one worker."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from freezeframe.capture.errors import FreezeframeError
from freezeframe.capture.files.edges import Edges
from freezeframe.decoders.registry import Registry, load_decoders
from freezeframe.decoders.srd.adapter import SrdDecode
from freezeframe.decoders.srd.location import find_sigrok
from freezeframe.decoders.srd.trials import SrdTrial, SrdTrials
from tests.decoders.test_guess import i2c, uart


@pytest.fixture(scope="module")
def registry() -> Registry:
    return load_decoders()


@pytest.fixture
def trials() -> Iterator[SrdTrials]:
    try:
        location = find_sigrok()
    except FreezeframeError as error:
        pytest.skip(str(error))
    made = SrdTrials(location)
    yield made
    made.close()


def trial(registry: Registry, name: str, channels: dict[str, str]) -> SrdTrial:
    decoder = registry.find(name)
    assert isinstance(decoder.decode, SrdDecode)
    step = decoder.decode.step(decoder.option_values())
    return SrdTrial(step.id, step.options, channels)


def classes(registry: Registry, name: str) -> tuple[str, ...]:
    decode = registry.find(name).decode
    assert isinstance(decode, SrdDecode)
    return decode.description.classes


def test_each_decoder_gives_its_annotations_of_the_same_samples(
    registry: Registry, trials: SrdTrials
) -> None:
    bus = {"scl": "scl", "sda": "sda"}
    plans = [trial(registry, "srd-i2c", bus), trial(registry, "srd-am230x", {"sda": "sda"})]
    for _ in range(2):  # the worker stays
        known, other = trials.run(i2c(), plans)
        names = [classes(registry, "srd-i2c")[number] for number in known.ann_class.tolist()]
        assert names.count("start") == 8
        assert names.count("stop") == 8
        assert (known.error, len(other.begin), other.error) == ("", 0, "")
        assert bool((known.end >= known.begin).all())


def test_what_a_decoder_raises_is_told_and_the_next_one_runs(
    registry: Registry, trials: SrdTrials
) -> None:
    line: Edges = uart()
    plans = [
        trial(registry, "srd-spi", {"clk": "line"}),
        trial(registry, "srd-ir_nec", {"ir": "line"}),
    ]
    broken, whole = trials.run(line, plans)
    assert "Either MISO or MOSI" in broken.error
    assert not len(broken.begin)
    assert whole.error == ""
