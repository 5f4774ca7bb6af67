"""More than 64 channels: two readings of a file beside each other, and a 64-bit bus out of a VCD."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from freezeframe.capture.errors import InputError
from freezeframe.capture.files.beside import beside
from freezeframe.capture.files.choice import SourceChoice
from freezeframe.capture.files.edges import Edges, join
from freezeframe.capture.files.source import ReadSettings
from freezeframe.decoders.bus.parallel import PARALLEL
from freezeframe.decoders.registry import Registry
from freezeframe.decoders.run import decode_file

RATE_HZ = 1_000_000


def cut(edges: Edges, ends: list[int]) -> list[Edges]:
    pieces = []
    begin = 0
    for end in [*ends, edges.end_sample]:
        kept = (edges.sample >= begin) & (edges.sample < end)
        pieces.append(
            replace(
                edges,
                sample=edges.sample[kept],
                value=edges.value[kept],
                begin_sample=begin,
                end_sample=end,
            )
        )
        begin = end
    return pieces


def plane(rng: random.Random, name: str, channels: int, samples: int) -> Edges:
    at = [0, *sorted(rng.sample(range(1, samples), rng.randint(0, 10)))]
    values = [rng.getrandbits(channels) for _ in at]
    return Edges(
        np.array(at, dtype=np.int64),
        np.array(values, dtype=np.uint64),
        tuple(f"{name}{bit}" for bit in range(channels)),
        RATE_HZ,
        0,
        samples,
    )


@pytest.mark.parametrize("seed", range(40))
def test_both_streams_give_their_values_wherever_their_pieces_end(seed: int) -> None:
    rng = random.Random(seed)
    low, high = plane(rng, "a", 64, 60), plane(rng, "b", rng.randint(1, 64), 60)
    pieces = [cut(part, sorted(rng.sample(range(1, 60), 3))) for part in (low, high)]
    whole = join(list(beside(iter(pieces[0]), iter(pieces[1]))))
    assert whole.channels == low.channels + high.channels
    assert (whole.begin_sample, whole.end_sample) == (0, 60)
    assert set(whole.sample.tolist()) == {*low.sample.tolist(), *high.sample.tolist()}
    assert whole.high is not None
    for part, values in ((low, whole.value), (high, whole.high)):
        places = np.searchsorted(part.sample, whole.sample, side="right") - 1
        assert values.tolist() == part.value[places].tolist()


def test_a_stream_that_ends_early_stays_as_it_is() -> None:
    rng = random.Random(1)
    for lengths in ((60, 50), (50, 60)):
        low, high = plane(rng, "a", 64, lengths[0]), plane(rng, "b", 3, lengths[1])
        whole = join(list(beside(iter([low]), iter([high]))))
        assert whole.end_sample == 60
        assert whole.high is not None
        assert (whole.value[-1], whole.high[-1]) == (low.value[-1], high.value[-1])


def test_select_takes_channels_of_both_planes() -> None:
    rng = random.Random(2)
    (wide,) = beside(iter([plane(rng, "a", 64, 60)]), iter([plane(rng, "b", 20, 60)]))
    assert wide.high is not None
    some = wide.select(["b3", "a5", None, "b0"])
    keep = np.isin(wide.sample, some.sample)
    for place, (values, bit) in enumerate(((wide.high, 3), (wide.value, 5))):
        bits = values >> np.uint64(bit) & np.uint64(1)
        assert (some.value >> np.uint64(place) & np.uint64(1)).tolist() == bits[keep].tolist()
    assert some.high is None
    again = wide.select([*wide.channels[1:], wide.channels[0]])
    assert again.select(wide.channels).value.tolist() == wide.value.tolist()


def bus_vcd(path: Path, words: list[int]) -> Path:
    """Write a bus of 64 bits with a clock of 2 us and an enable."""
    lines = ["$timescale 1 us $end", "$var wire 1 c clk $end", "$var wire 1 e enable $end"]
    lines += ["$var wire 64 d d [63:0] $end", "$enddefinitions $end", "#0", "1e", "0c"]
    for number, word in enumerate(words):
        lines += [f"#{2 * number}", "0c", f"b{word:b} d", f"#{2 * number + 1}", "1c"]
    path.write_text("\n".join([*lines, f"#{2 * len(words)}", "0c"]) + "\n")
    return path


def test_a_bus_of_64_bits_with_clock_and_enable_is_decoded_from_a_file(tmp_path: Path) -> None:
    rng = random.Random(3)
    words = [rng.getrandbits(64) for _ in range(300)]
    path = bus_vcd(tmp_path / "bus.vcd", words)
    items, _ = decode_file(path, ["parallel"], registry=Registry({"parallel": PARALLEL}))
    assert [value % (1 << 64) for value in items.table["value"].to_pylist()] == words


def test_more_than_128_channels_at_once_are_refused(tmp_path: Path) -> None:
    lines = [f"$var wire 1 n{number} s{number} $end" for number in range(130)]
    path = tmp_path / "many.vcd"
    path.write_text(
        "\n".join(
            ["$timescale 1 us $end", *lines, "$enddefinitions $end", "#0", "0n0", "#5", "1n0"]
        )
    )
    source = SourceChoice().open(path, ReadSettings())
    with pytest.raises(InputError, match=r"130 channels; at most 128 at once"):
        list(source.read(source.header.channels))
