"""Profiles of stages: every mistake with file, line and key; formulas; settings; deadlocks named."""

from __future__ import annotations

from pathlib import Path

import pytest

from freezeframe.capture.errors import InputError
from freezeframe.emulator.adapter.formula import evaluated
from freezeframe.emulator.adapter.outcome import run_adapter
from freezeframe.emulator.adapter.reading import load_adapter
from freezeframe.emulator.adapter.what_if import values_of
from freezeframe.emulator.profile import load_profile
from freezeframe.emulator.profile_files import profile_names
from tests.emulator.adapter.profiles import load_text, run_text

TWO = """\
[parameter]
cost_us = 2
[resource.cpu]
[pool.left]
tokens = 1
[pool.right]
tokens = 4
[stage.first]
uses = ["cpu"]
takes = ["left"]
fixed_ns = "= cost_us * 1000 / 4"
[stage.second]
gives = ["left"]
fixed_ns = 7
[flow.messages]
arrivals = "window"
"""


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("fixed_ns = 7", "fixd_ns = 7", r"own.toml:14: unknown key 'fixd_ns' in stage.second; did you mean fixed_ns\?"),
        ("fixed_ns = 7", "fixed_ns = -7", r"own.toml:14: stage.second.fixed_ns: -7 is not a number from 0 to"),
        ('arrivals = "window"', "", r"own.toml:15: flow.messages: arrivals is missing"),
        ('"window"', '"windw"', r"own.toml:16: flow.messages.arrivals: 'windw' is not one of .*did you mean window\?"),
        ('uses = ["cpu"]', 'uses = ["gpu"]', r"own.toml:9: stage.first.uses: there is no resource 'gpu'; did you mean cpu\?"),
        ("cost_us * 1000", "cots_us * 1000", r"own.toml:11: stage.first.fixed_ns: there is no parameter 'cots_us'; there are cost_us"),
        ("/ 4", "/ 0", r"own.toml:11: .* divides by zero"),
        ('gives = ["left"]', "", r"own.toml:10: stage.first: flow messages takes from pool left and never gives back"),
        ('takes = ["left"]', "", r"own.toml:13: stage.second: flow messages gives back to pool left what it has not taken"),
        ('gives = ["left"]', 'gives = ["left"]\ntakes = ["left"]', r"own.toml:14: stage.second: flow messages can deadlock: it takes from pool left while it holds what stage first took"),
        ("tokens = 1", "tokens = 1\nunit_B = 64\n", r"own.toml:12: stage.first: 100 B of flow messages take 2 tokens of pool left, which has 1"),
        ("[flow.messages]", "[flow.messages]\nfile = 'x'", r"own.toml:16: flow.messages: file and arrivals = 'trace' or 'pcap' belong together"),
        ('"window"', '"poisson"', r"own.toml:15: flow.messages: 'poisson' needs rate_per_s"),
        ("[parameter]", "[parameter", r"own.toml:1: no TOML"),
        ("tokens = 4", "tokens = 4\n[run]\nmessages = 0", r"own.toml:9: run.messages: 0 is not a whole number from 1"),
        ("fixed_ns = 7", "gather = 4", r"own.toml:14: stage.second: gather = 4 without gather_wait_ns"),
        ("fixed_ns = 7", 'when_full = "drop"', r"own.toml:14: stage.second: when_full = 'drop', but queue = 0 is never full"),
        ("[resource.cpu]", "[resource.cpu]\npreempts = true", r"own.toml:4: resource.cpu: preempts, but order is 'fifo'"),
    ],
)  # fmt: skip
def test_a_mistake_is_named_with_file_line_and_key(
    tmp_path: Path, old: str, new: str, says: str
) -> None:
    assert old in TWO
    with pytest.raises(InputError, match=says):
        load_text(tmp_path, TWO.replace(old, new, 1) + "size_B = 100\n")


def test_every_mistake_is_told_in_one_go(tmp_path: Path) -> None:
    text = TWO.replace('["cpu"]', '["gpu"]').replace('gives = ["left"]', 'gives = ["lft"]')
    with pytest.raises(InputError) as caught:
        load_text(tmp_path, text)
    assert [line.split(": ")[1] for line in caught.value.lines] == [
        "stage.first.uses", "stage.second.gives", "stage.second", "stage.first",
    ]  # fmt: skip


def test_a_circle_without_a_stage_that_takes_time_is_refused(tmp_path: Path) -> None:
    text = TWO.replace('"= cost_us * 1000 / 4"', "0").replace("fixed_ns = 7", "")
    with pytest.raises(
        InputError, match=r"goes round first -> second without a stage that takes time"
    ):
        load_text(tmp_path, text)


def test_pools_that_two_flows_take_in_opposite_order_are_a_deadlock_that_is_named(
    tmp_path: Path,
) -> None:
    text = """\
[pool.left]
tokens = 1
[pool.right]
tokens = 1
[stage.a]
takes = ["left"]
fixed_ns = 1
[stage.b]
takes = ["right"]
fixed_ns = 1
[stage.end]
gives = ["left", "right"]
[flow.to]
arrivals = "saturating"
route = ["a", "b", "end"]
[flow.back]
arrivals = "saturating"
route = ["b", "a", "end"]
"""
    says = (
        r"own.toml:1: can deadlock: pool left is held while stage b \(flow to\) waits for pool right; "
        r"pool right is held while stage a \(flow back\) waits for pool left"
    )
    with pytest.raises(InputError, match=says):
        load_text(tmp_path, text)
    straight = text.replace('["b", "a", "end"]', '["a", "b", "end"]')
    assert run_text(tmp_path, straight, messages=5).messages == 10


def test_queues_that_wait_for_each_other_in_a_circle_are_a_deadlock_that_is_named(
    tmp_path: Path,
) -> None:
    text = """\
[resource.cpu]
[stage.a]
uses = ["cpu"]
fixed_ns = 1
[stage.b]
queue = 1
fixed_ns = 1
[stage.c]
queue = 1
fixed_ns = 1
[flow.there]
arrivals = "saturating"
route = ["a", "b", "c", "b", "c"]
"""
    with pytest.raises(InputError, match=r"can deadlock: queue of b is held while stage b"):
        load_text(tmp_path, text)


def test_settings_replace_values_and_wrong_ones_are_named_as_settings(tmp_path: Path) -> None:
    assert load_text(tmp_path, TWO, cost_us=8).adapter.stage["first"].fixed_ns == 2000
    assert load_text(tmp_path, TWO, stage__second__fixed_ns=9).adapter.stage["second"].fixed_ns == 9
    for key, says in (
        ("cost", r"--set cost: there is no such parameter; did you mean cost_us\?"),
        ("stage__secnd__fixed_ns", r"--set stage.secnd.fixed_ns: there is no table 'secnd'; did you mean second\?"),
        ("stage__second__fixed", r"--set stage.second.fixed=1: unknown key 'fixed' in stage.second; did you mean fixed_ns\?"),
    ):  # fmt: skip
        with pytest.raises(InputError, match=says):
            load_text(tmp_path, TWO, **{key: 1})


def test_one_parameter_that_is_no_number_is_one_line_also_where_formulas_and_parameters_come_from_it(
    tmp_path: Path,
) -> None:
    text = TWO.replace(
        "[parameter]\n", "[parameter]\nbase = 4\nmore = '= base + 1'\nlast = '= more * 2'\n"
    )
    assert text != TWO
    with pytest.raises(InputError) as raised:
        load_text(tmp_path, text.replace("fixed_ns =", "fixed_ns = '= last' #", 1), base="abc")
    assert str(raised.value) == "--set base=abc: parameter.base: 'abc' is not a number"
    with pytest.raises(InputError) as raised:  # through two parameters
        load_text(tmp_path, text.replace("fixed_ns =", "fixed_ns = '= last' #", 1), base=-100)
    (line,) = str(raised.value).splitlines()
    assert line.startswith("--set base=-100: ") and "stage.first.fixed_ns: -198" in line


def test_a_parameter_that_a_file_gives_to_the_one_it_extends_is_named_with_that_files_line(
    tmp_path: Path,
) -> None:
    (tmp_path / "base.toml").write_text(TWO)
    own = tmp_path / "own.toml"
    own.write_text('extends = "base.toml"\n[parameter]\ncost_us = -5\n')
    with pytest.raises(InputError) as raised:
        load_adapter(str(own))
    assert str(raised.value).startswith(
        f"{own}:3: parameter.cost_us: {tmp_path / 'base.toml'}:11: stage.first.fixed_ns: -1250 is not a number"
    )


@pytest.mark.parametrize(
    ("trace", "says"),
    [
        ("0,1\n5,", r"t.csv:2: '5,' is no time_ns,size_B; the trace ends early there, after 1 messages"),
        ("5,1\n4,1\n", r"t.csv:2: the time 4 ns is before that of the line above"),
        ("0,1\n", r"t.csv: ends early: it has 1 messages of the 3 asked for"),
        ("", r"t.csv: has no messages"),
        ("-1,1\n", r"t.csv:1: '-1,1': a time or size out of range"),
    ],
)  # fmt: skip
def test_a_trace_that_cannot_be_used_is_refused_with_its_line(
    tmp_path: Path, trace: str, says: str
) -> None:
    (tmp_path / "t.csv").write_text(trace)
    text = TWO.replace('"window"', '"trace"\nfile = "t.csv"\nmessages = 3')
    with pytest.raises(InputError, match=says):
        run_text(tmp_path, text)


def test_a_profile_of_stages_is_no_card_for_the_emulated_pair_and_the_other_way_round() -> None:
    with pytest.raises(InputError, match=r"describes an adapter by its stages.*one of forth,"):
        load_profile("cim250")
    with pytest.raises(InputError, match=r"is a card down to its cycles.*cim250, "):
        load_adapter("forth")
    assert "cim250" in profile_names(by_stages=True)


@pytest.mark.parametrize("name", profile_names(by_stages=True))
def test_every_profile_that_ships_runs_and_says_what_it_is(name: str) -> None:
    described = load_adapter(name)
    assert described.adapter.description
    outcome = run_adapter(described)
    assert outcome.messages > 0


def test_a_formula_is_arithmetic_and_nothing_else() -> None:
    assert evaluated(" a * (2 + 3) - -1", {"a": 0.5}) == 3.5
    assert evaluated("min(a, 7) // 2", {"a": 9}) == 3
    for text in (
        "__import__('os')",
        "a.b",
        "'x'",
        "[1]",
        "a if a else 1",
        "min()",
        "1e999",
        "2 **",
    ):
        with pytest.raises(ValueError):
            evaluated(text, {"a": 1})


def test_a_range_doubles_or_is_even_or_grows_by_a_factor_or_is_a_list() -> None:
    assert values_of("64..512") == [64, 128, 256, 512]
    assert values_of("1..5") == [1, 2, 3, 4, 5]
    assert values_of("0..1/5") == [0, 1]
    assert values_of("0.0..1.0/5") == [0, 0.25, 0.5, 0.75, 1.0]
    assert values_of("1..100*10") == [1, 10, 100]
    assert values_of("1,two,[a b]") == [1, "two", ["a", "b"]]
    for text in ("5..1", "0..9*2", "1..9/1", "a..b"):
        with pytest.raises(ValueError):
            values_of(text)
