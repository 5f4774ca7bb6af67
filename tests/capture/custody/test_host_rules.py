"""Rules by which the host freezes cards: what fires, what never could, and how it is told."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from freezeframe.capture.counters.alarms import parse_alarm
from freezeframe.capture.counters.netdev import NetdevSource
from freezeframe.capture.counters.tree import Tree
from freezeframe.capture.custody.host_rules import (
    LogRule,
    ProgramRule,
    parse_rule,
    refuse_unknown,
)
from freezeframe.capture.custody.host_watch import HostWatch
from freezeframe.capture.errors import InputError


def soon(look: Callable[[], list[Any]]) -> list[Any]:
    end_s = time.monotonic() + 20
    while time.monotonic() < end_s:
        if found := look():
            return found
        time.sleep(0.005)
    return []


def test_a_new_line_that_matches_fires_and_an_old_one_does_not(tmp_path: Path) -> None:
    log = tmp_path / "kern.log"
    log.write_text("AER: an old one\n")
    rule = LogRule(f"log:{log}~AER: .*03")
    assert rule.look() == []
    with log.open("a") as file:
        file.write("all is well\nAER: 0000:03:00.0\nAER: half a li")
        file.flush()
        (fired,) = rule.look()
        assert fired.text == f"{log}: AER: 0000:03:00.0"
        assert fired.after_ns <= fired.seen_ns
        file.write("ne of 03\n")
    assert [one.text for one in rule.look()] == [f"{log}: AER: half a line of 03"]
    rule.close()


def test_a_log_that_is_rotated_cut_or_not_there_yet_is_followed(tmp_path: Path) -> None:
    log = tmp_path / "late.log"
    rule = LogRule(f"log:{log}~bad")
    assert rule.look() == []
    log.write_text("bad 1\n")
    assert len(soon(rule.look)) == 1
    log.rename(tmp_path / "late.log.1")
    log.write_text("bad 2\n")
    assert [one.text[-5:] for one in soon(rule.look)] == ["bad 2"]
    log.write_text("bad\n")
    assert [one.text[-5:] for one in soon(rule.look)] == [": bad"]
    rule.close()


def test_the_end_of_a_program_fires_once_and_with_fails_only_when_it_failed() -> None:
    rule = ProgramRule("exit:sh -c 'exit 3'")
    rule.begin()
    assert [one.text for one in soon(rule.look)] == ["sh -c 'exit 3' ended: exit code 3"]
    assert rule.look() == []
    well = ProgramRule("fails:true")
    well.begin()
    time.sleep(0.1)
    assert well.look() == []


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("log:/var/log", "write log:FILE~REGEX"),
        ("log:/no/such/place~x", "there is no directory /no/such"),
        ("log:/tmp/x~(", "is no regular expression"),
        ("exit:no-such-program-here", "there is no such program"),
        ("fails:sh 'x", "No closing quotation"),
        ("rx_errors", "write NAME>RATE"),
    ],
)
def test_a_rule_that_could_never_fire_is_refused(text: str, says: str) -> None:
    with pytest.raises(InputError, match=says) as raised:
        parse_rule(text)
    assert "\n" not in str(raised.value)


def test_an_alarm_on_a_name_that_nothing_counts_is_refused_with_the_nearest() -> None:
    source = NetdevSource("lo", Tree("/"), live=True)
    refuse_unknown([parse_alarm("netdev:lo/rx_packets>0"), parse_alarm("rx_*>=1")], [source])
    says = "would never ring: netdev:lo has no counter 'rx_pakcets'; did you mean rx_packets"
    with pytest.raises(InputError, match=says):
        refuse_unknown([parse_alarm("rx_pakcets>1")], [source])
    with pytest.raises(InputError, match="would never ring"):
        refuse_unknown([parse_alarm("netdev:eth9/rx_packets>0")], [source])
    source.close()


def test_what_comes_through_a_pipe_fires_and_a_pipe_that_is_silent_ends_nothing(
    tmp_path: Path,
) -> None:
    """As /dev/kmsg: a read finds nothing for now, again and again."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    rule = LogRule(f"log:{pipe}~boom")
    assert rule.look() == []  # nobody has opened it to write
    writer = os.open(pipe, os.O_WRONLY)
    assert rule.look() == []
    os.write(writer, b"well\nboo")
    assert rule.look() == []
    os.write(writer, b"m 1\n")
    assert [one.text for one in rule.look()] == [f"{pipe}: boom 1"]
    os.close(writer)
    assert rule.look() == [] and rule.trouble == ""
    rule.close()


def test_of_a_device_every_record_is_read_and_overwritten_ones_end_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pipe = tmp_path / "kmsg"
    os.mkfifo(pipe)
    rule = LogRule(f"log:{pipe}~AER")
    came: list[bytes | OSError] = [BrokenPipeError(), b"6,1,0,-;AER 1\n", b"6,2,0,-;AER 2\n"]

    def read(descriptor: int, most_B: int) -> bytes:
        next_one = came.pop(0) if came else BlockingIOError()
        if isinstance(next_one, OSError):
            raise next_one
        return next_one

    monkeypatch.setattr(os, "read", read)
    assert [one.text[-5:] for one in rule.look()] == ["AER 1", "AER 2"]
    monkeypatch.undo()
    rule.close()


def test_a_log_that_is_not_there_is_told_once_and_that_it_is_read_again(tmp_path: Path) -> None:
    log = tmp_path / "late.log"
    watch = HostWatch([], [parse_rule(f"log:{log}~bad")])
    watch.start()
    told = soon(watch.troubles)
    says = f"log:{log}: No such file or directory; no line of it is seen until it can be read"
    assert told == [says]
    log.write_text("bad\n")
    assert soon(watch.troubles) == [f"log:{log}: can be read"]
    assert [one.text for one in watch.fired()] == [f"{log}: bad"]
    watch.stop()


def test_a_program_that_cannot_be_begun_is_refused_before_anything_is_watched(
    tmp_path: Path,
) -> None:
    program = tmp_path / "latency"
    program.write_text("#!/no/such/interpreter\n")
    program.chmod(0o755)
    watch = HostWatch([], [parse_rule("exit:sleep 60"), parse_rule(f"fails:{program}")])
    with pytest.raises(InputError, match="the program of a rule cannot be begun: No such file"):
        watch.start()


def test_it_is_told_when_no_rule_is_looked_at_any_more(monkeypatch: pytest.MonkeyPatch) -> None:
    rule = parse_rule("exit:sleep 60")
    watch = HostWatch([], [rule])
    monkeypatch.setattr(ProgramRule, "look", lambda self: 1 // 0)
    monkeypatch.setattr("threading.excepthook", lambda _: None)
    watch.start()
    says = "no rule of --freeze-on is looked at any more: ZeroDivisionError"
    (line,) = soon(watch.troubles)
    assert line.startswith(says)
    watch.stop()
