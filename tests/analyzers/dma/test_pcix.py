"""dma of a PCI-X logic-analyzer capture: how the bus was used, from what the decoder gives."""

from __future__ import annotations

from typing import Any

import pytest

from freezeframe.analyzers.dma.pcix import pcix_use
from freezeframe.capture.errors import InputError
from freezeframe.decoders.bus.pci_code import decode_pci as decode_pcix
from freezeframe.decoders.bus.pcix import PCIX
from tests.decoders.bus.lines import RATE_HZ, Capture
from tests.decoders.bus.pcix_model import SPLIT_COMPLETION, PcixBus, Plan, function, random_traffic

CHANNELS = [channel.id for channel in PCIX.channels]
HALF = 4
CLK_HZ = RATE_HZ // (2 * HALF)
READ_BLOCK = 0b1110


def decoded(bus: PcixBus) -> dict[str, Any]:
    options = PCIX.option_values()
    edges = Capture(bus.drawn(), half=HALF).edges(CHANNELS)
    return decode_pcix(edges, options, PCIX.new_state(options), True)


def a_4_kib_read(split_clocks: int) -> tuple[PcixBus, int]:
    """Return a bus with one read of 4 KiB that is split, and its clocks from request to last data."""
    bus = PcixBus(1)
    requester, _ = function(0, 3, 0)
    completer, _ = function(0, 1, 0)
    first, _, end = bus.run(
        Plan(READ_BLOCK, 0x1000, requester << 8 | 5 << 24, 0, (), 2, ends="split", wide=True)
    )
    bus.idle(split_clocks)
    words = [bus.rng.getrandbits(64) for _ in range(512)]
    _, _, last = bus.run(
        Plan(
            SPLIT_COMPLETION, requester << 8 | 5 << 24, completer << 8, 0, words, 2, wide=True,
            ack64=True,
        )
    )  # fmt: skip
    bus.idle(4)
    assert end <= first + split_clocks
    return bus, last - first


def test_a_4_kib_read_has_512_data_cycles_of_all_from_request_to_last_data() -> None:
    bus, clocks = a_4_kib_read(46)
    result = pcix_use(decoded(bus), CLK_HZ)
    assert result.figure("pcix.read.longest.words").value == 512
    assert result.figure("pcix.read.longest.cycles").value == clocks
    assert result.figure("pcix.read.longest.efficiency").value == pytest.approx(51_200 / clocks)
    assert result.figure("pcix.data").value == 512
    # From the end of the request to the first clock of its completion: what was idle between them.
    assert 46 <= (result.figure("pcix.split.min").value or 0) <= 48


@pytest.mark.parametrize("seed", range(4))
def test_counts_over_random_traffic_are_those_of_the_bus_model(seed: int) -> None:
    bus = random_traffic(seed, 60, wide=True)
    result = pcix_use(decoded(bus), CLK_HZ)
    truth = bus.truth
    assert result.figure("pcix.transactions").value == len(truth)
    assert result.figure("pcix.data").value == sum(len(t.data) for t in truth)
    assert result.figure("pcix.retries").value == sum(t.termination == "retry" for t in truth)
    assert result.figure("pcix.waits").value == sum(t.target_waits for t in truth)
    assert result.figure("pcix.busy").value == sum(t.end - t.first for t in truth)
    ended = [s for s in bus.splits if s.answer >= 0 and not s.error]
    assert result.figure("pcix.splits").value == len(ended)
    table = result.tables["splits"]
    waits = [s.answer - s.split_end for s in ended]
    found = [
        c for c, n in zip(table["split_cycles"], table["splits"], strict=True) for _ in range(n)
    ]
    assert sorted(found) == sorted(waits)
    sizes = result.tables["transactions_by_size"]
    assert (sizes["size_B"] * sizes["transactions"]).sum() == sum(t.size_B for t in truth)


def test_pieces_give_the_sums_of_the_whole() -> None:
    tables = decoded(random_traffic(9, 40, wide=True))
    rows, splits = tables["pcix.transactions"], tables["pcix.splits"]
    pieces = [
        {"pcix.transactions": rows[a:b], "pcix.splits": splits[a // 4 : b // 4]}
        for a, b in ((8, 20), (0, 8), (20, rows.num_rows * 4))
    ]
    assert pcix_use(pieces, CLK_HZ).to_json() == pcix_use(tables, CLK_HZ).to_json()


def test_errors_of_the_bus_are_told_and_not_summed_up() -> None:
    bus, _ = a_4_kib_read(46)
    del bus.clocks[-100:]  # cut in the completion
    result = pcix_use(decoded(bus), CLK_HZ)
    assert result.figure("pcix.transactions").value == 1
    assert "errors of the bus or cut transactions" in result.notes[0]


def test_a_quiet_bus_has_no_figures() -> None:
    bus = PcixBus(1)
    bus.idle(20)
    result = pcix_use(decoded(bus), CLK_HZ)
    assert (result.figures, result.notes) == ((), ("there is no whole transaction",))


def test_other_tables_and_impossible_clocks_are_refused() -> None:
    with pytest.raises(InputError, match=r"there is no table pcix\.transactions"):
        pcix_use({}, CLK_HZ)
    tables = decoded(PcixBus(1))
    tables["pcix.splits"] = tables["pcix.splits"].drop_columns(["latency_ps"])
    with pytest.raises(InputError, match=r"pcix\.splits: has no column latency_ps"):
        pcix_use(tables, CLK_HZ)
    with pytest.raises(InputError, match="PCI-X bus of 0 Hz, 8 B: both must be above 0"):
        pcix_use(tables, 0)
