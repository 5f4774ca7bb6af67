"""Faults of the host and its bus on the simulated board, in what was recorded and not in what is concluded of it.

docs/faults.md: interrupt-storm, interrupt-lost, short-transfers, split-retry-mishandled; the events are those
of docs/formats.md section 4. The place comes from the truth file.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from freezeframe.capture.folder import CaptureFolder
from freezeframe.capture.recorder.control import wait_for
from freezeframe.capture.recorder.pull import pull
from freezeframe.capture.recorder.state import read_state
from freezeframe.capture.registers.access import open_devices
from freezeframe.capture.targets.base import open_target
from freezeframe.decoders.trace.decode import decode_capture
from tests.board.boards import running

LIMIT_S = 60.0
FREEZES = {"A": {"host"}, "B": {"cross"}}  # no check of the card finds it: its own host freezes


@dataclass
class Recorded:
    """What a frozen board showed, and where its fault struck."""

    truth: dict[str, Any]
    causes: dict[str, set[str]]
    events: pd.DataFrame
    packets: pd.DataFrame

    def told(self, device: str, *kinds: str) -> list[tuple[str, str, int, int, int]]:
        """Return (kind, code, cycle, flow, value) of a device's events, in the order of its log."""
        events = self.events
        chosen = events[(events["device"] == device) & events["kind"].isin(kinds)]
        columns = ("kind", "code", "cycle", "flow", "value")
        return list(
            zip(
                *(chosen[name].astype(str) for name in columns[:2]),
                *(chosen[name].astype(int) for name in columns[2:]),
                strict=True,
            )
        )


Recorder = Callable[[str, int], Recorded]


@pytest.fixture
def record(tmp_path: Path) -> Recorder:
    def run(fault: str, seed: int) -> Recorded:
        truth = tmp_path / "truth.json"
        with running(
            "--fault", fault, "--seed", str(seed), "--truth", str(truth), "--freeze-when-evident"
        ) as board:  # fmt: skip
            target = open_target(board.url)
            devices = open_devices(target)
            for device in devices:
                wait_for(device, "frozen", LIMIT_S)
            causes = {device.name: set(read_state(device).causes) for device in devices}
            pull(target, tmp_path / "run.ff")
            target.close()
        trace = decode_capture(CaptureFolder.open(tmp_path / "run.ff"))
        struck = json.loads(truth.read_text())["injections"]
        assert len(struck) == 1
        return Recorded(struck[0], causes, trace.events, trace.packets)

    return run


def test_an_unmasked_line_interrupts_the_running_handler_for_each_further_completion(
    record: Recorder,
) -> None:
    run = record("interrupt-storm", 6)
    assert run.causes == FREEZES
    assert (run.truth["device"], run.truth["flow"], run.truth["packet"]) == ("B", None, None)
    b, a = run.told("B", "IRQ", "NOTE"), run.told("A", "IRQ")
    entered = [place for place, one in enumerate(b) if one[1] == "masked"]
    after = b[entered[-1] + 1 if entered else 0 :]  # since the mask is not kept any more
    raised = [one for one in after if one[1] == "raised"]
    assert sum(one[4] >= 2 for one in raised) >= 6
    # Between two times that the handler ends: more than one interrupt, which a mask would have held back.
    most = most_here = 0
    for _, code, *_ in after:
        most_here = 0 if code == "enabled" else most_here + (code == "raised")
        most = max(most, most_here)
    assert most >= 3
    codes = [one[1] for one in a]  # the other card's driver masks
    assert all(following == "masked" for code, following in pairwise(codes) if code == "raised")


@pytest.mark.parametrize("seed", [0, 4])
def test_a_completion_before_the_enabling_waits_for_the_next_one_once(
    record: Recorder, seed: int
) -> None:
    run = record("interrupt-lost", seed)
    assert run.causes == FREEZES
    b = run.told("B", "IRQ", "NOTE")
    lost = []
    for place, (_, code, cycle, _, waiting) in enumerate(b):
        if code != "enabled" or waiting == 0:
            continue
        following = b[place + 1]
        if following[1] == "raised" and following[2] - cycle <= 1:
            continue  # the card looked
        lost.append((place, waiting))
    [(place, waiting)] = lost
    remote = [one for one in b[:place] if one[:2] == ("NOTE", "remote")]
    assert (run.truth["flow"], run.truth["packet"]) == (remote[-waiting][3], remote[-waiting][4])
    rest = [one for one in b[place + 1 :] if one[1] in ("remote", "raised")]
    if rest:  # the recording may end before the next completion
        assert rest[0][1] == "remote"
        assert rest[1][1] == "raised" and rest[1][4] == waiting + 1


def test_queue_pointers_are_most_of_what_the_sender_posts_and_go_to_two_addresses_at_most(
    record: Recorder,
) -> None:
    run = record("short-transfers", 3)
    assert run.causes == FREEZES
    packets = run.packets
    sent = packets[(packets["device"] == "A") & (packets["tap"] == "tx_enq") & packets["whole"]]
    other = packets[(packets["device"] == "B") & (packets["tap"] == "tx_enq") & packets["whole"]]
    short = sent[(sent["length"] <= 2) & (sent["kind"] == "RDMA_WRITE")]
    often = short["dest"].value_counts()
    pointers = int(often[often > 1].sum())
    assert (often > 1).sum() <= 2
    assert pointers > 0.5 * len(sent)
    assert sent["length_ok"].all() and sent["payload_ok"].all()  # nothing is broken
    assert not other["dest"].duplicated().any()


@pytest.mark.parametrize("seed", [0, 3])
def test_a_read_goes_on_at_the_wrong_word_after_its_end_and_the_crc_is_that_of_what_was_sent(
    record: Recorder, seed: int
) -> None:
    run = record("split-retry-mishandled", seed)
    assert run.causes == {"A": {"cross"}, "B": {"length"}}
    packets = run.packets
    taps = packets[(packets["direction"] == "A->B") & packets["whole"]]
    bad = taps[~taps["length_ok"].astype(bool)]
    assert {"tx_enq", "tx_deq", "rx_enq"} <= set(bad["tap"])
    assert set(bad["seq"]) == {run.truth["packet"]}
    assert bad["header_ok"].all() and bad["payload_ok"].all()
    [(length, words)] = set(zip(bad["length"], bad["body_words"], strict=True))
    assert 1 <= length - words <= 4
    # The event log of A: what was left when the bus ended the read, and what was asked for next.
    reads = [
        (code, value & 0x3FF)
        for _, code, _, flow, value in run.told("A", "DESC")
        if value >> 20 & 0xFFFF == run.truth["packet"]
        and flow == run.truth["flow"]
        and code in ("requested", "retried", "disconnected")
    ]
    jumps = [
        (before[1], after[1])
        for before, after in pairwise(reads)
        if before[0] != "requested" and before[1] != after[1]
    ]
    assert jumps == [(length - run.truth["word"], words - run.truth["word"])]
