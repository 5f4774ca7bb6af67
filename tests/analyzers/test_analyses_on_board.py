"""Analyses of the simulated board: the same figures from Verilog as from the emulated pair."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from freezeframe.analyzers.declarations import CREDITS, DMA, LATENCY, PRESSURE, THROUGHPUT
from freezeframe.analyzers.view import CaptureView
from freezeframe.capture.folder import CaptureFolder
from freezeframe.capture.recorder.pull import pull
from freezeframe.capture.registers.access import open_devices
from freezeframe.capture.targets.base import open_target
from tests.board.boards import running

pytestmark = pytest.mark.slow

_WAIT_S = 60.0


def recording(path: Path, seed: int, packets: int) -> CaptureView:
    """Let a clean board run until both cards have received so many packets, freeze it, and pull."""
    with running("--fault", "none", "--seed", str(seed)) as board:
        target = open_target(board.url)
        end = time.monotonic() + _WAIT_S
        while any(d.counters().values["rx_deq_packets"] < packets for d in open_devices(target)):
            assert time.monotonic() < end, "the board's traffic did not come"
            time.sleep(0.05)
        pull(target, path / "board.ff", freeze=True)
        target.close()
    return CaptureView(CaptureFolder.open(path / "board.ff"))


@pytest.fixture(scope="module")
def begun(tmp_path_factory: pytest.TempPathFactory) -> CaptureView:
    return recording(tmp_path_factory.mktemp("begun"), seed=1, packets=0)


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> CaptureView:
    return recording(tmp_path_factory.mktemp("recorded"), seed=3, packets=60)


def test_what_is_sent_is_received_at_the_same_rate(begun: CaptureView) -> None:
    rates = THROUGHPUT.run(begun)
    for out, into in (("A.out", "B.in"), ("B.out", "A.in")):
        sent = rates.figure(f"{out}.throughput.mean").value
        got = rates.figure(f"{into}.throughput.mean").value
        assert sent is not None
        assert got == pytest.approx(sent, rel=0.02, abs=8)
        assert sent <= 596.1
    assert PRESSURE.run(begun).figure("A->B.pressure.count").value is not None


def test_the_books_of_a_clean_board_add_up(begun: CaptureView) -> None:
    credits = CREDITS.run(begun)
    assert credits.findings == ()
    for figure in credits.figures:
        if figure.name.endswith(
            (".lost", ".refused", ".altered", ".backward", ".slip", ".beyond_limit")
        ):
            assert figure.value in (0, None), figure
    flights = [
        int(f.value)
        for f in credits.figures
        if f.name.endswith("credit_flight.median") and f.value is not None
    ]
    assert flights
    assert all(0 < flight < 20_000_000 for flight in flights)


def test_messages_are_measured_from_descriptor_to_memory(recorded: CaptureView) -> None:
    result = LATENCY.run(recorded)
    table = result.tables["messages"]
    assert set(table["direction"]) == {"A->B", "B->A"}
    assert result.figure("A->B.messages.incomplete").value == 0
    phases = ["send_dma_ps", "send_nic_ps", "recv_nic_ps", "recv_dma_ps"]
    assert (table[phases] > 0).all(axis=None)
    # Whoever sends a word a link cycle needs at least that for a packet.
    link_ps = 12_800 * (table["length_words"] + 3)
    assert (table["whole_ps"] > link_ps).all()


def test_the_bus_and_the_link_move_a_word_a_cycle(recorded: CaptureView) -> None:
    result = DMA.run(recorded)
    for device in "AB":
        assert result.figure(f"{device}.tx_enq.peak").value == pytest.approx(762.9, rel=5e-4)
        assert result.figure(f"{device}.tx_deq.peak").value == pytest.approx(596.0, rel=5e-4)
        assert result.figure(f"{device}.handles.never_done").value == 0
    assert result.findings == ()
