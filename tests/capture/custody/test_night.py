"""A night in one table, of the files that a guard leaves; which captures stay."""

from __future__ import annotations

import json
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from freezeframe.capture.custody.guard_log import GuardLog, read_log
from freezeframe.capture.custody.night import night, night_lines
from freezeframe.capture.custody.store import Keep, captures_in, kind_of, parse_size, superfluous
from freezeframe.capture.errors import InputError
from tests.gui.cli import run_inside


def capture(place: Path, number: int, size_B: int = 100) -> str:
    """Write what a guard goes by: the name, and the manifest's first device."""
    folder = place / f"{number:04d}-0b000000-{number}-pay-crc.ff"
    folder.mkdir(parents=True)
    first = {"boot_nonce": "0x0b000000", "generation": number, "cause_cycle": number}
    (folder / "manifest.json").write_text(json.dumps({"devices": [first]}))
    (folder / "raw").write_bytes(b"x" * (size_B - (folder / "manifest.json").stat().st_size))
    return folder.name


def told(name: str, diagnosis: str, bit: int, seen: str) -> dict[str, Any]:
    row = {"table": "words", "value": f"{1 << bit:#x}", "expected": "0x0"}
    finding = {
        "diagnosis": diagnosis, "device": "B", "tap": "rx_enq", "flow": 3,
        "evidence": [{"text": "", "rows": [row]}],
    }  # fmt: skip
    return {
        "capture": name, "findings": [finding], "history": [{"what": "frozen", "seen": seen}]
    }  # fmt: skip


def of_a_former_version(
    place: Path, lines: list[str], accounts: list[dict[str, Any]], told: list[dict[str, Any]]
) -> None:
    """Write three files of text."""
    (place / "guard.log").write_text("".join(line + "\n" for line in lines))
    for name, entries in (("account.jsonl", accounts), ("explanations.jsonl", told)):
        (place / name).write_text("".join(json.dumps(entry) + "\n" for entry in entries))


def of_today(
    place: Path, lines: list[str], accounts: list[dict[str, Any]], told: list[dict[str, Any]]
) -> None:
    """Write a log whose lines are said at their times."""
    with pytest.MonkeyPatch.context() as patch:
        log = None
        patch.setattr("time.monotonic_ns", lambda: 0)
        for line in lines:
            when_ns = int(datetime.fromisoformat(line[:20]).timestamp()) * 10**9
            patch.setattr("time.time_ns", lambda when_ns=when_ns: when_ns)
            log = log or GuardLog(place)
            log(line[21:])
        assert log is not None
        for entry in accounts:
            log.account(entry)
        for document in told:
            assert log.explained(document) == ""
        log.close()


@pytest.fixture(params=[of_a_former_version, of_today], ids=["three files", "guard.ffrec"])
def place(tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    found, accounts = [], []
    flip = "payload-bit-flip"
    for number, name, bit in ((1, "credit-lost", 3), (2, flip, 28), (3, flip, 28), (4, flip, 5)):
        seen = f"2026-11-26T0{number}:12:30.250+00:00"
        found.append(told(capture(tmp_path, number), name, bit, seen))
    for generation, what in ((1, "kept"), (5, "given-up")):
        boot = {"boot_nonce": "0x0b000000", "generation": generation}
        accounts.append({"what": what, **boot, "when": None, "by": "arm of ann"})
    lines = ["2026-11-26T00:12:00Z card: watching A, B", "2026-11-26T08:12:00Z watching ends"]
    request.param(tmp_path, lines, accounts, found)
    return tmp_path


def test_the_first_line_says_how_many_of_which_kind_which_bit_how_often_and_since_when(
    place: Path,
) -> None:
    lines = night_lines(night(place))
    assert lines[0] == (
        "4 freezes, 3 payload-bit-flip at B.rx_enq, bit 28 in 2, 0.5 an hour, none before 01:12 UTC"
    )
    assert lines[1] == "watched from 2026-11-26T00:12:00Z to 2026-11-26T08:12:00Z, 8.0 hours"
    assert "generations: 1 given-up, 1 kept" in lines
    assert "  not kept: generation 5 of boot 0x0b000000: given-up by arm of ann" in lines


@pytest.mark.parametrize(
    ("bits", "says"),
    [
        ((28, 28, 28, 5), "4 payload-bit-flip at B.rx_enq, bit 28 in 3"),
        ((28, 28, 4, 5), "4 payload-bit-flip at B.rx_enq"),  # half is not more than half
        ((28, 3, 4, 5), "4 payload-bit-flip at B.rx_enq"),
        ((28, 28), "2 payload-bit-flip at B.rx_enq, bit 28 in 2"),
        ((28,), "1 payload-bit-flip at B.rx_enq"),
    ],
)
def test_a_bit_is_named_where_most_and_at_least_two_have_it(
    bits: tuple[int, ...], says: str, tmp_path: Path
) -> None:
    seen = "2026-11-26T01:12:30.250+00:00"
    found = [
        told(capture(tmp_path, number), "payload-bit-flip", bit, seen)
        for number, bit in enumerate(bits, 1)
    ]
    of_today(tmp_path, ["2026-11-26T00:12:00Z card: watching A, B"], [], found)
    head = night_lines(night(tmp_path))[0].split(", ", 1)[1]
    assert head.startswith(says) and ("bit 28" in head) == ("bit 28" in says)


def test_the_verb_gives_the_same_as_json(place: Path) -> None:
    document = json.loads(run_inside("night", str(place), "--json").out)
    assert (document["freezes"], document["per_hour"], document["hours"]) == (4, 0.5, 8.0)
    top = document["kinds"][0]
    assert (top["kind"], top["count"], top["bits"][0]) == (
        "payload-bit-flip at B.rx_enq",
        3,
        {"bit": 28, "count": 2},
    )
    assert document["not_kept"][0]["generation"] == 5


def test_a_folder_that_no_guard_has_seen_is_refused(tmp_path: Path) -> None:
    done = run_inside("night", str(tmp_path))
    assert (done.code, done.err.count("\n")) == (2, 1)
    assert "is no directory of a guard" in done.err


def gone(place: Path, keep: Keep) -> list[int]:
    kinds = {each["capture"]: kind_of(each) for each in read_log(place).explanations}
    return [int(path.name[:4]) for path in superfluous(place, keep, kinds)]


def test_the_first_one_of_each_kind_and_the_newest_stay(place: Path) -> None:
    assert [int(path.name[:4]) for path in captures_in(place)] == [1, 2, 3, 4]
    assert gone(place, Keep(newest=1)) == [1, 2, 3]
    assert gone(place, Keep(newest=1, first=2)) == [3]
    assert gone(place, Keep(newest=1, kinds=True)) == [3]
    assert gone(place, Keep(newest=9, bytes=300)) == [1]
    assert gone(place, Keep(newest=9, bytes=1, kinds=True)) == [3]


def test_what_is_not_explained_yet_goes_after_what_is(place: Path) -> None:
    capture(place, 5)
    capture(place, 6)
    assert gone(place, Keep(newest=9, bytes=200)) == [1, 2, 3, 4]


def test_what_waits_to_be_explained_goes_by_no_rule(place: Path) -> None:
    waiting = [path.name for path in captures_in(place)[1:3]]
    for keep in (Keep(newest=1), Keep(newest=9, bytes=1)):
        assert [int(path.name[:4]) for path in superfluous(place, keep, {}, waiting)] == [1]


def test_of_the_kept_generations_those_that_the_rule_has_removed_are_counted(
    tmp_path: Path,
) -> None:
    names = [f"{number:04d}-0b000000-{number}-pay-crc.ff" for number in (1, 2, 3)]
    capture(tmp_path, 3)
    kept = [
        {"what": "kept", "boot_nonce": "0x0b000000", "generation": number, "capture": name}
        for number, name in enumerate(names, 1)
    ]
    line = f"2026-11-26T01:12:00Z {names[1]}: removed; the newest 1 are kept"
    of_today(tmp_path, ["2026-11-26T00:12:00Z card: watching A, B", line], kept, [])
    found = night(tmp_path)
    lines = night_lines(found)
    assert "generations: 3 kept; 1 of the kept were removed by the rule of keeping since" in lines
    assert "1 capture removed by the rule of keeping (--keep)" in lines
    assert "1 capture not there any more: removed by --keep, or by somebody" in lines
    document = found.to_json()
    assert document["captures_removed"] == 2
    assert document["captures_removed_by_rule"] == document["generations_removed_by_rule"] == 1


def test_sizes_are_read_in_powers_of_a_thousand() -> None:
    assert [parse_size(text) for text in ("500", "20G", "1.5 MB", "3k")] == [
        500,
        20 * 10**9,
        1_500_000,
        3000,
    ]
    with pytest.raises(InputError, match="not a size"):
        parse_size("many")


def test_a_clock_that_was_set_back_makes_no_hours_less_than_none(tmp_path: Path) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("time.monotonic_ns", lambda: 0)
        patch.setattr("time.time_ns", lambda: 1_795_800_000_000_000_000)
        log = GuardLog(tmp_path)
        log("card: watching A, B")
        patch.setattr("time.monotonic_ns", lambda: 7_200_000_000_000)
        patch.setattr("time.time_ns", lambda: 1_795_720_000_000_000_000)
        log("watching ends; 0 pulled")
        log.close()
    found = night(tmp_path)
    assert found.hours == 2.0
    assert night_lines(found)[-1].endswith(
        "UTC had been set back by 87,200.0 s: dates before and after it are in no order"
    )


def test_of_weeks_the_day_of_the_first_freeze_is_said(tmp_path: Path) -> None:
    name = capture(tmp_path, 1)
    lines = ["2026-11-01T00:00:00Z card: watching A, B", "2026-11-22T00:00:00Z watching ends"]
    found = told(name, "credit-lost", 3, "2026-11-20T01:12:30.250+00:00")
    of_a_former_version(tmp_path, lines, [], [found])
    assert night_lines(night(tmp_path))[0].endswith("none before 2026-11-20 01:12 UTC")


def test_what_is_no_capture_or_log_any_more_is_said_and_a_missing_one_is_nobodys_fault(
    tmp_path: Path,
) -> None:
    names = [capture(tmp_path, number) for number in (1, 2, 3)]
    seen = "2026-11-20T01:12:30.250+00:00"
    of_a_former_version(tmp_path, [], [], [told(name, "credit-lost", 3, seen) for name in names])
    (tmp_path / names[0] / "manifest.json").write_bytes(b"")
    for path in (tmp_path / names[1]).iterdir():
        path.unlink()
    (tmp_path / names[1]).rmdir()
    (tmp_path / "guard.ffrec").write_text("x\n")
    lines = night_lines(night(tmp_path))
    assert lines[0].startswith("3 freezes, 3 credit-lost at B.rx_enq")
    assert "1 capture not there any more: removed by --keep, or by somebody" in lines
    assert any(
        line.startswith(f"  {tmp_path / names[0]}: cannot be read as a capture") for line in lines
    )
    assert lines[-1].endswith("guard.ffrec: is no recording; nothing of it was read")


def test_the_clocks_of_the_host_are_summed_up_over_the_freezes(tmp_path: Path) -> None:
    found = []
    for number, in_step in enumerate((True, False, None), 1):
        each = told(
            capture(tmp_path, number), "credit-lost", 3, f"2026-11-26T0{number}:12:30+00:00"
        )
        clock = None if in_step is None else {"in_step": in_step, "max_error_us": 1200}
        each["history"].append({"what": "pulled", "clock": clock})
        found.append(each)
    of_today(tmp_path, ["2026-11-26T00:12:00Z card: watching A, B"], [], found)
    assert (
        "clock of the host not in step at 1 of 2 freezes: its dates may be off; 1 freeze without a word of it"
        in night_lines(night(tmp_path))
    )
    document = json.loads(run_inside("night", str(tmp_path), "--json").out)
    assert document["host_clock"] == {"in_step": 1, "not_in_step": 1, "unknown": 1}


def test_recording_lists_what_a_guard_found_where_it_stands_among_its_lines(tmp_path: Path) -> None:
    log = GuardLog(tmp_path)
    log("card: watching A, B")
    one = told("0001-a.ff", "payload-bit-flip", 28, "2026-11-26T01:12:30+00:00")
    assert log.explained({**one, "explained": "2026-11-26T01:13:00+00:00"}) == ""
    log("watching ends")
    log.close()
    place = tmp_path / "guard.ffrec"
    lines = run_inside("recording", str(place)).out.splitlines()
    assert [line[21:] for line in lines] == [
        "card: watching A, B",
        "found in 0001-a.ff: payload-bit-flip at B.rx_enq",
        "watching ends",
    ]
    assert lines[1].startswith("2026-11-26T01:13:00Z ")
    chosen = run_inside("recording", str(place), "--what", "*bit-flip*").out.splitlines()
    assert chosen == lines[1:2]
    document = json.loads(run_inside("recording", str(place), "--json").out)
    assert [each["capture"] for each in document["explained"]] == ["0001-a.ff"]
