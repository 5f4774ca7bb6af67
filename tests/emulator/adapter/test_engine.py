"""The engine of profiles of stages: queueing theory, orders and laws, against answers worked out by hand."""

from __future__ import annotations

import random
import struct
from pathlib import Path
from typing import Any

import pytest

from freezeframe.capture.errors import InputError
from freezeframe.emulator.adapter.outcome import Outcome
from freezeframe.emulator.adapter.reading import ProfileError
from tests.emulator.adapter.profiles import ONE, load_text, run_text


def done_ns(outcome: Outcome) -> list[float]:
    """Return when each message arrived, in the order of their numbers."""
    return [done / 1000 for done in outcome.world.messages["done"].tolist()]


def test_one_stage_takes_its_time_for_every_message(tmp_path: Path) -> None:
    outcome = run_text(tmp_path, ONE, messages=10, flow__messages__size_B=50)
    assert outcome.took_ps == 10 * 100_000
    assert outcome.throughput_MBps == pytest.approx(500.0)
    assert (outcome.bottleneck, outcome.bottleneck_share) == ("cpu@0", 1.0)


def test_a_job_lasts_by_its_messages_segments_and_bytes_on_both_sides_of_the_knee(
    tmp_path: Path,
) -> None:
    text = ONE.replace(
        "fixed_ns = 100",
        "fixed_ns = 1\nmessage_ns = 2\nsegment_B = 10\nsegment_ns = 100\n"
        "byte_ns = 1000\nknee_B = 20\nbeyond_byte_ns = 500",
    )
    took = {
        size: run_text(tmp_path, text, messages=1, flow__messages__size_B=size).took_ps / 1000
        for size in (0, 10, 11, 20, 25)
    }
    assert took == {
        0: 3,
        10: 3 + 100 + 10_000,
        11: 3 + 200 + 11_000,
        20: 3 + 200 + 20_000,
        25: 3 + 300 + 20_000 + 2_500,
    }


def test_stages_overlap_and_a_pool_of_one_token_ends_that(tmp_path: Path) -> None:
    text = """
[resource.a]
[resource.b]
[pool.depth]
tokens = 2
[stage.first]
uses = ["a"]
takes = ["depth"]
fixed_ns = 100
[stage.second]
uses = ["b"]
gives = ["depth"]
fixed_ns = 60
[flow.messages]
arrivals = "saturating"
"""
    assert done_ns(run_text(tmp_path, text, messages=3)) == [160, 260, 360]
    assert done_ns(run_text(tmp_path, text, messages=3, pool__depth__tokens=1)) == [160, 320, 480]


def test_a_job_of_higher_priority_takes_the_resource_and_the_other_goes_on_with_what_is_left(
    tmp_path: Path,
) -> None:
    text = """
[resource.bus]
order = "priority"
preempts = true
[stage.slow]
uses = ["bus"]
fixed_ns = 1000
[stage.quick]
uses = ["bus"]
fixed_ns = 10
priority = 1
[flow.low]
arrivals = "periodic"
rate_per_s = 1e6
route = ["slow"]
messages = 1
[flow.high]
arrivals = "trace"
file = "times.csv"
route = ["quick"]
"""
    (tmp_path / "times.csv").write_text("# time_ns,size_B\n0,1\n500,1\n")
    outcome = run_text(tmp_path, text)
    assert done_ns(outcome) == [1020, 10, 510]
    assert outcome.world.resources["preempted"].tolist() == [1]
    waits = run_text(tmp_path, text.replace("preempts = true", ""))
    assert done_ns(waits) == [1010, 10, 1020]


def test_edd_serves_the_flow_that_is_due_first_and_round_robin_takes_turns(tmp_path: Path) -> None:
    text = """
[resource.link]
order = "ORDER"
[stage.send]
uses = ["link"]
fixed_ns = 100
[flow.a]
arrivals = "trace"
file = "t.csv"
due_ns = 5000
[flow.b]
arrivals = "trace"
file = "u.csv"
due_ns = 1000
"""
    (tmp_path / "t.csv").write_text("0,1\n0,1\n0,1\n")
    (tmp_path / "u.csv").write_text("1,1\n1,1\n1,1\n")
    order = {
        name: done_ns(run_text(tmp_path, text.replace("ORDER", name)))
        for name in ("fifo", "edd", "round-robin")
    }
    assert order["fifo"] == [100, 200, 300, 400, 500, 600]
    assert order["edd"] == [100, 500, 600, 200, 300, 400]
    assert order["round-robin"] == [100, 300, 500, 200, 400, 600]


def test_messages_gather_into_one_job_and_the_last_ones_after_a_while(tmp_path: Path) -> None:
    text = ONE.replace(
        "fixed_ns = 100", "fixed_ns = 100\nmessage_ns = 1\ngather = 3\ngather_wait_ns = 1000"
    ).replace('"saturating"', '"trace"\nfile = "t.csv"')
    (tmp_path / "t.csv").write_text("0,1\n10,1\n20,1\n30,1\n")
    outcome = run_text(tmp_path, text)
    assert done_ns(outcome) == [123, 123, 123, 1131]
    assert outcome.stage("work")["jobs"] == 2


def test_what_was_merged_is_one_from_there_on_and_is_gathered_as_one(tmp_path: Path) -> None:
    text = """
[resource.cpu]
[stage.join]
uses = ["cpu"]
gather = 3
gather_wait_ns = 1e6
merge = true
byte_ns = 1
[stage.interrupt]
uses = ["cpu"]
gather = 2
gather_wait_ns = 1e6
fixed_ns = 1000
[stage.stack]
uses = ["cpu"]
fixed_ns = 10
[flow.frames]
arrivals = "trace"
file = "t.csv"
"""
    (tmp_path / "t.csv").write_text("0,10\n" * 6)
    outcome = run_text(tmp_path, text)
    assert [outcome.stage(name)["jobs"] for name in ("join", "interrupt", "stack")] == [2, 1, 2]
    assert done_ns(outcome) == [1070] * 3 + [1080] * 3


def test_a_full_queue_drops_and_the_tokens_of_what_was_dropped_come_back(tmp_path: Path) -> None:
    text = """
[resource.cpu]
[pool.buffers]
tokens = 3
[stage.take]
takes = ["buffers"]
[stage.work]
uses = ["cpu"]
fixed_ns = 100
gives = ["buffers"]
queue = 1
when_full = "drop"
[flow.messages]
arrivals = "trace"
file = "t.csv"
"""
    (tmp_path / "t.csv").write_text("0,7\n1,7\n2,7\n3,7\n200,7\n")
    outcome = run_text(tmp_path, text)
    assert (outcome.messages, outcome.dropped, outcome.bytes_) == (3, 2, 21)


def test_a_full_queue_makes_the_stage_before_wait(tmp_path: Path) -> None:
    text = """
[resource.a]
[resource.b]
[stage.first]
uses = ["a"]
fixed_ns = 10
[stage.second]
uses = ["b"]
fixed_ns = 100
queue = 1
[flow.messages]
arrivals = "saturating"
"""
    outcome = run_text(tmp_path, text, messages=5)
    assert outcome.took_ps == 510_000
    assert outcome.stage("second")["most"] == 1
    assert outcome.dropped == 0


def test_a_pool_keeps_what_is_reserved_for_a_flow(tmp_path: Path) -> None:
    text = """
[pool.buffers]
tokens = 3
reserved = { quiet = 1 }
[stage.hold]
takes = ["buffers"]
gives = ["buffers"]
fixed_ns = 100
[flow.greedy]
arrivals = "trace"
file = "greedy.csv"
[flow.quiet]
arrivals = "trace"
file = "quiet.csv"
"""
    (tmp_path / "greedy.csv").write_text("0,1\n" * 4)
    (tmp_path / "quiet.csv").write_text("1,1\n")
    assert done_ns(run_text(tmp_path, text)) == [100, 100, 200, 200, 101]
    free = text.replace("reserved = { quiet = 1 }", "")
    assert done_ns(run_text(tmp_path, free)) == [100, 100, 100, 200, 200]


def test_a_ping_pong_between_two_nodes_uses_the_resources_of_both_and_alternates(
    tmp_path: Path,
) -> None:
    text = """
[resource.cpu]
[resource.wire]
shared = true
[stage.send]
uses = ["cpu"]
fixed_ns = 10
[stage.wire]
uses = ["wire"]
fixed_ns = 100
[stage.receive]
at = "receiver"
uses = ["cpu"]
fixed_ns = 5
[flow.ball]
arrivals = "ping-pong"
messages = 3
"""
    outcome = run_text(tmp_path, text)
    assert done_ns(outcome) == [115, 345, 575, 230, 460, 690]
    assert {part.label for part in outcome.occupied()} == {"cpu@0", "cpu@1", "wire"}
    assert outcome.bottleneck == "window of ball" and outcome.bottleneck_share == 1.0


def test_arrivals_are_those_of_a_pcap_in_the_order_of_their_times(tmp_path: Path) -> None:
    packets = b""
    for t_us, size_B in ((0, 60), (30, 1500), (10, 200)):
        packets += struct.pack("<IIII", 7, t_us, size_B, size_B) + bytes(size_B)
    header = struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1)
    (tmp_path / "t.pcap").write_bytes(header + packets)
    outcome = run_text(tmp_path, ONE.replace('"saturating"', '"pcap"\nfile = "t.pcap"'))
    assert done_ns(outcome) == [100, 10_100, 30_100]
    assert outcome.world.messages["size"].tolist() == [60, 200, 1500]
    (tmp_path / "t.pcap").write_bytes(header + packets[:-9])
    with pytest.raises(InputError, match=r"t\.pcap"):
        run_text(tmp_path, ONE.replace('"saturating"', '"pcap"\nfile = "t.pcap"'))


def test_a_message_of_several_packets_has_arrived_with_its_last_one(tmp_path: Path) -> None:
    outcome = run_text(
        tmp_path, ONE, messages=2, flow__messages__size_B=250, flow__messages__packet_B=100
    )
    assert done_ns(outcome) == [300, 600]
    assert outcome.world.packets["size"].tolist() == [100, 100, 50] * 2


def test_a_polled_stage_sees_a_message_at_the_next_look(tmp_path: Path) -> None:
    text = ONE.replace("fixed_ns = 100", "fixed_ns = 100\npoll_ns = 1000").replace(
        '"saturating"', '"trace"\nfile = "t.csv"'
    )
    (tmp_path / "t.csv").write_text("0,1\n1,1\n1050,1\n")
    assert done_ns(run_text(tmp_path, text)) == [100, 1100, 2100]


def test_banks_take_messages_in_turn(tmp_path: Path) -> None:
    text = ONE + "[resource.spare]\n"
    text = text.replace('"saturating"', '"window"\noutstanding = 4\nmessages = 4')
    one, two = run_text(tmp_path, text), run_text(tmp_path, text, resource__cpu__banks=2)
    assert (done_ns(one), done_ns(two)) == ([100, 200, 300, 400], [100, 100, 200, 200])


def test_a_poisson_flow_into_one_server_waits_as_the_formula_of_pollaczek_and_khinchine_says(
    tmp_path: Path,
) -> None:
    """M/D/1 at a load of 0.7: mean wait = load / (2 (1 - load)) of a service."""
    text = ONE.replace('"saturating"', '"poisson"\nrate_per_s = 7e6')
    outcome = run_text(tmp_path, text, messages=200_000)
    assert outcome.latency_ns()["mean"] == pytest.approx(100 + 100 * 0.7 / 0.6, rel=0.03)
    assert outcome.occupied()[0].share == pytest.approx(0.7, rel=0.01)


@pytest.mark.parametrize(
    ("arrivals", "more"),
    [("poisson", {}), ("pareto", {"alpha": 2.5}), ("on-off", {"on_ns": 3000.0, "off_ns": 9000.0}), ("periodic", {})],
)  # fmt: skip
def test_arrivals_keep_their_mean_rate(tmp_path: Path, arrivals: str, more: dict[str, Any]) -> None:
    settings = {f"flow__messages__{key}": value for key, value in more.items()}
    text = ONE.replace('"saturating"', f'"{arrivals}"\nrate_per_s = 1e6')
    outcome = run_text(tmp_path, text, messages=50_000, **settings)
    assert outcome.messages_per_s == pytest.approx(1e6, rel=0.03)


def test_a_resource_that_is_whole_stays_with_a_message_until_its_last_packet(
    tmp_path: Path,
) -> None:
    text = """
[resource.link]
order = "round-robin"
whole = true
[stage.send]
uses = ["link"]
fixed_ns = 10
[flow.a]
arrivals = "trace"
file = "t.csv"
packet_B = 8
[flow.b]
arrivals = "trace"
file = "t.csv"
packet_B = 8
"""
    (tmp_path / "t.csv").write_text("0,24\n0,24\n")
    assert done_ns(run_text(tmp_path, text)) == [30, 90, 60, 120]
    turns = text.replace("whole = true", "")
    assert done_ns(run_text(tmp_path, turns)) == [50, 110, 60, 120]


def test_a_whole_resource_behind_a_pool_that_flows_share_is_a_deadlock_that_is_named(
    tmp_path: Path,
) -> None:
    """The words of one message hold the tokens that the rest of the other, which has the output, needs."""
    text = """
[resource.output]
whole = true
[pool.buffer]
tokens = 2
[stage.in]
takes = ["buffer"]
fixed_ns = 1
[stage.out]
uses = ["output"]
gives = ["buffer"]
fixed_ns = 10
[flow.a]
arrivals = "saturating"
size_B = 80
packet_B = 8
[flow.b]
arrivals = "saturating"
size_B = 80
packet_B = 8
"""
    with pytest.raises(ProfileError, match=r"can deadlock: pool buffer is held .*resource output"):
        load_text(tmp_path, text)
    own = text.replace("tokens = 2", "tokens = 2\nper_flow = true")
    assert run_text(tmp_path, own, messages=20).messages == 40


def random_profile(draw: random.Random) -> str:
    """Return a profile of random stages, resources, pools and flows that cannot deadlock."""
    resources = [f"r{n}" for n in range(draw.randint(1, 4))]
    lines = []
    for name in resources:
        preempts = draw.random() < 0.3
        order = "priority" if preempts else draw.choice(["fifo", "priority", "round-robin", "edd"])
        whole = not preempts and draw.random() < 0.15
        servers = 1 if whole else draw.randint(1, 3)
        lines += [f"[resource.{name}]", f'order = "{order}"', f"servers = {servers}"]
        lines += [f"whole = {str(whole).lower()}"]
        lines += [f"shared = {str(draw.random() < 0.3).lower()}", f"preempts = {str(preempts).lower()}"]  # fmt: skip
    stages = draw.randint(1, 6)
    begin, end = sorted((draw.randrange(stages), draw.randrange(stages)))
    lines += ["[pool.p]", f"tokens = {draw.randint(4, 9)}", f"unit_B = {draw.choice([0, 700])}"]
    gathers = False
    for n in range(stages):
        uses = draw.sample(resources, draw.randint(0, min(2, len(resources))))
        lines += [f"[stage.s{n}]", f"uses = {uses}"]
        lines += [f"fixed_ns = {draw.randint(1, 300)}", f"byte_ns = {draw.choice([0, 0.1, 1.3])}"]
        lines += [f"priority = {draw.randint(0, 2)}", f'at = "{draw.choice(["sender", "receiver"])}"']  # fmt: skip
        lines += ['takes = ["p"]'] * (n == begin) + ['gives = ["p"]'] * (n == end)
        drops, waits, gathered = draw.random() < 0.15, draw.random() < 0.2, gathers
        gathers = draw.random() < 0.2 and n != begin
        if gathers:
            lines += [f"gather = {draw.randint(2, 4)}", f"gather_most = {draw.randint(4, 9)}"]
            lines += ["gather_wait_ns = 500"]
            lines += [f"merge = {str(draw.random() < 0.5).lower()}"]
        if drops:
            lines += [f"queue = {draw.randint(1, 20)}", 'when_full = "drop"']
        elif waits and n and not gathered:
            lines += [f"queue = {draw.randint(1, 3)}"]
    for n in range(draw.randint(1, 3)):
        kind = draw.choice(["saturating", "window", "ping-pong", "poisson", "on-off", "pareto"])
        lines += [f"[flow.f{n}]", f'arrivals = "{kind}"', f"rate_per_s = {draw.randint(1, 30)}e5"]
        lines += ["on_ns = 2000", "off_ns = 3000", f"outstanding = {draw.randint(1, 5)}"]
        lines += [f"from = {n}", f"to = {n + 1}", f"packet_B = {draw.choice([0, 500])}"]
        lines += ["sizes_B = [0, 60, 1500]", f"due_ns = {draw.choice([0, 900])}", "messages = 60"]
    return "\n".join(lines).replace("'", '"')


def test_of_random_profiles_nothing_is_lost_twice_the_same_comes_out_and_no_bound_is_beaten(
    tmp_path: Path,
) -> None:
    """`run_adapter` raises where bytes, tokens or jobs are not conserved, or a bound is beaten."""
    draw = random.Random(5)
    ran = tight = 0
    for _ in range(150):
        text = random_profile(draw)
        try:
            load_text(tmp_path, text)
        except ProfileError as refused:
            assert any(
                why in str(refused) for why in ("wait for ever", "can deadlock", "whole, so")
            )
            continue
        ran += 1
        try:
            first, second = run_text(tmp_path, text), run_text(tmp_path, text)
        except (
            InputError
        ) as stuck:  # packets of different sizes overtake each other on the way to it
            assert "whole = true" in text and "deadlock at" in str(stuck)
            continue
        assert first.shown() == second.shown()
        assert first.messages + int(first.world.messages["lost"].sum()) <= len(first.world.messages)
        tight += first.bottleneck_share > 0.99
    assert tight > 5
    assert ran > 75
