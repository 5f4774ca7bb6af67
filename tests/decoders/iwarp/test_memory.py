"""What many connections cost: records are taken when they are used, and taken again when their connection ended."""

from __future__ import annotations

from pathlib import Path

import pytest

from freezeframe.capture.packets.file import open_packets
from freezeframe.decoders.contract import OptionValues
from freezeframe.decoders.iwarp.iwarp import IWARP
from freezeframe.decoders.iwarp.iwarp_code import (
    IwarpState,
    decode_iwarp,
    iwarp_left,
    new_iwarp,
)
from freezeframe.decoders.iwarp.state import (
    FREE_MESSAGE,
    HEADS_USED,
    MESSAGES_USED,
    PRIVATE_USED,
)
from tests.decoders.iwarp.churn import write_connections

_CONNECTIONS = 500


def _decode(path: Path, state: IwarpState) -> list[bytes]:
    """Feed a file of one block and end its connections; return the private data of their Requests."""
    with open_packets(path) as file:
        (block,) = file
        tables = decode_iwarp(block, OptionValues(IWARP.options, {}), state, True)
    rows: list[bytes] = tables["iwarp.connections"]["request_private"].to_pylist()
    return rows


@pytest.mark.parametrize(("private_B", "pages"), [(0, 0), (1, 2), (32, 2), (33, 4), (512, 32)])
def test_connections_that_ended_leave_their_records_to_others(
    tmp_path: Path, private_B: int, pages: int
) -> None:
    path = tmp_path / "x.pcap"
    write_connections(path, _CONNECTIONS, private_B)
    state = IwarpState(OptionValues(IWARP.options, {}))
    for _ in range(3):
        assert _decode(path, state) == [bytes(private_B)] * _CONNECTIONS
        counts = state.kernel[0]["counts"]
        assert counts[PRIVATE_USED] == pages * _CONNECTIONS
        assert counts[MESSAGES_USED] == _CONNECTIONS  # one queue of one side each
        assert counts[FREE_MESSAGE] > 0
        assert counts[HEADS_USED] == 1  # no FPDU waits for more of it when another begins


def test_connections_that_are_open_at_the_end_are_told_in_parts(tmp_path: Path) -> None:
    path = tmp_path / "x.pcap"
    write_connections(path, 5_000)
    options = OptionValues(IWARP.options, {})
    state, told = new_iwarp(options), []
    with open_packets(path) as file:
        for block in file:
            decode_iwarp(block, options, state, False)
        while iwarp_left(state):
            block = block.after()
            told.append(decode_iwarp(block, options, state, True)["iwarp.connections"])
    assert [len(table) for table in told] == [2_048, 2_048, 904]
    numbers = [number for table in told for number in table["connection"].to_pylist()]
    assert numbers == list(range(5_000))
