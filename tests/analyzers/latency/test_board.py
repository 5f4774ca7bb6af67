"""latency and dma of the simulated board: the same figures from Verilog as from the emulated pair."""

from __future__ import annotations

import time

import pytest

from freezeframe.analyzers.dma.analysis_code import dma
from freezeframe.analyzers.latency.analysis_code import latency
from freezeframe.analyzers.view import CaptureView
from freezeframe.capture.folder import CaptureFolder
from freezeframe.capture.recorder.pull import pull
from freezeframe.capture.registers.access import open_devices
from freezeframe.capture.targets.base import open_target
from tests.board.boards import running

_PACKETS = 60
_WAIT_S = 60.0


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> CaptureView:
    """Let a clean board run until both cards have received packets, freeze it, and pull."""
    path = tmp_path_factory.mktemp("board") / "board.ff"
    with running("--fault", "none", "--seed", "3") as board:
        target = open_target(board.url)
        end = time.monotonic() + _WAIT_S
        while any(d.counters().values["rx_deq_packets"] < _PACKETS for d in open_devices(target)):
            assert time.monotonic() < end, "the board's traffic did not come"
            time.sleep(0.05)
        pull(target, path, freeze=True)
        target.close()
    return CaptureView(CaptureFolder.open(path))


@pytest.mark.slow
def test_messages_of_the_board_are_measured_from_descriptor_to_memory(
    recorded: CaptureView,
) -> None:
    result = latency(recorded)
    table = result.tables["messages"]
    assert set(table["direction"]) == {"A->B", "B->A"}
    assert result.figure("A->B.messages.incomplete").value == 0
    phases = ["send_dma_ps", "send_nic_ps", "recv_nic_ps", "recv_dma_ps"]
    assert (table[phases] > 0).all(axis=None)
    # Whoever sends a word a link cycle needs at least that for a packet.
    link_ps = 12_800 * (table["length_words"] + 3)
    assert (table["whole_ps"] > link_ps).all()


@pytest.mark.slow
def test_the_board_s_bus_and_link_move_a_word_a_cycle(recorded: CaptureView) -> None:
    result = dma(recorded)
    for device in "AB":
        assert result.figure(f"{device}.tx_enq.peak").value == pytest.approx(762.9, rel=5e-4)
        assert result.figure(f"{device}.tx_deq.peak").value == pytest.approx(596.0, rel=5e-4)
        assert result.figure(f"{device}.handles.never_done").value == 0
    assert result.findings == ()
