"""A profile of stages as a recording of its card: what the log says is what the run did."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from freezeframe.capture.card.time_base import card_time_base
from freezeframe.capture.errors import InputError
from freezeframe.decoders.tap.event_log import decode_log
from freezeframe.emulator.adapter.record import run_recorded
from freezeframe.emulator.running_card import RunningCard, Wanted

EVENTS = (
    "came", "ring_dropped", "interrupts", "handler_cycles", "host_cycles", "queue_dropped", "delivered",
)  # fmt: skip


def logged(profile: str, seed: int = 0, workload: str = "rising") -> dict[str, list[int]]:
    recording, _ = run_recorded(profile, seed, workload)
    entries = decode_log(recording, card_time_base(recording)).entries
    return {name: [e.value for e in entries if e.name == name] for name in EVENTS} | {
        "cycle": sorted({e.cycle for e in entries})
    }


def test_every_millisecond_the_card_logs_what_came_and_what_became_of_it_and_nothing_is_lost() -> (
    None
):
    recording, outcome = run_recorded("livelock", 0, "rising")
    found = logged("livelock")
    assert np.diff(found["cycle"]).tolist() == [50_000] * (len(found["cycle"]) - 1)
    messages, packets = outcome.world.messages, outcome.world.packets
    for row, cycle in enumerate(found["cycle"]):
        t_ps = (cycle - 1000) * 20_000
        assert found["came"][row] == int((messages["born"] <= t_ps).sum())
        over = packets["done"] <= t_ps
        assert found["delivered"][row] == int((over & (packets["dropped"] == 0)).sum())
        dropped = int((over & (packets["dropped"] == 1)).sum())
        # The log is written before what happens in its own picosecond.
        assert 0 <= dropped - found["ring_dropped"][row] - found["queue_dropped"][row] <= 1
    assert recording.counters["packets_come"] == 5000
    assert recording.counters["interrupts_raised"] == outcome.stage("interrupt")["jobs"]
    assert recording.bank["packets_inside"] == 0


def test_the_handler_is_a_part_of_the_time_in_which_the_host_was_not_idle() -> None:
    found = logged("livelock", seed=3)
    handler, host = np.array(found["handler_cycles"]), np.array(found["host_cycles"])
    assert (np.diff(handler) >= 0).all() and (np.diff(host) >= 0).all()
    assert (np.diff(handler) <= np.diff(host) + 1).all() and (np.diff(host) <= 50_001).all()
    # An interrupt lasts 12 us, 600 cycles; one may be under way.
    begun = 600 * np.array(found["interrupts"])
    assert ((begun - handler >= 0) & (begun - handler <= 600)).all()


def test_under_a_rising_load_as_much_comes_in_the_time_of_the_profile_and_twice_its_rate_at_the_end() -> (
    None
):
    even, rising = logged("livelock", workload="as-described"), logged("livelock")
    assert even["came"][49] == pytest.approx(2500, rel=0.06)
    assert rising["came"][49] == pytest.approx(1250, rel=0.08)  # a quarter in half the time
    assert rising["came"][-1] - rising["came"][-11] == pytest.approx(950, rel=0.12)


def test_the_same_seed_gives_the_same_recording_and_another_one_another() -> None:
    assert logged("livelock", seed=4) == logged("livelock", seed=4) != logged("livelock", seed=5)


def test_a_profile_that_cannot_be_recorded_is_refused_with_what_is_wrong(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no workload 'sinking'; did you mean rising"):
        run_recorded("livelock", 0, "sinking")
    with pytest.raises(InputError, match=r'acenic\.toml: names no card file: card = "NAME"'):
        run_recorded("acenic", 0, "as-described")
    with pytest.raises(InputError, match="a profile of stages has none"):
        RunningCard(Wanted("livelock", "credit-lost", 0, ""))
    path = tmp_path / "own.toml"
    path.write_text('extends = "livelock"\n[run]\nlog_ns = 1_000_000_000\n')
    with pytest.raises(
        InputError, match=r"own.toml:2: log_ns: a run of .* has 0 periods; there may be 1 to 65,536"
    ):
        run_recorded(str(path), 0, "rising")
    path.write_text('extends = "livelock"\n[run]\nlog_ns = 5\n')
    says = r"own.toml:3: run.log_ns: 5 is not a number from 1,000 to 1,000,000,000,000$"
    with pytest.raises(InputError, match=says):
        run_recorded(str(path), 0, "rising")
    path.write_text('extends = "livelock"\ncard = "switch-c"\n')
    with pytest.raises(InputError, match="card switch-c: forwarded is no event of wire sample"):
        run_recorded(str(path), 0, "rising")
