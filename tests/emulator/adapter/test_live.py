"""A switch that is fed from outside does what the same profile does with messages it knows beforehand."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import pytest

from freezeframe.capture.errors import InputError
from freezeframe.emulator.adapter.live import Crosspoints, Live
from freezeframe.emulator.adapter.outcome import run_adapter
from freezeframe.emulator.adapter.reading import load_adapter

CYCLE_PS = 12_800
SWITCH = Path(__file__).parents[3] / "emulator" / "profiles" / "switch.toml"
WAYS = [(0, 2), (1, 2), (1, 3)]


def messages(seed: int, count: int = 40) -> list[tuple[int, int, int]]:
    """``(way, words, arrival)`` in the order of arrival; a card sends its packets one after the other."""
    draw = random.Random(seed)
    free = {0: 0, 1: 0}
    found = []
    for _ in range(count):
        way = draw.randrange(len(WAYS))
        node, words = WAYS[way][0], draw.choice((1, 4, 67, 300))
        free[node] += draw.randrange(1, 400) * CYCLE_PS // 2
        found.append((way, words, free[node]))
        free[node] += words * CYCLE_PS
    return sorted(found, key=lambda one: one[2])


@pytest.mark.parametrize("credits", [7, 128])
@pytest.mark.parametrize("seed", range(3))
def test_steps_of_any_size_end_as_the_whole_run_does(
    tmp_path: Path, seed: int, credits: int
) -> None:
    sent = messages(seed)
    text = 'extends = "switch"\n'
    for flow in range(7):
        if flow >= len(WAYS):
            text += f'[flow.from{flow}]\narrivals = "periodic"\nrate_per_s = 1\nmessages = 1\nfrom = 6\nto = 7\n'
            continue
        rows = "".join(f"{t / 1000},{words * 8}\n" for way, words, t in sent if way == flow)
        (tmp_path / f"{flow}.csv").write_text(rows)
        a, b = WAYS[flow]
        text += (
            f'[flow.from{flow}]\narrivals = "trace"\nfile = "{flow}.csv"\nfrom = {a}\nto = {b}\n'
        )
        text += f"messages = {sum(one[0] == flow for one in sent)}\n"
    (tmp_path / "batch.toml").write_text(text)
    whole = run_adapter(
        load_adapter(str(tmp_path / "batch.toml"), {"crosspoint_words": credits})
    ).world
    draw = random.Random(seed)
    live = Live(Crosspoints.of(load_adapter("switch", {"crosspoint_words": credits})), WAYS, 20_000)
    taken = []
    for way, words, t_ps in sent:
        for _ in range(draw.randrange(3)):
            live.run(t_ps - draw.randrange(1, 50_000))
        taken.append(live.come(WAYS[way], words, t_ps))
    live.run(10**12)
    for flow in range(len(WAYS)):
        done = [live.done_ps(row) for row, one in zip(taken, sent, strict=True) if one[0] == flow]
        assert done == whole.messages["done"][whole.messages["flow"] == flow].tolist()


def test_a_message_is_seen_on_its_way_and_its_rows_serve_again() -> None:
    switch = Crosspoints.of(load_adapter("switch"))
    assert (switch.ports, switch.words) == (8, 128)
    assert (switch.head_ps, switch.cycle_ps) == (13 * CYCLE_PS, CYCLE_PS)
    live = Live(switch, [(0, 1)], 10)
    for start in range(0, 10**9, 10**8):
        row = live.come((0, 1), 4, start)
        begins = start + switch.head_ps
        live.run(begins - 1)
        assert (live.begun_ps(row), live.standing((0, 1))) == (None, 4)
        live.run(begins + 2 * CYCLE_PS)
        assert (live.begun_ps(row), live.standing((0, 1))) == (begins, 2)
        assert (live.done_ps(row), live.through(row, begins + CYCLE_PS)) == (None, 1)
        live.run(begins + 4 * CYCLE_PS)
        assert (live.done_ps(row), live.standing((0, 1))) == (begins + 4 * CYCLE_PS, 0)
        live.release(row)
    live.come((0, 1), 6, 2 * 10**9)
    with pytest.raises(AssertionError, match="more than 10 words are remembered"):
        live.come((0, 1), 6, 2 * 10**9)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("[stage.forward]", 'gives = ["crosspoint"]\n[stage.forward]'), "its first stage takes one pool"),
        (("unit_B = 8", "unit_B = 16"), "pool.crosspoint: is no crosspoint"),
        (('at = "receiver"', ""), "its last at the receiver"),
        (("[stage.through]", "[stage.through]\npoll_ns = 1"), "stage.through: a switch moves"),
    ],
    ids=["given back on the way", "other words", "one place", "polled"],
)  # fmt: skip
def test_a_profile_that_is_no_switch_is_refused_with_the_reason(
    tmp_path: Path, change: tuple[str, str], message: str
) -> None:
    file = tmp_path / "other.toml"
    text = SWITCH.read_text()
    assert change[0] in text
    text = text.replace(*change)
    if "gives" in change[1]:  # and not at the end
        head, _, end = text.rpartition('gives = ["crosspoint"]')
        text = head + end
    file.write_text(text)
    with pytest.raises(InputError, match=message):
        Crosspoints.of(load_adapter(str(file)))


def test_the_crossbar_keeps_its_turn_from_step_to_step() -> None:
    """Two inputs, one output: packets of both in turn, each whole."""
    live = Live(Crosspoints.of(load_adapter("switch")), [(0, 2), (1, 2)], 200)
    rows = [live.come((node, 2), 30, 0) for _ in range(3) for node in (0, 1)]
    for t_ps in range(0, 400 * CYCLE_PS, 7 * CYCLE_PS):
        live.run(t_ps)
    begun = [live.begun_ps(row) or 0 for row in rows]
    assert np.diff(begun).tolist() == [30 * CYCLE_PS] * 5
