"""PCI and PCI-X: the same tables from edges, from samples and from a mix of both, however they are cut and gathered."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from freezeframe.capture.files.edges import Edges
from freezeframe.capture.files.samples import Samples
from freezeframe.decoders.bus import pci_stream
from freezeframe.decoders.bus.pci import PCI
from freezeframe.decoders.bus.pcix import PCIX
from freezeframe.decoders.contract import Decoder
from tests.decoders.bus import pci_model, pcix_model
from tests.decoders.bus.lines import EXTENSION, Capture, Lines
from tests.decoders.pieces import (
    assert_same_in_pieces,
    assert_same_tables,
    cut,
    decoded,
    in_any_form,
)

BREAKABLE = ["frame", "irdy", "trdy", "devsel", "stop", "perr", "serr", "rst", "par", "ad"]


def broken(clocks: list[Lines], rng: random.Random) -> list[Lines]:
    for _ in range(rng.choice((0, 3, 15))):
        at = rng.randrange(len(clocks))
        name = rng.choice(BREAKABLE)
        now = getattr(clocks[at], name)
        value = not now if isinstance(now, bool) else now ^ 1
        clocks[at] = replace(clocks[at], **{name: value})
    return clocks


def recorded(edges: Edges, rng: random.Random) -> Samples:
    """Return the samples, their channels at bits in order or in any."""
    there = [place for place, channel in enumerate(edges.channels) if channel]
    if rng.random() < 0.5:
        there = rng.sample(there, len(there))
    levels = np.repeat(edges.value, np.diff(np.append(edges.sample, edges.end_sample)))
    data = np.zeros(len(levels), dtype=np.uint64)
    bits = [-1] * len(edges.channels)
    for bit, place in enumerate(there):
        data |= (levels >> np.uint64(place) & np.uint64(1)) << np.uint64(bit)
        bits[place] = bit
    return Samples(data, edges.channels, tuple(bits), edges.samplerate_hz, 0)


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize(
    ("decoder", "traffic"),
    [(PCI, pci_model.random_traffic), (PCIX, pcix_model.random_traffic)],
    ids=["pci", "pcix"],
)
def test_rows_do_not_depend_on_the_form_of_the_pieces_nor_on_how_they_are_gathered(
    decoder: Decoder, traffic: Callable[..., Any], seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = random.Random(seed)
    clocks = broken(traffic(seed, 8).drawn(), rng)
    half = rng.choice((1, 4, 9))
    edges = Capture(clocks, half=half, delay=1).edges(
        [channel.id for channel in decoder.channels], EXTENSION
    )
    take = rng.choice(("before", "with"))
    whole = decoded(decoder, edges, take=take)
    assert whole[f"{decoder.id}.phases"].num_rows > 0

    monkeypatch.setattr(pci_stream, "_CLOCKS_AT_ONCE", rng.choice((1, 4, 50)))
    samples = recorded(edges, rng)
    cuts = [0]
    while cuts[-1] < len(samples):
        cuts.append(cuts[-1] + rng.choice((1, 7, 64, 65, 1000)))
    pieces = in_any_form(cut(samples, cuts), rng)
    assert_same_tables(decoded(decoder, *pieces, take=take), whole)


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize(
    ("decoder", "traffic"),
    [(PCI, pci_model.random_traffic), (PCIX, pcix_model.random_traffic)],
    ids=["pci", "pcix"],
)
def test_rows_do_not_depend_on_where_pieces_of_a_wide_bus_end(
    decoder: Decoder, traffic: Callable[..., Any], seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = random.Random(seed)
    monkeypatch.setattr(pci_stream, "_CLOCKS_AT_ONCE", rng.choice((1, 4, 50)))
    wide = seed % 2 == 1
    clocks = traffic(seed, 6, wide=wide).drawn()
    for _ in range(10):  # and with broken lines
        at = rng.randrange(len(clocks))
        name = rng.choice(["frame", "irdy", "trdy", "devsel", "stop", "perr", "rst"])
        clocks[at] = replace(clocks[at], **{name: not getattr(clocks[at], name)})
    channels = [channel.id for channel in decoder.channels]
    edges = Capture(clocks).edges(channels, [] if wide else EXTENSION)
    assert_same_in_pieces(decoder, edges, rng.sample(range(1, edges.end_sample), 25))


@pytest.mark.parametrize("decoder", [PCI, PCIX], ids=["pci", "pcix"])
def test_a_long_burst_is_written_down_phase_by_phase_with_the_one_bad_parity_in_it(
    decoder: Decoder,
) -> None:
    """PCI 3.0, 3.7.1, and the same in PCI-X: the burst goes on after a phase with a wrong PAR."""
    values = [0x0101_0101 * (at & 0xFF) for at in range(256)]
    if decoder is PCI:
        bus = pci_model.PciBus(1)
        request = pci_model.Request(0b0111, 0x1000, [(value, 0xF) for value in values], [0] * 256)
        bus.run(request, pci_model.Answer(1, [0] * 256))
        bus.idle(3)
        clocks = bus.drawn()
    else:
        pcix = pcix_model.PcixBus(1)
        tag = 3 << 24 | 0x0100
        pcix.run(pcix_model.Plan(0b1111, 0x1000, tag, 4, values, 2))
        pcix.idle(3)
        clocks = pcix.drawn()
    first = next(at for at, lines in enumerate(clocks) if lines.trdy and lines.irdy)
    clocks[first + 101] = replace(clocks[first + 101], par=1 - clocks[first + 101].par)
    edges = Capture(clocks).edges([channel.id for channel in decoder.channels], EXTENSION)
    made = decoded(decoder, edges)
    phases = [r for r in made[f"{decoder.id}.phases"].to_pylist() if r["kind"] == "data"]
    assert [row["value"] for row in phases] == values
    assert [at for at, row in enumerate(phases) if row["parity"] != "good"] == [100]
    told, transaction = made[f"{decoder.id}.transactions"].to_pylist()
    assert (told["error"], told["sample"]) == ("data-parity", phases[100]["sample"])
    assert transaction["data"] == values
    assert (transaction["size_B"], transaction["parity_errors"]) == (1024, 1)
