"""The engine with several split reads waiting: whatever the bus does, packets enter the FIFO whole and in order."""

from __future__ import annotations

from pathlib import Path

import pytest

from freezeframe.capture.registers.layouts import (
    DESC_VALUE_LENGTH_MASK,
    DESC_VALUE_SEQ_LSB,
    DESC_VALUE_SEQ_MASK,
    DescCode,
    Kind,
)
from tests.emulator.reading import Card, freeze, packets_of, pair
from tests.emulator.test_clean_runs import checks_out

US = 1_000_000
_WILD = """
extends = "forth-combining"
[bus]
outstanding_reads = {reads}
retries_ppm = 200000
disconnects_ppm = 300000
split_min_cycles = 10
split_max_cycles = 200
"""


@pytest.mark.parametrize("reads", [2, 5])
@pytest.mark.parametrize("seed", range(3))
def test_packets_stay_whole_and_in_order_on_a_wild_bus(
    tmp_path: Path, reads: int, seed: int
) -> None:
    profile = tmp_path / "wild.toml"
    profile.write_text(_WILD.format(reads=reads))
    target, a, b = pair(seed=seed, profile=str(profile), load="saturating")
    target.advance(200 * US)
    freeze(a, target, 5000 * US)
    retried = 0
    for card, peer in ((a, b), (b, a)):
        streams = [packets_of(card.words(0)), packets_of(card.words(1)), packets_of(peer.words(2))]
        for packets in streams:
            assert [p.seq for p in packets if not checks_out(p)] == []
            numbers = [p.seq for p in packets]
            assert numbers == list(range(numbers[0], numbers[0] + len(numbers)))
        entered = {p.seq: p.payload for p in streams[0]}
        left = {p.seq: p.payload for p in streams[1]}
        common = entered.keys() & left.keys()
        assert common and all(entered[seq] == left[seq] for seq in common)
        retried += card.counter("bus_retries") + card.counter("bus_disconnects")
        assert card.counter("bus_data_cycles") <= card.counter("bus_cycles")
        assert_every_done_follows_its_own_request(card)
    assert retried > 10


def assert_every_done_follows_its_own_request(card: Card) -> None:
    """Between a packet's first request and its end stand all of its DESC events, in their order."""
    posted, requested, done = (
        [
            record.value >> DESC_VALUE_SEQ_LSB & DESC_VALUE_SEQ_MASK
            for record in card.events(Kind.DESC, code)
        ]
        for code in (DescCode.POSTED, DescCode.REQUESTED, DescCode.DONE)
    )
    for record in card.events(Kind.DESC, DescCode.REQUESTED):
        assert record.value & DESC_VALUE_LENGTH_MASK > 0
    assert done == sorted(done)
    assert posted == sorted(posted)
    first = list(dict.fromkeys(requested))
    assert first == sorted(first)
