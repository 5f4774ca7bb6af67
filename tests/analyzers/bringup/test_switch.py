"""The stage of the switch: what its ports counted says where words went, and the cards' own taps say the rest."""

from __future__ import annotations

import json
import os
import re
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from freezeframe.analyzers.bringup.evidence import Evidence
from freezeframe.analyzers.bringup.failure import Failure
from freezeframe.analyzers.bringup.ladder import climb
from freezeframe.analyzers.bringup.switch import Standing, Switch, misplaced, through
from freezeframe.capture.console.port import open_console
from freezeframe.capture.console.switch import PortCounts, SwitchMonitor, SwitchReport
from freezeframe.capture.registers.access import Device, open_devices
from freezeframe.emulator.target import EmulatorTarget
from tests.capture.console.printed import line
from tests.gui.cli import run_inside
from tests.gui.test_emulate_verb import emulating

DEVICES = cast("Sequence[Device]", [SimpleNamespace(name="A"), SimpleNamespace(name="B")])
RIGHT = {
    0: PortCounts(1000, 15, 0, 1000, 600, 9, 0),
    1: PortCounts(600, 9, 0, 600, 1000, 15, 0),
}
BEFORE = Standing((50, 70), SwitchReport(1, ports={0: PortCounts(10, 2, 1, 10, 8, 1, 1)}))


def said(
    sent: tuple[int, int] = (1000, 600), stands: int = 0, **ports: dict[str, int]
) -> list[str]:
    """Return what is said of counts since `BEFORE`, of which some are other than those of a switch in order."""
    after = dict(RIGHT)
    for name, changed in ports.items():
        number = int(name.removeprefix("port"))
        after[number] = after.get(number, PortCounts())._replace(**changed)
    whole = {
        number: PortCounts(
            *(n + b for n, b in zip(counts, BEFORE.report.port(number), strict=True))
        )
        for number, counts in after.items()
    }
    then = Standing(
        (sent[0] + 50, sent[1] + 70), SwitchReport(9, crosspoints={(0, 1): stands}, ports=whole)
    )
    monitor = cast("SwitchMonitor", None)
    return misplaced(DEVICES, Switch(monitor), BEFORE, then)


def test_a_switch_from_which_all_that_came_has_left_has_nothing_to_say() -> None:
    assert said() == []


@pytest.mark.parametrize(
    ("found", "text"),
    [
        (
            said(port1={"words_out": 999}),
            "1 word of 1,000 lost in the switch, between port 0 (in, A) and port 1 (out, B)",
        ),
        (
            said(port0={"words_out": 602}),
            "2 words too many left by port 0: in the switch, between port 1 (in, B) and port 0 (out, A)",
        ),
        (
            said(port1={"bad_out": 1}),
            "1 packet came in right and left damaged and as many words left as came: altered in the switch, between "
            "port 0 (in, A) and port 1 (out, B)",
        ),
        (
            said(port0={"told": 400}),
            "port 0 holds the credit of 600 words: they left its crosspoints and A was not told",
        ),
        (
            said((1003, 600)),
            "A put 1,003 words on its link and 1,000 came into port 0: between A's transmitter and the switch",
        ),
        (
            said(port1={"bad_in": 2}, port0={"bad_out": 2}),
            "2 of 9 packets and the credits of B came into port 1 damaged: in B or on its link to the switch",
        ),
        (
            said(stands=7, port0={"told": 993}, port1={"words_out": 993}),
            "7 words stand in the crosspoints of port 0 although nothing moves: port 1 does not take them",
        ),
    ],
    ids=["lost", "too many", "altered", "credit", "link", "damaged link", "stands"],
)
def test_a_count_that_does_not_hold_names_the_place(found: list[str], text: str) -> None:
    assert text in found


def test_a_packet_by_a_port_without_a_card_is_named_by_that_port_first() -> None:
    found = said(
        port1={"words_out": 933, "packets_out": 14}, port5={"words_out": 67, "packets_out": 1}
    )
    assert found == [
        "the switch delivered to a wrong port: 67 words (1 packet) left by port 5, where no tested card is",
        "1 packet of 67 words went into port 0 and did not leave by port 1: in the switch, between port 0 (in, A) and "
        "port 1 (out, B)",
    ]


def test_a_packet_that_came_back_is_told_from_one_that_was_lost() -> None:
    (found,) = said(
        port1={"words_out": 933, "packets_out": 14}, port0={"words_out": 667, "packets_out": 10}
    )
    assert found.endswith("67 words more left by port 0 than B sent: delivered to a wrong port")


def test_other_nodes_that_talk_to_each_other_do_not_matter() -> None:
    other = {"words_in": 40, "packets_in": 2, "told": 40, "words_out": 40, "packets_out": 2}
    assert said(port3=other, port4=other) == []


def test_cards_at_other_ports_than_named_are_told() -> None:
    found = said(port0=PortCounts()._asdict(), port1=PortCounts()._asdict())
    assert found == [
        "A put 1,000 words on its link and none came into port 0: it is not at that port (--ports), or its link "
        "carries nothing",
        "B put 600 words on its link and none came into port 1: it is not at that port (--ports), or its link carries "
        "nothing",
    ]
    found = said((0, 0), port0=PortCounts()._asdict(), port1=PortCounts()._asdict())
    assert found == ["no packet came into port 0: A sent none"]


def climbed(tmp_path: Path, fault: str, seed: int) -> dict[str, Any]:
    file = tmp_path / "console.txt"
    target = EmulatorTarget(
        fault=fault, seed=seed, load="light", access_ps=5_000_000, through="switch-pair",
        monitor=str(file), nonce=1,
    )  # fmt: skip
    with open_console(str(file)) as console:
        switch = Switch(SwitchMonitor(console, str(file)))
        return {r.stage: r for r in climb(open_devices(target), discard=True, switch=switch)}


def test_a_sound_bench_passes_and_the_pair_s_stage_is_left_to_the_switch_s(tmp_path: Path) -> None:
    results = climbed(tmp_path, "none", 3)
    outcomes = {name: result.outcome for name, result in results.items()}
    assert outcomes == {
        "interface": "passed", "host-dma": "passed", "loopback": "passed", "pair": "not run",
        "switch": "passed",
    }, [result.seen for result in results.values()]  # fmt: skip
    *_, port_a, port_b, told = results["switch"].held
    into, out = (re.findall(r"\d[\d,]*", line)[1:3] for line in (port_a, port_b))
    assert into == out[::-1]
    assert int(into[0].replace(",", "")) > 1 << 14
    assert "none bad" in port_a
    assert told.startswith("nothing stands in the switch, and of all ")


@pytest.mark.parametrize(
    ("fault", "start"),
    [
        ("switch-word-lost", "1 word of "),
        ("switch-word-altered", "1 packet came in right and left damaged and as many words"),
        ("switch-credit-held", "port 0 holds the credit of "),
        ("switch-wrong-port", "the switch delivered to a wrong port: "),
    ],
)
def test_a_fault_of_the_switch_fails_its_stage_alone_and_is_placed_there(
    tmp_path: Path, fault: str, start: str
) -> None:
    results = climbed(tmp_path, fault, 2)
    assert [r.stage for r in results.values() if r.outcome == "failed"] == ["switch"]
    assert results["switch"].seen.startswith(start)
    assert "At the cards: " in results["switch"].seen


def test_a_monitor_that_counts_no_ports_is_told(tmp_path: Path) -> None:
    class Older(SwitchMonitor):
        def report(self, *arguments: Any) -> SwitchReport:
            return replace(super().report(*arguments), ports={})

    file = tmp_path / "console.txt"
    target = EmulatorTarget(
        load="light", through="switch-pair", monitor=str(file), nonce=1, seed=3, access_ps=5_000_000
    )
    devices = open_devices(target)
    with (
        open_console(str(file)) as console,
        pytest.raises(Failure, match=r"^x: the switch's monitor counts no ports"),
    ):
        list(through(devices, Evidence([devices], by="test"), Switch(Older(console, "x"))))


def test_cards_that_are_cabled_past_the_switch_are_told_as_that() -> None:
    class Idle(SwitchMonitor):
        def report(self, *_: Any) -> SwitchReport:
            other = PortCounts(40, 2, 0, 40, 40, 2, 0)
            return SwitchReport(1, ports={0: PortCounts(), 1: PortCounts(), 3: other, 4: other})

    devices = open_devices(EmulatorTarget(load="light", nonce=1, seed=3))
    idle = Switch(Idle(cast("Any", None), "/dev/ttyUSB0"))
    with pytest.raises(Failure) as failure:
        list(through(devices, Evidence([devices], by="test"), idle))
    assert str(failure.value) == (
        "the cards hear each other, and nothing of it came through ports 0 and 1 of the switch that /dev/ttyUSB0 is "
        "of: they are cabled directly, or at other ports (--ports)"
    )


def test_a_fault_of_a_card_is_not_laid_upon_the_switch(tmp_path: Path) -> None:
    file = tmp_path / "console.txt"
    target = EmulatorTarget(
        fault="payload-bit-flip", seed=1, load="light", access_ps=5_000_000, through="switch-pair",
        monitor=str(file), nonce=1,
    )  # fmt: skip
    devices = open_devices(target)
    with open_console(str(file)) as console, pytest.raises(Failure) as failure:
        arms = Evidence([devices], by="test", discard=True)
        list(through(devices, arms, Switch(SwitchMonitor(console, "x"))))
    assert str(failure.value).startswith("payload-bit-flip (B.rx_enq): ")
    assert str(failure.value).endswith("It is in the cards or on the links")


def test_over_udp_and_a_serial_port_as_in_the_lab() -> None:
    wanted = ("--through", "switch-pair", "--monitor", "pty", "--load", "light", "--seed", "2")
    with emulating("--listen", "127.0.0.1:0", *wanted, "--fault", "switch-word-lost") as (_, line):
        words = line.split()
        assert words[2:9] == [
            "profile",
            "forth",
            "fault",
            "switch-word-lost",
            "seed",
            "2",
            "switch",
        ]
        done = run_inside("selftest", words[1], "--switch", words[9], "--discard", "--json")
        assert done.code == 1, done.err
        (failed,) = [s for s in json.loads(done.out)["stages"] if s["outcome"] == "failed"]
        assert failed["stage"] == "switch"
        assert "lost in the switch, between port 0 (in, A) and port 1 (out, B)" in failed["seen"]


@pytest.mark.parametrize("years", [0, 1])
def test_a_file_that_nobody_writes_is_refused_before_anything_is_written(
    years: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("freezeframe.gui.cli.work.selftest._SOON_S", 0.2)
    monkeypatch.setattr("freezeframe.gui.cli.work.selftest.REPORT_S", 0.5)
    file, log = tmp_path / "switch.txt", tmp_path / "accesses.txt"
    file.write_bytes(line("fwd 10 6 100 9 80 0"))
    if years:
        os.utime(file, (1_732_000_000, 1_732_000_000))
    else:
        now_s = time.time()
        os.utime(file, (now_s + 5, now_s + 5))  # a clock that is ahead
    done = run_inside(
        "selftest", "emu:?load=light", "--switch", str(file), "--log-accesses", str(log)
    )
    assert (done.code, done.out) == (3, "")
    *waits, end = done.err.splitlines()
    assert end.endswith(
        "; no stage was run. Whether a switch is between the cards is not known: name the port of its monitor, or "
        "leave out --switch where they are cabled"
    )
    if years:
        assert re.match(
            rf"freezeframe: {file}: is a file that was last written [\d,]+ s ago, and nothing comes into it;",
            end,
        )
        assert waits == []
    else:
        assert end.startswith(
            f"freezeframe: {file}: nothing of a switch's monitor (ff_console_switch) in 0.5 s;"
        )
        assert waits == [
            f"freezeframe: {file}: nothing of a switch's monitor in 0.2 s; waiting for it up to 0.5 s"
        ]
    assert " wr " not in log.read_text()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--switch", "-"), "--switch -: standard input does not wait"),
        (("--ports", "0,1"), "--ports: of the switch that --switch names, and none is named"),
        (("--ports", "1", "--switch", "x"), "--ports 1: write the ports of both cards, as 0,1"),
        (("--ports", "2,2", "--switch", "x"), "--ports 2,2: both cards cannot be at one port"),
        (("--switch", "/dev/no-such-port"), "/dev/no-such-port: cannot be opened"),
    ],
)
def test_a_switch_that_is_named_wrong_is_one_line(arguments: tuple[str, ...], message: str) -> None:
    done = run_inside("selftest", "emu:?load=light", *arguments)
    assert done.code in (2, 3)
    assert message in done.err
    assert len(done.err.splitlines()) == 1
