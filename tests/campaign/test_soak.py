"""The soak in small: every reading is in the recording, and a process that grows is told."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from freezeframe.capture.targets.etherbone_codec import encode_reads
from tests.campaign.soak import Account, Look, OnceServer, Producer, Soak, soak


def test_every_reading_that_a_card_answered_is_in_the_recording(tmp_path: Path) -> None:
    shown = soak(0.04, 3, 0.05, tmp_path)
    assert [account.adds_up for account in shown.accounts] == [True] * 3, shown.lines()
    assert all(account.received > 5 for account in shown.accounts)


def test_a_request_that_comes_again_is_the_same_reading() -> None:
    card = Producer(1)
    server = OnceServer(card)
    stored = card.device(0).map.offset("tap.stored", 0)
    (packet,) = encode_reads(np.array([stored], np.uint32), np.array([7], np.uint32), 1)
    answers = [server._answer(packet) for _ in range(3)]
    server.close()
    assert answers[0]
    assert answers[0] == answers[1] == answers[2]
    assert (card.produced, server.again) == (1, 2)


def _of(looks: list[Look], account: Account) -> Soak:
    return Soak(60.0, 0.05, looks, [account], 1.0, 1)


GOOD = Account(100, 98, 2, 0, "")


@pytest.mark.parametrize(
    ("step_B", "met"), [(0, True), (130, True), (150, False)]
)  # 7200 looks: 0.94 and 1.08 MB an hour
def test_the_slope_is_that_of_the_memory_after_the_warm_up(step_B: int, met: bool) -> None:
    looks = [Look(n / 2, 50_000_000 + step_B * n, 20) for n in range(7200)]
    looks[:1000] = [Look(n / 2, 10_000 * n, 99) for n in range(1000)]  # 500 s of warm-up
    shown = _of(looks, GOOD)
    assert shown.slope_MB == pytest.approx(step_B * 7200 / 1e6)
    assert shown.is_met is met


def test_a_descriptor_more_and_a_sample_less_are_told() -> None:
    looks = [Look(float(n), 50_000_000, 20) for n in range(100)]
    assert _of(looks, GOOD).is_met
    assert not _of([*looks, Look(100.0, 50_000_000, 21)], GOOD).is_met
    assert not _of(looks, Account(100, 98, 1, 0, "")).is_met
    assert not _of(looks, Account(0, 0, 0, 0, "")).is_met
